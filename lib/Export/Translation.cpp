//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The exporters as translations of llmir-translate.
//
//===----------------------------------------------------------------------===//

#include "llmir/Export/BuildGraph.h"
#include "llmir/Export/ONNX.h"
#include "llmir/Export/Picture.h"

#include "llmir/Dialect/MLLM/MLLM.h"

#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Tools/mlir-translate/Translation.h"

#include "llvm/Support/CommandLine.h"

using namespace mlir;
using namespace llmir;

namespace {
struct CommandLine {
  llvm::cl::opt<int64_t> tokens{
      "export-tokens",
      llvm::cl::desc("Value of unnamed dynamic sizes of model inputs; 0 leaves "
                     "them dynamic"),
      llvm::cl::init(0)};
  llvm::cl::list<std::string> sizes{
      "export-size", llvm::cl::desc("Value of a named dynamic size: seq=128"),
      llvm::cl::value_desc("name=number")};
  llvm::cl::opt<bool> unfolded{
      "picture-unfolded",
      llvm::cl::desc("Draw consecutive identical layers separately")};
};
} // namespace

static void registerDialects(DialectRegistry &registry) {
  registry.insert<llmir::mllm::MLLMDialect, llm::LLMDialect>();
}

static CommandLine &commandLine() {
  static CommandLine line;
  return line;
}

Expected<::mllm::ir::GraphOptions> llmir::exportSizesOfCommandLine() {
  const CommandLine &line = commandLine();
  ::mllm::ir::GraphOptions options;
  options.tokens = line.tokens;
  for (const std::string &text : line.sizes) {
    auto [name, number] = StringRef(text).split('=');
    int64_t size = 0;
    if (name.empty() || number.getAsInteger(10, size))
      return Status(StatusCode::InvalidArgument,
                    "--export-size=" + text + " is not name=number",
                    "write for example --export-size=seq=128");
    options.sizes[name.str()] = size;
  }
  return options;
}

template <typename Export>
static LogicalResult translate(Operation *op, raw_ostream &output,
                               Export exporter, bool isPastOpen = false) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    return op->emitError("only a module can be exported");
  Expected<::mllm::ir::GraphOptions> options = exportSizesOfCommandLine();
  if (!options)
    return emitError(op->getLoc()) << options.status().message();
  options->isPastOpen = isPastOpen;
  Expected<::mllm::ir::Graph> graph = buildGraph(module, *options);
  if (!graph)
    return emitError(op->getLoc()) << graph.status().message();
  Expected<std::string> text = exporter(*graph);
  if (!text)
    return emitError(op->getLoc()) << text.status().message();
  output << *text;
  return success();
}

void llmir::registerExportTranslations() {
  commandLine();
  // svg and dot differ only in the writer.
  auto drawing = [](auto picture) {
    return [picture](Operation *op, raw_ostream &output) {
      return translate(op, output, [&](const auto &graph) {
        PictureOptions options;
        options.fold = !commandLine().unfolded;
        return picture(graph, options);
      });
    };
  };
  static TranslateFromMLIRRegistration svg(
      "mllm-to-svg", "Draw the model as SVG", drawing(pictureAsSVG),
      registerDialects);
  static TranslateFromMLIRRegistration dot(
      "mllm-to-dot", "Draw the model for Graphviz", drawing(pictureAsDOT),
      registerDialects);
  static TranslateFromMLIRRegistration onnx(
      "mllm-to-onnx",
      "Write the model as ONNX (opset 17); parameters are inputs",
      [](Operation *op, raw_ostream &output) {
        return translate(
            op, output, [](const auto &graph) { return exportONNX(graph); },
            /*isPastOpen=*/true);
      },
      registerDialects);
}
