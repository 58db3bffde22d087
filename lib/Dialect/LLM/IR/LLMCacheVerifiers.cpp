//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The verifiers of attention and of the cache ops. Labels (c1, …) are those of
// the op's description in LLMCacheOps.td.
//
//===----------------------------------------------------------------------===//

#include "LLMVerification.h"
#include "mlir/Dialect/LLM/IR/LLM.h"

#include <cmath>

using namespace mlir;
using namespace mlir::llm;

/// The ragged form requires a layer if the cache has several.
static LogicalResult verifyLayer(Operation *op, bool isRagged, Value layer,
                                 PagedKVCacheType cache) {
  if (!isRagged || layer || cache.getNumLayers() == 1)
    return success();
  return op->emitOpError() << "needs a layer: the cache has "
                           << cache.getNumLayers() << " layers";
}

//===----------------------------------------------------------------------===//
// Shared by all attention ops
//===----------------------------------------------------------------------===//

/// Rules attention c8, c10, c11 and c14; paged_attention c5, c9, c10 and c14.
template <typename OpTy> static LogicalResult verifyScoreAttributes(OpTy op) {
  if (std::optional<APFloat> scale = op.getScale())
    if (!scale->isFinite() || (scale->isNegative() && !scale->isZero()))
      return op.emitOpError() << "scale must be finite and not negative, not "
                              << op.getScaleAttr();
  if (std::optional<int64_t> window = op.getWindow(); window && *window <= 0)
    return op.emitOpError() << "window must be positive, not " << *window;
  if (op.getChunked() && !op.getWindow()) // c14
    return op.emitOpError() << "is chunked, but has no window";
  if (std::optional<APFloat> softCap = op.getSoftCap())
    if (!softCap->isFinite() || softCap->isNegative() || softCap->isZero())
      return op.emitOpError() << "soft_cap must be finite and positive, not "
                              << op.getSoftCapAttr();
  return success();
}

/// Rules attention c9, c12 and c13; paged_attention c6, c11 and c12: attributes
/// and operands with one element per query head.
template <typename OpTy>
static LogicalResult verifyHeadAttributes(OpTy op, int64_t heads,
                                          int64_t headDim) {
  if (failed(
          verifyRepeated(op, "num_heads", op.getNumHeads(), heads, "query")) ||
      failed(verifyRepeated(op, "head_dim", op.getHeadDim(), headDim, "query")))
    return failure();

  if (Value sinks = op.getSinks()) {
    int64_t entries = tensorType(sinks).getDimSize(0);
    if (!sizesAgree(entries, heads))
      return op.emitOpError()
             << "has " << entries << " sinks, but " << heads << " query heads";
  }
  std::optional<ArrayRef<double>> slopes = op.getAlibiSlopes();
  if (!slopes)
    return success();
  if (!sizesAgree(slopes->size(), heads))
    return op.emitOpError() << "has " << slopes->size() << " ALiBi slopes, but "
                            << heads << " query heads";
  for (double slope : *slopes)
    if (!std::isfinite(slope))
      return op.emitOpError() << "ALiBi slope " << slope << " is not finite";
  return success();
}

/// Verifies that every dimension of the mask is 1 or has the expected size,
/// except the last `numFree` ones, which may have any size. Rules attention c7
/// and paged_attention c13.
static LogicalResult verifyMask(Operation *op, Value mask,
                                ArrayRef<int64_t> expected, bool broadcasts,
                                unsigned numFree) {
  if (!mask)
    return success();
  RankedTensorType type = tensorType(mask);
  bool agrees = type.getRank() == static_cast<int64_t>(expected.size());
  if (agrees)
    for (auto [size, wanted] :
         llvm::drop_end(llvm::zip_equal(type.getShape(), expected), numFree))
      agrees &= (broadcasts && size == 1) || sizesAgree(size, wanted);
  if (agrees)
    return success();
  return op->emitOpError() << "has a mask of type " << type
                           << ", but scores of shape "
                           << shapeToString(expected);
}

//===----------------------------------------------------------------------===//
// attention
//===----------------------------------------------------------------------===//

