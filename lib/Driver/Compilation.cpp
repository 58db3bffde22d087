//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Driver/Compilation.h"
#include "ProgramInput.h"
#include "StepSites.h"
#include "TaskPool.h"
#include "llmir/Packing/FromProgram.h"

#include "llmir/Artifact/Artifact.h"
#include "llmir/Artifact/CodeNote.h"
#include "llmir/Artifact/CpuFeatures.h"
#include "llmir/Codegen/Passes.h"
#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/Dialect/MLLM/MLLMStateOps.h"
#include "llmir/Dialect/MLLM/ProgramAttrs.h"
#include "llmir/Dialect/MLLM/Transforms/Passes.h"
#include "llmir/Frontend/Frontend.h"
#include "llmir/Pipelines/Pipelines.h"
#include "llmir/Pipelines/Registration.h"
#include "llmir/Support/FileWriter.h"
#include "llmir/Target/CPU/CPUTarget.h"
#include "llmir/Target/CPU/TargetNames.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

using namespace mlir;
using namespace llmir::mllm::program;

namespace llmir {

static constexpr int64_t defaultTokenBudget = 512, maxTokenBudget = 65536;

Compilation::Compilation(CompilationOptions options)
    : options(std::move(options)), pool(std::make_unique<TaskPool>()) {}
Compilation::~Compilation() = default;

static std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  stream << "\n";
  return text;
}

//===----------------------------------------------------------------------===//
// Running the stages
//===----------------------------------------------------------------------===//

/// The expected fraction of a compilation's time at the end of each stage.
static double shareDone(Stage stage) {
  switch (stage) {
  case Stage::Checkpoint:
    return 0.02;
  case Stage::Frontend:
    return 0.04;
  case Stage::LLM:
    return 0.06;
  case Stage::Optimize:
    return 0.08;
  case Stage::Lower:
    return 0.12;
  case Stage::Target:
    return 0.3;
  default:
    return 1.0;
  }
}

static Status notOfCompiling(Stage stage) {
  return Status(StatusCode::InvalidArgument,
                std::string("stage '") + stageName(stage) +
                    "' is not a stage of the compiler",
                "stop after one of checkpoint, frontend, llm, optimize, lower, "
                "target, artifact");
}

Status Compilation::runStage(Stage stage) {
  switch (stage) {
  case Stage::Checkpoint:
    return fromProgram() ? readBase() : readCheckpoint();
  case Stage::Frontend:
    return fromProgram() ? parseProgramFile() : trace();
  case Stage::LLM:
    return fromProgram() ? checkProgram() : lowerToStep();
  case Stage::Optimize: // Programs are not optimized.
    return fromProgram() ? Status::ok() : optimize();
  case Stage::Lower:
    return lower();
  case Stage::Target:
    return generateCode();
  case Stage::Artifact:
    return writeArtifact();
  case Stage::Runtime:
  case Stage::Serving:
    break;
  }
  return notOfCompiling(stage);
}

/// Checks the output early, before the model is compiled.
static Status checkGoal(const CompilationOptions &options, Stage last) {
  if (last > Stage::Artifact)
    return notOfCompiling(last);
  if (last == Stage::Artifact && options.output.empty())
    return Status(StatusCode::InvalidArgument,
                  "there is no output file for the artifact",
                  "name one with -o FILE.llmir");
  return Status::ok();
}

Status Compilation::run(std::string &report) {
  Stage last = options.form ? stageOfForm(*options.form) : Stage::Artifact;
  if (options.stopAfter && !options.form)
    last = *options.stopAfter;
  LLMIR_RETURN_IF_ERROR(checkOptions());
  LLMIR_RETURN_IF_ERROR(checkGoal(options, last));
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    Stage stage = static_cast<Stage>(i);
    double before = i == 0 ? 0.0 : shareDone(static_cast<Stage>(i - 1));
    if (options.progress)
      options.progress(stageSentence(stage), before);
    auto start = std::chrono::steady_clock::now();
    LLMIR_RETURN_IF_ERROR(runStage(stage));
    std::chrono::duration<double, std::milli> spent =
        std::chrono::steady_clock::now() - start;
    char line[64];
    std::snprintf(line, sizeof line, "%-10s %9.1f ms  ", stageName(stage),
                  spent.count());
    report += line + notes + "\n";
    notes.clear();
  }
  if (options.progress)
    options.progress(stageSentence(last), 1.0);
  return Status::ok();
}

