//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From the `mllm` dialect (what the model is) to the `llm` dialect (how
// inference runs it). Passes.td says what the pass does.
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

/// On an `llm.weight`: its value is that of the registered parameter, as ops of
/// the mllm dialect have it.
constexpr llvm::StringLiteral kParameterAttr = "parameter";

/// Erases the call at module level that says which subgraph is the model, and
/// its inputs.
void eraseModelCalls(mlir::ModuleOp module);

/// Makes a function of every subgraph, under its name, with the same ops in it;
/// those that no other one calls are public. What else the dialect has at
/// module level, but for parameters, goes.
void makeFunctionsOfSubGraphs(mlir::ModuleOp module);

/// Lowers the ops of the mllm dialect in a function of static shapes to llm,
/// linalg and tensor; types of tensors lose their encodings. An op without such
/// a counterpart stays. Fails where a size is dynamic or a tensor lies
/// elsewhere than on the CPU.
mlir::LogicalResult lowerMLLMOps(mlir::func::FuncOp function);

} // namespace llmir

#endif // LLMIR_CONVERSION_MLLMTOLLM_H
