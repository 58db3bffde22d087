// RUN: %python %S/batch_models.py --llmir %llmir_bin/llmir --work %t.models
// RUN: env LLMIR_BATCH_MODELS=%t.models llmir-batch-tests --gtest_filter='*BatchInvariance.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A text's logits are the same bits however it is run.
//
//===----------------------------------------------------------------------===//

#include "BatchRunner.h"

#include <algorithm>
#include <random>

using namespace llmir;
using namespace llmir::test;

namespace {
class BatchInvariance : public BatchTest {
protected:
  BatchRunner runner(int64_t kvBlocks = 48) {
    return BatchTest::runner(kvBlocks);
  }
};
} // namespace

TEST_P(BatchInvariance, InOnePiece) {
  BatchRunner run = runner();
  ASSERT_TRUE(run.ready());
  for (size_t length : {1, 2, 3, 15, 16, 17, 31, 32, 33, 48, 49, 64, 97}) {
    Story story = run.begin(prefix(run.text(1, 97), length));
    ASSERT_NO_FATAL_FAILURE(run.finish(story, length));
    run.end(story);
  }
}

TEST_P(BatchInvariance, InPieces) {
  BatchRunner run = runner();
  ASSERT_TRUE(run.ready());
  for (size_t piece : {1, 2, 3, 7, 15, 16, 17, 31, 33, 64}) {
    Story story = run.begin(run.text(2, 131));
    ASSERT_NO_FATAL_FAILURE(run.finish(story, piece));
    run.end(story);
  }
}

TEST_P(BatchInvariance, TokenByTokenAfterAPrompt) {
  BatchRunner run = runner();
  ASSERT_TRUE(run.ready());
  for (size_t prompt : {1, 15, 16, 17, 31, 32, 33, 48}) {
    Story story = run.begin(run.text(3, 66));
    ASSERT_NO_FATAL_FAILURE(run.step(story, prompt));
    ASSERT_NO_FATAL_FAILURE(run.finish(story, 1));
    run.end(story);
  }
}

TEST_P(BatchInvariance, LongerThanTheTokenBudget) {
  BatchRunner run = runner();
  ASSERT_TRUE(run.ready());
  ASSERT_GT(run.context(), run.budget());
  Story story = run.begin(run.text(4, run.context()));
  ASSERT_NO_FATAL_FAILURE(run.finish(story, run.budget()));
}

// One step holds prompts and single tokens; another one has them in another
// order.
TEST_P(BatchInvariance, FiveAtOnceInAnyOrder) {
  BatchRunner run = runner(60);
  ASSERT_TRUE(run.ready());
  std::vector<std::vector<size_t>> orders = {
      {0, 1, 2, 3, 4}, {4, 3, 2, 1, 0}, {2, 4, 0, 1, 3}};
  for (const std::vector<size_t> &order : orders) {
    std::vector<Story> stories;
    for (size_t length : {16, 33, 48, 17, 90})
      stories.push_back(run.begin(run.text(10 + stories.size(), length + 12)));
    // Two are in the middle, two begin, one ends its prompt.
    ASSERT_NO_FATAL_FAILURE(run.step({{&stories[0], 16}, {&stories[1], 33}}));
    ASSERT_NO_FATAL_FAILURE(run.step(stories[4], 71));
    const size_t counts[] = {1, 1, 48, 17, 19};
    BatchRunner::Parts mixed;
    for (size_t i : order)
      mixed.emplace_back(&stories[i], counts[i]);
    ASSERT_NO_FATAL_FAILURE(run.step(mixed));
    for (int decode = 0; decode < 11; ++decode) {
      BatchRunner::Parts ones;
      for (size_t i : order)
        ones.emplace_back(&stories[i], 1);
      ASSERT_NO_FATAL_FAILURE(run.step(ones));
    }
    for (const Story &story : stories)
      run.end(story);
  }
}

TEST_P(BatchInvariance, FullTokenBudget) {
  BatchRunner run = runner(80);
  ASSERT_TRUE(run.ready());
  std::vector<Story> stories;
  BatchRunner::Parts ones, parts;
  for (unsigned i = 0; i < 7; ++i)
    stories.push_back(run.begin(run.text(20 + i, 100)));
  for (Story &story : stories)
    parts.emplace_back(&story, run.budget() / 7);
  for (size_t i = 0; i < run.budget() % 7; ++i)
    ++parts[i].second;
  ASSERT_NO_FATAL_FAILURE(run.step(parts));
  for (Story &story : stories)
    ones.emplace_back(&story, 1);
  for (int decode = 0; decode < 3; ++decode)
    ASSERT_NO_FATAL_FAILURE(run.step(ones));
}

