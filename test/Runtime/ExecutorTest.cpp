// RUN: llmir-runtime-tests --gtest_filter='Executor.*:*/ExecutorBatches.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Runtime/Executor.h"
#include "Artifact/Handmade.h"
#include "Runtime/AllocationCount.h"
#include "Runtime/HandwrittenStep.h"
#include "llmir/Artifact/Artifact.h"

#include <algorithm>
#include <map>
#include <random>

using namespace llmir;
using namespace llmir::test;

namespace {
std::unique_ptr<Executor>
handwritten(int64_t threads, int64_t kvBlocks,
            LLMIRStepFunction function = handwrittenStep) {
  ExecutorOptions options;
  options.threads = threads;
  options.kvBlocks = kvBlocks;
  options.guardPages = true;
  Expected<std::unique_ptr<Executor>> executor = Executor::create(
      sampleInfo(), function, handwrittenWeightBytes(), options);
  EXPECT_TRUE(executor) << executor.status().message();
  return executor ? std::move(*executor) : nullptr;
}

int32_t argmax(Span<const float> row) {
  size_t best = 0;
  for (size_t i = 1; i < row.size(); ++i)
    if (row[i] > row[best])
      best = i;
  return static_cast<int32_t>(best);
}

/// A random batch over some sequences, with what its rows should be.
struct RandomBatch {
  std::vector<std::vector<int32_t>> tokens, rows;
  std::vector<SequenceStep> parts;
  std::vector<int32_t> expected;
};
} // namespace

class ExecutorBatches : public testing::TestWithParam<int64_t> {
protected:
  void addPart(RandomBatch &batch, SequenceId id);
  int64_t upTo(int64_t most) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(most + 1));
  }

  std::mt19937_64 random{7};
  std::map<SequenceId, std::vector<int32_t>> sequences;
};

void ExecutorBatches::addPart(RandomBatch &batch, SequenceId id) {
  std::vector<int32_t> &all = sequences[id];
  std::vector<int32_t> tokens(static_cast<size_t>(1 + upTo(5)));
  for (int32_t &token : tokens)
    token = static_cast<int32_t>(upTo(sampleInfo().vocabSize - 1));
  size_t first = all.size();
  all.insert(all.end(), tokens.begin(), tokens.end());
  std::vector<int32_t> rows;
  SequenceStep part;
  part.sequence = id;
  part.want = static_cast<WantLogits>(upTo(3));
  if (part.want == WantLogits::Listed)
    for (size_t i = 0; i < tokens.size(); ++i)
      if (upTo(1))
        rows.push_back(static_cast<int32_t>(i));
  for (size_t i = 0; i < tokens.size(); ++i)
    if (part.want == WantLogits::All ||
        (part.want == WantLogits::Last && i + 1 == tokens.size()) ||
        std::count(rows.begin(), rows.end(), static_cast<int32_t>(i)))
      batch.expected.push_back(expectedToken(all, first + i + 1));
  batch.tokens.push_back(std::move(tokens));
  batch.rows.push_back(std::move(rows));
  part.tokens = batch.tokens.back();
  part.rows = batch.rows.back();
  batch.parts.push_back(part);
}

