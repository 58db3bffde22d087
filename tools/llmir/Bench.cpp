//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llmir bench: tokens per second of prefill and decode, beside what the
// machine's memory allows. The flags are those of llama-bench.
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "Console.h"
#include "MemoryBandwidth.h"
#include "ModelResolver.h"

#include "llmir/Runtime/Executor.h"
#include "llmir/Runtime/WorkerTeam.h"
#include "llmir/Support/Json.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

using namespace llmir;
using namespace llmir::cli;

namespace {

struct BenchOptions {
  ModelRequest model;
  std::vector<int64_t> prompts = {512}, tokens = {128}, depths = {0};
  std::vector<int64_t> threads;
  int64_t piece = 0;
  int64_t repetitions = 5;
  bool pin = false;
  std::string format = "md";
};

/// A test: `prompt` tokens at once or `tokens` one by one, after `depth`.
struct Test {
  int64_t prompt = 0, tokens = 0, depth = 0;
  std::string name() const {
    std::string text =
        prompt ? "pp" + std::to_string(prompt) : "tg" + std::to_string(tokens);
    return depth ? text + " @ d" + std::to_string(depth) : text;
  }
};

struct Result {
  Test test;
  int64_t threads = 0;
  std::string level; ///< Of the code that ran.
  double mean = 0, deviation = 0; ///< Tokens per second.
  /// Bytes of weights and KV read per second by decoding, and the machine's
  /// measured read bandwidth; 0 for prefill, which computes rather than reads.
  double bytesPerSecond = 0, limit = 0;
};

/// Runs the tests of one number of threads.
class Bench {
public:
  Bench(Executor &executor, const Artifact &artifact,
        const BenchOptions &options)
      : executor(executor), artifact(artifact), options(options) {}

  Expected<Result> run(const Test &test, double limit);

private:
  Status feed(int64_t count, int64_t piece);
  Expected<double> time(const Test &test);

  Executor &executor;
  const Artifact &artifact;
  const BenchOptions &options;
  uint64_t random = 1; ///< Ids are arbitrary but the same every time.
  static constexpr SequenceId sequence = 0;
};

} // namespace

/// Feeds `count` arbitrary tokens, `piece` at a time; the last token's logits
/// are computed in each step that decoding would compute them in.
Status Bench::feed(int64_t count, int64_t piece) {
  std::vector<int32_t> ids;
  for (int64_t done = 0; done < count; done += piece) {
    ids.resize(static_cast<size_t>(std::min(piece, count - done)));
    for (int32_t &id : ids) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      id = static_cast<int32_t>(
          (random >> 33) % static_cast<uint64_t>(executor.info().vocabSize));
    }
    SequenceStep step;
    step.sequence = sequence;
    step.tokens = ids;
    step.want = done + piece >= count || piece == 1 ? WantLogits::Last
                                                    : WantLogits::None;
    Expected<StepLogits> logits =
        executor.step(Span<const SequenceStep>(&step, 1));
    if (!logits)
      return logits.takeStatus();
  }
  return Status::ok();
}

/// Seconds of one repetition.
Expected<double> Bench::time(const Test &test) {
  LLMIR_RETURN_IF_ERROR(executor.cache().createSequence(sequence));
  int64_t piece = options.piece
                      ? std::min(options.piece, executor.tokenBudget())
                      : executor.tokenBudget();
  Status status = feed(test.depth, piece);
  Stopwatch watch;
  if (status)
    status = test.prompt ? feed(test.prompt, piece) : feed(test.tokens, 1);
  double seconds = watch.milliseconds() / 1000;
  Status freed = executor.cache().freeSequence(sequence);
  if (!status)
    return status;
  if (!freed)
    return freed;
  return seconds;
}

/// Bytes that decoding one token at `length` reads.
static double decodeBytes(const Artifact &artifact, double length) {
  const ArtifactInfo &info = artifact.info();
  double element =
      static_cast<double>(tensorFormatInfo(info.kvFormat).bytesPerBlock);
  double kv =
      2.0 *
      static_cast<double>(info.numLayers * info.numKVHeads * info.headDim) *
      element * length;
  return static_cast<double>(info.stepWeightBytes) + kv;
}