// SPEC: 4 16 150
// As many sequences as a step has rows of logits.
TEST_P(BatchInvariance, ManySequences) {
  BatchRunner run = runner(140);
  ASSERT_TRUE(run.ready());
  const auto count = static_cast<unsigned>(run->maxLogitRows());
  std::vector<Story> stories;
  for (unsigned i = 0; i < count; ++i)
    stories.push_back(run.begin(run.text(100 + i % 9, 12 + i % 7)));
  for (Story &story : stories)
    ASSERT_NO_FATAL_FAILURE(run.step(story, 8));
  for (int decode = 0; decode < 4; ++decode) {
    BatchRunner::Parts ones;
    for (Story &story : stories)
      ones.emplace_back(&story, 1);
    ASSERT_NO_FATAL_FAILURE(run.step(ones));
  }
}

// Steps of each small number of tokens, of which kernels have tiles of their
// own, and again with a prompt among them.
TEST_P(BatchInvariance, BatchesOfEachSize) {
  BatchRunner run = runner(60);
  ASSERT_TRUE(run.ready());
  std::vector<Story> stories;
  for (unsigned i = 0; i < 18; ++i)
    stories.push_back(run.begin(run.text(300 + i, 42)));
  Story prompt = run.begin(run.text(320, 40));
  for (Story &story : stories)
    ASSERT_NO_FATAL_FAILURE(run.step(story, 3));
  for (size_t size = 1; size <= stories.size(); ++size) {
    BatchRunner::Parts ones;
    for (size_t i = 0; i < size; ++i)
      ones.emplace_back(&stories[stories.size() - 1 - i], 1);
    ASSERT_NO_FATAL_FAILURE(run.step(ones));
    ones.emplace_back(&prompt, 2);
    ASSERT_NO_FATAL_FAILURE(run.step(ones));
  }
}

TEST_P(BatchInvariance, ForksGoOnApart) {
  BatchRunner run = runner(80);
  ASSERT_TRUE(run.ready());
  const TokenIds text = run.text(30, 60);
  for (size_t shared : {1, 15, 16, 17, 31, 32, 33, 40}) {
    Story source = run.begin(text);
    ASSERT_NO_FATAL_FAILURE(run.step(source, 40));
    // A fork of less than the source has shares a block that holds more.
    Story one = run.branch(source, shared,
                           joined(prefix(text, shared), run.text(31, 25)));
    Story two = run.branch(source, shared,
                           joined(prefix(text, shared), run.text(32, 25)));
    Story three =
        run.branch(one, shared, joined(prefix(text, shared), run.text(33, 25)));
    ASSERT_NO_FATAL_FAILURE(
        run.step({{&one, 1}, {&source, 3}, {&two, 9}, {&three, 2}}));
    run.end(one);
    for (int decode = 0; decode < 10; ++decode)
      ASSERT_NO_FATAL_FAILURE(run.step({{&two, 1}, {&source, 1}, {&three, 1}}));
    run.end(source);
    ASSERT_NO_FATAL_FAILURE(run.finish(two, 5));
    ASSERT_NO_FATAL_FAILURE(run.finish(three, 1));
    run.end(two);
    run.end(three);
    ASSERT_TRUE(run->cache().checkInvariants());
  }
  EXPECT_EQ(run->cache().blocks().numUsed(), 0);
}

TEST_P(BatchInvariance, TruncatedAndContinued) {
  BatchRunner run = runner();
  ASSERT_TRUE(run.ready());
  const TokenIds text = run.text(40, 50);
  for (size_t kept : {1, 15, 16, 17, 31, 32, 33, 47}) {
    Story story = run.begin(text);
    ASSERT_NO_FATAL_FAILURE(run.step(story, 49));
    ASSERT_TRUE(run->cache().truncate(story.id, static_cast<int64_t>(kept)));
    story.text = joined(prefix(text, kept), run.text(41, 20));
    story.done = kept;
    ASSERT_NO_FATAL_FAILURE(run.finish(story, 6));
    run.end(story);
  }
}

TEST_P(BatchInvariance, InUsedMemory) {
  BatchRunner run = runner(16);
  ASSERT_TRUE(run.ready());
  for (unsigned round = 0; round < 4; ++round) {
    ASSERT_NO_FATAL_FAILURE(run.poisonFreeBlocks());
    Story one = run.begin(run.text(50 + round, 75));
    Story two = run.begin(run.text(60 + round, 33));
    ASSERT_NO_FATAL_FAILURE(run.step({{&one, 47}, {&two, 20}}));
    ASSERT_NO_FATAL_FAILURE(run.poisonFreeBlocks());
    Story three =
        run.branch(one, 30, joined(prefix(one.text, 30), run.text(70, 30)));
    while (two.left() > 0)
      ASSERT_NO_FATAL_FAILURE(run.step({{&two, 1}, {&three, 2}, {&one, 1}}));
    run.end(two);
    ASSERT_NO_FATAL_FAILURE(run.poisonFreeBlocks());
    ASSERT_NO_FATAL_FAILURE(run.finish(one, 4));
    run.end(one);
    ASSERT_NO_FATAL_FAILURE(run.poisonFreeBlocks());
    ASSERT_NO_FATAL_FAILURE(run.finish(three, 3));
    run.end(three);
  }
}

