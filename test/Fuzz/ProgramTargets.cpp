//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Texts of programs: step programs that users edit, for `llmir compile
// --program`; traced models, for `llmir compile --graph`, in MLIR's form; and
// modules in the mllm text format. Built with the compiler only.
//
// MLIR's parser and verifier are those of the installed libraries, without
// sanitizers: in MLIR, only what crashes is found. What reaches them was
// checked by mllm::whyNotMLIRText, as in the driver. llmir-opt and
// llmir-reduce, programs for developers, call MLIR's parser without that check.
//
//===----------------------------------------------------------------------===//

#include "Target.h"

#include "../Frontend/TinyModel.h"
#include "../ProgramMutator.h"
#include "ProgramInput.h"

#include "llmir/Artifact/Artifact.h"
#include "llmir/Dialect/MLLM/ModelFacts.h"
#include "llmir/Driver/Compilation.h"
#include "llmir/MLLMText/Text.h"
#include "llmir/Pipelines/Registration.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

using namespace llmir;
using namespace llmir::fuzz;
using namespace mlir;

namespace {

/// A small model's artifact.
const Artifact &baseArtifact() {
  static const std::shared_ptr<const Artifact> made = [] {
    test::TempFolder folder;
    test::TinyModel model;
    model.complete();
    auto checkpoint = model.open(folder);
    expect(checkpoint.status().isOk(), "the model of the target can be read");
    CompilationOptions options;
    options.model = checkpoint->path();
    options.output = folder / "model.llmir";
#if defined(__x86_64__)
    options.target = "x86-64-v3";
#endif
    options.tokenBudget = 16;
    options.contextLength = 64;
    std::string report;
    const Status status = Compilation(options).run(report);
    expect(status.isOk(), status.message().c_str());
    auto opened = Artifact::open(options.output);
    expect(opened.status().isOk(), "an artifact can be opened");
    return *opened;
  }();
  return *made;
}

/// The context of many inputs: it takes longer to make than an input takes, but
/// keeps the attributes and types of all inputs that it has seen.
class SharedContext {
public:
  MLIRContext &get() {
    if (!context)
      context = createCompilerContext();
    return *context;
  }
  /// For an input. References to an earlier context may be invalid afterwards.
  MLIRContext &renew() {
    if (++uses % 2000 == 0) {
      base = {};
      context = nullptr;
    }
    return get();
  }
  /// The program of the artifact, in that context.
  ModuleOp baseProgram() {
    if (!base) {
      auto parsed =
          parseProgram(get(), baseArtifact().program(), "model.llmir");
      expect(parsed.status().isOk(), "the program itself is valid");
      base = std::move(*parsed);
    }
    return *base;
  }

private:
  std::unique_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> base;
  size_t uses = 0;
};

SharedContext shared;

/// A module in the mllm text format; none if it has something that the format
/// cannot express.
std::optional<std::string> printNotation(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (failed(llmir::mllm::printText(module, stream)))
    return std::nullopt;
  return text;
}

} // namespace

//===----------------------------------------------------------------------===//
// Step programs
//===----------------------------------------------------------------------===//

static void readProgram(std::string_view input) {
  MLIRContext &context = shared.renew();
  auto program = parseProgram(context, input, "program.txt");
  if (!program)
    return checkStatus(program.status());
  expect(succeeded(verify(**program)), "what was read is valid");
  const ModuleOp base = shared.baseProgram();
  const Status status = withDiagnostics(
      context, StatusCode::InvalidFile, "", "correct the program's text",
      [&] { return checkStepProgram(**program, base, baseArtifact().info()); });
  if (!status)
    checkStatus(status);
}

static std::string changeProgram(const std::string &seed, unsigned number) {
  return test::Mutator(seed, number).mutant();
}

static std::vector<std::string> programSeeds() {
  const auto printed = printNotation(shared.baseProgram());
  expect(printed.has_value(), "the program can be written");
  return {std::string(baseArtifact().program()), *printed};
}

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

static void readModule(std::string_view input) {
  MLIRContext &context = shared.renew();
  auto module = parseModule(context, input, "module.mlir", "advice");
  if (!module)
    return checkStatus(module.status());
  expect(succeeded(verify(**module)), "what was read is valid");
  const Status status =
      withDiagnostics(context, StatusCode::InvalidFile, "", "advice", [&] {
        return LogicalResult(llmir::mllm::ModelFacts::read(**module));
      });
  if (!status)
    checkStatus(status);
}

