//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mixtures of experts. Only the routed pairs of token and expert are computed:
// sorted by expert, gathered, multiplied, and summed for each token.
//
//===----------------------------------------------------------------------===//

#include "ProgramConversion.h"

#include "llmir/Support/PackedLayout.h"

#include <optional>

using namespace mlir;
namespace ll = mlir::llm;

namespace llmir {

static LogicalResult convert(ProgramConversion &c, ll::MoERouteOp op) {
  FailureOr<RowsValue> logits = c.lookupTokens(op, op.getLogits());
  if (failed(logits))
    return failure();
  int64_t experts = logits->columns, topK = op.getTopK();
  RowsValue chosen = c.createResult(op.getExperts(), *logits, topK);
  RowsValue weights = c.createResult(op.getWeights(), *logits, topK);
  c.kernel<kernel::MoERouteOp>(
      op.getLoc(), kernelName("moe_route", {topK, experts}), *logits,
      logits->buffer, weights.buffer, chosen.buffer, experts, topK,
      op.getScore() == "sigmoid", op.getNormalize());
  return success();
}

namespace {
/// The matrices [rows, columns] of all experts, and the conversion of their
/// inputs.
struct ExpertMatrices {
  Value tensor;
  KernelWeights weights;
  KernelWeights biases; ///< One, or none.
  int64_t rows, columns;
  /// int8 rows, if the matrices of a step are integers.
  std::optional<RowQuantization> quantize;
};

/// The conversion of one mixture: its sizes and the shared operands of its
/// kernels.
class ExpertConversion {
public:
  ExpertConversion(ProgramConversion &c, ll::MoEFFNOp op) : c(c), op(op) {
    ArrayRef<int64_t> shape = tensorShape(op.getGate().getType());
    experts = shape[0];
    inner = shape[1];
    hidden = shape[2];
    topK = tensorShape(op.getExperts().getType())[1];
  }

