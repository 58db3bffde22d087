//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llmir bench: tokens per second of prefill and decode, compared with the
// limits of the machine. The flags are those of llama-bench.
//
//===----------------------------------------------------------------------===//

#include "BenchTest.h"
#include "Command.h"
#include "Console.h"
#include "ModelResolver.h"
#include "Placement.h"
#include "Profile.h"

#include "llmir/Support/Json.h"
#include "llmir/Support/Text.h"

#include <algorithm>
#include <cmath>
#include <memory>

using namespace llmir;
using namespace llmir::cli;

namespace {

struct BenchOptions {
  ModelRequest model;
  std::vector<int64_t> prompts = {512}, tokens = {128}, depths = {0};
  bool givesTokens = false; ///< `tokens` are not the default ones.
  std::vector<int64_t> sequences = {1};
  std::vector<int64_t> threads;
  int64_t chunk = 0;
  int64_t repetitions = 5;
  PlacementRequest placement;
  std::string format = "md";
  bool json = false;
  std::string profile;
};

/// One invocation of `llmir bench`.
class BenchCommand {
public:
  explicit BenchCommand(const BenchOptions &options) : options(options) {}
  Outcome operator()();

private:
  void listTests();
  Outcome checkTests() const;
  Status runThreads(int64_t threads);
  Status runTest(Executor &executor, LimitMeter &meter, const BenchTest &test);
  Status traceTest(Executor &executor, BenchRunner &runner,
                   const BenchResult &result);

  const BenchOptions &options;
  std::vector<BenchTest> tests;
  ResolvedModel model;
  std::vector<BenchResult> results;
  int64_t numThreadCounts = 1;
  ProgressBar bar;
  Profile profile;
};

} // namespace

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

/// The rate achieved in terms of the limiting resource: "41.2 GB/s (42.0
/// packed)" or "640 Gop/s".
static std::string reached(const BenchResult &r) {
  double perSecond = r.median() / r.test.count() / 1e9;
  if (!r.isBoundByReading())
    return formatNumber(r.cost.allOperations() * perSecond, 0) + " Gop/s";
  return formatNumber(r.cost.bytes() * perSecond, 1) + " GB/s (" +
         formatNumber((r.cost.packedBytes + r.cost.sequenceBytes()) * perSecond,
                      1) +
         " packed)";
}

static std::string limitText(const BenchResult &r) {
  MachineLimits limits = r.medianLimits();
  if (r.isBoundByReading())
    return formatNumber(limits.read.bytesPerSecond / 1e9, 1) + " GB/s, " +
           r.sizeClass;
  DotUnit unit = r.cost.mainUnit(limits);
  return formatNumber(limits.units[static_cast<int>(unit)].opsPerSecond / 1e9,
                      0) +
         " Gop/s, " + dotUnitName(unit);
}

/// False for code without cost information, or a benchmark without limits.
static bool hasShare(const BenchResult &r) {
  double share = r.share();
  return std::isfinite(share) && share > 0;
}

static void printMarkdown(const Artifact &artifact,
                          const std::vector<BenchResult> &results) {
  print("| model | size | params | kv | threads | test | t/s | reached | limit "
        "| share |\n| --- | ---: | ---: | --- | ---: | --- | ---: | ---: | "
        "---: | ---: |\n");
  const ArtifactInfo &info = artifact.info();
  for (const BenchResult &r : results)
    print("| " + printable(info.modelName, 60) + " " +
          printable(info.weightsDescription, 60) + " | " +
          formatBytes(static_cast<double>(artifact.weights().size())) + " | " +
          formatNumber(static_cast<double>(info.parameterCount) / 1e6, 2) +
          " M | " + std::string(kvFormatName(info.kvFormat)) + " | " +
          std::to_string(r.threads) + " | " + r.test.name() + " | " +
          formatNumber(r.median(), 2) + " ± " + formatNumber(r.spread(), 2) +
          (hasShare(r) ? " | " + reached(r) + " | " + limitText(r) + " | " +
                             formatNumber(100 * r.share(), 0) + " % |\n"
                       : " | | | |\n"));
  if (results.empty())
    return;
  print(
      "\nCode for " + results.front().level + "; medians of " +
      std::to_string(results.front().rates.size()) +
      " repetitions ± half the interquartile range; each share is relative to "
      "the limit measured next to its repetition.\n");
  for (const BenchResult &r : results)
    print(std::to_string(r.threads) + " threads, " + r.test.name() + ": " +
          describeLimits(r.medianLimits()) + "\n");
}

