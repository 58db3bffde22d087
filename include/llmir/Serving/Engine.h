//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Serves many requests at once (continuous batching): each step of the model
// computes the next tokens of every request for which there is room.
//
//   Expected<std::unique_ptr<Engine>> engine =
//       Engine::create(std::move(executor), {});
//   Request request;
//   request.prompt = ids;
//   request.maxTokens = 100;
//   (*engine)->submit(std::move(request), [](const RequestUpdate &update)
//   {...});
//
// One thread decides, by planStep(), what each step computes, runs it, and
// reports. A request's tokens and log probabilities do not depend on the
// others: they are the same bits alone, in any company, and after a preemption.
//
// Prefixes that requests have in common are computed once (PagedKVCache); of a
// conversation, only what each turn adds. Generator.h has a function that waits
// for an answer.
//
// Except for the destructor and drain(), which must not be called from a
// callback, all functions may be called from any thread, including from
// callbacks.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SERVING_ENGINE_H
#define LLMIR_SERVING_ENGINE_H

#include "llmir/Constraint/Constraint.h"
#include "llmir/Runtime/Executor.h"
#include "llmir/Support/Logprobs.h"
#include "llmir/Support/Sampler.h"
#include "llmir/Support/Status.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace llmir {

using RequestId = int64_t;

enum class FinishReason : uint8_t {
  Stop,      ///< An end token.
  Length,    ///< Request::maxTokens, or the context is full.
  Cancelled, ///< By the caller.
  Timeout,   ///< The request's deadline.
  Error,     ///< A failure, which is reported with it.
};

/// "stop", "length", "cancelled", "timeout", "error".
const char *finishReasonName(FinishReason reason);

/// A request for one or more continuations of a prompt.
struct Request {
  std::vector<int32_t> prompt; ///< At least one token.
  SamplingParams sampling;
  /// The number of continuations, which share the prompt's keys and values. The
  /// seed of continuation i is that of `sampling` plus i.
  int64_t count = 1;
  /// Tokens to generate; -1 = until an end token or the context's end; 0 = only
  /// the prompt is computed.
  int64_t maxTokens = -1;
  /// Tokens to generate before end tokens may be chosen.
  int64_t minTokens = 0;
  bool ignoreEos = false; ///< Continue after the model's end tokens.
  /// Further end tokens.
  std::vector<int32_t> stopTokens;
  /// If not empty: only these tokens may be chosen.
  std::vector<int32_t> allowedTokens;
  /// If not null: the text that is generated matches it. End tokens may be
  /// chosen only where it may end; where nothing may follow, the text ends.
  std::shared_ptr<const Constraint> constraint;
  /// Sequences of tokens that must not be generated: the last token of one is
  /// not chosen after the others. Tokens of the prompt do not count, as in
  /// vLLM.
  std::vector<std::vector<int32_t>> badWords;
  /// Report the log probability of each generated token, and those of this many
  /// most likely tokens (0 to mostTopLogprobs).
  std::optional<int64_t> logprobs;
  /// The same for the tokens of the prompt from the second on. The prompt is
  /// then computed even if its prefix is in the cache.
  std::optional<int64_t> promptLogprobs;
  int64_t priority = 0; ///< Requests with lower values are served first.
  /// Only requests with the same salt share prefixes.
  uint64_t salt = 0;
  /// When to give up (finish reason "timeout").
  std::optional<std::chrono::steady_clock::time_point> deadline;
  /// If set, asked by the engine's thread before each step whether to give up
  /// (finish reason "cancelled"); must not block.
  std::function<bool()> isCancelled;
  /// Go on if the logits contain NaN, though the tokens are then meaningless
  /// (RequestUpdate::firstNaN); otherwise, that is an error.
  bool acceptsNaN = false;
};

/// What is new about one continuation of a request.
struct RequestUpdate {
  RequestId request = 0;
  int64_t index = 0;          ///< Of the continuation.
  Span<const int32_t> tokens; ///< Valid during the call.
  /// With Request::logprobs: of each of `tokens`. Valid during the call. As
  /// those of vLLM, they are the log-softmax of the model's logits, before
  /// temperature, bias, penalties and limits: the chosen token need not be
  /// among the most likely ones. They are the same bits in any company, as the
  /// tokens are.
  Span<const TokenLogprobs> logprobs;
  /// With Request::promptLogprobs, in the update of continuation 0 that has its
  /// first token: element i is that of the prompt's token i + 1, since the
  /// first one follows nothing. Without tokens to generate, in the last update.
  /// Valid during the call.
  Span<const TokenLogprobs> promptLogprobs;
  /// Set in the last update of the continuation.
  std::optional<FinishReason> finishReason;
  /// With FinishReason::Stop: the last token is an end token. Otherwise the
  /// constraint lets nothing follow it.
  bool hasEndToken = false;
  /// With FinishReason::Error.
  Status failure;
  int64_t promptTokens = 0;
  int64_t cachedTokens = 0; ///< Of the prompt, at its first start.
  int64_t generatedTokens = 0;
  /// With Request::acceptsNaN: the index of the first generated token that was
  /// chosen from logits that contain NaN.
  std::optional<int64_t> firstNaN;
  /// When its prompt began to be computed first; absent before.
  std::optional<std::chrono::steady_clock::time_point> startTime;
};

