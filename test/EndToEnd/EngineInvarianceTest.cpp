// RUN: %python %S/batch_models.py --llmir %llmir_bin/llmir --work %t.models bf16 q4_0 gpt2
// RUN: env LLMIR_BATCH_MODELS=%t.models LLMIR_BATCH_DECODERS="bf16 q4_0 gpt2" llmir-batch-tests --gtest_filter='*EngineInvariance.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An engine gives a request the tokens and the log probabilities that it gets
// alone, whatever it shares steps, prefixes and blocks with, and though it is
// preempted. compare.py runs this for all families.
//
//===----------------------------------------------------------------------===//

#include "BatchRunner.h"

#include "llmir/Serving/Generator.h"

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

using namespace llmir;
using namespace llmir::test;

namespace {
struct Answer {
  TokenIds tokens;
  std::vector<TokenLogprobs> logprobs, promptLogprobs;
};
using Continuations = std::map<std::pair<RequestId, int64_t>, Answer>;

template <typename T> void append(std::vector<T> &all, Span<const T> more) {
  all.insert(all.end(), more.begin(), more.end());
}

class EngineInvariance : public BatchTest {
protected:
  std::unique_ptr<Executor> open(int64_t blocks, bool keepsPrefixes) {
    ExecutorOptions options;
    options.threads = std::get<1>(GetParam());
    options.kvBlocks = blocks;
    options.keepsPrefixes = keepsPrefixes;
    options.guardPages = true;
    return openExecutor(std::get<0>(GetParam()), options);
  }
  /// As `llmir chat` has it: for one sequence, and what starts the next one.
  std::unique_ptr<Executor> openConversation(int64_t contextLength) {
    ExecutorOptions options;
    options.threads = std::get<1>(GetParam());
    options.contextLength = contextLength;
    options.keepsPrefixes = true;
    options.sequences = 2;
    options.guardPages = true;
    return openExecutor(std::get<0>(GetParam()), options);
  }
};

/// Short prompts that grow to `longest` tokens, and so are preempted; then long
/// ones, several of which start in the same way.
std::vector<Request> someRequests(int64_t longest, int64_t vocabulary) {
  std::vector<Request> requests;
  for (int64_t i = 0; i < 12; ++i) {
    Request request;
    const bool isShort = i < 5;
    const int64_t shared = isShort ? 3 : 2 * longest / 3 - i % 4 * 3;
    for (int64_t t = 0; t < shared; ++t)
      request.prompt.push_back(
          static_cast<int32_t>((t * t + 3 * t + i % 2) % vocabulary));
    for (int64_t t = 0; t <= i; ++t)
      request.prompt.push_back(
          static_cast<int32_t>((i * 7 + t * 5) % vocabulary));
    request.maxTokens =
        isShort ? longest - static_cast<int64_t>(request.prompt.size()) : 5 + i;
    request.ignoreEos = true;
    request.sampling.temperature = i % 4 == 0 ? 0 : 1.2;
    request.sampling.seed = static_cast<uint64_t>(i);
    request.sampling.repetitionPenalty = i % 4 == 1 ? 1.1 : 1;
    request.count = i % 5 == 4 ? 3 : 1;
    request.logprobs = i % 3;
    if (i % 4 == 2)
      request.promptLogprobs = 2;
    requests.push_back(std::move(request));
  }
  return requests;
}

/// The log probabilities of the answer to a request, from all logits of its
/// text alone.
void addLogprobs(const std::string &model, const Request &request,
                 int64_t index, Answer &answer) {
  const TokenIds text = joined(request.prompt, answer.tokens);
  const std::vector<float> &logits =
      logitsAlone(model, prefix(text, text.size() - 1));
  const size_t vocabulary = logits.size() / (text.size() - 1);
  for (size_t i = 0; i + 1 < text.size() && !logits.empty(); ++i) {
    const Span<const float> row(logits.data() + i * vocabulary, vocabulary);
    if (i + 1 >= request.prompt.size())
      answer.logprobs.push_back(
          computeLogprobs(row, text[i + 1], *request.logprobs));
    else if (request.promptLogprobs && index == 0)
      answer.promptLogprobs.push_back(
          computeLogprobs(row, text[i + 1], *request.promptLogprobs));
  }
}

/// The tokens of one continuation, token by token, without an engine.
TokenIds tokensAlone(Executor &executor, const Request &request,
                     int64_t index) {
  SamplingParams params = request.sampling;
  params.seed += static_cast<uint64_t>(index);
  Sampler sampler(params);
  sampler.setPrompt(request.prompt);
  TokenIds text = request.prompt;
  const size_t end = text.size() + static_cast<size_t>(request.maxTokens);
  EXPECT_TRUE(executor.cache().createSequence(0));
  for (size_t next = 0; text.size() < end; ++next) {
    SequenceStep part;
    part.tokens = Span<const int32_t>(&text[next], 1);
    auto logits = executor.step(Span<const SequenceStep>(&part, 1));
    EXPECT_TRUE(logits) << logits.status().message();
    if (!logits)
      break;
    if (next + 1 == text.size())
      text.push_back(sampler.sample(logits->row(0)));
  }
  EXPECT_TRUE(executor.cache().freeSequence(0));
  return TokenIds(text.begin() + static_cast<ptrdiff_t>(request.prompt.size()),
                  text.end());
}

/// What each continuation is alone, without an engine.
Continuations alone(const std::string &model, Executor &executor,
                    const std::vector<Request> &requests) {
  Continuations result;
  for (size_t i = 0; i < requests.size(); ++i)
    for (int64_t index = 0; index < requests[i].count; ++index) {
      Answer &answer = result[{static_cast<RequestId>(i) + 1, index}];
      answer.tokens = tokensAlone(executor, requests[i], index);
      addLogprobs(model, requests[i], index, answer);
    }
  return result;
}

/// Gives an engine all requests at once, twice, and compares the answers. In
/// the second round it finds prefixes.
void runTwice(Engine &engine, const std::vector<Request> &requests,
              const Continuations &expected) {
  std::mutex mutex;
  Continuations got;
  for (int round = 0; round < 2; ++round) {
    const RequestId first = round * static_cast<RequestId>(requests.size());
    got.clear();
    for (const Request &request : requests) {
      auto id = engine.submit(request, [&](const RequestUpdate &update) {
        std::lock_guard<std::mutex> lock(mutex);
        Answer &answer = got[{update.request - first, update.index}];
        append(answer.tokens, update.tokens);
        append(answer.logprobs, update.logprobs);
        append(answer.promptLogprobs, update.promptLogprobs);
        EXPECT_TRUE(update.failure) << update.failure.message();
      });
      ASSERT_TRUE(id) << id.status().message();
    }
    while (engine.statistics().finished <
           static_cast<int64_t>(expected.size()) * (round + 1))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::lock_guard<std::mutex> lock(mutex);
    for (const auto &[continuation, answer] : expected) {
      SCOPED_TRACE("request " + std::to_string(continuation.first) +
                   ", continuation " + std::to_string(continuation.second) +
                   ", round " + std::to_string(round));
      EXPECT_EQ(got[continuation].tokens, answer.tokens);
      EXPECT_TRUE(got[continuation].logprobs == answer.logprobs);
      EXPECT_TRUE(got[continuation].promptLogprobs == answer.promptLogprobs);
    }
  }
}
} // namespace

