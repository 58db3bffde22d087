//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs a traced model on XNNPACK, with the reference interpreter for
// unsupported ops.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_EXPORT_RUNONXNNPACK_H
#define LLMIR_EXPORT_RUNONXNNPACK_H

#include "llmir/Export/BuildGraph.h"
#include "llmir/Export/XNNPACK.h"
#include "llmir/Interpreter/Interpreter.h"

namespace llmir {

/// A partitioned graph with static sizes and its XNNPACK subgraphs.
class XNNPACKModel {
public:
  /// `graph` must be built from a module that outlives this model and have no
  /// dynamic sizes except those of caches. Parameters are read by
  /// `options.parameter`, which must be set. Errors are reported at the module.
  static mlir::FailureOr<std::unique_ptr<XNNPACKModel>>
  build(mlir::ModuleOp module, ::mllm::ir::Graph graph,
        InterpreterOptions options, int threads = 1);

  const ::mllm::ir::Graph &graph() const { return wholeGraph; }
  const ::mllm::ir::ExportCoverage &coverage() const { return share; }
  /// Number of parts that XNNPACK runs, and of their XNNPACK subgraphs.
  size_t numParts() const { return target->numParts(); }
  size_t numSubgraphs() const;

  /// Computes the results of one step of a conversation and updates the state.
  /// Errors are reported at the op.
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
