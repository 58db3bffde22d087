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

#include "ProgramConversion.h"

#include "llmir/Dialect/MLLM/StoredFormat.h"

using namespace mlir;
namespace ll = mlir::llm;

namespace llmir {

static LogicalResult convert(ProgramConversion &c, ll::AppendKVOp op) {
  if (!op.isRagged())
    return op.emitOpError("is batched; a program appends to a ragged batch");
  FailureOr<RowsValue> keys = c.lookupTokens(op, op.getKeys());
  FailureOr<RowsValue> values = c.lookupTokens(op, op.getValues());
  ll::PagedKVCacheType cache = op.getCacheType();
  if (failed(keys) || failed(values) || failed(c.bindCache(op, cache)) ||
      failed(c.bindField(op, op.getSlotMapping(), StepField::slot_mapping)) ||
      failed(c.bindLayer(op, op.getLayer())))
    return failure();
  AppendKVSpec spec{mllm::storedFormatName(cache.getElementType()),
                    cache.getNumHeads(), cache.getHeadDim(),
                    cache.getBlockSize()};
  WorkShare share = keys->headShare(spec.kvHeads);
  c.call(op.getLoc(),
         kernelName(Twine("append_kv_") + spec.kvFormat,
                    {spec.kvHeads, spec.headDim}),
         spec, {},
         {{keys->buffer, false, share}, {values->buffer, false, share}},
         BufferAccess{Value(), true, share});
  return success();
}

static LogicalResult convert(ProgramConversion &c, ll::PagedAttentionOp op) {
  if (!op.isRagged() || !op.getCausal())
    return op.emitOpError("must be causal and on a ragged batch in a program");
  if (op.getMask() || op.getSinks() || op.getWindow() || op.getSoftCap() ||
      op.getAlibiSlopes())
    return op.emitOpError(
        "has a mask, sinks, window, soft cap or ALiBi slopes, "
        "for which there is no kernel");
  FailureOr<RowsValue> query = c.lookupTokens(op, op.getQuery());
  ll::PagedKVCacheType cache = op.getCache().getType();
  if (failed(query) || failed(c.bindCache(op, cache)) ||
      failed(c.bindField(op, op.getBlockIndices(), StepField::block_tables)) ||
      failed(c.bindField(op, op.getSeqLens(), StepField::seq_lens)) ||
      failed(c.bindField(op, op.getQueryOffsets(), StepField::query_offsets)) ||
      failed(c.bindLayer(op, op.getLayer())))
    return failure();
  c.bindCount(op.getLoc(), StepField::num_sequences,
              op.getSeqLens().getType().getDimSize(0));
  PagedAttentionSpec spec;
  spec.kvFormat = mllm::storedFormatName(cache.getElementType());
  spec.heads = cast<RankedTensorType>(op.getQuery().getType()).getDimSize(1);
  spec.kvHeads = cache.getNumHeads();
  spec.headDim = cache.getHeadDim();
  spec.blockSize = cache.getBlockSize();
  spec.scale = op.getScaleOrDefault();
  RowsValue out = c.createResult(op.getOutput());
  WorkShare share = query->headShare(spec.heads);
  c.call(op.getLoc(),
         kernelName(Twine("paged_attention_") + spec.kvFormat,
                    {spec.heads, spec.kvHeads, spec.headDim}),
         spec, {}, {{query->buffer, false, share}, {out.buffer, true, share}},
         BufferAccess{Value(), false, std::nullopt});
  return success();
}

void addCacheConversions(ConversionTable &table) {
  table.add<ll::AppendKVOp>(convert);
  table.add<ll::PagedAttentionOp>(convert);
}

} // namespace llmir
