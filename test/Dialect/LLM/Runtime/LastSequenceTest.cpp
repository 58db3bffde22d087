// RUN: llmir-kvcache-tests --gtest_filter='LastSequence*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sequence that ended last, which the next one continues.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLM/Runtime/PagedKVCache.h"

#include <algorithm>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <random>

using namespace mlir::llm::runtime;
using llmir::Expected;
using llmir::Status;
using llmir::StatusCode;

namespace {
using Tokens = std::vector<int32_t>;

constexpr int64_t blockSize = 4;

/// What is stored for the last token of a text depends on all of it, as keys
/// and values do.
float valueOf(const Tokens &text, size_t length) {
  uint32_t hash = 7;
  for (size_t i = 0; i < length; ++i)
    hash = hash * 31 + static_cast<uint32_t>(text[i]);
  return static_cast<float>(hash % 65521);
}

class LastSequence : public testing::Test {
protected:
  void open(int64_t numBlocks, int64_t stateSlots = 0) {
    PagedKVCacheOptions options;
    options.numBlocks = numBlocks;
    options.keepsLast = true;
    options.guardPages = true;
    if (stateSlots)
      options.states = {1, 64, stateSlots};
    cache = std::make_unique<PagedKVCache>(1, 1, 2, blockSize, 40,
                                           KVElementType::F32, options);
    ASSERT_TRUE(cache->status()) << cache->status().message();
  }

  float &state(SequenceId id) {
    const StatePool &states = cache->states();
    return *reinterpret_cast<float *>(states.data() + cache->stateSlot(id) *
                                                          states.slotStride());
  }

  /// As the executor does it: reserve, then write the pool through the slots.
  Status append(SequenceId id, const Tokens &more) {
    Tokens &text = texts[id];
    std::vector<int32_t> slots(more.size());
    LLMIR_RETURN_IF_ERROR(
        cache->reserve(id, static_cast<int64_t>(more.size()), slots));
    const llmir::KVBlockLayout &layout = cache->blockLayout();
    for (size_t i = 0; i < more.size(); ++i) {
      text.push_back(more[i]);
      const float value = valueOf(text, text.size());
      EXPECT_EQ(cache->blocks().refCount(slots[i] / blockSize), 1);
      uint8_t *base =
          cache->pool() + slots[i] / blockSize * layout.blockBytes();
      for (int64_t d = 0; d < 2; ++d) {
        std::memcpy(base + layout.keyOffset(slots[i] % blockSize, 0, d), &value,
                    4);
        std::memcpy(base + layout.valueOffset(slots[i] % blockSize, 0, d),
                    &value, 4);
      }
      if (!cache->states().isEmpty())
        state(id) = value;
    }
    return Status::ok();
  }

  /// The number of tokens that are there already.
  int64_t start(SequenceId id, const Tokens &tokens, uint64_t salt = 0) {
    const CachedPrefix promised = cache->lookUp(tokens, salt);
    Expected<int64_t> got = cache->createSequence(id, tokens, salt);
    EXPECT_TRUE(got) << got.status().message();
    if (!got)
      return -1;
    EXPECT_EQ(*got, promised.tokens);
    texts[id] = Tokens(tokens.begin(), tokens.begin() + *got);
    check(id);
    return *got;
  }

  void end(SequenceId id, uint64_t salt = 0) {
    Status ended = cache->endSequence(id, texts[id], salt);
    EXPECT_TRUE(ended) << ended.message();
    texts.erase(id);
  }

  void check(SequenceId id) {
    Status invariants = cache->checkInvariants();
    ASSERT_TRUE(invariants) << invariants.message();
    const Tokens &text = texts[id];
    ASSERT_EQ(cache->getSequenceLength(id), static_cast<int64_t>(text.size()));
    std::vector<float> keys(text.size() * 2 + 1), values(keys.size());
    ASSERT_TRUE(cache->loadTokens(0, cache->blockTable(id),
                                  static_cast<int64_t>(text.size()),
                                  keys.data(), values.data()));
    for (size_t i = 0; i < text.size(); ++i) {
      ASSERT_EQ(keys[2 * i], valueOf(text, i + 1)) << "token " << i;
      ASSERT_EQ(values[2 * i], valueOf(text, i + 1)) << "token " << i;
    }
    if (!cache->states().isEmpty())
      ASSERT_EQ(state(id), text.empty() ? 0 : valueOf(text, text.size()));
  }

  std::unique_ptr<PagedKVCache> cache;
  std::map<SequenceId, Tokens> texts; ///< Of the sequences.
};
} // namespace

