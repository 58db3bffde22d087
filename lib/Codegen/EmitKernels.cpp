//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pass that emits a function for each kernel: checks the kernel against
// its spec once, then calls the emitter of its kind.
//
//===----------------------------------------------------------------------===//

#include "KernelEmission.h"

#include "llmir/Codegen/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace llmir {

#define GEN_PASS_DEF_EMITKERNELS
#include "llmir/Codegen/Passes.h.inc"

FailureOr<TensorFormat> KernelEmission::format(StringRef name) {
  std::optional<TensorFormat> format =
      tensorFormatFromName(std::string_view(name.data(), name.size()));
  if (!format)
    return kernel.emitOpError("has the unknown format \"") << name << "\"";
  if (auto integers = IntegerFormat::ofBlocks(*format))
    return kernel.emitOpError("has the block format \"")
           << name << "\", which programs call \"" << integers->name() << "\"";
  return *format;
}

FailureOr<IntegerFormat>
KernelEmission::integerFormat(const std::string &name) {
  std::optional<IntegerFormat> format = IntegerFormat::fromName(name);
  if (!format)
    return kernel.emitOpError("has the unknown format \"") << name << "\"";
  return *format;
}

LogicalResult KernelEmission::begin(ArrayRef<Type> weightTypes,
                                    ArrayRef<int64_t> minColumns,
                                    ArrayRef<unsigned> integers,
                                    ArrayRef<unsigned> wide) {
  SmallVector<Type> buffers(
      kernel.getOperandTypes().getAsValueRange<TypeAttr>());
  // Weights that the program packs itself are the first buffers.
  if (!weightTypes.empty() &&
      buffers.size() == minColumns.size() + weightTypes.size()) {
    ArrayRef<Type> weights = ArrayRef(buffers).take_front(weightTypes.size());
    if (failed(checkPackedWeights(weightTypes, weights)))
      return failure();
    buffers.erase(buffers.begin(), buffers.begin() + weightTypes.size());
  }
  if (buffers.size() != minColumns.size())
    return kernel.emitOpError("takes ")
           << buffers.size() << " buffers, its kind " << minColumns.size();
  for (auto [i, type] : llvm::enumerate(buffers)) {
    auto memref = dyn_cast<MemRefType>(type);
    bool fits = isPlain(memref) && memref.getRank() == 2 &&
                memref.getDimSize(1) >= minColumns[i];
    unsigned bits = llvm::is_contained(integers, i) ? 32
                    : llvm::is_contained(wide, i)   ? 64
                                                    : 0;
    if (bits && !(fits && memref.getElementType().isInteger(bits)))
      return kernel.emitOpError("buffer ")
             << i << " is " << type << ", expected static rows of i" << bits
             << " with " << minColumns[i] << " columns or more";
    if (!bits && !(fits && memref.getElementType().isF32() &&
                   memref.getDimSize(1) % kTileRows == 0))
      return kernel.emitOpError("buffer ")
             << i << " is " << type << ", expected static rows of f32 with "
             << minColumns[i] << " columns or more, in whole tiles of "
             << kTileRows;
  }
  kb.beginKernel(kernel.getSymName(), weightTypes, buffers);
  return success();
}

int64_t KernelEmission::bufferRows(unsigned i) {
  ArrayAttr types = kernel.getOperandTypes();
  if (i >= types.size())
    return 0;
  auto memref = dyn_cast<MemRefType>(cast<TypeAttr>(types[i]).getValue());
  return memref && memref.getRank() == 2 ? memref.getDimSize(0) : 0;
}

Type KernelEmission::elementOfBuffer(unsigned i) {
  ArrayAttr types = kernel.getOperandTypes();
  if (i >= types.size())
    return {};
  auto memref = dyn_cast<MemRefType>(cast<TypeAttr>(types[i]).getValue());
  return memref ? memref.getElementType() : Type();
}

bool KernelEmission::isIntegerBuffer(unsigned i, unsigned bits) {
  Type element = elementOfBuffer(i);
  return element && element.isInteger(bits);
}

LogicalResult
KernelEmission::checkSizes(ArrayRef<std::pair<StringRef, int64_t>> namedSizes) {
  constexpr int64_t limit = int64_t(1) << 28;
  for (auto [name, size] : namedSizes)
    if (size < 1 || size > limit)
      return kernel.emitOpError("parameter '")
             << name << "' is " << size << ", expected 1 to " << limit;
  return success();
}

