// RUN: llmir-kvcache-tests --gtest_filter='*PrefixModel*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random operations on a small cache that keeps prefixes, compared with a plain
// model: sequences are lists of tokens, blocks are names, the tree is a list of
// all tokens up to the end of a block with its name, and idle blocks are listed
// in the order in which they lost their last sequence.
// What is stored for a token depends on all tokens before it, as keys and
// values do, so that a block shared by mistake is found.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLM/Runtime/PagedKVCache.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>

using namespace mlir::llm::runtime;
using llmir::Expected;
using llmir::Status;
using llmir::StatusCode;

namespace {
using Tokens = std::vector<int32_t>;

struct Parameters {
  int64_t blockSize, maxSeqLen, numBlocks;
  int64_t stateSlots; ///< 0: no layer keeps a state.
  uint32_t seed;
};

/// What is stored for the last token of a text.
float valueOf(const Tokens &text, uint64_t salt) {
  uint32_t hash = 7;
  for (int32_t token : text)
    hash = hash * 31 + static_cast<uint32_t>(token);
  return static_cast<float>((hash + salt) % 65521);
}

Tokens prefixOf(const Tokens &tokens, int64_t count) {
  return Tokens(tokens.begin(), tokens.begin() + count);
}

/// What the cache should be.
class Model {
public:
  struct Sequence {
    Tokens tokens;
    std::vector<int64_t> blocks;
    uint64_t salt = 0;
  };
  /// A block in the tree.
  struct Entry {
    uint64_t salt;
    Tokens path; ///< From the start of a sequence to the block's last token.
    int64_t block;
  };
  /// A block that begins with the wanted tokens.
  struct Match {
    int64_t block = -1, tokens = 0;
  };

  explicit Model(const Parameters &size) : size(size) {}

  int64_t used() const {
    std::set<int64_t> blocks;
    for (const auto &[id, sequence] : sequences)
      blocks.insert(sequence.blocks.begin(), sequence.blocks.end());
    return static_cast<int64_t>(blocks.size());
  }
  int64_t available() const { return size.numBlocks - used(); }
  int64_t numFree() const {
    return available() - static_cast<int64_t>(idle.size());
  }

  /// The number of blocks that `count` more tokens take.
  int64_t needs(const Sequence &sequence, int64_t count) const {
    const int64_t length = static_cast<int64_t>(sequence.tokens.size());
    const int64_t blocks =
        (length + count + size.blockSize - 1) / size.blockSize;
    return blocks - static_cast<int64_t>(sequence.blocks.size()) +
           copiesLast(sequence);
  }
  void append(Sequence &sequence, const Tokens &more) {
    int64_t taken = needs(sequence, static_cast<int64_t>(more.size()));
    // Blocks are taken one after the other, the copy first.
    if (copiesLast(sequence)) {
      take();
      const int64_t old = sequence.blocks.back();
      sequence.blocks.back() = nextBlock++;
      release({old});
      --taken;
    }
    for (; taken > 0; --taken) {
      take();
      sequence.blocks.push_back(nextBlock++);
    }
    sequence.tokens.insert(sequence.tokens.end(), more.begin(), more.end());
  }
  void truncate(Sequence &sequence, int64_t length) {
    const auto keep =
        static_cast<size_t>((length + size.blockSize - 1) / size.blockSize);
    std::vector<int64_t> dropped(sequence.blocks.begin() +
                                     static_cast<int64_t>(keep),
                                 sequence.blocks.end());
    sequence.blocks.resize(keep);
    sequence.tokens.resize(static_cast<size_t>(length));
    release(dropped);
  }
  void share(Sequence &sequence, bool withLast) {
    for (int64_t i = 0; i < wholeBlocks(sequence.tokens); ++i) {
      const Tokens path = prefixOf(sequence.tokens, (i + 1) * size.blockSize);
      int64_t &block = sequence.blocks[static_cast<size_t>(i)];
      const int64_t known = find(path, sequence.salt);
      if (known < 0) {
        tree.push_back({sequence.salt, path, block});
      } else if (known != block) {
        if (owners(block) > 1)
          return;
        block = known;
        removeIdle(block);
      }
    }
    if (withLast)
      shareLast(sequence);
  }
  /// Tokens of the longest prefix with which a sequence can start if no layer
  /// keeps a state.
  int64_t longestPrefix(const Tokens &tokens, uint64_t salt) const {
    int64_t whole = 0, needed = 0;
    for (; whole < wholeBlocks(tokens); ++whole) {
      const int64_t known =
          find(prefixOf(tokens, (whole + 1) * size.blockSize), salt);
      if (known < 0)
        break;
      needed += isIdle(known);
    }
    const Match match = findBeginning(tokens, salt, whole * size.blockSize);
    if (match.block >= 0)
      needed += 1 + isIdle(match.block);
    return whole * size.blockSize + (needed <= available() ? match.tokens : 0);
  }
  /// `count`: tokens of the prefix with which it starts.
  void start(int32_t id, const Tokens &tokens, uint64_t salt, int64_t count) {
    Sequence &sequence = sequences[id];
    sequence.tokens = prefixOf(tokens, count);
    sequence.salt = salt;
    const int64_t whole = wholeBlocks(sequence.tokens);
    for (int64_t i = 0; i < whole; ++i) {
      sequence.blocks.push_back(
          find(prefixOf(tokens, (i + 1) * size.blockSize), salt));
      removeIdle(sequence.blocks.back());
    }
    if (count % size.blockSize == 0)
      return;
    const int64_t source =
        size.stateSlots
            ? find(sequence.tokens, salt)
            : findBeginning(tokens, salt, whole * size.blockSize).block;
    // It is held while it is copied: neither idle, nor free.
    const bool wasIdle = isIdle(source);
    removeIdle(source);
    if (numFree() == wasIdle)
      evict();
    sequence.blocks.push_back(nextBlock++);
    release({source});
  }
  void free(int32_t id) {
    std::vector<int64_t> blocks = sequences[id].blocks;
    sequences.erase(id);
    release(blocks);
  }
  void evict() {
    const int64_t block = idle.front();
    idle.erase(idle.begin());
    tree.erase(std::find_if(tree.begin(), tree.end(), [&](const Entry &entry) {
      return entry.block == block;
    }));
  }

