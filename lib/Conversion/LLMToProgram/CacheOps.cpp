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
#include "SequenceArrays.h"

#include "llmir/ABI/KVBlockLayout.h"
#include "llmir/Dialect/MLLM/StoredFormat.h"

using namespace mlir;
namespace ll = mlir::llm;

namespace llmir {

/// The geometry of a cache, in the form used by kernels.
static kernel::CacheGeometry geometryOf(ll::PagedKVCacheType cache) {
  // Unlike tensors, caches may have byte elements.
  std::string name = cache.getElementType().isInteger(8)
                         ? kvFormatName(KVFormat::Q8)
                         : mllm::storedFormatName(cache.getElementType());
  // The name is owned by the context.
  StringRef format = StringAttr::get(cache.getContext(), name).getValue();
  return {format, static_cast<int64_t>(cache.getNumHeads()),
          static_cast<int64_t>(cache.getHeadDim()),
          static_cast<int64_t>(cache.getValueDim()),
          static_cast<int64_t>(cache.getBlockSize())};
}

/// One row per token, of a step or of a function, for any shape.
static FailureOr<RowsValue> lookupRows(ProgramConversion &c, Operation *op,
                                       Value tensor, int64_t columns) {
  return c.hasStaticRows() ? c.lookup(op, tensor, columns)
                           : c.lookupTokens(op, tensor);
}

//===----------------------------------------------------------------------===//
// append_kv
//===----------------------------------------------------------------------===//

/// Reports a batched append, which an earlier pass lowers if possible.
static LogicalResult refuseBatched(Operation *op, Value keys,
                                   ll::PagedKVCacheType cache) {
  ArrayRef<int64_t> shape = tensorShape(keys.getType());
  int64_t tokens = shape.size() == 4 ? shape[1] : 1;
  if (tokens > cache.getMaxSeqLen())
    return op->emitOpError()
           << "appends " << tokens
           << " tokens to each sequence, but the cache is made for at most "
           << cache.getMaxSeqLen();
  return op->emitOpError("is batched; a program appends to a ragged batch, "
                         "which -llm-lower-kv-cache-ops makes of it");
}

/// Writes tokens to their slots: append_kv, and the first half of
/// fused_attention.
template <typename OpTy>
static LogicalResult append(ProgramConversion &c, OpTy op,
                            ll::PagedKVCacheType cache) {
  if (!op.isRagged())
    return refuseBatched(op, op.getKeys(), cache);
  kernel::CacheGeometry geometry = geometryOf(cache);
  FailureOr<RowsValue> keys =
      lookupRows(c, op, op.getKeys(), geometry.kvHeads * geometry.headDim);
  FailureOr<RowsValue> values =
      lookupRows(c, op, op.getValues(), geometry.kvHeads * geometry.valueDim);
  if (failed(keys) || failed(values) || failed(c.bindCache(op, cache)) ||
      failed(bindSlots(c, op, op.getSlotMapping())) ||
      failed(c.bindLayer(op, op.getLayer())))
    return failure();
  appendToCache(c, op.getLoc(), geometry, *keys, *values);
  return success();
}

static LogicalResult convert(ProgramConversion &c, ll::AppendKVOp op) {
  return append(c, op, op.getCacheType());
}

//===----------------------------------------------------------------------===//
// lookup_kv
//===----------------------------------------------------------------------===//

static LogicalResult convert(ProgramConversion &c, ll::LookupKVOp op) {
  if (!c.hasStaticRows())
    return op.emitOpError("gathers as many rows as its result has; a step "
                          "knows only those of its tokens");
  ll::PagedKVCacheType cache = op.getCache().getType();
  if (failed(c.bindCache(op, cache)))
    return failure();
  NamedSequences named{op.getBlockIndices(), op.getSeqLens(), op.getLayer(),
                       cache};
  FailureOr<SequenceArrays> sequences =
      findSequences(c, op, named, op.getKeys().getType().getDimSize(1));
  if (failed(sequences) || failed(c.bindLayer(op, op.getLayer())))
    return failure();
  bindSequences(c, op->getLoc(), *sequences);
  ArrayRef<int64_t> shape = op.getKeys().getType().getShape();
  kernel::CacheGeometry geometry = geometryOf(cache);
  RowsValue like;
  like.rows = shape[0] * shape[1];
  RowsValue keys =
      c.createResult(op.getKeys(), like, geometry.kvHeads * geometry.headDim);
  RowsValue values = c.createResult(op.getValues(), like,
                                    geometry.kvHeads * geometry.valueDim);
  if (like.rows == 0)
    return success(); // There are no rows to gather.
  c.kernel<kernel::LookupKVOp>(
      op.getLoc(),
      kernelName(Twine("lookup_kv_") + geometry.format,
                 {shape[1], geometry.kvHeads, geometry.headDim}),
      like, keys.buffer, values.buffer, geometry.format, geometry.kvHeads,
      geometry.headDim, geometry.valueDim, geometry.blockSize, shape[1]);
  return success();
}

//===----------------------------------------------------------------------===//
// paged_attention
//===----------------------------------------------------------------------===//

/// Binds the sequences of a step, which the runtime provides.
template <typename OpTy>
static LogicalResult bindStep(ProgramConversion &c, OpTy op, Value blocks) {
  if (!op.isRagged())
    return op.emitOpError("is batched; a step is a ragged batch, which "
                          "-llm-lower-kv-cache-ops makes of it");
  return failure(
      failed(c.bindField(op, blocks, StepField::block_tables)) ||
      failed(c.bindField(op, op.getSeqLens(), StepField::seq_lens)) ||
      failed(c.bindField(op, op.getQueryOffsets(), StepField::query_offsets)));
}

/// Binds the sequences of a function, in validated arrays.
template <typename OpTy>
static LogicalResult bindBatch(ProgramConversion &c, OpTy op,
                               ll::PagedKVCacheType cache,
                               TypedValue<RankedTensorType> blocks) {
  FailureOr<SequenceArrays> sequences = failure();
  if (op.isRagged()) {
    sequences =
        lookupSequences(c, op, blocks, op.getSeqLens(), op.getQueryOffsets());
  } else {
    sequences = findSequences(
        c, op, {blocks, op.getSeqLens(), op.getLayer(), cache}, /*room=*/-1);
    if (succeeded(sequences))
      sequences->offsets = c.constantRows(
          op.getLoc(), makeSteps(sequences->count + 1, op.countQueries()));
  }
  if (failed(sequences))
    return failure();
  ArrayRef<int64_t> query = tensorShape(op.getQuery().getType());
  int64_t numQueries = query.size() == 4 ? query[0] * query[1] : query[0];
  int64_t maskColumns =
      op.getMask() ? tensorShape(op.getMask().getType()).back() : 0;
  bindSequences(
      c, op.getLoc(),
      checkSequences(c, op.getLoc(), *sequences, numQueries, maskColumns));
  return success();
}

/// Attends to a cache: paged_attention, and the second half of fused_attention.
template <typename OpTy>
static LogicalResult attend(ProgramConversion &c, OpTy op,
                            ll::PagedKVCacheType cache,
                            TypedValue<RankedTensorType> blocks) {
  CacheAttention attention(op, geometryOf(cache), op.countHeads());
  FailureOr<RowsValue> query =
      lookupRows(c, op, op.getQuery(), attention.queryColumns());
  if (failed(query) || failed(c.bindCache(op, cache)) ||
      failed(c.hasStaticRows() ? bindBatch(c, op, cache, blocks)
                               : bindStep(c, op, blocks)) ||
      failed(c.bindLayer(op, op.getLayer())) ||
      failed(attention.addMaskAndSinks(c, op, op.getMask(), op.getSinks(),
                                       /*perToken=*/op.isRagged())))
    return failure();
  RowsValue out =
      c.createResult(op.getOutput(), *query, attention.outputColumns());
  auto name = [&](StringRef kind) {
    return kernelName(
        kind + "_" + Twine(attention.cache.format),
        {attention.heads, attention.cache.kvHeads, attention.cache.headDim});
  };
  if (c.hasStaticRows()) { // Attention is split only at the request of a
                           // runtime.
    attention.attend(c, op.getLoc(), name("paged_attention"), *query,
                     /*partials=*/Value(), out);
    return success();
  }
  kernel::PartialResults size = attention.shape().partialResults();
  Value partials = c.createScratch(op.getLoc(), size.rows, size.columns).buffer;
  attention.attend(c, op.getLoc(), name("paged_attention"), *query, partials,
                   out);
  c.waitIfSplit(op.getLoc());
  attention.merge(c, op.getLoc(), name("merge_attention"), partials, out);
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

//===----------------------------------------------------------------------===//
// block_tables
//===----------------------------------------------------------------------===//

static LogicalResult convert(ProgramConversion &c, ll::BlockTablesOp op) {
  if (!c.hasStaticRows())
    return op.emitOpError("is no part of a step: the runtime does it before");
  ll::PagedKVCacheType cache = op.getCache().getType();
  if (failed(c.bindCache(op, cache)))
    return failure();
  FailureOr<SequenceArrays> sequences = findSequences(
      c, op, {op.getBlockIndices(), op.getSeqLens(), op.getLayer(), cache},
      /*room=*/-1);
  if (failed(sequences))
    return failure();
  c.bind(op.getBlockTables(), sequences->tables);
  return success();
}

void addCacheConversions(ConversionTable &table) {
  table.add<ll::AppendKVOp>(convert);
  table.add<ll::LookupKVOp>(convert, OpForm::Exact);
  table.add<ll::BlockTablesOp>(convert, OpForm::Exact);
  table.add<ll::PagedAttentionOp>(convert);
  table.add<ll::FusedAttentionOp>(convert);
}

} // namespace llmir
