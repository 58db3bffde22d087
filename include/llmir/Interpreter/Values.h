//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runtime values of the interpreter, and generation of arguments for tests: the
// interpreter and runners of compiled functions generate the same arguments
// from the same seed.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_INTERPRETER_VALUES_H
#define LLMIR_INTERPRETER_VALUES_H

#include "llmir/Reference/Cache.h"
#include "llmir/Reference/Quant.h"
#include "llmir/Reference/Tensor.h"
#include "llmir/Support/TensorFormat.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLM/IR/LLM.h"

#include <variant>

namespace llmir {

/// A value of type `!llm.quantized_tensor`.
struct QuantizedValue {
  reference::Shape shape;
  /// Without a format: the stored integers.
  reference::Tensor numbers;
  /// With a format: rows of blocks, as stored in a checkpoint.
  std::optional<TensorFormat> format;
  std::vector<uint8_t> bytes;

  /// Dequantizes the blocks of a format.
  reference::Tensor decode() const;
};

/// A tensor (scalars and indices have rank 0), a quantized tensor, or a cache.
using InterpreterValue =
    std::variant<reference::Tensor, QuantizedValue, reference::PagedCache>;

/// The reference kind of an element type; index is i64.
std::optional<reference::ElementKind> getElementKind(mlir::Type type);
/// The parameters of a quantized type.
reference::QuantSpec getQuantSpec(mlir::llm::QuantizedTensorType type);
/// Creates an empty cache of that type.
reference::PagedCache makeCache(mlir::llm::PagedKVCacheType type);
/// Returns the value of a constant, or nullopt if the interpreter does not
/// support its type.
std::optional<reference::Tensor> constantValue(mlir::TypedAttr constant);
/// Creates a constant with the elements of a tensor; `type` must be static and
/// have its shape.
mlir::DenseElementsAttr makeConstant(const reference::Tensor &tensor,
                                     mlir::RankedTensorType type);

/// Generates a value for an argument of `type`: `check.values`, or reproducible
/// random values. Floats are uniform in [-1, 1) or `check.range`; i1, i4, i8
/// and stored integers of quantized tensors take all values; i16, i32, i64 and
/// index require `check.range` or `check.values`; dynamic sizes require
/// `check.shape`. Caches are empty. `error` reports missing attributes.
mlir::FailureOr<InterpreterValue>
makeArgument(llvm::function_ref<mlir::InFlightDiagnostic()> error,
             mlir::Type type, mlir::DictionaryAttr attributes, uint64_t seed);

/// Generates whole (unsharded) values for all arguments of a function. Argument
/// i has the seed `seed` · 1000003 + i.
mlir::FailureOr<std::vector<InterpreterValue>>
makeArguments(mlir::FunctionOpInterface function, uint64_t seed);

/// Formats the type and elements of a value, or the sequences of a cache.
std::string toString(const InterpreterValue &value);

/// Bitwise equality; caches are compared by their sequences and contents.
bool sameBits(const InterpreterValue &a, const InterpreterValue &b);

} // namespace llmir

#endif // LLMIR_INTERPRETER_VALUES_H
