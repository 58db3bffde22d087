//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a value of the IR is while a function is evaluated, and the values that
// tests run functions with. The interpreter and who runs compiled functions
// make the same arguments from the same seed.
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
  /// With a format: rows of its blocks, as a checkpoint stores them.
  std::optional<TensorFormat> format;
  std::vector<uint8_t> bytes;

  /// The numbers that the blocks of a format stand for.
  reference::Tensor decode() const;
};

/// A tensor (scalars and indices have rank 0), weights in few bits, or a cache.
using InterpreterValue =
    std::variant<reference::Tensor, QuantizedValue, reference::PagedCache>;

/// The kind of numbers of an element type; index counts as i64.
std::optional<reference::ElementKind> getElementKind(mlir::Type type);
/// The parameters of a quantized type.
reference::QuantSpec getQuantSpec(mlir::llm::QuantizedTensorType type);
/// An empty cache of that type.
reference::PagedCache makeCache(mlir::llm::PagedKVCacheType type);
/// A constant; null where its type is none that the interpreter has.
std::optional<reference::Tensor> constantValue(mlir::TypedAttr constant);
/// The constant with a tensor's numbers; `type` is static and of its shape.
mlir::DenseElementsAttr makeConstant(const reference::Tensor &tensor,
                                     mlir::RankedTensorType type);

/// A value for an argument of `type`: `check.values`, or reproducible random
/// numbers. Floats are even in [-1, 1) or `check.range`; i1, i4, i8 and stored
/// integers of quantized tensors take all values; i16, i32, i64 and index need
/// `check.range` or `check.values`; a dynamic size needs `check.shape`. A cache
/// is empty. `error` reports what is missing.
mlir::FailureOr<InterpreterValue>
makeArgument(llvm::function_ref<mlir::InFlightDiagnostic()> error,
             mlir::Type type, mlir::DictionaryAttr attributes, uint64_t seed);

/// Values for all arguments of a function, as its caller has them: whole
/// tensors where ranks are given slices (`llm.shard_dim`). Argument i has the
/// seed `seed` · 1000003 + i.
mlir::FailureOr<std::vector<InterpreterValue>>
makeArguments(mlir::FunctionOpInterface function, uint64_t seed);

/// Type and numbers, readably; of a cache its sequences.
std::string toString(const InterpreterValue &value);

/// The same kind of value with the same bits; caches are compared by their
/// sequences and what these hold.
bool sameBits(const InterpreterValue &a, const InterpreterValue &b);

} // namespace llmir

#endif // LLMIR_INTERPRETER_VALUES_H
