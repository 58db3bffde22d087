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
#include "llmir/Dialect/MLLM/Kernels/NestKernels.cpp.inc"

namespace llmir::mllm::kernel {

static Type elementOf(Value buffer) {
  return cast<MemRefType>(buffer.getType()).getElementType();
}

/// The map of an operand.
static AffineMap mapOf(ArrayAttr maps, int64_t number) {
  return cast<AffineMapAttr>(maps[number]).getValue();
}

/// Checks that the rows of the result have `columns` elements and less than a
/// tile of padding.
static LogicalResult verifyPadding(Operation *op, Value out, int64_t columns) {
  const int64_t stored = cast<MemRefType>(out.getType()).getDimSize(1);
  if (columns <= stored && stored - columns < kTileColumns)
    return success();
  return op->emitOpError("has ") << columns << " columns of " << stored
                                 << " in its result, expected fewer than "
                                 << kTileColumns << " to be padding";
}

//===----------------------------------------------------------------------===//
// Nests over rows of the step
//===----------------------------------------------------------------------===//

static WorkDivision divisionOfNest(std::optional<RowSpace> over) {
  return over ? WorkDivision::rows(*over) : WorkDivision::elements();
}

/// Whether the map gives row i at point i of the first loop.
static bool isRowOfFirstLoop(AffineMap map) {
  auto row = dyn_cast<AffineDimExpr>(map.getResult(0));
  return row && row.getPosition() == 0;
}

/// Whether point i of the first loop touches row i of the operand only.
template <typename Op> static bool isRowWise(Op op, OpOperand &operand) {
  return isRowOfFirstLoop(mapOf(op.getMaps(), operand.getOperandNumber()));
}
static bool isRowWise(CopyBoxOp, OpOperand &) { return true; }
static bool isRowWise(SortOp, OpOperand &) { return true; }

/// A worker touches its own rows of what goes by rows, and any element of the
/// other operands.
template <typename Op>
static std::optional<WorkDivision> divisionInNest(Op op, OpOperand &operand) {
  if (op.getOver() && isRowWise(op, operand))
    return op.getWorkDivision();
  return std::nullopt;
}

template <typename Op>
static int64_t rowsInNest(Op op, OpOperand &operand, const StepLimits &limits) {
  if (op.getOver() && isRowWise(op, operand))
    return limits.rows(*op.getOver());
  return rowsOf(operand.get());
}

/// Checks that the first loop of a nest over rows of the step, of which the
/// first `parallel` loops do not reduce, goes by rows of the result.
template <typename Op>
static LogicalResult verifyNestRows(Op op, int64_t parallel) {
  if (!op.getOver())
    return success();
  if (parallel > 0 && isRowWise(op, op.getOutMutable()))
    return success();
  return op.emitOpError("is over rows of the step, but its first loop does not "
                        "write row i of the result at point i");
}

//===----------------------------------------------------------------------===//
// CopyBoxOp
//===----------------------------------------------------------------------===//

WorkDivision CopyBoxOp::getWorkDivision() { return divisionOfNest(getOver()); }

int64_t CopyBoxOp::getRowsOf(OpOperand &operand, const StepLimits &limits) {
  return rowsInNest(*this, operand, limits);
}

std::optional<WorkDivision> CopyBoxOp::getDivisionOf(OpOperand &operand) {
  return divisionInNest(*this, operand);
}

/// Whether the first dimension of the box, which is within its buffer, iterates
/// over rows, and all others over columns of a row.
static bool isBoxOfRows(ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides,
                        int64_t start, int64_t columns) {
  int64_t last = start; // In the first row.
  for (size_t d = 1; d < sizes.size(); ++d)
    last += (sizes[d] - 1) * strides[d];
  return strides.front() == columns && last < columns;
}

LogicalResult CopyBoxOp::verify() {
  constexpr size_t maxRank = 8;
  constexpr int64_t limit = int64_t(1) << 40;
  const size_t rank = getSizes().size();
  int64_t elements = 1;
  for (int64_t size : getSizes())
    elements = saturatingProduct(elements, size);
  if (rank < 1 || rank > maxRank || elements > limit) // c1
    return emitOpError("has a box of sizes [")
           << getSizes() << "]; expected 1 to " << maxRank
           << " dimensions and at most 2^40 elements";
  for (ArrayRef<int64_t> strides : {getFromStrides(), getToStrides()})
    if (strides.size() != rank) // c1
      return emitOpError("has ") << strides.size() << " strides for a box of "
                                 << rank << " dimensions";
  const int64_t from = getFromColumns(), to = getToColumns();
  if (elementOf(getX()) != elementOf(getOut())) // c3
    return emitOpError("copies elements of ")
           << elementOf(getX()) << " to a buffer of " << elementOf(getOut());
  if (failed(verifyRows(*this, {{"x", getX(), from}, // c3
                                {"out", getOut(), to}})) ||
      failed(verifyBox(*this,
                       {"x", getX(), from, getSizes(), // c2
                        getFromStrides(), static_cast<int64_t>(getFrom())})))
    return failure();
  if (failed(verifyBox(*this, {"out", getOut(), to, getSizes(), // c2
                               getToStrides(), static_cast<int64_t>(getTo())})))
    return failure();
  if (getOver() && // c4
      !(isBoxOfRows(getSizes(), getFromStrides(), getFrom(), from) &&
        isBoxOfRows(getSizes(), getToStrides(), getTo(), to)))
    return emitOpError("is over rows of the step, but its first dimension does "
                       "not go from row to row of both buffers");
  return success();
}

//===----------------------------------------------------------------------===//
// LoopsOp
//===----------------------------------------------------------------------===//

WorkDivision LoopsOp::getWorkDivision() { return divisionOfNest(getOver()); }

int64_t LoopsOp::getRowsOf(OpOperand &operand, const StepLimits &limits) {
  return rowsInNest(*this, operand, limits);
}

std::optional<WorkDivision> LoopsOp::getDivisionOf(OpOperand &operand) {
  return divisionInNest(*this, operand);
}

LogicalResult LoopsOp::verify() {
  Nest nest{getSizes(), getMaps()};
  const int64_t loops = nest.sizes.size();
  const int64_t parallel = getParallel();
  if (failed(verifyNest(*this, nest))) // c1, c2, c5
    return failure();
  if (parallel < 0 || parallel > loops) // c1
    return emitOpError("has ") << parallel << " parallel loops of " << loops;
  const bool reduces = parallel < loops;
  if (reduces && getInputs().empty()) // c2
    return emitOpError("has reductions without an initial value");
  for (unsigned i = 0; i < (reduces ? 2 : 0); ++i)
    for (int64_t d = parallel; d < loops; ++d)
      if (mapOf(getMaps(), getNumOperands() - 1 - i).isFunctionOfDim(d)) // c3
        return emitOpError("has a result that depends on loop ")
               << d << ", which is a reduction";
  if (failed(verifyNestRows(*this, parallel))) // c6
    return failure();
  return verifyPadding(*this, getOut(), getColumns()); // c5
}

LogicalResult LoopsOp::verifyRegions() {
  // c4
  SmallVector<Type> arguments(getSizes().size(), IndexType::get(getContext()));
  for (Value input : getInputs())
    arguments.push_back(elementOf(input));
  return verifyScalarRegion(*this, &getBody().front(), arguments,
                            elementOf(getOut()));
}

//===----------------------------------------------------------------------===//
// GatherOp, ScatterOp
//===----------------------------------------------------------------------===//

/// Checks that two buffers have the same element type and that there is a map
/// for each operand, of which only that of operand `indexed` may have a symbol.
template <typename Op>
static LogicalResult verifyIndexed(Op op, size_t indexed) {
  if (elementOf(op.getX()) != elementOf(op.getOut()))
    return op.emitOpError("copies elements of ")
           << elementOf(op.getX()) << " to a buffer of "
           << elementOf(op.getOut());
  if (op.getMaps().size() != 3)
    return op.emitOpError("has ")
           << op.getMaps().size() << " maps for 3 buffers";
  for (size_t number = 0; number < 3; ++number)
    if (number != indexed && mapOf(op.getMaps(), number).getNumSymbols() != 0)
      return op.emitOpError("has a symbol in the map of buffer ")
             << number << "; only that of buffer " << indexed
             << " may use the index";
  return success();
}

WorkDivision GatherOp::getWorkDivision() { return divisionOfNest(getOver()); }

int64_t GatherOp::getRowsOf(OpOperand &operand, const StepLimits &limits) {
  return rowsInNest(*this, operand, limits);
}

std::optional<WorkDivision> GatherOp::getDivisionOf(OpOperand &operand) {
  return divisionInNest(*this, operand);
}

LogicalResult GatherOp::verify() {
  Nest nest{getSizes(), getMaps(), static_cast<int64_t>(getBound())};
  if (failed(verifyIndexed(*this, /*indexed=*/1)) ||    // c1
      failed(verifyNest(*this, nest)) ||                // c2, c3
      failed(verifyNestRows(*this, nest.sizes.size()))) // c4
    return failure();
  return verifyPadding(*this, getOut(), getColumns()); // c3
}

WorkDivision ScatterOp::getWorkDivision() { return divisionOfNest(getOver()); }

int64_t ScatterOp::getRowsOf(OpOperand &operand, const StepLimits &limits) {
  return rowsInNest(*this, operand, limits);
}

std::optional<WorkDivision> ScatterOp::getDivisionOf(OpOperand &operand) {
  return divisionInNest(*this, operand);
}

LogicalResult ScatterOp::verify() {
  Nest nest{getSizes(), getMaps(), static_cast<int64_t>(getBound())};
  if (failed(verifyIndexed(*this, /*indexed=*/2)) || // c1
      failed(verifyNest(*this, nest)))               // c2, c4
    return failure();
  const int64_t loops = nest.sizes.size();
  const int64_t indexed = getIndexed();
  bool known = indexed >= 0 && indexed <= loops;
  for (int64_t d = std::max<int64_t>(indexed, 0); known && d < loops; ++d)
    known = !mapOf(nest.maps, 0).isFunctionOfDim(d);
  if (!known) // c3
    return emitOpError("has an index that depends on more than ")
           << indexed << " of its " << loops << " loops";
  return verifyNestRows(*this, indexed); // c5
}

//===----------------------------------------------------------------------===//
// SortOp
//===----------------------------------------------------------------------===//

WorkDivision SortOp::getWorkDivision() { return divisionOfNest(getOver()); }

int64_t SortOp::getRowsOf(OpOperand &operand, const StepLimits &limits) {
  return rowsInNest(*this, operand, limits);
}

std::optional<WorkDivision> SortOp::getDivisionOf(OpOperand &operand) {
  return divisionInNest(*this, operand);
}

LogicalResult SortOp::verify() {
  const int64_t rows = getRows(), columns = getColumns(), count = getCount();
  if (count > columns) // c1
    return emitOpError("keeps ") << count << " elements of rows of " << columns;
  if (elementOf(getX()) != elementOf(getValues())) // c2
    return emitOpError("sorts elements of ")
           << elementOf(getX()) << " into a buffer of "
           << elementOf(getValues());
  if (failed(verifyRows(*this, {{"x", getX(), columns}, // c3
                                {"values", getValues(), count},
                                {"indices", getIndices(), count},
                                {"scratch0", getScratch0(), columns},
                                {"scratch1", getScratch1(), columns}})))
    return failure();
  for (Value buffer : getOperands())
    if (rowsOf(buffer) < rows) // c3
      return emitOpError("sorts ")
             << rows << " rows, but has a buffer of " << rowsOf(buffer);
  return success();
}

} // namespace llmir::mllm::kernel
