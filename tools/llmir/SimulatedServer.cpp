//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SimulatedServer.h"
#include "Console.h"

#include "llmir/Serving/Engine.h"
#include "llmir/Serving/PromptBudget.h"
#include "llmir/Serving/Scheduler.h"

#include <algorithm>
#include <memory>

using namespace llmir;
using namespace llmir::cli;
using mlir::llm::runtime::KVReservation;
using mlir::llm::runtime::PagedKVCache;
using mlir::llm::runtime::PagedKVCacheOptions;
using mlir::llm::runtime::SharedBlocks;

namespace {

struct SimulatedRequest {
  SequenceId sequence = 0;
  std::vector<int32_t> tokens;
  int64_t promptTokens = 0, maxTokens = 0;
  int64_t computed = 0, sharedTokens = 0;
  bool isRunning = false;
  double lastToken = 0;
  AnswerRecord record;

  int64_t numTokens() const { return static_cast<int64_t>(tokens.size()); }
  bool decodes() const { return numTokens() - computed == 1; }
  Span<const int32_t> computedTokens() const {
    return {tokens.data(), static_cast<size_t>(computed)};
  }
};

class Simulation {
public:
  Simulation(const Load &load, const StepTable &table)
      : load(load), table(table),
        cache(1, 1, 1, table.blockSize, table.contextLength, KVFormat::F32,
              cacheOptions(table)) {
    limits.tokensPerStep = table.tokenBudget;
    limits.logitRows = table.logitRows;
    limits.runningSequences = std::min(table.logitRows, table.tokenBudget);
    limits.blockSize = table.blockSize;
  }

  Expected<SimulationResult> run();

private:
  static PagedKVCacheOptions cacheOptions(const StepTable &table) {
    PagedKVCacheOptions options;
    options.numBlocks = table.blocks;
    options.keepsPrefixes = true;
    return options;
  }

  Status admit();
  Status runStep();
  StepPlan plan();
  SchedulableSequence schedulable(const SimulatedRequest &request) const;
  int64_t findAwaited(size_t index, int64_t computed) const;
  int64_t promptTokensBesideDecoding() const;
  Status start(SimulatedRequest &request);
  void stop(SimulatedRequest &request);
  Status compute(const StepPlan &plan);
  void takeToken(SimulatedRequest &request);
  void end(SimulatedRequest &request, std::string failure);

  const Load &load;
  const StepTable &table;
  SchedulerLimits limits;
  PromptBudget budget{EngineOptions().maxSlowdown};
  PagedKVCache cache; ///< Of a byte or so per token: only its blocks matter.
  double now = 0;
  size_t arrived = 0; ///< Conversations.
  std::vector<std::unique_ptr<SimulatedRequest>> requests;
  std::vector<SimulatedRequest *> known;    ///< Those of the plan.
  std::vector<SchedulableSequence> planned; ///< What the plan knew of them.
  uint64_t random = 1;
  SimulationResult result;
};

} // namespace

/// The requests that have arrived, as long as there is room for them.
Status Simulation::admit() {
  while (arrived < load.conversations.size() && load.arrivals[arrived] <= now &&
         (load.maxConcurrency == 0 ||
          static_cast<int64_t>(requests.size()) < load.maxConcurrency)) {
    const Conversation &conversation = load.conversations[arrived];
    if (conversation.size() != 1 || !conversation.front().content.is_array())
      return Status(StatusCode::InvalidArgument,
                    "a simulated server takes prompts of token ids, one in a "
                    "conversation",
                    "use another --dataset-name");
    auto request = std::make_unique<SimulatedRequest>();
    request->sequence = static_cast<SequenceId>(arrived) + 1;
    request->tokens = conversation.front().content.get<std::vector<int32_t>>();
    request->promptTokens = request->numTokens();
    request->maxTokens = conversation.front().maxTokens;
    // As a client does, which sends a request when another one has ended.
    request->record.sent =
        load.maxConcurrency > 0 ? now : load.arrivals[arrived];
    request->record.promptTokens = request->promptTokens;
    ++arrived;
    requests.push_back(std::move(request));
    if (requests.back()->numTokens() > table.contextLength)
      end(*requests.back(), "the prompt is longer than the context");
  }
  result.load.peakConcurrency = std::max(result.load.peakConcurrency,
                                         static_cast<int64_t>(requests.size()));
  return Status::ok();
}

