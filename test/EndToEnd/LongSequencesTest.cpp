// RUN: %python %S/batch_models.py --llmir %llmir_bin/llmir --work %t.models long_f32 long_bf16 long_f16 long_q8
// RUN: env LLMIR_BATCH_MODELS=%t.models llmir-batch-tests --gtest_filter='*LongSequences.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A text's logits are the same bits however it is run, where attention reads
// its keys in several chunks: one worker may have a sequence's chunks, or
// several.
//
//===----------------------------------------------------------------------===//

#include "BatchRunner.h"

#include "llmir/ABI/AttentionSplit.h"

#include <algorithm>

using namespace llmir;
using namespace llmir::test;

namespace {
constexpr auto chunk = static_cast<size_t>(kAttentionChunk);

class LongSequences : public BatchTest {
protected:
  /// Room for several sequences of the whole context.
  BatchRunner runner() { return BatchTest::runner(700); }

  /// Processes a story up to `done` tokens in chunks of the token budget.
  static void feed(BatchRunner &run, Story &story, size_t done) {
    while (story.done < done)
      ASSERT_NO_FATAL_FAILURE(
          run.step(story, std::min(run.budget(), done - story.done)));
  }
};
} // namespace

TEST_P(LongSequences, TokenByTokenOverTheEndsOfChunks) {
  BatchRunner run = runner();
  ASSERT_TRUE(run.ready());
  ASSERT_GT(run.context(), 2 * chunk + 100);
  Story story = run.begin(run.text(1, run.context()));
  for (size_t end : {chunk, 2 * chunk}) {
    ASSERT_NO_FATAL_FAILURE(feed(run, story, end - 4));
    for (int token = 0; token < 8; ++token)
      ASSERT_NO_FATAL_FAILURE(run.step(story, 1));
  }
  ASSERT_NO_FATAL_FAILURE(feed(run, story, run.context()));
}

// Prompts that end and begin within a chunk, with it, or many of them.
TEST_P(LongSequences, InPieces) {
  BatchRunner run = runner();
  ASSERT_TRUE(run.ready());
  ASSERT_GE(run.budget(), chunk);
  for (size_t piece : {size_t(61), chunk / 2, chunk - 1, chunk}) {
    Story story = run.begin(run.text(1, run.context()));
    ASSERT_NO_FATAL_FAILURE(run.finish(story, piece));
    run.end(story);
  }
}

TEST_P(LongSequences, SixteenAtOnce) {
  BatchRunner run = runner();
  ASSERT_TRUE(run.ready());
  const size_t lengths[] = {3, 17, 64, 200, 450, chunk - 2, chunk - 1, chunk};
  std::vector<Story> stories;
  for (size_t i = 0; i < 16; ++i)
    // Every other one is alone in its second or third chunk.
    stories.push_back(
        run.begin(run.text(static_cast<unsigned>(2 + i % 4), 1100)));
  for (size_t i = 0; i < 16; ++i)
    ASSERT_NO_FATAL_FAILURE(
        feed(run, stories[i], lengths[i / 2] + (i == 15 ? chunk : 0)));
  for (size_t decode = 0; decode < 6; ++decode) {
    BatchRunner::Parts parts;
    for (size_t i = 0; i < 16;
         ++i) // One of them processes a chunk of its prompt.
      parts.emplace_back(&stories[(i + decode) % 16], i == 5 ? 30 : 1);
    ASSERT_NO_FATAL_FAILURE(run.step(parts));
  }
}

TEST_P(LongSequences, ForksShareChunks) {
  BatchRunner run = runner();
  ASSERT_TRUE(run.ready());
  const TokenIds text = run.text(1, run.context());
  Story source = run.begin(text);
  ASSERT_NO_FATAL_FAILURE(feed(run, source, 2 * chunk + 60));
  for (size_t shared : {chunk - 1, chunk, chunk + 1, 2 * chunk + 37}) {
    Story fork = run.branch(source, shared,
                            joined(prefix(text, shared), run.text(7, 70)));
    ASSERT_NO_FATAL_FAILURE(run.step({{&fork, 40}, {&source, 1}}));
    for (int decode = 0; decode < 4; ++decode)
      ASSERT_NO_FATAL_FAILURE(run.step({{&source, 1}, {&fork, 1}}));
    ASSERT_NO_FATAL_FAILURE(run.finish(fork, 9));
    run.end(fork);
  }
}

// Alone with all workers, a sequence's chunks are distributed; with others they
// are not.
TEST_P(LongSequences, AloneAndInCompanyInTurn) {
  BatchRunner run = runner();
  ASSERT_TRUE(run.ready());
  Story one = run.begin(run.text(1, run.context()));
  Story two = run.begin(run.text(2, 1100)), small = run.begin(run.text(8, 60));
  ASSERT_NO_FATAL_FAILURE(feed(run, one, 2 * chunk + 80));
  ASSERT_NO_FATAL_FAILURE(feed(run, two, chunk + 80));
  for (int turn = 0; turn < 10; ++turn) {
    ASSERT_NO_FATAL_FAILURE(run.step(one, 1));
    ASSERT_NO_FATAL_FAILURE(run.step({{&small, 4}, {&one, 1}, {&two, 1}}));
    ASSERT_NO_FATAL_FAILURE(run.step({{&one, 2}, {&two, 1}}));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Caches, LongSequences,
    testing::Combine(testing::Values("long_f32", "long_bf16", "long_f16",
                                     "long_q8"),
                     testing::Values(1, 2, 3, 4, 5)),
    BatchTest::nameOf);
