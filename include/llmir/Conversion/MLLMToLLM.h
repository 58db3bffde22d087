//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lowering of the `mllm` dialect (the model) to the `llm` dialect (its
// execution). Passes.td describes the pass.
//
//   ConvertMLLMToLLMOptions options;
//   options.kvElementType = "bf16";
//   pm.addPass(createConvertMLLMToLLM(options));
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_CONVERSION_MLLMTOLLM_H
#define LLMIR_CONVERSION_MLLMTOLLM_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>
#include <string>

namespace llmir {

#define GEN_PASS_DECL_CONVERTMLLMTOLLM
#include "llmir/Conversion/Passes.h.inc"

/// On an `llm.weight`: its value is that of the registered parameter, as for
/// ops of the mllm dialect.
constexpr llvm::StringLiteral kParameterAttr = "parameter";

/// Erases the module-level call of the model and its inputs.
void eraseModelCalls(mlir::ModuleOp module);

/// Converts every subgraph to a function of the same name with the same ops;
/// functions without callers are public. Other ops of the dialect at module
/// level, except parameters, are erased.
void makeFunctionsOfSubGraphs(mlir::ModuleOp module);

/// Lowers the ops of the mllm dialect in a function of static shapes to llm,
/// linalg and tensor; tensor types lose their encodings. Ops without a
/// counterpart are kept. Fails if a size is dynamic or a tensor is not on the
/// CPU.
mlir::LogicalResult lowerMLLMOps(mlir::func::FuncOp function);

} // namespace llmir

#endif // LLMIR_CONVERSION_MLLMTOLLM_H
