//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Export/ExportModel.h"

#include "llmir/Checkpoint/Checkpoint.h"
#include "llmir/Export/BuildGraph.h"
#include "llmir/Export/Picture.h"
#include "llmir/Frontend/Frontend.h"
#include "llmir/Support/FileWriter.h"

#include "mlir/IR/MLIRContext.h"

#include <cstdio>

using namespace llmir;

static Expected<::mllm::ir::Graph>
traceToGraph(const ExportModelOptions &options) {
  Expected<Checkpoint> checkpoint = Checkpoint::open(options.model);
  if (!checkpoint)
    return checkpoint.takeStatus();
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto module = traceCheckpoint(context, *checkpoint, FrontendOptions());
  if (!module)
    return module.takeStatus();
  return buildGraph(**module, options.sizes);
}

static Status writeOutput(const std::string &path, const std::string &text) {
  if (!path.empty() && path != "-")
    return writeFileAtomically(path, text);
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() &&
      std::fflush(stdout) == 0)
    return Status::ok();
  return Status(StatusCode::IoError, "standard output cannot be written",
                "name a file instead");
}

Status llmir::exportModel(const ExportModelOptions &options) {
  const bool isSVG = options.format == "svg";
  if (!isSVG && options.format != "dot")
    return Status(StatusCode::InvalidArgument,
                  "unknown export format '" + options.format + "'",
                  "choose svg or dot");
  Expected<::mllm::ir::Graph> graph = traceToGraph(options);
  if (!graph)
    return graph.takeStatus();
  Expected<std::string> text =
      isSVG ? pictureAsSVG(*graph) : pictureAsDOT(*graph);
  if (!text)
    return text.takeStatus();
  return writeOutput(options.output, *text);
}
