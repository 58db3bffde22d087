//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluators of attention and of the paged cache: LLMCacheOps.td.
//
//===----------------------------------------------------------------------===//

#include "Affordable.h"
#include "Evaluation.h"

#include "llmir/Interpreter/ReferenceAttention.h"

#include <numeric>

using namespace mlir;
using namespace mlir::llm;
using namespace llmir;
using namespace llmir::interpreter;

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// The parameters of any attention; `mask` receives the mask in rank 4.
static reference::AttentionParams
getParams(AttentionOpInterface op, std::optional<Tensor> &mask, Evaluation &e) {
  reference::AttentionParams params;
  params.scale = op.getScaleOrDefault();
  if (params.scale == 0) // Heads of a size that only the value knows.
    params.scale = 1 / std::sqrt(double(e.tensor(op.getQuery()).dim(-1)));
  params.causal = op.isCausal();
  params.window = op.getWindowSize().value_or(0);
  params.softCap = op.getSoftCapOrNone().value_or(0);
  params.alibiSlopes = op.getSlopes().vec();
  params.sinks = e.tensorIf(op.getSinksOperand());
  if (const Tensor *given = e.tensorIf(op.getMaskOperand())) {
    Shape shape = given->shape;
    if (shape.size() == 3) // [B, Tq, Tk]: one head.
      shape.insert(shape.begin() + 1, 1);
    while (shape.size() < 4) // [T, M] of the ragged form.
      shape.insert(shape.begin(), 1);
    mask = given->reshaped(shape);
    params.mask = &*mask;
  }
  return params;
}

/// [B, T, D] as [B, T, 1, D].
static Tensor withHeads(const Tensor &x) {
  return x.rank() == 4 ? x : x.reshaped({x.dim(0), x.dim(1), 1, x.dim(2)});
}

static LogicalResult evaluateAttention(AttentionOp op, Evaluation &e) {
  std::optional<Tensor> mask;
  const Tensor &query = e.tensor(op.getQuery());
  Tensor result =
      attention(withHeads(query), withHeads(e.tensor(op.getKey())),
                withHeads(e.tensor(op.getValue())), getParams(op, mask, e));
  Shape shape = query.shape;
  shape.back() = result.dim(-1);
  return e.set(op, result.reshaped(shape));
}

namespace {
/// What paged_attention and fused_attention have in common.
struct PagedOperands {
  AttentionOpInterface op;
  Value blockTables, seqLens, queryOffsets, layer;
};
} // namespace

/// [tokens, H, D] and the rows of each sequence, for either form.
static LogicalResult evaluatePaged(PagedOperands operands,
                                   const PagedCache &cache, Evaluation &e) {
  const Tensor &given = e.tensor(operands.op.getQuery());
  const Tensor &lens = e.tensor(operands.seqLens);
  const bool isRagged = bool(operands.queryOffsets);
  Tensor query = given;
  std::vector<int64_t> offsets;
  if (isRagged) {
    offsets = e.tensor(operands.queryOffsets).integers();
  } else {
    const int64_t tokens = given.rank() == 4 ? given.dim(1) : 1;
    query =
        given.reshaped({given.dim(0) * tokens, given.dim(-2), given.dim(-1)});
    for (int64_t b = 0; b <= given.dim(0); ++b)
      offsets.push_back(b * tokens);
  }
  Tensor tables = e.tensor(operands.blockTables);
  if (tables.rank() == 1)
    tables = tables.reshaped({tables.dim(0), 1});
  std::optional<Tensor> mask;
  reference::AttentionParams params = getParams(operands.op, mask, e);
  params.roundsToBf16 =
      e.options().roundsAttention && cache.geometry().kind == ElementKind::BF16;
  for (int64_t length : lens.integers())
    if (mask && mask->dim(3) != 1 && mask->dim(3) < length)
      return operands.op.emitOpError()
             << "cannot be evaluated: the mask has " << mask->dim(3)
             << " columns for a sequence of " << length << " tokens";
  Expected<Tensor> result =
      pagedAttention({query, tables, lens, offsets, !isRagged}, cache,
                     e.integer(operands.layer), params);
  if (!result)
    return e.fail(result.status());
  Shape shape = given.shape;
  shape.back() = result->dim(-1);
  return e.set(operands.op.getAttentionOutput(), result->reshaped(shape));
}

static LogicalResult evaluatePagedAttention(PagedAttentionOp op,
                                            Evaluation &e) {
  return evaluatePaged({op, op.getBlockIndices(), op.getSeqLens(),
                        op.getQueryOffsets(), op.getLayer()},
                       e.cache(op.getCache()), e);
}

//===----------------------------------------------------------------------===//
// Appending
//===----------------------------------------------------------------------===//

/// The block of each token [B, n] in the shape of the op's result: all of them,
/// or the last one of each sequence.
static Tensor blockIndicesFor(Value result, const Tensor &blocks) {
  auto type = cast<RankedTensorType>(result.getType());
  const int64_t tokens = blocks.dim(1);
  if (type.getRank() == 2 &&
      (type.getDimSize(1) == tokens || type.isDynamicDim(1)))
    return blocks;
  Tensor last = tokens > 0 ? blocks.slice(1, tokens - 1, 1)
                           : Tensor(ElementKind::I32, {blocks.dim(0), 1});
  return type.getRank() == 2 ? last : last.reshaped({blocks.dim(0)});
}

namespace {
/// What append_kv and fused_attention have in common.
struct AppendOperands {
  Value keys, values, seqIds, slots, layer;
  Value updatedCache, blockIndices;
};
} // namespace

