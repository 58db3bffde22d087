//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelHarness.h"
#include "Emulation/Emulation.h"
#include "Emulation/StepThreads.h"
#include "Emulation/TileEmulation.h"

#include "llmir/Artifact/CpuFeatures.h"
#include "llmir/Pipelines/Compilation.h"
#include "llmir/Pipelines/Pipelines.h"
#include "llmir/Support/SmallFloat.h"
#include "llmir/Target/CPU/CPUTarget.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

using namespace mlir;

namespace llmir::test {

/// Bytes behind each buffer that nobody may touch.
static constexpr int64_t kGuardBytes = 256;

//===----------------------------------------------------------------------===//
// Memory, random numbers
//===----------------------------------------------------------------------===//

AlignedBytes::AlignedBytes(size_t size)
    : memory(static_cast<uint8_t *>(
          std::aligned_alloc(64, roundUpTo(std::max<size_t>(size, 1), 64)))),
      length(size) {}

uint32_t Random::bits() {
  state = state * 6364136223846793005u + 1442695040888963407u;
  uint64_t mixed = (state ^ (state >> 29)) * 0xbf58476d1ce4e5b9u;
  return static_cast<uint32_t>(mixed >> 32);
}

float Random::uniform(float low, float high) {
  float unit = static_cast<float>(bits() >> 8) * 0x1p-24f;
  return low + (high - low) * unit;
}

std::vector<float> Random::values(int64_t count, float low, float high) {
  std::vector<float> result(count);
  for (float &value : result)
    value = uniform(low, high);
  return result;
}

//===----------------------------------------------------------------------===//
// Workers
//===----------------------------------------------------------------------===//

/// The counts and, for code of this processor, the addresses of a step.
LLMIRStepContext LoadedProgram::contextOf(const StepInputs &inputs) {
  LLMIRStepContext ctx{};
  ctx.arena = arena.data();
  ctx.weights = weights.data();
  ctx.kv_pool = inputs.pool;
  ctx.kv_layer_stride = inputs.layerStride;
  ctx.num_tokens = inputs.numTokens;
  ctx.split_attention = inputs.splitAttention;
  ctx.num_sequences = static_cast<int64_t>(inputs.seqLens.size());
  ctx.num_logit_rows = static_cast<int64_t>(inputs.logitRows.size());
  ctx.token_ids = inputs.tokenIds.data();
  ctx.positions = inputs.positions.data();
  ctx.query_offsets = inputs.queryOffsets.data();
  ctx.seq_lens = inputs.seqLens.data();
  ctx.slot_mapping = inputs.slots.data();
  ctx.block_tables = inputs.blockTables.data();
  ctx.block_table_stride = inputs.blockTableStride;
  ctx.logit_rows = inputs.logitRows.data();
  ctx.logits = inputs.logits;
  return ctx;
}

void LoadedProgram::run(const StepInputs &inputs, int64_t workers) {
  LLMIRStepContext context = contextOf(inputs);
  if (image) {
    if (!phases.empty() && workers > 1)
      expectOwnAccesses(inputs, workers);
    runStepThreads(image->step(), context, workers);
    EXPECT_EQ(tileCounts().configured, 0) << "a kernel kept its tiles";
    return;
  }
  auto list = [](StepField field, const std::vector<int32_t> &values) {
    return FieldMemory{field, const_cast<int32_t *>(values.data()),
                       values.size() * 4, false};
  };
  std::vector<FieldMemory> memory = {
      {StepField::arena, arena.data(), arena.size(), true},
      {StepField::weights, weights.data(), weights.size(), false},
      list(StepField::token_ids, inputs.tokenIds),
      list(StepField::positions, inputs.positions),
      list(StepField::query_offsets, inputs.queryOffsets),
      list(StepField::seq_lens, inputs.seqLens),
      list(StepField::slot_mapping, inputs.slots),
      list(StepField::block_tables, inputs.blockTables),
      list(StepField::logit_rows, inputs.logitRows),
      {StepField::kv_pool, inputs.pool, inputs.poolBytes, true},
      {StepField::logits, inputs.logits, inputs.logitsBytes, true}};
  Status status = runEmulated(*level, foreign, context, workers, memory);
  EXPECT_TRUE(status) << status.message();
}

//===----------------------------------------------------------------------===//
// The arena
//===----------------------------------------------------------------------===//

void LoadedProgram::clearArena() {
  for (size_t at = 0; at + 4 <= arena.size(); at += 4)
    std::memcpy(arena.data() + at, &kUnwritten, 4);
}

void LoadedProgram::clearBuffer(unsigned buffer) {
  const BufferPlace &place = buffers[buffer];
  for (int64_t i = 0; i < place.rows * place.stride; ++i)
    std::memcpy(arena.data() + place.offset + 4 * i, &kUnwritten, 4);
}

void LoadedProgram::setRow(unsigned buffer, int64_t row, const float *values) {
  const BufferPlace &place = buffers[buffer];
  uint8_t *start = arena.data() + place.offset + row * place.stride * 4;
  std::memset(start, 0, place.stride * 4);
  std::memcpy(start, values, place.columns * 4);
}

void LoadedProgram::setRows(unsigned buffer, const std::vector<float> &values) {
  int64_t columns = buffers[buffer].columns;
  for (int64_t row = 0; row < static_cast<int64_t>(values.size()) / columns;
       ++row)
    setRow(buffer, row, values.data() + row * columns);
}

std::vector<float> LoadedProgram::rows(unsigned buffer, int64_t rows) const {
  const BufferPlace &place = buffers[buffer];
  std::vector<float> result(rows * place.columns);
  for (int64_t row = 0; row < rows; ++row)
    std::memcpy(result.data() + row * place.columns,
                arena.data() + place.offset + row * place.stride * 4,
                place.columns * 4);
  return result;
}

void LoadedProgram::setIntegers(unsigned buffer,
                                const std::vector<int32_t> &values) {
  if (values.empty()) // Has no address to copy from.
    return;
  std::memcpy(arena.data() + buffers[buffer].offset, values.data(),
              values.size() * 4);
}

std::vector<int32_t> LoadedProgram::integers(unsigned buffer,
                                             int64_t rows) const {
  std::vector<int32_t> result(rows * buffers[buffer].columns);
  if (result.empty())
    return result;
  std::memcpy(result.data(), arena.data() + buffers[buffer].offset,
              result.size() * 4);
  return result;
}

std::vector<float> LoadedProgram::padding(unsigned buffer, int64_t row) const {
  const BufferPlace &place = buffers[buffer];
  std::vector<float> result(place.stride - place.columns);
  if (!result.empty())
    std::memcpy(result.data(),
                arena.data() + place.offset +
                    (row * place.stride + place.columns) * 4,
                result.size() * 4);
  return result;
}

void LoadedProgram::expectOnlyWritten(const std::vector<unsigned> &written,
                                      int64_t rows) {
  std::vector<WrittenRows> all;
  for (unsigned buffer : written)
    all.push_back({buffer, rows});
  expectOnlyWritten(all);
}

void LoadedProgram::expectOnlyWritten(const std::vector<WrittenRows> &written) {
  std::vector<uint8_t> expected = before;
  for (auto [buffer, rows] : written) {
    const BufferPlace &place = buffers[buffer];
    std::memcpy(expected.data() + place.offset, arena.data() + place.offset,
                rows * place.stride * 4);
  }
  for (size_t at = 0; at < expected.size(); ++at)
    if (expected[at] != arena.data()[at]) {
      ADD_FAILURE() << "byte " << at << " of the arena was written";
      return;
    }
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

static OpBuilder addFragment(ModuleOp module, StringRef name,
                             FragmentKind kind) {
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto fragment = FragmentOp::create(builder, module.getLoc(), name, kind);
  Block &block = fragment.getBody().emplaceBlock();
  return OpBuilder::atBlockEnd(&block);
}

KernelProgram::KernelProgram()
    : context(createCompilerContext()),
      module(ModuleOp::create(UnknownLoc::get(context.get()))),
      data(addFragment(*module, "weights", FragmentKind::Data)),
      buffersAt(context.get()),
      code(addFragment(*module, "llmir_step", FragmentKind::Code)) {
  context->loadDialect<math::MathDialect>();
  buffersAt.setInsertionPoint(EntryPointOp::create(code, module->getLoc()));
}

unsigned KernelProgram::addBuffer(BufferPlace place, Type element) {
  place.offset = arenaBytes;
  arenaBytes += place.rows * place.stride * 4 + kGuardBytes;
  arenaBytes = roundUpTo(arenaBytes, 64);
  auto type = MemRefType::get({place.rows, place.stride}, element);
  bufferValues.push_back(
      BufferOp::create(buffersAt, module->getLoc(), type,
                       buffersAt.getI64IntegerAttr(place.offset)));
  buffers.push_back(place);
  return static_cast<unsigned>(buffers.size() - 1);
}

unsigned KernelProgram::addBuffer(int64_t rows, int64_t columns) {
  return addBuffer({rows, columns, roundUpTo(columns, kTileRows), 0},
                   buffersAt.getF32Type());
}

unsigned KernelProgram::addIntegers(int64_t rows, int64_t columns) {
  return addBuffer({rows, columns, columns, 0}, buffersAt.getI32Type());
}

/// The bytes of a weight as the packer writes them.
static std::vector<uint8_t> pack(TensorFormat format, const PackJob &job,
                                 const std::vector<uint8_t> &stored) {
  CheckpointTensor tensor;
  tensor.name = "test";
  tensor.format = format;
  tensor.shape = {job.rows};
  if (!job.isVector)
    tensor.shape.push_back(job.columns);
  tensor.bytes = stored;
  std::vector<uint8_t> packed(job.bytes);
  Status status = packTensor(tensor, job, packed);
  EXPECT_TRUE(status.isOk()) << status.message();
  return packed;
}

std::string
KernelProgram::declareWeight(const char *layout, std::string_view format,
                             const std::vector<int64_t> &shape,
                             const std::vector<std::vector<uint8_t>> &packed,
                             int64_t firstLayer) {
  std::string name = "weight" + std::to_string(numWeights++);
  std::vector<StringRef> sources(packed.size(), "test");
  std::vector<int64_t> offsets;
  for (const std::vector<uint8_t> &bytes : packed) {
    offsets.push_back(static_cast<int64_t>(weightBytes.size()));
    weightBytes.insert(weightBytes.end(), bytes.begin(), bytes.end());
  }
  WeightOp::create(data, module->getLoc(), name, layout,
                   StringRef(format.data(), format.size()), shape,
                   static_cast<int64_t>(packed.front().size()),
                   data.getStrArrayAttr(sources), offsets, firstLayer,
                   /*rope_unpermute_heads=*/0, /*slice=*/DenseI64ArrayAttr());
  int64_t bytes = static_cast<int64_t>(packed.front().size());
  weightTypes[name] = shape.size() == 1
                          ? MemRefType::get({bytes / 4}, data.getF32Type())
                          : MemRefType::get({bytes}, data.getI8Type());
  return name;
}

std::string packedFormatName(TensorFormat format) {
  if (auto integers = IntegerFormat::ofBlocks(format))
    return integers->name();
  return std::string(tensorFormatInfo(format).name);
}

static std::vector<std::vector<uint8_t>>
packMatrices(TensorFormat format, int64_t rows, int64_t columns,
             const std::vector<std::vector<uint8_t>> &stored) {
  PackJob job;
  job.rows = rows;
  job.columns = columns;
  job.integers = IntegerFormat::ofBlocks(format);
  job.bytes = job.integers
                  ? IntegerMatrixLayout{*job.integers, rows, columns}.bytes()
                  : PackedMatrixLayout{format, rows, columns}.bytes();
  std::vector<std::vector<uint8_t>> packed;
  for (const std::vector<uint8_t> &matrix : stored)
    packed.push_back(pack(format, job, matrix));
  return packed;
}

std::string
KernelProgram::addLayers(TensorFormat format, int64_t rows, int64_t columns,
                         const std::vector<std::vector<uint8_t>> &stored,
                         int64_t firstLayer) {
  return declareWeight("tiles16", packedFormatName(format), {rows, columns},
                       packMatrices(format, rows, columns, stored), firstLayer);
}

std::string
KernelProgram::addExperts(TensorFormat format, int64_t rows, int64_t columns,
                          const std::vector<std::vector<uint8_t>> &stored) {
  std::vector<uint8_t> all;
  for (const auto &bytes : packMatrices(format, rows, columns, stored))
    all.insert(all.end(), bytes.begin(), bytes.end());
  return declareWeight("tiles16", packedFormatName(format),
                       {static_cast<int64_t>(stored.size()), rows, columns},
                       {all}, /*firstLayer=*/0);
}

std::string KernelProgram::addPacked(const IntegerMatrixLayout &layout,
                                     const std::vector<uint8_t> &packed) {
  return declareWeight("tiles16", layout.format.name(),
                       {layout.rows, layout.columns}, {packed},
                       /*firstLayer=*/0);
}

std::string KernelProgram::addMatrix(TensorFormat format, int64_t rows,
                                     int64_t columns,
                                     const std::vector<uint8_t> &stored) {
  return addLayers(format, rows, columns, {stored});
}

std::string KernelProgram::addVector(const std::vector<float> &values) {
  PackJob job;
  job.isVector = true;
  job.rows = static_cast<int64_t>(values.size());
  job.bytes = packedVectorBytes(job.rows);
  std::vector<uint8_t> stored(values.size() * 4);
  std::memcpy(stored.data(), values.data(), stored.size());
  return declareWeight("vector", "f32", {job.rows},
                       {pack(TensorFormat::F32, job, stored)},
                       /*firstLayer=*/0);
}

SmallVector<Value>
KernelProgram::operator[](const std::vector<unsigned> &numbers) const {
  return llvm::map_to_vector(
      numbers, [&](unsigned number) { return bufferValues[number]; });
}

Value KernelProgram::weight(const std::string &name) {
  if (name.empty())
    return {};
  nextWeights.push_back(
      GetWeightOp::create(code, module->getLoc(), weightTypes.at(name), name));
  return nextWeights.back();
}

IntegerAttr KernelProgram::sizeOrNone(int64_t size) {
  return size == 0 ? IntegerAttr() : code.getI64IntegerAttr(size);
}

OpBuilder KernelProgram::beginInstruction() {
  auto instruction =
      InstructionOp::create(code, module->getLoc(), /*replicated=*/false);
  Block &block = instruction.getBody().emplaceBlock();
  for (GetWeightOp weight : nextWeights)
    weight->moveBefore(&block, block.end());
  nextWeights.clear();
  return OpBuilder::atBlockEnd(&block);
}

void KernelProgram::setBody(Region &region, size_t elements,
                            const ScalarBody &body) {
  OpBuilder b(region.getContext());
  Location loc = b.getUnknownLoc();
  Block &block = region.emplaceBlock();
  for (size_t i = 0; i < elements; ++i)
    block.addArgument(b.getF32Type(), loc);
  b.setInsertionPointToEnd(&block);
  YieldOp::create(b, loc, body(b, loc, block.getArguments()));
}

void KernelProgram::callElementwise(const std::vector<unsigned> &inputs,
                                    unsigned out, int64_t columns,
                                    const ScalarBody &body, int64_t grain,
                                    RowSpace over) {
  auto op = call<kernel::ElementwiseOp>((*this)[inputs], (*this)[out], columns,
                                        grain, over);
  setBody(op.getBody(), inputs.size(), body);
}

void KernelProgram::barrier() { BarrierOp::create(code, module->getLoc()); }
void KernelProgram::setLayer(int64_t layer) {
  SetLayerOp::create(code, module->getLoc(), layer);
}
void KernelProgram::label(const std::string &name) {
  LabelOp::create(code, module->getLoc(), name);
}
void KernelProgram::jumpNextLayer(const std::string &label, int64_t limit) {
  JumpNextLayerOp::create(code, module->getLoc(), label, limit);
}
void KernelProgram::finish() { ExitOp::create(code, module->getLoc()); }

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

Expected<std::vector<uint8_t>>
KernelProgram::compile(const CPULevel &level) const {
  OwningOpRef<ModuleOp> copy(cast<ModuleOp>(module.get()->clone()));
  std::string diagnostics;
  ScopedDiagnosticHandler handler(context.get(), [&](Diagnostic &diagnostic) {
    diagnostics += diagnostic.str() + "\n";
    return success();
  });
  LowerStageOptions options;
  options.level = level.name.str();
  PassManager passes(context.get());
  buildKernelStage(passes, options);
  buildLLVMStage(passes);
  if (failed(mlir::verify(*copy)) || failed(passes.run(*copy)))
    return Status(StatusCode::Internal, diagnostics);
  Expected<CPUCodeGenerator> generator = CPUCodeGenerator::create(*copy, level);
  if (!generator)
    return generator.takeStatus().withContext(diagnostics);
  generator->optimize();
  Expected<std::vector<uint8_t>> object = generator->object();
  if (!object)
    return object.takeStatus();
  return linkCodeImage(*object, "llmir_step");
}

/// Maps an image of this processor.
static Expected<CodeImage> mapImage(Span<const uint8_t> image) {
  std::FILE *file = std::tmpfile();
  if (!file ||
      std::fwrite(image.data(), 1, image.size(), file) != image.size() ||
      std::fflush(file) != 0)
    return Status(StatusCode::IoError, "the image cannot be written");
  Expected<CodeImage> mapped = CodeImage::load(fileno(file), 0, image, "test");
  std::fclose(file);
  return mapped;
}

static bool runsHere(const CPULevel &level) {
  const CpuFeatures &host = CpuFeatures::host();
  return level.architecture.str() == host.architecture() &&
         (host.hasAll(cpuLevelFeatures(level.name.str())) ||
          canEmulateTiles(level.name.str()));
}

/// Prepares this process for code of a level that runs here.
static Status prepareFor(const CPULevel &level) {
  if (!canEmulateTiles(level.name.str()))
    return enableCpuState(
        {level.name.str(), level.triple(), cpuLevelFeatures(level.name.str())});
  startTileEmulation();
  return Status::ok();
}

Expected<LoadedProgram> KernelProgram::load(const CPULevel &level) const {
  Expected<std::vector<uint8_t>> image = compile(level);
  if (!image)
    return image.takeStatus();
  LoadedProgram loaded(level);
  if (runsHere(level)) {
    LLMIR_RETURN_IF_ERROR(prepareFor(level));
    Expected<CodeImage> mapped = mapImage(*image);
    if (!mapped)
      return mapped.takeStatus();
    loaded.image = std::move(*mapped);
    loaded.context = context;
    loaded.module = cast<ModuleOp>(module.get()->clone());
    // An instruction of emulated tiles takes microseconds.
    if (!canEmulateTiles(level.name.str()))
      loaded.phases = phasesOf(*loaded.module);
  } else {
    loaded.foreign = std::move(*image);
  }
  loaded.arena = AlignedBytes(arenaBytes);
  loaded.weights = AlignedBytes(weightBytes.size());
  if (!weightBytes.empty())
    std::memcpy(loaded.weights.data(), weightBytes.data(), weightBytes.size());
  loaded.buffers = buffers;
  loaded.clearArena();
  return loaded;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

float roundTo(TensorFormat format, float value) {
  if (format == TensorFormat::F16)
    return f16ToFloat(floatToF16(value));
  if (format == TensorFormat::BF16)
    return bf16ToFloat(floatToBf16(value));
  return value;
}

std::vector<uint8_t> randomMatrix(TensorFormat format, int64_t rows,
                                  int64_t columns, Random &random) {
  const TensorFormatInfo &info = tensorFormatInfo(format);
  int64_t rowBytes = *tensorRowBytes(format, columns);
  std::vector<uint8_t> stored(rows * rowBytes);
  for (int64_t at = 0; at < rows * rowBytes; at += info.bytesPerBlock) {
    uint8_t *block = stored.data() + at;
    if (format == TensorFormat::F32) {
      float value = random.uniform();
      std::memcpy(block, &value, 4);
    } else if (!isBlockFormat(format)) {
      float value = random.uniform();
      uint16_t bits =
          format == TensorFormat::F16 ? floatToF16(value) : floatToBf16(value);
      std::memcpy(block, &bits, 2);
    } else {
      for (int64_t i = 0; i < info.bytesPerBlock; ++i)
        block[i] = static_cast<uint8_t>(random.bits());
      // The f16 numbers: d, and the minimum or dmin behind it.
      IntegerFormat integers = *IntegerFormat::ofBlocks(format);
      float top = static_cast<float>(integers.highest()) *
                  (integers.superGroup > 0 ? 64.0f : 1.0f);
      int64_t d = format == TensorFormat::Q6_K ? info.bytesPerBlock - 2 : 0;
      for (int64_t i = 0; i < (integers.minima ? 2 : 1); ++i) {
        uint16_t scale = floatToF16(random.uniform(-1.0f, 1.0f) / top);
        std::memcpy(block + d + 2 * i, &scale, 2);
      }
    }
  }
  return stored;
}

std::vector<float> decodeMatrix(TensorFormat format, int64_t rows,
                                int64_t columns,
                                const std::vector<uint8_t> &stored) {
  std::vector<float> values(rows * columns);
  int64_t rowBytes = *tensorRowBytes(format, columns);
  for (int64_t row = 0; row < rows; ++row)
    decodeTensorRow(format, stored.data() + row * rowBytes, columns,
                    values.data() + row * columns);
  return values;
}

double normalizedError(const std::vector<float> &actual,
                       const std::vector<double> &expected) {
  if (actual.size() != expected.size())
    return INFINITY;
  double error = 0, power = 0;
  for (size_t i = 0; i < actual.size(); ++i) {
    double difference = actual[i] - expected[i];
    error += difference * difference;
    power += expected[i] * expected[i];
  }
  if (error == 0)
    return 0;
  return power == 0 ? INFINITY : error / power;
}

bool sameBits(const std::vector<float> &a, const std::vector<float> &b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * 4) == 0);
}

std::vector<const CPULevel *> allLevels() {
  std::vector<const CPULevel *> levels;
  for (const CPULevel &level : cpuLevels())
    levels.push_back(&level);
  return levels;
}

/// Emulated levels of one architecture differ in products of bytes only: the
/// lowest one is tried everywhere, the others where there are such products,
/// and everywhere in long tests.
static bool isTriedHere(const CPULevel &level) {
  if (level.byteDots == ByteDots::Generic || std::getenv("LLMIR_LONG_TESTS"))
    return true;
  const auto *test = testing::UnitTest::GetInstance()->current_test_info();
  std::string suite = test ? test->test_suite_name() : "";
  return suite.find("Quant") != std::string::npos ||
         suite.find("MoE") != std::string::npos;
}

std::string whyNotRunnable(const CPULevel *level) {
  if (runsHere(*level))
    return {};
  if (level->architecture.str() == CpuFeatures::host().architecture())
    return "this processor has no " + level->name.str();
  if (std::string reason = whyNotEmulated(*level); !reason.empty())
    return reason;
  return isTriedHere(*level) ? "" : "emulated here in long tests only";
}

bool isEmulated(const CPULevel *level) { return !runsHere(*level); }

std::string levelName(const CPULevel *level) {
  std::string name = level->name.str();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

} // namespace llmir::test