Status
Compilation::runPasses(const std::function<void(mlir::PassManager &)> &build) {
  return runPasses(*module, build);
}

Status
Compilation::runPasses(ModuleOp target,
                       const std::function<void(mlir::PassManager &)> &build) {
  return withDiagnostics(
      *context, StatusCode::Unsupported, options.model + ": ",
      fromProgram()
          ? "'llmir compile --program FILE --emit program' shows it as read"
          : "'llmir compile --emit mllm' shows the model as it was traced",
      [&] {
        PassManager passes(context.get());
        build(passes);
        return passes.run(target);
      });
}

//===----------------------------------------------------------------------===//
// Checkpoint
//===----------------------------------------------------------------------===//

void Compilation::resolveKVFormat() {
  if (options.kv != "auto") {
    kvFormat = *kvFormatFromName(options.kv); // Validated by checkOptions().
    return;
  }
  // An f32 model keeps f32 throughout; other weights are coarser than bf16's
  // rounding of K and V.
  bool allF32 = true;
  for (const CheckpointTensor &tensor : checkpoint->tensors())
    if (tensor.shape.size() == 2 && tensor.format != TensorFormat::F32)
      allF32 = false;
  kvFormat = allF32 ? KVFormat::F32 : KVFormat::BF16;
}

/// A form of code is for a single level.
Status Compilation::checkFormHasOneLevel() const {
  if (levels.size() == 1 || !options.form || *options.form <= Form::Program)
    return Status::ok();
  return Status(
      StatusCode::InvalidArgument,
      "--target " + options.target + " names " + std::to_string(levels.size()) +
          " levels; this form requires a single level",
      "name one level, for example --target " + levels.front()->name.str());
}

Status Compilation::checkOptions() {
  Expected<std::vector<const CPULevel *>> targets =
      targetsFromNames(options.target);
  if (!targets)
    return targets.takeStatus();
  levels = std::move(*targets);
  LLMIR_RETURN_IF_ERROR(checkFormHasOneLevel());
  if (options.tokenBudget &&
      (*options.tokenBudget < 1 || *options.tokenBudget > maxTokenBudget))
    return Status(StatusCode::InvalidArgument,
                  "the token budget is " + std::to_string(*options.tokenBudget),
                  "give a value from 1 to " + std::to_string(maxTokenBudget));
  if (options.contextLength < 0)
    return Status(StatusCode::InvalidArgument,
                  "the context is " + std::to_string(options.contextLength),
                  "give a number of tokens, or 0 for the default of the model");
  if (options.kv != "auto" && !kvFormatFromName(options.kv))
    return Status(StatusCode::InvalidArgument,
                  "unknown KV cache type '" + options.kv + "'",
                  "choose auto, f32, f16, bf16 or q8");
  if (fromProgram() && options.form && *options.form < Form::Program)
    return Status(StatusCode::InvalidArgument,
                  std::string("a program has no earlier form: ") +
                      stageName(stageOfForm(*options.form)) + " precedes it",
                  "emit program, lowered, llvm, asm or obj");
  return Status::ok();
}

