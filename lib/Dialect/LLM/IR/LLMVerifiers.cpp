//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The verifiers of the ops: what ODS cannot say. Labels (c1, …) are those of
// the op's description in LLMOps.td.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLM/IR/LLM.h"

#include <cmath>

using namespace mlir;
using namespace mlir::llm;

/// True unless both sizes are known and differ.
static bool sizesAgree(int64_t a, int64_t b) {
  return ShapedType::isDynamic(a) || ShapedType::isDynamic(b) || a == b;
}

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// An attribute that repeats a number of a type must agree with it.
static LogicalResult verifyRepeated(Operation *op, StringRef name,
                                    std::optional<int64_t> given,
                                    int64_t actual, StringRef owner) {
  if (!given || sizesAgree(*given, actual))
    return success();
  return op->emitOpError() << name << " is " << *given << ", but the " << owner
                           << " has " << actual;
}

LogicalResult WeightOp::verifySymbolUses(SymbolTableCollection &symbols) {
  Operation *declaration =
      symbols.lookupNearestSymbolFrom(*this, getNameAttr());
  if (!declaration) // c1
    return emitOpError() << "refers to " << getNameAttr()
                         << ", which is not declared";
  auto type = declaration->getAttrOfType<TypeAttr>("type");
  if (type && type.getValue() != getType()) { // c2
    InFlightDiagnostic diag = emitOpError()
                              << "has type " << getType() << ", but "
                              << getNameAttr() << " has type " << type;
    diag.attachNote(declaration->getLoc()) << "declared here";
    return diag;
  }
  return success();
}

LogicalResult EmbeddingOp::verify() {
  int64_t tokens = tensorType(getIds()).getDimSize(0);
  int64_t columns = getWeightShape(getTable().getType())[1];
  ArrayRef<int64_t> shape = getType().getShape();
  if (!sizesAgree(shape[0], tokens)) // c1
    return emitOpError() << "has " << tokens << " ids, but a result of "
                         << shape[0] << " rows";
  if (!sizesAgree(shape[1], columns)) // c1
    return emitOpError() << "has a table of " << columns
                         << " columns, but a result of " << shape[1];
  return success();
}

LogicalResult LinearOp::verify() {
  int64_t inputs = tensorType(getX()).getShape().back();
  ArrayRef<int64_t> weight = getWeightShape(getWeight().getType());
  if (!sizesAgree(inputs, weight[1])) // c1
    return emitOpError() << "has rows of " << inputs
                         << " numbers, but a weight of " << weight[1]
                         << " inputs";
  if (Value bias = getBias()) {
    int64_t entries = tensorType(bias).getDimSize(0);
    if (!sizesAgree(entries, weight[0])) // c2
      return emitOpError() << "has a bias of " << entries
                           << " entries, but a weight of " << weight[0]
                           << " outputs";
  }
  return success();
}

LogicalResult RMSNormOp::verify() {
  int64_t row = tensorType(getX()).getShape().back();
  int64_t entries = tensorType(getWeight()).getDimSize(0);
  if (!sizesAgree(row, entries)) // c1
    return emitOpError() << "has rows of " << row
                         << " numbers, but a weight of " << entries;
  double eps = getEps().convertToDouble();
  if (!(eps >= 0) || !std::isfinite(eps)) // c2
    return emitOpError() << "eps must be finite and not negative, not "
                         << getEpsAttr();
  return success();
}

LogicalResult RopeOp::verify() {
  int64_t tokens = tensorType(getX()).getDimSize(0);
  int64_t positions = tensorType(getPositions()).getDimSize(0);
  if (!sizesAgree(tokens, positions)) // c1
    return emitOpError() << "has " << tokens << " tokens, but " << positions
                         << " positions";

  int64_t headDim = tensorType(getX()).getDimSize(2);
  int64_t pairs = getFrequencies().size();
  if (pairs == 0 ||
      (!ShapedType::isDynamic(headDim) && 2 * pairs > headDim)) // c2
    return emitOpError() << "has " << pairs << " frequencies for heads of "
                         << headDim
                         << " numbers; from 1 to half of a head are allowed";

  for (double frequency : getFrequencies())
    if (!std::isfinite(frequency)) // c3
      return emitOpError() << "frequency " << frequency << " is not finite";
  if (!getScaling().isFinite()) // c3
    return emitOpError() << "scaling " << getScalingAttr() << " is not finite";
  return success();
}

LogicalResult SelectRowsOp::verify() {
  int64_t rank = tensorType(getX()).getRank();
  if (rank < 2) // c1
    return emitOpError() << "needs rows: x must have rank 2 or more, not "
                         << rank;
  return success();
}

//===----------------------------------------------------------------------===//
// The paged cache
//===----------------------------------------------------------------------===//

/// The ragged form says which layer it means where there is a choice.
static LogicalResult verifyLayer(Operation *op, bool isRagged, Value layer,
                                 PagedKVCacheType cache) {
  if (!isRagged || layer || cache.getNumLayers() == 1)
    return success();
  return op->emitOpError() << "needs a layer: the cache has "
                           << cache.getNumLayers() << " layers";
}