static Json describe(const Artifact &artifact, const BenchResult &r) {
  const ArtifactInfo &info = artifact.info();
  double perSecond = r.median() / r.test.count();
  MachineLimits limits = r.medianLimits();
  Json row = {
      {"model", info.modelName},
      {"weights", info.weightsDescription},
      {"target", r.level},
      {"kv", kvFormatName(info.kvFormat)},
      {"weight_bytes", artifact.weights().size()},
      {"parameters", info.parameterCount},
      {"threads", r.threads},
      {"n_prompt", r.test.prompt},
      {"n_gen", r.test.tokens},
      {"n_depth", r.test.depth},
      {"n_sequences", r.test.sequences},
      {"test", r.test.name()},
      {"tokens_per_second", r.median()},
      {"spread", r.spread()},
      {"samples", r.rates},
      {"source_bytes_per_second", r.cost.bytes() * perSecond},
      {"packed_bytes_per_second",
       (r.cost.packedBytes + r.cost.sequenceBytes()) * perSecond},
      {"kv_bytes_per_second", r.cost.kvBytes * perSecond},
      {"state_bytes_per_second", r.cost.stateBytes * perSecond},
      {"operations_per_second", r.cost.allOperations() * perSecond},
      {"bound",
       r.isBoundByReading() ? "reads" : dotUnitName(r.cost.mainUnit(limits))},
      {"size_class", r.sizeClass},
      {"read_limit", limits.read.bytesPerSecond},
      {"reader", limits.read.reader},
      {"share_of_limit", hasShare(r) ? Json(r.share()) : Json(nullptr)}};
  if (!r.placement.empty())
    row["placement"] = r.placement;
  for (int unit = 0; unit < numDotUnits; ++unit)
    row[std::string(dotUnitName(static_cast<DotUnit>(unit))) + "_limit"] =
        limits.units[unit].opsPerSecond;
  return row;
}

/// A cell of comma-separated values.
static std::string csvCell(const Json &value) {
  if (value.is_null())
    return {};
  std::string text =
      value.is_string()
          ? value.get<std::string>()
          : value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.find_first_of(",\"\n\r") == std::string::npos)
    return text;
  std::string quoted = "\"";
  for (char c : text)
    quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

static void printResults(const std::string &format, const Artifact &artifact,
                         const std::vector<BenchResult> &results) {
  if (format == "md")
    return printMarkdown(artifact, results);
  Json list = Json::array();
  for (const BenchResult &result : results)
    list.push_back(describe(artifact, result));
  if (format == "json")
    return print(list.dump(2, ' ', false, Json::error_handler_t::replace) +
                 "\n");
  for (size_t i = 0; i < list.size(); ++i) {
    std::string head, row;
    for (auto it = list[i].begin(); it != list[i].end(); ++it) {
      head += (head.empty() ? "" : ",") + it.key();
      row += (it == list[i].begin() ? "" : ",") + csvCell(*it);
    }
    print((i == 0 ? head + "\n" : "") + row + "\n");
  }
}

//===----------------------------------------------------------------------===//
// The tests
//===----------------------------------------------------------------------===//

void BenchCommand::listTests() {
  for (int64_t depth : options.depths) {
    for (int64_t prompt : options.prompts)
      if (prompt > 0)
        tests.push_back({prompt, 0, depth, 1});
    for (int64_t tokens : options.tokens)
      for (int64_t sequences : options.sequences)
        if (tokens > 0)
          tests.push_back({0, tokens, depth, sequences});
  }
}

