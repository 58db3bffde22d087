// RUN: llmir-kvcache-tests --gtest_filter='*Window*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random operations on a cache whose layers keep windows: whatever it does,
// the tokens that the next one reads are there, in each layer. What is stored
// for a token depends on the layer and all tokens before it.
//
//===----------------------------------------------------------------------===//

#include "llmir/ABI/AttentionSplit.h"
#include "mlir/Dialect/LLM/Runtime/PagedKVCache.h"

#include <algorithm>
#include <cstdlib>
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

struct Parameters {
  int64_t blockSize, maxSeqLen, numBlocks;
  std::vector<int64_t> windows, windowBlocks;
  int64_t stateSlots; ///< 0: no layer keeps a state.
  uint32_t seed;
};

Tokens prefixOf(const Tokens &tokens, int64_t count) {
  return Tokens(tokens.begin(), tokens.begin() + count);
}

/// What is stored for the last token of a text.
float valueOf(const Tokens &text, int64_t layer) {
  uint32_t hash = 7;
  for (int32_t token : text)
    hash = hash * 31 + static_cast<uint32_t>(token);
  return static_cast<float>((hash + 1000 * layer) % 65521);
}

class WindowModel : public testing::TestWithParam<Parameters> {
protected:
  WindowModel()
      : size(GetParam()), layers(static_cast<int64_t>(size.windows.size())),
        cache(layers, 1, 2, size.blockSize, size.maxSeqLen, KVElementType::F32,
              options(size)),
        random(size.seed) {}

  static PagedKVCacheOptions options(const Parameters &size) {
    PagedKVCacheOptions options;
    options.numBlocks = size.numBlocks;
    options.windows = size.windows;
    options.windowBlocks = size.windowBlocks;
    options.guardPages = size.seed % 2;
    options.keepsPrefixes = true;
    if (size.stateSlots)
      options.states = {1, 64, size.stateSlots};
    return options;
  }
  int64_t upTo(int64_t most) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(most + 1));
  }
  int32_t anyId() { return static_cast<int32_t>(upTo(5)); }
  Tokens anyTokens(int64_t count) {
    Tokens tokens;
    for (int64_t i = 0; i < count; ++i)
      tokens.push_back(upTo(200) == 0);
    return tokens;
  }
  uint8_t *at(int64_t layer, int64_t block) {
    return cache.pool() + layer * cache.layerStride() +
           block * cache.blockLayout().blockBytes();
  }
  /// The first token that the token after `length` tokens reads, with the rest
  /// of its span.
  int64_t firstRead(int64_t layer, int64_t length) const {
    const int64_t window = size.windows[static_cast<size_t>(layer)];
    const int64_t span = llmir::kAttentionSpan;
    return window ? std::max<int64_t>(length - window + 1, 0) / span * span : 0;
  }
  void write(const Tokens &text, const std::vector<int32_t> &slots,
             size_t token, size_t count);
  void doCreate();
  void doAppend();
  void doShare();
  void doFork();
  void doTruncate();
  void doFree();
  void check(int32_t id);
  void checkPools();

  Parameters size;
  int64_t layers;
  PagedKVCache cache;
  std::mt19937_64 random;
  std::map<int32_t, Tokens> sequences;
  int64_t found = 0, exhausted = 0, refused = 0;
};
} // namespace

/// Writes the last token of a text, the `token`-th of `count` new ones.
void WindowModel::write(const Tokens &text, const std::vector<int32_t> &slots,
                        size_t token, size_t count) {
  const llmir::KVBlockLayout &layout = cache.blockLayout();
  for (int64_t layer = 0; layer < layers; ++layer) {
    const auto group = static_cast<size_t>(cache.layerGroups()[layer]);
    const int64_t slot = slots[group * count + token];
    const float value = valueOf(text, layer);
    for (int64_t d = 0; d < 2; ++d) {
      uint8_t *block = at(layer, slot / size.blockSize);
      const int64_t inBlock = slot % size.blockSize;
      std::memcpy(block + layout.keyOffset(inBlock, 0, d), &value, 4);
      std::memcpy(block + layout.valueOffset(inBlock, 0, d), &value, 4);
    }
  }
}

