//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// From `mllm` IR to the graph that exporters see.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_EXPORT_BUILDGRAPH_H
#define LLMIR_EXPORT_BUILDGRAPH_H

#include "mllm/ir/GraphVisitor.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace llmir {

/// See mllm::ir::buildGraph(IRContext &). The module must be verified; it is
/// left as it was.
Expected<::mllm::ir::Graph>
buildGraph(mlir::ModuleOp module, const ::mllm::ir::GraphOptions &options = {});

/// The subgraph that is the model: the entry, or what the module's only call
/// names, or the only public one. Fails (InvalidArgument) when the module does
/// not say which.
Expected<mlir::FunctionOpInterface> findModel(mlir::ModuleOp module);

/// The op of the module from which an op of the graph was made; valid as long
/// as the module has it.
mlir::Operation *operationOf(const ::mllm::ir::GraphOp &op);

/// What --export-tokens and --export-size say, which
/// registerExportTranslations() declares.
Expected<::mllm::ir::GraphOptions> exportSizesOfCommandLine();

/// Registers --mllm-to-svg, --mllm-to-dot and --mllm-to-onnx with
/// mlir-translate.
void registerExportTranslations();

} // namespace llmir

#endif // LLMIR_EXPORT_BUILDGRAPH_H