  LogicalResult convert();

private:
  /// Rows of activations at each place, or a table of integers.
  RowsValue createPlaces(int64_t columns) {
    return c.createScratch(op.getLoc(), numPlaces, columns);
  }
  RowsValue createTable(int64_t columns) {
    return c.createScratch(op.getLoc(), 1, columns, c.i32());
  }
  void sort(const RowsValue &chosen);
  /// The matrices of gate (0), up (1) or down projection (2).
  FailureOr<ExpertMatrices> lookupMatrices(unsigned number, Value tensor,
                                           int64_t rows, int64_t columns);
  /// The tokens' rows at their places, in the form required by these matrices.
  RowsValue gather(const ExpertMatrices &matrices);
  /// silu(gate) * up, or the clamped SwiGLU, at each place, in the form
  /// required by `down`.
  RowsValue gated(const RowsValue &gate, const RowsValue &up,
                  const ExpertMatrices &down);
  RowsValue multiply(const ExpertMatrices &matrices, const RowsValue &x);
  ProgramConversion &c;
  ll::MoEFFNOp op;
  int64_t experts, inner, hidden, topK;
  RowsValue tokens;
  int64_t numPlaces = 0;
  RowsValue offsets, pairs, places;
  llvm::DenseMap<Value, RowsValue> gathered; ///< By the gathered value.
};
} // namespace

void ExpertConversion::sort(const RowsValue &chosen) {
  offsets = createTable(experts + 1);
  pairs = createTable(numPlaces);
  places = createTable(numPlaces);
  c.kernel<kernel::MoESortOp>(op.getLoc(),
                              kernelName("moe_sort", {topK, experts}), tokens,
                              chosen.buffer, offsets.buffer, pairs.buffer,
                              places.buffer, experts, topK);
}

FailureOr<ExpertMatrices> ExpertConversion::lookupMatrices(unsigned number,
                                                           Value tensor,
                                                           int64_t rows,
                                                           int64_t columns) {
  FailureOr<KernelWeights> weights = c.weights(op, {tensor});
  SmallVector<Value> bias;
  if (!op.getBiases().empty())
    bias.push_back(op.getBiases()[number]);
  FailureOr<KernelWeights> biases = c.weights(op, bias);
  if (failed(weights) || failed(biases))
    return failure();
  ExpertMatrices result{tensor, *weights, *biases, rows, columns, std::nullopt};
  auto format = IntegerFormat::fromName(weights->format);
  if (format && c.policy.quantizesActivations)
    result.quantize = quantizeRowsFor(
        {*format, rows, columns}, kActivationGroup,
        commonSegment(columns, format->group, kActivationGroup));
  return result;
}

RowsValue ExpertConversion::gather(const ExpertMatrices &matrices) {
  RowsValue x =
      matrices.quantize
          ? quantizedRows(c, op.getLoc(), op.getX(), tokens, *matrices.quantize)
          : c.matmulInput(op.getLoc(), op.getX(), tokens,
                          matrices.tensor.getType(), matrices.weights.format);
  RowsValue &known = gathered[x.buffer];
  if (known.buffer)
    return known;
  known = createPlaces(x.columns);
  c.kernel<kernel::MoEGatherOp>(
      op.getLoc(), kernelName("moe_gather", {x.columns}), tokens, pairs.buffer,
      x.buffer, known.buffer, x.columns, topK);
  return known;
}

RowsValue ExpertConversion::gated(const RowsValue &gate, const RowsValue &up,
                                  const ExpertMatrices &down) {
  bool inWords = down.weights.format == "bf16";
  FloatAttr limit;
  if (auto given = cast_if_present<FloatAttr>(op.getSwigluLimitAttr()))
    limit = Builder(op.getContext()).getF64FloatAttr(given.getValueAsDouble());
  RowsValue out = inWords ? createPlaces(kernel::RoundRowsOp::words(inner))
                          : RowsValue(gate);
  c.kernel<kernel::MoEGateOp>(op.getLoc(), kernelName("moe_gate", {inner}),
                              tokens, gate.buffer, up.buffer, out.buffer, inner,
                              topK, inWords, limit, op.getGelu());
  // A weight that the program packs as f32 may still have bf16 semantics.
  Type element = getElementTypeOrSelf(down.tensor.getType());
  if (!inWords && element.isBF16())
    c.roundRows(op.getLoc(), out, element);
  if (!down.quantize)
    return out;
  const RowQuantization &how = *down.quantize;
  RowsValue bytes = createPlaces(how.words());
  c.kernel<kernel::QuantizeRowsOp>(
      op.getLoc(), kernelName("moe_quantize_rows", {how.columns, how.group}),
      tokens, out.buffer, bytes.buffer, how.columns, how.group, how.segment,
      how.padded, /*choices=*/topK, /*parts=*/1, RowSpace::Tokens);
  return bytes;
}

RowsValue ExpertConversion::multiply(const ExpertMatrices &matrices,
                                     const RowsValue &x) {
  RowsValue y = createPlaces(matrices.rows);
  IntegerAttr segment;
  if (matrices.quantize)
    segment =
        Builder(op.getContext()).getI64IntegerAttr(matrices.quantize->segment);
  const std::string &format = matrices.weights.format;
  StringAttr biasFormat;
  if (!matrices.biases.all.empty())
    biasFormat = StringAttr::get(op.getContext(), matrices.biases.format);
  c.kernel<kernel::MoELinearOp>(
      op.getLoc(),
      kernelName(Twine("moe_linear_") + format,
                 {experts, matrices.rows, matrices.columns}),
      tokens, matrices.weights[0], matrices.biases[0], offsets.buffer, x.buffer,
      y.buffer, format, experts, matrices.rows, matrices.columns, segment,
      biasFormat);
  return y;
}

LogicalResult ExpertConversion::convert() {
  FailureOr<RowsValue> x = c.lookupTokens(op, op.getX());
  FailureOr<RowsValue> chosen = c.lookup(op, op.getExperts(), topK);
  FailureOr<RowsValue> factors = c.lookup(op, op.getWeights(), topK);
  if (failed(x) || failed(chosen) || failed(factors))
    return failure();
  tokens = *x;
  // The capacity of the buffers; a step may use fewer.
  for (const RowsValue &rows : {*x, *chosen})
    numPlaces =
        std::max(numPlaces,
                 cast<MemRefType>(rows.buffer.getType()).getDimSize(0) * topK);

  FailureOr<ExpertMatrices> gate =
      lookupMatrices(0, op.getGate(), inner, hidden);
  FailureOr<ExpertMatrices> up = lookupMatrices(1, op.getUp(), inner, hidden);
  FailureOr<ExpertMatrices> down =
      lookupMatrices(2, op.getDown(), hidden, inner);
  if (failed(gate) || failed(up) || failed(down))
    return failure();
  RowsValue out = c.createResult(op.getResult(), tokens, hidden);
  sort(*chosen);
  RowsValue forGate = gather(*gate);
  RowsValue forUp = gather(*up);
  RowsValue gates = multiply(*gate, forGate);
  RowsValue ups = multiply(*up, forUp);
  RowsValue results = multiply(*down, gated(gates, ups, *down));
  c.kernel<kernel::MoECombineOp>(
      op.getLoc(), kernelName("moe_combine", {hidden}), tokens, places.buffer,
      factors->buffer, results.buffer, out.buffer, hidden, topK);
  return success();
}

static LogicalResult convert(ProgramConversion &c, ll::MoEFFNOp op) {
  return ExpertConversion(c, op).convert();
}

void addMoEConversions(ConversionTable &table) {
  table.add<ll::MoERouteOp>(convert);
  table.add<ll::MoEFFNOp>(convert);
}

} // namespace llmir
