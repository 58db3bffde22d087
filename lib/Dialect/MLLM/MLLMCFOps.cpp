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
    if (type != wanted[index])
      return (emitOpError()
              << "operand #" << index << " has type " << type
              << ", but the subgraph's result has type " << wanted[index])
                 .attachNote(subgraph.getLoc())
             << "subgraph @" << subgraph.getSymName();
  return success();
}