Outcome BenchCommand::checkTests() const {
  const ArtifactInfo &info = model.artifact->info();
  for (const BenchTest &test : tests) {
    int64_t length; // One of prompt and tokens is 0.
    if (__builtin_add_overflow(test.depth, test.prompt + test.tokens,
                               &length) ||
        length > info.contextLength)
      return Status(StatusCode::OutOfRange,
                    "the test " + test.name() +
                        " does not fit into the context of " +
                        std::to_string(info.contextLength) + " tokens",
                    "give smaller -p, -n or -d");
    const int64_t chunk = options.chunk > 0 ? options.chunk : info.tokenBudget;
    if (info.wholeSequences &&
        (test.tokens > 0 || test.depth > 0 || test.prompt > chunk))
      return Status(StatusCode::Unsupported,
                    "the test " + test.name() +
                        " adds tokens to a text, but a step of this model has "
                        "whole texts",
                    "give only -p, of at most the tokens of a step");
    int64_t most = std::min(info.tokenBudget, info.maxLogitRows);
    if (test.sequences > most)
      return Status(StatusCode::OutOfRange,
                    "the test " + test.name() + " decodes " +
                        std::to_string(test.sequences) +
                        " sequences together, but a step of this model has "
                        "logits for at most " +
                        std::to_string(most),
                    "give smaller --sequences");
  }
  return Status::ok();
}

Status BenchCommand::runThreads(int64_t threads) {
  const ArtifactInfo &info = model.artifact->info();
  ExecutorOptions settings;
  settings.threads = threads;
  options.placement.apply(settings);
  settings.level = options.model.level;
  for (const BenchTest &test : tests) {
    settings.contextLength = std::max(settings.contextLength, test.longest());
    settings.kvBlocks = std::max(
        settings.kvBlocks,
        test.sequences * ((test.longest() - 1) / info.kvBlockSize + 1));
    settings.sequences = std::max(settings.sequences, test.sequences);
  }
  auto executor = Executor::create(model.artifact, settings);
  if (!executor)
    return executor.takeStatus();
  if (!(*executor)->placement().empty())
    note((*executor)->placement());
  auto meter = LimitMeter::create(**executor);
  if (!meter)
    return meter.takeStatus();
  for (const BenchTest &test : tests)
    LLMIR_RETURN_IF_ERROR(runTest(**executor, **meter, test));
  return Status::ok();
}

Status BenchCommand::runTest(Executor &executor, LimitMeter &meter,
                             const BenchTest &test) {
  BenchRunner runner(executor, meter, options.chunk, options.repetitions);
  const double all =
      static_cast<double>(tests.size()) * static_cast<double>(numThreadCounts);
  auto progress = [&](int64_t repetition) {
    double part = static_cast<double>(repetition) /
                  static_cast<double>(options.repetitions + 1);
    bar.update(test.name(), (static_cast<double>(results.size()) + part) / all);
  };
  Profile::Phase phase = profile.begin(test.name());
  Expected<BenchResult> result = runner.run(test, progress);
  if (!result)
    return result.takeStatus();
  profile.end(phase);
  results.push_back(*result);
  return options.profile.empty() ? Status::ok()
                                 : traceTest(executor, runner, *result);
}

/// Repeats the test for tracing, so that tracing does not affect the
/// measurement.
Status BenchCommand::traceTest(Executor &executor, BenchRunner &runner,
                               const BenchResult &result) {
  Profile::Phase phase = profile.begin(result.test.name() + ", traced");
  LLMIR_RETURN_IF_ERROR(executor.startTrace());
  LLMIR_RETURN_IF_ERROR(runner.repeatOnce(result.test));
  executor.stopTrace();
  profile.end(phase);
  profile.addSteps(executor);
  noteLines("profile of " + result.test.name() + ", " +
            std::to_string(result.threads) + " threads\n" +
            profileTable(executor, result.medianLimits()));
  return Status::ok();
}