TEST_P(EngineInvariance, GivesTheTokensOfARequestAlone) {
  std::unique_ptr<Executor> large = open(/*blocks=*/8, /*keepsPrefixes=*/false);
  ASSERT_TRUE(large);
  const int64_t blockSize = large->info().kvBlockSize;
  // The common beginnings have a full block.
  const int64_t longest = std::min(large->contextLength(), 2 * blockSize);
  const std::vector<Request> requests =
      someRequests(longest, large->info().vocabSize);
  const Continuations expected =
      alone(std::get<0>(GetParam()), *large, requests);

  // Room for two of the longest, though three start.
  std::unique_ptr<Executor> small =
      open(2 * ((longest - 1) / blockSize + 1) + 1, /*keepsPrefixes=*/true);
  ASSERT_TRUE(small);
  auto engine = Engine::create(std::move(small));
  ASSERT_TRUE(engine) << engine.status().message();
  ASSERT_NO_FATAL_FAILURE(runTwice(**engine, requests, expected));
  const EngineStatistics counts = (*engine)->statistics();
  EXPECT_EQ(counts.cache.usedBlocks, 0);
  EXPECT_GT(counts.cache.foundTokens, 0);
  EXPECT_GT(counts.preemptions, 0);
}

/// The same with few blocks for windows, for which sequences are preempted.
TEST_P(EngineInvariance, SharesFewWindows) {
  std::unique_ptr<Executor> large = open(/*blocks=*/8, /*keepsPrefixes=*/false);
  ASSERT_TRUE(large);
  const size_t windows = large->cache().windows().size();
  if (windows == 0)
    GTEST_SKIP() << "all layers read all tokens";
  const int64_t longest =
      std::min(large->contextLength(), 4 * large->info().kvBlockSize);
  const std::vector<Request> requests =
      someRequests(longest, large->info().vocabSize);
  const Continuations expected =
      alone(std::get<0>(GetParam()), *large, requests);

  ExecutorOptions options;
  options.threads = std::get<1>(GetParam());
  options.kvBlocks = 64;
  options.windowBlocks.assign(windows, 6);
  options.keepsPrefixes = true;
  options.guardPages = true;
  std::unique_ptr<Executor> small =
      openExecutor(std::get<0>(GetParam()), options);
  ASSERT_TRUE(small);
  auto engine = Engine::create(std::move(small));
  ASSERT_TRUE(engine) << engine.status().message();
  ASSERT_NO_FATAL_FAILURE(runTwice(**engine, requests, expected));
  const EngineStatistics counts = (*engine)->statistics();
  EXPECT_EQ(counts.cache.usedWindowBlocks, 0);
  EXPECT_EQ(counts.cache.windowBlocks, 6 * static_cast<int64_t>(windows));
  EXPECT_GT(counts.cache.foundTokens, 0);
}

