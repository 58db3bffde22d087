//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llmir convert: converts a checkpoint to GGUF.
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "CompilerLibrary.h"
#include "Console.h"
#include "ModelResolver.h"

#include "llmir/Support/Json.h"
#include "llmir/Support/Text.h"

#include <algorithm>
#include <map>
#include <memory>

using namespace llmir;
using namespace llmir::cli;

namespace {

struct ConvertFlags {
  std::string model, output, type = "f16", imatrix, pre;
  int64_t splitBytes = 0;
  bool dryRun = false, json = false;
};

} // namespace

static std::string bytesOf(const Json &object) {
  return formatBytes(object["bytes"].get<double>());
}

/// "q4_k 24 tensors, 1.2 GB; f32 …", the largest first.
static std::string typesText(const Json &tensors) {
  std::map<std::string, std::pair<int64_t, double>> types;
  for (const Json &tensor : tensors) {
    auto &[count, bytes] = types[tensor["type"].get<std::string>()];
    ++count;
    bytes += tensor["bytes"].get<double>();
  }
  std::vector<std::pair<double, std::string>> lines;
  for (const auto &[type, sum] : types)
    lines.emplace_back(sum.second,
                       type + ": " + std::to_string(sum.first) +
                           (sum.first == 1 ? " tensor, " : " tensors, ") +
                           formatBytes(sum.second));
  std::sort(lines.rbegin(), lines.rend());
  std::string text;
  for (const auto &[bytes, line] : lines)
    text += "  " + line + "\n";
  return text;
}

static std::string describe(const Json &report) {
  std::string text;
  for (const Json &file : report["files"])
    text += printable(file["path"].get<std::string>(), 400) + ": " +
            bytesOf(file) + "\n";
  text += typesText(report["tensors"]);
  if (report["dry_run"].get<bool>())
    text += "nothing was written (--dry-run)\n";
  return text;
}

static Outcome runConvert(const ConvertFlags &flags) {
  Expected<ModelKind> kind = modelKind(flags.model);
  if (!kind)
    return kind.takeStatus();
  if (*kind == ModelKind::Artifact)
    return Status(StatusCode::Unsupported,
                  "'" + flags.model + "' is compiled: its weights are packed",
                  "give the checkpoint that it was made from");
  LLMIRConvertOptions call = {};
  call.model = flags.model.c_str();
  call.output = flags.output.c_str();
  call.type = flags.type.c_str();
  call.importance_matrix =
      flags.imatrix.empty() ? nullptr : flags.imatrix.c_str();
  call.pre_tokenizer = flags.pre.empty() ? nullptr : flags.pre.c_str();
  call.split_bytes = flags.splitBytes;
  call.dry_run = flags.dryRun;
  Stopwatch watch;
  Expected<std::string> text = convertModel(call);
  if (!text)
    return Outcome::ofFlags(text.takeStatus());
  Expected<Json> report = parseJson(*text, "the report");
  if (!report)
    return report.takeStatus();
  for (const Json &each : (*report)["notes"])
    note(each.get<std::string>());
  if (!flags.json) {
    print(describe(*report));
    return Status::ok();
  }
  (*report)["seconds"] = watch.milliseconds() / 1000;
  print(report->dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  return Status::ok();
}

void cli::addConvertCommand(CommandLine &line) {
  auto flags = std::make_shared<ConvertFlags>();
  Command command = line.add(
      "convert", "Convert a checkpoint to a GGUF file, and quantize it",
      "llmir convert models/demo -o demo.gguf --type q8_0\n"
      "  llmir convert model-f16.gguf -o model-q4.gguf --type q4_k_m "
      "--imatrix imatrix.gguf");
  command.addArgument("MODEL", flags->model, checkpointHelp).required();
  addOption(command, "-o,--output", flags->output, "the .gguf file", "FILE")
      .required();
  addOption(command, "--type", flags->type,
            "f32, f16, bf16, q8_0, q6_k, q5_k_m, q5_k_s, q5_1, q5_0, q4_k_m, "
            "q4_k_s, q4_1, q4_0, iq4_nl, iq4_xs, mxfp4, q3_k_l, q3_k_m, "
            "q3_k_s, q2_k, tq2_0, tq1_0",
            "TYPE")
      .showDefault();
  addOption(command, "--imatrix", flags->imatrix,
            "weights errors by these statistics of activations, as llama.cpp "
            "writes them (GGUF or .dat)",
            "FILE");
  addOption(command, "--split-max-size", flags->splitBytes,
            "divide the result into files with at most this many bytes of "
            "tensors, for example 2G; 0: one file",
            "SIZE")
      .hasUnits()
      .showDefault();
  addOption(command, "--pre", flags->pre,
            "name of the tokenizer's pre-tokenizer (tokenizer.ggml.pre), by "
            "default found by its rules",
            "NAME");
  addFlag(command, "--dry-run", flags->dryRun,
          "show types and sizes, and write nothing");
  addJsonFlag(command, flags->json);
  line.onRun(command,
             withModel(flags->model, [flags] { return runConvert(*flags); }));
}