Expected<Result> Bench::run(const Test &test, double limit) {
  Expected<double> warmUp = time(test);
  if (!warmUp)
    return warmUp.takeStatus();
  auto count = static_cast<double>(test.prompt ? test.prompt : test.tokens);
  std::vector<double> rates;
  for (int64_t i = 0; i < options.repetitions; ++i) {
    Expected<double> seconds = time(test);
    if (!seconds)
      return seconds.takeStatus();
    rates.push_back(count / *seconds);
  }
  Result result;
  result.test = test;
  result.threads = executor.threads();
  result.level = executor.level();
  double n = static_cast<double>(rates.size());
  result.mean = std::accumulate(rates.begin(), rates.end(), 0.0) / n;
  double squares = 0;
  for (double rate : rates)
    squares += (rate - result.mean) * (rate - result.mean);
  result.deviation = rates.size() > 1 ? std::sqrt(squares / (n - 1)) : 0;
  if (test.tokens) {
    double length = static_cast<double>(test.depth) + (count + 1) / 2;
    result.bytesPerSecond = result.mean * decodeBytes(artifact, length);
    result.limit = limit;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

static std::string share(const Result &result) {
  return result.limit > 0
             ? formatNumber(100 * result.bytesPerSecond / result.limit, 0) +
                   " %"
             : "";
}

static std::string gigabytes(double bytesPerSecond) {
  return bytesPerSecond > 0 ? formatNumber(bytesPerSecond / 1e9, 1) : "";
}

static void printMarkdown(const Artifact &artifact,
                          const std::vector<Result> &results) {
  print("| model | size | params | threads | test | t/s | GB/s | limit GB/s | "
        "share |\n| --- | ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: "
        "|\n");
  const ArtifactInfo &info = artifact.info();
  for (const Result &r : results)
    print("| " + printable(info.modelName, 60) + " " + info.weightsDescription +
          " | " + formatBytes(static_cast<double>(artifact.weights().size())) +
          " | " +
          formatNumber(static_cast<double>(info.parameterCount) / 1e6, 2) +
          " M | " + std::to_string(r.threads) + " | " + r.test.name() + " | " +
          formatNumber(r.mean, 2) + " ± " + formatNumber(r.deviation, 2) +
          " | " + gigabytes(r.bytesPerSecond) + " | " + gigabytes(r.limit) +
          " | " + share(r) + " |\n");
}

static Json describe(const Artifact &artifact, const Result &r) {
  const ArtifactInfo &info = artifact.info();
  return {{"model", info.modelName},
          {"weights", info.weightsDescription},
          {"target", r.level},
          {"weight_bytes", artifact.weights().size()},
          {"parameters", info.parameterCount},
          {"threads", r.threads},
          {"n_prompt", r.test.prompt},
          {"n_gen", r.test.tokens},
          {"n_depth", r.test.depth},
          {"test", r.test.name()},
          {"tokens_per_second", r.mean},
          {"deviation", r.deviation},
          {"bytes_per_second", r.bytesPerSecond},
          {"limit_bytes_per_second", r.limit},
          {"share_of_limit",
           r.limit > 0 ? Json(r.bytesPerSecond / r.limit) : Json(nullptr)}};
}

static void printResults(const std::string &format, const Artifact &artifact,
                         const std::vector<Result> &results) {
  if (format == "md")
    return printMarkdown(artifact, results);
  Json list = Json::array();
  for (const Result &result : results)
    list.push_back(describe(artifact, result));
  if (format == "json")
    return print(list.dump(2, ' ', false, Json::error_handler_t::replace) +
                 "\n");
  for (size_t i = 0; i < list.size(); ++i) {
    std::string head, line;
    for (auto it = list[i].begin(); it != list[i].end(); ++it) {
      head += (head.empty() ? "" : ",") + it.key();
      line += (line.empty() ? "" : ",") +
              (it->is_null()
                   ? ""
                   : it->dump(-1, ' ', false, Json::error_handler_t::replace));
    }
    print((i == 0 ? head + "\n" : "") + line + "\n");
  }
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

static std::vector<Test> listTests(const BenchOptions &options) {
  std::vector<Test> tests;
  for (int64_t depth : options.depths) {
    for (int64_t prompt : options.prompts)
      if (prompt > 0)
        tests.push_back({prompt, 0, depth});
    for (int64_t tokens : options.tokens)
      if (tokens > 0)
        tests.push_back({0, tokens, depth});
  }
  return tests;
}

static Outcome bench(const BenchOptions &options) {
  std::vector<Test> tests = listTests(options);
  if (tests.empty())
    return Outcome::usage("-p and -n leave nothing to measure",
                          "give one of them a number above 0");
  Expected<ResolvedModel> model = resolveModel(options.model);
  if (!model)
    return model.takeStatus();
  const Artifact &artifact = *model->artifact;
  int64_t longest = 0;
  for (const Test &test : tests) {
    int64_t length; // One of prompt and tokens is 0.
    if (__builtin_add_overflow(test.depth, test.prompt + test.tokens,
                               &length) ||
        length > artifact.info().contextLength)
      return Status(StatusCode::OutOfRange,
                    "the test " + test.name() +
                        " does not fit into the model's context of " +
                        std::to_string(artifact.info().contextLength) +
                        " tokens",
                    "give smaller -p, -n or -d");
    longest = std::max(longest, length);
  }

  std::vector<int64_t> threadCounts = options.threads;
  if (threadCounts.empty())
    threadCounts.push_back(usableProcessors());
  std::vector<Result> results;
  ProgressBar bar;
  for (int64_t threads : threadCounts) {
    // The limit of what decoding reads over and over: the weights.
    Expected<ReadBandwidth> limit = measureReadBandwidth(
        artifact.info().stepWeightBytes, threads, 0.3, options.pin);
    if (!limit)
      return limit.takeStatus();
    ExecutorOptions settings;
    settings.level = options.model.level;
    settings.threads = threads;
    settings.pin = options.pin;
    settings.contextLength = longest;
    auto executor = Executor::create(model->artifact, settings);
    if (!executor)
      return executor.takeStatus();
    Bench measure(**executor, artifact, options);
    for (const Test &test : tests) {
      bar.update(test.name(),
                 static_cast<double>(results.size()) /
                     static_cast<double>(tests.size() * threadCounts.size()));
      Expected<Result> result = measure.run(test, limit->bytesPerSecond);
      if (!result)
        return result.takeStatus();
      results.push_back(*result);
    }
  }
  printResults(options.format, artifact, results);
  return Status::ok();
}

void cli::addBenchCommand(CommandLine &line) {
  auto options = std::make_shared<BenchOptions>();
  CLI::App &command =
      line.add("bench", "Measure prefill and decode speed",
               "llmir bench models/demo -p 512 -n 128 -t 1,2 -o md");
  addModelOptions(command, options->model);
  auto addList = [&](const char *names, std::vector<int64_t> &list,
                     const char *description) {
    return addOption(command, names, list, description)
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(atLeast(0));
  };
  addList("-p,--prompt", options->prompts,
          "prompt tokens of the prefill tests; 0: none")
      ->capture_default_str();
  addList("-n,--gen", options->tokens, "tokens of the decode tests; 0: none")
      ->capture_default_str();
  addList("-d,--depth", options->depths,
          "tokens that are in the context before a test begins")
      ->capture_default_str();
  addList("-t,--threads", options->threads,
          "worker threads (default: one per processor)");
  addOption(command, "-b,--batch", options->piece,
            "tokens of one prefill step (default: the model's token budget)")
      ->check(atLeast(1));
  addOption(command, "-r,--repetitions", options->repetitions,
            "of each test, after one to warm up")
      ->capture_default_str()
      ->check(atLeast(1));
  addFlag(command, "--pin", options->pin, "bind each thread to a processor");
  addOption(command, "-o,--output", options->format, "form of the result")
      ->capture_default_str()
      ->check(CLI::IsMember({"md", "json", "csv"}));
  line.onRun(command, [options] { return bench(*options); });
}