/// An item of attention has some rows of that length on the stack.
static constexpr int64_t kMostHeadDim = 4096;

template <typename Spec>
FailureOr<KVFormat> KernelEmission::checkCache(const Spec &spec) {
  std::optional<KVFormat> kvFormat = kvFormatFromName(spec.kvFormat);
  if (!kvFormat)
    return kernel.emitOpError("has a cache of the unknown format \"")
           << spec.kvFormat << "\"";
  if (failed(checkSizes({{"kv_heads", spec.kvHeads},
                         {"head_dim", spec.headDim},
                         {"value_dim", valueDim(spec)},
                         {"block_size", spec.blockSize}})))
    return failure();
  // A cell of the cache holds neighbouring tokens' values.
  int64_t cell = 4 / kvStoredBytes(*kvFormat);
  if (spec.blockSize % cell != 0)
    return kernel.emitOpError("has block size ")
           << spec.blockSize << ", which is not a multiple of the " << cell
           << " values in a cell of the cache";
  return *kvFormat;
}

LogicalResult KernelEmission::checkAttention(const PagedAttentionSpec &spec) {
  if (failed(checkSizes({{"heads", spec.heads}})))
    return failure();
  if (std::max(spec.headDim, valueDim(spec)) > kMostHeadDim)
    return kernel.emitOpError("has heads of ")
           << std::max(spec.headDim, valueDim(spec)) << " numbers; at most "
           << kMostHeadDim << " are known to fit";
  if (spec.heads % spec.kvHeads != 0)
    return kernel.emitOpError("has ")
           << spec.heads << " heads, which " << spec.kvHeads
           << " KV heads do not divide";
  if (spec.window < 0)
    return kernel.emitOpError("has the window ")
           << spec.window << ", expected 0 (none) or more";
  int64_t slopes = spec.alibiSlopes.size();
  if (slopes != 0 && slopes != spec.heads)
    return kernel.emitOpError("has ")
           << slopes << " ALiBi slopes for " << spec.heads << " heads";
  ArrayRef<int64_t> strides = spec.maskStrides;
  if (!strides.empty() &&
      (strides.size() != 5 || strides.back() > 1 ||
       llvm::any_of(strides, [](int64_t stride) { return stride < 0; })))
    return kernel.emitOpError("has the mask strides ")
           << strides
           << "; expected those of sequence, head, query, token and key, the "
              "last 0 or 1";
  return success();
}

//===----------------------------------------------------------------------===//
// One function per kind
//===----------------------------------------------------------------------===//

LogicalResult KernelEmission::emit(const RopeAnglesSpec &spec) {
  int64_t half = spec.frequencies.size();
  if (failed(begin({}, {half, half})))
    return failure();
  emitRopeAngles(kb, spec);
  return success();
}

/// Whether rows of a table can be looked up: four neighbours in K lie in one
/// group, and in one word or in lines of nibbles.
static bool canLookUpRows(const IntegerMatrixLayout &table) {
  const IntegerFormat &format = table.format;
  return format.bits <= 8 && !format.zeroPoints && format.segment == 0 &&
         table.group() % 4 == 0 && table.block() % table.group() == 0 &&
         table.columns % table.block() == 0;
}

LogicalResult KernelEmission::emit(const EmbeddingSpec &spec) {
  if (failed(checkSizes({{"rows", spec.rows}, {"columns", spec.columns}})))
    return failure();
  StepField ids = spec.positions ? StepField::positions : StepField::token_ids;
  if (auto integers = IntegerFormat::fromName(spec.format)) {
    IntegerMatrixLayout table{*integers, spec.rows, spec.columns};
    if (!canLookUpRows(table))
      return kernel.emitOpError("looks up rows of ")
             << spec.columns << " integers of format \"" << spec.format
             << "\"; kernels know rows of whole blocks without zero points";
    if (failed(begin({matrixType(table)}, {spec.columns})))
      return failure();
    emitEmbedding(kb, table, ids);
    return success();
  }
  FailureOr<TensorFormat> weightFormat = format(spec.format);
  if (failed(weightFormat))
    return failure();
  PackedMatrixLayout table{*weightFormat, spec.rows, spec.columns};
  if (failed(begin({matrixType(table)}, {spec.columns})))
    return failure();
  emitEmbedding(kb, table, ids);
  return success();
}

