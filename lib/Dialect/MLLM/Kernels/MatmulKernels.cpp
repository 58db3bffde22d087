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
#include "llmir/Dialect/MLLM/Kernels/MatmulKernels.cpp.inc"

namespace llmir::mllm::kernel {

//===----------------------------------------------------------------------===//
// LinearOp
//===----------------------------------------------------------------------===//

WorkDivision LinearOp::getWorkDivision() {
  return WorkDivision::columns(getOver(), getRows(), getGrain());
}

std::optional<WorkDivision> LinearOp::getDivisionOf(OpOperand &operand) {
  auto [first, count] = getODSOperandIndexAndLength(3);
  const unsigned number = operand.getOperandNumber();
  const bool isInput = number >= first && number < first + count;
  if (isInput || &operand == &getOutMutable())
    return getWorkDivision();
  return std::nullopt;
}

SmallVector<WeightNeed> LinearOp::getWeightNeeds() {
  const int64_t rows = getRows(), columns = getColumns();
  SmallVector<WeightNeed> needs;
  needs.push_back(
      {getWeightMutable().getOperandNumber(), getFormat(), {rows, columns}});
  llvm::append_range(needs, needsOfVectors({{getBiasMutable(), rows}}));
  return needs;
}

LogicalResult LinearOp::verify() {
  const int64_t rows = getRows();
  FailureOr<PackedMatrix> matrix =
      verifyMatrix(*this, getFormat(), rows, getColumns(), // c1, c2
                   getSegment());
  if (failed(matrix) ||
      failed(verifyWeight(*this, "weight", getWeight(),
                          matrix->bytes)) ||                     // c3
      failed(verifyVector(*this, "bias", getBias(), getRows()))) // c3
    return failure();
  SmallVector<RowsNeed> needs{{"x", getX(), matrix->inputColumns},
                              {"out", getOut(), rows}};
  for (Value input : getInputs())
    needs.push_back({"inputs", input, rows});
  return verifyRows(*this, needs); // c4
}

LogicalResult LinearOp::verifyRegions() {
  // c5
  if (getBody().empty()) {
    if (getInputs().empty())
      return success();
    return emitOpError("takes ")
           << getInputs().size()
           << " further inputs without a region that reads them";
  }
  Type f32 = Float32Type::get(getContext());
  SmallVector<Type> arguments(getInputs().size() + 1, f32);
  return verifyScalarRegion(*this, &getBody().front(), arguments, f32);
}

//===----------------------------------------------------------------------===//
// HeadLinearOp
//===----------------------------------------------------------------------===//

WorkDivision HeadLinearOp::getWorkDivision() {
  return WorkDivision::columns(getOver(), getHeads() * getRows());
}

std::optional<WorkDivision> HeadLinearOp::getDivisionOf(OpOperand &operand) {
  if (&operand == &getOutMutable())
    return getWorkDivision();
  return std::nullopt;
}

SmallVector<WeightNeed> HeadLinearOp::getWeightNeeds() {
  return {{getWeightMutable().getOperandNumber(),
           getFormat(),
           {static_cast<int64_t>(getHeads()), static_cast<int64_t>(getRows()),
            static_cast<int64_t>(getColumns())}}};
}

LogicalResult HeadLinearOp::verify() {
  const int64_t heads = getHeads(), rows = getRows(), columns = getColumns();
  FailureOr<PackedMatrix> matrix =
      verifyMatrix(*this, getFormat(), rows, columns, getSegment()); // c1, c2
  if (failed(matrix))
    return failure();
  if (rows % kTileColumns != 0 || columns % kTileColumns != 0) // c3
    return emitOpError("has matrices of ")
           << rows << " x " << columns << ", expected multiples of "
           << kTileColumns;
  const int64_t bytes = saturatingProduct(heads, matrix->bytes);
  if (bytes == INT64_MAX) // c4
    return emitOpError("has ") << heads << " matrices of " << matrix->bytes
                               << " bytes, which exceeds the address space";
  if (failed(verifyWeight(*this, "weight", getWeight(), bytes))) // c4
    return failure();
  return verifyRows(
      *this,
      {{"x", getX(), saturatingProduct(heads, matrix->inputColumns)}, // c5
       {"out", getOut(), saturatingProduct(heads, rows)}});
}

//===----------------------------------------------------------------------===//
// PackIntegersOp
//===----------------------------------------------------------------------===//

WorkDivision PackIntegersOp::getWorkDivision() {
  return WorkDivision::elements();
}

LogicalResult PackIntegersOp::verify() {
  std::optional<IntegerFormat> format = integerFormat(getFormat());
  if (!format) // c1
    return emitOpError("has the unknown format \"") << getFormat() << "\"";
  if (format->scales != ScaleFormat::F32) // c1
    return emitOpError("packs scales of ")
           << scaleFormatName(format->scales) << "; expected f32 scales";
  if ((format->bits != 4 && format->bits < 8) || format->codebook ||
      format->minima) // c1
    return emitOpError("packs integers of format \"")
           << getFormat() << "\"; expected 4, 8 or 16 bits without minima";
  if (format->zeroPoints != static_cast<bool>(getZeroPoints())) // c2
    return emitOpError("packs integers of format \"")
           << getFormat() << "\" " << (getZeroPoints() ? "with" : "without")
           << " zero points";
  const int64_t columns = getTensorColumns(), grid = getGridColumns();
  if (failed(verifyRows(*this, {{"q", getQ(), columns}, // c3
                                {"scales", getScales(), grid},
                                {"zero_points", getZeroPoints(), grid},
                                {"out", getOut(), kTileColumns}})))
    return failure();
  IntegerMatrixLayout weights{*format, static_cast<int64_t>(getRows()),
                              static_cast<int64_t>(getColumns())};
  const int64_t scaleSizes[] = {
      ceilDiv(weights.rows, static_cast<int64_t>(getScaleRows())),
      weights.numGroups()};
  const int64_t scaleStrides[] = {static_cast<int64_t>(getScaleRowStride()),
                                  static_cast<int64_t>(getScaleGroupStride())};
  const int64_t sizes[] = {weights.rows, weights.columns};
  const int64_t strides[] = {static_cast<int64_t>(getRowStride()),
                             static_cast<int64_t>(getColumnStride())};
  if (failed(verifyBox(*this, {"q", getQ(), columns, sizes, strides})) || // c3
      failed(verifyBox(
          *this, {"scales", getScales(), grid, scaleSizes, scaleStrides})) ||
      (getZeroPoints() &&
       failed(verifyBox(*this, {"zero_points", getZeroPoints(), grid,
                                scaleSizes, scaleStrides}))))
    return failure();
  const int64_t words[] = {weights.bytes() / 4}, next[] = {1};
  return verifyBox(*this, {"out", getOut(), kTileColumns, words, next}); // c3
}

} // namespace llmir::mllm::kernel
