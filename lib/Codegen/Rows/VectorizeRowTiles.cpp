//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Codegen/Passes.h"
#include "llmir/Dialect/MLLM/ScalarFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace llmir {

#define GEN_PASS_DEF_VECTORIZEROWTILES
#include "llmir/Codegen/Passes.h.inc"

/// Functions that MLIR expands to others.
static constexpr StringLiteral kComposed[] = {"round", "tan"};

/// Functions that neither processors nor ScalarFunctions.h provide.
static constexpr StringLiteral kApproximated[] = {
    "math.acos",  "math.asin", "math.atan",  "math.atan2",
    "math.cbrt",  "math.erf",  "math.erfc",  "math.exp",
    "math.expm1", "math.log",  "math.log1p", "math.tanh"};

/// log(x) / log(base).
static Value emitLogTo(OpBuilder &b, Operation *op, double base) {
  Value log = mllm::program::emitLog(b, op->getLoc(), op->getOperand(0));
  TypedAttr factor = b.getF32FloatAttr(static_cast<float>(1 / std::log(base)));
  if (auto vector = dyn_cast<VectorType>(log.getType()))
    factor = SplatElementsAttr::get(vector, Attribute(factor));
  return arith::MulFOp::create(
      b, op->getLoc(), log, arith::ConstantOp::create(b, op->getLoc(), factor));
}

static bool isOfF32(Operation *op) {
  return op->getNumOperands() > 0 &&
         getElementTypeOrSelf(op->getOperand(0)).isF32();
}

/// The expansion of an f32 op by ScalarFunctions.h, or null; for ops whose
/// expansion may contain ops that are expanded in turn.
static Value emitCompound(OpBuilder &b, Operation *op) {
  using namespace mllm::program;
  if (!isOfF32(op))
    return Value();
  Location loc = op->getLoc();
  Value x = op->getOperand(0);
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::PowFOp power) {
        return emitPower(b, loc, x, power.getRhs());
      })
      .Case([&](math::Atan2Op angle) {
        return emitAtan2(b, loc, x, angle.getRhs());
      })
      .Case([&](math::Exp2Op) { return emitExp2(b, loc, x); })
      .Case([&](math::SinhOp) { return emitSinh(b, loc, x); })
      .Case([&](math::CoshOp) { return emitCosh(b, loc, x); })
      .Case([&](math::AsinhOp) { return emitAsinh(b, loc, x); })
      .Case([&](math::AcoshOp) { return emitAcosh(b, loc, x); })
      .Case([&](math::AtanhOp) { return emitAtanh(b, loc, x); })
      .Case([&](math::CbrtOp) { return emitCbrt(b, loc, x); })
      .Default(Value());
}

/// The same for ops that do not occur in other expansions.
static Value emitFunction(OpBuilder &b, Operation *op) {
  if (!isOfF32(op))
    return Value();
  Value x = op->getOperand(0);
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](math::SinOp) {
        return mllm::program::emitSin(b, op->getLoc(), x);
      })
      .Case([&](math::CosOp) {
        return mllm::program::emitCos(b, op->getLoc(), x);
      })
      .Case([&](math::LogOp) {
        return mllm::program::emitLog(b, op->getLoc(), x);
      })
      .Case([&](math::Log2Op) { return emitLogTo(b, op, 2); })
      .Case([&](math::Log10Op) { return emitLogTo(b, op, 10); })
      .Default(Value());
}

namespace {
struct VectorizeRowTilesPass
    : impl::VectorizeRowTilesBase<VectorizeRowTilesPass> {
  using VectorizeRowTilesBase::VectorizeRowTilesBase;

  void runOnOperation() override {
    if (failed(vectorizeLinalgOps()))
      return signalPassFailure();
    expandFunctions(emitCompound);
    if (failed(composeFunctions()))
      return signalPassFailure();
    expandFunctions(emitFunction);
    RewritePatternSet patterns(&getContext());
    vector::populateVectorTransferLoweringPatterns(patterns,
                                                   /*maxTransferRank=*/1);
    populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
      return llvm::is_contained(kApproximated, name);
    });
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
  }

private:
  LogicalResult composeFunctions() {
    RewritePatternSet patterns(&getContext());
    math::populateExpansionPatterns(
        patterns,
        SmallVector<StringRef>(std::begin(kComposed), std::end(kComposed)));
    return applyPatternsGreedily(getOperation(), std::move(patterns));
  }
  /// Each op is expanded once, since its expansion may contain the same op:
  /// emitLog emits math.log.
  void expandFunctions(Value (*emit)(OpBuilder &, Operation *)) {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (isa_and_present<math::MathDialect>(op->getDialect()))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      OpBuilder builder(op);
      Value result = emit(builder, op);
      if (!result)
        continue;
      op->getResult(0).replaceAllUsesWith(result);
      op->erase();
    }
  }
  LogicalResult vectorizeLinalgOps() {
    SmallVector<linalg::LinalgOp> ops;
    getOperation().walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops) {
      rewriter.setInsertionPoint(op);
      FailureOr<linalg::VectorizationResult> result =
          linalg::vectorize(rewriter, op);
      if (failed(result))
        return op.emitOpError("cannot be vectorized");
      rewriter.replaceOp(op, result->replacements);
      ++numVectorized;
    }
    return success();
  }
};
} // namespace

} // namespace llmir