LogicalResult KernelEmission::emit(const SelectRowsSpec &spec) {
  if (failed(checkSizes({{"columns", spec.columns}})) ||
      failed(begin({}, {spec.columns, spec.columns})))
    return failure();
  emitSelectRows(kb, spec);
  return success();
}

LogicalResult KernelEmission::emit(const RmsNormSpec &spec) {
  if (failed(checkSizes({{"columns", spec.columns}, {"groups", spec.groups}})))
    return failure();
  int64_t used = spec.groups * spec.columns;
  SmallVector<Type> weights(spec.weight ? 1 : 0, vectorType(spec.columns));
  if (failed(begin(weights, {used, used})))
    return failure();
  emitRmsNorm(kb, spec);
  return success();
}

LogicalResult KernelEmission::emit(const LinearSpec &spec) {
  FailureOr<TensorFormat> weightFormat = format(spec.format);
  if (failed(weightFormat) ||
      failed(checkSizes({{"rows", spec.rows}, {"columns", spec.columns}})))
    return failure();
  PackedMatrixLayout weights{*weightFormat, spec.rows, spec.columns};
  SmallVector<Type> weightTypes{matrixType(weights)};
  if (spec.bias)
    weightTypes.push_back(vectorType(spec.rows));
  FailureOr<Block *> epilogue =
      beginMatmul(weightTypes, inputColumns(weights), spec.rows, spec.unit);
  if (failed(epilogue))
    return failure();
  emitLinear(kb, spec, weights, *epilogue);
  return success();
}

LogicalResult
KernelEmission::checkSegments(int64_t segment,
                              const IntegerMatrixLayout &weights) {
  const IntegerFormat &format = weights.format;
  // 65536 products of 255 and 128 are the most that an i32 holds.
  if (segment > 65536)
    return kernel.emitOpError("adds up segments of ")
           << segment << " products, expected 65536 or fewer";
  if (format.bits > 8)
    return kernel.emitOpError("has quantized activations and weights of ")
           << format.bits << " bits; kernels multiply bytes";
  bool divides = format.group == 0 || format.group % segment == 0;
  bool inLines =
      segment == format.segment ||
      ((segment % weights.valuesPerLine() == 0 || segment >= weights.group()) &&
       format.segment % weights.bundleValues() == 0);
  if (!divides || !inLines)
    return kernel.emitOpError("has segments of ")
           << segment << " values in weights of format \"" << format.name()
           << "\", whose groups they do not divide into whole lines";
  return success();
}

FailureOr<int64_t>
KernelEmission::inputColumns(int64_t segment,
                             const IntegerMatrixLayout &weights) {
  if (segment == 0)
    return weights.columns;
  if (failed(checkSizes({{"segment", segment}})) ||
      failed(checkSegments(segment, weights)))
    return failure();
  return QuantizedRowLayout::forWeights(weights, segment).words();
}

LogicalResult KernelEmission::emit(const QuantizedLinearSpec &spec) {
  FailureOr<IntegerFormat> weightFormat = integerFormat(spec.format);
  if (failed(weightFormat) ||
      failed(checkSizes({{"rows", spec.rows}, {"columns", spec.columns}})))
    return failure();
  IntegerMatrixLayout weights{*weightFormat, spec.rows, spec.columns};
  FailureOr<int64_t> inputs = inputColumns(spec.segment, weights);
  if (failed(inputs))
    return failure();
  SmallVector<Type> weightTypes{matrixType(weights)};
  if (spec.bias)
    weightTypes.push_back(vectorType(spec.rows));
  FailureOr<Block *> epilogue =
      beginMatmul(weightTypes, *inputs, spec.rows, spec.unit);
  if (failed(epilogue))
    return failure();
  emitQuantizedLinear(kb, spec, weights, *epilogue);
  return success();
}

LogicalResult KernelEmission::emit(const QuantizeRowsSpec &spec) {
  if (failed(checkSizes({{"columns", spec.columns},
                         {"group", spec.group},
                         {"segment", spec.segment},
                         {"padded", spec.padded}})) ||
      (spec.topK != 0 && failed(checkSizes({{"top_k", spec.topK}}))))
    return failure();
  if ((spec.group < spec.columns && spec.group % spec.segment != 0) ||
      spec.padded % 4 != 0 || spec.padded < spec.segment)
    return kernel.emitOpError("has groups of ")
           << spec.group << " in segments of " << spec.segment << " values and "
           << spec.padded
           << " bytes, expected segments that divide the groups and fit into "
              "whole words";
  QuantizedRowLayout row{spec.columns, spec.segment, spec.padded};
  if (failed(begin({}, {spec.columns, row.words()})))
    return failure();
  emitQuantizeRows(kb, spec);
  return success();
}

