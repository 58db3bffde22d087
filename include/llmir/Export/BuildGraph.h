//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conversion of `mllm` IR to the graph used by exporters.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_EXPORT_BUILDGRAPH_H
#define LLMIR_EXPORT_BUILDGRAPH_H

#include "mllm/ir/GraphVisitor.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace llmir {

/// See mllm::ir::buildGraph(IRContext &). The module must be verified; it is
/// not modified.
Expected<::mllm::ir::Graph>
buildGraph(mlir::ModuleOp module, const ::mllm::ir::GraphOptions &options = {});

/// Returns the subgraph of the model: the entry, the callee of the only
/// module-level call, or the only public one. Fails with InvalidArgument if the
/// model is ambiguous.
Expected<mlir::FunctionOpInterface> findModel(mlir::ModuleOp module);

/// Returns the operation of a graph op; valid as long as it is in the module.
mlir::Operation *operationOf(const ::mllm::ir::GraphOp &op);

/// Returns the sizes of --export-tokens and --export-size, which
/// registerExportTranslations() declares.
Expected<::mllm::ir::GraphOptions> exportSizesOfCommandLine();

/// Registers --mllm-to-svg, --mllm-to-dot and --mllm-to-onnx with
/// mlir-translate.
void registerExportTranslations();

} // namespace llmir

#endif // LLMIR_EXPORT_BUILDGRAPH_H