TEST_F(LastSequence, IsContinuedToTheToken) {
  open(8);
  EXPECT_EQ(start(1, {1, 2, 3}), 0);
  ASSERT_TRUE(append(1, {1, 2, 3, 4, 5, 6}));
  const Tokens known = texts[1];
  end(1);
  EXPECT_FALSE(cache->hasSequence(1));
  EXPECT_EQ(cache->getNumSequences(), 0);
  // The next turn, with the same id; its last token is not asked for.
  EXPECT_EQ(start(1, {1, 2, 3, 4, 5, 6, 7, 8}), 6);
  ASSERT_TRUE(append(1, {7, 8, 9}));
  check(1);
  end(1);
  // A difference within a block; the rest of the block is written again.
  EXPECT_EQ(start(2, {1, 2, 3, 4, 5, 9}), 5);
  ASSERT_TRUE(append(2, {9, 9, 9, 9}));
  check(2);
  end(2);
  // Only the beginning of it.
  EXPECT_EQ(start(3, {1, 2}), 2);
  end(3);
  // Nothing: what was kept is gone, and the new one is kept.
  EXPECT_EQ(start(4, {5}), 0);
  EXPECT_EQ(cache->blocks().numUsed(), 0);
  ASSERT_TRUE(append(4, {5}));
  end(4);
  EXPECT_EQ(start(5, {5, 6}), 1);
  EXPECT_EQ(cache->statistics().foundTokens, 6 + 5 + 2 + 1);
}

TEST_F(LastSequence, HasASalt) {
  open(8);
  for (uint64_t other : {1, 0}) {
    start(1, {1, 2}, /*salt=*/1);
    ASSERT_TRUE(append(1, {1, 2}));
    end(1, /*salt=*/1);
    EXPECT_EQ(start(2, {1, 2}, other), other == 1 ? 2 : 0);
    end(2, other);
    cache->reset();
  }
}

TEST_F(LastSequence, HasWhatItsOwnerKnows) {
  open(8);
  // Tokens that were reserved for a step that failed; and some that it lacks.
  for (const Tokens &known : {Tokens{1, 2, 3}, Tokens{1, 2, 3, 4, 5, 6, 7}}) {
    start(1, {});
    ASSERT_TRUE(append(1, {1, 2, 3, 4, 5}));
    ASSERT_TRUE(cache->endSequence(1, known));
    EXPECT_EQ(start(2, {1, 2, 3, 4, 5, 6, 7, 8}),
              std::min<int64_t>(static_cast<int64_t>(known.size()), 5));
    cache->reset();
  }
  start(1, {});
  ASSERT_TRUE(append(1, {1}));
  ASSERT_TRUE(cache->endSequence(1, Tokens()));
  EXPECT_EQ(cache->blocks().numUsed(), 0);
  EXPECT_EQ(cache->endSequence(1, Tokens()).code(),
            StatusCode::InvalidArgument);
  EXPECT_EQ(start(1, {1}), 0);
  EXPECT_FALSE(cache->createSequence(1, Tokens{1}));
}

TEST_F(LastSequence, GivesUpItsBlocks) {
  open(/*numBlocks=*/4);
  start(1, {});
  ASSERT_TRUE(append(1, Tokens(9, 3)));
  end(1);
  EXPECT_EQ(cache->numAvailable(), 4);
  CacheStatistics counts = cache->statistics();
  EXPECT_EQ(counts.idleBlocks, 3);
  EXPECT_EQ(counts.usedBlocks, 0);
  EXPECT_EQ(counts.freeBlocks, 1);
  const std::vector<int32_t> uses = cache->blockUses();
  EXPECT_EQ(std::count(uses.begin(), uses.end(), -1), 3);
  EXPECT_EQ(cache->lookUp(Tokens(5, 3)).idleBlocks, 2);
  // A sequence without known tokens: the kept one remains while it may.
  ASSERT_TRUE(cache->createSequence(2));
  ASSERT_TRUE(append(2, Tokens(4, 1)));
  EXPECT_EQ(cache->lookUp(Tokens(9, 3)).tokens, 9);
  ASSERT_TRUE(append(2, Tokens(12, 1)));
  check(2);
  EXPECT_EQ(cache->lookUp(Tokens(9, 3)).tokens, 0);
  EXPECT_EQ(append(2, {1}).code(), StatusCode::ResourceExhausted);
  end(2);
  cache->reset();
  EXPECT_EQ(cache->blocks().numFree(), 4);
}

TEST_F(LastSequence, SharesBlocksWithForks) {
  open(/*numBlocks=*/6);
  start(1, {});
  ASSERT_TRUE(append(1, {1, 2, 3, 4, 5, 6}));
  ASSERT_TRUE(cache->fork(1, 2));
  texts[2] = texts[1];
  end(1);
  EXPECT_EQ(cache->numAvailable(), 4); // Nothing of what the fork has.
  EXPECT_EQ(cache->lookUp(Tokens{1, 2, 3}).idleBlocks, 0);
  EXPECT_EQ(cache->statistics().usedBlocks, 2);
  EXPECT_EQ(start(3, {1, 2, 3, 4, 5}), 5);
  ASSERT_TRUE(append(3, {7, 8}));
  check(3);
  check(2);
  end(2);
  EXPECT_EQ(start(4, {1, 2, 3, 4, 5, 6}), 6);
  check(3);
}