  Parameters size;
  std::map<int32_t, Sequence> sequences;
  std::vector<Entry> tree;   ///< The last inserted one is the last.
  std::vector<int64_t> idle; ///< The oldest first.

private:
  int64_t wholeBlocks(const Tokens &tokens) const {
    return static_cast<int64_t>(tokens.size()) / size.blockSize;
  }
  bool isInTree(int64_t block) const {
    return std::any_of(tree.begin(), tree.end(), [&](const Entry &entry) {
      return entry.block == block;
    });
  }
  bool isIdle(int64_t block) const {
    return std::count(idle.begin(), idle.end(), block) != 0;
  }
  void removeIdle(int64_t block) {
    idle.erase(std::remove(idle.begin(), idle.end(), block), idle.end());
  }
  /// The block with exactly this path; -1 if there is none.
  int64_t find(const Tokens &path, uint64_t salt) const {
    for (const Entry &entry : tree)
      if (entry.salt == salt && entry.path == path)
        return entry.block;
    return -1;
  }
  /// The block after the first `whole` tokens that begins with the most of the
  /// others, the last inserted one of equally good ones.
  Match findBeginning(const Tokens &tokens, uint64_t salt,
                      int64_t whole) const {
    Match best;
    for (auto entry = tree.rbegin(); entry != tree.rend(); ++entry) {
      const auto end = static_cast<int64_t>(entry->path.size());
      if (entry->salt != salt || end <= whole || end > whole + size.blockSize ||
          !std::equal(tokens.begin(), tokens.begin() + whole,
                      entry->path.begin()))
        continue;
      const int64_t most =
          std::min(end, static_cast<int64_t>(tokens.size())) - whole;
      const auto from = tokens.begin() + whole;
      const int64_t same =
          std::mismatch(from, from + most, entry->path.begin() + whole).first -
          from;
      if (same > best.tokens)
        best = {entry->block, same};
    }
    return best;
  }
  void shareLast(const Sequence &sequence) {
    const auto length = static_cast<int64_t>(sequence.tokens.size());
    const int64_t whole = length / size.blockSize * size.blockSize;
    if (length == whole || isInTree(sequence.blocks.back()) ||
        owners(sequence.blocks.back()) > 1)
      return;
    const bool isKnown =
        size.stateSlots
            ? find(sequence.tokens, sequence.salt) >= 0
            : findBeginning(sequence.tokens, sequence.salt, whole).tokens ==
                  length - whole;
    if (!isKnown)
      tree.push_back({sequence.salt, sequence.tokens, sequence.blocks.back()});
  }
  int64_t owners(int64_t block) const {
    int64_t count = 0;
    for (const auto &[id, sequence] : sequences)
      count +=
          std::count(sequence.blocks.begin(), sequence.blocks.end(), block);
    return count;
  }
  bool copiesLast(const Sequence &sequence) const {
    return static_cast<int64_t>(sequence.tokens.size()) % size.blockSize != 0 &&
           (owners(sequence.blocks.back()) > 1 ||
            isInTree(sequence.blocks.back()));
  }
  void take() {
    if (numFree() == 0)
      evict();
  }
  /// Blocks that a sequence lost, the deepest last.
  void release(const std::vector<int64_t> &blocks) {
    for (auto block = blocks.rbegin(); block != blocks.rend(); ++block)
      if (owners(*block) == 0 && isInTree(*block))
        idle.push_back(*block);
  }

