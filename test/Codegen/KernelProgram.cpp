//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emulation/TileEmulation.h"
#include "KernelHarness.h"

#include "llmir/Artifact/CpuFeatures.h"
#include "llmir/Packing/PackWeights.h"
#include "llmir/Pipelines/Pipelines.h"
#include "llmir/Pipelines/Registration.h"
#include "llmir/Target/CPU/CPUTarget.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

#include <cstdio>
#include <fcntl.h>
#include <limits>
#include <malloc.h>
#include <unistd.h>

using namespace mlir;

namespace llmir::test {

/// Size of the guard after each buffer, which must not be accessed.
static constexpr int64_t kGuardBytes = 256;

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

/// The packed bytes of a weight.
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
  return generator->image("llmir_step");
}

/// Maps a native image.
static Expected<CodeImage> mapImage(Span<const uint8_t> image) {
  std::FILE *file = std::tmpfile();
  if (!file ||
      std::fwrite(image.data(), 1, image.size(), file) != image.size() ||
      std::fflush(file) != 0)
    return Status(StatusCode::IoError, "cannot write the image");
  Expected<CodeImage> mapped = CodeImage::load(fileno(file), 0, image, "test");
  std::fclose(file);
  return mapped;
}

/// Prepares this process for native code of the level.
static Status prepareFor(const CPULevel &level) {
  if (!canEmulateTiles(level.name.str()))
    return enableCpuState(
        {level.name.str(), level.triple(), cpuLevelFeatures(level.name.str())});
  startTileEmulation();
  return Status::ok();
}

/// Keeps freed memory for the next of the many copies of an arena: otherwise
/// half of the time of some tests is that of new pages.
static void keepFreedMemory() {
  static const bool done =
      mallopt(M_MMAP_MAX, 0) != 0 &&
      mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max()) != 0;
  (void)done;
}

Expected<LoadedProgram> KernelProgram::load(const CPULevel &level) const {
  Expected<std::vector<uint8_t>> image = compile(level);
  if (!image)
    return image.takeStatus();
  keepFreedMemory();
  LoadedProgram loaded(level);
  if (!isEmulated(&level)) {
    LLMIR_RETURN_IF_ERROR(prepareFor(level));
    Expected<CodeImage> mapped = mapImage(*image);
    if (!mapped)
      return mapped.takeStatus();
    loaded.image = std::move(*mapped);
    loaded.context = context;
    loaded.module = cast<ModuleOp>(module.get()->clone());
    // An emulated tile instruction takes microseconds.
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

} // namespace llmir::test
