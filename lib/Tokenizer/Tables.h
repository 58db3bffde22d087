//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Hash tables of 24-bit indices with 8 bits of hash, and their two uses: token
// texts and merge rules. The hash is seeded per process, so that files cannot
// be crafted to collide.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_TOKENIZER_TABLES_H
#define LLMIR_LIB_TOKENIZER_TABLES_H

#include "TokenizerSpec.h"

#include <array>
#include <optional>

namespace llmir {

uint64_t hashBytes(std::string_view bytes);

/// Depends on `seed`, which should be hashSeed().
inline uint64_t hashPair(int32_t left, int32_t right, uint64_t seed) {
  const uint64_t pair = uint64_t(static_cast<uint32_t>(left)) << 32 |
                        static_cast<uint32_t>(right);
  __extension__ using Wide = unsigned __int128;
  const Wide product =
      static_cast<Wide>(pair ^ seed) * (0x9e3779b97f4a7c15u ^ seed << 1);
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}
/// The same in all of the process.
uint64_t hashSeed();

/// Open addressing with a maximum load factor of three quarters. Values are
/// indices below 2^24; the caller compares the objects they refer to.
class IndexTable {
public:
  /// Makes room for `count` values; removes all others.
  void reset(size_t count);

  /// The value in a slot of `hash` that satisfies `equals(value)`.
  template <typename Equals>
  std::optional<uint32_t> find(uint64_t hash, Equals equals) const {
    if (slots.empty())
      return std::nullopt;
    uint32_t tag = tagOf(hash);
    const uint32_t *all = slots.data(); // Below, i <= mask < slots.size().
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
      uint32_t slot = all[i];
      if (slot == emptySlot)
        return std::nullopt;
      if ((slot & tagMask) == tag && equals(slot & valueMask))
        return slot & valueMask;
    }
  }

  /// Adds a value; if `equals` finds an existing one, replaces and returns it.
  template <typename Equals>
  std::optional<uint32_t> insert(uint64_t hash, uint32_t value, Equals equals) {
    uint32_t tag = tagOf(hash);
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
      uint32_t slot = slots[i];
      if (slot != emptySlot &&
          ((slot & tagMask) != tag || !equals(slot & valueMask)))
        continue;
      slots[i] = tag | value;
      if (slot == emptySlot)
        return std::nullopt;
      return slot & valueMask;
    }
  }

private:
  static constexpr uint32_t tagMask = 0xff000000u, valueMask = 0x00ffffffu;
  static constexpr uint32_t emptySlot = 0xffffffffu;
  static uint32_t tagOf(uint64_t hash) {
    uint32_t tag = static_cast<uint32_t>(hash >> 32) & tagMask;
    return tag == tagMask ? 0 : tag; // Reserved for emptySlot.
  }

  std::vector<uint32_t> slots;
  size_t mask = 0;
};

/// Ids by text.
class TokenTable {
public:
  /// InvalidFile if two ids have the same text. `texts` must outlive the table.
  Status build(const TokenTexts &texts, const std::vector<uint8_t> &flags);
  std::optional<int32_t> find(std::string_view text) const;
  /// In bytes.
  size_t longestToken() const { return longest; }

private:
  const TokenTexts *texts = nullptr;
  IndexTable table;
  size_t longest = 0;
};

/// The ids of the tokens <0x00> to <0xFF>; -1 for those that are missing.
std::array<int32_t, 256> byteTokenIds(const TokenTable &table);

/// Merge rules by their two parts. Among rules with equal parts the last one
/// wins.
class MergeTable {
public:
  void build(const std::vector<MergeRule> &rules);
  /// The rank; the rule is rules[rank].
  std::optional<uint32_t> find(int32_t left, int32_t right) const {
    const uint64_t hash = hashPair(left, right, seed);
    const size_t bit = filterBit(hash);
    if (!(filter.data()[bit / 64] >> (bit % 64) & 1))
      return std::nullopt;
    return table.find(hash, [all = rules->data(), left, right](uint32_t rank) {
      const MergeRule &rule = all[rank];
      return rule.left == left && rule.right == right;
    });
  }

private:
  size_t filterBit(uint64_t hash) const { return hash >> filterShift; }

  /// A bit for each rule's hash. Most pairs have no rule, and their bit is
  /// found in the cache, where the table does not fit.
  std::vector<uint64_t> filter;
  int filterShift = 0;
  const std::vector<MergeRule> *rules = nullptr;
  IndexTable table;
  uint64_t seed = 0;
};

} // namespace llmir

#endif // LLMIR_LIB_TOKENIZER_TABLES_H
