//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Helpers shared by verifiers.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DIALECT_LLM_IR_LLMVERIFICATION_H
#define LLMIR_LIB_DIALECT_LLM_IR_LLMVERIFICATION_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"

namespace mlir::llm {

/// True unless both sizes are known and differ.
inline bool sizesAgree(int64_t a, int64_t b) {
  return ShapedType::isDynamic(a) || ShapedType::isDynamic(b) || a == b;
}

/// True if the ranks are equal and no pair of corresponding sizes is known and
/// differs.
inline bool shapesAgree(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b) {
  return a.size() == b.size() &&
         llvm::all_of(llvm::zip_equal(a, b), [](auto sizes) {
           return sizesAgree(std::get<0>(sizes), std::get<1>(sizes));
         });
}

inline RankedTensorType tensorType(Value value) {
  return llvm::cast<RankedTensorType>(value.getType());
}

/// Verifies that an attribute that repeats a parameter of a type agrees with
/// it.
llvm::LogicalResult verifyRepeated(Operation *op, llvm::StringRef name,
                                   std::optional<int64_t> given, int64_t actual,
                                   llvm::StringRef owner);

/// Verifies that the epsilon attribute `name` is finite and not negative.
llvm::LogicalResult verifyEps(Operation *op, llvm::StringRef name,
                              FloatAttr eps);

/// Verifies that a quantized weight of an op without a scales operand has a
/// block format, which includes the scales.
llvm::LogicalResult verifyHasScales(Operation *op, Type weight);

/// Formats a shape for diagnostics: `[4, ?, 64]`.
std::string shapeToString(llvm::ArrayRef<int64_t> shape);

} // namespace mlir::llm

#endif // LLMIR_LIB_DIALECT_LLM_IR_LLMVERIFICATION_H