TEST_F(LastSequence, DoesNotGoBackWithAState) {
  open(8, /*stateSlots=*/1);
  start(1, {});
  ASSERT_TRUE(append(1, {1, 2, 3, 4, 5, 6}));
  end(1);
  EXPECT_EQ(start(2, {1, 2, 3, 4, 5, 6, 7}), 6);
  ASSERT_TRUE(append(2, {7}));
  end(2);
  // Its state is that after its end; the only slot is needed.
  EXPECT_EQ(start(3, {1, 2, 3, 4, 5, 6}), 0);
  ASSERT_TRUE(append(3, {1, 2}));
  check(3);
  // Not what its owner knows.
  ASSERT_TRUE(cache->endSequence(3, Tokens{1}));
  EXPECT_EQ(start(4, {1, 2}), 0);
  ASSERT_TRUE(append(4, {1, 2}));
  end(4);
  ASSERT_TRUE(cache->createSequence(5));
  texts[5] = {};
  check(5);
  EXPECT_EQ(cache->createSequence(6, Tokens{1}).status().code(),
            StatusCode::ResourceExhausted);
  check(5);
}

TEST(LastSequenceOptions, ExcludePrefixes) {
  PagedKVCacheOptions options;
  options.keepsLast = options.keepsPrefixes = true;
  PagedKVCache cache(1, 1, 2, 4, 8, KVElementType::F32, options);
  EXPECT_EQ(cache.status().code(), StatusCode::InvalidArgument);
  options.keepsLast = options.keepsPrefixes = false;
  PagedKVCache plain(1, 1, 2, 4, 8, KVElementType::F32, options);
  std::vector<int32_t> slots(2);
  ASSERT_TRUE(plain.createSequence(1));
  ASSERT_TRUE(plain.reserve(1, 2, slots));
  ASSERT_TRUE(plain.endSequence(1, Tokens{1, 2}));
  EXPECT_EQ(plain.blocks().numUsed(), 0);
  EXPECT_EQ(*plain.createSequence(2, Tokens{1, 2}), 0);
}

/// Random turns, forks and ends in a small pool.
TEST_F(LastSequence, KeepsTheInvariants) {
  for (int64_t stateSlots : {0, 3}) {
    texts.clear();
    open(/*numBlocks=*/12, stateSlots);
    std::mt19937 random(static_cast<unsigned>(stateSlots) + 5);
    auto upTo = [&](unsigned most) { return random() % (most + 1); };
    auto anyTokens = [&](size_t count) {
      Tokens tokens;
      for (size_t i = 0; i < count; ++i)
        tokens.push_back(upTo(9) == 0);
      return tokens;
    };
    int64_t found = 0, partial = 0, exhausted = 0;
    Tokens ended;
    for (int i = 0; i < 20000 && !HasFailure(); ++i) {
      const SequenceId id = upTo(3), other = upTo(3);
      const bool exists = texts.count(id) != 0;
      const unsigned kind = upTo(9);
      if (kind < 3 && !exists) {
        Tokens tokens = upTo(3) ? ended : anyTokens(upTo(20));
        for (int32_t token : anyTokens(upTo(5)))
          tokens.push_back(token);
        if (stateSlots && static_cast<int64_t>(texts.size()) == stateSlots) {
          ASSERT_FALSE(cache->createSequence(id, tokens));
          continue;
        }
        const int64_t got = start(id, tokens);
        found += got;
        partial += got % blockSize != 0;
      } else if (kind < 7 && exists) {
        const size_t room = 40 - texts[id].size();
        const Tokens more = anyTokens(std::min<size_t>(upTo(6), room));
        if (!more.empty())
          exhausted += !append(id, more);
        check(id);
      } else if (kind < 8 && exists && !texts.count(other)) {
        if (cache->fork(id, other))
          texts[other] = texts[id];
      } else if (exists) {
        ended = texts[id];
        end(id);
      }
      int64_t used = 0;
      for (int32_t count : cache->blockUses())
        used += count > 0;
      ASSERT_EQ(cache->statistics().usedBlocks, used);
      ASSERT_LE(cache->numAvailable(), 12 - used);
    }
    EXPECT_GT(found, 1000);
    EXPECT_GT(partial, 100);
    EXPECT_GT(exhausted, 10);
    while (!texts.empty())
      end(texts.begin()->first);
    EXPECT_EQ(cache->numAvailable(), 12);
    cache->reset();
    EXPECT_EQ(cache->blocks().numFree(), 12);
  }
}
