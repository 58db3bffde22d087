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
  return {format,
          static_cast<int64_t>(cache.getNumHeads()),
          static_cast<int64_t>(cache.getHeadDim()),
          static_cast<int64_t>(cache.getValueDim()),
          static_cast<int64_t>(cache.getBlockSize()),
          cache.getValuesInKeys()};
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
           << " tokens to each sequence, but the cache has room for at most "
           << cache.getMaxSeqLen();
  return op->emitOpError("is batched; programs append to ragged batches: "
                         "run -llm-lower-kv-cache-ops first");
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
      c.lookupTokens(op, op.getKeys(), geometry.kvHeads * geometry.headDim);
  FailureOr<RowsValue> values =
      c.lookupTokens(op, op.getValues(), geometry.kvHeads * geometry.valueDim);
  if (failed(keys) || failed(values) || failed(c.bindCache(op, cache)) ||
      failed(c.bindSlots(op, op.getSlotMapping())) ||
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

/// The sequences that rows of block indices name.
template <typename OpTy>
static SequenceOperands namedSequences(OpTy op, ll::PagedKVCacheType cache) {
  SequenceOperands operands;
  operands.blocks = op.getBlockIndices();
  operands.lengths = op.getSeqLens();
  operands.layer = op.getLayer();
  operands.cache = cache;
  return operands;
}

static LogicalResult convert(FunctionConversion &c, ll::LookupKVOp op) {
  ll::PagedKVCacheType cache = op.getCache().getType();
  if (failed(c.bindCache(op, cache)))
    return failure();
  SequenceOperands named = namedSequences(op, cache);
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
      geometry.headDim, geometry.valueDim, geometry.blockSize,
      geometry.valuesInKeys, shape[1]);
  return success();
}

//===----------------------------------------------------------------------===//
// paged_attention, fused_attention
//===----------------------------------------------------------------------===//

/// The arrays of an op that attends to a cache.
template <typename OpTy>
static SequenceOperands sequencesOf(OpTy op, ll::PagedKVCacheType cache,
                                    TypedValue<RankedTensorType> blocks) {
  SequenceOperands operands;
  operands.blocks = blocks;
  operands.lengths = op.getSeqLens();
  operands.offsets = op.getQueryOffsets();
  operands.layer = op.getLayer();
  operands.cache = cache;
  ArrayRef<int64_t> query = tensorShape(op.getQuery().getType());
  operands.numQueries = op.isRagged() ? query[0] : query[0] * query[1];
  operands.queriesPerSequence = op.isRagged() ? 0 : op.countQueries();
  if (op.getMask())
    operands.maskColumns = tensorShape(op.getMask().getType()).back();
  return operands;
}

/// Attends to a cache: paged_attention, and the second half of fused_attention.
template <typename OpTy>
static LogicalResult attend(ProgramConversion &c, OpTy op,
                            ll::PagedKVCacheType cache,
                            TypedValue<RankedTensorType> blocks) {
  CacheAttention attention(op, geometryOf(cache), op.countHeads());
  FailureOr<RowsValue> query =
      c.lookupTokens(op, op.getQuery(), attention.queryColumns());
  if (failed(query) || failed(c.bindCache(op, cache)) ||
      failed(c.bindSequences(op, sequencesOf(op, cache, blocks))) ||
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
  Value partials;
  if (c.policy.splitsAttention) {
    kernel::PartialResults size = attention.shape().partialResults();
    partials = c.createScratch(op.getLoc(), size.rows, size.columns).buffer;
  }
  attention.attend(c, op.getLoc(), name("paged_attention"), *query, partials,
                   out);
  if (partials)
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

static LogicalResult convert(FunctionConversion &c, ll::BlockTablesOp op) {
  ll::PagedKVCacheType cache = op.getCache().getType();
  if (failed(c.bindCache(op, cache)))
    return failure();
  SequenceOperands named = namedSequences(op, cache);
  FailureOr<SequenceArrays> sequences =
      findSequences(c, op, named, /*room=*/-1);
  if (failed(sequences))
    return failure();
  c.bind(op.getBlockTables(), sequences->tables);
  return success();
}

void addCacheConversions(ConversionTable &table) {
  table.add<ll::AppendKVOp>(convert);
  table.addForFunctions<ll::LookupKVOp>(
      convert,
      "has a fixed number of result rows; the number of rows of a step is "
      "that of its tokens",
      OpForm::Exact);
  table.addForFunctions<ll::BlockTablesOp>(
      convert,
      "cannot be part of a step: the runtime computes block tables before it",
      OpForm::Exact);
  table.add<ll::PagedAttentionOp>(convert);
  table.add<ll::FusedAttentionOp>(convert);
}

} // namespace llmir
