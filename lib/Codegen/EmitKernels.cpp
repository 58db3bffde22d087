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

#include "Emitters.h"

#include "llmir/Codegen/Passes.h"
#include "llmir/Dialect/MLLM/MLLM.h"

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

namespace {

/// Emits one kernel; reports what is wrong with it at its op.
class KernelEmission {
public:
  KernelEmission(KernelOp kernel, OpBuilder &builder, const CPULevel &level)
      : kernel(kernel), kb(kernel.getLoc(), builder, level) {}

  LogicalResult emit();

private:
  template <typename Spec> LogicalResult emitAs();

  // What each kind needs: its weights' types, its number of buffers, its code.
  LogicalResult emit(const RopeAnglesSpec &spec);
  LogicalResult emit(const EmbeddingSpec &spec);
  LogicalResult emit(const SelectRowsSpec &spec);
  LogicalResult emit(const RmsNormSpec &spec);
  LogicalResult emit(const LinearSpec &spec);
  LogicalResult emit(const QuantizedLinearSpec &spec);
  LogicalResult emit(const QuantizeRowsSpec &spec);
  LogicalResult emit(const PackIntegersSpec &spec);
  LogicalResult emit(const ElementwiseSpec &spec);
  LogicalResult emit(const RopeSpec &spec);
  LogicalResult emit(const AppendKVSpec &spec);
  LogicalResult emit(const LookupKVSpec &spec);
  LogicalResult emit(const PagedAttentionSpec &spec);
  LogicalResult emit(const LayerNormSpec &spec);
  LogicalResult emit(const SoftmaxSpec &spec);
  LogicalResult emit(const CopyBoxSpec &spec);
  LogicalResult emit(const QuantizeSpec &spec);
  LogicalResult emit(const DequantizeSpec &spec);
  LogicalResult emit(const QuantParamsSpec &spec);
  LogicalResult emit(const MoERouteSpec &spec);
  LogicalResult emit(const MoESortSpec &spec);
  LogicalResult emit(const MoEGatherSpec &spec);
  LogicalResult emit(const MoELinearSpec &spec);
  LogicalResult emit(const MoEGateSpec &spec);
  LogicalResult emit(const MoECombineSpec &spec);

  /// Checks that the buffers are rank-2 f32 with at least `minColumns` columns
  /// each, in whole tiles, and begins the function. Buffers whose numbers are
  /// in `integers` are i32, of any width.
  LogicalResult begin(ArrayRef<Type> weightTypes, ArrayRef<int64_t> minColumns,
                      ArrayRef<unsigned> integers = {});
  /// Rows of buffer `i`; 0 where there is no such buffer of rows.
  int64_t bufferRows(unsigned i);
  FailureOr<TensorFormat> format(StringRef name);
  FailureOr<IntegerFormat> integerFormat(const std::string &name);
  /// Checks that each is a size that a model can have, so that no product of
  /// two overflows.
  LogicalResult checkSizes(ArrayRef<std::pair<StringRef, int64_t>> namedSizes);
  /// Checks that a box of elements lies within the buffer.
  LogicalResult checkBox(unsigned buffer, const CopyBoxSpec &spec,
                         ArrayRef<int64_t> strides, int64_t start,
                         int64_t columns);
  LogicalResult checkGrid(const QuantGrid &grid, int64_t bits);
  /// The cache's format, when its geometry is one that kernels know.
  template <typename Spec> FailureOr<TensorFormat> checkCache(const Spec &spec);
  LogicalResult checkAttention(const PagedAttentionSpec &spec);
  /// Checks that byte products can be added up within the spec's segments.
  LogicalResult checkSegments(const QuantizedLinearSpec &spec,
                              const IntegerFormat &weights);
  template <typename Layout> Type matrixType(const Layout &layout) {
    return MemRefType::get({layout.bytes()}, kb.getI8Type());
  }
  Type vectorType(int64_t size) {
    return MemRefType::get({roundUpTo(size, kTileRows)}, kb.getF32Type());
  }

  KernelOp kernel;
  KernelBuilder kb;
};

} // namespace