SchedulableSequence
Simulation::schedulable(const SimulatedRequest &request) const {
  SchedulableSequence sequence;
  sequence.arrival = request.sequence;
  sequence.isRunning = request.isRunning;
  sequence.tokens = request.numTokens();
  if (request.isRunning) {
    sequence.computed = request.computed;
    sequence.ownBlocks = cache.numOwnBlocks(request.sequence);
    sequence.copiesLastBlock = cache.copiesLastBlock(request.sequence);
    return sequence;
  }
  const auto prefix = cache.lookUp(
      Span<const int32_t>(request.tokens.data(), request.tokens.size() - 1));
  sequence.computed = prefix.tokens;
  sequence.startBlocks = prefix.startBlocks;
  return sequence;
}

/// As in the engine: the request before known[index], if any, that computes a
/// longer prefix than the one with which it would start now.
int64_t Simulation::findAwaited(size_t index, int64_t computed) const {
  const SimulatedRequest &waiting = *known[index];
  for (size_t i = 0; i < index; ++i) {
    const SimulatedRequest &other = *known[i];
    if (other.numTokens() - other.computed <= 1)
      continue;
    const int64_t most = std::min(waiting.numTokens() - 1, other.numTokens());
    const int64_t same =
        std::mismatch(waiting.tokens.begin(), waiting.tokens.begin() + most,
                      other.tokens.begin())
            .first -
        waiting.tokens.begin();
    if (same / table.blockSize * table.blockSize >
        std::max(other.computed, computed))
      return static_cast<int64_t>(i);
  }
  return -1;
}

int64_t Simulation::promptTokensBesideDecoding() const {
  int64_t decoding = 0;
  for (const auto &request : requests)
    decoding += request->isRunning && request->decodes();
  return decoding == 0
             ? 0
             : budget.tokens(decoding,
                             static_cast<int64_t>(requests.size()) - decoding);
}

/// `requests` are in the order of their arrival.
StepPlan Simulation::plan() {
  const Stopwatch watch;
  known.clear();
  planned.clear();
  for (const auto &request : requests)
    if (request->isRunning)
      known.push_back(request.get());
  size_t waiting = 0;
  for (const auto &request : requests)
    if (!request->isRunning && waiting++ < mostWaitingCandidates)
      known.push_back(request.get());
  for (size_t i = 0; i < known.size(); ++i) {
    planned.push_back(schedulable(*known[i]));
    if (!known[i]->isRunning)
      planned[i].awaits = findAwaited(i, planned[i].computed);
  }
  SchedulerLimits stepLimits = limits;
  stepLimits.promptTokensBesideDecoding = promptTokensBesideDecoding();
  StepPlan plan = planStep(planned, stepLimits, cache.numAvailable());
  result.planSeconds += watch.milliseconds() / 1000;
  return plan;
}

void Simulation::stop(SimulatedRequest &request) {
  if (request.isRunning) { // It exists, so that these succeed.
    (void)cache.share(request.sequence, request.computedTokens(), 0,
                      SharedBlocks::All);
    (void)cache.freeSequence(request.sequence);
  }
  request.isRunning = false;
  request.computed = request.sharedTokens = 0;
}

void Simulation::end(SimulatedRequest &request, std::string failure) {
  stop(request);
  request.record.failure = std::move(failure);
  result.load.records.push_back(std::move(request.record));
  request.maxTokens = 0; // It is over.
}

Status Simulation::start(SimulatedRequest &request) {
  Expected<int64_t> cached = cache.createSequence(
      request.sequence,
      Span<const int32_t>(request.tokens.data(), request.tokens.size() - 1));
  if (!cached)
    return cached.takeStatus();
  request.isRunning = true;
  request.computed = request.sharedTokens = *cached;
  if (!request.record.cachedTokens)
    request.record.cachedTokens = *cached;
  return Status::ok();
}

