//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mllm-fold-constants: folds ops on constants with the interpreter.
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/CheckOption.h"
#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/Dialect/MLLM/Transforms/Passes.h"
#include "llmir/Interpreter/Interpreter.h"
#include "llmir/Interpreter/OpEvaluatorInterface.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using llmir::reference::Tensor;

namespace llmir::mllm {

#define GEN_PASS_DEF_FOLDMLLMCONSTANTS
#include "llmir/Dialect/MLLM/Transforms/Passes.h.inc"

namespace {
struct FoldMLLMConstantsPass
    : impl::FoldMLLMConstantsBase<FoldMLLMConstantsPass> {
  using FoldMLLMConstantsBase::FoldMLLMConstantsBase;

  void runOnOperation() override {
    if (failed(checkOption(getOperation().getLoc(), maxElements, 0)))
      return signalPassFailure();
    // Definitions precede uses, so that one walk folds whole chains.
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) { ops.push_back(op); });
    for (Operation *op : ops)
      if (mayFold(op) && fold(op))
        ++opsFolded;
  }

private:
  /// Evaluation materializes splats.
  static constexpr int64_t kMaxOperandElements = 1 << 20;

  static bool hasAtMost(Type type, int64_t elements) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.hasStaticShape() && !tensor.getEncoding() &&
           tensor.getNumElements() <= elements;
  }

  /// Whether the results of an op can be `mllm` constants.
  static bool isOfLevel(Dialect *dialect) {
    return dialect && (isa<MLLMDialect>(dialect) ||
                       dialect->getRegisteredInterface<OpEvaluatorInterface>());
  }

  bool mayFold(Operation *op) const {
    return isOfLevel(op->getDialect()) && op->getNumOperands() > 0 &&
           op->getNumResults() > 0 && op->getNumRegions() == 0 && isPure(op) &&
           llvm::all_of(op->getResultTypes(), [&](Type type) {
             return hasAtMost(type, maxElements);
           });
  }

  /// The values of all operands, if they are constants.
  static std::optional<std::vector<Tensor>> constantsOf(Operation *op) {
    std::vector<Tensor> result;
    for (Value operand : op->getOperands()) {
      Attribute constant;
      if (!hasAtMost(operand.getType(), kMaxOperandElements) ||
          !matchPattern(operand, m_Constant(&constant)) ||
          !isa<TypedAttr>(constant))
        return std::nullopt;
      std::optional<Tensor> value = constantValue(cast<TypedAttr>(constant));
      if (!value)
        return std::nullopt;
      result.push_back(std::move(*value));
    }
    return result;
  }

  static bool fold(Operation *op) {
    std::optional<std::vector<Tensor>> operands = constantsOf(op);
    if (!operands)
      return false;
    // Keep ops that fail, such as a lookup of a row out of range, and ops that
    // read a parameter.
    std::optional<std::vector<Tensor>> values =
        evaluateOp(op, std::move(*operands));
    if (!values)
      return false;
    OpBuilder b(op);
    SmallVector<Value> results;
    for (auto [result, value] : llvm::zip_equal(op->getResults(), *values)) {
      auto type = cast<RankedTensorType>(result.getType());
      results.push_back(
          ConstantOp::create(b, op->getLoc(), type,
                             cast<ElementsAttr>(makeConstant(value, type))));
    }
    op->replaceAllUsesWith(results);
    op->erase();
    return true;
  }
};
} // namespace

} // namespace llmir::mllm
