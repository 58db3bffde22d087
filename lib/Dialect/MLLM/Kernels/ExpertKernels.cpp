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
#include "llmir/Dialect/MLLM/Kernels/ExpertKernels.cpp.inc"

namespace llmir::mllm::kernel {

/// Number of places of the largest step.
template <typename Op>
static int64_t placesOf(Op op, const StepLimits &limits) {
  return saturatingProduct(limits.tokens, op.getTopK());
}

/// Number of entries of a list with one entry for each choice of each token of
/// a buffer.
template <typename Op> static int64_t pairsOf(Op op, Value tokens) {
  return saturatingProduct(rowsOf(tokens), op.getTopK());
}

//===----------------------------------------------------------------------===//
// MoERouteOp
//===----------------------------------------------------------------------===//

WorkDivision MoERouteOp::getWorkDivision() {
  return WorkDivision::rows(RowSpace::Tokens);
}

std::optional<WorkDivision> MoERouteOp::getDivisionOf(OpOperand &) {
  return getWorkDivision();
}

LogicalResult MoERouteOp::verify() {
  const int64_t experts = getExperts(), topK = getTopK();
  if (topK > experts) // c1
    return emitOpError("chooses ") << topK << " of " << experts << " experts";
  return verifyRows(*this, {{"logits", getLogits(), experts}, // c2
                            {"weights", getWeights(), topK},
                            {"chosen", getChosen(), topK}});
}

//===----------------------------------------------------------------------===//
// MoESortOp
//===----------------------------------------------------------------------===//

WorkDivision MoESortOp::getWorkDivision() { return WorkDivision::first(); }

int64_t MoESortOp::getRowsOf(OpOperand &operand, const StepLimits &limits) {
  return &operand == &getChosenMutable() ? limits.tokens : 1;
}

LogicalResult MoESortOp::verify() {
  constexpr int64_t mostExperts = 1 << 16; // Their counts are on the stack.
  const int64_t experts = getExperts();
  if (experts > mostExperts) // c1
    return emitOpError("sorts by ")
           << experts << " experts; the maximum is " << mostExperts;
  if (failed(verifyRows(*this, {{"chosen", getChosen(), // c2
                                 static_cast<int64_t>(getTopK())}})))
    return failure();
  const int64_t pairs = pairsOf(*this, getChosen());
  return verifyRows(*this, {{"offsets", getOffsets(), experts + 1}, // c2
                            {"pairs", getPairs(), pairs},
                            {"places", getPlaces(), pairs}});
}

//===----------------------------------------------------------------------===//
// MoEGatherOp
//===----------------------------------------------------------------------===//

WorkDivision MoEGatherOp::getWorkDivision() {
  return WorkDivision::rows(RowSpace::Tokens, getTopK());
}

int64_t MoEGatherOp::getRowsOf(OpOperand &operand, const StepLimits &limits) {
  if (&operand == &getPairsMutable())
    return 1;
  return &operand == &getXMutable() ? limits.tokens : placesOf(*this, limits);
}

LogicalResult MoEGatherOp::verify() {
  const int64_t columns = getColumns();
  return verifyRows(*this, {{"x", getX(), columns}, // c1
                            {"out", getOut(), columns},
                            {"pairs", getPairs(), pairsOf(*this, getX())}});
}

//===----------------------------------------------------------------------===//
// MoELinearOp
//===----------------------------------------------------------------------===//

WorkDivision MoELinearOp::getWorkDivision() {
  return WorkDivision::columns(RowSpace::Tokens, getRows());
}

int64_t MoELinearOp::getRowsOf(OpOperand &operand, const StepLimits &) {
  // The number of places is read from the list, and limited to the rows of the
  // buffers.
  return &operand == &getOffsetsMutable() ? 1 : rowsOf(operand.get());
}

SmallVector<WeightNeed> MoELinearOp::getWeightNeeds() {
  const int64_t experts = getExperts(), rows = getRows();
  SmallVector<WeightNeed> needs = {
      {getWeightMutable().getOperandNumber(),
       getFormat(),
       {experts, rows, static_cast<int64_t>(getColumns())}}};
  if (getBias())
    needs.push_back({(*getBiasMutable().begin()).getOperandNumber(),
                     *getBiasFormat(),
                     {experts, rows, 1}});
  return needs;
}

/// The bytes of the packed biases of all experts.
static FailureOr<int64_t> verifyBiases(MoELinearOp op) {
  std::optional<StringRef> format = op.getBiasFormat();
  if (bool(op.getBias()) != format.has_value()) // c5
    return op.emitOpError("has ")
           << (op.getBias() ? "a bias without its format"
                            : "the format of a bias, but no bias");
  if (!format)
    return int64_t(0);
  if (*format != "f32" && *format != "f16" && *format != "bf16") // c5
    return op.emitOpError("has biases of format \"")
           << *format << "\", expected f32, f16 or bf16";
  const std::string_view name(format->data(), format->size());
  return saturatingProduct(
      op.getExperts(),
      PackedMatrixLayout{*tensorFormatFromName(name),
                         static_cast<int64_t>(op.getRows()), /*columns=*/1}
          .bytes());
}

LogicalResult MoELinearOp::verify() {
  const int64_t experts = getExperts(), rows = getRows();
  FailureOr<PackedMatrix> matrix =
      verifyMatrix(*this, getFormat(), rows, getColumns(), // c1, c2
                   getSegment());
  if (failed(matrix))
    return failure();
  const int64_t bytes = saturatingProduct(experts, matrix->bytes);
  if (bytes == INT64_MAX) // c3
    return emitOpError("has ") << experts << " matrices of " << matrix->bytes
                               << " bytes, which exceeds the address space";
  FailureOr<int64_t> biasBytes = verifyBiases(*this); // c5
  if (failed(biasBytes) ||
      failed(verifyWeight(*this, "weight", getWeight(), bytes)) || // c3
      failed(verifyWeight(*this, "bias", getBias(), *biasBytes)))  // c3
    return failure();
  return verifyRows(*this, {{"offsets", getOffsets(), experts + 1}, // c4
                            {"x", getX(), matrix->inputColumns},
                            {"out", getOut(), rows}});
}

//===----------------------------------------------------------------------===//
// MoEGateOp
//===----------------------------------------------------------------------===//

WorkDivision MoEGateOp::getWorkDivision() {
  return WorkDivision::columns(RowSpace::Tokens, getColumns());
}

std::optional<WorkDivision> MoEGateOp::getDivisionOf(OpOperand &operand) {
  // Words of two elements halve the number of columns.
  if (getRounded() && &operand == &getOutMutable())
    return std::nullopt;
  return getWorkDivision();
}

int64_t MoEGateOp::getRowsOf(OpOperand &, const StepLimits &limits) {
  return placesOf(*this, limits);
}

LogicalResult MoEGateOp::verify() {
  const int64_t columns = getColumns();
  if (std::optional<APFloat> limit = getSwigluLimit())
    if (!limit->isFiniteNonZero() || limit->isNegative()) // c2
      return emitOpError("has the limit ")
             << limit->convertToDouble()
             << ", expected a finite positive number";
  if (getSwigluLimit() && getGelu()) // c3
    return emitOpError("has both a limit and gelu");
  return verifyRows(*this,
                    {{"gate", getGate(), columns}, // c1
                     {"up", getUp(), columns},
                     {"out", getOut(),
                      getRounded() ? RoundRowsOp::words(columns) : columns}});
}

//===----------------------------------------------------------------------===//
// MoECombineOp
//===----------------------------------------------------------------------===//

WorkDivision MoECombineOp::getWorkDivision() {
  return WorkDivision::rows(RowSpace::Tokens);
}

int64_t MoECombineOp::getRowsOf(OpOperand &operand, const StepLimits &limits) {
  if (&operand == &getPlacesMutable())
    return 1;
  return &operand == &getXMutable() ? placesOf(*this, limits) : limits.tokens;
}

LogicalResult MoECombineOp::verify() {
  const int64_t columns = getColumns();
  return verifyRows(
      *this, {{"weights", getWeights(), static_cast<int64_t>(getTopK())}, // c1
              {"x", getX(), columns},
              {"out", getOut(), columns},
              {"places", getPlaces(), pairsOf(*this, getWeights())}});
}

} // namespace llmir::mllm::kernel