void WindowModel::doCreate() {
  const int32_t id = anyId();
  Tokens tokens = anyTokens(upTo(size.maxSeqLen));
  auto other = sequences.find(anyId());
  if (other != sequences.end() && upTo(3)) {
    tokens = prefixOf(other->second,
                      upTo(static_cast<int64_t>(other->second.size())));
    const Tokens more = anyTokens(upTo(size.blockSize));
    tokens.insert(tokens.end(), more.begin(), more.end());
    tokens.resize(std::min(tokens.size(), size_t(size.maxSeqLen)));
  }
  std::vector<int64_t> available{cache.numAvailable()};
  for (const WindowBlocks &window : cache.windows())
    available.push_back(window.numAvailable());
  const CachedPrefix promised = cache.lookUp(tokens);
  const Expected<int64_t> got = cache.createSequence(id, tokens);
  if (size.stateSlots &&
      static_cast<int64_t>(sequences.size()) == size.stateSlots) {
    ASSERT_FALSE(got);
    return;
  }
  ASSERT_EQ(static_cast<bool>(got), sequences.count(id) == 0);
  if (!got)
    return;
  if (!size.stateSlots) {
    ASSERT_EQ(*got, promised.tokens);
    ASSERT_EQ(cache.numAvailable(), available[0] - promised.startBlocks);
    for (size_t w = 0; w < cache.windows().size(); ++w)
      ASSERT_EQ(cache.windows()[w].numAvailable(),
                available[w + 1] - promised.windowStartBlocks[w]);
  }
  found += *got;
  sequences[id] = prefixOf(tokens, *got);
}

void WindowModel::doAppend() {
  auto entry = sequences.find(anyId());
  if (entry == sequences.end())
    return;
  Tokens &text = entry->second;
  const Tokens more =
      anyTokens(1 + upTo(std::max<int64_t>(2 * size.blockSize, 40)));
  const auto length = static_cast<int64_t>(text.size());
  const auto count = static_cast<int64_t>(more.size());
  cache.releasePassed(entry->first);
  int64_t needed = (length + count + size.blockSize - 1) / size.blockSize -
                   (length + size.blockSize - 1) / size.blockSize +
                   cache.copiesLastBlock(entry->first);
  bool fits = needed <= cache.numAvailable();
  for (const WindowBlocks &window : cache.windows())
    fits &= needed <= window.numAvailable();
  std::vector<int32_t> slots(more.size() *
                             static_cast<size_t>(cache.numGroups()));
  const Status got = cache.reserve(entry->first, count, slots);
  if (length + count > size.maxSeqLen) {
    ASSERT_EQ(got.code(), StatusCode::OutOfRange);
    return;
  }
  ASSERT_EQ(got.code(), fits ? StatusCode::Ok : StatusCode::ResourceExhausted)
      << got.message();
  exhausted += !fits;
  for (size_t i = 0; fits && i < more.size(); ++i) {
    text.push_back(more[i]);
    write(text, slots, i, more.size());
  }
  // What the first of the new tokens reads is there as well.
  for (size_t w = 0; fits && w < cache.windows().size(); ++w)
    ASSERT_LE(cache.numWindowBlocks(entry->first, w),
              WindowBlocks::mostHeld(cache.windows()[w].window(),
                                     size.blockSize, count));
}

void WindowModel::doShare() {
  auto entry = sequences.find(anyId());
  if (entry != sequences.end())
    ASSERT_TRUE(cache.share(entry->first, entry->second, 0,
                            upTo(1) ? SharedBlocks::All : SharedBlocks::Full));
}

void WindowModel::doFork() {
  const int32_t source = anyId(), target = anyId();
  auto entry = sequences.find(source);
  if (entry == sequences.end() || sequences.count(target))
    return;
  const auto length = static_cast<int64_t>(entry->second.size());
  const int64_t count = upTo(1) || size.stateSlots ? length : upTo(length);
  const Status got = cache.fork(source, target, count);
  if (got)
    sequences[target] = prefixOf(entry->second, count);
  else if (!size.stateSlots)
    ASSERT_EQ(got.code(), StatusCode::Unsupported);
  refused += !got;
}