Outcome BenchCommand::operator()() {
  if (options.model.model.empty())
    return Outcome::usage("MODEL is required", "see `llmir bench --help`");
  if (options.json && options.format != "md" && options.format != "json")
    return Outcome::usage("--json and -o " + options.format +
                              " exclude each other",
                          "give one of them");
  listTests();
  if (tests.empty())
    return Outcome::usage("-p and -n leave nothing to measure",
                          "give one of them a number above 0");
  Expected<ResolvedModel> resolved = resolveModel(options.model);
  if (!resolved)
    return Outcome::ofFlags(resolved.takeStatus());
  model = std::move(*resolved);
  // Encoders do not decode.
  if (model.artifact->info().wholeSequences && !options.givesTokens)
    tests.erase(
        std::remove_if(tests.begin(), tests.end(),
                       [](const BenchTest &test) { return test.tokens > 0; }),
        tests.end());
  if (Outcome checked = checkTests(); !checked.status)
    return checked;
  std::vector<int64_t> threadCounts = options.threads;
  if (threadCounts.empty())
    threadCounts.push_back(usableProcessors());
  numThreadCounts = static_cast<int64_t>(threadCounts.size());
  for (int64_t threads : threadCounts)
    if (Status ran = runThreads(threads); !ran)
      return Outcome::ofFlags(ran);
  printResults(options.json ? "json" : options.format, *model.artifact,
               results);
  return options.profile.empty() ? Status::ok()
                                 : profile.write(options.profile);
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

static void addTestOptions(Command command, BenchOptions &options) {
  auto addList = [&](const char *names, std::vector<int64_t> &list,
                     double least, const char *description,
                     const char *variableOf = "") {
    return addOption(command, names, list, description, {}, variableOf)
        .separatedByCommas()
        .isOneArgument()
        .check(atLeast(least));
  };
  addList("-p,--prompt", options.prompts, 0,
          "prompt tokens of the prefill tests; 0: none", "--bench-prompt")
      .showDefault();
  addList("-n,--gen", options.tokens, 0, "tokens of the decode tests; 0: none")
      .onValue([&options] { options.givesTokens = true; })
      .showDefault();
  addList("-d,--depth", options.depths, 0,
          "tokens in the context at the start of a test")
      .showDefault();
  addList("-s,--sequences", options.sequences, 1,
          "sequences that the decode tests decode in one step")
      .showDefault();
  addList("-t,--threads", options.threads, 0,
          "worker threads; 0, the default: one per processor");
}

void cli::addBenchCommand(CommandLine &line) {
  auto options = std::make_shared<BenchOptions>();
  Command command = line.add(
      "bench",
      "Measure prefill and decode speed, relative to the limits of the machine",
      "llmir bench models/demo -p 512 -n 128 -t 1,2\n"
      "  llmir bench m.llmir -p 0 -n 64 --sequences 1,4,16 -d 0,4096 --json\n"
      "  llmir bench m.gguf -p 512 -n 32 -r 1 --profile trace.json");
  addModelOptions(command, options->model);
  command.argument("MODEL").required(false); // `bench serve` has none.
  addTestOptions(command, *options);
  addOption(command, "-b,--batch", options->chunk,
            "tokens of a prefill step (default: the model's token budget)")
      .check(atLeast(1));
  addOption(command, "-r,--repetitions", options->repetitions,
            "repetitions of each test, after one warm-up run")
      .showDefault()
      .check(atLeast(1));
  addPlacementOptions(command, options->placement);
  addOption(command, "-o,--output", options->format, "output format", {},
            "--bench-output")
      .showDefault()
      .check(oneOf({"md", "json", "csv"}));
  addFlag(command, "--json", options->json, "the same as -o json");
  addOption(
      command, "--profile", options->profile,
      "trace each test once more: write each worker's timeline to FILE, for "
      "ui.perfetto.dev, and a summary to standard error",
      "FILE");
  addBenchServeCommand(line, command);
  addBenchStepsCommand(line, command);
  line.onRun(command, withModel(options->model.model, [options] {
               return BenchCommand(*options)();
             }));
}
