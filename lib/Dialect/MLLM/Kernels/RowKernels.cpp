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
#include "llmir/Dialect/MLLM/Kernels/RowKernels.cpp.inc"

namespace llmir::mllm::kernel {

//===----------------------------------------------------------------------===//
// RopeAnglesOp
//===----------------------------------------------------------------------===//

WorkDivision RopeAnglesOp::getWorkDivision() {
  return WorkDivision::rows(RowSpace::Tokens);
}

LogicalResult RopeAnglesOp::verify() {
  const int64_t half = getFrequencies().size();
  return verifyRows(*this, {{"cosines", getCosines(), half}, // c1
                            {"sines", getSines(), half}});
}

//===----------------------------------------------------------------------===//
// EmbeddingOp
//===----------------------------------------------------------------------===//

WorkDivision EmbeddingOp::getWorkDivision() {
  return WorkDivision::rows(RowSpace::Tokens);
}

SmallVector<WeightNeed> EmbeddingOp::getWeightNeeds() {
  return {
      {getTableMutable().getOperandNumber(),
       getFormat(),
       {static_cast<int64_t>(getRows()), static_cast<int64_t>(getColumns())}}};
}

/// Whether rows of a table can be looked up: four consecutive elements of K
/// must be in one group, and in one word or in lines of 4-bit integers.
static bool canLookUpRows(const IntegerMatrixLayout &table) {
  const IntegerFormat &format = table.format;
  return format.bits <= 8 && !format.zeroPoints && format.segment == 0 &&
         table.group() % 4 == 0 && table.block() % table.group() == 0 &&
         table.columns % table.block() == 0;
}

/// Bytes of a packed matrix whose rows are looked up; fails, with a diagnostic,
/// where the format does not allow that.
static FailureOr<int64_t> bytesOfTable(Operation *op, StringRef format,
                                       int64_t rows, int64_t columns) {
  auto integers = integerFormat(format);
  if (!integers) {
    FailureOr<TensorFormat> plain = plainFormat(op, format);
    if (failed(plain))
      return failure();
    return PackedMatrixLayout{*plain, rows, columns}.bytes();
  }
  IntegerMatrixLayout table{*integers, rows, columns};
  if (!canLookUpRows(table))
    return op->emitOpError("looks up rows of ")
           << columns << " integers of format \"" << format
           << "\"; only rows of whole blocks without zero points are "
              "supported";
  return table.bytes();
}

LogicalResult EmbeddingOp::verify() {
  const int64_t columns = getColumns();
  FailureOr<int64_t> bytes =
      bytesOfTable(*this, getFormat(), getRows(), columns); // c1
  if (failed(bytes) ||
      failed(verifyWeight(*this, "table", getTable(), *bytes))) // c2
    return failure();
  return verifyRows(*this, {{"out", getOut(), columns}}); // c3
}

//===----------------------------------------------------------------------===//
// TokenIdsOp
//===----------------------------------------------------------------------===//

WorkDivision TokenIdsOp::getWorkDivision() {
  return WorkDivision::rows(RowSpace::Tokens);
}

LogicalResult TokenIdsOp::verify() {
  return verifyRows(*this, {{"out", getOut(), 1}}); // c1
}

//===----------------------------------------------------------------------===//
// UnpackWeightOp
//===----------------------------------------------------------------------===//

WorkDivision UnpackWeightOp::getWorkDivision() {
  return WorkDivision::elements();
}

int64_t UnpackWeightOp::getRowsOf(OpOperand &, const StepLimits &) {
  return getRows();
}

SmallVector<WeightNeed> UnpackWeightOp::getWeightNeeds() {
  SmallVector<int64_t, 3> shape{static_cast<int64_t>(getRows()),
                                static_cast<int64_t>(getColumns())};
  if (!getFormat())
    shape.erase(shape.begin());
  return {{getWeightMutable().getOperandNumber(),
           getFormat().value_or(StringRef()), shape}};
}

LogicalResult UnpackWeightOp::verify() {
  const int64_t rows = getRows(), columns = getColumns();
  if (!getFormat() && rows != 1) // c1
    return emitOpError("has ")
           << rows << " rows of a weight without a format, which is a vector";
  if (getFormat()) {
    FailureOr<int64_t> bytes =
        bytesOfTable(*this, *getFormat(), rows, columns); // c1
    if (failed(bytes) ||
        failed(verifyWeight(*this, "weight", getWeight(), *bytes))) // c2
      return failure();
  } else if (failed(verifyVector(*this, "weight", getWeight(), // c2
                                 columns))) {
    return failure();
  }
  if (rowsOf(getOut()) < rows) // c3
    return emitOpError("writes ")
           << rows << " rows to a buffer of " << rowsOf(getOut());
  return verifyRows(*this, {{"out", getOut(), columns}}); // c3
}

//===----------------------------------------------------------------------===//
// MeanRowsOp
//===----------------------------------------------------------------------===//

WorkDivision MeanRowsOp::getWorkDivision() {
  return WorkDivision::rows(RowSpace::LogitRows);
}

int64_t MeanRowsOp::getRowsOf(OpOperand &operand, const StepLimits &limits) {
  return &operand == &getXMutable() ? limits.tokens : limits.logitRows;
}

LogicalResult MeanRowsOp::verify() {
  const int64_t columns = getColumns();
  return verifyRows(*this, {{"x", getX(), columns}, // c1
                            {"out", getOut(), columns}});
}

//===----------------------------------------------------------------------===//
// SelectRowsOp
//===----------------------------------------------------------------------===//

WorkDivision SelectRowsOp::getWorkDivision() {
  return WorkDivision::rows(RowSpace::LogitRows);
}

int64_t SelectRowsOp::getRowsOf(OpOperand &operand, const StepLimits &limits) {
  return &operand == &getXMutable() ? limits.tokens : limits.logitRows;
}

LogicalResult SelectRowsOp::verify() {
  const int64_t columns = getColumns();
  return verifyRows(*this, {{"x", getX(), columns}, // c1
                            {"out", getOut(), columns}});
}

//===----------------------------------------------------------------------===//
// RmsNormOp
//===----------------------------------------------------------------------===//

WorkDivision RmsNormOp::getWorkDivision() {
  if (getGroups() == 1)
    return WorkDivision::rows(getOver());
  return WorkDivision::columns(getOver(), getGroups() * getColumns(),
                               tilesPerGrain(getColumns()));
}

SmallVector<WeightNeed> RmsNormOp::getWeightNeeds() {
  return needsOfVectors(
      {{getWeightMutable(), static_cast<int64_t>(getColumns())}});
}

LogicalResult RmsNormOp::verify() {
  const int64_t used = getGroups() * getColumns();
  if (failed(verifyRows(*this, {{"x", getX(), used}, // c1
                                {"out", getOut(), used}})))
    return failure();
  return verifyVector(*this, "weight", getWeight(), getColumns()); // c2
}

//===----------------------------------------------------------------------===//
// LayerNormOp
//===----------------------------------------------------------------------===//

WorkDivision LayerNormOp::getWorkDivision() {
  return WorkDivision::rows(getOver());
}

SmallVector<WeightNeed> LayerNormOp::getWeightNeeds() {
  const int64_t columns = getColumns();
  return needsOfVectors(
      {{getWeightMutable(), columns}, {getBiasMutable(), columns}});
}

LogicalResult LayerNormOp::verify() {
  const int64_t used = getGroups() * getColumns();
  if (failed(verifyRows(*this, {{"x", getX(), used}, // c1
                                {"out", getOut(), used}})) ||
      failed(verifyVector(*this, "weight", getWeight(), getColumns()))) // c2
    return failure();
  return verifyVector(*this, "bias", getBias(), getColumns()); // c2
}

//===----------------------------------------------------------------------===//
// SoftmaxOp
//===----------------------------------------------------------------------===//

WorkDivision SoftmaxOp::getWorkDivision() {
  return WorkDivision::rows(getOver());
}

LogicalResult SoftmaxOp::verify() {
  const int64_t used = getGroups() * getColumns();
  return verifyRows(*this, {{"x", getX(), used}, // c1
                            {"out", getOut(), used}});
}

//===----------------------------------------------------------------------===//
// QuantizeRowsOp
//===----------------------------------------------------------------------===//

WorkDivision QuantizeRowsOp::getWorkDivision() {
  return WorkDivision::rows(getOver(), getChoices());
}

int64_t QuantizeRowsOp::getRowsOf(OpOperand &, const StepLimits &limits) {
  return saturatingProduct(limits.rows(getOver()), getChoices());
}

LogicalResult QuantizeRowsOp::verify() {
  const int64_t columns = getColumns(), group = getGroup();
  const int64_t segment = getSegment(), padded = getPadded();
  if ((group < columns && group % segment != 0) || padded % 4 != 0 ||
      padded < segment) // c1
    return emitOpError("has groups of ")
           << group << " in segments of " << segment << " elements and "
           << padded
           << " bytes, expected segments that divide the groups and fit into "
              "whole words";
  const int64_t parts = getParts();
  const int64_t words = QuantizedRowLayout{columns, segment, padded}.words();
  return verifyRows(*this,
                    {{"x", getX(), saturatingProduct(parts, columns)}, // c2
                     {"out", getOut(), saturatingProduct(parts, words)}});
}

//===----------------------------------------------------------------------===//
// RoundRowsOp
//===----------------------------------------------------------------------===//

WorkDivision RoundRowsOp::getWorkDivision() {
  return WorkDivision::rows(getOver());
}

LogicalResult RoundRowsOp::verify() {
  const int64_t columns = getColumns();
  return verifyRows(*this, {{"x", getX(), columns}, // c1
                            {"out", getOut(), words(columns)}});
}

//===----------------------------------------------------------------------===//
// ElementwiseOp
//===----------------------------------------------------------------------===//

WorkDivision ElementwiseOp::getWorkDivision() {
  return WorkDivision::columns(getOver(), getColumns(), getGrain());
}

std::optional<WorkDivision> ElementwiseOp::getDivisionOf(OpOperand &) {
  return getWorkDivision();
}

LogicalResult ElementwiseOp::verify() {
  const int64_t columns = getColumns();
  SmallVector<RowsNeed> needs{{"out", getOut(), columns}};
  for (Value input : getInputs())
    needs.push_back({"inputs", input, columns});
  return verifyRows(*this, needs); // c1
}

LogicalResult ElementwiseOp::verifyRegions() {
  // c2
  Type f32 = Float32Type::get(getContext());
  SmallVector<Type> arguments(getInputs().size(), f32);
  return verifyScalarRegion(*this, &getBody().front(), arguments, f32);
}

//===----------------------------------------------------------------------===//
// RopeOp
//===----------------------------------------------------------------------===//

WorkDivision RopeOp::getWorkDivision() {
  return WorkDivision::columns(RowSpace::Tokens, getHeads() * getHeadDim(),
                               tilesPerGrain(getHeadDim()));
}

LogicalResult RopeOp::verify() {
  if (getRotaryDim() % 2 != 0 || getRotaryDim() > getHeadDim()) // c1
    return emitOpError("rotates ")
           << getRotaryDim() << " of " << getHeadDim()
           << " elements; expected an even number of at most that size";
  const int64_t half = getRotaryDim() / 2, row = getHeads() * getHeadDim();
  return verifyRows(*this, {{"cosines", getCosines(), half}, // c2
                            {"sines", getSines(), half},
                            {"x", getX(), row},
                            {"out", getOut(), row}});
}

} // namespace llmir::mllm::kernel
