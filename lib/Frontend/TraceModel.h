//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tracing a model whose parameters are bound by who asks for it.
//
//   Expected<OwningOpRef<ModuleOp>> ir = mllm::ir::traceModel(
//       context, model, "LlamaForCausalLM", parameters);
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_FRONTEND_TRACEMODEL_H
#define LLMIR_LIB_FRONTEND_TRACEMODEL_H

#include "llmir/Support/Status.h"
#include "mllm/nn/Module.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace mllm::ir {

/// Where a parameter is and how it is stored.
struct ParameterBinding {
  mlir::Type type;            ///< As mllm.tensor.register wants it.
  std::string source;         ///< The tensor's name in the checkpoint; empty
                              ///< where only the shape is known.
  int64_t unpermuteHeads = 0; ///< rope_unpermute_heads; 0 = rows are in order.
  int64_t firstRow = 0;       ///< In the stored tensor.
  int64_t storedRows = 0;  ///< Rows of the stored tensor; 0 = the parameter's.
  bool transposed = false; ///< Stored as [columns, rows].
};

/// Finds the values of parameters.
class ParameterSource {
public:
  virtual ~ParameterSource() = default;
  /// Called once for each parameter. Fails when the parameter is missing, or
  /// has another shape than the model's.
  virtual llmir::Expected<ParameterBinding>
  bind(mlir::MLIRContext &context, const nn::Parameter &parameter) = 0;
};

/// Traces `model`, which takes token ids [tokens] and gives logits
/// [tokens, vocabulary]; its subgraph is the entry and is called `name`. The
/// result is verified. Fails with the parameter source's status, or
/// InvalidArgument naming the module where the model contradicts itself. Takes
/// its time in one thread, and keeps nothing of `model`.
llmir::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
traceModel(mlir::MLIRContext &context, nn::Module &model, llvm::StringRef name,
           ParameterSource &parameters);

} // namespace mllm::ir

#endif // LLMIR_LIB_FRONTEND_TRACEMODEL_H