/// What a step computed.
struct StepRecord {
  double milliseconds = 0; ///< Of the model alone.
  int64_t tokens = 0, sequences = 0;
};

/// Called by the engine's thread; must not block. If it throws, for lack of
/// memory for example, the continuation ends with FinishReason::Error.
using RequestCallback = std::function<void(const RequestUpdate &)>;

struct EngineOptions {
  /// Requests that have not been started, and tokens of their prompts; more are
  /// refused. A prompt of any length is accepted if no other waits.
  int64_t maxWaitingRequests = 1024;
  int64_t maxWaitingTokens = int64_t(1) << 20;
  /// Sequences that run at once; 0 = as many as a step has rows of logits, and
  /// slots for states.
  int64_t maxRunning = 0;
  /// How many times as long as without prompts a step may take that decodes;
  /// see PromptBudget. At least 1. Infinity: no limit, which is best where
  /// nobody waits for single tokens.
  double maxSlowdown = 1.75;
  /// If set, called by the engine's thread after each step; must not block.
  std::function<void(const StepRecord &)> onStep;
};

struct EngineStatistics {
  int64_t waiting = 0, running = 0; ///< Sequences.
  int64_t waitingTokens = 0;        ///< Of their prompts.
  int64_t steps = 0;
  int64_t promptTokens = 0; ///< Computed so far.
  int64_t generatedTokens = 0;
  int64_t preemptions = 0;
  int64_t finished = 0; ///< Continuations, for whatever reason.
  mlir::llm::runtime::CacheStatistics cache;
};

class Engine {
public:
  /// Takes ownership of the executor, whose cache should keep prefixes
  /// (ExecutorOptions::keepsPrefixes) unless there is only one request. Fails
  /// with InvalidArgument for options out of range, and for models that
  /// generate no text; with ResourceExhausted if the system starts no thread.
  static Expected<std::unique_ptr<Engine>>
  create(std::unique_ptr<Executor> executor, const EngineOptions &options = {});

  /// Cancels all requests, which are reported, and ends the thread.
  ~Engine();
  Engine(const Engine &) = delete;
  Engine &operator=(const Engine &) = delete;

  /// Adds a request. `callback` is called for each continuation until its
  /// finish reason has been reported. Fails with InvalidArgument or
  /// ContextLengthExceeded for requests that cannot be served, and with
  /// ResourceExhausted while too many wait or after drain().
  Expected<RequestId> submit(Request request, RequestCallback callback);

  /// The same for one of several prompts that share all else but the seed:
  /// `prompt` and `seed` replace those of the request.
  Expected<RequestId> submit(std::shared_ptr<const Request> common,
                             std::vector<int32_t> prompt, uint64_t seed,
                             RequestCallback callback);

  /// Whether submit() would accept this prompt, instead of that of the request,
  /// if none waited.
  Status check(const Request &request, Span<const int32_t> prompt) const;
  /// False after drain() and cancelAll().
  bool acceptsRequests() const;

  /// Ends a request, or one of its continuations, before the next step (finish
  /// reason "cancelled"). Those that have finished are ignored.
  void cancel(RequestId request, std::optional<int64_t> index = std::nullopt);

  /// Accepts no more requests, and ends all others as cancel() does.
  void cancelAll();

  /// Accepts no more requests, and returns when all others have finished. Must
  /// not be called from a callback.
  void drain();

  /// As of the last step.
  EngineStatistics statistics() const;

  /// What each block of the cache is used for: 0 = free, -1 = kept for its
  /// prefix, otherwise the number of sequences that have it. As of the end of
  /// the step that runs or, if that takes long, as an earlier call had it. Must
  /// not be called from a callback.
  std::vector<int32_t> blockUses() const;

  const ArtifactInfo &info() const;
  /// Tokens of a sequence: those of the model, if the cache has as many.
  int64_t contextLength() const;
  /// Sequences that run at once, which is the greatest Request::count.
  int64_t maxRunning() const;

  /// For what no request needs: its traces and descriptions. The engine uses it
  /// until drain() returns.
  Executor &executor();

private:
  struct State;
  explicit Engine(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace llmir

#endif // LLMIR_SERVING_ENGINE_H
