//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the verifiers of several files share.
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

/// True unless two sizes in the same place are known and differ, or the ranks
/// differ.
inline bool shapesAgree(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b) {
  return a.size() == b.size() &&
         llvm::all_of(llvm::zip_equal(a, b), [](auto sizes) {
           return sizesAgree(std::get<0>(sizes), std::get<1>(sizes));
         });
}

inline RankedTensorType tensorType(Value value) {
  return llvm::cast<RankedTensorType>(value.getType());
}

/// An attribute that repeats a number of a type must agree with it.
llvm::LogicalResult verifyRepeated(Operation *op, llvm::StringRef name,
                                   std::optional<int64_t> given, int64_t actual,
                                   llvm::StringRef owner);

/// A small number that is added to what is divided by, by its attribute's name.
llvm::LogicalResult verifyEps(Operation *op, llvm::StringRef name,
                              FloatAttr eps);

/// A quantized weight of an op that is not told scales must have them beside
/// its numbers.
llvm::LogicalResult verifyHasScales(Operation *op, Type weight);

/// A shape in a message: `[4, ?, 64]`.
std::string shapeToString(llvm::ArrayRef<int64_t> shape);

} // namespace mlir::llm

#endif // LLMIR_LIB_DIALECT_LLM_IR_LLMVERIFICATION_H
