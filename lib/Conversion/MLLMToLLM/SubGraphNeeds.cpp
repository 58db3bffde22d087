//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collects the additional arguments of the functions of subgraphs.
//
//===----------------------------------------------------------------------===//

#include "SubGraphNeeds.h"

#include "llmir/Conversion/Dimensions.h"
#include "llmir/Dialect/MLLM/MLLMStateOps.h"
#include "llmir/Dialect/MLLM/TensorTypes.h"

#include "llvm/ADT/TypeSwitch.h"

#include <map>

using namespace mlir;
using namespace llmir;
using namespace llmir::mllm;

KVCacheOp llmir::getCacheOp(Operation *op) {
  return TypeSwitch<Operation *, KVCacheOp>(op)
      .Case<FlashAttention2Op, FlashAttention2SwaSinkOp>([](auto attention) {
        auto cache = attention.getK().template getDefiningOp<KVCacheOp>();
        bool isOne = cache && cache.getKeys() == attention.getK() &&
                     cache.getValues() == attention.getV();
        return isOne ? cache : KVCacheOp();
      })
      .Default(KVCacheOp());
}

bool llmir::onlyReads(KVCacheOp op) {
  return tensorType(op.getK()).getDimSize(unsigned(op.getTokenDim())) == 0;
}

LogicalResult llmir::refuseWithoutBody(SubGraphOp subgraph) {
  return subgraph.emitOpError(
      "has no body; link the module that defines it first");
}

namespace {

class NeedsCollector {
public:
  NeedsCollector(const ModelFacts &facts, SymbolTable &symbols)
      : facts(facts), symbols(symbols) {}

  LogicalResult visit(SubGraphOp subgraph);
  NeedsMap takeNeeds() { return std::move(done); }

private:
  LogicalResult visitOp(Operation *op, SubGraphNeeds &needs);
  LogicalResult visitRotation(RoPEOp op, SubGraphNeeds &needs);
  LogicalResult visitCache(KVCacheOp op, SubGraphNeeds &needs);
  LogicalResult visitAttention(Operation *op, SubGraphNeeds &needs);
  template <typename OpTy>
  LogicalResult visitState(OpTy op, SubGraphNeeds &needs);
  LogicalResult visitCall(CallGraphOp op, SubGraphNeeds &needs);

  /// The layers to whose caches the ops so far, in the order in which they are
  /// executed, add tokens.
  llvm::DenseSet<int64_t> filled;
  /// The op that owns a layer's part of a state.
  std::map<std::pair<int64_t, bool>, Operation *> stateOwners;
  const ModelFacts &facts;
  SymbolTable &symbols;
  NeedsMap done;
};

LogicalResult NeedsCollector::visit(SubGraphOp subgraph) {
  if (done.contains(subgraph))
    return success();
  if (subgraph.isExternal())
    return refuseWithoutBody(subgraph);
  SubGraphNeeds needs;
  for (Operation &op : subgraph.getBody().front())
    if (failed(visitOp(&op, needs)))
      return failure();
  done.insert({subgraph, std::move(needs)});
  return success();
}

LogicalResult NeedsCollector::visitOp(Operation *op, SubGraphNeeds &needs) {
  // Attributes of any op refer to parameters; they are in alphabetical order,
  // with a weight before its bias.
  for (StringAttr attribute : llvm::reverse(op->getName().getAttributeNames()))
    if (auto name = op->getAttrOfType<FlatSymbolRefAttr>(attribute))
      if (symbols.lookup<RegisterOp>(name.getAttr()))
        needs.weights.insert(name.getAttr());
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](EmbeddingOp) {
        needs.embeds = true;
        return success();
      })
      .Case([&](RoPEOp rope) { return visitRotation(rope, needs); })
      .Case([&](PositionsOp) {
        needs.batch[unsigned(BatchPiece::Positions)] = true;
        return success();
      })
      .Case([&](KVCacheOp cache) { return visitCache(cache, needs); })
      .Case<FlashAttention2Op, FlashAttention2SwaSinkOp>(
          [&](Operation *attention) {
            return visitAttention(attention, needs);
          })
      .Case<CausalConvOp, LinearAttentionOp>(
          [&](auto state) { return visitState(state, needs); })
      .Case([&](CallGraphOp call) { return visitCall(call, needs); })
      .Default([](Operation *) { return success(); });
}

/// Fails unless the heads of tokens have no dimension for sequences.
static LogicalResult checkHeads(Operation *op, Value heads) {
  if (tensorType(heads).getRank() == 3)
    return success();
  return op->emitOpError("has heads of type ")
         << heads.getType()
         << ", with a dimension for sequences that the model's ids do not "
            "have; in a step they are [tokens, heads, head size]";
}

LogicalResult NeedsCollector::visitRotation(RoPEOp op, SubGraphNeeds &needs) {
  if (!op.getFrequencies())
    return success(); // Rotates by the position of each token.
  if (op.getLayout() != "bshd")
    return op.emitOpError("has heads before tokens and is not part of an "
                          "attention that mllm-fuse-attention recognizes; in a "
                          "step, tokens must be the first dimension");
  if (failed(checkHeads(op, op.getX())))
    return failure();
  needs.batch[unsigned(BatchPiece::Positions)] = true;
  return success();
}

