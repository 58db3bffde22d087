//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Generation.h"
#include "llmir/Support/Exceptions.h"

#include <atomic>
#include <numeric>
#include <random>

namespace llmir::server {

uint64_t randomNumber() {
  static const uint64_t start =
      (uint64_t(std::random_device()()) << 32) | std::random_device()();
  static std::atomic<uint64_t> count{0};
  // SplitMix64.
  uint64_t z = start + ++count * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

std::string randomId() {
  std::string id;
  while (id.size() < 24)
    for (uint64_t rest = randomNumber(), i = 0; i < 12; ++i, rest /= 36)
      id += "0123456789abcdefghijklmnopqrstuvwxyz"[rest % 36];
  return id;
}

int64_t Answer::promptTokens() const {
  int64_t total = 0;
  for (const std::vector<int32_t> &prompt : prompts)
    total += static_cast<int64_t>(prompt.size());
  return total;
}

int64_t Answer::generatedTokens() const {
  int64_t total = 0;
  for (const Choice &choice : choices)
    total += static_cast<int64_t>(choice.tokens.size());
  return total;
}

int64_t Answer::reasoningTokens() const {
  int64_t total = 0;
  for (const Choice &choice : choices)
    total += choice.reasoningTokens;
  return total;
}

int64_t Answer::allCachedTokens() const {
  return std::accumulate(cachedTokens.begin(), cachedTokens.end(), int64_t(0));
}

Json Answer::usage() const {
  return {
      {"prompt_tokens", promptTokens()},
      {"completion_tokens", generatedTokens()},
      {"total_tokens", promptTokens() + generatedTokens()},
      {"prompt_tokens_details", {{"cached_tokens", allCachedTokens()}}},
      {"completion_tokens_details", {{"reasoning_tokens", reasoningTokens()}}}};
}

const char *finishName(const Choice &choice) {
  return finishReasonName(*choice.finish);
}

std::string serverSentEvent(const Json &data) {
  return "data: " + jsonText(data) + "\n\n";
}

std::string lastEvents(const Answer &answer, bool includesUsage,
                       Json envelope) {
  if (!includesUsage)
    return "data: [DONE]\n\n";
  envelope["usage"] = answer.usage();
  return serverSentEvent(envelope) + "data: [DONE]\n\n";
}

namespace {

class Generation : public std::enable_shared_from_this<Generation> {
public:
  Generation(std::shared_ptr<HttpExchange> exchange, ServedModel &model,
             ServerMetrics &metrics, GenerationPlan plan)
      : exchange(std::move(exchange)), model(model), metrics(metrics),
        plan(std::move(plan)) {}

  void start();
  /// After an exception: ends the request with an error.
  void endAfter(const Status &failure);

private:
  std::optional<ApiError> refusal();
  void prepareChoices();
  void receiveSafely(size_t prompt, const RequestUpdate &update);
  void receive(size_t prompt, const RequestUpdate &update);
  void takeTokens(Choice &choice, const RequestUpdate &update,
                  std::vector<ChatDelta> &parts);
  void addText(Choice &choice, const std::string &text,
               std::vector<ChatDelta> &parts);
  void addParts(Choice &choice, std::vector<ChatDelta> added,
                std::vector<ChatDelta> &parts);
  void endText(Choice &choice, std::vector<ChatDelta> &parts);
  void beginStream();
  void send(const std::string &text);
  void complete();
  void fail(const ApiError &error);
  void leave();
  void close(const char *reason);

  const std::shared_ptr<HttpExchange> exchange;
  ServedModel &model;
  ServerMetrics &metrics;
  GenerationPlan plan;
  const Clock::time_point arrival = Clock::now();

  std::mutex mutex; ///< Of the following.
  Answer answer;
  size_t unfinished = 0; ///< Choices.
  std::vector<RequestId> requests;
  /// Over: nothing of this changes any more.
  bool isOver = false, hasBegun = false;
  std::string firstEvents; ///< Of a stream.
  std::optional<Clock::time_point> startTime, firstToken;
};

} // namespace

static double seconds(Clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

//===----------------------------------------------------------------------===//
// Requests of the engine
//===----------------------------------------------------------------------===//

/// So many log probabilities an answer has at most. As JSON, each takes some
/// 500 bytes while the answer is written.
static constexpr int64_t mostLogprobs = int64_t(1) << 20;

/// The log probabilities of the answer to a request at most, for a prompt of
/// `length` tokens.
static int64_t countLogprobs(const Request &request, int64_t length,
                             int64_t contextLength) {
  int64_t generated = contextLength - length + 1;
  if (request.maxTokens >= 0)
    generated = std::min(generated, request.maxTokens);
  int64_t each = 0;
  if (request.logprobs)
    each += generated * (*request.logprobs + 1);
  if (request.promptLogprobs)
    each += length * (*request.promptLogprobs + 1);
  return request.count * each;
}

/// Why the request cannot be served, before much memory is used for it.
std::optional<ApiError> Generation::refusal() {
  int64_t logprobs = 0;
  for (const std::vector<int32_t> &prompt : plan.prompts) {
    if (Status status = model.engine->check(plan.fields.request, prompt);
        !status)
      return ApiError::of(status);
    logprobs +=
        countLogprobs(plan.fields.request, static_cast<int64_t>(prompt.size()),
                      model.contextLength());
  }
  if (logprobs <= mostLogprobs)
    return std::nullopt;
  return ApiError{400,
                  "the answer may have " + std::to_string(logprobs) +
                      " log probabilities; ask for at most " +
                      std::to_string(mostLogprobs) +
                      " with smaller numbers of them or a smaller max_tokens",
                  "out_of_range", "logprobs"};
}

void Generation::prepareChoices() {
  answer.id = randomId();
  answer.created = std::chrono::duration_cast<std::chrono::seconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  answer.model = model.names.front();
  answer.tokenizer = model.tokenizerOrNull();
  answer.chatFormat = model.chatFormat;
  answer.count = plan.fields.request.count;
  answer.prompts = std::move(plan.prompts);
  answer.promptLogprobs.resize(answer.prompts.size());
  answer.cachedTokens.resize(answer.prompts.size());
  for (const std::vector<int32_t> &prompt : answer.prompts) {
    plan.fields.request.prompt = prompt;
    AnswerTextOptions style = answerTextOptions(answer.tokenizer, plan.fields);
    if (plan.isConversation && !style.keepsSpecialToken)
      style.keepsSpecialToken = [format =
                                     model.chatFormat](std::string_view token) {
        return format.isMarker(token);
      };
    style.continuesText |= plan.isConversation;
    const auto shared =
        std::make_shared<const AnswerTextOptions>(std::move(style));
    for (int64_t i = 0; i < answer.count; ++i) {
      answer.choices.emplace_back(answer.tokenizer, shared,
                                  static_cast<int64_t>(answer.choices.size()));
      if (plan.isConversation)
        answer.choices.back().parser.emplace(model.chatFormat, plan.promptText,
                                             plan.tools);
    }
  }
  unfinished = answer.choices.size();
  if (plan.streams)
    firstEvents = plan.format->first(answer);
}

static ApiError shuttingDown() {
  return {503, "the server is shutting down", "shutting_down", ""};
}

/// Why the engine does not accept a request; check() has passed it.
static ApiError refusalFor(const Status &failure, bool acceptsRequests) {
  if (!acceptsRequests)
    return shuttingDown();
  ApiError error = ApiError::of(failure);
  if (failure.code() == StatusCode::ResourceExhausted) {
    error.status = 429;
    error.code = "queue_full";
  }
  return error;
}

void Generation::start() {
  if (const std::optional<ApiError> error = refusal())
    return answerError(*exchange, *error);
  prepareChoices();
  const std::shared_ptr<Generation> self = shared_from_this();
  exchange->whenGone([weak = weak_from_this()] {
    if (const std::shared_ptr<Generation> generation = weak.lock())
      generation->leave();
  });
  const auto count = static_cast<uint64_t>(answer.count);
  const size_t numPrompts = answer.prompts.size();
  if (model.requestTimeout)
    plan.fields.request.deadline = arrival + *model.requestTimeout;
  plan.fields.request.prompt.clear();
  const auto common = std::make_shared<const Request>(plan.fields.request);
  for (size_t prompt = 0; prompt < numPrompts; ++prompt) {
    Expected<RequestId> id = model.engine->submit(
        common, answer.prompts[prompt], common->sampling.seed + prompt * count,
        [self, prompt](const RequestUpdate &update) {
          self->receiveSafely(prompt, update);
        });
    std::lock_guard<std::mutex> lock(mutex);
    if (id)
      requests.push_back(*id);
    if (isOver && id) // The client has left, or another prompt has failed.
      model.engine->cancel(*id);
    if (!isOver && !id)
      fail(refusalFor(id.status(), model.engine->acceptsRequests()));
    if (isOver)
      return;
  }
  std::lock_guard<std::mutex> lock(mutex);
  if (plan.streams && !isOver)
    beginStream();
}

void Generation::endAfter(const Status &failure) {
  std::lock_guard<std::mutex> lock(mutex);
  const ApiError error = ApiError::of(failure);
  if (!isOver)
    fail(error);
  else if (!hasBegun) // Unless it was answered.
    answerError(*exchange, error);
  else
    exchange->abandon();
}

//===----------------------------------------------------------------------===//
// Updates of the engine
//===----------------------------------------------------------------------===//

/// Adds a piece of text to a choice, as it is or parsed.
void Generation::addText(Choice &choice, const std::string &text,
                         std::vector<ChatDelta> &parts) {
  if (text.empty())
    return;
  std::vector<ChatDelta> added;
  if (choice.parser)
    added = choice.parser->feed(text);
  else
    added.push_back({ChatDelta::Kind::Content, text, 0, {}, {}});
  addParts(choice, std::move(added), parts);
}

void Generation::addParts(Choice &choice, std::vector<ChatDelta> added,
                          std::vector<ChatDelta> &parts) {
  for (ChatDelta &delta : added) {
    if (delta.kind == ChatDelta::Kind::CallStart && delta.id.empty())
      delta.id = model.chatFormat.callId(randomNumber());
    choice.answer.append(delta);
    parts.push_back(std::move(delta));
  }
}

void Generation::endText(Choice &choice, std::vector<ChatDelta> &parts) {
  addText(choice, choice.text.finish(), parts);
  if (choice.parser)
    addParts(choice,
             choice.parser->finish(/*isCutOff=*/choice.finish ==
                                   FinishReason::Length),
             parts);
}

void Generation::takeTokens(Choice &choice, const RequestUpdate &update,
                            std::vector<ChatDelta> &parts) {
  for (size_t i = 0; i < update.tokens.size() && !choice.finish; ++i) {
    const int32_t token = update.tokens[i];
    choice.tokens.push_back(token);
    if (!update.logprobs.empty()) {
      choice.logprobs.push_back(update.logprobs[i]);
      choice.offsets.push_back(choice.text.numCharacters());
    }
    const bool isEnd = update.hasEndToken && i + 1 == update.tokens.size();
    addText(choice, choice.text.add(token, isEnd), parts);
    if (choice.parser && choice.parser->isReasoning())
      ++choice.reasoningTokens;
    if (choice.text.hasStopped())
      choice.finish = FinishReason::Stop;
  }
  if (update.tokens.empty())
    return;
  const Clock::time_point now = Clock::now();
  if (!firstToken)
    firstToken = now;
  if (choice.lastToken)
    metrics.observeInterTokenTime(seconds(now - *choice.lastToken));
  choice.lastToken = now;
}

/// Why a continuation ended, if that is not its own end.
static std::optional<ApiError> failureOf(const RequestUpdate &update) {
  if (!update.finishReason)
    return std::nullopt;
  switch (*update.finishReason) {
  case FinishReason::Error: {
    // Not the model's fault: the request allows no token.
    if (update.failure.code() == StatusCode::InvalidArgument)
      return ApiError::of(update.failure);
    return ApiError{500, update.failure.message(), "internal_error", ""};
  }
  case FinishReason::Timeout:
    return ApiError{504, "the request was not answered in time", "timeout", ""};
  case FinishReason::Cancelled:
    return shuttingDown();
  case FinishReason::Stop:
  case FinishReason::Length:
    break;
  }
  return std::nullopt;
}

/// Called by the engine's thread.
void Generation::receiveSafely(size_t prompt, const RequestUpdate &update) {
  const Status thrown = withoutExceptions([&] { receive(prompt, update); });
  if (!thrown && !withoutExceptions([&] { endAfter(thrown); }))
    exchange->abandon();
}

void Generation::receive(size_t prompt, const RequestUpdate &update) {
  std::lock_guard<std::mutex> lock(mutex);
  Choice &choice = answer.choices[prompt * static_cast<size_t>(answer.count) +
                                  static_cast<size_t>(update.index)];
  if (isOver || choice.finish) // A stop was found before.
    return;
  if (!startTime)
    startTime = update.startTime;
  answer.cachedTokens[prompt] = update.cachedTokens;
  if (!update.promptLogprobs.empty())
    answer.promptLogprobs[prompt].assign(update.promptLogprobs.begin(),
                                         update.promptLogprobs.end());
  ChoiceDelta delta{choice, {}, choice.tokens.size()};
  takeTokens(choice, update, delta.parts);
  if (choice.finish) {
    model.engine->cancel(update.request, update.index);
  } else if (const std::optional<ApiError> error = failureOf(update)) {
    return fail(*error);
  } else {
    choice.finish = update.finishReason;
  }
  if (choice.finish)
    endText(choice, delta.parts);
  if (plan.streams && !delta.isEmpty()) {
    beginStream();
    send(plan.format->delta(answer, delta));
  }
  if (choice.finish && --unfinished == 0)
    complete();
}

//===----------------------------------------------------------------------===//
// The client
//===----------------------------------------------------------------------===//

void Generation::beginStream() {
  if (hasBegun)
    return;
  exchange->begin(200, "text/event-stream; charset=utf-8");
  hasBegun = true;
  send(std::exchange(firstEvents, {}));
}

void Generation::send(const std::string &text) {
  // If the client has left, whenGone() tells so.
  (void)exchange->write(text);
}

void Generation::complete() {
  answer.seconds = seconds(Clock::now() - arrival);
  const bool hasStopped = answer.choices.front().finish == FinishReason::Stop;
  close(hasStopped ? "stop" : "length");
  if (!plan.streams) // Log probabilities are many: the engine goes on.
    return model.runLater([self = shared_from_this()] {
      answerSafely(*self->exchange, [&] {
        self->exchange->answer(
            200, "application/json",
            jsonText(self->plan.format->whole(self->answer)));
      });
    });
  beginStream();
  send(plan.format->last(answer));
  exchange->end();
}

/// Ends the request with an error.
void Generation::fail(const ApiError &error) {
  for (RequestId id : requests)
    model.engine->cancel(id);
  close("error");
  if (!hasBegun)
    return answerError(*exchange, error);
  exchange->note("error", error.code);
  send(plan.format->failure(answer, error));
  exchange->end();
}

/// The client has left.
void Generation::leave() {
  std::lock_guard<std::mutex> lock(mutex);
  if (isOver)
    return;
  for (RequestId id : requests)
    model.engine->cancel(id);
  close("abort");
}

/// Counts and logs the request; nothing that comes later concerns it.
void Generation::close(const char *reason) {
  isOver = true;
  RequestRecord record;
  record.finishReason = reason;
  record.promptTokens = answer.promptTokens();
  record.generatedTokens = answer.generatedTokens();
  record.count = answer.count;
  if (plan.fields.request.maxTokens > 0)
    record.maxTokens = plan.fields.request.maxTokens;
  record.total = seconds(Clock::now() - arrival);
  if (startTime)
    record.waiting = seconds(*startTime - arrival);
  if (firstToken)
    record.untilFirstToken = seconds(*firstToken - arrival);
  metrics.observeRequest(record);
  exchange->note("finish", reason);
  exchange->note("prompt_tokens", std::to_string(record.promptTokens));
  exchange->note("cached_tokens", std::to_string(answer.allCachedTokens()));
  exchange->note("generated_tokens", std::to_string(record.generatedTokens));
}

void startGeneration(std::shared_ptr<HttpExchange> exchange, ServedModel &model,
                     ServerMetrics &metrics, GenerationPlan plan) {
  const auto generation = std::make_shared<Generation>(
      std::move(exchange), model, metrics, std::move(plan));
  const Status status = withoutExceptions([&] { generation->start(); });
  if (!status)
    generation->endAfter(status);
}

} // namespace llmir::server
