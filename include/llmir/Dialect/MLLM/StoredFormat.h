//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The correspondence between element types of parameters, weights and caches
// and the rows of TensorFormats.def.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_STOREDFORMAT_H
#define LLMIR_DIALECT_MLLM_STOREDFORMAT_H

#include "llmir/Support/TensorFormat.h"

#include "mlir/IR/BuiltinTypes.h"

#include <optional>
#include <string>

namespace llmir::mllm {

/// Returns the storage format of a type (a float, a tensor of floats, or a
/// quantized tensor with a block format); nullopt for any other type.
std::optional<TensorFormat> storedFormat(mlir::Type type);

/// Returns the name of that format; empty if there is none.
std::string storedFormatName(mlir::Type type);

/// Returns the name of the packed form of a weight in a program: that of a
/// plain format, or of the IntegerFormat of a block format; empty if there is
/// none.
std::string packedFormatName(mlir::Type type);

/// Returns the type of a tensor stored in `format`.
mlir::Type storedType(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> shape,
                      TensorFormat format);

/// Checks that a parameter of `shape` can be the rows from slice[0] on of a
/// stored tensor with slice[1] rows, or the columns with `slicesColumns`, and
/// stored as [columns, rows] (`transposed`). Returns an error message, or
/// nullopt.
std::optional<std::string>
problemOfStoredPlace(llvm::ArrayRef<int64_t> shape,
                     std::optional<llvm::ArrayRef<int64_t>> slice,
                     bool transposed, bool slicesColumns);

/// Sets the rows of a stored tensor that are a parameter from the `slice` of
/// mllm.tensor.register.
template <typename T>
void setStoredRows(T &target, std::optional<llvm::ArrayRef<int64_t>> slice) {
  if (!slice)
    return;
  target.firstRow = (*slice)[0];
  target.storedRows = (*slice)[1];
  if (slice->size() < 4)
    return;
  target.groupRows = (*slice)[2];
  target.groupStride = (*slice)[3];
}

} // namespace llmir::mllm

#endif // LLMIR_DIALECT_MLLM_STOREDFORMAT_H
