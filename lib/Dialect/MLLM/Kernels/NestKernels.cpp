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
// CopyBoxOp
//===----------------------------------------------------------------------===//

WorkDivision CopyBoxOp::getWorkDivision() { return WorkDivision::elements(); }

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
  return verifyBox(*this, {"out", getOut(), to, getSizes(), // c2
                           getToStrides(), static_cast<int64_t>(getTo())});
}

//===----------------------------------------------------------------------===//
// LoopsOp
//===----------------------------------------------------------------------===//

WorkDivision LoopsOp::getWorkDivision() { return WorkDivision::elements(); }

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

WorkDivision GatherOp::getWorkDivision() { return WorkDivision::elements(); }

LogicalResult GatherOp::verify() {
  Nest nest{getSizes(), getMaps(), static_cast<int64_t>(getBound())};
  if (failed(verifyIndexed(*this, /*indexed=*/1)) || // c1
      failed(verifyNest(*this, nest)))               // c2, c3
    return failure();
  return verifyPadding(*this, getOut(), getColumns()); // c3
}

WorkDivision ScatterOp::getWorkDivision() { return WorkDivision::elements(); }

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
  return success();
}

//===----------------------------------------------------------------------===//
// SortOp
//===----------------------------------------------------------------------===//

WorkDivision SortOp::getWorkDivision() { return WorkDivision::elements(); }

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
