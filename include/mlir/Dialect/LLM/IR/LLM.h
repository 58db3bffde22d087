//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The `llm` dialect: class LLMDialect, its types (PagedKVCacheType,
// QuantizedTensorType, ShardedTensorType) and its ops. Clients include only
// this header; docs/Dialects/LLM.md describes the dialect.
//
//===----------------------------------------------------------------------===//

#ifndef MLIR_DIALECT_LLM_IR_LLM_H
#define MLIR_DIALECT_LLM_IR_LLM_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "mlir/Dialect/LLM/IR/LLMDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "mlir/Dialect/LLM/IR/LLMTypes.h.inc"

namespace mlir::llm::detail {

/// The value of a numeric attribute, or nullopt if it is null.
std::optional<double> getOptionalDouble(Attribute number);
/// The value of a scale attribute, or 1 / sqrt(headDim) if it is null or 0; 0
/// if headDim is not known either.
double getScaleOrDefault(Attribute scale, int64_t headDim);

} // namespace mlir::llm::detail

#include "mlir/Dialect/LLM/IR/LLMInterfaces.h.inc"

#define GET_OP_CLASSES
#include "mlir/Dialect/LLM/IR/LLMOps.h.inc"

namespace mlir::llm {

/// The shape of a weight, plain (ranked tensor) or quantized.
llvm::ArrayRef<int64_t> getWeightShape(Type weight);

} // namespace mlir::llm

#endif // MLIR_DIALECT_LLM_IR_LLM_H
