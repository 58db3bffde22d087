//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention and the paged cache.
//
//===----------------------------------------------------------------------===//

#include "DenseAttention.h"
#include "ProgramConversion.h"

#include "llmir/Dialect/MLLM/StoredFormat.h"
#include "llmir/Runtime/ABI/KVBlockLayout.h"

using namespace mlir;
namespace ll = mlir::llm;

namespace llmir {

/// The geometry of a cache, as the specs of its kernels have it.
template <typename Spec>
static void setGeometry(Spec &spec, ll::PagedKVCacheType cache) {
  // Bytes are what a tensor is never stored in by itself.
  spec.kvFormat = cache.getElementType().isInteger(8)
                      ? kvFormatName(KVFormat::Q8)
                      : mllm::storedFormatName(cache.getElementType());
  spec.kvHeads = cache.getNumHeads();
  spec.headDim = cache.getHeadDim();
  if (cache.getValueDim() != cache.getHeadDim())
    spec.valueDim = cache.getValueDim();
  spec.blockSize = cache.getBlockSize();
}

/// One row per token: the step's, or those of a function, whatever the shape.
static FailureOr<RowsValue> lookupRows(ProgramConversion &c, Operation *op,
                                       Value tensor, int64_t columns) {
  return c.hasStaticRows() ? c.lookup(op, tensor, columns)
                           : c.lookupTokens(op, tensor);
}

//===----------------------------------------------------------------------===//
// append_kv
//===----------------------------------------------------------------------===//

/// Writes tokens to their slots: append_kv, and the first half of
/// fused_attention.
template <typename OpTy>
static LogicalResult append(ProgramConversion &c, OpTy op,
                            ll::PagedKVCacheType cache) {
  if (!op.isRagged())
    return op.emitOpError("is batched; a program appends to a ragged batch, "
                          "which -llm-lower-kv-cache-ops makes of it");
  AppendKVSpec spec;
  setGeometry(spec, cache);
  FailureOr<RowsValue> keys =
      lookupRows(c, op, op.getKeys(), spec.kvHeads * spec.headDim);
  FailureOr<RowsValue> values =
      lookupRows(c, op, op.getValues(), spec.kvHeads * valueDim(spec));
  if (failed(keys) || failed(values) || failed(c.bindCache(op, cache)) ||
      failed(c.bindField(op, op.getSlotMapping(), StepField::slot_mapping)) ||
      failed(c.bindLayer(op, op.getLayer())))
    return failure();
  c.call(op.getLoc(),
         kernelName(Twine("append_kv_") + spec.kvFormat,
                    {spec.kvHeads, spec.headDim}),
         spec, {}, appendAccesses(spec, *keys, *values),
         // Two appends may give one slot to different rows.
         BufferAccess{Value(), true, std::nullopt});
  return success();
}

static LogicalResult convert(ProgramConversion &c, ll::AppendKVOp op) {
  return append(c, op, op.getCacheType());
}

//===----------------------------------------------------------------------===//
// lookup_kv
//===----------------------------------------------------------------------===//

/// Makes kernels find the blocks and the lengths of the op's sequences.
static LogicalResult bindSequences(ProgramConversion &c, Operation *op,
                                   TypedValue<RankedTensorType> blocks,
                                   TypedValue<RankedTensorType> lengths) {
  if (failed(c.bindField(op, blocks, StepField::block_tables)) ||
      failed(c.bindField(op, lengths, StepField::seq_lens)))
    return failure();
  c.bindCount(op->getLoc(), StepField::num_sequences,
              lengths.getType().getDimSize(0));
  return success();
}

static LogicalResult convert(ProgramConversion &c, ll::LookupKVOp op) {
  if (!c.hasStaticRows())
    return op.emitOpError("gathers as many rows as its result has; a step "
                          "knows only those of its tokens");
  ll::PagedKVCacheType cache = op.getCache().getType();
  if (failed(c.bindCache(op, cache)) ||
      failed(bindSequences(c, op, op.getBlockIndices(), op.getSeqLens())) ||
      failed(c.bindLayer(op, op.getLayer())))
    return failure();
  ArrayRef<int64_t> shape = op.getKeys().getType().getShape();
  LookupKVSpec spec;
  setGeometry(spec, cache);
  spec.rows = shape[1];
  spec.perToken = op.isPerToken();
  RowsValue like;
  like.rows = shape[0] * shape[1];
  RowsValue keys =
      c.createResult(op.getKeys(), like, spec.kvHeads * spec.headDim);
  RowsValue values =
      c.createResult(op.getValues(), like, spec.kvHeads * valueDim(spec));
  if (like.rows == 0)
    return success(); // No row: nothing to gather.
  WorkShare share = like.headShare(spec.kvHeads);
  c.call(op.getLoc(),
         kernelName(Twine("lookup_kv_") + spec.kvFormat,
                    {spec.rows, spec.kvHeads, spec.headDim}),
         spec, {}, {{keys.buffer, true, share}, {values.buffer, true, share}},
         BufferAccess{Value(), false, std::nullopt});
  return success();
}

//===----------------------------------------------------------------------===//
// paged_attention
//===----------------------------------------------------------------------===//

/// Makes kernels find which rows are a sequence's.
template <typename OpTy>
static LogicalResult bindOffsets(ProgramConversion &c, OpTy op) {
  if (op.isRagged())
    return c.bindField(op, op.getQueryOffsets(), StepField::query_offsets);
  if (!c.hasStaticRows())
    return op.emitOpError("is batched; a step is a ragged batch, which "
                          "-llm-lower-kv-cache-ops makes of it");
  SmallVector<int32_t> offsets;
  for (int64_t s = 0; s <= op.countSequences(); ++s)
    offsets.push_back(s * op.countQueries());
  c.bindArray(op.getLoc(), StepField::query_offsets,
              c.constantRows(op.getLoc(), offsets));
  return success();
}

/// Attends to a cache: paged_attention, and the second half of fused_attention.
template <typename OpTy>
static LogicalResult attend(ProgramConversion &c, OpTy op,
                            ll::PagedKVCacheType cache,
                            TypedValue<RankedTensorType> blocks) {
  PagedAttentionSpec spec = attentionSpec(op);
  setGeometry(spec, cache);
  spec.heads = op.countHeads();
  spec.causal = op.getCausal();
  spec.scale = ll::detail::getScaleOrDefault(op.getScaleAttr(), spec.headDim);
  FailureOr<RowsValue> query =
      lookupRows(c, op, op.getQuery(), spec.heads * spec.headDim);
  if (failed(query) || failed(c.bindCache(op, cache)) ||
      failed(bindSequences(c, op, blocks, op.getSeqLens())) ||
      failed(bindOffsets(c, op)) || failed(c.bindLayer(op, op.getLayer())))
    return failure();
  SmallVector<BufferAccess> accesses{{query->buffer, false, std::nullopt}};
  KernelWeights weights;
  if (failed(addMaskAndSinks(c, op, op.getMask(), op.getSinks(),
                             /*perToken=*/op.isRagged(), spec, weights,
                             accesses)))
    return failure();
  RowsValue out =
      c.createResult(op.getOutput(), *query, spec.heads * valueDim(spec));
  WorkShare share = query->itemShare(spec.heads);
  BufferAccess touches{Value(), false, std::nullopt};
  auto name = [&](StringRef kind) {
    return kernelName(kind + "_" + Twine(spec.kvFormat),
                      {spec.heads, spec.kvHeads, spec.headDim});
  };
  if (c.hasStaticRows()) { // Only a runtime says when to split.
    accesses.push_back({out.buffer, true, share});
    c.call(op.getLoc(), name("paged_attention"), spec, weights, accesses,
           touches);
    return success();
  }
  PartialResults size = partialResults(spec);
  spec.partialRows = size.rows;
  Value partials = c.createScratch(op.getLoc(), size.rows, size.columns).buffer;
  SmallVector<BufferAccess> merged;
  if (spec.sinks == OperandPlace::Buffer)
    merged.push_back(accesses.back());
  merged.append({{partials, false, share}, {out.buffer, true, share}});
  accesses.append({{partials, true, share}, {out.buffer, true, share}});
  c.call(op.getLoc(), name("paged_attention"), spec, weights, accesses,
         touches);
  c.waitIfSplit(op.getLoc());
  MergeAttentionSpec merge;
  static_cast<PagedAttentionSpec &>(merge) = spec;
  c.call(op.getLoc(), name("merge_attention"), merge, weights, merged);
  return success();
}

static LogicalResult convert(ProgramConversion &c, ll::PagedAttentionOp op) {
  return attend(c, op, op.getCache().getType(), op.getBlockIndices());
}

static LogicalResult convert(ProgramConversion &c, ll::FusedAttentionOp op) {
  ll::PagedKVCacheType cache = op.getUpdatedCache().getType();
  if (failed(append(c, op, cache)))
    return failure();
  return attend(c, op, cache, op.getBlockTables());
}

void addCacheConversions(ConversionTable &table) {
  table.add<ll::AppendKVOp>(convert);
  table.add<ll::LookupKVOp>(convert, OpForm::Exact);
  table.add<ll::PagedAttentionOp>(convert);
  table.add<ll::FusedAttentionOp>(convert);
}

} // namespace llmir
