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

using namespace mlir;

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
      if (fold(op))
        ++opsFolded;
  }

private:
  static constexpr int64_t kMaxOperandElements = 1 << 20;

  /// Whether the results of an op can be `mllm` constants.
  static bool isOfLevel(Operation *op) {
    Dialect *dialect = op->getDialect();
    return dialect &&
           (isa<MLLMDialect>(dialect) ||
            dialect->getRegisteredInterface<OpEvaluatorInterface>()) &&
           llvm::none_of(op->getOperands(), hasEncoding) &&
           llvm::none_of(op->getResults(), hasEncoding);
  }

  /// Whether the type has an encoding, which specifies sizes or the device.
  static bool hasEncoding(Value value) {
    auto tensor = dyn_cast<RankedTensorType>(value.getType());
    return !tensor || tensor.getEncoding();
  }

  bool fold(Operation *op) {
    if (!isOfLevel(op))
      return false;
    auto values = foldOp(op, {maxElements, kMaxOperandElements});
    if (!values)
      return false;
    OpBuilder b(op);
    SmallVector<Value> results;
    for (DenseElementsAttr value : *values)
      results.push_back(ConstantOp::create(b, op->getLoc(), value.getType(),
                                           cast<ElementsAttr>(value)));
    op->replaceAllUsesWith(results);
    op->erase();
    return true;
  }
};
} // namespace

} // namespace llmir::mllm
