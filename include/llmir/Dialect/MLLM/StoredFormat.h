//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How the types of parameters, weights and caches are stored: the one place
// where an element type is the same as a row of TensorFormats.def.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_STOREDFORMAT_H
#define LLMIR_DIALECT_MLLM_STOREDFORMAT_H

#include "llmir/Support/TensorFormat.h"

#include "mlir/IR/BuiltinTypes.h"

#include <optional>
#include <string>

namespace llmir::mllm {

/// The format in which values of the type (a float, a tensor of floats, or a
/// quantized tensor of a block format) are stored; nullopt for any other.
std::optional<TensorFormat> storedFormat(mlir::Type type);

/// Its name; empty for a type that is stored in none.
std::string storedFormatName(mlir::Type type);

/// The name of the form in which a program has a weight of that type: of a
/// plain format, or of the IntegerFormat that a block format is; empty for a
/// type that is stored in none.
std::string packedFormatName(mlir::Type type);

/// The type of a tensor that is stored in that format.
mlir::Type storedType(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> shape,
                      TensorFormat format);

/// What is wrong with saying that a parameter of `shape` is the rows from
/// slice[0] on of a stored tensor of slice[1] rows, or is stored as
/// [columns, rows] (`transposed`); nullopt where it can be so.
std::optional<std::string>
problemOfStoredPlace(llvm::ArrayRef<int64_t> shape,
                     std::optional<llvm::ArrayRef<int64_t>> slice,
                     bool transposed);

} // namespace llmir::mllm

#endif // LLMIR_DIALECT_MLLM_STOREDFORMAT_H