void WindowModel::doTruncate() {
  auto entry = sequences.find(anyId());
  if (entry == sequences.end())
    return;
  const auto most = static_cast<int64_t>(entry->second.size());
  const int64_t length = size.stateSlots || upTo(3) == 0 ? 0 : upTo(most);
  const Status got = cache.truncate(entry->first, length);
  if (got)
    entry->second.resize(static_cast<size_t>(length));
  else
    ASSERT_EQ(got.code(), StatusCode::Unsupported);
  ASSERT_TRUE(got || length > 0);
  refused += !got;
}

void WindowModel::doFree() {
  const int32_t id = anyId();
  ASSERT_EQ(cache.freeSequence(id).isOk(), sequences.erase(id) == 1);
}

void WindowModel::check(int32_t id) {
  auto entry = sequences.find(id);
  ASSERT_EQ(cache.hasSequence(id), entry != sequences.end());
  if (entry == sequences.end())
    return;
  const Tokens &text = entry->second;
  const auto length = static_cast<int64_t>(text.size());
  ASSERT_EQ(cache.getSequenceLength(id), length);
  std::vector<int32_t> table(cache.blockTable(id).size() + 1);
  for (int64_t layer = 0; layer < layers; ++layer) {
    cache.fillGroupTable(id, cache.layerGroups()[layer], table.data(),
                         static_cast<int64_t>(table.size()));
    for (int64_t t = firstRead(layer, length); t < length; ++t) {
      const int64_t entry = t / size.blockSize;
      float key, value;
      const uint8_t *block = at(layer, table[static_cast<size_t>(entry)]);
      const llmir::KVBlockLayout &layout = cache.blockLayout();
      std::memcpy(&key, block + layout.keyOffset(t % size.blockSize, 0, 0), 4);
      std::memcpy(&value, block + layout.valueOffset(t % size.blockSize, 0, 1),
                  4);
      const float expected = valueOf(prefixOf(text, t + 1), layer);
      ASSERT_EQ(key, expected)
          << "sequence " << id << ", layer " << layer << ", token " << t;
      ASSERT_EQ(value, expected);
    }
  }
}

void WindowModel::checkPools() {
  const Status status = cache.checkInvariants();
  ASSERT_TRUE(status) << status.message();
  const CacheStatistics counts = cache.statistics();
  ASSERT_EQ(counts.freeBlocks + counts.idleBlocks + counts.usedBlocks,
            size.numBlocks);
  int64_t blocks = 0;
  for (const WindowBlocks &window : cache.windows()) {
    blocks += window.numBlocks();
    int64_t own = 0;
    for (const auto &[id, text] : sequences)
      own += cache.numOwnWindowBlocks(
          id, static_cast<size_t>(&window - cache.windows().data()));
    ASSERT_LE(own, window.numBlocks() - window.numAvailable());
  }
  ASSERT_EQ(counts.windowBlocks, blocks);
}

