//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llmir bench serve: measures a server with OpenAI's API. Flags, metrics and
// report are those of `vllm bench serve`.
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "Console.h"
#include "SimulatedServer.h"

#include "llmir/LoadGenerator/LoadReport.h"
#include "llmir/LoadGenerator/LoadRun.h"
#include "llmir/LoadGenerator/Workload.h"
#include "llmir/Support/FileWriter.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

using namespace llmir;
using namespace llmir::cli;

namespace {

struct BenchServeOptions {
  // The server.
  std::string baseUrl, host = "127.0.0.1";
  int64_t port = 8080;
  LoadTarget target;
  StreamClientOptions client;
  std::optional<double> temperature;
  std::string extraBody;
  int64_t requestTimeout = 0, readyTimeout = 0;
  std::string stepTable; ///< If not empty, the server is simulated.
  // What it is asked.
  std::string dataset = "random", datasetPath, promptForm = "auto";
  int64_t numPrompts = 100, numWarmups = 0, vocabulary = 0;
  RandomWorkload random;
  int64_t turns = 4;
  int64_t repeatedPrefix = 256, repeatedSuffix = 256, repeatedOutput = 128,
          numPrefixes = 10;
  int64_t customOutput = 256;
  uint64_t seed = 0;
  // When.
  double requestRate = std::numeric_limits<double>::infinity();
  double burstiness = 1;
  int64_t maxConcurrency = 0;
  // The report.
  std::vector<std::string> metrics = {"ttft", "tpot", "itl", "e2el"};
  std::vector<double> percentiles = {99};
  std::string resultFile;
  bool json = false, detailed = false;

  BenchServeOptions() {
    target.endpoint = "/v1/completions";
    random.inputLength = 1024;
    random.outputLength = 128;
  }
};

/// One invocation of `llmir bench serve`.
class BenchServe {
public:
  explicit BenchServe(const BenchServeOptions &options)
      : options(options), target(options.target) {}
  Outcome operator()();

private:
  Outcome readFlags();
  Outcome checkForm() const;
  Status getReady();
  Status findTokens();
  Expected<std::vector<Conversation>> conversations(int64_t count,
                                                    uint64_t seed) const;
  Status warmUp();
  Expected<Load> measuredLoad() const;
  Expected<LoadResult> measure();
  Outcome simulate();
  Status report(const LoadResult &result) const;
  LoadSettings settings() const;

  bool isMultiTurn() const { return options.dataset == "multi-turn"; }
  int64_t numRequests() const {
    return options.numPrompts * (isMultiTurn() ? options.turns : 1);
  }

  const BenchServeOptions &options;
  LoadTarget target;
  LoadApi api = LoadApi::Completions;
  std::vector<int32_t> ids; ///< Of random prompts; empty: they are words.
  std::unique_ptr<StreamClient> client;
  ProgressBar bar;
};

} // namespace

//===----------------------------------------------------------------------===//
// Flags
//===----------------------------------------------------------------------===//

/// Whether prompts are texts only: those of chats, and of conversations, whose
/// answers are texts.
static bool needsText(const BenchServeOptions &options, LoadApi api) {
  return api == LoadApi::Chat || options.dataset == "multi-turn";
}

Outcome BenchServe::checkForm() const {
  if ((options.dataset == "custom") == options.datasetPath.empty())
    return Outcome::usage(options.datasetPath.empty()
                              ? "--dataset-name custom needs --dataset-path"
                              : "--dataset-path needs --dataset-name custom",
                          "give both");
  const bool asksForIds = options.promptForm == "ids" || options.vocabulary > 0;
  if (asksForIds && needsText(options, api))
    return Outcome::usage("prompts of chats and of conversations with several "
                          "turns are texts, not token ids",
                          "remove --prompt-form and --vocab-size");
  if (options.vocabulary > 0 && options.promptForm == "text")
    return Outcome::usage("--vocab-size and --prompt-form text exclude each "
                          "other",
                          "give one of them");
  if (options.random.rangeRatio >= 1)
    return Outcome::usage("--random-range-ratio is 1 or more",
                          "give a number from 0, below 1");
  if (options.detailed && options.resultFile.empty() && !options.json)
    return Outcome::usage("--save-detailed needs --save-result or --json",
                          "give one of them");
  return Status::ok();
}