/// Rules c2 to c5: the new keys and values against the cache.
static LogicalResult verifyKeysAndValues(AppendKVOp op) {
  RankedTensorType keys = op.getKeys().getType();
  PagedKVCacheType cache = op.getCache().getType();
  if (op.isRagged() && keys.getRank() != 3) // c2
    return op.emitOpError()
           << "with slots needs keys of rank 3, not " << keys.getRank();
  if (keys != op.getValues().getType()) // c3
    return op.emitOpError()
           << "has keys of type " << keys << ", but values of type "
           << op.getValues().getType();

  Type element = keys.getElementType();
  bool isWider = op.isRagged() && element.isF32();
  if (element != cache.getElementType() && !isWider) // c4
    return op.emitOpError()
           << "has keys of " << element << ", but the cache's element type is "
           << cache.getElementType();

  int64_t heads = keys.getShape().drop_back().back();
  if (!sizesAgree(heads, cache.getNumHeads())) // c5
    return op.emitOpError()
           << "has keys of " << heads << " heads, but the cache has "
           << cache.getNumHeads();
  int64_t headDim = keys.getShape().back();
  if (!sizesAgree(headDim, cache.getHeadDim())) // c5
    return op.emitOpError()
           << "has heads of " << headDim << " numbers, but the cache's have "
           << cache.getHeadDim();
  return success();
}

/// Rule c7: one block per sequence, or per token of each sequence.
static LogicalResult verifyBlockIndices(AppendKVOp op) {
  RankedTensorType keys = op.getKeys().getType();
  auto blocks = cast<RankedTensorType>(op.getBlockIndices().getType());
  int64_t tokens = keys.getRank() == 4 ? keys.getDimSize(1) : 1;
  bool agrees = sizesAgree(blocks.getDimSize(0), keys.getDimSize(0));
  if (blocks.getRank() == 2)
    agrees &=
        blocks.getDimSize(1) == 1 || sizesAgree(blocks.getDimSize(1), tokens);
  if (agrees)
    return success();
  return op.emitOpError()
         << "has block indices of type " << blocks << " for keys of type "
         << keys << "; expected [batch], [batch, 1] or [batch, tokens]";
}

LogicalResult AppendKVOp::verify() {
  if (bool(getSeqIds()) == bool(getSlotMapping())) // c1
    return emitOpError() << "needs either sequence ids or slots";
  if (bool(getSeqIds()) != bool(getBlockIndices())) // c1
    return emitOpError()
           << "has block indices exactly when it has sequence ids";
  if (failed(verifyKeysAndValues(*this)))
    return failure();

  Value perRow = isRagged() ? getSlotMapping() : getSeqIds();
  int64_t rows = tensorType(getKeys()).getDimSize(0);
  int64_t entries = tensorType(perRow).getDimSize(0);
  if (!sizesAgree(rows, entries)) // c6
    return emitOpError() << "has keys of " << rows
                         << (isRagged() ? " tokens, but " : " sequences, but ")
                         << entries
                         << (isRagged() ? " slots" : " sequence ids");
  if (getBlockIndices() && failed(verifyBlockIndices(*this)))
    return failure();

  PagedKVCacheType cache = getCache().getType();
  if (failed(verifyRepeated(*this, "block_size", getBlockSize(),
                            cache.getBlockSize(), "cache")) ||
      failed(verifyRepeated(*this, "max_seq_len", getMaxSeqLen(),
                            cache.getMaxSeqLen(), "cache"))) // c8
    return failure();
  return verifyLayer(*this, isRagged(), getLayer(), cache); // c9
}

/// Rule c4: how many sequences there are.
static LogicalResult verifySequenceCounts(PagedAttentionOp op) {
  int64_t sequences = op.getSeqLens().getType().getDimSize(0);
  int64_t tables = op.getBlockIndices().getType().getDimSize(0);
  if (!sizesAgree(tables, sequences))
    return op.emitOpError() << "has block indices of " << tables
                            << " sequences, but lengths of " << sequences;
  if (!op.isRagged()) {
    int64_t queries = op.getQuery().getType().getDimSize(0);
    if (!sizesAgree(queries, sequences) || !sizesAgree(queries, tables))
      return op.emitOpError() << "has queries of " << queries
                              << " sequences, but lengths of " << sequences;
    return success();
  }
  int64_t offsets = op.getQueryOffsets().getType().getDimSize(0);
  if (ShapedType::isDynamic(offsets) || sizesAgree(offsets - 1, sequences))
    return success();
  return op.emitOpError()
         << "has " << offsets << " offsets, but lengths of " << sequences
         << " sequences; there is one offset more than sequences";
}

LogicalResult PagedAttentionOp::verify() {
  RankedTensorType query = getQuery().getType();
  PagedKVCacheType cache = getCache().getType();
  if (isRagged() && query.getRank() != 3) // c1
    return emitOpError() << "with offsets needs a query of rank 3, not "
                         << query.getRank();

  int64_t heads = query.getShape().drop_back().back();
  if (!ShapedType::isDynamic(heads) && heads % cache.getNumHeads() != 0) // c2
    return emitOpError() << "has " << heads
                         << " query heads, which is no multiple of the cache's "
                         << cache.getNumHeads();
  int64_t headDim = query.getShape().back();
  if (!sizesAgree(headDim, cache.getHeadDim())) // c3
    return emitOpError() << "has heads of " << headDim
                         << " numbers, but the cache's have "
                         << cache.getHeadDim();
  if (failed(verifySequenceCounts(*this)))
    return failure();

  if (std::optional<APFloat> scale = getScale())
    if (!scale->isFinite() || (scale->isNegative() && !scale->isZero())) // c5
      return emitOpError() << "scale must be finite and not negative, not "
                           << getScaleAttr();
  if (failed(
          verifyRepeated(*this, "num_heads", getNumHeads(), heads, "query")) ||
      failed(verifyRepeated(*this, "head_dim", getHeadDim(), headDim,
                            "query"))) // c6
    return failure();

  if (isRagged() && getBlockIndices().getType().getRank() != 2) // c7
    return emitOpError() << "with offsets needs block indices of rank 2, not 1";
  return verifyLayer(*this, isRagged(), getLayer(), cache); // c8
}
