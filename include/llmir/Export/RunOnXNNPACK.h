//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a traced model on XNNPACK: what the library cannot do is done by the
// reference interpreter.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_EXPORT_RUNONXNNPACK_H
#define LLMIR_EXPORT_RUNONXNNPACK_H

#include "llmir/Export/BuildGraph.h"
#include "llmir/Export/XNNPACK.h"
#include "llmir/Interpreter/Interpreter.h"

namespace llmir {

/// A graph with static sizes, cut into parts and built.
class XNNPACKModel {
public:
  /// `graph` must come from a module that outlives this model, and has no open
  /// sizes but those of caches. Parameters are read by
  /// `options.parameter`, which must be there. What fails is reported at the
  /// module.
  static mlir::FailureOr<std::unique_ptr<XNNPACKModel>>
  build(mlir::ModuleOp module, ::mllm::ir::Graph graph,
        InterpreterOptions options, int threads = 1);

  const ::mllm::ir::Graph &graph() const { return wholeGraph; }
  const ::mllm::ir::ExportCoverage &coverage() const { return share; }
  /// Parts that XNNPACK runs, and its subgraphs in them.
  size_t numParts() const { return target->numParts(); }
  size_t numSubgraphs() const;

  /// Computes the results for one step of a conversation; the state goes on.
  /// What fails is reported at the op.
  mlir::FailureOr<std::vector<reference::Tensor>>
  run(const std::vector<reference::Tensor> &inputs, ModelState &state);

private:
  XNNPACKModel(::mllm::ir::Graph graph, InterpreterOptions options)
      : wholeGraph(std::move(graph)), options(std::move(options)) {}

  ::mllm::ir::Graph wholeGraph;
  InterpreterOptions options;
  std::unique_ptr<XNNPACKTarget> target;
  std::vector<::mllm::ir::GraphPart> parts;
  ::mllm::ir::ExportCoverage share;
};

/// Registers --run-xnnpack with mlir-translate.
void registerXNNPACKTranslation();

} // namespace llmir

#endif // LLMIR_EXPORT_RUNONXNNPACK_H
