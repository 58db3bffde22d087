//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The `mllm` dialect, its attributes and shared helpers. The ops of each level
// have their own header; MLLM.h includes them all.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMDIALECT_H
#define LLMIR_DIALECT_MLLM_MLLMDIALECT_H

#include "llmir/Dialect/MLLM/ShapeRules.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <optional>
#include <string>

#include "llmir/Dialect/MLLM/MLLMAttrEnums.h.inc"
#include "llmir/Dialect/MLLM/MLLMDialect.h.inc"
#define GET_ATTRDEF_CLASSES
#include "llmir/Dialect/MLLM/MLLMAttrs.h.inc"

namespace llmir::mllm {

/// The shape in elements of a parameter type, quantized or not; nullopt for
/// types that are not valid for parameters.
std::optional<llvm::ArrayRef<int64_t>> parameterShape(mlir::Type type);

} // namespace llmir::mllm

#endif // LLMIR_DIALECT_MLLM_MLLMDIALECT_H
