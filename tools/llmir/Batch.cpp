//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llmir batch: answers many requests, one JSON object per line, as many at once
// as fit.
//
//===----------------------------------------------------------------------===//

#include "BatchRequest.h"
#include "Command.h"
#include "Console.h"
#include "JsonLines.h"
#include "LoadedModel.h"
#include "StandardInput.h"

#include "llmir/Server/AnswerText.h"
#include "llmir/Server/LogprobsJson.h"

#include <algorithm>
#include <condition_variable>
#include <limits>
#include <memory>
#include <mutex>
#include <vector>

using namespace llmir;
using namespace llmir::cli;

namespace {

/// Requests that are read ahead of the model.
constexpr int64_t mostOutstanding = 512;

struct BatchOptions {
  ModelRequest model;
  std::optional<int64_t> maxTokens;
  SamplingRequest sampling;
  ExecutionRequest execution;
  TemplateRequest chatTemplate;
};

/// One continuation.
struct Continuation {
  AnswerText answer;
  std::string text;
  std::vector<int32_t> ids;
  std::vector<TokenLogprobs> logprobs; ///< Of `ids`, if requested.
  std::vector<int64_t> offsets;        ///< Characters before each of `ids`.

  Json toJson(int64_t index, FinishReason reason,
              const Tokenizer *tokenizer) const {
    Json choice = {
        {"index", index},
        {"text", tokenizer ? Json(text) : Json(nullptr)},
        {"ids", ids},
        {"finish_reason",
         finishReasonName(answer.hasStopped() ? FinishReason::Stop : reason)}};
    if (!logprobs.empty())
      choice["logprobs"] = completionLogprobs(tokenizer, logprobs, offsets);
    return choice;
  }
};

/// A request that the engine works on.
struct Outstanding {
  int64_t line = 0;
  Json id; ///< `custom_id`
  int64_t promptTokens = 0;
  std::vector<Continuation> continuations;
  std::vector<Json> choices; ///< Those that have ended.
  Json promptLogprobs;       ///< Null if not requested.
  int64_t cachedTokens = 0, generatedTokens = 0;
  bool wantsPromptLogprobs = false;
  Status failure;
};

/// One invocation of `llmir batch`.
class Batch {
public:
  explicit Batch(const BatchOptions &options) : options(options) {}
  Outcome operator()();

private:
  Status load();
  Status readLines();
  Status submit(const std::string &line, int64_t number);
  void receive(const std::shared_ptr<Outstanding> &entry,
               const RequestUpdate &update);
  void write(const Outstanding &entry);
  void showProgress();
  void report(double milliseconds) const;

  const BatchOptions &options;
  std::shared_ptr<const Artifact> artifact;
  std::optional<Tokenizer> tokenizer;
  PromptModel model;
  Request defaults;

  std::mutex mutex; ///< Of the following.
  std::condition_variable hasRoom;
  int64_t outstanding = 0;
  int64_t answered = 0, failed = 0, read = 0;
  bool hasReadAll = false;
  ProgressBar bar;

  std::unique_ptr<Engine> engine; ///< Uses the others until it ends.
};

} // namespace

Status Batch::load() {
  Expected<ResolvedModel> resolved = resolveModel(options.model);
  if (!resolved)
    return resolved.takeStatus();
  ExecutionRequest execution = options.execution;
  execution.cacheUse = CacheUse::ManyTexts;
  Expected<LoadedModel> loaded =
      loadModel(*resolved, options.model.level, execution);
  if (!loaded)
    return loaded.takeStatus();
  artifact = std::move(loaded->artifact);
  tokenizer = std::move(loaded->tokenizer);
  model = promptModel(*artifact, tokenizer, options.chatTemplate);
  defaults.sampling =
      options.sampling.params(loaded->executor->info().generation);
  defaults.maxTokens = options.maxTokens.value_or(-1);
  EngineOptions limits; // `outstanding` is bounded instead.
  limits.maxWaitingRequests = mostOutstanding;
  limits.maxWaitingTokens = std::numeric_limits<int64_t>::max();
  // Nobody waits for single tokens.
  limits.maxSlowdown = std::numeric_limits<double>::infinity();
  auto created = Engine::create(std::move(loaded->executor), limits);
  if (!created)
    return created.takeStatus();
  engine = std::move(*created);
  return Status::ok();
}