/// Rules c1 to c3 for an operand other than the query.
static LogicalResult verifyMatchesQuery(AttentionOp op, StringRef name,
                                        RankedTensorType type) {
  RankedTensorType query = op.getQuery().getType();
  if (type.getRank() != query.getRank()) // c1
    return op.emitOpError()
           << "has a query of rank " << query.getRank() << ", but a " << name
           << " of rank " << type.getRank();
  if (type.getElementType() != query.getElementType()) // c2
    return op.emitOpError()
           << "has a query of " << query.getElementType() << ", but a " << name
           << " of " << type.getElementType();
  if (!sizesAgree(type.getDimSize(0), query.getDimSize(0))) // c3
    return op.emitOpError()
           << "has queries of " << query.getDimSize(0) << " sequences, but "
           << name << "s of " << type.getDimSize(0);
  return success();
}

/// Rules c4 to c6.
static LogicalResult verifyKeysAndValues(AttentionOp op) {
  RankedTensorType query = op.getQuery().getType();
  RankedTensorType key = op.getKey().getType();
  RankedTensorType value = op.getValue().getType();
  if (!sizesAgree(key.getDimSize(1), value.getDimSize(1))) // c4
    return op.emitOpError() << "has " << key.getDimSize(1) << " keys, but "
                            << value.getDimSize(1) << " values";
  if (!sizesAgree(query.getShape().back(), key.getShape().back())) // c5
    return op.emitOpError()
           << "has query heads of " << query.getShape().back()
           << " elements, but key heads of " << key.getShape().back();
  if (op.hasOneHead())
    return success();

  int64_t heads = query.getDimSize(2), keyHeads = key.getDimSize(2);
  if (!sizesAgree(keyHeads, value.getDimSize(2))) // c6
    return op.emitOpError() << "has keys of " << keyHeads
                            << " heads, but values of " << value.getDimSize(2);
  bool isKnown =
      !ShapedType::isDynamic(heads) && !ShapedType::isDynamic(keyHeads);
  if (isKnown && (keyHeads == 0 || heads % keyHeads != 0)) // c6
    return op.emitOpError() << "has " << heads
                            << " query heads, which is not a multiple of the "
                               "number of key heads, "
                            << keyHeads;
  return success();
}

LogicalResult AttentionOp::verify() {
  if (failed(verifyMatchesQuery(*this, "key", getKey().getType())) ||
      failed(verifyMatchesQuery(*this, "value", getValue().getType())) ||
      failed(verifyKeysAndValues(*this)))
    return failure();

  RankedTensorType query = getQuery().getType();
  int64_t keys = getKey().getType().getDimSize(1);
  int64_t heads = hasOneHead() ? 1 : query.getDimSize(2);
  SmallVector<int64_t> scores = {query.getDimSize(0), query.getDimSize(1),
                                 keys};
  if (!hasOneHead())
    scores.insert(scores.begin() + 1, heads);
  if (failed(verifyMask(*this, getMask(), scores, /*broadcasts=*/true,
                        /*numFree=*/0)) ||  // c7
      failed(verifyScoreAttributes(*this))) // c8, c10, c11, c14
    return failure();
  return verifyHeadAttributes(*this, heads,
                              query.getShape().back()); // c9, c12, c13
}

//===----------------------------------------------------------------------===//
// append_kv
//===----------------------------------------------------------------------===//