TEST_P(ExecutorBatches, AgreeWithTheirMeaning) {
  std::unique_ptr<Executor> executor = handwritten(GetParam(), 60);
  ASSERT_TRUE(executor);
  SequenceId next = 0;
  for (int step = 0; step < 300; ++step) {
    // Few rows and tokens, so that every batch is within the limits.
    while (sequences.size() < 5) {
      ASSERT_TRUE(executor->cache().createSequence(next));
      sequences[next++] = {};
    }
    RandomBatch batch;
    int64_t tokens = 0;
    for (auto &[id, all] :
         std::map<SequenceId, std::vector<int32_t>>(sequences))
      if (upTo(1) && tokens + 6 <= executor->tokenBudget() &&
          batch.expected.size() + 6 <=
              static_cast<size_t>(executor->maxLogitRows()) &&
          all.size() + 6 <= static_cast<size_t>(executor->contextLength())) {
        addPart(batch, id);
        tokens += static_cast<int64_t>(batch.tokens.back().size());
      }
    if (!batch.parts.empty()) {
      Expected<StepLogits> logits = executor->step(batch.parts);
      ASSERT_TRUE(logits) << logits.status().message();
      ASSERT_EQ(logits->numRows, static_cast<int64_t>(batch.expected.size()));
      for (int64_t row = 0; row < logits->numRows; ++row) {
        ASSERT_EQ(logits->row(row).size(), 50u); // The padding is not seen.
        EXPECT_EQ(argmax(logits->row(row)),
                  batch.expected[static_cast<size_t>(row)]);
      }
    }
    SequenceId any = sequences.begin()->first;
    if (upTo(5) == 0 && !sequences[any].empty()) { // A branch of the oldest.
      ASSERT_TRUE(executor->cache().fork(any, next));
      sequences[next++] = sequences[any];
    }
    if (sequences.size() > 6 || sequences[any].size() > 30) {
      ASSERT_TRUE(executor->cache().freeSequence(any));
      sequences.erase(any);
    }
    ASSERT_TRUE(executor->cache().checkInvariants());
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, ExecutorBatches, testing::Values(1, 2, 5));

// SPEC: 33
TEST(Executor, AStepAllocatesNothing) {
  std::unique_ptr<Executor> executor = handwritten(
      2, 20, [](const LLMIRStepContext *ctx, int64_t worker, int64_t) {
        ctx->runtime->barrier(ctx, worker);
      });
  ASSERT_TRUE(executor);
  ASSERT_TRUE(executor->cache().createSequence(1));
  ASSERT_TRUE(executor->cache().createSequence(2));
  ASSERT_TRUE(executor->cache().fork(1, 3));
  const int32_t tokens[] = {1, 2, 3, 4, 5, 6, 7};
  SequenceStep parts[2];
  parts[0].sequence = 1;
  parts[0].tokens = Span<const int32_t>(tokens, 7);
  parts[1].sequence = 2;
  parts[1].tokens = Span<const int32_t>(tokens, 3);
  parts[1].want = WantLogits::All;
  int64_t before = allocationCount();
  for (int i = 0; i < 4; ++i)
    ASSERT_TRUE(executor->step(Span<const SequenceStep>(parts, 2)));
  EXPECT_EQ(allocationCount(), before);
  EXPECT_EQ(executor->cache().getSequenceLength(1), 28);
}

// SPEC: 33
TEST(Executor, RunsAnArtifact) {
  TemporaryPath path("executor.llmir");
  writeSample(path.str());
  Expected<std::shared_ptr<const Artifact>> artifact =
      Artifact::open(path.str());
  ASSERT_TRUE(artifact) << artifact.status().message();
  Expected<std::unique_ptr<Executor>> executor =
      Executor::create(*artifact, {});
  ASSERT_TRUE(executor) << executor.status().message();
  artifact->reset(); // The executor copies the required data.
  EXPECT_EQ((*executor)->contextLength(), 40);
  EXPECT_EQ((*executor)->cache().blocks().numBlocks(), 10);
  ASSERT_TRUE((*executor)->cache().createSequence(7));
  const int32_t tokens[] = {3};
  SequenceStep part;
  part.sequence = 7;
  part.tokens = Span<const int32_t>(tokens, 1);
  Expected<StepLogits> logits =
      (*executor)->step(Span<const SequenceStep>(&part, 1));
  ASSERT_TRUE(logits) << logits.status().message();
  EXPECT_EQ(logits->row(0)[0], 1.0f);
}

TEST(Executor, DividesTheCacheAmongWindows) {
  ArtifactInfo info = sampleInfo(); // Two layers.
  info.contextLength = 4000;
  info.windows = {0, 20};
  const int64_t blockBytes = sampleLayout().blockBytes();
  const int64_t most = mlir::llm::runtime::WindowBlocks::mostHeld(
      20, info.kvBlockSize, info.tokenBudget);
  const int64_t context = 4000 / info.kvBlockSize;
  ASSERT_LT(8 * most, context);
  auto blocks = [&](const ExecutorOptions &options) {
    Expected<std::unique_ptr<Executor>> executor = Executor::create(
        info, handwrittenStep, handwrittenWeightBytes(), options);
    EXPECT_TRUE(executor) << executor.status().message();
    const PagedKVCache &cache = (*executor)->cache();
    return std::pair(cache.blocks().numBlocks(),
                     cache.windows()[0].numBlocks());
  };
  ExecutorOptions options;
  options.threads = 1;
  EXPECT_EQ(blocks(options), std::pair(context, most));
  options.keepsPrefixes = true;
  EXPECT_EQ(blocks(options), std::pair(context + 1, 2 * most));
  // Windows for four sequences, the rest for other layers.
  options.keepsPrefixes = false;
  options.sequences = 4;
  options.kvBytes = (2 * context + 4 * most) * blockBytes;
  EXPECT_EQ(blocks(options), std::pair(2 * context, 4 * most));
  // For two, so that the context has room.
  options.kvBytes = (context + 2 * most) * blockBytes;
  EXPECT_EQ(blocks(options), std::pair(context, 2 * most));
  // For one, and less than the context.
  options.kvBytes = (context / 2 + most) * blockBytes;
  EXPECT_EQ(blocks(options), std::pair(context / 2, most));
  options.windowBlocks = {most + 1};
  EXPECT_EQ(blocks(options), std::pair(context / 2, most + 1));
  options.sequences = 65537;
  EXPECT_EQ(
      Executor::create(info, handwrittenStep, handwrittenWeightBytes(), options)
          .status()
          .code(),
      StatusCode::InvalidArgument);
  // Without other layers, their blocks cost about 128 bytes.
  info.windows = {20, 20};
  options.windowBlocks = {};
  options.sequences = 200;
  ASSERT_GT(200 * most, context);
  options.kvBytes = 10 * (2 * most * blockBytes + 128 * context);
  EXPECT_EQ(blocks(options), std::pair(10 * context, 10 * most));
  info.headDim = 65536;
  const int64_t large = info.kvLayout().blockBytes();
  options.kvBytes = (2 * 3 * most + 1) * large;
  EXPECT_EQ(blocks(options), std::pair(3 * context, 3 * most));
  options.kvBytes = (2 * context + 1) * large;
  const int64_t sequences = context / most;
  EXPECT_EQ(blocks(options), std::pair(sequences * context, sequences * most));
}

TEST(Executor, ChoosesContextAndPool) {
  auto make = [](ArtifactInfo info, ExecutorOptions options) {
    options.threads = 1;
    Expected<std::unique_ptr<Executor>> executor = Executor::create(
        info, handwrittenStep, handwrittenWeightBytes(), options);
    EXPECT_TRUE(executor) << executor.status().message();
    return executor ? std::move(*executor) : nullptr;
  };
  const ArtifactInfo info = sampleInfo();
  const int64_t blockBytes = 2 * sampleLayout().blockBytes();
  ExecutorOptions options;
  options.contextLength = 9;
  std::unique_ptr<Executor> executor = make(info, options);
  EXPECT_EQ(executor->contextLength(), 9);
  EXPECT_EQ(executor->cache().blocks().numBlocks(), 3);
  EXPECT_GE(executor->memoryBytes(), 3 * blockBytes + info.arenaBytes);

  options = {};
  options.kvBytes = 5 * blockBytes + blockBytes / 2;
  executor = make(info, options);
  EXPECT_EQ(executor->contextLength(), 40);
  EXPECT_EQ(executor->cache().blocks().numBlocks(), 5);

  // A context that exceeds the memory is reduced, unless it was requested.
  ArtifactInfo large = info;
  large.contextLength = INT32_MAX;
  large.headDim = 65536;
  executor = make(large, {});
  EXPECT_LT(executor->contextLength(), INT32_MAX);
  EXPECT_GE(executor->contextLength(), large.kvBlockSize);
}