TEST_P(WindowModel, KeepsWhatIsRead) {
  const int operations = std::getenv("LLMIR_LONG_TESTS") ? 500000 : 10000;
  ASSERT_TRUE(cache.status()) << cache.status().message();
  for (int i = 0; i < operations; ++i) {
    const int64_t kind = upTo(15);
    if (kind < 2)
      doCreate();
    else if (kind < 9)
      doAppend();
    else if (kind < 12)
      doShare();
    else if (kind < 13)
      doFork();
    else if (kind < 14)
      doTruncate();
    else if (kind < 15)
      doFree();
    else
      cache.evict(upTo(2));
    if (!HasFatalFailure())
      checkPools();
    if (!HasFatalFailure())
      check(anyId());
    if (HasFatalFailure() || HasNonfatalFailure()) {
      ADD_FAILURE() << "operation " << i << " of seed " << size.seed;
      return;
    }
  }
  cache.reset();
  cache.evict(size.numBlocks);
  const CacheStatistics counts = cache.statistics();
  EXPECT_EQ(counts.freeBlocks, size.numBlocks);
  EXPECT_EQ(counts.freeWindowBlocks, counts.windowBlocks);
  // The random operations covered all cases.
  EXPECT_GT(found, operations / 10);
  EXPECT_GT(exhausted, operations / 1000);
  EXPECT_GT(refused, operations / 1000);
  for (const WindowBlocks &window : cache.windows())
    EXPECT_GT(window.numEvicted(), operations / 1000);
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, WindowModel,
    testing::Values(Parameters{16, 400, 60, {0, 20}, {14}, 0, 1},
                    Parameters{4, 300, 200, {100, 0, 20}, {45, 70}, 0, 2},
                    Parameters{64, 1000, 40, {70, 70}, {12}, 0, 3},
                    Parameters{16, 400, 60, {1, 0, 30}, {12, 16}, 5, 4},
                    Parameters{
                        32, 600, 60, {33, 65, 0, 200}, {20, 24, 30}, 0, 5}));

namespace {
PagedKVCacheOptions fewBlocksForWindows() {
  PagedKVCacheOptions options;
  options.numBlocks = 64;
  options.windows = {0, 100};
  options.windowBlocks = {5};
  return options;
}
} // namespace

TEST(WindowCache, LetsALongSequenceRunInAFewBlocks) {
  PagedKVCache cache(2, 1, 2, 64, 4096, KVElementType::F32,
                     fewBlocksForWindows());
  ASSERT_TRUE(cache.status()) << cache.status().message();
  // 69 blocks in all, not 128.
  EXPECT_EQ(cache.getTotalMemoryUsage(),
            (64 + 5) * cache.blockLayout().blockBytes());
  ASSERT_TRUE(cache.createSequence(1));
  for (int64_t length = 0; length < 4096; length += 128) {
    std::vector<int32_t> slots(2 * 128);
    ASSERT_TRUE(cache.reserve(1, 128, slots));
    EXPECT_LE(cache.statistics().usedWindowBlocks,
              WindowBlocks::mostHeld(100, 64, 128));
    for (size_t t = 128; t < slots.size(); ++t)
      EXPECT_LT(slots[t], 5 * 64);
    ASSERT_TRUE(cache.checkInvariants());
  }
  cache.releasePassed(1);
  EXPECT_EQ(cache.statistics().usedWindowBlocks, 2);
  EXPECT_EQ(cache.statistics().usedBlocks, 64);
}

TEST(WindowCache, CannotGoBackBeforeItsWindow) {
  PagedKVCache cache(2, 1, 2, 64, 4096, KVElementType::F32,
                     fewBlocksForWindows());
  ASSERT_TRUE(cache.createSequence(1));
  std::vector<int32_t> slots(2 * 100);
  for (int i = 0; i < 6; ++i)
    ASSERT_TRUE(cache.reserve(1, 100, slots));
  cache.releasePassed(1); // The next token reads tokens from 501 on.
  EXPECT_EQ(cache.truncate(1, 540).code(), StatusCode::Unsupported);
  EXPECT_EQ(cache.fork(1, 2, 540).code(), StatusCode::Unsupported);
  EXPECT_FALSE(cache.hasSequence(2));
  EXPECT_TRUE(cache.fork(1, 2, 560)); // Reads tokens from 461 on.
  EXPECT_TRUE(cache.truncate(1, 550));
  EXPECT_TRUE(cache.truncate(1, 0));
  EXPECT_TRUE(cache.checkInvariants());
  EXPECT_EQ(cache.getSequenceLength(2), 560);
}

TEST(WindowCache, IsForStepsOnly) {
  PagedKVCache cache(2, 1, 2, 64, 4096, KVElementType::F32,
                     fewBlocksForWindows());
  const float data[4] = {};
  float out[4];
  const int32_t id = 1, length = 0;
  EXPECT_EQ(cache.appendKV(data, data, 1, 1, &id, nullptr).code(),
            StatusCode::Unsupported);
  const std::vector<int32_t> row(64, -1);
  EXPECT_EQ(cache.lookupKV(row.data(), &length, 1, out, out).code(),
            StatusCode::Unsupported);
  std::vector<int32_t> table(64);
  ASSERT_TRUE(cache.createSequence(id));
  EXPECT_EQ(cache.fillBlockTable(&id, 1, table.data(), nullptr).code(),
            StatusCode::Unsupported);
}