static LogicalResult evaluateAppend(const AppendOperands &operands,
                                    PagedCache &cache, Evaluation &e) {
  const Tensor &keys = e.tensor(operands.keys);
  const Tensor &values = e.tensor(operands.values);
  const int64_t layer = e.integer(operands.layer);
  if (operands.slots) {
    if (Status status =
            cache.appendSlots(layer, keys, values, e.tensor(operands.slots));
        !status)
      return e.fail(status);
    return success();
  }
  auto ofSequences = [](const Tensor &x) {
    return x.rank() == 4 ? x : x.reshaped({x.dim(0), 1, x.dim(1), x.dim(2)});
  };
  Expected<Tensor> blocks = cache.appendSequences(
      layer, ofSequences(keys), ofSequences(values), e.tensor(operands.seqIds));
  if (!blocks)
    return e.fail(blocks.status());
  return e.set(operands.blockIndices,
               blockIndicesFor(operands.blockIndices, *blocks));
}

static LogicalResult checkAffordable(Operation *op, PagedKVCacheType type) {
  if (std::string cause = cacheTooLarge(type); !cause.empty())
    return op->emitOpError() << "cannot be evaluated: " << cause;
  return success();
}

static LogicalResult evaluateAppendKV(AppendKVOp op, Evaluation &e) {
  if (!op.getCache() && failed(checkAffordable(op, op.getCacheType())))
    return failure();
  PagedCache cache =
      op.getCache() ? e.cache(op.getCache()) : makeCache(op.getCacheType());
  if (failed(evaluateAppend({op.getKeys(), op.getValues(), op.getSeqIds(),
                             op.getSlotMapping(), op.getLayer(),
                             op.getUpdatedCache(), op.getBlockIndices()},
                            cache, e)))
    return failure();
  return e.set(op.getUpdatedCache(), std::move(cache));
}

static LogicalResult evaluateFusedAttention(FusedAttentionOp op,
                                            Evaluation &e) {
  PagedCache cache = e.cache(op.getCache());
  if (failed(evaluateAppend({op.getKeys(), op.getValues(), op.getSeqIds(),
                             op.getSlotMapping(), op.getLayer(),
                             op.getUpdatedCache(), op.getBlockIndices()},
                            cache, e)) ||
      failed(evaluatePaged({op, op.getBlockTables(), op.getSeqLens(),
                            op.getQueryOffsets(), op.getLayer()},
                           cache, e)))
    return failure();
  return e.set(op.getUpdatedCache(), std::move(cache));
}

//===----------------------------------------------------------------------===//
// Reading, reserving, sequences
//===----------------------------------------------------------------------===//

static LogicalResult evaluateLookupKV(LookupKVOp op, Evaluation &e) {
  const Tensor &indices = e.tensor(op.getBlockIndices());
  const Tensor &lens = e.tensor(op.getSeqLens());
  auto type = cast<RankedTensorType>(op.getKeys().getType());
  int64_t tokens = type.getDimSize(1);
  if (ShapedType::isDynamic(tokens)) // One entry per token.
    tokens = indices.rank() == 2 ? indices.dim(1) : 1;
  auto found = e.cache(op.getCache())
                   .lookup(e.integer(op.getLayer()), indices, lens, tokens);
  if (!found)
    return e.fail(found.status());
  return failure(failed(e.set(op.getKeys(), std::move(found->first))) ||
                 failed(e.set(op.getValues(), std::move(found->second))));
}

static LogicalResult evaluateCreatePagedCache(CreatePagedCacheOp op,
                                              Evaluation &e) {
  auto type = cast<PagedKVCacheType>(op.getType());
  if (failed(checkAffordable(op, type)))
    return failure();
  return e.set(op, makeCache(type));
}

static LogicalResult evaluateReserveKV(ReserveKVOp op, Evaluation &e) {
  PagedCache cache = e.cache(op.getCache());
  auto room = cache.reserve(e.integer(op.getLayer()), e.tensor(op.getSeqIds()),
                            int64_t(op.getTokens()));
  if (!room)
    return e.fail(room.status());
  return failure(
      failed(e.set(op.getUpdatedCache(), std::move(cache))) ||
      failed(e.set(op.getSlots(), std::move(room->slots))) ||
      failed(e.set(op.getBlockIndices(), std::move(room->blockIndices))) ||
      failed(e.set(op.getBlockTables(), std::move(room->blockTables))) ||
      failed(e.set(op.getSeqLens(), std::move(room->seqLens))));
}

static LogicalResult evaluateForkKV(ForkKVOp op, Evaluation &e) {
  PagedCache cache = e.cache(op.getCache());
  if (Status status =
          cache.fork(e.tensor(op.getSrcIds()), e.tensor(op.getDstIds()));
      !status)
    return e.fail(status);
  return e.set(op.getUpdatedCache(), std::move(cache));
}

static LogicalResult evaluateFreeKV(FreeKVOp op, Evaluation &e) {
  PagedCache cache = e.cache(op.getCache());
  if (Status status = cache.free(e.tensor(op.getSeqIds())); !status)
    return e.fail(status);
  return e.set(op.getUpdatedCache(), std::move(cache));
}

void llmir::interpreter::addCacheEvaluators(EvaluatorTable &table) {
  table.add(evaluateAttention);
  table.add(evaluatePagedAttention);
  table.add(evaluateFusedAttention);
  table.add(evaluateAppendKV);
  table.add(evaluateLookupKV);
  table.add(evaluateCreatePagedCache);
  table.add(evaluateReserveKV);
  table.add(evaluateForkKV);
  table.add(evaluateFreeKV);
}
