//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/MLLMDialect.h"

#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace llmir::mllm;

#include "llmir/Dialect/MLLM/MLLMDialect.cpp.inc"

namespace {
/// Ops of the dialect may be used in functions and inlined.
struct FunctionInliner : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final {
    return true;
  }
  /// Inlining into a branch or a loop.
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const final {
    return true;
  }
};
} // namespace

void MLLMDialect::initialize() {
  addInterfaces<FunctionInliner>();
  addAttributes();
  addGraphOps();
  addCFOps();
  addTensorOps();
  addElementwiseOps();
  addShapeOps();
  addIndexOps();
  addNNOps();
  addAttentionOps();
  addVisionOps();
  addSignalOps();
  addProgramOps();
  addKernelOps();
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