/// Rules c2 to c5: the new keys and values against the cache.
static LogicalResult verifyNewKeysAndValues(Operation *op, bool isRagged,
                                            RankedTensorType keys,
                                            RankedTensorType values,
                                            PagedKVCacheType cache) {
  if (isRagged && keys.getRank() != 3) // c2
    return op->emitOpError()
           << "with slots needs keys of rank 3, not " << keys.getRank();
  if (keys.getElementType() != values.getElementType() ||
      !shapesAgree(keys.getShape().drop_back(),
                   values.getShape().drop_back())) // c3
    return op->emitOpError()
           << "has keys of type " << keys << ", but values of type " << values;

  Type element = keys.getElementType();
  bool isWider = isRagged && element.isF32();
  if (element != cache.getComputeElementType() && !isWider) // c4
    return op->emitOpError()
           << "has keys of " << element << ", but the cache's element type is "
           << cache.getElementType();

  int64_t heads = keys.getShape().drop_back().back();
  if (!sizesAgree(heads, cache.getNumHeads())) // c5
    return op->emitOpError()
           << "has keys of " << heads << " heads, but the cache has "
           << cache.getNumHeads();
  int64_t headDim = keys.getShape().back();
  if (!sizesAgree(headDim, cache.getHeadDim())) // c5
    return op->emitOpError()
           << "has heads of " << headDim
           << " elements, but those of the cache have " << cache.getHeadDim();
  int64_t valueDim = values.getShape().back();
  if (!sizesAgree(valueDim, cache.getValueDim())) // c5
    return op->emitOpError()
           << "has value heads of " << valueDim
           << " elements, but those of the cache have " << cache.getValueDim();
  return success();
}

/// Rule c6: one slot for each token, or one id for each sequence.
static LogicalResult verifyRowCount(Operation *op, RankedTensorType keys,
                                    Value slots, Value seqIds) {
  int64_t rows = keys.getDimSize(0);
  int64_t entries = tensorType(slots ? slots : seqIds).getDimSize(0);
  if (sizesAgree(rows, entries))
    return success();
  return op->emitOpError() << "has keys of " << rows
                           << (slots ? " tokens, but " : " sequences, but ")
                           << entries << (slots ? " slots" : " sequence ids");
}

/// Rule c7: a row of block indices for each sequence.
static LogicalResult verifyBlockIndices(Operation *op, RankedTensorType keys,
                                        Value blockIndices) {
  if (!blockIndices)
    return success();
  RankedTensorType blocks = tensorType(blockIndices);
  if (sizesAgree(blocks.getDimSize(0), keys.getDimSize(0)))
    return success();
  return op->emitOpError() << "has block indices of type " << blocks
                           << " for keys of type " << keys
                           << "; expected [batch] or [batch, blocks]";
}

LogicalResult AppendKVOp::verify() {
  if (bool(getSeqIds()) == bool(getSlotMapping())) // c1
    return emitOpError() << "needs either sequence ids or slots";
  if (bool(getSeqIds()) != bool(getBlockIndices())) // c1
    return emitOpError()
           << "must have block indices if and only if it has sequence ids";
  PagedKVCacheType cache = getUpdatedCache().getType();
  if (isRagged() && !getCache()) // c11
    return emitOpError() << "with slots needs a cache operand";
  if (getCache() && getCache().getType() != cache) // c10
    return emitOpError() << "takes a cache of type " << getCache().getType()
                         << ", but yields one of type " << cache;
  if (failed(verifyNewKeysAndValues(*this, isRagged(), getKeys().getType(),
                                    getValues().getType(), cache)) ||
      failed(verifyRowCount(*this, getKeys().getType(), getSlotMapping(),
                            getSeqIds())))
    return failure();
  if (failed(verifyBlockIndices(*this, getKeys().getType(),
                                getBlockIndices()))) // c7
    return failure();
  if (failed(verifyRepeated(*this, "block_size", getBlockSize(),
                            cache.getBlockSize(), "cache")) ||
      failed(verifyRepeated(*this, "max_seq_len", getMaxSeqLen(),
                            cache.getMaxSeqLen(), "cache"))) // c8
    return failure();
  return verifyLayer(*this, isRagged(), getLayer(), cache); // c9
}

//===----------------------------------------------------------------------===//
// paged_attention and fused_attention
//===----------------------------------------------------------------------===//

