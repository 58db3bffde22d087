//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// LinalgOpInterface, and what its methods compute unless an op says otherwise.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMINTERFACES_H
#define LLMIR_DIALECT_MLLM_MLLMINTERFACES_H

#include "mlir/IR/OpDefinition.h"

#include <optional>

namespace llmir::mllm {

/// Values of a tensor or parameter type; nullopt while a size is dynamic, and
/// for other types.
std::optional<int64_t> numValuesOf(mlir::Type type);
/// Bytes of a tensor or parameter as it is stored; nullopt as above.
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
