//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Verify.h"

using namespace mlir;

#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/Kernels/QuantKernels.cpp.inc"

namespace llmir::mllm::kernel {

static LogicalResult verifyBits(Operation *op, int64_t bits) {
  if (bits == 4 || bits == 8 || bits == 16)
    return success();
  return op->emitOpError("has integers of ")
         << bits << " bits; expected 4, 8 or 16";
}

/// Checks the shapes of the tensor and of the cells.
static LogicalResult verifyCells(Operation *op, const QuantGrid &grid) {
  constexpr int64_t limit = int64_t(1) << 28;
  if (grid.shape.empty() || grid.shape.size() != grid.cell.size())
    return op->emitOpError("has cells of ")
           << grid.cell.size() << " dimensions in a tensor of "
           << grid.shape.size();
  int64_t elements = 1;
  for (int64_t size : grid.shape)
    elements = saturatingProduct(elements, size);
  if (elements > limit)
    return op->emitOpError("has a tensor of shape [")
           << grid.shape << "]; expected at most 2^28 elements";
  return success();
}

/// Checks that the elements fill whole rows of the buffer.
static LogicalResult verifyWholeRows(Operation *op, StringRef name,
                                     Value buffer, int64_t elements,
                                     int64_t columns) {
  if (elements % columns == 0 && elements / columns <= rowsOf(buffer))
    return success();
  return op->emitOpError("has ")
         << elements << " elements in rows of " << columns
         << ", which do not fill whole rows of '" << name << "'";
}

/// Checks the buffers of the tensor and of the grid's cells; `name` is that of
/// the tensor.
template <typename Op>
static LogicalResult verifyGrid(Op op, StringRef name, Value tensor,
                                Value quantized) {
  QuantGrid grid = op.getGrid();
  int64_t elements = 1, cells = 1;
  for (auto [size, cell] : llvm::zip_equal(grid.shape, grid.cell)) {
    elements *= size;
    cells *= (size - 1) / cell + 1;
  }
  if (failed(verifyRows(
          op, {{name, tensor, grid.columns},
               {"out", quantized, grid.columns},
               {"scales", op.getScales(), grid.gridColumns},
               {"zero_points", op.getZeroPoints(), grid.gridColumns}})) ||
      failed(verifyWholeRows(op, name, tensor, elements, grid.columns)) ||
      (quantized &&
       failed(verifyWholeRows(op, "out", quantized, elements, grid.columns))) ||
      failed(verifyWholeRows(op, "scales", op.getScales(), cells,
                             grid.gridColumns)))
    return failure();
  if (!op.getZeroPoints())
    return success();
  return verifyWholeRows(op, "zero_points", op.getZeroPoints(), cells,
                         grid.gridColumns);
}

WorkDivision QuantizeOp::getWorkDivision() { return WorkDivision::elements(); }

LogicalResult QuantizeOp::verify() {
  if (failed(verifyBits(*this, getBits())) || // c1
      failed(verifyCells(*this, getGrid())))  // c2
    return failure();
  return verifyGrid(*this, "x", getX(), getOut()); // c3
}

WorkDivision DequantizeOp::getWorkDivision() {
  return WorkDivision::elements();
}

LogicalResult DequantizeOp::verify() {
  if (failed(verifyCells(*this, getGrid()))) // c1
    return failure();
  return verifyGrid(*this, "q", getQ(), getOut()); // c2
}

WorkDivision QuantParamsOp::getWorkDivision() {
  return WorkDivision::elements();
}

LogicalResult QuantParamsOp::verify() {
  if (failed(verifyBits(*this, getBits())) || // c1
      failed(verifyCells(*this, getGrid())))  // c2
    return failure();
  return verifyGrid(*this, "x", getX(), Value()); // c3
}

} // namespace llmir::mllm::kernel
