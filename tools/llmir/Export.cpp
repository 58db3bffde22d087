//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llmir export: exports a checkpoint to another format.
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "CompilerLibrary.h"
#include "ModelResolver.h"

#include <memory>

using namespace llmir;
using namespace llmir::cli;

namespace {

struct ExportOptions {
  std::string model, output;
  std::string weights = "stored";
  int64_t tokens = 0;
  bool externalData = false;
};

} // namespace

static bool isONNXFile(const std::string &path) {
  const std::string end = ".onnx";
  return path.size() > end.size() &&
         path.compare(path.size() - end.size(), end.size(), end) == 0;
}

static Outcome runExport(const ExportOptions &options) {
  if (!isONNXFile(options.output))
    return Outcome::usage("'" + options.output + "' does not end in .onnx",
                          "choose such a name, for example model.onnx");
  Expected<ModelKind> kind = modelKind(options.model);
  if (!kind)
    return kind.takeStatus();
  if (*kind == ModelKind::Artifact)
    return Status(StatusCode::Unsupported,
                  "'" + options.model + "' is compiled: its graph is a program",
                  "give the checkpoint that it was made from");
  LLMIRExportOptions call = {};
  call.model = options.model.c_str();
  call.format = "onnx";
  call.output = options.output.c_str();
  call.tokens = options.tokens;
  call.weights = options.weights.c_str();
  call.external_data = options.externalData;
  return exportModel(call);
}

void cli::addExportCommand(CommandLine &line) {
  auto options = std::make_shared<ExportOptions>();
  Command command = line.add(
      "export", "Export a checkpoint as an ONNX model with its weights",
      "llmir export models/demo -o demo.onnx\n"
      "  llmir export models/demo -o demo.onnx --weights f16");
  command.addArgument("MODEL", options->model, checkpointHelp).required();
  addOption(command, "-o,--output", options->output, "the .onnx file", "FILE")
      .required();
  addOption(command, "--weights", options->weights,
            "type of the weights; stored: f32, f16 and bf16 as in the "
            "checkpoint, f32 for others. Computation is in f32",
            "TYPE")
      .check(oneOf({"stored", "f32", "f16", "bf16"}))
      .showDefault();
  addOption(command, "--tokens", options->tokens,
            "number of input tokens; 0: dynamic", "N")
      .check(atLeast(0))
      .showDefault();
  addFlag(command, "--external-data", options->externalData,
          "write the weights to FILE.data, which is always done from 2 GiB on");
  line.onRun(command, withModel(options->model,
                                [options] { return runExport(*options); }));
}
