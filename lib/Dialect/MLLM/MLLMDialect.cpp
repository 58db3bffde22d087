//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramAssembly.h"

#include "llmir/Dialect/MLLM/MLLM.h"

#include "mlir/Dialect/LLM/IR/LLM.h"

using namespace mlir;
using namespace llmir::mllm;

#include "llmir/Dialect/MLLM/MLLMDialect.cpp.inc"
#include "llmir/Dialect/MLLM/MLLMEnums.cpp.inc"

#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/MLLMOps.cpp.inc"

void MLLMDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "llmir/Dialect/MLLM/MLLMOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Type predicates
//===----------------------------------------------------------------------===//

bool llmir::mllm::isF32Tensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getElementType().isF32();
}

bool llmir::mllm::isF32TensorOfRank(Type type, int64_t rank) {
  return isF32Tensor(type) && cast<RankedTensorType>(type).getRank() == rank;
}

bool llmir::mllm::hasStaticTail(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() >= 1 &&
         llvm::none_of(tensor.getShape().drop_front(), ShapedType::isDynamic);
}

bool llmir::mllm::isTokenIds(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 1 &&
         (tensor.getElementType().isSignlessInteger(32) ||
          tensor.getElementType().isSignlessInteger(64));
}

std::optional<ArrayRef<int64_t>> llmir::mllm::parameterShape(Type type) {
  if (auto quantized = dyn_cast<llm::QuantizedTensorType>(type))
    return quantized.getShape();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return std::nullopt;
  Type element = tensor.getElementType();
  if (!element.isF32() && !element.isF16() && !element.isBF16())
    return std::nullopt;
  return tensor.getShape();
}
