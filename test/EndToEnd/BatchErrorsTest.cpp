// RUN: %python %S/batch_models.py --llmir %llmir_bin/llmir --work %t.models f32 q4_0
// RUN: env LLMIR_BATCH_MODELS=%t.models llmir-batch-tests --gtest_filter='*BatchErrors.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A step that fails has changed nothing: no length, no block, no byte of the
// pool, and the texts go on as if it had not been.
//
//===----------------------------------------------------------------------===//

#include "BatchRunner.h"

#include <algorithm>
#include <cstring>

using namespace llmir;
using namespace llmir::test;

namespace {
class BatchErrors : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    ASSERT_TRUE(run.ready());
    one = run.begin(run.text(1, 90));
    two = run.begin(run.text(2, 90));
    ASSERT_NO_FATAL_FAILURE(run.step({{&one, 20}, {&two, 48}}));
  }

  static SequenceStep part(SequenceId id, const TokenIds &tokens) {
    SequenceStep result;
    result.sequence = id;
    result.tokens = tokens;
    return result;
  }

  /// All bytes of the pool, layer by layer (with guard pages between layers).
  std::vector<uint8_t> poolBytes() {
    const PagedKVCache &cache = run->cache();
    const auto size = static_cast<size_t>(cache.blockLayout().blockBytes() *
                                          cache.blocks().numBlocks());
    std::vector<uint8_t> bytes;
    for (int64_t layer = 0; layer < cache.getNumLayers(); ++layer) {
      const uint8_t *first = cache.pool() + layer * cache.layerStride();
      bytes.insert(bytes.end(), first, first + size);
    }
    return bytes;
  }

  TokenIds table(SequenceId id) {
    Span<const int32_t> blocks = run->cache().blockTable(id);
    return TokenIds(blocks.begin(), blocks.end());
  }

  /// The step fails with `code` and `cause`, leaves everything, and both texts
  /// continue.
  void refuse(const std::vector<SequenceStep> &batch, StatusCode code,
              const std::string &cause) {
    const std::vector<uint8_t> pool = poolBytes();
    const TokenIds tables[] = {table(one.id), table(two.id)};
    const int64_t unused = run->cache().blocks().numFree();
    Status status = run->step(batch).takeStatus();
    EXPECT_EQ(status.code(), code) << status.message();
    EXPECT_NE(status.cause().find(cause), std::string::npos)
        << status.message();
    EXPECT_EQ(poolBytes(), pool) << cause;
    EXPECT_EQ(table(one.id), tables[0]);
    EXPECT_EQ(table(two.id), tables[1]);
    EXPECT_EQ(run->cache().blocks().numFree(), unused);
    EXPECT_EQ(run->cache().getSequenceLength(one.id),
              static_cast<int64_t>(one.done));
    EXPECT_EQ(run->cache().getSequenceLength(two.id),
              static_cast<int64_t>(two.done));
    EXPECT_TRUE(run->cache().checkInvariants());
    ASSERT_NO_FATAL_FAILURE(run.step({{&two, 1}, {&one, 1}}));
  }

  /// Four blocks, of which each text begins with one.
  BatchRunner run{GetParam(), 2, 4};
  Story one, two;
};
} // namespace

TEST_P(BatchErrors, BadRequestsChangeNothing) {
  const auto vocab = static_cast<int32_t>(run->info().vocabSize);
  const TokenIds good{1, 2, 3}, negative{1, -1}, high{1, 2, vocab},
      huge{INT32_MAX}, none;
  const auto invalid = StatusCode::InvalidArgument;
  const auto range = StatusCode::OutOfRange;
  refuse({part(one.id, high)}, range, std::to_string(vocab));
  refuse({part(one.id, good), part(two.id, negative)}, range, "-1");
  refuse({part(one.id, good), part(two.id, huge)}, range, "2147483647");
  refuse({part(one.id, good), part(999, good)}, invalid, "999");
  refuse({part(one.id, good), part(one.id, good)}, invalid, "listed twice");
  refuse({part(one.id, good), part(two.id, none)}, invalid, "no new token");
  refuse({}, invalid, "empty");
  const TokenIds many(run.budget() + 1, 3);
  refuse({part(one.id, many)}, range, std::to_string(run.budget()));
  const TokenIds half(run.budget() / 2 + 1, 3);
  refuse({part(two.id, half), part(one.id, half)}, range,
         std::to_string(run.budget()));
  SequenceStep all = part(one.id, many);
  const TokenIds rows(static_cast<size_t>(run->maxLogitRows()) + 1, 3);
  all.tokens = rows;
  all.want = WantLogits::All;
  refuse({all}, range, std::to_string(run->maxLogitRows()));
}

TEST_P(BatchErrors, AFullPoolChangesNothing) {
  // A third text takes a block; the others need one more each.
  const auto block = static_cast<size_t>(run->info().kvBlockSize);
  const TokenIds ofOne(block + 1 - one.done, 3), ofTwo(block + 1 - two.done, 3);
  const TokenIds third = run.text(3, 50);
  Story three = run.begin(third);
  ASSERT_NO_FATAL_FAILURE(run.step(three, 49));
  refuse({part(one.id, ofOne), part(two.id, ofTwo)},
         StatusCode::ResourceExhausted, "blocks");
  run.end(three);
  // What was in the way is gone.
  ASSERT_NO_FATAL_FAILURE(run.step({{&one, 20}, {&two, 20}}));
}

TEST_P(BatchErrors, ACopyThatDoesNotFitChangesNothing) {
  // A fork shares the last block, half full: one more token needs a copy.
  Story fork = run.branch(one, 20, one.text);
  ASSERT_NO_FATAL_FAILURE(run.step(two, 40));
  TokenIds rest = run.text(4, 16);
  std::vector<Story> fillers;
  while (run->cache().blocks().numFree() > 0) {
    fillers.push_back(run.begin(rest));
    ASSERT_NO_FATAL_FAILURE(run.step(fillers.back(), 16));
  }
  const TokenIds token{3};
  Status status =
      run->step(std::vector<SequenceStep>{part(fork.id, token)}).takeStatus();
  EXPECT_EQ(status.code(), StatusCode::ResourceExhausted) << status.message();
  EXPECT_TRUE(run->cache().checkInvariants());
  run.end(fillers.back());
  ASSERT_NO_FATAL_FAILURE(run.step({{&fork, 1}, {&one, 1}}));
}

INSTANTIATE_TEST_SUITE_P(Models, BatchErrors, testing::Values("f32", "q4_0"),
                         [](const testing::TestParamInfo<std::string> &info) {
                           return info.param;
                         });
