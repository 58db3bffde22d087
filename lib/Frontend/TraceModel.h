//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tracing of a model with parameters bound by the caller.
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

/// The source and the storage of a parameter.
struct ParameterBinding {
  mlir::Type type;            ///< Type of mllm.tensor.register.
  std::string source;         ///< The tensor's name in the checkpoint; empty
                              ///< where only the shape is known.
  int64_t unpermuteHeads = 0; ///< rope_unpermute_heads; 0 = rows are in order.
  nn::StoredPlace place;      ///< Rows 0: the parameter is the stored tensor.
  bool transposed = false;    ///< Stored as [columns, rows].
};

/// Provides the bindings of parameters.
class ParameterSource {
public:
  virtual ~ParameterSource() = default;
  /// Called once per parameter. Fails if the parameter is missing or has a
  /// different shape than in the model.
  virtual llmir::Expected<ParameterBinding>
  bind(mlir::MLIRContext &context, const nn::Parameter &parameter) = 0;
};

/// Traces `model`, which maps token ids [tokens] to logits [tokens,
/// vocabulary]; its subgraph is the entry and is named `name`. The result is
/// verified. Fails with the status of the parameter source, or with
/// InvalidArgument, naming the module, if the model is inconsistent.
/// Single-threaded; keeps no reference to `model`.
llmir::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
traceModel(mlir::MLIRContext &context, nn::Module &model, llvm::StringRef name,
           ParameterSource &parameters);

} // namespace mllm::ir

#endif // LLMIR_LIB_FRONTEND_TRACEMODEL_H
