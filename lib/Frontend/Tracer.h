//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state of a trace: where ops go, and what has been registered.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_FRONTEND_TRACER_H
#define LLMIR_LIB_FRONTEND_TRACER_H

#include "Emit.h"

#include "llmir/Dialect/MLLM/MLLMGraphOps.h"
#include "llmir/Frontend/TraceModel.h"

#include "llvm/ADT/StringMap.h"

#include <map>

namespace mllm::ir {

class Tracer : public Engine {
public:
  Tracer(mlir::MLIRContext &context, ParameterSource &parameters);
  ~Tracer() override;

  mlir::Location location(const nn::Component *layer) override;
  mlir::Value valueOf(const Tensor &tensor) override;
  mlir::FlatSymbolRefAttr symbol(const nn::Parameter &parameter) override;
  std::vector<Tensor> take(mlir::Operation *op, const std::vector<Tensor> &,
                           const nn::Component *) override;
  Tensor fail(mlir::Location where, const std::string &what) override;

  /// A handle of a value of the trace.
  Tensor tensor(mlir::Value value);
  /// Traces a module's subgraph unless that is done, and calls it.
  std::vector<Tensor> call(nn::Module &module,
                           const std::vector<Tensor> &inputs);
  /// Runs the module into a new subgraph; null when it failed.
  llmir::mllm::SubGraphOp trace(nn::Module &module, llvm::StringRef name,
                                mlir::TypeRange inputs, bool entry);
  /// Inputs and the call of a subgraph, in the module itself.
  void callFromModule(llmir::mllm::SubGraphOp subgraph);
  /// Verifies the whole module.
  llmir::Status verify();

  const llmir::Status &status() const { return failure; }
  mlir::OwningOpRef<mlir::ModuleOp> takeModule() { return std::move(module); }
  /// The parameters that the trace uses, by path.
  std::map<std::string, nn::Parameter> takeParameters() {
    return std::move(used);
  }

private:
  struct SubGraph {
    llmir::mllm::SubGraphOp op;
    bool complete = false;
  };

  mlir::OwningOpRef<mlir::ModuleOp> module;
  ParameterSource &parameters;
  std::shared_ptr<detail::TraceLife> life;
  Engine *outer; ///< The trace in whose course this one runs, or null.
  llvm::StringMap<SubGraph> subgraphs;
  llvm::StringMap<mlir::FlatSymbolRefAttr> registered;
  std::map<std::string, nn::Parameter> used;
  std::string currentPath; ///< Of the module being traced.
  llmir::Status failure;
};

} // namespace mllm::ir

#endif // LLMIR_LIB_FRONTEND_TRACER_H