LogicalResult KernelEmission::emit(const RoundRowsSpec &spec) {
  if (failed(checkSizes({{"columns", spec.columns}})) ||
      failed(begin({}, {spec.columns, RoundRowsSpec::words(spec.columns)})))
    return failure();
  emitRoundRows(kb, spec);
  return success();
}

LogicalResult KernelEmission::emit(const PackIntegersSpec &spec) {
  FailureOr<IntegerFormat> weightFormat = integerFormat(spec.format);
  if (failed(weightFormat) ||
      failed(checkSizes({{"rows", spec.rows},
                         {"columns", spec.columns},
                         {"tensor_columns", spec.tensorColumns},
                         {"grid_columns", spec.gridColumns},
                         {"scale_rows", spec.scaleRows}})))
    return failure();
  if (weightFormat->scales != TensorFormat::F32)
    return kernel.emitOpError("packs scales of ")
           << tensorFormatInfo(weightFormat->scales).name
           << "; a program has f32 ones";
  if (weightFormat->hasHighLines() || weightFormat->minima)
    return kernel.emitOpError("packs integers of format \"")
           << spec.format
           << "\"; a program has those of 4, 8 or 16 bits, without minima";
  IntegerMatrixLayout weights{*weightFormat, spec.rows, spec.columns};
  SmallVector<int64_t> columns{spec.tensorColumns, spec.gridColumns};
  if (weightFormat->zeroPoints)
    columns.push_back(spec.gridColumns);
  columns.push_back(kTileRows);
  if (failed(begin({}, columns)))
    return failure();
  // The last element and the last scale that the kernel reads exist.
  CopyBoxSpec numbers, scales, packed;
  numbers.sizes = {spec.rows, spec.columns};
  scales.sizes = {ceilDiv(spec.rows, spec.scaleRows), weights.numGroups()};
  packed.sizes = {weights.bytes() / 4};
  if (failed(checkBox(0, numbers, {spec.rowStride, spec.columnStride}, 0,
                      spec.tensorColumns)) ||
      failed(checkBox(1, scales, {spec.scaleRowStride, spec.scaleGroupStride},
                      0, spec.gridColumns)) ||
      failed(checkBox(columns.size() - 1, packed, {1}, 0, kTileRows)))
    return failure();
  emitPackIntegers(kb, spec, weights);
  return success();
}

LogicalResult KernelEmission::checkRegion(Block &body, int64_t minArguments) {
  if (!body.empty() && isa<YieldOp>(body.back()) &&
      body.getNumArguments() >= minArguments &&
      llvm::all_of(body.getArgumentTypes(), [](Type t) { return t.isF32(); }) &&
      body.back().getOperand(0).getType().isF32())
    return success();
  return kernel.emitOpError("of kind ")
         << kernel.getKind() << " needs a scalar region of "
         << (minArguments ? "one or more " : "")
         << "f32 arguments that ends in mllm.program.yield";
}

FailureOr<Block *> KernelEmission::beginMatmul(ArrayRef<Type> weightTypes,
                                               int64_t inputs, int64_t outputs,
                                               int64_t unit) {
  if (unit != 0 && failed(checkSizes({{"unit", unit}})))
    return failure();
  Block *epilogue =
      kernel.getBody().empty() ? nullptr : &kernel.getBody().front();
  SmallVector<int64_t> columns{inputs};
  if (epilogue) {
    if (failed(checkRegion(*epilogue, 1)))
      return failure();
    columns.append(epilogue->getNumArguments() - 1, outputs);
  }
  columns.push_back(outputs);
  if (failed(begin(weightTypes, columns)))
    return failure();
  return epilogue;
}

LogicalResult KernelEmission::emit(const ElementwiseSpec &spec) {
  if (kernel.getBody().empty())
    return kernel.emitOpError("of kind elementwise needs its scalar region");
  Block &body = kernel.getBody().front();
  if (failed(checkRegion(body, 0)))
    return failure();
  SmallVector<int64_t> columns(body.getNumArguments() + 1, spec.columns);
  if (failed(checkSizes({{"columns", spec.columns}})) ||
      (spec.unit != 0 && failed(checkSizes({{"unit", spec.unit}}))) ||
      failed(begin({}, columns)))
    return failure();
  emitElementwise(kb, spec, body);
  return success();
}

