//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The state of a trace: the insertion point, and the registered parameters and
// modules.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_FRONTEND_TRACER_H
#define LLMIR_LIB_FRONTEND_TRACER_H

#include "Emit.h"

#include "TraceModel.h"

#include "llmir/Dialect/MLLM/MLLMGraphOps.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

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
  Tensor fail(mlir::Location where, const std::string &what,
              const std::string &advice) override;
  bool hasFailed() const override { return !failure; }

  /// A handle of a value of the trace.
  Tensor tensor(mlir::Value value);
  /// Traces a module and calls the subgraph: its own, or that of an earlier
  /// call whose trace was the same.
  std::vector<Tensor> call(nn::Module &module,
                           const std::vector<Tensor> &inputs);
  /// Runs the module of this path into a new subgraph; null when it failed.
  llmir::mllm::SubGraphOp trace(nn::Module &module, llvm::StringRef path,
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
  /// The first of `path`, path_1, path_2, … that is not a symbol yet.
  std::string freeSymbol(llvm::StringRef path);

  /// Traces of earlier calls. They are kept, as tensors that C++ still holds
  /// may be values in them.
  std::vector<mlir::OwningOpRef<llmir::mllm::SubGraphOp>> repeated;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  ParameterSource &parameters;
  std::shared_ptr<detail::TraceLife> life;
  Engine *outer; ///< The enclosing trace, or null.
  /// The different subgraphs of each path.
  llvm::StringMap<std::vector<llmir::mllm::SubGraphOp>> subgraphs;
  llvm::StringSet<> running; ///< The paths of modules that are being traced.
  llvm::StringMap<mlir::FlatSymbolRefAttr> registered;
  std::map<std::string, nn::Parameter> used;
  std::string currentPath; ///< Of the module being traced.
  llmir::Status failure;
};

} // namespace mllm::ir

#endif // LLMIR_LIB_FRONTEND_TRACER_H