FailureOr<TensorFormat> KernelEmission::format(StringRef name) {
  std::optional<TensorFormat> format =
      tensorFormatFromName(std::string_view(name.data(), name.size()));
  if (!format)
    return kernel.emitOpError("has the unknown format \"") << name << "\"";
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
                                    ArrayRef<unsigned> integers) {
  SmallVector<Type> buffers(
      kernel.getOperandTypes().getAsValueRange<TypeAttr>());
  // Weights that the program packs itself are the first buffers.
  if (buffers.size() == minColumns.size() + weightTypes.size())
    buffers.erase(buffers.begin(), buffers.begin() + weightTypes.size());
  if (buffers.size() != minColumns.size())
    return kernel.emitOpError("takes ")
           << buffers.size() << " buffers, its kind " << minColumns.size();
  for (auto [i, type] : llvm::enumerate(buffers)) {
    auto memref = dyn_cast<MemRefType>(type);
    bool isInteger = llvm::is_contained(integers, i);
    bool fits = memref && memref.getRank() == 2 && memref.hasStaticShape() &&
                memref.getDimSize(1) >= minColumns[i];
    if (isInteger && !(fits && memref.getElementType().isInteger(32)))
      return kernel.emitOpError("buffer ")
             << i << " is " << type << ", expected static rows of i32 with "
             << minColumns[i] << " columns or more";
    if (!isInteger && !(fits && memref.getElementType().isF32() &&
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

LogicalResult
KernelEmission::checkSizes(ArrayRef<std::pair<StringRef, int64_t>> namedSizes) {
  constexpr int64_t limit = int64_t(1) << 28;
  for (auto [name, size] : namedSizes)
    if (size < 1 || size > limit)
      return kernel.emitOpError("parameter '")
             << name << "' is " << size << ", expected 1 to " << limit;
  return success();
}

template <typename Spec>
FailureOr<TensorFormat> KernelEmission::checkCache(const Spec &spec) {
  FailureOr<TensorFormat> kvFormat = format(spec.kvFormat);
  if (failed(kvFormat) || failed(checkSizes({{"kv_heads", spec.kvHeads},
                                             {"head_dim", spec.headDim},
                                             {"value_dim", valueDim(spec)},
                                             {"block_size", spec.blockSize}})))
    return failure();
  if (isBlockFormat(*kvFormat))
    return kernel.emitOpError(
        "has a cache of a block format; kernels know f32, f16 and bf16");
  // A cell of the cache holds neighbouring tokens' values.
  int64_t cell = 4 / tensorFormatInfo(*kvFormat).bytesPerBlock;
  if (spec.blockSize % cell != 0)
    return kernel.emitOpError("has block size ")
           << spec.blockSize << ", which is not a multiple of the " << cell
           << " values in a cell of the cache";
  return *kvFormat;
}

LogicalResult KernelEmission::checkAttention(const PagedAttentionSpec &spec) {
  if (failed(checkSizes({{"heads", spec.heads}})))
    return failure();
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

LogicalResult KernelEmission::emit(const EmbeddingSpec &spec) {
  FailureOr<TensorFormat> weightFormat = format(spec.format);
  if (failed(weightFormat) ||
      failed(checkSizes({{"rows", spec.rows}, {"columns", spec.columns}})))
    return failure();
  PackedMatrixLayout table{*weightFormat, spec.rows, spec.columns};
  if (failed(begin({matrixType(table)}, {spec.columns})))
    return failure();
  emitEmbedding(kb, spec, table);
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
  if (failed(begin(weightTypes, {spec.columns, spec.rows})))
    return failure();
  emitLinear(kb, spec, weights);
  return success();
}

LogicalResult KernelEmission::checkSegments(const QuantizedLinearSpec &spec,
                                            const IntegerFormat &weights) {
  // 65536 products of 255 and 128 are the most that an i32 holds.
  if (spec.segment > 65536)
    return kernel.emitOpError("adds up segments of ")
           << spec.segment << " products, expected 65536 or fewer";
  if (weights.bits > 8)
    return kernel.emitOpError("has quantized activations and weights of ")
           << weights.bits << " bits; kernels multiply bytes";
  IntegerMatrixLayout layout{weights, spec.rows, spec.columns};
  bool divides = weights.group == 0 || weights.group % spec.segment == 0;
  bool inLines = spec.segment % layout.valuesPerLine() == 0 ||
                 spec.segment >= layout.group() ||
                 spec.segment == weights.segment;
  if (!divides || !inLines)
    return kernel.emitOpError("has segments of ")
           << spec.segment << " values in weights of format \"" << spec.format
           << "\", whose groups they do not divide into whole lines";
  return success();
}

LogicalResult KernelEmission::emit(const QuantizedLinearSpec &spec) {
  FailureOr<IntegerFormat> weightFormat = integerFormat(spec.format);
  if (failed(weightFormat) ||
      failed(checkSizes({{"rows", spec.rows}, {"columns", spec.columns}})))
    return failure();
  IntegerMatrixLayout weights{*weightFormat, spec.rows, spec.columns};
  int64_t inputs = spec.columns;
  if (spec.segment != 0) {
    if (failed(checkSizes({{"segment", spec.segment}})) ||
        failed(checkSegments(spec, *weightFormat)))
      return failure();
    inputs = QuantizedRowLayout::forWeights(weights, spec.segment).words();
  }
  SmallVector<Type> weightTypes{matrixType(weights)};
  if (spec.bias)
    weightTypes.push_back(vectorType(spec.rows));
  if (failed(begin(weightTypes, {inputs, spec.rows})))
    return failure();
  emitQuantizedLinear(kb, spec, weights);
  return success();
}

LogicalResult KernelEmission::emit(const QuantizeRowsSpec &spec) {
  if (failed(checkSizes({{"columns", spec.columns},
                         {"group", spec.group},
                         {"segment", spec.segment},
                         {"padded", spec.padded}})))
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

LogicalResult KernelEmission::emit(const ElementwiseSpec &spec) {
  if (kernel.getBody().empty())
    return kernel.emitOpError("of kind elementwise needs its scalar region");
  Block &body = kernel.getBody().front();
  if (body.empty() || !isa<YieldOp>(body.back()) ||
      !llvm::all_of(body.getArgumentTypes(), [](Type t) { return t.isF32(); }))
    return kernel.emitOpError(
        "of kind elementwise needs a scalar region of f32 "
        "arguments that ends in mllm.program.yield");
  SmallVector<int64_t> columns(body.getNumArguments() + 1, spec.columns);
  if (failed(checkSizes({{"columns", spec.columns}})) ||
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
  FailureOr<TensorFormat> kvFormat = checkCache(spec);
  if (failed(kvFormat) || failed(begin({}, {spec.kvHeads * spec.headDim,
                                            spec.kvHeads * valueDim(spec)})))
    return failure();
  emitAppendKV(kb, spec, *kvFormat);
  return success();
}

LogicalResult KernelEmission::emit(const LookupKVSpec &spec) {
  FailureOr<TensorFormat> kvFormat = checkCache(spec);
  if (failed(kvFormat) || failed(checkSizes({{"rows", spec.rows}})) ||
      failed(begin(
          {}, {spec.kvHeads * spec.headDim, spec.kvHeads * valueDim(spec)})))
    return failure();
  emitLookupKV(kb, spec, *kvFormat);
  return success();
}

LogicalResult KernelEmission::emit(const PagedAttentionSpec &spec) {
  FailureOr<TensorFormat> kvFormat = checkCache(spec);
  if (failed(kvFormat) || failed(checkAttention(spec)))
    return failure();
  SmallVector<Type> weights;
  SmallVector<int64_t> columns{spec.heads * spec.headDim};
  if (!spec.maskStrides.empty())
    columns.push_back(1);
  if (spec.sinks == OperandPlace::Weight)
    weights.push_back(vectorType(spec.heads));
  if (spec.sinks == OperandPlace::Buffer)
    columns.push_back(spec.heads);
  columns.push_back(spec.heads * valueDim(spec));
  if (failed(begin(weights, columns)))
    return failure();
  emitPagedAttention(kb, spec, *kvFormat);
  return success();
}

//===----------------------------------------------------------------------===//
// Rows, boxes, quantization
//===----------------------------------------------------------------------===//

LogicalResult KernelEmission::emit(const LayerNormSpec &spec) {
  if (failed(checkSizes({{"columns", spec.columns}, {"groups", spec.groups}})))
    return failure();
  int64_t used = spec.groups * spec.columns;
  SmallVector<Type> weights(spec.weight + spec.bias, vectorType(spec.columns));
  if (failed(begin(weights, {used, used})))
    return failure();
  emitLayerNorm(kb, spec);
  return success();
}

LogicalResult KernelEmission::emit(const SoftmaxSpec &spec) {
  if (failed(checkSizes({{"columns", spec.columns}, {"groups", spec.groups}})))
    return failure();
  int64_t used = spec.groups * spec.columns;
  if (failed(begin({}, {used, used})))
    return failure();
  emitSoftmax(kb, spec);
  return success();
}

LogicalResult KernelEmission::checkBox(unsigned buffer, const CopyBoxSpec &spec,
                                       ArrayRef<int64_t> strides, int64_t start,
                                       int64_t columns) {
  if (strides.size() != spec.sizes.size())
    return kernel.emitOpError("has ")
           << strides.size() << " strides for a box of " << spec.sizes.size()
           << " dimensions";
  constexpr int64_t limit = int64_t(1) << 40;
  int64_t last = start;
  for (auto [size, stride] : llvm::zip(spec.sizes, strides)) {
    if (stride < 0 || stride > limit / size || start < 0)
      return kernel.emitOpError("has a box with start ")
             << start << ", stride " << stride << " and size " << size
             << "; expected none to be negative and no tensor so large";
    last += (size - 1) * stride;
  }
  int64_t elements = bufferRows(buffer) * columns;
  if (last >= elements)
    return kernel.emitOpError("has a box that ends at element ")
           << last << " of buffer " << buffer << ", which has " << elements;
  return success();
}

LogicalResult KernelEmission::emit(const CopyBoxSpec &spec) {
  constexpr int64_t maxRank = 8, limit = int64_t(1) << 40;
  int64_t elements = 1;
  for (int64_t size : spec.sizes) {
    if (failed(checkSizes({{"sizes", size}})))
      return failure();
    elements = std::min(elements * size, limit + 1);
  }
  if (spec.sizes.empty() || spec.sizes.size() > maxRank || elements > limit)
    return kernel.emitOpError("has a box of sizes ")
           << spec.sizes << "; expected 1 to " << maxRank
           << " dimensions and at most 2^40 elements";
  if (failed(checkSizes({{"from_columns", spec.fromColumns},
                         {"to_columns", spec.toColumns}})) ||
      failed(
          checkBox(0, spec, spec.fromStrides, spec.from, spec.fromColumns)) ||
      failed(checkBox(1, spec, spec.toStrides, spec.to, spec.toColumns)))
    return failure();
  auto first =
      cast<MemRefType>(cast<TypeAttr>(kernel.getOperandTypes()[0]).getValue());
  bool isInteger = first.getElementType().isInteger(32);
  if (failed(
          begin({}, {spec.fromColumns, spec.toColumns},
                isInteger ? ArrayRef<unsigned>{0, 1} : ArrayRef<unsigned>{})))
    return failure();
  emitCopyBox(kb, spec);
  return success();
}

LogicalResult KernelEmission::checkGrid(const QuantGrid &grid, int64_t bits) {
  if (bits != 4 && bits != 8 && bits != 16)
    return kernel.emitOpError("has integers of ")
           << bits << " bits; expected 4, 8 or 16";
  if (grid.shape.empty() || grid.shape.size() != grid.cell.size())
    return kernel.emitOpError("has cells of ")
           << grid.cell.size() << " dimensions in a tensor of "
           << grid.shape.size();
  int64_t elements = 1, cells = 1;
  for (auto [size, cell] : llvm::zip(grid.shape, grid.cell)) {
    if (failed(checkSizes({{"shape", size}, {"cell", cell}})))
      return failure();
    elements = std::min(elements * size, int64_t(1) << 30);
    cells *= ceilDiv(size, cell);
  }
  if (failed(checkSizes({{"elements", elements},
                         {"columns", grid.columns},
                         {"grid_columns", grid.gridColumns}})))
    return failure();
  // Buffer 0 holds the tensor, buffer 1 the scales.
  for (auto [buffer, used, columns] : {std::tuple(0, elements, grid.columns),
                                       std::tuple(1, cells, grid.gridColumns)})
    if (used % columns != 0 || used / columns > bufferRows(buffer))
      return kernel.emitOpError("has ")
             << used << " numbers in rows of " << columns
             << ", which are not the whole rows of buffer " << buffer;
  return success();
}

LogicalResult KernelEmission::emit(const QuantizeSpec &spec) {
  int64_t x = spec.grid.columns, cells = spec.grid.gridColumns;
  SmallVector<int64_t> columns{x, cells};
  columns.append(spec.symmetric ? 0 : 1, cells);
  columns.push_back(x);
  if (failed(checkGrid(spec.grid, spec.bits)) || failed(begin({}, columns)))
    return failure();
  emitQuantize(kb, spec);
  return success();
}

LogicalResult KernelEmission::emit(const DequantizeSpec &spec) {
  int64_t x = spec.grid.columns, cells = spec.grid.gridColumns;
  SmallVector<int64_t> columns{x, cells};
  columns.append(spec.symmetric ? 0 : 1, cells);
  columns.push_back(x);
  if (failed(checkGrid(spec.grid, /*bits=*/8)) || failed(begin({}, columns)))
    return failure();
  emitDequantize(kb, spec);
  return success();
}

LogicalResult KernelEmission::emit(const QuantParamsSpec &spec) {
  SmallVector<int64_t> columns(spec.symmetric ? 2 : 3, spec.grid.gridColumns);
  columns.front() = spec.grid.columns;
  if (failed(checkGrid(spec.grid, spec.bits)) || failed(begin({}, columns)))
    return failure();
  emitQuantParams(kb, spec);
  return success();
}

//===----------------------------------------------------------------------===//
// Experts
//===----------------------------------------------------------------------===//

LogicalResult KernelEmission::emit(const MoERouteSpec &spec) {
  if (failed(checkSizes({{"experts", spec.experts}, {"top_k", spec.topK}})))
    return failure();
  if (spec.topK > spec.experts)
    return kernel.emitOpError("chooses ")
           << spec.topK << " of " << spec.experts << " experts";
  if (failed(begin({}, {spec.experts, spec.topK, spec.topK}, 2)))
    return failure();
  emitMoERoute(kb, spec);
  return success();
}

LogicalResult KernelEmission::emit(const MoESortSpec &spec) {
  if (failed(checkSizes({{"experts", spec.experts}, {"top_k", spec.topK}})))
    return failure();
  int64_t pairs = bufferRows(0) * spec.topK;
  if (failed(
          begin({}, {spec.topK, spec.experts + 1, pairs, pairs}, {0, 1, 2, 3})))
    return failure();
  emitMoESort(kb, spec);
  return success();
}

LogicalResult KernelEmission::emit(const MoEGatherSpec &spec) {
  if (failed(checkSizes({{"columns", spec.columns}, {"top_k", spec.topK}})) ||
      failed(begin({}, {bufferRows(1) * spec.topK, spec.columns, spec.columns},
                   0)))
    return failure();
  emitMoEGather(kb, spec);
  return success();
}

LogicalResult KernelEmission::emit(const MoELinearSpec &spec) {
  FailureOr<TensorFormat> weightFormat = format(spec.format);
  if (failed(weightFormat) || failed(checkSizes({{"experts", spec.experts},
                                                 {"rows", spec.rows},
                                                 {"columns", spec.columns}})))
    return failure();
  PackedMatrixLayout weights{*weightFormat, spec.rows, spec.columns};
  Type matrices =
      MemRefType::get({spec.experts * weights.bytes()}, kb.getI8Type());
  if (failed(begin(matrices, {spec.experts + 1, spec.columns, spec.rows}, 0)))
    return failure();
  emitMoELinear(kb, spec, weights);
  return success();
}

LogicalResult KernelEmission::emit(const MoEGateSpec &spec) {
  if (failed(checkSizes({{"columns", spec.columns}, {"top_k", spec.topK}})) ||
      failed(begin({}, {spec.columns, spec.columns, spec.columns})))
    return failure();
  emitMoEGate(kb, spec);
  return success();
}

LogicalResult KernelEmission::emit(const MoECombineSpec &spec) {
  if (failed(checkSizes({{"columns", spec.columns}, {"top_k", spec.topK}})) ||
      failed(begin(
          {},
          {bufferRows(1) * spec.topK, spec.topK, spec.columns, spec.columns},
          0)))
    return failure();
  emitMoECombine(kb, spec);
  return success();
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
          .Case(PackIntegersSpec::kind,
                &KernelEmission::emitAs<PackIntegersSpec>)
          .Case(ElementwiseSpec::kind, &KernelEmission::emitAs<ElementwiseSpec>)
          .Case(RopeSpec::kind, &KernelEmission::emitAs<RopeSpec>)
          .Case(AppendKVSpec::kind, &KernelEmission::emitAs<AppendKVSpec>)
          .Case(LookupKVSpec::kind, &KernelEmission::emitAs<LookupKVSpec>)
          .Case(PagedAttentionSpec::kind,
                &KernelEmission::emitAs<PagedAttentionSpec>)
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
