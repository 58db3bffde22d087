//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// -llm-fold-constants: folds ops on constants with the interpreter.
//
//===----------------------------------------------------------------------===//

#include "PatternCounts.h"

#include "llmir/Dialect/CheckOption.h"
#include "llmir/Interpreter/Interpreter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Dialect/LLM/Transforms/Passes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::llm {
#define GEN_PASS_DEF_FOLDCONSTANTS
#include "mlir/Dialect/LLM/Transforms/Passes.h.inc"
} // namespace mlir::llm

using namespace mlir;
using namespace mlir::llm;
using llmir::reference::Tensor;

namespace {

/// True for an op whose results depend only on its operands, not on the rank
/// that runs it or on other ranks.
bool followsFromOperands(Operation *op) {
  if (!isa_and_nonnull<LLMDialect>(op->getDialect()) || !isPure(op) ||
      op->getNumOperands() == 0)
    return false;
  auto shard = dyn_cast<ShardOp>(op);
  return !isa<AllGatherOp, AllReduceOp, ReduceScatterOp>(op) &&
         (!shard || shard.getShardIndex());
}

/// The values of all operands, if they are constants.
std::optional<std::vector<Tensor>> getConstants(Operation *op) {
  std::vector<Tensor> result;
  for (Value operand : op->getOperands()) {
    Attribute constant;
    if (!matchPattern(operand, m_Constant(&constant)) ||
        !isa<TypedAttr>(constant))
      return std::nullopt;
    std::optional<Tensor> value =
        llmir::constantValue(cast<TypedAttr>(constant));
    if (!value)
      return std::nullopt;
    result.push_back(std::move(*value));
  }
  return result;
}

struct FoldToConstants : RewritePattern {
  FoldToConstants(MLIRContext *context, int64_t maxElements,
                  Pass::Statistic &count)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context),
        maxElements(maxElements), count(count) {
    setDebugName("fold-to-constants");
  }

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (!followsFromOperands(op) ||
        !llvm::all_of(op->getResultTypes(), isSmall) ||
        llvm::any_of(op->getOperandTypes(), isVast))
      return failure();
    std::optional<std::vector<Tensor>> operands = getConstants(op);
    if (!operands)
      return failure();
    // Keep an op that fails, such as a lookup of a row out of range.
    std::optional<std::vector<Tensor>> values =
        llmir::evaluateOp(op, std::move(*operands));
    if (!values)
      return failure();
    SmallVector<Value> results;
    for (auto [result, value] : llvm::zip_equal(op->getResults(), *values))
      results.push_back(arith::ConstantOp::create(
          rewriter, op->getLoc(),
          llmir::makeConstant(value,
                              cast<RankedTensorType>(result.getType()))));
    rewriter.replaceOp(op, results);
    ++count;
    return success();
  }

private:
  std::function<bool(Type)> isSmall = [this](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape() &&
           tensor.getNumElements() <= maxElements;
  };

  /// Evaluation materializes splats.
  static bool isVast(Type type) {
    constexpr int64_t kMaxElements = 1 << 24;
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape() &&
           tensor.getNumElements() > kMaxElements;
  }

  int64_t maxElements;
  Pass::Statistic &count;
};

struct FoldConstantsPass : llm::impl::FoldConstantsBase<FoldConstantsPass> {
  using FoldConstantsBase::FoldConstantsBase;

  void runOnOperation() override {
    if (failed(llmir::checkOption(getOperation()->getLoc(), maxElements, 0)))
      return signalPassFailure();
    RewritePatternSet patterns(&getContext());
    patterns.add(std::make_unique<FoldToConstants>(&getContext(), maxElements,
                                                   opsFolded));
    if (failed(applyCountedPatterns(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

} // namespace
