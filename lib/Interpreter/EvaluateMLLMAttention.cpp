//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluators of MLLMAttentionOps.td: positions, caches and attention.
//
//===----------------------------------------------------------------------===//

#include "Evaluation.h"

#include "llmir/Dialect/MLLM/MLLMAttentionOps.h"
#include "llmir/Reference/Attention.h"
#include "llmir/Reference/Elementwise.h"
#include "llmir/Reference/ModelState.h"
#include "llmir/Reference/NN.h"
#include "llmir/Reference/Positions.h"
#include "llmir/Reference/Shape.h"

using namespace mlir;
using namespace llmir;
using namespace llmir::interpreter;
using reference::AttentionParams;
using reference::RopeTables;

static Status invalid(const std::string &cause) {
  return Status(StatusCode::InvalidArgument, cause);
}

//===----------------------------------------------------------------------===//
// Positions
//===----------------------------------------------------------------------===//

/// Fails if an op that depends on earlier steps is evaluated in isolation.
static LogicalResult checkState(Evaluation &e) {
  if (e.state())
    return success();
  return e.fail(invalid("it depends on earlier steps"));
}

/// past, past + 1, …
static Tensor positionsOf(int64_t tokens, const Evaluation &e) {
  return reference::arange(ElementKind::I64, {tokens},
                           double(e.state()->past()), 1);
}

static LogicalResult evaluatePositions(mllm::PositionsOp op, Evaluation &e) {
  if (failed(checkState(e)))
    return failure();
  const Shape &shape = e.tensor(op.getIds()).shape;
  return e.set(op, broadcastTo(positionsOf(shape.back(), e), shape));
}

/// Sines and cosines, in the order of the operands.
static RopeTables tablesOf(ValueRange operands, Evaluation &e) {
  return {e.tensor(operands[1]), e.tensor(operands[0])};
}

static LogicalResult evaluateRoPE(mllm::RoPEOp op, Evaluation &e) {
  const Tensor &x = e.tensor(op.getX());
  const int64_t tokenDim = op.getTokenDim();
  const double scaling = op.getScaling().convertToDouble();
  if (op.getFrequencies() && failed(checkState(e)))
    return failure();
  if (op.getFrequencies())
    return e.setChecked(
        op, rotate(x,
                   reference::ropeTables(positionsOf(x.dim(tokenDim), e),
                                         op.getFrequencies()->vec(), scaling),
                   tokenDim));
  RopeTables tables = tablesOf(op.getTables(), e);
  auto scale = [&](double number) { return scaling * number; };
  return e.setChecked(
      op, rotate(x, {map(tables.cosines, scale), map(tables.sines, scale)},
                 tokenDim));
}

static LogicalResult evaluateMultimodalRoPE(mllm::MultimodalRoPEOp op,
                                            Evaluation &e) {
  const Tensor &x = e.tensor(op.getX());
  Expected<RopeTables> tables =
      reference::selectPlanes({e.tensor(op.getCos()), e.tensor(op.getSin())},
                              op.getMropeSection().vec());
  if (!tables)
    return e.fail(tables.status());
  return e.setChecked(
      op, rotate(x, *tables, x.rank() - (op.getLayout() == "bhsd" ? 2 : 3)));
}

static LogicalResult evaluateVisionRoPE(mllm::VisionRoPEOp op, Evaluation &e) {
  const Tensor &x = e.tensor(op.getX());
  const int64_t tokenDim = x.rank() - 3;
  if (!op.getGrid())
    return e.setChecked(op, rotate(x, tablesOf(op.getTables(), e), tokenDim));
  const ArrayRef<int64_t> grid = *op.getGrid();
  Expected<RopeTables> tables =
      reference::visionTables({grid[0], grid[1], grid[2],
                               static_cast<int64_t>(op.getSpatialMergeSize())},
                              x.dim(-1) / 2, op.getTheta().convertToDouble());
  if (!tables)
    return e.fail(tables.status());
  return e.setChecked(op, rotate(x, *tables, tokenDim));
}

//===----------------------------------------------------------------------===//
// Cache and mask
//===----------------------------------------------------------------------===//