/// Rule c4: the number of sequences.
static LogicalResult verifySequenceCounts(Operation *op, Value query,
                                          Value blockTables, Value seqLens,
                                          Value queryOffsets) {
  int64_t sequences = tensorType(seqLens).getDimSize(0);
  int64_t tables = tensorType(blockTables).getDimSize(0);
  if (!sizesAgree(tables, sequences))
    return op->emitOpError() << "has block indices of " << tables
                             << " sequences, but lengths of " << sequences;
  if (!queryOffsets) {
    int64_t queries = tensorType(query).getDimSize(0);
    if (!sizesAgree(queries, sequences) || !sizesAgree(queries, tables))
      return op->emitOpError() << "has queries of " << queries
                               << " sequences, but lengths of " << sequences;
    return success();
  }
  int64_t offsets = tensorType(queryOffsets).getDimSize(0);
  if (ShapedType::isDynamic(offsets) || sizesAgree(offsets - 1, sequences))
    return success();
  return op->emitOpError()
         << "has " << offsets << " offsets, but lengths of " << sequences
         << " sequences; expected one more offset than sequences";
}

/// Rules c1 to c14 of paged_attention for an op that attends to `cache`.
template <typename OpTy>
static LogicalResult verifyPaged(OpTy op, PagedKVCacheType cache,
                                 Value blockTables) {
  RankedTensorType query = op.getQuery().getType();
  if (op.isRagged() && query.getRank() != 3) // c1
    return op.emitOpError()
           << "with offsets needs a query of rank 3, not " << query.getRank();

  int64_t heads = query.getShape().drop_back().back();
  if (!ShapedType::isDynamic(heads) && heads % cache.getNumHeads() != 0) // c2
    return op.emitOpError() << "has " << heads
                            << " query heads, which is not a multiple of the "
                               "number of KV heads of the cache, "
                            << cache.getNumHeads();
  int64_t headDim = query.getShape().back();
  if (!sizesAgree(headDim, cache.getHeadDim())) // c3
    return op.emitOpError()
           << "has heads of " << headDim
           << " elements, but those of the cache have " << cache.getHeadDim();
  if (failed(verifySequenceCounts(op, op.getQuery(), blockTables,
                                  op.getSeqLens(),
                                  op.getQueryOffsets())) || // c4
      failed(verifyScoreAttributes(op)) ||                  // c5, c9, c10, c14
      failed(verifyHeadAttributes(op, heads, headDim)))     // c6, c11, c12
    return failure();

  if (op.isRagged() && tensorType(blockTables).getRank() != 2) // c7
    return op.emitOpError()
           << "with offsets needs block indices of rank 2, not 1";
  if (failed(verifyLayer(op, op.isRagged(), op.getLayer(), cache))) // c8
    return failure();

  int64_t any = ShapedType::kDynamic;
  if (op.isRagged())
    return verifyMask(op, op.getMask(), {query.getDimSize(0), any},
                      /*broadcasts=*/false, /*numFree=*/1); // c13
  int64_t tokens = query.getRank() == 4 ? query.getDimSize(1) : 1;
  return verifyMask(op, op.getMask(), {query.getDimSize(0), heads, tokens, any},
                    /*broadcasts=*/true, /*numFree=*/1); // c13
}

LogicalResult PagedAttentionOp::verify() {
  return verifyPaged(*this, getCache().getType(), getBlockIndices());
}

LogicalResult FusedAttentionOp::verify() {
  if (bool(getSeqIds()) == bool(getSlotMapping())) // c1
    return emitOpError() << "needs either sequence ids or slots";
  if (bool(getQueryOffsets()) != bool(getSlotMapping())) // c1
    return emitOpError() << "must have offsets if and only if it has slots";

  RankedTensorType keys = getKeys().getType();
  PagedKVCacheType cache = getCache().getType();
  if (failed(verifyNewKeysAndValues(*this, isRagged(), keys,
                                    getValues().getType(), cache)) ||
      failed(verifyRowCount(*this, keys, getSlotMapping(), getSeqIds())) ||
      failed(verifyBlockIndices(*this, keys, getBlockIndices()))) // c2
    return failure();
  return verifyPaged(*this, cache, getBlockTables()); // c3
}

//===----------------------------------------------------------------------===//
// Other cache ops
//===----------------------------------------------------------------------===//