void Simulation::takeToken(SimulatedRequest &request) {
  random = random * 6364136223846793005u + 1442695040888963407u;
  request.tokens.push_back(static_cast<int32_t>(
      (random >> 33) % static_cast<uint64_t>(table.vocabulary)));
  AnswerRecord &record = request.record;
  if (record.outputTokens++ == 0)
    record.firstToken = now - record.sent;
  else
    record.gaps.push_back(now - request.lastToken);
  request.lastToken = now;
  record.latency = now - record.sent;
  if (record.outputTokens == request.maxTokens ||
      request.numTokens() > table.contextLength)
    end(request, "");
}

Status Simulation::compute(const StepPlan &plan) {
  std::vector<KVReservation> reservations;
  int64_t prompt = 0, decoding = 0, before = 0, total = 0;
  for (const ScheduledPart &part : plan.parts) {
    const SimulatedRequest &request =
        *known[static_cast<size_t>(part.sequence)];
    (request.decodes() ? decoding : prompt) += part.tokens;
    before += request.computed;
    total += part.tokens;
    reservations.push_back({request.sequence, part.tokens});
  }
  std::vector<int32_t> slots(static_cast<size_t>(total));
  LLMIR_RETURN_IF_ERROR(cache.reserve(reservations, slots));
  const auto parts = static_cast<double>(plan.parts.size());
  const double seconds =
      table.stepMilliseconds(static_cast<double>(prompt),
                             static_cast<double>(decoding),
                             static_cast<double>(before) / parts) /
      1000;
  now += seconds;
  budget.add(decoding, prompt, 1000 * seconds);
  ++result.steps;
  result.stepSeconds += seconds;
  result.mostSequences =
      std::max(result.mostSequences, static_cast<int64_t>(plan.parts.size()));
  for (const ScheduledPart &part : plan.parts) {
    SimulatedRequest &request = *known[static_cast<size_t>(part.sequence)];
    request.computed += part.tokens;
    const int64_t whole = request.computed / table.blockSize * table.blockSize;
    if (whole != request.sharedTokens)
      LLMIR_RETURN_IF_ERROR(
          cache.share(request.sequence, request.computedTokens()));
    request.sharedTokens = whole;
    if (request.computed == request.numTokens())
      takeToken(request);
  }
  return Status::ok();
}

Status Simulation::runStep() {
  StepPlan next = plan();
  auto at = [&](int64_t index) -> SimulatedRequest & {
    return *known[static_cast<size_t>(index)];
  };
  for (int64_t index : next.preempted)
    stop(at(index));
  for (int64_t index : next.tooLarge)
    end(at(index), "the KV cache has no room");
  for (int64_t index : next.started)
    if (canStartAsPlanned(planned[static_cast<size_t>(index)],
                          schedulable(at(index))))
      LLMIR_RETURN_IF_ERROR(start(at(index)));
  next.parts.erase(std::remove_if(next.parts.begin(), next.parts.end(),
                                  [&](const ScheduledPart &part) {
                                    return !at(part.sequence).isRunning;
                                  }),
                   next.parts.end());
  if (!next.parts.empty())
    LLMIR_RETURN_IF_ERROR(compute(next));
  requests.erase(
      std::remove_if(requests.begin(), requests.end(),
                     [](const auto &request) { return !request->maxTokens; }),
      requests.end());
  return Status::ok();
}

Expected<SimulationResult> Simulation::run() {
  LLMIR_RETURN_IF_ERROR(cache.status());
  while (!requests.empty() || arrived < load.conversations.size()) {
    if (requests.empty())
      now = std::max(now, load.arrivals[arrived]);
    LLMIR_RETURN_IF_ERROR(admit());
    LLMIR_RETURN_IF_ERROR(runStep());
  }
  result.load.duration = now;
  return std::move(result);
}

Expected<SimulationResult> cli::simulateLoad(const Load &load,
                                             const StepTable &table) {
  return Simulation(load, table).run();
}
