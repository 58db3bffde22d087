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

#include "llmir/Reference/Attention.h"

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
  if (params.scale == 0) // Dynamic head size.
    params.scale = 1 / std::sqrt(double(e.tensor(op.getQuery()).dim(-1)));
  params.causal = op.isCausal();
  params.window = op.getWindowSize().value_or(0);
  params.chunked = op.isChunked();
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
/// Shared by paged_attention and fused_attention.
struct PagedOperands {
  AttentionOpInterface op;
  Value blockTables, seqLens, queryOffsets, layer;
};
} // namespace

/// The rounding of compiled code, if the options request it.
static reference::AttentionRounding
roundingFor(const PagedCache &cache, const InterpreterOptions &options) {
  const ElementKind kind = cache.geometry().kind;
  if (kind == ElementKind::I8 && options.roundsByteAttention)
    return reference::AttentionRounding::Bytes;
  if (kind == ElementKind::BF16 && options.roundsBf16Attention)
    return reference::AttentionRounding::Bf16;
  return reference::AttentionRounding::None;
}

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
  if (!isRagged) { // Rows that identify sequences.
    Expected<Tensor> found =
        cache.findBlockTables(e.integer(operands.layer), tables, lens);
    if (!found)
      return e.fail(found.status());
    tables = std::move(*found);
  }
  std::optional<Tensor> mask;
  reference::AttentionParams params = getParams(operands.op, mask, e);
  params.rounding = roundingFor(cache, e.options());
  params.valuesInKeys = cache.geometry().valuesInKeys;
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

/// Number of blocks per row of block indices of that type: one for [B], by
/// default the number of new tokens.
static int64_t countRowBlocks(Value indices, int64_t tokens) {
  auto type = cast<RankedTensorType>(indices.getType());
  if (type.getRank() == 1)
    return 1;
  return type.isDynamicDim(1) ? tokens : type.getDimSize(1);
}

namespace {
/// Shared by append_kv and fused_attention.
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
  const Tensor rows = ofSequences(keys);
  Expected<Tensor> blocks = cache.appendSequences(
      layer, rows, ofSequences(values), e.tensor(operands.seqIds),
      countRowBlocks(operands.blockIndices, rows.dim(1)));
  if (!blocks)
    return e.fail(blocks.status());
  auto type = cast<RankedTensorType>(operands.blockIndices.getType());
  return e.set(operands.blockIndices, type.getRank() == 2
                                          ? std::move(*blocks)
                                          : blocks->reshaped({blocks->dim(0)}));
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
  if (ShapedType::isDynamic(tokens)) { // The greatest length.
    tokens = 0;
    for (int64_t length : lens.integers())
      tokens = std::max(tokens, length);
    tokens = std::min(tokens, e.cache(op.getCache()).geometry().maxSeqLen);
  }
  auto found = e.cache(op.getCache())
                   .lookup(e.integer(op.getLayer()), indices, lens, tokens);
  if (!found)
    return e.fail(found.status());
  return failure(failed(e.set(op.getKeys(), std::move(found->first))) ||
                 failed(e.set(op.getValues(), std::move(found->second))));
}

static LogicalResult evaluateBlockTables(BlockTablesOp op, Evaluation &e) {
  auto found = e.cache(op.getCache())
                   .findBlockTables(e.integer(op.getLayer()),
                                    e.tensor(op.getBlockIndices()),
                                    e.tensor(op.getSeqLens()));
  if (!found)
    return e.fail(found.status());
  return e.set(op.getBlockTables(), std::move(*found));
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
  const auto tokens = int64_t(op.getTokens());
  auto room =
      cache.reserve(e.integer(op.getLayer()), e.tensor(op.getSeqIds()), tokens,
                    countRowBlocks(op.getBlockIndices(), tokens));
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
  table.add(evaluateBlockTables);
  table.add(evaluateCreatePagedCache);
  table.add(evaluateReserveKV);
  table.add(evaluateForkKV);
  table.add(evaluateFreeKV);
}
