//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/MLLMInterfaces.h"

#include "llmir/Dialect/MLLM/MLLMTensorOps.h"
#include "llmir/Dialect/MLLM/StoredFormat.h"

#include "mlir/Dialect/LLM/IR/LLM.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace llmir;
using namespace llmir::mllm;

#include "llmir/Dialect/MLLM/MLLMInterfaces.cpp.inc"

/// The product of static sizes; nullopt if one is dynamic or on overflow.
static std::optional<int64_t> productOf(ArrayRef<int64_t> shape) {
  int64_t product = 1;
  for (int64_t size : shape)
    if (ShapedType::isDynamic(size) ||
        llvm::MulOverflow(product, size, product))
      return std::nullopt;
  return product;
}

std::optional<int64_t> llmir::mllm::numValuesOf(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return productOf(tensor.getShape());
  if (std::optional<ArrayRef<int64_t>> shape = parameterShape(type))
    return productOf(*shape);
  return std::nullopt;
}

std::optional<int64_t> llmir::mllm::bytesOf(Type type) {
  std::optional<int64_t> values = numValuesOf(type);
  if (!values)
    return std::nullopt;
  int64_t result = 0;
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    const int64_t each = (tensor.getElementTypeBitWidth() + 7) / 8;
    return llvm::MulOverflow(*values, each, result)
               ? std::nullopt
               : std::optional<int64_t>(result);
  }
  // Size in blocks of the stored format; without one, elements are contiguous.
  auto quantized = cast<mlir::llm::QuantizedTensorType>(type);
  if (std::optional<TensorFormat> format = storedFormat(type)) {
    std::optional<int64_t> row =
        tensorRowBytes(*format, quantized.getShape().back());
    if (!row || quantized.getShape().back() == 0)
      return std::nullopt;
    const int64_t rows = *values / quantized.getShape().back();
    return llvm::MulOverflow(rows, *row, result)
               ? std::nullopt
               : std::optional<int64_t>(result);
  }
  const int64_t width = quantized.getElementType().getIntOrFloatBitWidth();
  if (llvm::MulOverflow(*values, width, result))
    return std::nullopt;
  return llvm::divideCeil(result, 8);
}

std::optional<int64_t> llmir::mllm::detail::numResultValues(Operation *op) {
  int64_t sum = 0;
  for (Type type : op->getResultTypes()) {
    std::optional<int64_t> values = numValuesOf(type);
    if (!values || llvm::AddOverflow(sum, *values, sum))
      return std::nullopt;
  }
  return sum;
}

std::optional<int64_t> llmir::mllm::detail::bytesTouched(Operation *op) {
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  for (FlatSymbolRefAttr symbol : parameterSymbols(op)) {
    auto parameter =
        SymbolTable::lookupNearestSymbolFrom<RegisterOp>(op, symbol);
    if (!parameter)
      return std::nullopt;
    types.push_back(parameter.getType());
  }
  int64_t sum = 0;
  for (Type type : types) {
    std::optional<int64_t> bytes = bytesOf(type);
    if (!bytes || llvm::AddOverflow(sum, *bytes, sum))
      return std::nullopt;
  }
  return sum;
}

SmallVector<FlatSymbolRefAttr>
llmir::mllm::detail::parameterSymbols(Operation *op) {
  SmallVector<FlatSymbolRefAttr> result;
  for (NamedAttribute attr : op->getAttrs())
    if (auto symbol = dyn_cast<FlatSymbolRefAttr>(attr.getValue()))
      result.push_back(symbol);
  return result;
}
