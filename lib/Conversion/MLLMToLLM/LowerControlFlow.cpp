//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Converts counted loops to loops with a condition. mllm.cf.if and
// mllm.cf.while are converted with programs.
//
//===----------------------------------------------------------------------===//

#include "OpLowering.h"

#include "llmir/Dialect/MLLM/MLLMCFOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace llmir {

/// The carried values are the induction variable and those of the loop.
static LogicalResult lower(OpLowering &l, mllm::ForOp op) {
  Value count = op.getCount();
  RankedTensorType number = OpLowering::type(count);
  auto zero = DenseElementsAttr::get(
      number, l.b().getIntegerAttr(number.getElementType(), 0));
  SmallVector<Value> inits{l.constant(zero)};
  llvm::append_range(inits, op.getInits());
  TypeRange types = ValueRange(inits).getTypes();
  auto loop = mllm::WhileOp::create(l.b(), types, inits);
  SmallVector<Location> places(types.size(), op.getLoc());

  Block &condition = loop.getCondition().emplaceBlock();
  condition.addArguments(types, places);
  l.b().setInsertionPointToEnd(&condition);
  Value isLess = l.elementwise(
      number.clone(l.b().getI1Type()), {condition.getArgument(0), count},
      [](OpBuilder &b, Location loc, ValueRange n) -> Value {
        return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, n[0],
                                     n[1]);
      });
  SmallVector<Value> yielded{isLess};
  llvm::append_range(yielded, condition.getArguments());
  mllm::YieldOp::create(l.b(), yielded);

  loop.getBody().takeBody(op.getBody());
  auto end = cast<mllm::YieldOp>(loop.getBody().front().getTerminator());
  l.b().setInsertionPoint(end);
  Value turn = loop.getBody().getArgument(0);
  Value next = l.elementwise(
      number, turn, [&](OpBuilder &b, Location loc, ValueRange n) -> Value {
        Value one = arith::ConstantOp::create(
            b, loc, b.getIntegerAttr(number.getElementType(), 1));
        return arith::AddIOp::create(b, loc, n[0], one);
      });
  end->insertOperands(0, next);
  l.b().setInsertionPointAfter(loop);
  return l.replace(loop.getResults().drop_front());
}

void addControlFlowLowerings(LoweringTable &table) {
  table.add<mllm::ForOp>(lower);
}

} // namespace llmir
