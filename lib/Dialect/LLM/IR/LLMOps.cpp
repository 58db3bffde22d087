//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Result types and builders of ops.
//
//===----------------------------------------------------------------------===//

#include "LLMPositionalOps.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace mlir::llm;

#define GET_OP_CLASSES
#include "mlir/Dialect/LLM/IR/LLMOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Result types and builders
//===----------------------------------------------------------------------===//

void EmbeddingOp::build(OpBuilder &builder, OperationState &state, Value ids,
                        Value table) {
  int64_t tokens = cast<RankedTensorType>(ids.getType()).getDimSize(0);
  auto type = RankedTensorType::get(
      {tokens, getWeightShape(table.getType())[1]}, builder.getF32Type());
  build(builder, state, type, ids, table);
}

LogicalResult LinearOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                         ValueRange operands, DictionaryAttr,
                                         OpaqueProperties, RegionRange,
                                         SmallVectorImpl<Type> &types) {
  auto x = cast<RankedTensorType>(operands[0].getType());
  SmallVector<int64_t> shape(x.getShape());
  shape.back() = getWeightShape(operands[1].getType())[0];
  types.push_back(x.clone(shape));
  return success();
}

LogicalResult MeanRowsOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location>,
                                           ValueRange operands, DictionaryAttr,
                                           OpaqueProperties, RegionRange,
                                           SmallVectorImpl<Type> &types) {
  auto x = cast<RankedTensorType>(operands[0].getType());
  int64_t offsets = cast<RankedTensorType>(operands[1].getType()).getDimSize(0);
  SmallVector<int64_t> shape(x.getShape());
  // The verifier rejects other ranks, and offsets without an element.
  if (!shape.empty())
    shape.front() = ShapedType::isDynamic(offsets)
                        ? offsets
                        : std::max<int64_t>(offsets - 1, 0);
  types.push_back(x.clone(shape));
  return success();
}

LogicalResult SelectRowsOp::inferReturnTypes(
    MLIRContext *, std::optional<Location>, ValueRange operands, DictionaryAttr,
    OpaqueProperties, RegionRange, SmallVectorImpl<Type> &types) {
  auto x = cast<RankedTensorType>(operands[0].getType());
  SmallVector<int64_t> shape(x.getShape());
  shape.front() = cast<RankedTensorType>(operands[1].getType()).getDimSize(0);
  types.push_back(x.clone(shape));
  return success();
}