Status Compilation::readCheckpoint() {
  Expected<Checkpoint> opened = Checkpoint::open(
      options.model,
      options.graph.empty() ? CheckpointUse::Model : CheckpointUse::Parameters);
  if (!opened)
    return opened.takeStatus();
  checkpoint = std::move(*opened);
  config = checkpoint->config();
  if (options.contextLength == 0)
    options.contextLength = config.textLength;
  resolveKVFormat();
  if (!options.form && !options.output.empty()) // Only artifacts contain it.
    LLMIR_RETURN_IF_ERROR(readTokenizer());
  note(config.architecture + ", " +
       (options.graph.empty() ? std::to_string(config.numLayers) + " layers, "
                              : std::string()) +
       std::to_string(checkpoint->tensors().size()) + " tensors");
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Frontend, llm, optimize, lower
//===----------------------------------------------------------------------===//

Expected<OwningOpRef<ModuleOp>> Compilation::readModel() {
  if (!options.graph.empty())
    return readGraph();
  FrontendOptions frontend;
  frontend.contextLength = options.contextLength;
  return traceCheckpoint(*context, *checkpoint, frontend);
}

/// [layer] the greatest window of the attention ops that read a layer's keys
/// and values; 0 if one of them, or another op, may read all. The layers are
/// those of the traced model, whose attention later stages do not widen.
static std::vector<int64_t> cacheWindows(ModuleOp model) {
  std::vector<int64_t> windows;
  std::vector<bool> readsAll;
  model.walk([&](mllm::KVCacheOp cache) {
    const auto layer = static_cast<size_t>(cache.getLayer());
    if (layer >= windows.size()) {
      windows.resize(layer + 1, 0);
      readsAll.resize(layer + 1, false);
    }
    for (Operation *user : cache->getUsers()) {
      auto attention = dyn_cast<mllm::FlashAttention2SwaSinkOp>(user);
      const int64_t window =
          attention ? static_cast<int64_t>(attention.getSlidingWindow()) : 0;
      windows[layer] = std::max(windows[layer], window);
      if (window == 0)
        readsAll[layer] = true;
    }
  });
  for (size_t layer = 0; layer < windows.size(); ++layer)
    if (readsAll[layer])
      windows[layer] = 0;
  return windows;
}

Status Compilation::trace() {
  context = createCompilerContext();
  auto traced = readModel();
  if (!traced)
    return traced.takeStatus();
  module = std::move(*traced);
  LLMIR_RETURN_IF_ERROR(withDiagnostics(
      *context, StatusCode::Unsupported, options.model + ": ",
      "'llmir compile --emit mllm' shows the model as it was traced", [&] {
        FailureOr<mllm::StateLayout> states = mllm::StateLayout::of(*module);
        if (succeeded(states)) {
          stateLayers = states->layers;
          stateRecordBytes = states->recordBytes();
        }
        return LogicalResult(states);
      }));
  windows = cacheWindows(*module);
  int64_t subgraphs = 0;
  for (Operation &op : *module->getBody())
    subgraphs += isa<mllm::SubGraphOp>(op);
  note(std::to_string(subgraphs) + " subgraphs");
  if (!options.recipe.empty())
    LLMIR_RETURN_IF_ERROR(applyRecipe());
  return wants(Form::MLLM) ? writeForm(moduleText()) : Status::ok();
}

/// Annotates the model with the quantization of its weights.
Status Compilation::applyRecipe() {
  mllm::QuantizationRecipe::Outcome outcome;
  LLMIR_RETURN_IF_ERROR(withDiagnostics(
      *context, StatusCode::InvalidArgument, options.model + ": ",
      "'llmir compile --emit mllm' without a recipe shows the names",
      [&]() -> LogicalResult {
        auto applied = options.recipe.apply(*module);
        if (succeeded(applied))
          outcome = *applied;
        return applied;
      }));
  std::string text =
      notes + ", " + std::to_string(outcome.matrices) + " matrices quantized";
  if (outcome.left)
    text += ", " + std::to_string(outcome.left) +
            " with rows that are not whole blocks not quantized";
  if (outcome.experts)
    text += ", " + std::to_string(outcome.experts) +
            " of experts not quantized, which support q8 and q4";
  note(text);
  return Status::ok();
}

Status Compilation::lowerToStep() {
  LLMStageOptions stage;
  stage.kvElementType = std::string(kvFormatName(kvFormat));
  stage.blockSize = options.kvBlockSize;
  stage.contextLength = options.contextLength;
  LLMIR_RETURN_IF_ERROR(
      runPasses([&](PassManager &pm) { buildLLMStage(pm, stage); }));
  readStep();
  note("KV cache " + std::string(kvFormatName(kvFormat)));
  return wants(Form::LLM) ? writeForm(moduleText()) : Status::ok();
}

/// Whether the results of tokens depend on later ones.
static bool looksAhead(ModuleOp step) {
  return step
      ->walk([](Operation *op) {
        auto attention = dyn_cast<mlir::llm::PagedAttentionOp>(op);
        const bool looks =
            attention ? !attention.getCausal() : isa<mlir::llm::MeanRowsOp>(op);
        return looks ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

void Compilation::readStep() {
  wholeSequences = looksAhead(*module) || config.pooling == Pooling::First;
  const int64_t context =
      options.contextLength ? options.contextLength : config.contextLength;
  tokenBudget = options.tokenBudget.value_or(
      wholeSequences ? std::clamp(context, defaultTokenBudget, maxTokenBudget)
                     : defaultTokenBudget);
}

Status Compilation::optimize() {
  LLMIR_RETURN_IF_ERROR(
      runPasses([](PassManager &pm) { buildOptimizeStage(pm); }));
  int64_t functions = 0;
  for (Operation &op : *module->getBody())
    functions += isa<func::FuncOp>(op);
  note(std::to_string(functions) + " functions");
  return wants(Form::Optimized) ? writeForm(moduleText()) : Status::ok();
}

/// Removes the results of memory planning so that memory is planned again,
/// unless all buffers have offsets.
static void forgetPlan(ModuleOp program) {
  for (FragmentOp fragment : program.getOps<FragmentOp>()) {
    fragment->removeAttr(kArenaBytesAttr);
    fragment->removeAttr(kWorkerBytesAttr);
  }
}

Status Compilation::lower() {
  LowerStageOptions stage;
  stage.tokenBudget = tokenBudget;
  stage.maxLogitRows = options.maxLogitRows;
  if (fromProgram())
    forgetPlan(*module);
  LLMIR_RETURN_IF_ERROR(runPasses([&](PassManager &pm) {
    if (fromProgram()) {
      // The text does not need to contain barriers.
      mllm::SynchronizeProgramOptions barriers;
      barriers.decodeTokens = 0; // As specified by the text.
      pm.addPass(mllm::createSynchronizeProgram(barriers));
      pm.addPass(createPlanProgramMemory());
    } else {
      buildProgramStage(pm, stage);
    }
  }));
  readProgram();
  if (fromProgram() &&
      weightBytes() > static_cast<int64_t>(base->weights().size()))
    return Status(StatusCode::InvalidFile,
                  options.model + ": damaged artifact: its program reads " +
                      std::to_string(weightBytes()) +
                      " bytes of weights; it has " +
                      std::to_string(base->weights().size()),
                  "compile it again with 'llmir compile'");
  programText = moduleText();
  if (wants(Form::Program))
    return writeForm(programText);
  // From here on there are kernels, which are lowered side by side.
  context->setThreadPool(*pool);
  for (const CPULevel *level : levels) {
    stage.level = level->name.str();
    lowered.push_back(module->clone());
    LLMIR_RETURN_IF_ERROR(runPasses(*lowered.back(), [&](PassManager &pm) {
      buildKernelStage(pm, stage);
    }));
    if (wants(Form::Lowered))
      return writeForm(textOf(*lowered.back()));
  }
  module = nullptr; // Its text and `jobs` are sufficient from here on.
  note(std::to_string(arenaBytes >> 10) + " KiB arena");
  return Status::ok();
}

void Compilation::readProgram() {
  module->walk([&](WeightOp weight) {
    for (size_t source = 0; source < weight.getSources().size(); ++source)
      jobs.push_back(makePackJob(weight, source));
  });
  // A shared weight (a tied output projection) is packed once.
  llvm::sort(jobs, [](const PackJob &a, const PackJob &b) {
    return a.offset < b.offset;
  });
  jobs.erase(std::unique(jobs.begin(), jobs.end(),
                         [](const PackJob &a, const PackJob &b) {
                           return a.offset == b.offset;
                         }),
             jobs.end());
  sites = describeStepSites(*module, tokenBudget);
  for (FragmentOp fragment : module->getOps<FragmentOp>()) {
    if (auto bytes = fragment->getAttrOfType<IntegerAttr>(kArenaBytesAttr))
      arenaBytes = bytes.getInt();
    if (auto bytes = fragment->getAttrOfType<IntegerAttr>(kWorkerBytesAttr))
      workerBytes = bytes.getInt();
  }
  module->walk([&](LogitsOp logits) {
    logitsRowStride =
        cast<MemRefType>(logits.getBuffer().getType()).getDimSize(1);
  });
}

int64_t Compilation::weightBytes() const {
  int64_t end = 0;
  for (const PackJob &job : jobs)
    end = std::max(end, job.offset + job.bytes);
  return end;
}

//===----------------------------------------------------------------------===//
// Target
//===----------------------------------------------------------------------===//

Status Compilation::generateCode() {
  std::string names;
  const ArtifactInfo info = makeInfo();
  for (size_t i = 0; i < levels.size(); ++i) {
    LLMIR_RETURN_IF_ERROR(generateCode(*lowered[i], *levels[i],
                                       makeCodeNote(info, i, weightBytes())));
    lowered[i] = nullptr; // Frees its memory for the next one.
    names += (names.empty() ? "" : ", ") + levels[i]->name.str();
  }
  note(std::to_string(imageBytes >> 10) + " KiB of code for " + names);
  return Status::ok();
}

Status Compilation::generateCode(ModuleOp kernels, const CPULevel &level,
                                 const std::vector<uint8_t> &note) {
  LLMIR_RETURN_IF_ERROR(runPasses(kernels, [](PassManager &pm) {
    // Verifying between these passes takes as long as two of them; the result
    // is verified below.
    pm.enableVerifier(false);
    buildLLVMStage(pm);
  }));
  LLMIR_RETURN_IF_ERROR(withDiagnostics(
      *context, StatusCode::Internal, options.model + ": ",
      "this is a bug of LLMIR: please report it with the command",
      [&] { return mlir::verify(kernels); }));
  Expected<CPUCodeGenerator> generator =
      CPUCodeGenerator::create(kernels, level);
  if (!generator)
    return generator.takeStatus();
  generator->addNotes(note);
  if (wants(Form::LLVM)) {
    Expected<std::string> text = generator->llvmText();
    return text ? writeForm(*text) : text.takeStatus();
  }
  if (wants(Form::Asm)) {
    Expected<std::string> assembly = generator->assembly();
    return assembly ? writeForm(*assembly) : assembly.takeStatus();
  }
  if (wants(Form::Obj)) {
    Expected<std::vector<uint8_t>> object = generator->object();
    return object ? writeForm(std::string(object->begin(), object->end()))
                  : object.takeStatus();
  }
  Expected<std::vector<uint8_t>> image = generator->image("llmir_step");
  if (!image)
    return image.takeStatus();
  imageBytes += image->size();
  images.push_back(std::move(*image));
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

std::string Compilation::moduleText() { return textOf(*module); }

Status Compilation::writeForm(const std::string &bytes) const {
  if (options.formOutput.empty() || options.formOutput == "-") {
    bool written =
        std::fwrite(bytes.data(), 1, bytes.size(), stdout) == bytes.size() &&
        std::fflush(stdout) == 0;
    return written ? Status::ok()
                   : Status(StatusCode::IoError,
                            "standard output cannot be written",
                            "write to a file with -o");
  }
  return writeFileAtomically(options.formOutput, bytes);
}

} // namespace llmir