Outcome BenchServe::readFlags() {
  const bool isIPv6 = options.host.find(':') != std::string::npos;
  const std::string host = isIPv6 ? "[" + options.host + "]" : options.host;
  Expected<std::string> address =
      serverAddress(options.baseUrl.empty()
                        ? "http://" + host + ":" + std::to_string(options.port)
                        : options.baseUrl);
  if (!address)
    return Outcome::ofFlags(address.takeStatus());
  target.base = *address;
  target.temperature = options.temperature;
  Expected<LoadApi> found = target.api();
  if (!found)
    return Outcome::ofFlags(found.takeStatus());
  api = *found;
  if (!options.extraBody.empty()) {
    Expected<Json> extra = parseJson(options.extraBody, "--extra-body");
    if (!extra)
      return Outcome::usage(extra.status().cause());
    if (!extra->is_object())
      return Outcome::usage("--extra-body is not a JSON object");
    target.extra = std::move(*extra);
  }
  return checkForm();
}

//===----------------------------------------------------------------------===//
// Preparation
//===----------------------------------------------------------------------===//

Status BenchServe::getReady() {
  StreamClientOptions given = options.client;
  given.callTimeout = options.requestTimeout;
  Expected<std::unique_ptr<StreamClient>> created = StreamClient::create(given);
  if (!created)
    return created.takeStatus();
  client = std::move(*created);
  const Stopwatch watch;
  LLMIR_RETURN_IF_ERROR(waitUntilReady(
      *client, target, std::chrono::seconds(options.readyTimeout), [&] {
        bar.update("waiting for " + target.base,
                   watch.milliseconds() / 1000 /
                       static_cast<double>(options.readyTimeout));
      }));
  bar.hide();
  return Status::ok();
}

/// Finds the token ids that random prompts consist of.
Status BenchServe::findTokens() {
  if (options.dataset == "custom" || options.promptForm == "text" ||
      needsText(options, api))
    return Status::ok();
  if (options.vocabulary > 0) {
    ids.resize(static_cast<size_t>(options.vocabulary));
    std::iota(ids.begin(), ids.end(), 0);
    return Status::ok();
  }
  Expected<std::vector<int32_t>> found = tokensOf(*client, target, wordsText());
  if (found)
    ids = std::move(*found);
  else if (options.promptForm == "ids")
    return found.takeStatus();
  else
    note("prompts are words, about one token each: " +
         found.status().message());
  return Status::ok();
}

Expected<std::vector<Conversation>>
BenchServe::conversations(int64_t count, uint64_t seed) const {
  if (options.dataset == "custom")
    return readConversations(options.datasetPath, count, options.customOutput,
                             api);
  RandomWorkload workload = options.random;
  workload.count = count;
  workload.seed = seed;
  if (isMultiTurn())
    workload.turns = options.turns;
  if (options.dataset == "prefix_repetition") {
    workload.inputLength = options.repeatedSuffix;
    workload.outputLength = options.repeatedOutput;
    workload.prefixLength = options.repeatedPrefix;
    workload.numPrefixes = options.numPrefixes;
    workload.rangeRatio = 0;
  }
  return randomConversations(workload, ids);
}

