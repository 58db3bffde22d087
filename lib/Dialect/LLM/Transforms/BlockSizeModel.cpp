//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cost model of block sizes, and analysis of which caches of a function can
// change theirs.
//
//===----------------------------------------------------------------------===//

#include "BlockSizeModel.h"

#include "llmir/ABI/KVBlockLayout.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;
using namespace mlir::llm;

PagedKVCacheType mlir::llm::withBlockSize(PagedKVCacheType type,
                                          int64_t blockSize) {
  return PagedKVCacheType::get(
      type.getContext(), type.getElementType(), type.getNumLayers(),
      type.getNumHeads(), type.getHeadDim(), blockSize, type.getMaxSeqLen(),
      type.getValueDim(), type.getValuesInKeys());
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

/// Bytes of K and V of one head in one block in memory.
static int64_t getHeadBytes(PagedKVCacheType type, int64_t blockSize) {
  llmir::KVBlockLayout layout{};
  layout.numKVHeads = type.getNumHeads();
  layout.headDim = type.getHeadDim();
  layout.blockSize = blockSize;
  layout.elementBytes = type.getElementType().getIntOrFloatBitWidth() / 8;
  layout.valueHeadDim = type.getValueDim();
  layout.valuesInKeys = type.getValuesInKeys();
  return layout.headBytes();
}

BlockSizeCost mlir::llm::getBlockSizeCost(const CacheUse &use,
                                          int64_t blockSize,
                                          const BlockSizeModel &model) {
  double tokens = model.typicalLength;
  if (model.typicalLength == 0)
    tokens = std::max<double>(1, use.longest / 2.0);
  double wasted = (blockSize - 1) / 2.0;
  if (use.sharesPrefixes)
    wasted *= 2;
  return {double(model.streamStartBytes) / getHeadBytes(use.type, blockSize),
          wasted / (tokens + wasted)};
}

int64_t mlir::llm::chooseBlockSize(const CacheUse &use,
                                   ArrayRef<int64_t> candidates,
                                   const BlockSizeModel &model) {
  std::optional<int64_t> best;
  double least = 0;
  for (int64_t blockSize : candidates) {
    if (blockSize > use.type.getMaxSeqLen())
      continue;
    double cost = getBlockSizeCost(use, blockSize, model).total();
    if (best && (cost > least || (cost == least && blockSize > *best)))
      continue;
    best = blockSize;
    least = cost;
  }
  return best.value_or(use.type.getBlockSize());
}

//===----------------------------------------------------------------------===//
// Uses
//===----------------------------------------------------------------------===//

namespace {

/// Collects the facts about the caches of one type from the ops that use them.
class UseCollector {
public:
  explicit UseCollector(CacheUse &use) : use(use) {}

  void visitArgument(BlockArgument argument) {
    if (isa<FunctionOpInterface>(argument.getOwner()->getParentOp()))
      refuse(argument.getLoc(), "the cache is an argument of the function");
  }

  void visit(Operation *op) {
    if (auto cacheOp = dyn_cast<KVCacheOpInterface>(op))
      return visitCacheOp(cacheOp);
    // Regions forward their caches unchanged.
    bool isInside = isa<RegionBranchOpInterface>(op) ||
                    (op->hasTrait<OpTrait::IsTerminator>() &&
                     isa<RegionBranchOpInterface>(op->getParentOp()));
    if (op->hasTrait<OpTrait::IsTerminator>() && !isInside)
      refuse(op->getLoc(), "a return or a branch forwards the cache");
    else if (!isInside)
      refuse(op->getLoc(), "an op that is not a cache op uses the cache");
  }

private:
  void refuse(Location loc, StringRef reason) {
    if (!use.obstacle.empty())
      return;
    use.obstacle = reason.str();
    use.obstacleLoc = loc;
  }

  void visitCacheOp(KVCacheOpInterface op) {
    use.sharesPrefixes |= isa<ForkKVOp>(op.getOperation());
    for (Value operand : op.getBlockOperands())
      visitBlockOperand(op, operand);
    for (Value result : op.getBlockResults())
      for (OpOperand &user : result.getUses()) {
        auto reader = dyn_cast<KVCacheOpInterface>(user.getOwner());
        if (!reader || !llvm::is_contained(reader.getBlockOperands(), result))
          refuse(user.getOwner()->getLoc(),
                 "an op that is not a cache op uses block indices");
      }
  }

  /// Block indices remain valid only if an op on the cache yields them for the
  /// same block size: any cache op for rows of block indices, reserve_kv and
  /// block_tables for block tables and slots.
  void visitBlockOperand(KVCacheOpInterface op, Value operand) {
    auto maker = operand.getDefiningOp<KVCacheOpInterface>();
    auto reserve = operand.getDefiningOp<ReserveKVOp>();
    bool isSlots = reserve && operand == reserve.getSlots();
    bool isTable = (reserve && operand == reserve.getBlockTables()) ||
                   operand.getDefiningOp<BlockTablesOp>();
    if (readsRows(op, operand)) {
      if (!maker || isSlots)
        refuse(op.getLoc(), "block indices are not a result of a cache op");
      return;
    }
    if (!isTable && !isSlots)
      refuse(op.getLoc(),
             "block tables or slots are not a result of a cache op");
    if (isa<AttentionOpInterface>(op.getOperation()))
      noteTable(cast<RankedTensorType>(operand.getType()));
  }

  /// Whether the operand holds rows that identify sequences.
  static bool readsRows(KVCacheOpInterface op, Value operand) {
    if (auto attention = dyn_cast<PagedAttentionOp>(op.getOperation()))
      return !attention.isRagged();
    if (auto fused = dyn_cast<FusedAttentionOp>(op.getOperation()))
      return !fused.isRagged();
    return isa<LookupKVOp, BlockTablesOp>(op.getOperation());
  }

  void noteTable(RankedTensorType table) {
    if (table.getRank() != 2 || table.isDynamicDim(1))
      return;
    int64_t tokens = table.getDimSize(1) * use.type.getBlockSize();
    longestTable = std::max(longestTable, tokens);
    use.longest = std::min(use.type.getMaxSeqLen(), longestTable);
  }

  CacheUse &use;
  int64_t longestTable = 0;
};

} // namespace

SmallVector<CacheUse> mlir::llm::collectCacheUses(func::FuncOp func) {
  llvm::MapVector<PagedKVCacheType, CacheUse> uses;
  auto note = [&](Value value, Operation *op) {
    auto type = dyn_cast<PagedKVCacheType>(value.getType());
    if (!type)
      return;
    auto [entry, isNew] = uses.insert(
        {type,
         CacheUse{
             type, {}, {}, type.getMaxSeqLen(), false, "", func.getLoc()}});
    if (op && !llvm::is_contained(entry->second.ops, op))
      entry->second.ops.push_back(op);
    if (!op || value.getDefiningOp() == op)
      entry->second.values.push_back(value);
  };
  func.walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Value operand : op->getOperands())
      note(operand, op);
    for (Value result : op->getResults())
      note(result, op);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          note(argument, nullptr);
  });

  SmallVector<CacheUse> result;
  for (auto &[type, use] : uses) {
    UseCollector collector(use);
    for (Value value : use.values)
      if (auto argument = dyn_cast<BlockArgument>(value))
        collector.visitArgument(argument);
    for (Operation *op : use.ops)
      collector.visit(op);
    result.push_back(std::move(use));
  }
  return result;
}
