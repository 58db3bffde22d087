//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registration of the dialect and verification of its discardable attributes.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLM/IR/LLM.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/InliningUtils.h"

#include "mlir/Dialect/LLM/IR/LLMDialect.cpp.inc"

using namespace mlir;
using namespace mlir::llm;

namespace {
/// Ops of the dialect depend only on their operands, so they can be inlined
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

/// Rules of the attributes, cited by tests as dialect.c1, …:
/// - c1: `llm.layer` is a unit attribute of functions;
/// - c2: `llm.num_ranks` is a positive i64 attribute of functions, at most
///   65536, since every rank has its own values;
/// - c3: `llm.shard_dim` is an i64 attribute of arguments and results of a
///   function with `llm.num_ranks`;
/// - c4: `llm.shard_dim` is a dimension of a ranked tensor;
/// - c5: `llm.constant` is a unit attribute of arguments;
/// - c6: there is no other attribute;
/// - c7: `llm.stage` is a non-negative i64 attribute of functions.
LogicalResult LLMDialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (name == getLayerAttrName()) {
    if (!isa<FunctionOpInterface>(op) ||
        !isa<UnitAttr>(attribute.getValue())) // c1
      return op->emitError()
             << attribute.getName() << " is a unit attribute of functions";
    return success();
  }
  if (name == getNumRanksAttrName()) {
    auto ranks = dyn_cast<IntegerAttr>(attribute.getValue());
    if (!isa<FunctionOpInterface>(op) || !ranks ||
        !ranks.getType().isInteger(64) || ranks.getInt() <= 0) // c2
      return op->emitError()
             << attribute.getName()
             << " is a positive i64 attribute of functions, not "
             << attribute.getValue();
    constexpr int64_t mostRanks = 65536;
    if (ranks.getInt() > mostRanks) // c2
      return op->emitError() << attribute.getName() << " is at most "
                             << mostRanks << ", not " << ranks.getInt();
    return success();
  }
  if (name == getStageAttrName()) {
    auto stage = dyn_cast<IntegerAttr>(attribute.getValue());
    if (!isa<FunctionOpInterface>(op) || !stage ||
        !stage.getType().isInteger(64) || stage.getInt() < 0) // c7
      return op->emitError()
             << attribute.getName()
             << " is a non-negative i64 attribute of functions, not "
             << attribute.getValue();
    return success();
  }
  return op->emitError() << "unknown attribute " << attribute.getName()
                         << " of the llm dialect"; // c6
}

/// Rules c3 and c4, of an argument or a result of type `type`.
static LogicalResult verifyShardDim(Operation *op, Attribute value, Type type) {
  auto dim = dyn_cast<IntegerAttr>(value);
  if (!op->hasAttr(LLMDialect::getNumRanksAttrName()) || !dim ||
      !dim.getType().isInteger(64)) // c3
    return op->emitError()
           << "\"llm.shard_dim\" is an i64 attribute of arguments and results "
              "of a function with \"llm.num_ranks\", not "
           << value;
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || dim.getInt() < 0 || dim.getInt() >= tensor.getRank()) // c4
    return op->emitError() << "\"llm.shard_dim\" " << dim.getInt()
                           << " is not a dimension of " << type;
  return success();
}

LogicalResult LLMDialect::verifyRegionArgAttribute(Operation *op, unsigned,
                                                   unsigned argument,
                                                   NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (function && attribute.getName() == getShardDimAttrName())
    return verifyShardDim(op, attribute.getValue(),
                          function.getArgumentTypes()[argument]);
  if (attribute.getName() == getConstantAttrName()) {
    if (!isa<UnitAttr>(attribute.getValue())) // c5
      return op->emitError()
             << attribute.getName() << " is a unit attribute of arguments, not "
             << attribute.getValue();
    return success();
  }
  return op->emitError() << "unknown attribute " << attribute.getName()
                         << " of an argument"; // c6
}

LogicalResult LLMDialect::verifyRegionResultAttribute(
    Operation *op, unsigned, unsigned result, NamedAttribute attribute) {
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (function && attribute.getName() == getShardDimAttrName())
    return verifyShardDim(op, attribute.getValue(),
                          function.getResultTypes()[result]);
  return op->emitError() << "unknown attribute " << attribute.getName()
                         << " of a result"; // c6
}