/// Sends other random prompts, so that those that are measured are not in the
/// server's cache.
Status BenchServe::warmUp() {
  if (options.numWarmups == 0)
    return Status::ok();
  constexpr uint64_t otherSeed = 0x9E3779B97F4A7C15;
  auto prompts = conversations(options.numWarmups, options.seed ^ otherSeed);
  if (!prompts)
    return prompts.takeStatus();
  Load load;
  load.arrivals.resize(prompts->size());
  load.conversations = std::move(*prompts);
  load.maxConcurrency = options.maxConcurrency;
  bar.update("warming up", 0);
  Expected<LoadResult> result = runLoad(*client, target, load, [](int64_t) {});
  bar.hide();
  if (!result)
    return result.takeStatus();
  for (const AnswerRecord &record : result->records)
    if (!record.hasSucceeded())
      return Status(StatusCode::IoError,
                    "a warm-up request failed: " + record.failure,
                    "correct the request, or the server");
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// The measurement
//===----------------------------------------------------------------------===//

Expected<Load> BenchServe::measuredLoad() const {
  auto prompts = conversations(options.numPrompts, options.seed);
  if (!prompts)
    return prompts.takeStatus();
  Load load;
  load.conversations = std::move(*prompts);
  load.arrivals = arrivalTimes(options.numPrompts, options.requestRate,
                               options.burstiness, options.seed);
  load.maxConcurrency = options.maxConcurrency;
  return load;
}

Expected<LoadResult> BenchServe::measure() {
  Expected<Load> load = measuredLoad();
  if (!load)
    return load.takeStatus();
  const auto all = static_cast<double>(numRequests());
  const Stopwatch watch;
  double shown = 0;
  const auto progress = [&](int64_t done) {
    if (watch.milliseconds() < shown + 100) // It takes time, too.
      return;
    shown = watch.milliseconds();
    bar.update(std::to_string(done) + " of " + std::to_string(numRequests()) +
                   " requests",
               static_cast<double>(done) / all);
  };
  Expected<LoadResult> result = runLoad(*client, target, *load, progress);
  bar.hide();
  return result;
}

/// The same load for the scheduler with measured times of steps.
Outcome BenchServe::simulate() {
  if (isMultiTurn() || options.dataset == "custom")
    return Outcome::usage("--simulate takes random prompts of one turn",
                          "use --dataset-name random or prefix_repetition");
  Expected<StepTable> table = StepTable::read(options.stepTable);
  if (!table)
    return Outcome::ofFlags(table.takeStatus());
  target.model = table->model;
  ids.resize(static_cast<size_t>(table->vocabulary));
  std::iota(ids.begin(), ids.end(), 0);
  Expected<Load> load = measuredLoad();
  if (!load)
    return load.takeStatus();
  Expected<SimulationResult> result = simulateLoad(*load, *table);
  if (!result)
    return result.takeStatus();
  const auto steps = static_cast<double>(std::max<int64_t>(result->steps, 1));
  note("simulated " + std::to_string(result->steps) + " steps of " +
       formatNumber(1000 * result->stepSeconds / steps, 2) +
       " ms with at most " + std::to_string(result->mostSequences) +
       " sequences; the scheduler took " +
       formatNumber(1e6 * result->planSeconds / steps, 1) + " us for each, " +
       formatNumber(100 * result->planSeconds / result->stepSeconds, 2) +
       " % of them");
  return report(result->load);
}

LoadSettings BenchServe::settings() const {
  LoadSettings settings;
  settings.model = target.model;
  settings.endpoint = target.url();
  settings.dataset = options.dataset;
  settings.numPrompts = options.numPrompts;
  settings.maxConcurrency = options.maxConcurrency;
  settings.requestRate = options.requestRate;
  settings.burstiness = options.burstiness;
  settings.seed = options.seed;
  for (LoadMetric metric : allLoadMetrics)
    if (std::count(options.metrics.begin(), options.metrics.end(),
                   loadMetricName(metric)))
      settings.metrics.push_back(metric);
  return settings;
}

static std::string dumped(const Json &json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Status BenchServe::report(const LoadResult &result) const {
  const LoadReport report = makeReport(result, options.percentiles);
  const LoadSettings asked = settings();
  Json json = reportJson(report, asked);
  if (options.detailed)
    json.update(detailsJson(result));
  print(options.json ? dumped(json) : reportText(report, asked));
  if (!options.resultFile.empty())
    LLMIR_RETURN_IF_ERROR(
        writeFileAtomically(options.resultFile, dumped(json)));
  for (const auto &[failure, count] : report.failures)
    note(std::to_string(count) + " requests failed: " + failure);
  if (report.completed > 0)
    return Status::ok();
  return Status(StatusCode::IoError, "no request succeeded",
                "see the reasons above");
}

Outcome BenchServe::operator()() {
  if (Outcome flags = readFlags(); !flags.status)
    return flags;
  if (!options.stepTable.empty())
    return simulate();
  LLMIR_RETURN_IF_ERROR(getReady());
  LLMIR_RETURN_IF_ERROR(findTokens());
  LLMIR_RETURN_IF_ERROR(warmUp());
  Expected<LoadResult> result = measure();
  if (!result)
    return result.takeStatus();
  return report(*result);
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

static void addServerOptions(Command command, BenchServeOptions &options) {
  addOption(command, "--base-url", options.baseUrl,
            "address of the server, instead of --host and --port", "URL");
  addOption(command, "--host", options.host,
            "host of the server (default: 127.0.0.1)");
  addOption(command, "--port", options.port, "its port (default: 8080)")
      .check(inRange(1, 65535));
  addOption(command, "--endpoint", options.target.endpoint,
            "/v1/completions (default) or /v1/chat/completions", "PATH");
  addOption(command, "--model", options.target.model,
            "name of the model (default: the first that the server lists)",
            "NAME");
  addOption(command, "--api-key", options.client.token,
            "key that is sent with each request");
  addFlag(command, "--insecure", options.client.acceptsAnyCertificate,
          "accept any certificate of an https server");
  addOption(command, "--ready-timeout", options.readyTimeout,
            "seconds to wait until the server is ready (default: 0)")
      .check(inRange(0, 86400));
  addOption(command, "--simulate", options.stepTable,
            "simulate a server instead, whose steps take the times of this "
            "file, which `llmir bench steps` writes",
            "FILE");
  addOption(command, "--request-timeout", options.requestTimeout,
            "seconds after which a request has failed; 0, the default: never")
      .check(inRange(0, 31536000));
}

static void addRandomOptions(Command command, BenchServeOptions &options) {
  const auto length = [&](const char *name, int64_t &value, double least,
                          const std::string &description) {
    addOption(command, name, value,
              description + " (default: " + std::to_string(value) + ")")
        .check(atLeast(least))
        .check(inRange(0.0, 1e8));
  };
  RandomWorkload &random = options.random;
  length("--random-input-len", random.inputLength, 1,
         "tokens of a random prompt, without the prefix; of each turn");
  length("--random-output-len", random.outputLength, 1,
         "maximum tokens of its answer");
  addOption(command, "--random-range-ratio", random.rangeRatio,
            "lengths are uniform from (1 - RATIO) to (1 + RATIO) times these "
            "(default: 0)",
            "RATIO")
      .check(atLeast(0));
  length("--random-prefix-len", random.prefixLength, 0,
         "tokens with which all random prompts begin");
  length("--prefix-repetition-prefix-len", options.repeatedPrefix, 0,
         "tokens of a shared prefix of prefix_repetition");
  length("--prefix-repetition-suffix-len", options.repeatedSuffix, 1,
         "tokens after it, of each prompt");
  length("--prefix-repetition-num-prefixes", options.numPrefixes, 1,
         "prefixes that the prompts take in turn");
  length("--prefix-repetition-output-len", options.repeatedOutput, 1,
         "maximum tokens of their answers");
  length("--multi-turn-turns", options.turns, 1,
         "requests of a conversation of multi-turn");
}

static void addLoadOptions(Command command, BenchServeOptions &options) {
  addOption(command, "--dataset-name", options.dataset,
            "random (default): prompts of random tokens; prefix_repetition: "
            "groups of them with the same beginning; multi-turn: random "
            "conversations; custom: those of a file")
      .check(oneOf({"random", "prefix_repetition", "multi-turn", "custom"}));
  addOption(command, "--dataset-path", options.datasetPath,
            "prompts as JSON lines, {\"prompt\": text or ids} or "
            "{\"messages\": [...]}, with \"output_tokens\" where it differs",
            "FILE");
  addOption(command, "--custom-output-len", options.customOutput,
            "maximum tokens of answers to a file's prompts (default: 256)")
      .check(atLeast(1));
  addOption(command, "--num-prompts", options.numPrompts,
            "requests, or conversations of multi-turn (default: 100)")
      .check(inRange(1, 100000000));
  addOption(command, "--num-warmups", options.numWarmups,
            "requests before the measurement, with other random prompts "
            "(default: 0)")
      .check(inRange(0, 1000000));
  addOption(command, "--prompt-form", options.promptForm,
            "random prompts are token ids or text; auto, the default: ids, "
            "where the server's /tokenize gives some")
      .check(oneOf({"auto", "ids", "text"}));
  addOption(command, "--vocab-size", options.vocabulary,
            "random token ids are below this, instead of those of /tokenize")
      .check(inRange(2, std::numeric_limits<int32_t>::max()));
  addRandomOptions(command, options);
  addOption(command, "--seed", options.seed,
            "seed of prompts and arrivals (default: 0); the same prompts may "
            "be found in the server's cache");
  addOption(command, "--request-rate", options.requestRate,
            "requests that arrive per second; inf, the default: all at once",
            "RATE")
      .check(inRange(1e-6, std::numeric_limits<double>::infinity()));
  addOption(command, "--burstiness", options.burstiness,
            "shape of the gamma distribution of intervals; 1, the default: a "
            "Poisson process; smaller: bursts")
      .check(inRange(1e-3, 1e6));
  addOption(command, "--max-concurrency", options.maxConcurrency,
            "requests, or conversations, at once; 0, the default: no limit")
      .check(atLeast(0));
  addFlag(command, "--ignore-eos", options.target.ignoresEos,
          "answers have the maximum of tokens");
  addOption(command, "--temperature", options.temperature,
            "temperature of requests (default: the server's)")
      .check(atLeast(0));
  addOption(command, "--extra-body", options.extraBody,
            "further fields of requests", "JSON");
}

static void addReportOptions(Command command, BenchServeOptions &options) {
  addOption(command, "--percentile-metrics", options.metrics,
            "metrics of the report (default: ttft,tpot,itl,e2el)")
      .separatedByCommas()
      .check(oneOf({"ttft", "tpot", "itl", "e2el"}));
  addOption(command, "--metric-percentiles", options.percentiles,
            "percentiles of each metric (default: 99)")
      .separatedByCommas()
      .check(inRange(0.0, 100.0));
  addOption(command, "--save-result", options.resultFile,
            "also write the report as JSON, with vLLM's keys", "FILE");
  addFlag(command, "--save-detailed", options.detailed,
          "with the numbers of each request");
  addJsonFlag(command, options.json);
}

void cli::addBenchServeCommand(CommandLine &line, Command bench) {
  auto options = std::make_shared<BenchServeOptions>();
  Command command = bench.addCommand(
      "serve", "Measure a server with OpenAI's API, as `vllm bench serve` does",
      "llmir bench serve --port 8080 --num-prompts 64 "
      "--random-input-len 512 --random-output-len 64\n"
      "  llmir bench serve --base-url https://host/v1 --api-key KEY --endpoint "
      "/v1/chat/completions --request-rate 4");
  addServerOptions(command, *options);
  addLoadOptions(command, *options);
  addReportOptions(command, *options);
  line.onRun(command, [options] { return BenchServe(*options)(); });
}
