//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tracing: a module tree runs once on symbolic values and leaves `mllm` IR.
//
//   Expected<OwningOpRef<ModuleOp>> ir = mllm::ir::traceModel(
//       context, model, "LlamaForCausalLM", parameters);
//
// Each module instance becomes a subgraph named by its path, each layer an op
// whose location is the layer's path, each parameter a register op.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_IR_TRACE_H
#define MLLM_IR_TRACE_H

#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/Support/Status.h"
#include "mllm/nn/Module.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/OwningOpRef.h"

#include "llvm/ADT/StringMap.h"

namespace mllm::ir {

/// Where a parameter is and how it is stored.
struct ParameterBinding {
  mlir::Type type;            ///< As mllm.tensor.register wants it.
  std::string source;         ///< The tensor's name in the checkpoint.
  int64_t unpermuteHeads = 0; ///< rope_unpermute_heads; 0 = rows are in order.
  int64_t firstRow = 0;       ///< slice[0].
  int64_t storedRows = 0;     ///< slice[1]; 0 = the tensor is the parameter.
  bool transposed = false;
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

/// The state of a trace; layers use it to add their ops.
class Tracer {
public:
  Tracer(mlir::MLIRContext &context, ParameterSource &parameters);

  /// The builder, at the end of the subgraph that is being traced.
  mlir::OpBuilder &builder() { return opBuilder; }
  /// A location that names the layer, or the module being traced.
  mlir::Location location(const nn::Layer &layer);
  mlir::Location location();

  /// The symbol of a parameter, registered when it is first asked for; null
  /// when it has no values, which ends the trace.
  mlir::FlatSymbolRefAttr symbol(const nn::Parameter &parameter);

  Tensor tensor(mlir::Value value) { return Tensor(*this, value); }
  /// Traces a module's subgraph unless that is done, and calls it.
  Tensor call(nn::Module &module, const Tensor &x);

  /// Ends the trace: `what` went wrong in `where`. The first failure stays.
  Tensor fail(mlir::Location where, const llvm::Twine &what);

private:
  friend llmir::Expected<mlir::OwningOpRef<mlir::ModuleOp>>
  traceModel(mlir::MLIRContext &, nn::Module &, llvm::StringRef,
             ParameterSource &);

  struct SubGraph {
    llmir::mllm::SubGraphOp op;
    bool complete = false;
  };
  /// Runs forward() into a new subgraph; null when it failed.
  llmir::mllm::SubGraphOp trace(nn::Module &module, llvm::StringRef name,
                                mlir::Type input, bool entry);
  llmir::Status verify();

  mlir::OpBuilder opBuilder;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  ParameterSource &parameters;
  llvm::StringMap<SubGraph> subgraphs;
  llvm::StringMap<mlir::FlatSymbolRefAttr> registered;
  std::string currentPath; ///< Of the module being traced.
  llmir::Status status;
};

} // namespace mllm::ir

#endif // MLLM_IR_TRACE_H