/// Turns of a conversation: only what a turn adds is computed, and the tokens
/// are those of the whole text alone.
TEST_P(EngineInvariance, ContinuesAConversation) {
  std::unique_ptr<Executor> large = open(/*blocks=*/8, /*keepsPrefixes=*/false);
  ASSERT_TRUE(large);
  const int64_t blockSize = large->info().kvBlockSize;
  const int64_t vocabulary = large->info().vocabSize;
  const bool canGoBack = large->info().stateLayers == 0;
  const int64_t longest = std::min(large->contextLength(), 2 * blockSize);
  std::unique_ptr<Executor> kept = openConversation(longest);
  ASSERT_TRUE(kept);
  auto engine = Engine::create(std::move(kept));
  ASSERT_TRUE(engine) << engine.status().message();
  constexpr int64_t turns = 4, answer = 4;
  const int64_t question = longest / (turns + 1) - answer;
  ASSERT_GT(question, 0);
  // A few tokens at the start of a block are not worth a copy of it.
  auto worthACopy = [&](int64_t tokens) {
    const int64_t inBlock = tokens % blockSize;
    return inBlock < std::max<int64_t>(blockSize / 8, 1) ? tokens - inBlock
                                                         : tokens;
  };
  TokenIds text;
  int64_t known = 0; // Tokens in the cache.
  for (int64_t turn = 0; turn <= turns; ++turn) {
    SCOPED_TRACE("turn " + std::to_string(turn));
    if (turn == turns) { // What was said before is changed.
      const size_t half = text.size() / 2;
      text[half] = static_cast<int32_t>((text[half] + 1) % vocabulary);
      known = canGoBack ? worthACopy(static_cast<int64_t>(half)) : 0;
    }
    for (int64_t t = 0; t < question; ++t)
      text.push_back(static_cast<int32_t>((t * t + 5 * turn) % vocabulary));
    Request request;
    request.prompt = text;
    request.maxTokens = answer;
    request.ignoreEos = true;
    request.sampling.temperature = turn % 2 ? 1.2 : 0;
    request.sampling.seed = static_cast<uint64_t>(turn);
    auto result = generate(**engine, request);
    ASSERT_TRUE(result) << result.status().message();
    EXPECT_EQ(result->ids, tokensAlone(*large, request, 0));
    EXPECT_EQ(result->cachedTokens, known);
    text = joined(text, result->ids);
    known = worthACopy(static_cast<int64_t>(text.size()) - 1);
  }
}