/// Rules c3 and c4 for keys or values, whose heads in the cache have `size`
/// elements.
static LogicalResult verifyGathered(LookupKVOp op, StringRef name,
                                    RankedTensorType type, int64_t size) {
  PagedKVCacheType cache = op.getCache().getType();
  if (!sizesAgree(type.getDimSize(2), cache.getNumHeads())) // c3
    return op.emitOpError()
           << "yields " << name << " of " << type.getDimSize(2)
           << " heads, but the cache has " << cache.getNumHeads();
  if (!sizesAgree(type.getDimSize(3), size)) // c3
    return op.emitOpError()
           << "yields " << name << " with heads of " << type.getDimSize(3)
           << " elements, but those of the cache have " << size;
  if (type.getElementType() != cache.getComputeElementType()) // c4
    return op.emitOpError()
           << "yields " << name << " of " << type.getElementType()
           << ", but the cache's element type is " << cache.getElementType();
  return success();
}

LogicalResult LookupKVOp::verify() {
  RankedTensorType indices = getBlockIndices().getType();
  RankedTensorType keys = getKeys().getType(), values = getValues().getType();
  int64_t sequences = indices.getDimSize(0);
  const std::pair<StringRef, RankedTensorType> others[] = {
      {"lengths", getSeqLens().getType()}, {"keys", keys}, {"values", values}};
  for (auto [name, type] : others)
    if (!sizesAgree(type.getDimSize(0), sequences)) // c1
      return emitOpError() << "has block indices of " << sequences
                           << " sequences, but " << name << " of "
                           << type.getDimSize(0);
  int64_t tokens = keys.getDimSize(1);
  if (!sizesAgree(tokens, values.getDimSize(1))) // c2
    return emitOpError() << "yields keys of " << tokens
                         << " tokens, but values of " << values.getDimSize(1);

  PagedKVCacheType cache = getCache().getType();
  if (failed(verifyGathered(*this, "keys", keys, cache.getHeadDim())) ||
      failed(verifyGathered(*this, "values", values, cache.getValueDim())))
    return failure();

  if (!ShapedType::isDynamic(tokens) && tokens > cache.getMaxSeqLen()) // c5
    return emitOpError() << "yields " << tokens
                         << " tokens, but a sequence of the cache has at most "
                         << cache.getMaxSeqLen();
  if (failed(verifyRepeated(*this, "num_heads", getNumHeads(),
                            cache.getNumHeads(), "cache"))) // c6
    return failure();
  return verifyRepeated(*this, "head_dim", getHeadDim(), cache.getHeadDim(),
                        "cache"); // c6
}

LogicalResult BlockTablesOp::verify() {
  auto tables = cast<RankedTensorType>(getBlockTables().getType());
  int64_t sequences = tensorType(getBlockIndices()).getDimSize(0);
  for (int64_t other :
       {getSeqLens().getType().getDimSize(0), tables.getDimSize(0)})
    if (!sizesAgree(other, sequences)) // c1
      return emitOpError() << "has block indices of " << sequences
                           << " sequences, but lengths or tables of " << other;
  int64_t most = getCache().getType().getMaxBlocksPerSequence();
  if (tables.getRank() != 2 || tables.getDimSize(1) != most) // c2
    return emitOpError() << "yields block tables of type " << tables
                         << ", but sequences of the cache have up to " << most
                         << " blocks";
  return success();
}

LogicalResult ReserveKVOp::verify() {
  int64_t longest = getCache().getType().getMaxSeqLen();
  int64_t tokens = getTokens();
  if (tokens < 0 || tokens > longest) // c1
    return emitOpError()
           << "tokens is " << tokens
           << ", but must be between 0 and maxSeqLen of the cache, " << longest;
  return success();
}

LogicalResult ForkKVOp::verify() {
  int64_t sources = getSrcIds().getType().getDimSize(0);
  int64_t targets = getDstIds().getType().getDimSize(0);
  if (!sizesAgree(sources, targets)) // c1
    return emitOpError() << "has " << sources << " sequences to fork, but "
                         << targets << " ids of new ones";
  return success();
}