LogicalResult KernelEmission::emit(const RopeSpec &spec) {
  if (failed(checkSizes({{"heads", spec.heads},
                         {"head_dim", spec.headDim},
                         {"rotary_dim", spec.rotaryDim}})))
    return failure();
  if (spec.rotaryDim % 2 != 0 || spec.rotaryDim > spec.headDim)
    return kernel.emitOpError("rotates ")
           << spec.rotaryDim << " of " << spec.headDim
           << " dimensions; expected an even number, at most all of them";
  int64_t half = spec.rotaryDim / 2, row = spec.heads * spec.headDim;
  if (failed(begin({}, {half, half, row, row})))
    return failure();
  emitRope(kb, spec);
  return success();
}

LogicalResult KernelEmission::emit(const AppendKVSpec &spec) {
  FailureOr<KVFormat> kvFormat = checkCache(spec);
  if (failed(kvFormat) || failed(begin({}, {spec.kvHeads * spec.headDim,
                                            spec.kvHeads * valueDim(spec)})))
    return failure();
  emitAppendKV(kb, spec, *kvFormat);
  return success();
}

LogicalResult KernelEmission::emit(const LookupKVSpec &spec) {
  FailureOr<KVFormat> kvFormat = checkCache(spec);
  if (failed(kvFormat) || failed(checkSizes({{"rows", spec.rows}})) ||
      failed(begin(
          {}, {spec.kvHeads * spec.headDim, spec.kvHeads * valueDim(spec)})))
    return failure();
  emitLookupKV(kb, spec, *kvFormat);
  return success();
}

/// The sinks of attention: a weight, or the next buffer.
static void addSinks(const PagedAttentionSpec &spec, Type vector,
                     SmallVectorImpl<Type> &weights,
                     SmallVectorImpl<int64_t> &columns) {
  if (spec.sinks == OperandPlace::Weight)
    weights.push_back(vector);
  if (spec.sinks == OperandPlace::Buffer)
    columns.push_back(spec.heads);
}

LogicalResult KernelEmission::emit(const PagedAttentionSpec &spec) {
  FailureOr<KVFormat> kvFormat = checkCache(spec);
  if (failed(kvFormat) || failed(checkAttention(spec)))
    return failure();
  SmallVector<Type> weights;
  SmallVector<int64_t> columns{spec.heads * spec.headDim};
  if (!spec.maskStrides.empty())
    columns.push_back(1);
  addSinks(spec, vectorType(spec.heads), weights, columns);
  unsigned partials = columns.size();
  if (spec.partialRows)
    columns.push_back(partialResults(spec).columns);
  columns.push_back(spec.heads * valueDim(spec));
  if (failed(begin(weights, columns)) ||
      (spec.partialRows && failed(checkPartials(spec, partials))))
    return failure();
  emitPagedAttention(kb, spec, *kvFormat);
  return success();
}

LogicalResult KernelEmission::emit(const MergeAttentionSpec &spec) {
  FailureOr<KVFormat> kvFormat = checkCache(spec);
  if (failed(kvFormat) || failed(checkAttention(spec)))
    return failure();
  SmallVector<Type> weights;
  SmallVector<int64_t> columns;
  addSinks(spec, vectorType(spec.heads), weights, columns);
  unsigned partials = columns.size();
  columns.push_back(partialResults(spec).columns);
  columns.push_back(spec.heads * valueDim(spec));
  if (failed(begin(weights, columns)) || failed(checkPartials(spec, partials)))
    return failure();
  emitMergeAttention(kb, spec, *kvFormat);
  return success();
}

LogicalResult KernelEmission::checkPartials(const PagedAttentionSpec &spec,
                                            unsigned buffer) {
  int64_t rows = partialResults(spec).rows;
  if (spec.partialRows == rows && bufferRows(buffer) >= rows)
    return success();
  return kernel.emitOpError("has ")
         << spec.partialRows << " partial results in " << bufferRows(buffer)
         << " rows, expected " << rows;
}

template <typename Spec> LogicalResult KernelEmission::emitAs() {
  FailureOr<Spec> spec = fromKernel<Spec>(kernel);
  if (failed(spec) || failed(emit(*spec)))
    return failure();
  kb.endKernel();
  return success();
}