void Batch::write(const Outstanding &entry) {
  Json object = {{"line", entry.line}};
  if (!entry.id.is_null())
    object["custom_id"] = entry.id;
  if (entry.failure.isOk()) {
    std::vector<Json> choices = entry.choices;
    std::sort(choices.begin(), choices.end(), [](const Json &a, const Json &b) {
      return a["index"] < b["index"];
    });
    object["choices"] = std::move(choices);
    if (!entry.promptLogprobs.is_null())
      object["prompt_logprobs"] = entry.promptLogprobs;
    object["usage"] = {
        {"prompt_tokens", entry.promptTokens},
        {"completion_tokens", entry.generatedTokens},
        {"total_tokens", entry.promptTokens + entry.generatedTokens},
        {"prompt_tokens_details", {{"cached_tokens", entry.cachedTokens}}}};
  } else {
    object["error"] = jsonError(entry.failure);
  }
  bar.hide(); // The answer may go to the same terminal.
  printNow(jsonLine(object));
  ++(entry.failure.isOk() ? answered : failed);
  showProgress();
}

/// While there is more to read, the number of requests is not known.
void Batch::showProgress() {
  const int64_t done = answered + failed;
  bar.update(std::to_string(done) + " of " + std::to_string(read) +
                 (hasReadAll ? " requests" : "+ requests"),
             read > 0 ? static_cast<double>(done) / static_cast<double>(read)
                      : 0);
}

/// Called by the engine's thread.
void Batch::receive(const std::shared_ptr<Outstanding> &entry,
                    const RequestUpdate &update) {
  Continuation &each = entry->continuations[static_cast<size_t>(update.index)];
  for (size_t i = 0; i < update.tokens.size() && !each.answer.hasStopped();
       ++i) {
    each.ids.push_back(update.tokens[i]);
    if (!update.logprobs.empty()) {
      each.logprobs.push_back(update.logprobs[i]);
      each.offsets.push_back(each.answer.numCharacters());
    }
    const bool isEnd = update.hasEndToken && i + 1 == update.tokens.size();
    each.text += each.answer.add(update.tokens[i], isEnd);
    if (each.answer.hasStopped())
      engine->cancel(update.request, update.index);
  }
  if (entry->wantsPromptLogprobs && update.index == 0 &&
      update.generatedTokens == 1 && !update.tokens.empty())
    entry->promptLogprobs =
        promptLogprobs(model.tokenizer, update.promptLogprobs);
  if (!update.finishReason)
    return;
  each.text += each.answer.finish();
  if (!update.failure)
    entry->failure = update.failure;
  entry->generatedTokens += static_cast<int64_t>(each.ids.size());
  entry->cachedTokens = update.cachedTokens;
  entry->choices.push_back(
      each.toJson(update.index, *update.finishReason, model.tokenizer));
  if (entry->choices.size() < entry->continuations.size())
    return;
  std::lock_guard<std::mutex> lock(mutex);
  write(*entry);
  --outstanding;
  hasRoom.notify_one();
}

/// Passes a request to the engine. A request that fails is answered, too.
Status Batch::submit(const std::string &line, int64_t number) {
  auto entry = std::make_shared<Outstanding>();
  entry->line = number;
  auto answer = [&](Status failure) {
    entry->failure = std::move(failure);
    std::lock_guard<std::mutex> lock(mutex);
    write(*entry);
    return Status::ok();
  };
  const std::string where = "line " + std::to_string(number);
  Request lineDefaults = defaults;
  // The continuations of a line use the seeds that follow.
  lineDefaults.sampling.seed += static_cast<uint64_t>(number) << 32;
  Expected<BatchRequest> parsed =
      parseBatchRequest(line, where, lineDefaults, model);
  if (!parsed)
    return answer(parsed.takeStatus());
  Request &request = parsed->fields.request;
  entry->id = std::move(parsed->id);
  entry->wantsPromptLogprobs = request.promptLogprobs.has_value();
  entry->promptTokens = static_cast<int64_t>(request.prompt.size());
  const auto style = std::make_shared<const AnswerTextOptions>(
      answerTextOptions(model.tokenizer, parsed->fields));
  // The engine refuses more continuations.
  for (int64_t i = 0; i < std::min(request.count, engine->maxRunning()); ++i)
    entry->continuations.push_back(
        {AnswerText(model.tokenizer, style), {}, {}, {}, {}});
  {
    std::unique_lock<std::mutex> lock(mutex);
    hasRoom.wait(lock, [&] { return outstanding < mostOutstanding; });
    ++outstanding;
  }
  Expected<RequestId> id = engine->submit(
      std::move(request),
      [this, entry](const RequestUpdate &update) { receive(entry, update); });
  if (id)
    return Status::ok();
  {
    std::lock_guard<std::mutex> lock(mutex);
    --outstanding;
  }
  return answer(std::move(id.takeStatus()).withContext(where));
}

