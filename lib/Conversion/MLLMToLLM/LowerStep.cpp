//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops that read the positions and the cache of a step. Their form is verified
// when the needs of subgraphs are collected.
//
//===----------------------------------------------------------------------===//

#include "OpLowering.h"
#include "StepForm.h"

#include "llmir/Dialect/MLLM/MLLMStateOps.h"
#include "llmir/Dialect/MLLM/Pooling.h"

#include "mlir/Dialect/LLM/IR/LLM.h"

using namespace mlir;
namespace ll = mlir::llm;

namespace llmir {

static LogicalResult lower(OpLowering &l, mllm::CallGraphOp op) {
  return l.state.step->lowerCall(op);
}

static LogicalResult lower(OpLowering &l, mllm::PositionsOp op) {
  StepFunction &step = *l.state.step;
  return l.replace(step.widen(l.b(), step.piece(BatchPiece::Positions),
                              l.resultType().getElementType()));
}

static LogicalResult lower(OpLowering &l, mllm::RoPEOp op) {
  if (!op.getTables().empty())
    return lowerRotationByTables(l, op);
  return l.replace(
      ll::RopeOp::create(l.b(), op.getX(),
                         l.state.step->piece(BatchPiece::Positions),
                         op.getFrequenciesAttr(), op.getScalingAttr())
          .getResult());
}

/// Attention over the cache whose keys and values the op reads.
template <typename OpTy>
static LogicalResult attend(OpLowering &l, OpTy op, bool causal,
                            IntegerAttr window, bool chunked, Value sinks) {
  StepFunction &step = *l.state.step;
  Value layer = step.layer(l.b(), getCacheOp(op).getLayer());
  return l.replace(
      ll::PagedAttentionOp::create(
          l.b(), l.resultType(), op.getQ(), step.getCache(),
          step.piece(BatchPiece::BlockTables), step.piece(BatchPiece::SeqLens),
          step.piece(BatchPiece::QueryOffsets), layer, /*mask=*/Value(), sinks,
          causal, /*num_heads=*/IntegerAttr(), /*head_dim=*/IntegerAttr(),
          op.getScaleAttr(), window, op.getSoftCapAttr(),
          /*alibi_slopes=*/DenseF64ArrayAttr(), chunked)
          .getResult());
}

static LogicalResult lower(OpLowering &l, mllm::FlashAttention2Op op) {
  return attend(l, op, op.getCausal(), /*window=*/{}, /*chunked=*/false,
                /*sinks=*/{});
}

static LogicalResult lower(OpLowering &l, mllm::FlashAttention2SwaSinkOp op) {
  return attend(l, op, op.getCausal(), windowOf(op), op.getChunked(),
                op.getSAux());
}

/// Attention reads keys and values from the cache; the results of the op have
/// no other uses, and are erased after all ops are lowered.
static LogicalResult lower(OpLowering &l, mllm::KVCacheOp op) {
  if (onlyReads(op))
    return success();
  StepFunction &step = *l.state.step;
  step.setCache(ll::AppendKVOp::create(l.b(), step.getCache(), op.getK(),
                                       op.getV(),
                                       step.piece(BatchPiece::SlotMapping),
                                       step.layer(l.b(), op.getLayer()))
                    .getUpdatedCache());
  return success();
}

/// In a step, only pooling divides the tokens.
static LogicalResult lower(OpLowering &l, mllm::SliceOp op) {
  if (!OpLowering::type(op.getX()).isDynamicDim(0) || !mllm::poolsTokens(op))
    return lowerSlice(l, op);
  return l.replace(l.state.step->selectRows(l.b(), op.getLoc(), op.getX()));
}

/// The same for the mean of all tokens.
static LogicalResult lower(OpLowering &l, mllm::MeanOp op) {
  if (!OpLowering::type(op.getX()).isDynamicDim(0) || !mllm::poolsTokens(op))
    return lowerMean(l, op);
  return l.replace(l.state.step->meanRows(l.b(), op.getLoc(), op.getX()));
}

/// The states of a layer are part of the cache value.
static LogicalResult lower(OpLowering &l, mllm::CausalConvOp op) {
  StepFunction &step = *l.state.step;
  auto conv = ll::CausalConvOp::create(
      l.b(), l.resultType(), step.getCache().getType(), op.getX(),
      op.getWeight(), step.getCache(), step.piece(BatchPiece::StateSlots),
      step.piece(BatchPiece::QueryOffsets), step.layer(l.b(), op.getLayer()),
      l.b().getI64IntegerAttr(0));
  step.setCache(conv.getUpdatedCache());
  return l.replace(conv.getResult());
}

static LogicalResult lower(OpLowering &l, mllm::LinearAttentionOp op) {
  StepFunction &step = *l.state.step;
  auto attention = ll::LinearAttentionOp::create(
      l.b(), l.resultType(), step.getCache().getType(), op.getQ(), op.getK(),
      op.getV(), op.getDecay(), step.getCache(),
      step.piece(BatchPiece::StateSlots), step.piece(BatchPiece::QueryOffsets),
      step.layer(l.b(), op.getLayer()), op.getBeta(), op.getInterleavedAttr(),
      l.b().getI64IntegerAttr(step.states().tail));
  step.setCache(attention.getUpdatedCache());
  return l.replace(attention.getResult());
}

void addStepLowerings(LoweringTable &table) {
  table.addForSteps<mllm::CallGraphOp>(lower);
  table.addForSteps<mllm::PositionsOp>(lower);
  table.addForSteps<mllm::RoPEOp>(lower);
  table.addForSteps<mllm::FlashAttention2Op>(lower);
  table.addForSteps<mllm::FlashAttention2SwaSinkOp>(lower);
  table.addForSteps<mllm::KVCacheOp>(lower);
  table.addForSteps<mllm::SliceOp>(lower);
  table.addForSteps<mllm::CausalConvOp>(lower);
  table.addForSteps<mllm::LinearAttentionOp>(lower);
  table.addForSteps<mllm::MeanOp>(lower);
}

} // namespace llmir