  int64_t nextBlock = 0;
};

class PrefixModel : public testing::TestWithParam<Parameters> {
protected:
  PrefixModel()
      : size(GetParam()), model(size),
        cache(2, 1, 2, size.blockSize, size.maxSeqLen, KVElementType::F32,
              options(size)),
        random(size.seed) {}

  static PagedKVCacheOptions options(const Parameters &size) {
    PagedKVCacheOptions options;
    options.numBlocks = size.numBlocks;
    options.guardPages = true;
    options.keepsPrefixes = true;
    if (size.stateSlots)
      options.states = {1, 64, size.stateSlots};
    return options;
  }
  int64_t upTo(int64_t most) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(most + 1));
  }
  int32_t anyId() { return static_cast<int32_t>(upTo(7)); }
  /// Few tokens, so that texts have the same beginnings.
  Tokens anyTokens(int64_t count) {
    Tokens tokens;
    for (int64_t i = 0; i < count; ++i)
      tokens.push_back(upTo(9) == 0);
    return tokens;
  }
  bool hasStates() const { return size.stateSlots != 0; }
  float *state(int32_t id) {
    const StatePool &states = cache.states();
    return reinterpret_cast<float *>(states.data() +
                                     cache.stateSlot(id) * states.slotStride());
  }

  void doCreate();
  void doAppend();
  void doShare();
  void doFork();
  void doTruncate();
  void doFree();
  void doEvict();
  void compare(int32_t id);
  void check();

  Parameters size;
  Model model;
  PagedKVCache cache;
  std::mt19937_64 random;
  int64_t found = 0, foundWithinBlocks = 0, exhausted = 0, mostIdle = 0;
};
} // namespace

void PrefixModel::doCreate() {
  const int32_t id = anyId();
  const uint64_t salt = upTo(3) == 0 ? 5 : 0;
  Tokens tokens = anyTokens(upTo(size.maxSeqLen + size.blockSize));
  // Often the beginning of another text.
  auto other = model.sequences.find(anyId());
  if (other != model.sequences.end() && upTo(1)) {
    tokens = other->second.tokens;
    const Tokens more = anyTokens(upTo(size.blockSize));
    tokens.insert(tokens.end(), more.begin(), more.end());
  }
  const Tokens usable =
      prefixOf(tokens, std::min<int64_t>(static_cast<int64_t>(tokens.size()),
                                         size.maxSeqLen));
  const int64_t most = model.longestPrefix(usable, salt);
  const int64_t available = model.available();
  const CachedPrefix promised = cache.lookUp(tokens, salt);
  Expected<int64_t> got = cache.createSequence(id, tokens, salt);
  if (hasStates() &&
      model.sequences.size() == static_cast<size_t>(size.stateSlots)) {
    ASSERT_FALSE(got);
    return;
  }
  ASSERT_EQ(static_cast<bool>(got), model.sequences.count(id) == 0);
  if (!got)
    return;
  if (hasStates()) {
    ASSERT_LE(*got, most);
  } else {
    ASSERT_EQ(*got, most);
    ASSERT_EQ(*got, promised.tokens);
    ASSERT_EQ(cache.numAvailable(), available - promised.newBlocks);
  }
  found += *got;
  foundWithinBlocks += *got % size.blockSize;
  model.start(id, usable, salt, *got);
}

