//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Normalizes functions before their conversion to programs. Only loops with a
// condition remain, so that the conversion to labels and jumps handles one kind
// of loop:
//
//   scf.for %i = %lb to %ub step %s     scf.while (%i = %lb, …) {
//       iter_args(…) { … }                condition(%i < %ub)
//                                       } do {
//                                         …
//                                         yield %s < %ub - %i ? %i + %s : %ub
//                                       }
//
//===----------------------------------------------------------------------===//

#include "FunctionConversion.h"
#include "ScalarRegion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace llmir {

//===----------------------------------------------------------------------===//
// Loops over the layers of a cache
//===----------------------------------------------------------------------===//

/// Maximum number of iterations of an unrolled loop.
static constexpr int64_t kMaxUnrolledIterations = 1024;

/// A loop around an op whose layer depends on the loop. The layer register of a
/// program requires constants.
static scf::ForOp findLoopOverLayers(func::FuncOp function) {
  scf::ForOp found;
  function.walk([&](Operation *op) {
    bool isComputed =
        isa_and_present<mlir::llm::LLMDialect>(op->getDialect()) &&
        llvm::any_of(op->getOperands(), [](Value operand) {
          return operand.getType().isIndex() && !constantNumber(operand);
        });
    if (isComputed)
      found = op->getParentOfType<scf::ForOp>();
    return found ? WalkResult::interrupt() : WalkResult::advance();
  });
  return found;
}

static void unrollLoopsOverLayers(func::FuncOp function) {
  while (scf::ForOp loop = findLoopOverLayers(function)) {
    std::optional<APInt> tripCount = loop.getStaticTripCount();
    if (!tripCount || tripCount->ugt(kMaxUnrolledIterations) ||
        failed(loopUnrollFull(loop)) ||
        failed(applyPatternsGreedily(function, FrozenRewritePatternSet())))
      return; // The op itself is rejected.
  }
}

//===----------------------------------------------------------------------===//
// Counted loops
//===----------------------------------------------------------------------===//

static Value compare(OpBuilder &b, Location loc, arith::CmpIPredicate predicate,
                     Value x, Value y) {
  return arith::CmpIOp::create(b, loc, predicate, x, y);
}

/// Whether there is an iteration for the induction value `iv`. If the step is
/// not positive, which may only be known at run time, there is none.
static Value emitCondition(OpBuilder &b, scf::ForOp op, Value iv) {
  Location loc = op.getLoc();
  Value isBelow = compare(b, loc,
                          op.getUnsignedCmp() ? arith::CmpIPredicate::ult
                                              : arith::CmpIPredicate::slt,
                          iv, op.getUpperBound());
  if (constantNumber(op.getStep()))
    return isBelow;
  Value zero =
      arith::ConstantOp::create(b, loc, b.getIntegerAttr(iv.getType(), 0));
  return arith::AndIOp::create(
      b, loc, isBelow,
      compare(b, loc, arith::CmpIPredicate::sgt, op.getStep(), zero));
}

/// The next induction value, saturated to the upper bound to avoid overflow.
static Value emitNext(OpBuilder &b, scf::ForOp op, Value iv) {
  Location loc = op.getLoc();
  Value rest = arith::SubIOp::create(b, loc, op.getUpperBound(), iv);
  Value isLess = compare(b, loc, arith::CmpIPredicate::ult, op.getStep(), rest);
  Value next = arith::AddIOp::create(b, loc, iv, op.getStep());
  return arith::SelectOp::create(b, loc, isLess, next, op.getUpperBound());
}

static void convertToWhile(scf::ForOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  SmallVector<Value> inits{op.getLowerBound()};
  llvm::append_range(inits, op.getInitArgs());
  SmallVector<Type> types(ValueRange(inits).getTypes());
  auto loop = scf::WhileOp::create(b, loc, types, inits);
  SmallVector<Location> locations(types.size(), loc);
  Block *condition = b.createBlock(&loop.getBefore(), {}, types, locations);
  Value hasNext = emitCondition(b, op, condition->getArgument(0));
  scf::ConditionOp::create(b, loc, hasNext, condition->getArguments());
  loop.getAfter().takeBody(op.getRegion());
  Operation *end = loop.getAfter().front().getTerminator();
  b.setInsertionPoint(end);
  end->insertOperands(0, emitNext(b, op, loop.getAfter().getArgument(0)));
  op->replaceAllUsesWith(loop.getResults().drop_front());
  op.erase();
}

//===----------------------------------------------------------------------===//
// Sizes and computed tensors
//===----------------------------------------------------------------------===//

/// The result of tensor.dim or tensor.rank, if static.
static std::optional<int64_t> knownSize(Operation *op) {
  if (auto rank = dyn_cast<tensor::RankOp>(op))
    if (auto type = dyn_cast<RankedTensorType>(rank.getTensor().getType()))
      return type.getRank();
  auto dim = dyn_cast<tensor::DimOp>(op);
  if (!dim)
    return std::nullopt;
  auto type = dyn_cast<RankedTensorType>(dim.getSource().getType());
  std::optional<int64_t> index = dim.getConstantIndex();
  if (!type || !index || *index < 0 || *index >= type.getRank() ||
      type.isDynamicDim(*index))
    return std::nullopt;
  return type.getDimSize(*index);
}

/// A generic op without inputs, whose region uses the loop indices.
static void makeGeneric(tensor::GenerateOp op) {
  OpBuilder b(op);
  auto type = cast<RankedTensorType>(op.getType());
  Value init = tensor::EmptyOp::create(b, op.getLoc(), type.getShape(),
                                       type.getElementType());
  SmallVector<utils::IteratorType> kinds(type.getRank(),
                                         utils::IteratorType::parallel);
  AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
  auto generic =
      linalg::GenericOp::create(b, op.getLoc(), type, ValueRange(), init,
                                ArrayRef<AffineMap>{identity}, kinds);
  Block *body = b.createBlock(&generic.getRegion(), {}, type.getElementType(),
                              op.getLoc());
  Block &old = op.getBody().front();
  for (auto [d, argument] : llvm::enumerate(old.getArguments()))
    argument.replaceAllUsesWith(
        linalg::IndexOp::create(b, op.getLoc(), static_cast<int64_t>(d)));
  body->getOperations().splice(body->end(), old.getOperations());
  Operation *end = body->getTerminator();
  b.setInsertionPoint(end);
  linalg::YieldOp::create(b, end->getLoc(), end->getOperands());
  end->erase();
  op->replaceAllUsesWith(generic.getResults());
  op.erase();
}

void prepareFunction(func::FuncOp function) {
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
    if (isa<tensor::DimOp, tensor::RankOp, tensor::GenerateOp>(op))
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    if (std::optional<int64_t> size = knownSize(op)) {
      OpBuilder b(op);
      op->getResult(0).replaceAllUsesWith(
          arith::ConstantIndexOp::create(b, op->getLoc(), *size));
      op->erase();
    } else if (auto generate = dyn_cast<tensor::GenerateOp>(op);
               generate && cast<RankedTensorType>(op->getResult(0).getType())
                               .hasStaticShape()) {
      makeGeneric(generate);
    }
  }
  unrollLoopsOverLayers(function);
  SmallVector<scf::ForOp> loops;
  function.walk([&](scf::ForOp loop) { loops.push_back(loop); });
  llvm::for_each(loops, convertToWhile);
}

} // namespace llmir
