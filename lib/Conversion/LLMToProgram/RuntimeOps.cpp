//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops that the runtime executes: on the sequences of a cache, and sampling.
//
//===----------------------------------------------------------------------===//

#include "FunctionConversion.h"
#include "LayerRuns.h"

#include "llmir/Support/PackedLayout.h"

using namespace mlir;
namespace ll = mlir::llm;

namespace llmir {

/// The first element of a list, its length.
static int64_t countOf(Value vector) {
  return tensorShape(vector.getType()).front();
}

/// Ranks share the sequences of one cache manager: the list of the first rank
/// is used.
static FailureOr<RowsValue> lookupList(FunctionConversion &c, Operation *op,
                                       Value list) {
  c.selectRank(0);
  return c.lookup(op, list, countOf(list));
}

static LogicalResult convert(FunctionConversion &c, ll::CreatePagedCacheOp op) {
  return c.bindCache(op, op.getCache().getType());
}

static LogicalResult convert(FunctionConversion &c, ll::ReserveKVOp op) {
  FailureOr<RowsValue> sequences = lookupList(c, op, op.getSeqIds());
  FailureOr<int64_t> layer = constantLayer(op, op.getLayer());
  if (failed(sequences) || failed(layer) ||
      failed(c.bindCache(op, op.getUpdatedCache().getType())))
    return failure();
  Location loc = op.getLoc();
  int64_t count = countOf(op.getSeqIds()), tokens = op.getTokens();
  int64_t most = op.getUpdatedCache().getType().getMaxBlocksPerSequence();
  int64_t rowBlocks = op.getBlockIndices().getType().getDimSize(1);
  RowsValue slots = c.createScratch(loc, 1, count * tokens, c.i32());
  RowsValue blocks = c.createScratch(loc, 1, count * rowBlocks, c.i32());
  RowsValue tables = c.createScratch(loc, count, most, c.i32());
  RowsValue lengths = c.createScratch(loc, 1, count, c.i32());
  OpBuilder b(op);
  c.program.runtimeCall(
      loc, RuntimeFunction::reserve_kv,
      {sequences->buffer, slots.buffer, blocks.buffer, tables.buffer,
       lengths.buffer},
      {b.getI64IntegerAttr(*layer), b.getI64IntegerAttr(count),
       b.getI64IntegerAttr(tokens), b.getI64IntegerAttr(rowBlocks),
       b.getI64IntegerAttr(roundUpTo(most, kTileRows))});
  for (int64_t rank = 0; rank < c.numRanks(); ++rank) {
    c.selectRank(rank);
    c.bind(op.getSlots(), slots);
    c.bind(op.getBlockIndices(), blocks);
    c.bind(op.getBlockTables(), tables);
    c.bind(op.getSeqLens(), lengths);
  }
  return success();
}

static LogicalResult convert(FunctionConversion &c, ll::ForkKVOp op) {
  FailureOr<RowsValue> sources = lookupList(c, op, op.getSrcIds());
  FailureOr<RowsValue> targets = lookupList(c, op, op.getDstIds());
  if (failed(sources) || failed(targets) ||
      failed(c.bindCache(op, op.getUpdatedCache().getType())))
    return failure();
  OpBuilder b(op);
  c.program.runtimeCall(op.getLoc(), RuntimeFunction::fork_kv,
                        {sources->buffer, targets->buffer},
                        {b.getI64IntegerAttr(countOf(op.getSrcIds()))});
  return success();
}

static LogicalResult convert(FunctionConversion &c, ll::FreeKVOp op) {
  FailureOr<RowsValue> sequences = lookupList(c, op, op.getSeqIds());
  if (failed(sequences) ||
      failed(c.bindCache(op, op.getUpdatedCache().getType())))
    return failure();
  OpBuilder b(op);
  c.program.runtimeCall(op.getLoc(), RuntimeFunction::free_kv,
                        {sequences->buffer},
                        {b.getI64IntegerAttr(countOf(op.getSeqIds()))});
  return success();
}

static LogicalResult convert(FunctionConversion &c, ll::SampleOp op) {
  ArrayRef<int64_t> shape = tensorShape(op.getLogits().getType());
  FailureOr<RowsValue> logits = c.lookup(op, op.getLogits(), shape[1]);
  if (failed(logits))
    return failure();
  RowsValue ids = c.createScratch(op.getLoc(), 1, shape[0], c.i32());
  OpBuilder b(op);
  c.program.runtimeCall(
      op.getLoc(), RuntimeFunction::sample, {logits->buffer, ids.buffer},
      {b.getI64IntegerAttr(shape[0]), b.getI64IntegerAttr(shape[1]),
       b.getI64IntegerAttr(roundUpTo(shape[1], kTileRows)),
       b.getF64FloatAttr(op.getTemperature().convertToDouble()),
       b.getI64IntegerAttr(op.getTopK()),
       b.getF64FloatAttr(op.getTopP().convertToDouble()),
       b.getF64FloatAttr(op.getMinP().convertToDouble()),
       b.getI64IntegerAttr(op.getSeed())});
  c.bind(op.getIds(), ids);
  return success();
}

void addRuntimeConversions(ConversionTable &table) {
  constexpr llvm::StringLiteral kBefore =
      "cannot be part of a step: the runtime does this before it";
  constexpr llvm::StringLiteral kAfter =
      "cannot be part of a step: the engine samples after it";
  table.addForFunctions<ll::CreatePagedCacheOp>(convert, kBefore, OpForm::Exact,
                                                /*once=*/true);
  table.addForFunctions<ll::ReserveKVOp>(convert, kBefore, OpForm::Exact,
                                         /*once=*/true);
  table.addForFunctions<ll::ForkKVOp>(convert, kBefore, OpForm::Exact,
                                      /*once=*/true);
  table.addForFunctions<ll::FreeKVOp>(convert, kBefore, OpForm::Exact,
                                      /*once=*/true);
  table.addForFunctions<ll::SampleOp>(convert, kAfter, OpForm::Exact);
}

} // namespace llmir
