//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llmir perplexity: measures the perplexity of a text.
//
//===----------------------------------------------------------------------===//

#include "Command.h"
#include "Console.h"
#include "Divergence.h"
#include "Ids.h"
#include "ModelResolver.h"
#include "NpyWriter.h"

#include "llmir/Runtime/Executor.h"
#include "llmir/Support/Json.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <unistd.h>

using namespace llmir;
using namespace llmir::cli;

namespace {

struct PerplexityOptions {
  ModelRequest model;
  std::string file, ids, logits, base;
  int64_t context = 0;
  int64_t threads = 0;
  bool json = false;
};

/// Scores consecutive windows of the ids.
class Scorer {
public:
  /// `logits` and `base` may be empty.
  Scorer(Executor &executor, std::optional<NpyWriter> &logits,
         std::optional<Divergence> &base)
      : executor(executor), logits(logits), base(base) {}

  /// Feeds a window and scores every token except its first.
  Status score(Span<const int32_t> window);

  double nats = 0;    ///< Sum of -log p over the scored tokens.
  int64_t scored = 0; ///< Number of scored tokens.
  int64_t fed = 0;    ///< Number of tokens fed to the model.
  int64_t windows = 0;

private:
  Status feed(Span<const int32_t> window);

  Executor &executor;
  std::optional<NpyWriter> &logits;
  std::optional<Divergence> &base;
  static constexpr SequenceId sequence = 0;
};

} // namespace

/// -log softmax(row)[target], in double precision.
static double crossEntropy(Span<const float> row, int32_t target) {
  double greatest = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (float logit : row)
    sum += std::exp(static_cast<double>(logit) - greatest);
  return std::log(sum) + greatest -
         static_cast<double>(row[static_cast<size_t>(target)]);
}

Status Scorer::feed(Span<const int32_t> window) {
  auto chunk = static_cast<size_t>(
      std::min(executor.tokenBudget(), executor.maxLogitRows()));
  for (size_t at = 0; at < window.size(); at += chunk) {
    SequenceStep step;
    step.sequence = sequence;
    step.tokens = window.subspan(at, std::min(chunk, window.size() - at));
    step.want = WantLogits::All;
    Expected<StepLogits> rows =
        executor.step(Span<const SequenceStep>(&step, 1));
    if (!rows)
      return rows.takeStatus();
    for (size_t i = 0; i < step.tokens.size(); ++i) {
      Span<const float> row = rows->row(static_cast<int64_t>(i));
      if (logits)
        LLMIR_RETURN_IF_ERROR(logits->writeRow(row));
      if (base)
        LLMIR_RETURN_IF_ERROR(base->compare(row));
      ++fed;
      if (at + i + 1 == window.size())
        continue; // The next token is in the next window.
      int32_t next = window[at + i + 1];
      // A step checks the ids that it is fed; this one may belong to the next.
      if (next < 0 || static_cast<size_t>(next) >= row.size())
        return Status(StatusCode::OutOfRange,
                      "token id " + std::to_string(next) +
                          " is not in the vocabulary of " +
                          std::to_string(row.size()),
                      "use ids from 0 to " + std::to_string(row.size() - 1));
      nats += crossEntropy(row, next);
      ++scored;
    }
  }
  return Status::ok();
}

Status Scorer::score(Span<const int32_t> window) {
  LLMIR_RETURN_IF_ERROR(executor.cache().createSequence(sequence));
  Status fedAll = feed(window);
  Status freed = executor.cache().freeSequence(sequence);
  ++windows;
  return fedAll.isOk() ? std::move(freed) : std::move(fedAll);
}

namespace {

/// The ids to score, and the token that starts each window, if any.
struct Input {
  std::vector<int32_t> ids;
  std::optional<int32_t> first;
  int64_t bytes = 0; ///< Of the text; 0 if ids were given.
};

} // namespace

