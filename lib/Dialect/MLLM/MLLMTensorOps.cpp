//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/MLLMTensorOps.h"

#include "mlir/Dialect/LLM/IR/LLM.h"

using namespace mlir;
using namespace llmir::mllm;

#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/MLLMTensorOps.cpp.inc"

void MLLMDialect::addTensorOps() {
  addOperations<
#define GET_OP_LIST
#include "llmir/Dialect/MLLM/MLLMTensorOps.cpp.inc"
      >();
}

void RegisterOp::build(OpBuilder &builder, OperationState &state,
                       StringRef name, Type type, StringRef source,
                       std::optional<int64_t> ropeUnpermuteHeads) {
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.sym_name = builder.getStringAttr(name);
  properties.type = TypeAttr::get(type);
  properties.source = builder.getStringAttr(source);
  if (ropeUnpermuteHeads)
    properties.rope_unpermute_heads =
        builder.getI64IntegerAttr(*ropeUnpermuteHeads);
}

LogicalResult RegisterOp::verify() {
  std::optional<ArrayRef<int64_t>> shape = parameterShape(getType());
  // c1
  if (!shape)
    return emitOpError() << "has type " << getType()
                         << ", want a ranked tensor of f32, f16 or bf16, or an "
                            "!llm.quantized_tensor";
  // c2
  size_t leastRank = isa<llm::QuantizedTensorType>(getType()) ? 2 : 1;
  if (shape->size() < leastRank || shape->size() > 3)
    return emitOpError() << "has rank " << shape->size() << ", want "
                         << (leastRank == 2 ? "2 or 3" : "1, 2 or 3");
  // c3
  for (auto [index, size] : llvm::enumerate(*shape)) {
    if (ShapedType::isDynamic(size))
      return emitOpError() << "size #" << index << " is dynamic, want a number";
    if (size < 1)
      return emitOpError() << "size #" << index << " is " << size
                           << ", want at least 1";
  }
  // c4
  if (getSource().empty())
    return emitOpError() << "has an empty 'source', want a tensor's name";
  // c5
  if (std::optional<uint64_t> attr = getRopeUnpermuteHeads()) {
    int64_t heads = static_cast<int64_t>(*attr),
            rows = shape->size() == 1 ? shape->front() : shape->end()[-2];
    if (heads < 1 || rows % heads != 0 || rows / heads % 2 != 0)
      return emitOpError() << "has 'rope_unpermute_heads' " << heads
                           << ", which does not divide " << rows
                           << " rows into heads of an even number of rows";
  }
  return success();
}