/// The valid modules of the dialects' tests, without comments, split where
/// mlir-opt splits them.
static std::vector<std::string> moduleSeeds() {
  namespace fs = std::filesystem;
  std::vector<std::string> seeds;
  auto add = [&](const std::string &piece) {
    if (piece.size() > 20 && piece.size() < (16u << 10) &&
        parseModule(shared.get(), piece, "t", "advice"))
      seeds.push_back(piece);
  };
  std::vector<fs::path> paths;
  for (const char *folder : {"/test/Dialect/MLLM", "/test/Dialect/LLM/IR"})
    for (const auto &entry :
         fs::directory_iterator(std::string(LLMIR_SOURCE_DIR) + folder))
      if (entry.path().extension() == ".mlir")
        paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  for (const fs::path &path : paths) {
    std::ifstream stream(path);
    std::string piece;
    for (std::string line; std::getline(stream, line);) {
      const size_t begin = std::min(line.find_first_not_of(' '), line.size());
      if (line.rfind("// -----", 0) == 0) {
        add(piece);
        piece.clear();
      } else if (line.compare(begin, 2, "//") != 0) {
        piece += line + "\n";
      }
    }
    add(piece);
  }
  expect(seeds.size() > 10, "the dialects have tests");
  return seeds;
}

//===----------------------------------------------------------------------===//
// The mllm text format
//===----------------------------------------------------------------------===//

static void readNotation(std::string_view input) {
  MLIRContext &context = shared.renew();
  const std::string owned(input);
  OwningOpRef<ModuleOp> module, again;
  const Status status =
      withDiagnostics(context, StatusCode::InvalidFile, "", "advice", [&] {
        module = llmir::mllm::parseText(owned, "t", context);
        return success(static_cast<bool>(module));
      });
  expect(status.isOk() == static_cast<bool>(module), "a failure is reported");
  if (!status)
    return checkStatus(status);
  expect(succeeded(verify(*module)), "what was read is valid");
  const Status reread =
      withDiagnostics(context, StatusCode::InvalidFile, "", "advice", [&] {
        const auto text = printNotation(*module);
        expect(text.has_value(), "what was read can be written");
        again = llmir::mllm::parseText(*text, "t", context);
        expect(!again || printNotation(*again) == text,
               "what was written is read as it was");
        return success(static_cast<bool>(again));
      });
  expect(reread.isOk(), "what was written can be read");
}

/// The modules of the other target, in this form.
static std::vector<std::string> notationSeeds() {
  std::vector<std::string> seeds = {
      R"(@main () -> (){
    graph.CallGraphOp @model (%453:tensor<[1, 128], kInt64, kCPU>) -> (%457:tensor<[1, 128, 99], kFp32, kCPU>)
    graph.SubGraphOp @model <kCPU>{
        (%453:tensor<[1, 128], kInt64, kCPU>) -> (%457:tensor<[1, 128, 99], kFp32, kCPU>){
            linalg.kCPU.LLMEmbeddingTokenOp(%453:tensor<[1, 128], kInt64, kCPU>) -> (%454:tensor<[1, 128, 16], kFp32, kCPU>)
            linalg.kCPU.RMSNormOp(%454:tensor<[1, 128, 16], kFp32, kCPU>) -> (%455:tensor<[1, 128, 16], kFp32, kCPU>)
            linalg.kCPU.LinearOp(%455:tensor<[1, 128, 16], kFp32, kCPU>) -> (%457:tensor<[1, 128, 99], kFp32, kCPU>)
            cf.ReturnOp(%457:tensor<[1, 128, 99], kFp32, kCPU>) -> ()
        }
    }
}
)"};
  MLIRContext &context = shared.get();
  for (const std::string &text : moduleSeeds())
    if (auto module = parseModule(context, text, "t", "advice")) {
      (void)withDiagnostics(
          context, StatusCode::InvalidFile, "", "advice", [&] {
            const auto printed = printNotation(**module);
            const bool isShort = printed && printed->size() < (16u << 10);
            if (isShort)
              seeds.push_back(*printed);
            return success(isShort);
          });
    }
  return seeds;
}

std::vector<Target> fuzz::programTargets() {
  return {{"program", "a step program that was edited", readProgram,
           programSeeds, changeProgram},
          {"module", "a module in MLIR's form", readModule, moduleSeeds,
           changeProgram},
          {"mllm-text", "a module in the mllm text format", readNotation,
           notationSeeds, changeProgram}};
}