/// The ids of `options.ids`, which is a list or the name of a file with a list.
static Expected<Input> readIds(const PerplexityOptions &options) {
  Input input;
  std::string list = options.ids;
  if (access(options.ids.c_str(), R_OK) == 0 || options.ids == "-") {
    Expected<std::string> text = readText(options.ids);
    if (!text)
      return text.takeStatus();
    list = std::move(*text);
  }
  Expected<std::vector<int32_t>> ids = parseIds(list, "--ids");
  if (!ids)
    return ids.takeStatus();
  input.ids = std::move(*ids);
  return input;
}

static Expected<Input> readInput(const PerplexityOptions &options,
                                 const Artifact &artifact) {
  if (!options.ids.empty())
    return readIds(options);
  Expected<std::string> text = readText(options.file);
  if (!text)
    return text.takeStatus();
  Expected<std::optional<Tokenizer>> tokenizer = artifactTokenizer(artifact);
  if (!tokenizer)
    return tokenizer.takeStatus();
  if (!*tokenizer)
    return Status(StatusCode::NotFound,
                  "'" + options.model.model + "' has no tokenizer",
                  "give token ids: --ids 1,2,3 or --ids FILE");
  Input input;
  input.bytes = static_cast<int64_t>(text->size());
  EncodeOptions bare; // The windows have their own start token.
  bare.addSpecialTokens = false;
  Expected<std::vector<int32_t>> ids = (*tokenizer)->encode(*text, bare);
  if (!ids)
    return ids.takeStatus().withContext("'" + options.file + "'");
  input.ids = std::move(*ids);
  if (artifact.info().bosToken >= 0)
    input.first = static_cast<int32_t>(artifact.info().bosToken);
  return input;
}

/// Prints the results as text or JSON.
static void report(const PerplexityOptions &options, const Artifact &artifact,
                   const Scorer &scorer, const std::optional<Divergence> &base,
                   const Input &input, int64_t context, double ms) {
  double mean = scorer.nats / static_cast<double>(scorer.scored);
  bool any = scorer.scored > 0;
  double bitsPerByte =
      input.bytes > 0 && any
          ? scorer.nats / std::log(2.0) / static_cast<double>(input.bytes)
          : 0;
  if (options.json) {
    Json object = {
        {"perplexity", any ? Json(std::exp(mean)) : Json(nullptr)},
        {"nats_per_token", any ? Json(mean) : Json(nullptr)},
        {"bits_per_byte", bitsPerByte > 0 ? Json(bitsPerByte) : Json(nullptr)},
        {"tokens", input.ids.size()},
        {"scored_tokens", scorer.scored},
        {"windows", scorer.windows},
        {"context", context},
        {"artifact_checksum", checksumText(artifact)},
        {"milliseconds", ms}};
    if (base)
      object.update({{"kl_mean", base->mean()},
                     {"kl_p99", base->percentile99()},
                     {"top1_agreement", base->topAgreement()}});
    print(object.dump() + "\n");
    return;
  }
  if (any)
    print("perplexity " + formatNumber(std::exp(mean), 4) + "\n" +
          formatNumber(mean, 6) + " nats per token\n");
  else
    print("perplexity: no token is preceded by another\n");
  if (bitsPerByte > 0)
    print(formatNumber(bitsPerByte, 6) + " bits per byte\n");
  if (base)
    print("KL divergence " + formatNumber(base->mean(), 8) +
          " nats on average, " + formatNumber(base->percentile99(), 8) +
          " at most for 99 % of positions\nthe same most likely token at " +
          formatNumber(100 * base->topAgreement(), 3) + " % of positions\n");
  note(std::to_string(scorer.scored) + " tokens scored in " +
       std::to_string(scorer.windows) + " windows of at most " +
       std::to_string(context) + ", " +
       formatNumber(static_cast<double>(scorer.fed) * 1000 / ms, 1) +
       " tokens/s; artifact " + checksumText(artifact));
}

