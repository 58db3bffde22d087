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
#include "llmir/Export/ONNX.h"
#include "llmir/Export/Picture.h"
#include "llmir/Frontend/Frontend.h"
#include "llmir/Support/FileWriter.h"

#include "mlir/IR/MLIRContext.h"

#include <cstdio>

using namespace llmir;

static Expected<::mllm::ir::Graph>
traceToGraph(const Checkpoint &checkpoint, const ExportModelOptions &options) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  auto module = traceCheckpoint(context, checkpoint, FrontendOptions());
  if (!module)
    return module.takeStatus();
  ::mllm::ir::GraphOptions sizes = options.sizes;
  sizes.isPastOpen = options.format == "onnx";
  return buildGraph(**module, sizes);
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

static Expected<ONNXWeights> weightsNamed(const std::string &name) {
  static const std::pair<const char *, ONNXWeights> names[] = {
      {"stored", ONNXWeights::Stored},
      {"f32", ONNXWeights::F32},
      {"f16", ONNXWeights::F16},
      {"bf16", ONNXWeights::BF16}};
  for (const auto &[known, weights] : names)
    if (name == known)
      return weights;
  return Status(StatusCode::InvalidArgument,
                "unknown type of weights '" + name + "'",
                "choose stored, f32, f16 or bf16");
}

/// Uses conventional names if the model has one input and one result, like a
/// traced decoder.
static void nameDecoder(::mllm::ir::Graph &graph) {
  if (graph.inputs().size() != 1 || graph.outputs().size() != 1)
    return;
  for (::mllm::ir::GraphValue &value : graph.values) {
    if (&value == graph.inputs()[0])
      value.name = "input_ids";
    if (&value == graph.outputs()[0])
      value.name = "logits";
  }
}

static Status writeAsONNX(const Checkpoint &checkpoint, ::mllm::ir::Graph graph,
                          const ExportModelOptions &options) {
  Expected<ONNXWeights> weights = weightsNamed(options.weights);
  if (!weights)
    return weights.takeStatus();
  if (options.output.empty() || options.output == "-")
    return Status(StatusCode::InvalidArgument,
                  "an ONNX model is written to a file", "name one");
  nameDecoder(graph);
  return writeONNX(graph, options.output,
                   {parameterReaderOf(checkpoint), *weights},
                   options.externalData);
}

Status llmir::exportModel(const ExportModelOptions &options) {
  const bool isSVG = options.format == "svg", isONNX = options.format == "onnx";
  if (!isSVG && !isONNX && options.format != "dot")
    return Status(StatusCode::InvalidArgument,
                  "unknown export format '" + options.format + "'",
                  "choose svg, dot or onnx");
  Expected<Checkpoint> checkpoint = Checkpoint::open(options.model);
  if (!checkpoint)
    return checkpoint.takeStatus();
  const int64_t most = checkpoint->config().contextLength;
  if (options.sizes.tokens > most)
    return Status(StatusCode::OutOfRange,
                  std::to_string(options.sizes.tokens) +
                      " tokens; the model is for at most " +
                      std::to_string(most),
                  "give a smaller --tokens, or 0 for any number");
  Expected<::mllm::ir::Graph> graph = traceToGraph(*checkpoint, options);
  if (!graph)
    return graph.takeStatus();
  if (isONNX)
    return writeAsONNX(*checkpoint, std::move(*graph), options);
  Expected<std::string> text =
      isSVG ? pictureAsSVG(*graph) : pictureAsDOT(*graph);
  if (!text)
    return text.takeStatus();
  return writeOutput(options.output, *text);
}