TEST(WindowCache, RefusesWrongNumbers) {
  auto code = [](PagedKVCacheOptions options) {
    return PagedKVCache(2, 1, 2, 64, 4096, KVElementType::F32, options)
        .status()
        .code();
  };
  PagedKVCacheOptions options = fewBlocksForWindows();
  EXPECT_EQ(code(options), StatusCode::Ok);
  options.windowBlocks = {65};
  EXPECT_EQ(code(options), StatusCode::InvalidArgument);
  options.windowBlocks = {5, 5};
  EXPECT_EQ(code(options), StatusCode::InvalidArgument);
  options.windowBlocks = {};
  options.windows = {0, -1};
  EXPECT_EQ(code(options), StatusCode::InvalidArgument);
  options.windows = {0};
  EXPECT_EQ(code(options), StatusCode::InvalidArgument);
}

namespace {
/// A cache that keeps texts, with a few blocks of 16 tokens for windows.
struct KeptTexts {
  KeptTexts(int64_t numBlocks, int64_t window, int64_t windowBlocks)
      : cache(2, 1, 2, 16, 1024, KVElementType::F32,
              options(numBlocks, window, windowBlocks)) {}

  static PagedKVCacheOptions options(int64_t numBlocks, int64_t window,
                                     int64_t windowBlocks) {
    PagedKVCacheOptions options;
    options.numBlocks = numBlocks;
    options.windows = {0, window};
    options.windowBlocks = {windowBlocks};
    options.keepsPrefixes = true;
    return options;
  }
  static Tokens text(int32_t first, int64_t count) {
    Tokens tokens;
    for (int64_t i = 0; i < count; ++i)
      tokens.push_back(first + static_cast<int32_t>(i));
    return tokens;
  }
  void lengthen(int64_t count) {
    std::vector<int32_t> slots(static_cast<size_t>(2 * count));
    ASSERT_TRUE(cache.reserve(1, count, slots));
  }
  void keep(const Tokens &tokens) {
    ASSERT_TRUE(cache.createSequence(1));
    lengthen(static_cast<int64_t>(tokens.size()));
    ASSERT_TRUE(cache.share(1, tokens, 0, SharedBlocks::All));
    ASSERT_TRUE(cache.freeSequence(1));
    ASSERT_TRUE(cache.checkInvariants());
  }
  /// Uses all blocks of windows for a text that is not kept.
  void takeAllWindows() {
    ASSERT_TRUE(cache.createSequence(1));
    lengthen(16 * cache.windows()[0].numBlocks());
    ASSERT_TRUE(cache.freeSequence(1));
  }
  int64_t found(const Tokens &tokens) { return cache.lookUp(tokens).tokens; }

  PagedKVCache cache;
};
} // namespace

TEST(WindowCache, StartsWithTheLongestPrefixInItsWindows) {
  KeptTexts texts(12, 1, 8);
  const Tokens longer = KeptTexts::text(0, 12);
  texts.keep(longer);
  EXPECT_EQ(texts.found(longer), 12);
  texts.takeAllWindows();
  EXPECT_EQ(texts.found(longer), 0);
  Tokens other = prefixOf(longer, 8);
  other.resize(12, 99);
  texts.keep(other);
  EXPECT_EQ(texts.found(longer), 8);
}

TEST(WindowCache, RestoresTheWindowOfALastBlock) {
  KeptTexts texts(12, 1, 8);
  const Tokens text = KeptTexts::text(0, 12);
  texts.keep(text);
  texts.takeAllWindows();
  texts.keep(prefixOf(text, 8));
  EXPECT_EQ(texts.found(text), 8);
  texts.keep(text);
  EXPECT_EQ(texts.found(text), 12);
}