static Outcome perplexity(const PerplexityOptions &options) {
  if (options.file.empty() == options.ids.empty())
    return Outcome::usage(options.file.empty()
                              ? "neither -f nor --ids was given"
                              : "-f and --ids exclude each other",
                          "give one of them");
  Expected<ResolvedModel> model = resolveModel(options.model);
  if (!model)
    return Outcome::ofFlags(model.takeStatus());
  Expected<Input> input = readInput(options, *model->artifact);
  if (!input)
    return input.takeStatus();
  if (input->ids.empty())
    return Status(StatusCode::InvalidArgument, "there are no tokens to score",
                  "give a longer text");

  // Longer windows increase the cost of attention for little benefit.
  int64_t context =
      options.context
          ? options.context
          : std::min<int64_t>(model->artifact->info().contextLength, 4096);
  size_t extra = input->first ? 1 : 0;
  if (context < static_cast<int64_t>(extra) + 1)
    return Outcome::usage("--ctx " + std::to_string(context) +
                              " leaves no room for a token after the first",
                          "give at least 2");
  ExecutorOptions settings;
  settings.level = options.model.level;
  settings.threads = options.threads;
  settings.contextLength = context;
  auto executor = Executor::create(model->artifact, settings);
  if (!executor)
    return executor.takeStatus();

  auto span = static_cast<size_t>(context) - extra;
  size_t count = (input->ids.size() + span - 1) / span;
  const auto positions =
      static_cast<int64_t>(input->ids.size() + count * extra);
  const int64_t vocabulary = model->artifact->info().vocabSize;
  std::optional<Divergence> base;
  if (!options.base.empty()) {
    Expected<Divergence> reference =
        Divergence::open(options.base, positions, vocabulary);
    if (!reference)
      return reference.takeStatus();
    base.emplace(std::move(*reference));
  }
  std::optional<NpyWriter> logits;
  if (!options.logits.empty()) {
    Expected<NpyWriter> writer =
        NpyWriter::create(options.logits, positions, vocabulary);
    if (!writer)
      return writer.takeStatus();
    logits.emplace(std::move(*writer));
  }

  Stopwatch watch;
  Scorer scorer(**executor, logits, base);
  ProgressBar bar;
  std::vector<int32_t> window;
  for (size_t i = 0; i < count; ++i) {
    bar.update("scoring", static_cast<double>(i) / static_cast<double>(count));
    window.clear();
    if (input->first)
      window.push_back(*input->first);
    size_t at = i * span, end = std::min(at + span, input->ids.size());
    window.insert(window.end(), input->ids.begin() + static_cast<ptrdiff_t>(at),
                  input->ids.begin() + static_cast<ptrdiff_t>(end));
    LLMIR_RETURN_IF_ERROR(scorer.score(window));
  }
  if (logits)
    LLMIR_RETURN_IF_ERROR(logits->finish());
  if (std::isnan(scorer.nats))
    noteNaN("the perplexity");
  report(options, *model->artifact, scorer, base, *input, context,
         watch.milliseconds());
  return Status::ok();
}

void cli::addPerplexityCommand(CommandLine &line) {
  auto options = std::make_shared<PerplexityOptions>();
  Command command =
      line.add("perplexity", "Measure the perplexity of a text",
               "llmir perplexity models/demo -f book.txt --ctx 512");
  addModelOptions(command, options->model);
  addOption(command, "-f,--file", options->file,
            "the text; - is standard input. Windows start with the model's BOS "
            "token, if it has one",
            "FILE");
  addOption(command, "--ids", options->ids,
            "token ids instead: 1,2,3, or a file with ids; used as given",
            "IDS");
  addOption(command, "--ctx", options->context,
            "tokens per window (default: the model's context, at most 4096)")
      .check(atLeast(1));
  addOption(command, "--logits", options->logits,
            "write the logits of every position: float32 [tokens, vocab]",
            "OUT.npy");
  addOption(command, "--kl-base", options->base,
            "also compare the distributions with those of a reference: its "
            "logits, as written by --logits",
            "REF.npy");
  addOption(command, "-t,--threads", options->threads,
            "worker threads; 0, the default: one per processor")
      .check(atLeast(0));
  addJsonFlag(command, options->json);
  line.onRun(command, withModel(options->model.model,
                                [options] { return perplexity(*options); }));
}