/// Whether heads of `keys` begin with those of `values`: they are concatenated
/// from them and others.
static bool startsWith(Value keys, Value values) {
  auto concat = keys.getDefiningOp<ConcatOp>();
  const int64_t rank = tensorType(keys).getRank();
  return concat && dimOf(concat.getDim(), rank) == rank - 1 &&
         concat.getParts().front() == values;
}

LogicalResult NeedsCollector::visitCache(KVCacheOp op, SubGraphNeeds &needs) {
  if (op.getLayout() != "bshd" || op.getQHead())
    return op.emitOpError("has the form of explicit attention (layout bhsd, "
                          "q_head), but is not part of an attention that "
                          "mllm-fuse-attention recognizes");
  if (failed(checkHeads(op, op.getK())))
    return failure();
  int64_t layer = op.getLayer();
  if (layer >= facts.numLayers)
    return op.emitOpError()
           << "belongs to layer " << layer << ", but " << ModelFacts::attrName()
           << " specifies " << facts.numLayers << " layers";
  const int64_t valueDim =
      facts.valuesInKeys ? facts.valuesInKeys : facts.headDim;
  for (auto [value, size] :
       {std::pair(op.getK(), facts.headDim), std::pair(op.getV(), valueDim)}) {
    ArrayRef<int64_t> shape = tensorType(value).getShape();
    if (shape[1] != facts.numKVHeads || shape[2] != size)
      return op.emitOpError()
             << "stores " << shape[1] << " heads of size " << shape[2]
             << ", but " << ModelFacts::attrName() << " specifies "
             << facts.numKVHeads << " heads of size " << size;
  }
  if (facts.valuesInKeys && !startsWith(op.getK(), op.getV()))
    return op.emitOpError("stores values that are not the first part of a "
                          "concatenation, the keys, although ")
           << ModelFacts::attrName() << " specifies that keys contain values";
  for (Operation *user : op->getUsers()) {
    int64_t numRead = llvm::count_if(user->getOperands(), [&](Value operand) {
      return operand.getDefiningOp() == op;
    });
    if (getCacheOp(user) == op && numRead == 2)
      continue;
    InFlightDiagnostic diag = op.emitOpError(
        "returns keys and values that may only be used as k and v of an "
        "attention op");
    diag.attachNote(user->getLoc()) << "also used here";
    return diag;
  }
  needs.layers.insert(layer);
  if (!onlyReads(op)) {
    needs.batch[unsigned(BatchPiece::SlotMapping)] = true;
    filled.insert(layer);
  } else if (!filled.contains(layer)) {
    return op.emitOpError("adds no tokens and reads those of layer ")
           << layer << ", to which no op before it adds any";
  }
  return success();
}

LogicalResult NeedsCollector::visitAttention(Operation *op,
                                             SubGraphNeeds &needs) {
  if (!getCacheOp(op))
    return op->emitOpError(
        "requires k and v to be the results of one kv_cache op; a step reads "
        "them from the paged cache");
  for (BatchPiece piece :
       {BatchPiece::QueryOffsets, BatchPiece::SeqLens, BatchPiece::BlockTables})
    needs.batch[unsigned(piece)] = true;
  return success();
}

/// A layer keeps at most one convolution's inputs, and one recurrence's
/// matrices.
template <typename OpTy>
LogicalResult NeedsCollector::visitState(OpTy op, SubGraphNeeds &needs) {
  const auto layer = static_cast<int64_t>(op.getLayer());
  auto [owner, isNew] = stateOwners.insert(
      {{layer, std::is_same_v<OpTy, CausalConvOp>}, op.getOperation()});
  if (!isNew) {
    InFlightDiagnostic diag =
        op.emitOpError("is the second one that keeps a state in layer ")
        << layer << "; give it a layer of its own";
    diag.attachNote(owner->second->getLoc()) << "the first one";
    return diag;
  }
  needs.stateLayers.insert(layer);
  needs.batch[unsigned(BatchPiece::QueryOffsets)] = true;
  needs.batch[unsigned(BatchPiece::StateSlots)] = true;
  return success();
}

LogicalResult NeedsCollector::visitCall(CallGraphOp op, SubGraphNeeds &needs) {
  auto callee = symbols.lookup<SubGraphOp>(op.getCallee());
  if (failed(visit(callee)))
    return failure();
  const SubGraphNeeds &inner = done.find(callee)->second;
  for (unsigned i = 0; i < numBatchPieces; ++i)
    needs.batch[i] |= inner.batch[i];
  needs.embeds |= inner.embeds;
  needs.layers.insert(inner.layers.begin(), inner.layers.end());
  needs.stateLayers.insert(inner.stateLayers.begin(), inner.stateLayers.end());
  needs.weights.insert(inner.weights.begin(), inner.weights.end());
  return success();
}

} // namespace

FailureOr<NeedsMap> llmir::collectNeeds(SubGraphOp entry,
                                        const ModelFacts &facts,
                                        SymbolTable &symbols) {
  NeedsCollector collector(facts, symbols);
  if (failed(collector.visit(entry)))
    return failure();
  return collector.takeNeeds();
}
