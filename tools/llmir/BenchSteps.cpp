//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llmir bench steps: measures the steps of a model for `llmir bench serve
// --simulate`.
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "Console.h"
#include "LoadedModel.h"
#include "ModelResolver.h"
#include "StepTable.h"

#include "llmir/Support/FileWriter.h"

#include <memory>

using namespace llmir;
using namespace llmir::cli;

namespace {
struct BenchStepsOptions {
  ModelRequest model;
  ExecutionRequest execution;
  StepTable table; ///< Its grid.
  int64_t repetitions = 5;
  std::string output;

  BenchStepsOptions() {
    table.prompts = {0, 1, 16, 64, 256};
    table.sequences = {0, 1, 4, 16, 32};
    table.depths = {0, 256};
    execution.cacheUse = CacheUse::ManyTexts; // As `llmir serve` has it.
  }
};
} // namespace

static Outcome runBenchSteps(const BenchStepsOptions &options) {
  Expected<ResolvedModel> resolved = resolveModel(options.model);
  if (!resolved)
    return Outcome::ofFlags(resolved.takeStatus());
  Expected<LoadedModel> loaded =
      loadModel(*resolved, options.model.level, options.execution);
  if (!loaded)
    return Outcome::ofFlags(loaded.takeStatus());
  StepTable table = options.table;
  ProgressBar bar;
  const Status measured =
      table.measure(*loaded->executor, options.repetitions,
                    [&](double part) { bar.update("measuring steps", part); });
  bar.hide();
  if (!measured)
    return measured;
  const std::string text =
      table.toJson().dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  if (!options.output.empty())
    return writeFileAtomically(options.output, text);
  print(text);
  return Status::ok();
}

void cli::addBenchStepsCommand(CommandLine &line, Command bench) {
  auto options = std::make_shared<BenchStepsOptions>();
  Command command = bench.addCommand(
      "steps",
      "Measure the steps of a model for `llmir bench serve --simulate`",
      "llmir bench steps models/demo -o steps.json\n"
      "  llmir bench serve --simulate steps.json --request-rate 8");
  addModelOptions(command, options->model);
  const auto addList = [&](const char *names, std::vector<int64_t> &list,
                           const char *description) {
    addOption(command, names, list, description)
        .separatedByCommas()
        .isOneArgument()
        .showDefault()
        .check(atLeast(0));
  };
  addList("-p,--prompts", options->table.prompts,
          "tokens of prompts in a step, ascending from 0");
  addList("-s,--decoding", options->table.sequences,
          "sequences that decode in it, ascending from 0");
  addList("-d,--depths", options->table.depths,
          "tokens of each sequence before it, ascending from 0");
  addOption(command, "-r,--repetitions", options->repetitions,
            "repetitions of each step, after one warm-up run")
      .showDefault()
      .check(atLeast(1));
  addExecutionOptions(command, options->execution);
  addOption(command, "-o,--output", options->output,
            "file to write (default: standard output)", "FILE");
  line.onRun(command, withModel(options->model.model,
                                [options] { return runBenchSteps(*options); }));
}