static LogicalResult evaluateKVCache(mllm::KVCacheOp op, Evaluation &e) {
  if (failed(checkState(e)))
    return failure();
  if (e.numRanks() != 1)
    return e.fail(invalid("a cache belongs to one rank"));
  Expected<ModelState::Layer> all = e.state()->append(
      static_cast<int64_t>(op.getLayer()), e.tensor(op.getK()),
      e.tensor(op.getV()), op.getTokenDim());
  if (!all)
    return e.fail(all.status());
  const int64_t headDim = op.getHeadDim(), heads = all->keys.dim(headDim);
  int64_t times = 1;
  if (op.getQHead()) {
    const auto want = static_cast<int64_t>(*op.getQHead());
    if (heads < 1 || want % heads != 0)
      return e.fail(invalid(std::to_string(want) +
                            " query heads are not a multiple of " +
                            std::to_string(heads) + " key heads"));
    times = want / heads;
  }
  return failure(failed(e.setChecked(op.getKeys(),
                                     repeatEach(all->keys, headDim, times))) ||
                 failed(e.setChecked(op.getValues(),
                                     repeatEach(all->values, headDim, times))));
}

static LogicalResult evaluateCausalMask(mllm::CausalMaskOp op, Evaluation &e) {
  return e.set(op, reference::causalMask(e.tensor(op.getX()),
                                         static_cast<int64_t>(op.getWindow())));
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// One sequence as a batch of one.
static Tensor batched(const Tensor &heads) {
  Shape shape = heads.shape;
  if (shape.size() == 3)
    shape.insert(shape.begin(), 1);
  return heads.reshaped(shape);
}

/// Checks dynamic sizes: queries [B, S, H, D], keys [B, N, G, D], values [B, N,
/// G, V].
static Status checkAttention(const Tensor &q, const Tensor &k, const Tensor &v,
                             const AttentionParams &params) {
  const bool agrees = q.dim(0) == k.dim(0) && k.dim(0) == v.dim(0) &&
                      k.dim(1) == v.dim(1) && k.dim(2) == v.dim(2) &&
                      q.dim(3) == k.dim(3) && k.dim(2) > 0 &&
                      q.dim(2) % k.dim(2) == 0 &&
                      (!params.sinks || params.sinks->size() == q.dim(2));
  if (agrees)
    return Status::ok();
  return invalid("queries " + typeString(q) + ", keys " + typeString(k) +
                 " and values " + typeString(v) + " do not match");
}

/// Attention over heads of one rank, in the shape of `q` except for the last
/// dimension.
static Expected<Tensor> attend(const Tensor &q, const Tensor &k,
                               const Tensor &v, const AttentionParams &params) {
  const Tensor queries = batched(q), keys = batched(k), values = batched(v);
  LLMIR_RETURN_IF_ERROR(checkAttention(queries, keys, values, params));
  Shape shape = q.shape;
  shape.back() = v.dim(-1);
  LLMIR_RETURN_IF_ERROR(reference::checkAffordable(shape));
  Tensor result = attention(queries, keys, values, params);
  return result.reshaped(shape);
}

template <typename OpT> static double softCapOf(OpT op) {
  return op.getSoftCap() ? op.getSoftCap()->convertToDouble() : 0;
}

static LogicalResult evaluateFlashAttention2(mllm::FlashAttention2Op op,
                                             Evaluation &e) {
  AttentionParams params;
  params.scale = op.getScale().convertToDouble();
  params.causal = op.getCausal();
  params.softCap = softCapOf(op);
  return e.setChecked(op, attend(e.tensor(op.getQ()), e.tensor(op.getK()),
                                 e.tensor(op.getV()), params));
}

/// The parameters of an op with a window and sinks.
template <typename OpT>
static AttentionParams windowed(OpT op, const Evaluation &e) {
  AttentionParams params;
  params.scale = op.getScale().convertToDouble();
  params.causal = true;
  params.window = static_cast<int64_t>(op.getSlidingWindow());
  params.sinks = e.tensorIf(op.getSAux());
  return params;
}

static LogicalResult
evaluateFlashAttention2SwaSink(mllm::FlashAttention2SwaSinkOp op,
                               Evaluation &e) {
  AttentionParams params = windowed(op, e);
  params.chunked = op.getChunked();
  params.causal = op.getCausal();
  params.softCap = softCapOf(op);
  return e.setChecked(op, attend(e.tensor(op.getQ()), e.tensor(op.getK()),
                                 e.tensor(op.getV()), params));
}

/// Attention over rows of two pools given by index lists.
template <typename OpT>
static LogicalResult evaluateRows(OpT op, const AttentionParams &params,
                                  Evaluation &e) {
  const Tensor &keyPool = e.tensor(op.getKPool());
  const Tensor &valuePool = e.tensor(op.getVPool());
  const Tensor &keyRows = e.tensor(op.getK());
  const Tensor &valueRows = e.tensor(op.getV());
  if (failed(e.checkIndices(keyRows, keyPool.dim(0), "row of keys")) ||
      failed(e.checkIndices(valueRows, valuePool.dim(0), "row of values")))
    return failure();
  for (const auto &[pool, rows] :
       {std::pair(&keyPool, &keyRows), std::pair(&valuePool, &valueRows)})
    if (Status status = reference::checkAffordable(
            {rows->size(), pool->dim(1), pool->dim(2)});
        !status)
      return e.fail(status);
  const Tensor &q = e.tensor(op.getQ());
  return e.setChecked(op, attend(q, selectRows(keyPool, keyRows),
                                 selectRows(valuePool, valueRows), params));
}

static LogicalResult evaluateRadixAttnSwaSink(mllm::RadixAttnSwaSinkOp op,
                                              Evaluation &e) {
  const int64_t tokens = e.tensor(op.getQ()).dim(-3);
  const int64_t keys = e.tensor(op.getK()).size();
  const StringRef pattern = op.getPattern();
  if ((pattern == "prefill" && tokens != keys) ||
      (pattern == "decode" && tokens != 1))
    return e.fail(invalid(std::to_string(tokens) + " new tokens among " +
                          std::to_string(keys) + " do not match the pattern " +
                          pattern.str()));
  return evaluateRows(op, windowed(op, e), e);
}

static LogicalResult evaluateRadixAttnRelax(mllm::RadixAttnRelaxOp op,
                                            Evaluation &e) {
  AttentionParams params;
  params.scale = op.getScale().convertToDouble();
  params.causal = true;
  return evaluateRows(op, params, e);
}

/// The tokens of [B, tokens, G, D] given by an index list.
static Expected<Tensor> selectTokens(const Tensor &cache, const Tensor &index) {
  Shape shape = cache.shape;
  shape[1] = index.size();
  LLMIR_RETURN_IF_ERROR(reference::checkAffordable(shape));
  return reference::pick(cache, shape, [&](const Shape &at) {
    return ((at[0] * cache.dim(1) + index.integer(at[1])) * cache.dim(2) +
            at[2]) *
               cache.dim(3) +
           at[3];
  });
}

/// The softmax weights [B, H, S, N], computed as attention with the identity
/// matrix as values.
static Tensor weightsOf(const Tensor &q, const Tensor &keys,
                        const AttentionParams &params) {
  const int64_t n = keys.dim(1);
  Tensor identity(q.kind, {keys.dim(0), n, keys.dim(2), n});
  for (int64_t i = 0; i < identity.size(); ++i)
    identity[i] = i % n == i / (n * keys.dim(2)) % n ? 1 : 0;
  return permuted(attention(q, keys, identity, params), {0, 2, 1, 3});
}

static LogicalResult evaluatePagedAttn(mllm::PagedAttnOp op, Evaluation &e) {
  const Tensor &q = e.tensor(op.getQ()), &k = e.tensor(op.getK());
  const Tensor &v = e.tensor(op.getV()), &index = e.tensor(op.getIndex());
  AttentionParams params;
  params.scale = op.getScale().convertToDouble();
  params.causal = true;
  if (Status status = checkAttention(q, k, v, params); !status)
    return e.fail(status);
  if (failed(e.checkIndices(index, k.dim(1), "token")))
    return failure();
  Expected<Tensor> keys = selectTokens(k, index);
  Expected<Tensor> values = selectTokens(v, index);
  if (!keys || !values)
    return e.fail(keys ? values.status() : keys.status());
  if (failed(e.setChecked(op.getResult(), attend(q, *keys, *values, params))))
    return failure();
  if (!op.getWeights())
    return success();
  const int64_t n = index.size();
  if (Status status =
          reference::checkAffordable({q.dim(0), q.dim(1), q.dim(2), n, n});
      !status)
    return e.fail(status);
  return e.set(op.getWeights(), weightsOf(q, *keys, params));
}

void llmir::interpreter::addMLLMAttentionEvaluators(EvaluatorTable &table) {
  table.add(evaluatePositions);
  table.add(evaluateRoPE);
  table.add(evaluateMultimodalRoPE);
  table.add(evaluateVisionRoPE);
  table.add(evaluateKVCache);
  table.add(evaluateCausalMask);
  table.add(evaluateFlashAttention2);
  table.add(evaluateFlashAttention2SwaSink);
  table.add(evaluateRadixAttnSwaSink);
  table.add(evaluateRadixAttnRelax);
  table.add(evaluatePagedAttn);
}