/// As the executor does it: reserve, then write the pool through the slots.
void PrefixModel::doAppend() {
  const int32_t id = anyId();
  auto entry = model.sequences.find(id);
  if (entry == model.sequences.end())
    return;
  Model::Sequence &sequence = entry->second;
  const Tokens more = anyTokens(1 + upTo(2 * size.blockSize));
  const auto count = static_cast<int64_t>(more.size());
  std::vector<int32_t> slots(more.size());
  Status got = cache.reserve(id, count, slots);
  if (static_cast<int64_t>(sequence.tokens.size()) + count > size.maxSeqLen) {
    ASSERT_EQ(got.code(), StatusCode::OutOfRange);
    return;
  }
  const bool fits = model.needs(sequence, count) <= model.available();
  ASSERT_EQ(got.code(), fits ? StatusCode::Ok : StatusCode::ResourceExhausted)
      << got.message();
  exhausted += !fits;
  if (!fits)
    return;
  const llmir::KVBlockLayout &layout = cache.blockLayout();
  Tokens text = sequence.tokens;
  for (size_t i = 0; i < more.size(); ++i) {
    text.push_back(more[i]);
    const float value = valueOf(text, sequence.salt);
    const int64_t block = slots[i] / size.blockSize;
    EXPECT_EQ(cache.blocks().refCount(static_cast<int32_t>(block)), 1); // I4
    for (int64_t layer = 0; layer < 2; ++layer) {
      uint8_t *base = cache.pool() + layer * cache.layerStride() +
                      block * layout.blockBytes();
      for (int64_t d = 0; d < 2; ++d) {
        const int64_t token = slots[i] % size.blockSize;
        std::memcpy(base + layout.keyOffset(token, 0, d), &value, 4);
        std::memcpy(base + layout.valueOffset(token, 0, d), &value, 4);
      }
    }
  }
  if (hasStates())
    *state(id) = valueOf(text, sequence.salt);
  model.append(sequence, more);
}

void PrefixModel::doShare() {
  const int32_t id = anyId();
  auto entry = model.sequences.find(id);
  if (entry == model.sequences.end()) {
    EXPECT_FALSE(cache.share(id, Tokens{1, 2, 3}));
    return;
  }
  const bool withLast = upTo(1);
  Status got = cache.share(id, entry->second.tokens, entry->second.salt,
                           withLast ? SharedBlocks::All : SharedBlocks::Full);
  ASSERT_TRUE(got) << got.message();
  model.share(entry->second, withLast);
}

void PrefixModel::doFork() {
  const int32_t source = anyId(), target = anyId();
  auto entry = model.sequences.find(source);
  if (entry == model.sequences.end() || model.sequences.count(target))
    return;
  const auto length = static_cast<int64_t>(entry->second.tokens.size());
  const int64_t count = upTo(1) || hasStates() ? length : upTo(length);
  if (!cache.fork(source, target, count)) {
    ASSERT_EQ(static_cast<int64_t>(model.sequences.size()), size.stateSlots);
    return;
  }
  Model::Sequence copy = entry->second;
  copy.tokens.resize(static_cast<size_t>(count));
  copy.blocks.resize(
      static_cast<size_t>((count + size.blockSize - 1) / size.blockSize));
  model.sequences[target] = copy;
}

void PrefixModel::doTruncate() {
  const int32_t id = anyId();
  auto entry = model.sequences.find(id);
  if (entry == model.sequences.end())
    return;
  const int64_t length =
      hasStates() ? 0 : upTo(static_cast<int64_t>(entry->second.tokens.size()));
  ASSERT_TRUE(cache.truncate(id, length));
  model.truncate(entry->second, length);
}

void PrefixModel::doFree() {
  const int32_t id = anyId();
  ASSERT_EQ(cache.freeSequence(id).isOk(), model.sequences.count(id) == 1);
  if (model.sequences.count(id))
    model.free(id);
}

void PrefixModel::doEvict() {
  const int64_t count = upTo(3);
  const int64_t expected =
      std::min<int64_t>(count, static_cast<int64_t>(model.idle.size()));
  ASSERT_EQ(cache.evict(count), expected);
  for (int64_t i = 0; i < expected; ++i)
    model.evict();
}

void PrefixModel::compare(int32_t id) {
  auto entry = model.sequences.find(id);
  ASSERT_EQ(cache.hasSequence(id), entry != model.sequences.end());
  if (entry == model.sequences.end())
    return;
  const auto &[tokens, blocks, salt] = entry->second;
  ASSERT_EQ(cache.getSequenceLength(id), static_cast<int64_t>(tokens.size()));
  std::vector<float> keys(tokens.size() * 2 + 1), values(keys.size());
  for (int64_t layer = 0; layer < 2; ++layer) {
    ASSERT_TRUE(cache.loadTokens(layer, cache.blockTable(id),
                                 static_cast<int64_t>(tokens.size()),
                                 keys.data(), values.data()));
    for (size_t t = 0; t < tokens.size(); ++t) {
      const float expected =
          valueOf(prefixOf(tokens, static_cast<int64_t>(t) + 1), salt);
      ASSERT_EQ(keys[2 * t], expected) << "sequence " << id << ", token " << t;
      ASSERT_EQ(values[2 * t + 1], expected);
    }
  }
  if (hasStates()) {
    ASSERT_EQ(*state(id), tokens.empty() ? 0 : valueOf(tokens, salt));
  }
}