/// A long text, in pieces of up to 8 tokens, in a cache with room for the
/// windows of two sequences only, the other of which has the same beginning.
TEST_P(EngineInvariance, KeepsOnlyWindows) {
  std::unique_ptr<Executor> large = open(/*blocks=*/8, /*keepsPrefixes=*/false);
  ASSERT_TRUE(large);
  const ArtifactInfo &info = large->info();
  const auto &windows = large->cache().windows();
  if (windows.empty())
    GTEST_SKIP() << "all layers read all tokens";
  const int64_t longest =
      std::min(large->contextLength(), 8 * info.kvBlockSize);
  ExecutorOptions options;
  options.threads = std::get<1>(GetParam());
  options.kvBlocks = 16;
  options.guardPages = true;
  for (const auto &window : windows)
    options.windowBlocks.push_back(
        2 * std::min<int64_t>(mlir::llm::runtime::WindowBlocks::mostHeld(
                                  window.window(), info.kvBlockSize, 8),
                              8));
  std::unique_ptr<Executor> small =
      openExecutor(std::get<0>(GetParam()), options);
  ASSERT_TRUE(small);
  PagedKVCache &cache = small->cache();
  TokenIds text;
  for (int64_t t = 0; t < longest; ++t)
    text.push_back(static_cast<int32_t>((t * t + 3 * t) % info.vocabSize));
  const std::vector<float> &expected =
      logitsAlone(std::get<0>(GetParam()), text);
  const auto vocabulary = static_cast<size_t>(info.vocabSize);
  ASSERT_TRUE(cache.createSequence(0));
  size_t done = 0, piece = 1;
  std::vector<SequenceId> running = {0};
  while (done < text.size()) {
    const size_t count = std::min(piece, text.size() - done);
    piece = piece % 8 + 1;
    if (done > text.size() / 2 && running.size() == 1) {
      ASSERT_TRUE(cache.fork(0, 1));
      running.push_back(1);
    }
    std::vector<SequenceStep> batch;
    for (SequenceId id : running) {
      SequenceStep part;
      part.sequence = id;
      part.tokens = Span<const int32_t>(&text[done], count);
      batch.push_back(part);
    }
    auto logits = small->step(batch);
    ASSERT_TRUE(logits) << logits.status().message();
    done += count;
    for (size_t i = 0; i < running.size(); ++i) {
      const Span<const float> row = logits->row(static_cast<int64_t>(i));
      ASSERT_TRUE(std::equal(
          row.begin(), row.end(),
          expected.begin() + static_cast<ptrdiff_t>((done - 1) * vocabulary)))
          << "token " << done << " of sequence " << running[i];
    }
    ASSERT_TRUE(cache.checkInvariants());
  }
  for (SequenceId id : running)
    cache.releasePassed(id);
  // The forks have gone on apart: a block for each that the window reaches.
  int64_t most = 0;
  for (const auto &window : windows)
    most += 2 * ((longest - 1) / info.kvBlockSize + 1 -
                 window.firstNeeded(longest));
  EXPECT_LE(cache.statistics().usedWindowBlocks, most);
  EXPECT_LT(most, 2 * cache.statistics().usedBlocks + 1);
}

INSTANTIATE_TEST_SUITE_P(Decoders, EngineInvariance,
                         testing::Combine(testing::ValuesIn(namedDecoders()),
                                          testing::Values(1, 3)),
                         BatchTest::nameOf);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EngineInvariance);