Status Batch::readLines() {
  LineReader input;
  std::string line;
  for (int64_t number = 1;; ++number) {
    Expected<bool> any = input.next(line);
    if (!any && any.status().code() == StatusCode::ResourceExhausted) {
      Outstanding entry; // The next line can be read.
      entry.line = number;
      entry.failure = any.takeStatus();
      std::lock_guard<std::mutex> lock(mutex);
      ++read;
      write(entry);
      continue;
    }
    if (!any)
      return any.takeStatus();
    if (!*any) {
      std::lock_guard<std::mutex> lock(mutex);
      hasReadAll = true;
      showProgress();
      return Status::ok();
    }
    if (line.find_first_not_of(" \t\r") == std::string::npos)
      continue;
    {
      std::lock_guard<std::mutex> lock(mutex);
      ++read;
      showProgress();
    }
    LLMIR_RETURN_IF_ERROR(submit(line, number));
    std::lock_guard<std::mutex> lock(mutex);
    LLMIR_RETURN_IF_ERROR(flushOutput()); // Nobody reads the other answers.
  }
}

void Batch::report(double milliseconds) const {
  const EngineStatistics counts = engine->statistics();
  std::string line = std::to_string(answered) + " requests answered";
  if (failed)
    line += ", " + std::to_string(failed) + " refused";
  line += " in " + formatNumber(milliseconds / 1000, 1) + " s; " +
          std::to_string(counts.promptTokens) + " prompt tokens computed";
  if (counts.cache.foundTokens)
    line +=
        ", " + std::to_string(counts.cache.foundTokens) + " found in the cache";
  line += "; " + std::to_string(counts.generatedTokens) +
          " tokens generated, " +
          formatNumber(static_cast<double>(counts.generatedTokens) * 1000 /
                           std::max(milliseconds, 1e-3),
                       1) +
          " tokens/s";
  if (counts.preemptions)
    line += "; " + std::to_string(counts.preemptions) + " preemptions";
  note(line);
}

Outcome Batch::operator()() {
  if (Status flags = validateSamplingParams(options.sampling.params({}));
      !flags)
    return Outcome::usage(flags.cause(), flags.advice());
  if (Status loaded = load(); !loaded)
    return Outcome::ofFlags(loaded);
  Stopwatch watch;
  if (Status status = readLines(); !status)
    return status;
  engine->drain();
  bar.hide();
  report(watch.milliseconds());
  return Status::ok();
}

void cli::addBatchCommand(CommandLine &line) {
  auto options = std::make_shared<BatchOptions>();
  Command command = line.add(
      "batch", "Answer many requests from standard input at once",
      "echo '{\"prompt\": \"In the beginning\", \"max_tokens\": 20}' | llmir "
      "batch models/demo\n"
      "  llmir batch ORG/NAME < requests.jsonl > results.jsonl");
  command.explain(
      "Reads one JSON object per line: \"prompt\" (a text or token ids) or "
      "\"messages\",\nand any of custom_id, n, max_tokens, min_tokens, stop, "
      "stop_token_ids, ignore_eos,\ntemperature, top_k, top_p, min_p, "
      "typical_p, seed, repetition_penalty,\npresence_penalty, "
      "frequency_penalty, logit_bias, allowed_token_ids, bad_words,\nlogprobs, "
      "top_logprobs, prompt_logprobs, skip_special_tokens,\n"
      "include_stop_str_in_output, priority, tools, documents and\n"
      "chat_template_kwargs.\nWrites one object "
      "per line as requests finish: line (the number of the request's\nline), "
      "choices and usage, or error.");
  addModelOptions(command, options->model);
  addOption(command, "-n,--max-tokens", options->maxTokens,
            "maximum tokens of requests without max_tokens (default: until an "
            "end token or the context's end)")
      .check(atLeast(1));
  addSamplingOptions(command, options->sampling);
  addExecutionOptions(command, options->execution);
  addSharedCacheOption(command, options->execution);
  addTemplateOptions(command, options->chatTemplate);
  line.onRun(command, withModel(options->model.model,
                                [options] { return Batch(*options)(); }));
}