void PrefixModel::check() {
  Status status = cache.checkInvariants();
  ASSERT_TRUE(status) << status.message();
  const CacheStatistics counts = cache.statistics();
  ASSERT_EQ(cache.numAvailable(), model.available());
  ASSERT_EQ(counts.usedBlocks, model.used());
  ASSERT_EQ(counts.idleBlocks, static_cast<int64_t>(model.idle.size()));
  ASSERT_EQ(counts.freeBlocks + counts.idleBlocks + counts.usedBlocks,
            size.numBlocks);
  mostIdle = std::max(mostIdle, counts.idleBlocks);
  compare(anyId());
}

TEST_P(PrefixModel, AgreesAfterEveryOperation) {
  const int operations = std::getenv("LLMIR_LONG_TESTS") ? 1000000 : 20000;
  for (int i = 0; i < operations; ++i) {
    const int64_t kind = upTo(15);
    if (kind < 3)
      doCreate();
    else if (kind < 8)
      doAppend();
    else if (kind < 11)
      doShare();
    else if (kind < 12)
      doFork();
    else if (kind < 13)
      doTruncate();
    else if (kind < 15)
      doFree();
    else
      doEvict();
    if (!HasFatalFailure())
      check();
    if (HasFatalFailure() || HasNonfatalFailure()) {
      ADD_FAILURE() << "operation " << i << " of seed " << size.seed;
      return;
    }
  }
  cache.reset();
  EXPECT_EQ(cache.numAvailable(), size.numBlocks); // I6
  cache.evict(size.numBlocks);
  EXPECT_EQ(cache.blocks().numFree(), size.numBlocks);
  EXPECT_EQ(cache.statistics().checkpoints, 0);
  // The random operations covered all cases.
  EXPECT_GT(found, operations / (hasStates() ? 50 : 10));
  if (size.blockSize > 1) {
    EXPECT_GT(foundWithinBlocks, operations / (hasStates() ? 500 : 100));
  }
  EXPECT_GT(exhausted, operations / 1000);
  EXPECT_GT(mostIdle, 2);
  EXPECT_GT(cache.statistics().evictedBlocks, operations / 1000);
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, PrefixModel,
    testing::Values(Parameters{4, 24, 20, 0, 1}, Parameters{1, 9, 24, 0, 2},
                    Parameters{2, 30, 12, 0, 3}, Parameters{8, 60, 16, 0, 4},
                    Parameters{4, 24, 20, 7, 5}, Parameters{2, 20, 24, 9, 6}));

TEST(Prefixes, AreRefused) {
  PagedKVCacheOptions options;
  options.numBlocks = 4;
  PagedKVCache plain(1, 1, 2, 2, 8, KVElementType::F32, options);
  ASSERT_TRUE(plain.createSequence(1));
  EXPECT_EQ(plain.share(1, Tokens{1, 2}).code(), StatusCode::InvalidArgument);
  // Without prefixes, a sequence starts empty.
  EXPECT_EQ(*plain.createSequence(2, Tokens{1, 2}), 0);
  EXPECT_FALSE(plain.createSequence(2, Tokens{1, 2}));

  options.keepsPrefixes = true;
  PagedKVCache cache(1, 1, 2, 2, 8, KVElementType::F32, options);
  std::vector<int32_t> slots(4);
  ASSERT_TRUE(cache.createSequence(1));
  ASSERT_TRUE(cache.reserve(1, 4, slots));
  ASSERT_TRUE(cache.share(1, Tokens{1, 2, 3, 4}));
  EXPECT_FALSE(cache.share(1, Tokens{1, 2, 3, 5}));
  EXPECT_FALSE(cache.share(1, Tokens{1, 2, 3, 4}, /*salt=*/1));
  EXPECT_TRUE(cache.share(1, Tokens{1, 2, 3, 4}));
  EXPECT_EQ(*cache.createSequence(2, Tokens{1, 2, 3, 5}), 3);
  EXPECT_EQ(*cache.createSequence(3, Tokens{1, 2, 3, 4}, /*salt=*/1), 0);
  EXPECT_EQ(cache.statistics().lookedUpTokens, 8);
  EXPECT_EQ(cache.statistics().foundTokens, 3);
}
