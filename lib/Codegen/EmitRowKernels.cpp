//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emission of kernels that reduce, copy, quantize and route rows, and the check
// of weights that are buffers.
//
//===----------------------------------------------------------------------===//

#include "KernelEmission.h"

using namespace mlir;

namespace llmir {

static int64_t byteSize(MemRefType type) {
  return type.getNumElements() * type.getElementTypeBitWidth() / 8;
}

/// A weight that the program packs itself has all the bytes that the kernel
/// reads.
LogicalResult KernelEmission::checkPackedWeights(ArrayRef<Type> weightTypes,
                                                 ArrayRef<Type> buffers) {
  for (auto [i, weight, buffer] : llvm::enumerate(weightTypes, buffers)) {
    auto type = dyn_cast<MemRefType>(buffer);
    const int64_t bytes = byteSize(cast<MemRefType>(weight));
    if (!isPlain(type) || !type.getElementType().isIntOrFloat() ||
        byteSize(type) < bytes)
      return kernel.emitOpError("buffer ")
             << i << " is " << buffer << ", which is to be a weight of "
             << bytes << " bytes";
  }
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
  SmallVector<unsigned> both{0, 1}, none;
  if (failed(begin({}, {spec.fromColumns, spec.toColumns},
                   isIntegerBuffer(0) ? both : none,
                   isIntegerBuffer(0, 64) ? both : none)))
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

SmallVector<unsigned> KernelEmission::integerZeroPoints(bool symmetric) {
  return SmallVector<unsigned>(!symmetric && isIntegerBuffer(2) ? 1 : 0, 2);
}

LogicalResult KernelEmission::emit(const QuantizeSpec &spec) {
  int64_t x = spec.grid.columns, cells = spec.grid.gridColumns;
  SmallVector<int64_t> columns{x, cells};
  columns.append(spec.symmetric ? 0 : 1, cells);
  columns.push_back(x);
  if (failed(checkGrid(spec.grid, spec.bits)) ||
      failed(begin({}, columns, integerZeroPoints(spec.symmetric))))
    return failure();
  emitQuantize(kb, spec);
  return success();
}

LogicalResult KernelEmission::emit(const DequantizeSpec &spec) {
  int64_t x = spec.grid.columns, cells = spec.grid.gridColumns;
  SmallVector<int64_t> columns{x, cells};
  columns.append(spec.symmetric ? 0 : 1, cells);
  columns.push_back(x);
  if (failed(checkGrid(spec.grid, /*bits=*/8)) ||
      failed(begin({}, columns, integerZeroPoints(spec.symmetric))))
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
  constexpr int64_t mostExperts = 1 << 16; // A count of each is on the stack.
  if (spec.experts > mostExperts)
    return kernel.emitOpError("sorts by ")
           << spec.experts << " experts; the most are " << mostExperts;
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
  if (failed(checkSizes({{"experts", spec.experts},
                         {"rows", spec.rows},
                         {"columns", spec.columns}})))
    return failure();
  auto emitFor = [&](const auto &weights, int64_t inputs) -> LogicalResult {
    Type matrices =
        MemRefType::get({spec.experts * weights.bytes()}, kb.getI8Type());
    if (failed(begin(matrices, {spec.experts + 1, inputs, spec.rows}, 0)))
      return failure();
    emitMoELinear(kb, spec, weights);
    return success();
  };
  if (auto integers = IntegerFormat::fromName(spec.format)) {
    IntegerMatrixLayout weights{*integers, spec.rows, spec.columns};
    FailureOr<int64_t> inputs = inputColumns(spec.segment, weights);
    return failed(inputs) ? failure() : emitFor(weights, *inputs);
  }
  if (spec.segment != 0)
    return kernel.emitOpError("has segments, but weights of format \"")
           << spec.format << "\"; only integers are multiplied by bytes";
  FailureOr<TensorFormat> weightFormat = format(spec.format);
  if (failed(weightFormat))
    return failure();
  PackedMatrixLayout weights{*weightFormat, spec.rows, spec.columns};
  return emitFor(weights, inputColumns(weights));
}

LogicalResult KernelEmission::emit(const MoEGateSpec &spec) {
  if (failed(checkSizes({{"columns", spec.columns}, {"top_k", spec.topK}})) ||
      failed(begin({}, {spec.columns, spec.columns,
                        spec.rounded ? RoundRowsSpec::words(spec.columns)
                                     : spec.columns})))
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

} // namespace llmir
