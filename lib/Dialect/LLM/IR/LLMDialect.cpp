//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dialect: what it registers.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLM/IR/LLM.h"

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/InliningUtils.h"

#include "mlir/Dialect/LLM/IR/LLMDialect.cpp.inc"

using namespace mlir;
using namespace mlir::llm;

namespace {
/// Ops of the dialect are values of their operands alone, so they may stand
/// anywhere.
struct LLMInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void LLMDialect::initialize() {
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "mlir/Dialect/LLM/IR/LLMOps.cpp.inc"
      >();
  addInterfaces<LLMInlinerInterface>();
}

LogicalResult LLMDialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attribute) {
  if (attribute.getName() != getLayerAttrName())
    return op->emitError() << "unknown attribute " << attribute.getName()
                           << " of the llm dialect";
  if (!isa<FunctionOpInterface>(op) || !isa<UnitAttr>(attribute.getValue()))
    return op->emitError() << attribute.getName()
                           << " is a unit attribute of functions";
  return success();
}