// SPEC: 4 150
// A pool too small for all: the newest sequence frees its blocks and begins
// again later; the others do not notice.
TEST_P(BatchInvariance, PreemptedAndResumed) {
  BatchRunner run = runner(9);
  ASSERT_TRUE(run.ready());
  Story one = run.begin(run.text(80, 60)), two = run.begin(run.text(81, 50));
  Story three = run.begin(run.text(82, 40));
  ASSERT_NO_FATAL_FAILURE(run.step({{&one, 30}, {&two, 30}, {&three, 30}}));
  for (int decode = 0; decode < 8; ++decode)
    ASSERT_NO_FATAL_FAILURE(run.step({{&three, 1}, {&one, 1}, {&two, 1}}));
  run.end(three);
  ASSERT_NO_FATAL_FAILURE(run.poisonFreeBlocks());
  while (two.left() > 0)
    ASSERT_NO_FATAL_FAILURE(run.step({{&one, 1}, {&two, 1}}));
  run.end(two);
  Story resumed = run.begin(three.text);
  ASSERT_NO_FATAL_FAILURE(run.step({{&resumed, 38}, {&one, 1}}));
  while (resumed.left() > 0)
    ASSERT_NO_FATAL_FAILURE(run.step({{&resumed, 1}, {&one, 1}}));
  ASSERT_NO_FATAL_FAILURE(run.finish(one, 1));
}

TEST_P(BatchInvariance, ToTheEndOfTheContext) {
  BatchRunner run = runner(60);
  ASSERT_TRUE(run.ready());
  Story full = run.begin(run.text(4, run.context()));
  Story other = run.begin(run.text(90, 40));
  while (full.left() > 5)
    ASSERT_NO_FATAL_FAILURE(
        run.step(full, std::min(run.budget(), full.left() - 5)));
  ASSERT_NO_FATAL_FAILURE(run.step({{&other, 20}, {&full, 3}}));
  ASSERT_NO_FATAL_FAILURE(run.step({{&full, 1}, {&other, 1}}));
  ASSERT_NO_FATAL_FAILURE(run.step({{&full, 1}, {&other, 1}}));
  // Full; the other one continues.
  EXPECT_EQ(run->step(Span<const SequenceStep>()).status().code(),
            StatusCode::InvalidArgument);
  SequenceStep beyond;
  beyond.sequence = full.id;
  beyond.tokens = Span<const int32_t>(full.text).subspan(0, 1);
  EXPECT_EQ(run->step(Span<const SequenceStep>(&beyond, 1)).status().code(),
            StatusCode::OutOfRange);
  ASSERT_NO_FATAL_FAILURE(run.finish(other, 1));
}

// Random chunks, orders, forks, ends and poison.
TEST_P(BatchInvariance, RandomSchedules) {
  BatchRunner run = runner(40);
  ASSERT_TRUE(run.ready());
  std::mt19937 random(99);
  auto upTo = [&random](size_t most) { return random() % (most + 1); };
  std::vector<Story> stories;
  for (int step = 0; step < 120; ++step) {
    while (stories.size() < 5)
      stories.push_back(run.begin(
          run.text(static_cast<unsigned>(200 + upTo(7)), 20 + 15 * upTo(4))));
    std::shuffle(stories.begin(), stories.end(), random);
    BatchRunner::Parts parts;
    size_t budget = run.budget();
    for (Story &story : stories) {
      size_t most = std::min(story.left(), upTo(2) ? 1 : 1 + upTo(39));
      if (upTo(4) > 0 && most > 0 && most <= budget) {
        parts.emplace_back(&story, most);
        budget -= most;
      }
    }
    if (!parts.empty()) {
      ASSERT_NO_FATAL_FAILURE(run.step(parts));
    }
    if (upTo(9) == 0) {
      ASSERT_NO_FATAL_FAILURE(run.poisonFreeBlocks());
    }
    size_t chosen = upTo(4);
    if (stories[chosen].left() == 0 || upTo(11) == 0) {
      run.end(stories[chosen]);
      stories.erase(stories.begin() + static_cast<ptrdiff_t>(chosen));
    } else if (stories[chosen].done > 1 && stories.size() < 6 &&
               run->cache().blocks().numFree() > 12) {
      const Story &source = stories[chosen];
      size_t shared = 1 + upTo(source.done - 1);
      stories.push_back(
          run.branch(source, shared,
                     joined(prefix(source.text, shared), run.text(250, 30))));
    }
    ASSERT_TRUE(run->cache().checkInvariants());
  }
}

INSTANTIATE_TEST_SUITE_P(Decoders, BatchInvariance,
                         testing::Combine(testing::ValuesIn(namedDecoders()),
                                          testing::Values(1, 3)),
                         BatchTest::nameOf);

INSTANTIATE_TEST_SUITE_P(
    Models, BatchInvariance,
    testing::Combine(testing::Values("f32", "bf16", "f16", "q8_0", "q4_0",
                                     "q4_k_m", "int4", "gpt2", "own_1", "own_2",
                                     "own_3"),
                     testing::Values(1, 2, 3, 5)),
    BatchTest::nameOf);
