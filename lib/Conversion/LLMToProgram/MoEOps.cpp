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
  MoERouteSpec spec{logits->columns, static_cast<int64_t>(op.getTopK()),
                    op.getScore() == "sigmoid", op.getNormalize()};
  RowsValue chosen = c.createResult(op.getExperts(), *logits, spec.topK);
  RowsValue weights = c.createResult(op.getWeights(), *logits, spec.topK);
  WorkShare share = logits->rowShare();
  c.call(op.getLoc(), kernelName("moe_route", {spec.topK, spec.experts}), spec,
         {},
         {{logits->buffer, false, share},
          {weights.buffer, true, share},
          {chosen.buffer, true, share}});
  return success();
}

namespace {
/// The matrices [rows, columns] of all experts, and what they multiply.
struct ExpertMatrices {
  Value tensor;
  KernelWeights weights;
  int64_t rows, columns;
  /// Rows of int8, where a step's matrices are integers.
  std::optional<QuantizeRowsSpec> quantize;

  int64_t segment() const { return quantize ? quantize->segment : 0; }
};

/// The conversion of one mixture: its sizes and what its kernels share.
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
  FailureOr<ExpertMatrices> lookupMatrices(Value tensor, int64_t rows,
                                           int64_t columns);
  /// The tokens' rows at their places, as these matrices take them.
  RowsValue gather(const ExpertMatrices &matrices);
  /// silu(gate) * up at each place, as `down` takes it.
  RowsValue gated(const RowsValue &gate, const RowsValue &up,
                  const ExpertMatrices &down);
  RowsValue multiply(const ExpertMatrices &matrices, const RowsValue &x);
  /// How the kernels that work on all places divide columns. They count places
  /// by the tokens.
  WorkShare columnShare(int64_t columns) const {
    return {WorkSplit::Columns, tokens.over, ceilDiv(columns, kTileRows),
            tokens.rows};
  }

  ProgramConversion &c;
  ll::MoEFFNOp op;
  int64_t experts, inner, hidden, topK;
  RowsValue tokens;
  int64_t numPlaces = 0;
  RowsValue offsets, pairs, places;
  llvm::DenseMap<Value, RowsValue> gathered; ///< By what is gathered.
};
} // namespace

void ExpertConversion::sort(const RowsValue &chosen) {
  offsets = createTable(experts + 1);
  pairs = createTable(numPlaces);
  places = createTable(numPlaces);
  c.call(op.getLoc(), kernelName("moe_sort", {topK, experts}),
         MoESortSpec{experts, topK}, {},
         {{chosen.buffer, false, std::nullopt},
          {offsets.buffer, true, std::nullopt},
          {pairs.buffer, true, std::nullopt},
          {places.buffer, true, std::nullopt}});
}

FailureOr<ExpertMatrices>
ExpertConversion::lookupMatrices(Value tensor, int64_t rows, int64_t columns) {
  FailureOr<KernelWeights> weights = c.weights(op, {tensor});
  if (failed(weights))
    return failure();
  ExpertMatrices result{tensor, *weights, rows, columns, std::nullopt};
  auto format = IntegerFormat::fromName(weights->format);
  if (format && !c.hasStaticRows())
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
  c.call(op.getLoc(), kernelName("moe_gather", {x.columns}),
         MoEGatherSpec{x.columns, topK}, {},
         {{pairs.buffer, false, std::nullopt},
          {x.buffer, false, std::nullopt},
          {known.buffer, true, std::nullopt}});
  return known;
}

RowsValue ExpertConversion::gated(const RowsValue &gate, const RowsValue &up,
                                  const ExpertMatrices &down) {
  bool inWords = down.weights.format == "bf16";
  RowsValue out =
      inWords ? createPlaces(RoundRowsSpec::words(inner)) : RowsValue(gate);
  WorkShare share = columnShare(inner);
  BufferAccess written{out.buffer, true, std::nullopt};
  if (!inWords)
    written.share = share;
  c.call(op.getLoc(), kernelName("moe_gate", {inner}),
         MoEGateSpec{inner, topK, inWords}, {},
         {{gate.buffer, false, share}, {up.buffer, false, share}, written});
  // A weight that the program has packed as f32 still stands for bf16.
  Type element = getElementTypeOrSelf(down.tensor.getType());
  if (!inWords && element.isBF16())
    c.roundRows(op.getLoc(), out, element);
  if (!down.quantize)
    return out;
  QuantizeRowsSpec spec = *down.quantize;
  spec.topK = topK;
  RowsValue bytes = createPlaces(quantizedWords(spec));
  c.call(
      op.getLoc(), kernelName("moe_quantize_rows", {spec.columns, spec.group}),
      spec, {},
      {{out.buffer, false, std::nullopt}, {bytes.buffer, true, std::nullopt}});
  return bytes;
}

RowsValue ExpertConversion::multiply(const ExpertMatrices &matrices,
                                     const RowsValue &x) {
  RowsValue y = createPlaces(matrices.rows);
  MoELinearSpec spec{matrices.weights.format, experts, matrices.rows,
                     matrices.columns, matrices.segment()};
  c.call(op.getLoc(),
         kernelName(Twine("moe_linear_") + spec.format,
                    {experts, spec.rows, spec.columns}),
         spec, matrices.weights,
         {{offsets.buffer, false, std::nullopt},
          {x.buffer, false, std::nullopt},
          {y.buffer, true, columnShare(spec.rows)}});
  return y;
}

LogicalResult ExpertConversion::convert() {
  FailureOr<RowsValue> x = c.lookupTokens(op, op.getX());
  FailureOr<RowsValue> chosen = c.lookup(op, op.getExperts(), topK);
  FailureOr<RowsValue> factors = c.lookup(op, op.getWeights(), topK);
  if (failed(x) || failed(chosen) || failed(factors))
    return failure();
  tokens = *x;
  // As many as the buffers have room for; a step uses a part of them.
  for (const RowsValue &rows : {*x, *chosen})
    numPlaces =
        std::max(numPlaces,
                 cast<MemRefType>(rows.buffer.getType()).getDimSize(0) * topK);

  FailureOr<ExpertMatrices> gate = lookupMatrices(op.getGate(), inner, hidden);
  FailureOr<ExpertMatrices> up = lookupMatrices(op.getUp(), inner, hidden);
  FailureOr<ExpertMatrices> down = lookupMatrices(op.getDown(), hidden, inner);
  if (failed(gate) || failed(up) || failed(down))
    return failure();
  RowsValue out = c.createResult(op.getResult(), tokens, hidden);
  // Sorting and gathering count tokens, but share nothing out by them.
  c.bindCount(op.getLoc(), StepField::num_tokens, tokens.rows);
  sort(*chosen);
  RowsValue forGate = gather(*gate);
  RowsValue forUp = gather(*up);
  RowsValue gates = multiply(*gate, forGate);
  RowsValue ups = multiply(*up, forUp);
  RowsValue results = multiply(*down, gated(gates, ups, *down));
  c.call(op.getLoc(), kernelName("moe_combine", {hidden}),
         MoECombineSpec{hidden, topK}, {},
         {{places.buffer, false, std::nullopt},
          {factors->buffer, false, std::nullopt},
          {results.buffer, false, std::nullopt},
          {out.buffer, true, tokens.rowShare()}});
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
