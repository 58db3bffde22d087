//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LinalgOpInterface and the default implementations of its methods.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMINTERFACES_H
#define LLMIR_DIALECT_MLLM_MLLMINTERFACES_H

#include "mlir/IR/OpDefinition.h"

#include <optional>

namespace llmir::mllm {

/// The number of elements of a tensor or parameter type; nullopt if a size is
/// dynamic, and for other types.
std::optional<int64_t> numValuesOf(mlir::Type type);
/// The storage size of a tensor or parameter in bytes; nullopt as above.
std::optional<int64_t> bytesOf(mlir::Type type);

namespace detail {
std::optional<int64_t> numResultValues(mlir::Operation *op);
std::optional<int64_t> bytesTouched(mlir::Operation *op);
llvm::SmallVector<mlir::FlatSymbolRefAttr>
parameterSymbols(mlir::Operation *op);
} // namespace detail

} // namespace llmir::mllm

#include "llmir/Dialect/MLLM/MLLMInterfaces.h.inc"

#endif // LLMIR_DIALECT_MLLM_MLLMINTERFACES_H