LogicalResult KernelEmission::emit() {
  using Emit = LogicalResult (KernelEmission::*)();
  Emit emit =
      llvm::StringSwitch<Emit>(kernel.getKind())
          .Case(RopeAnglesSpec::kind, &KernelEmission::emitAs<RopeAnglesSpec>)
          .Case(EmbeddingSpec::kind, &KernelEmission::emitAs<EmbeddingSpec>)
          .Case(SelectRowsSpec::kind, &KernelEmission::emitAs<SelectRowsSpec>)
          .Case(RmsNormSpec::kind, &KernelEmission::emitAs<RmsNormSpec>)
          .Case(LinearSpec::kind, &KernelEmission::emitAs<LinearSpec>)
          .Case(QuantizedLinearSpec::kind,
                &KernelEmission::emitAs<QuantizedLinearSpec>)
          .Case(QuantizeRowsSpec::kind,
                &KernelEmission::emitAs<QuantizeRowsSpec>)
          .Case(RoundRowsSpec::kind, &KernelEmission::emitAs<RoundRowsSpec>)
          .Case(PackIntegersSpec::kind,
                &KernelEmission::emitAs<PackIntegersSpec>)
          .Case(ElementwiseSpec::kind, &KernelEmission::emitAs<ElementwiseSpec>)
          .Case(RopeSpec::kind, &KernelEmission::emitAs<RopeSpec>)
          .Case(AppendKVSpec::kind, &KernelEmission::emitAs<AppendKVSpec>)
          .Case(LookupKVSpec::kind, &KernelEmission::emitAs<LookupKVSpec>)
          .Case(PagedAttentionSpec::kind,
                &KernelEmission::emitAs<PagedAttentionSpec>)
          .Case(MergeAttentionSpec::kind,
                &KernelEmission::emitAs<MergeAttentionSpec>)
          .Case(LayerNormSpec::kind, &KernelEmission::emitAs<LayerNormSpec>)
          .Case(SoftmaxSpec::kind, &KernelEmission::emitAs<SoftmaxSpec>)
          .Case(CopyBoxSpec::kind, &KernelEmission::emitAs<CopyBoxSpec>)
          .Case(QuantizeSpec::kind, &KernelEmission::emitAs<QuantizeSpec>)
          .Case(DequantizeSpec::kind, &KernelEmission::emitAs<DequantizeSpec>)
          .Case(QuantParamsSpec::kind, &KernelEmission::emitAs<QuantParamsSpec>)
          .Case(MoERouteSpec::kind, &KernelEmission::emitAs<MoERouteSpec>)
          .Case(MoESortSpec::kind, &KernelEmission::emitAs<MoESortSpec>)
          .Case(MoEGatherSpec::kind, &KernelEmission::emitAs<MoEGatherSpec>)
          .Case(MoELinearSpec::kind, &KernelEmission::emitAs<MoELinearSpec>)
          .Case(MoEGateSpec::kind, &KernelEmission::emitAs<MoEGateSpec>)
          .Case(MoECombineSpec::kind, &KernelEmission::emitAs<MoECombineSpec>)
          .Case(LoopsSpec::kind, &KernelEmission::emitAs<LoopsSpec>)
          .Case(GatherSpec::kind, &KernelEmission::emitAs<GatherSpec>)
          .Case(ScatterSpec::kind, &KernelEmission::emitAs<ScatterSpec>)
          .Case(SortSpec::kind, &KernelEmission::emitAs<SortSpec>)
          .Default(nullptr);
  if (!emit)
    return kernel.emitOpError("is of the unknown kind '")
           << kernel.getKind() << "'";
  return (this->*emit)();
}

namespace {
struct EmitKernelsPass : impl::EmitKernelsBase<EmitKernelsPass> {
  using EmitKernelsBase::EmitKernelsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    const CPULevel *cpuLevel = findCPULevel(level);
    if (!cpuLevel) {
      module.emitError("unknown CPU level '") << level << "'";
      return signalPassFailure();
    }
    for (auto fragment :
         llvm::make_early_inc_range(module.getOps<FragmentOp>())) {
      if (fragment.getKind() != FragmentKind::Text)
        continue;
      for (KernelOp kernel : fragment.getBody().getOps<KernelOp>()) {
        OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
        if (failed(KernelEmission(kernel, builder, *cpuLevel).emit()))
          return signalPassFailure();
        ++numKernels;
      }
      fragment.erase();
    }
  }
};
} // namespace

} // namespace llmir
