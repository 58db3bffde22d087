//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/MLLMCFOps.h"

using namespace mlir;
using namespace llmir::mllm;

#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/MLLMCFOps.cpp.inc"

void MLLMDialect::addCFOps() {
  addOperations<
#define GET_OP_LIST
#include "llmir/Dialect/MLLM/MLLMCFOps.cpp.inc"
      >();
}

LogicalResult ReturnOp::verify() {
  auto subgraph = cast<SubGraphOp>((*this)->getParentOp());
  ArrayRef<Type> wanted = subgraph.getResultTypes();
  // c1
  if (getNumOperands() != wanted.size())
    return (emitOpError() << "has " << getNumOperands()
                          << " operands, but the subgraph has " << wanted.size()
                          << " results")
               .attachNote(subgraph.getLoc())
           << "subgraph @" << subgraph.getSymName();
  for (auto [index, type] : llvm::enumerate(getOperandTypes()))
    if (type != wanted[index]) // c1
      return (emitOpError()
              << "operand #" << index << " has type " << type
              << ", but the subgraph's result has type " << wanted[index])
                 .attachNote(subgraph.getLoc())
             << "subgraph @" << subgraph.getSymName();
  return success();
}

//===----------------------------------------------------------------------===//
// Shared by all region ops
//===----------------------------------------------------------------------===//

/// Returns the terminator of a region, or null, with an error, if it is not a
/// yield.
static YieldOp yieldOf(Operation *op, Region &region, StringRef name) {
  auto yield = dyn_cast<YieldOp>(region.front().back());
  if (!yield)
    op->emitOpError() << "has a region '" << name << "' that ends with '"
                      << region.front().back().getName() << "', expected '"
                      << YieldOp::getOperationName() << "'";
  return yield;
}

static bool isOneValue(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return llvm::all_of(tensor.getShape(), [](int64_t size) {
    return size == 1 || ShapedType::isDynamic(size);
  });
}

MutableOperandRange
YieldOp::getMutableSuccessorOperands(RegionSuccessor successor) {
  auto loop = dyn_cast<WhileOp>((*this)->getParentOp());
  MutableOperandRange operands = getOperandsMutable();
  if (loop && !getOperands().empty() &&
      (*this)->getParentRegion() == &loop.getCondition())
    return operands.slice(1, operands.size() - 1);
  return operands;
}

//===----------------------------------------------------------------------===//
// IfOp
//===----------------------------------------------------------------------===//

void IfOp::getSuccessorRegions(RegionBranchPoint point,
                               SmallVectorImpl<RegionSuccessor> &successors) {
  if (!point.isParent()) {
    successors.emplace_back(getOperation(), getResults());
    return;
  }
  successors.emplace_back(&getThen());
  successors.emplace_back(&getOtherwise());
}

LogicalResult IfOp::verifyRegions() {
  // c1
  if (!isOneValue(getCondition().getType()))
    return emitOpError() << "has a condition of type "
                         << getCondition().getType()
                         << ", expected a single element";
  // c2; RegionBranchOpInterface verifies c3.
  return success(yieldOf(*this, getThen(), "then") &&
                 yieldOf(*this, getOtherwise(), "else"));
}

//===----------------------------------------------------------------------===//
// WhileOp
//===----------------------------------------------------------------------===//

OperandRange WhileOp::getEntrySuccessorOperands(RegionSuccessor) {
  return getInits();
}

void WhileOp::getSuccessorRegions(
    RegionBranchPoint point, SmallVectorImpl<RegionSuccessor> &successors) {
  const bool isAfterCondition =
      !point.isParent() &&
      point.getTerminatorPredecessorOrNull()->getParentRegion() ==
          &getCondition();
  if (!isAfterCondition) {
    successors.emplace_back(&getCondition(), getCondition().getArguments());
    return;
  }
  successors.emplace_back(&getBody(), getBody().getArguments());
  successors.emplace_back(getOperation(), getResults());
}

LogicalResult WhileOp::verifyRegions() {
  // c2
  YieldOp condition = yieldOf(*this, getCondition(), "condition");
  YieldOp body = condition ? yieldOf(*this, getBody(), "body") : YieldOp();
  if (!condition || !body)
    return failure();
  // c1
  auto type = condition.getNumOperands() > 0
                  ? cast<RankedTensorType>(condition.getOperand(0).getType())
                  : RankedTensorType();
  if (!type || !type.getElementType().isInteger(1) || !isOneValue(type))
    return emitOpError()
           << "has a condition that does not yield a single truth value first";
  // RegionBranchOpInterface verifies c3.
  return success();
}

//===----------------------------------------------------------------------===//
// ForOp
//===----------------------------------------------------------------------===//

OperandRange ForOp::getEntrySuccessorOperands(RegionSuccessor) {
  return getInits();
}

void ForOp::getSuccessorRegions(RegionBranchPoint,
                                SmallVectorImpl<RegionSuccessor> &successors) {
  // The loop itself provides the iteration number.
  Block::BlockArgListType arguments = getBody().getArguments();
  successors.emplace_back(
      &getBody(), arguments.empty() ? arguments : arguments.drop_front());
  successors.emplace_back(getOperation(), getResults());
}

LogicalResult ForOp::verifyRegions() {
  // c1
  if (!isOneValue(getCount().getType()))
    return emitOpError() << "has a count of type " << getCount().getType()
                         << ", expected a single integer";
  TypeRange arguments = getBody().getArgumentTypes();
  if (arguments.empty() || arguments.front() != getCount().getType())
    return emitOpError() << "has a body whose first argument does not have the "
                            "count's type "
                         << getCount().getType();
  // c2; RegionBranchOpInterface verifies c3.
  return success(yieldOf(*this, getBody(), "body") != nullptr);
}
