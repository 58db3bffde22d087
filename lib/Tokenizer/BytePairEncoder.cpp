//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BytePairEncoder.h"
#include "MergeQueue.h"
#include "Unicode.h"

#include <algorithm>
#include <unordered_map>

namespace llmir {
namespace {

/// Characters below this are looked up in an array.
constexpr uint32_t directCharacters = 0x3000;
constexpr size_t pairBits = size_t(1) << 20;
/// Up to this number of symbols, a linear search for the smallest rank is
/// faster than a queue.
constexpr size_t shortWord = 96;

/// The position of the first of the smallest values. (The first loop becomes
/// vector code, unlike std::min_element.)
size_t firstSmallest(const uint32_t *values, size_t count) {
  uint32_t smallest = noMerge;
  for (size_t i = 0; i < count; ++i)
    smallest = std::min(smallest, values[i]);
  size_t at = 0;
  while (at + 1 < count && values[at] != smallest)
    ++at;
  return at;
}

size_t pairBit(uint32_t left, uint32_t right) {
  uint64_t hash = (uint64_t(left) << 32 | right) * 0x9e3779b97f4a7c15u;
  return static_cast<size_t>(hash >> 44) & (pairBits - 1);
}

/// The position of each score among all different ones, the highest first.
std::vector<uint32_t> ranksOf(const std::vector<double> &scores) {
  std::vector<double> ordered = scores;
  std::sort(ordered.begin(), ordered.end(), std::greater<>());
  ordered.erase(std::unique(ordered.begin(), ordered.end()), ordered.end());
  std::vector<uint32_t> ranks;
  for (double score : scores)
    ranks.push_back(
        static_cast<uint32_t>(std::lower_bound(ordered.begin(), ordered.end(),
                                               score, std::greater<>()) -
                              ordered.begin()));
  return ranks;
}

/// The last character of a nonempty text.
uint32_t lastCodePoint(std::string_view text) {
  size_t at = text.size() - 1;
  while ((static_cast<uint8_t>(text[at]) & 0xc0) == 0x80)
    --at;
  return firstUtf8Char(text.substr(at)).codePoint;
}

} // namespace

/// The rules of pairs that were asked for lately in a text: runs of one
/// character, or of few, ask for the same pairs again and again.
class PairMemo {
public:
  explicit PairMemo(size_t textBytes)
      : storage(textBytes <= shortWord ? 0 : longSize, Entry{-1, -1, noMerge}),
        entries(storage.empty() ? &single : storage.data()),
        mask(static_cast<uint32_t>(storage.empty() ? 0 : storage.size() - 1)) {}
  PairMemo(const PairMemo &) = delete;
  PairMemo &operator=(const PairMemo &) = delete;

  /// The rank, or noMerge.
  uint32_t find(int32_t left, int32_t right, const MergeTable &merges) {
    const uint32_t hash = static_cast<uint32_t>(left) * 0x9e3779b1u ^
                          static_cast<uint32_t>(right) * 0x85ebca6bu;
    Entry &entry = entries[hash >> 16 & mask];
    if (entry.left != left || entry.right != right)
      entry = {left, right, merges.find(left, right).value_or(noMerge)};
    return entry.rule;
  }

private:
  struct Entry {
    int32_t left, right;
    uint32_t rule;
  };
  static constexpr size_t longSize = 1024; // A power of two.
  Entry single{-1, -1, noMerge};
  std::vector<Entry> storage;
  Entry *entries;
  uint32_t mask;
};

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

void BytePairEncoder::build(const TokenizerSpec &description,
                            const TokenTable &tokenTable) {
  spec = &description;
  table = &tokenTable;
  merges.build(spec->merges);

  byteIds = byteTokenIds(*table);
  if (spec->model == TokenizerModel::MergesByScore)
    scoreRanks = ranksOf(spec->scores);
  characterIds.assign(directCharacters, -1);
  for (size_t id = 0; id < spec->tokens.size(); ++id) {
    std::string_view text = spec->tokens[id];
    if (!(spec->flags[id] & TokenMergeable) || text.empty() || text.size() > 4)
      continue;
    Utf8Char c = firstUtf8Char(text);
    if (c.bytes == text.size() && c.codePoint < directCharacters)
      characterIds[c.codePoint] = static_cast<int32_t>(id);
  }
  notePairs();
}

/// Fills `pairs` if pieces may be cut without changing the result.
void BytePairEncoder::notePairs() {
  // Words are short, and a whole word may be a token; only long ones are cut.
  const bool hasWords =
      std::any_of(spec->preTokenizers.begin(), spec->preTokenizers.end(),
                  [](const PreTokenizerStep &step) {
                    return step.kind == PreTokenizerStep::SplitRegex;
                  });
  cutsPieces = !hasWords && !spec->ignoreMerges;
  bool allBytes =
      spec->byteFallback &&
      std::find(byteIds.begin(), byteIds.end(), -1) == byteIds.end();
  dropsUnknown = spec->unknownToken < 0 && !allBytes &&
                 spec->model == TokenizerModel::MergesByRank;
  // A run of unknown characters is one token and cannot be cut.
  bool fuses = spec->fuseUnknown && spec->unknownToken >= 0 && !allBytes;
  if (fuses || !spec->continuingPrefix.empty() || !spec->endSuffix.empty())
    return;

  std::vector<uint64_t> bits(pairBits / 64);
  auto note = [&](uint32_t left, uint32_t right) {
    size_t bit = pairBit(left, right);
    bits[bit / 64] |= uint64_t(1) << (bit % 64);
  };
  if (spec->model == TokenizerModel::MergesByScore) {
    for (size_t id = 0; id < spec->tokens.size(); ++id) {
      std::string_view text = spec->tokens[id];
      if (!(spec->flags[id] & TokenMergeable) || text.empty())
        continue;
      uint32_t last = firstUtf8Char(text).codePoint;
      for (text.remove_prefix(firstUtf8Char(text).bytes); !text.empty();) {
        Utf8Char c = firstUtf8Char(text);
        note(last, c.codePoint);
        last = c.codePoint;
        text.remove_prefix(c.bytes);
      }
    }
  } else {
    for (const MergeRule &rule : spec->merges) {
      // Tokens for bytes or unknown characters are not spelled like their
      // source.
      auto isIndirect = [&](int32_t id) {
        return id == spec->unknownToken ||
               (spec->byteFallback &&
                std::find(byteIds.begin(), byteIds.end(), id) != byteIds.end());
      };
      std::string_view left = spec->tokens[rule.left];
      std::string_view right = spec->tokens[rule.right];
      bool spelled = !left.empty() && !right.empty();
      if (!spelled || ((left[0] == '<' && isIndirect(rule.left)) ||
                       (right[0] == '<' && isIndirect(rule.right))))
        return;
      note(lastCodePoint(left), firstUtf8Char(right).codePoint);
    }
  }
  pairs = std::move(bits);
}

bool BytePairEncoder::mayMerge(uint32_t left, uint32_t right) const {
  size_t bit = pairBit(left, right);
  return pairs[bit / 64] >> (bit % 64) & 1;
}

std::optional<int32_t>
BytePairEncoder::characterId(std::string_view character) const {
  Utf8Char c = firstUtf8Char(character);
  if (c.bytes == character.size() && c.codePoint < directCharacters) {
    int32_t id = characterIds[c.codePoint];
    return id < 0 ? std::nullopt : std::optional<int32_t>(id);
  }
  std::optional<int32_t> id = table->find(character);
  if (id && !(spec->flags[*id] & TokenMergeable))
    return std::nullopt;
  return id;
}

/// The id of a character at a given position of a word.
std::optional<int32_t> BytePairEncoder::symbolId(std::string_view character,
                                                 bool isFirst,
                                                 bool isLast) const {
  bool prefixed = !isFirst && !spec->continuingPrefix.empty();
  bool suffixed = isLast && !spec->endSuffix.empty();
  if (!prefixed && !suffixed)
    return characterId(character);
  std::string text = prefixed ? spec->continuingPrefix : std::string();
  text += character;
  if (suffixed)
    text += spec->endSuffix;
  return characterId(text);
}

/// Appends the <0xNN> tokens of a text; appends nothing and returns false if
/// one is missing.
bool BytePairEncoder::appendBytes(std::string_view text,
                                  std::vector<int32_t> &ids) const {
  for (char c : text)
    if (byteIds[static_cast<uint8_t>(c)] < 0)
      return false;
  for (char c : text)
    ids.push_back(byteIds[static_cast<uint8_t>(c)]);
  return true;
}

//===----------------------------------------------------------------------===//
// Encoding
//===----------------------------------------------------------------------===//

void BytePairEncoder::encode(std::string_view piece,
                             std::vector<int32_t> &ids) const {
  PairMemo memo(piece.size());
  if (pairs.empty() || !cutsPieces)
    return encodeWord(piece, memo, ids);
  forEachCut(piece,
             [&](std::string_view part) { encodeWord(part, memo, ids); });
}

/// Calls `encode(part)` for parts of a text between which nothing merges.
template <typename Encode>
void BytePairEncoder::forEachCut(std::string_view text, Encode encode) const {
  size_t begin = 0;
  Utf8Char last = firstUtf8Char(text);
  // The neighbors of an unknown character that is dropped may merge.
  auto isDropped = [&](size_t end, Utf8Char c) {
    return dropsUnknown && !characterId(text.substr(end - c.bytes, c.bytes));
  };
  for (size_t at = last.bytes; at < text.size();) {
    Utf8Char c = firstUtf8Char(text.substr(at));
    if (!mayMerge(last.codePoint, c.codePoint) && !isDropped(at, last) &&
        !isDropped(at + c.bytes, c)) {
      encode(text.substr(begin, at - begin));
      begin = at;
    }
    last = c;
    at += c.bytes;
  }
  encode(text.substr(begin));
}

void BytePairEncoder::encodeWord(std::string_view word, PairMemo &memo,
                                 std::vector<int32_t> &ids) const {
  if (spec->model == TokenizerModel::MergesByScore)
    return encodeScored(word, ids);
  if (spec->ignoreMerges) {
    std::optional<int32_t> id = table->find(word);
    if (id && (spec->flags[*id] & TokenMergeable)) {
      ids.push_back(*id);
      return;
    }
  }
  if (cutsPieces || pairs.empty() || word.size() <= shortWord)
    return encodeRanked(word, memo, ids);
  forEachCut(word,
             [&](std::string_view part) { encodeRanked(part, memo, ids); });
}

/// One id per character; unknown ones as their bytes, or the unknown token.
void BytePairEncoder::appendSymbols(std::string_view word,
                                    std::vector<int32_t> &ids) const {
  const bool hasAffixes =
      !spec->continuingPrefix.empty() || !spec->endSuffix.empty();
  bool unknownWaits = false;
  for (size_t at = 0; at < word.size();) {
    const auto [codePoint, bytes] = firstUtf8Char(word.substr(at));
    // Nearly all characters are in the array.
    if (!hasAffixes && !unknownWaits && codePoint < directCharacters &&
        characterIds[codePoint] >= 0) {
      ids.push_back(characterIds[codePoint]);
      at += bytes;
      continue;
    }
    std::string_view character = word.substr(at, bytes);
    std::optional<int32_t> id =
        symbolId(character, at == 0, at + bytes == word.size());
    at += bytes;
    if (id) {
      if (unknownWaits)
        ids.push_back(spec->unknownToken);
      unknownWaits = false;
      ids.push_back(*id);
      continue;
    }
    if (spec->byteFallback && appendBytes(character, ids))
      continue;
    if (spec->unknownToken < 0)
      continue;
    if (unknownWaits && !spec->fuseUnknown)
      ids.push_back(spec->unknownToken);
    unknownWaits = true;
  }
  if (unknownWaits)
    ids.push_back(spec->unknownToken);
}

void BytePairEncoder::encodeRanked(std::string_view word, PairMemo &memo,
                                   std::vector<int32_t> &ids) const {
  size_t first = ids.size();
  appendSymbols(word, ids);
  size_t count = ids.size() - first;
  int32_t *symbols = ids.data() + first;
  auto keyOf = [&](int32_t left, int32_t right) {
    const uint32_t rule = memo.find(left, right, merges);
    return rule != noMerge && spec->ranksAreIds
               ? static_cast<uint32_t>(spec->merges[rule].result)
               : rule;
  };
  auto resultOf = [&](uint32_t key) {
    return spec->ranksAreIds ? static_cast<int32_t>(key)
                             : spec->merges[key].result;
  };
  if (count <= shortWord) {
    uint32_t keys[shortWord];
    for (size_t i = 0; i + 1 < count; ++i)
      keys[i] = keyOf(symbols[i], symbols[i + 1]);
    while (count > 1) {
      size_t best = firstSmallest(keys, count - 1);
      if (keys[best] == noMerge)
        break;
      symbols[best] = resultOf(keys[best]);
      std::copy(symbols + best + 2, symbols + count, symbols + best + 1);
      std::copy(keys + best + 1, keys + count - 1, keys + best);
      --count;
      if (best + 1 < count)
        keys[best] = keyOf(symbols[best], symbols[best + 1]);
      if (best > 0)
        keys[best - 1] = keyOf(symbols[best - 1], symbols[best]);
    }
    ids.resize(first + count);
    return;
  }
  std::vector<LinkedSymbol<int32_t>> chain(count);
  for (size_t i = 0; i < count; ++i)
    chain[i].symbol = symbols[i];
  mergeAdjacent(chain, keyOf, [&](int32_t &left, int32_t, uint32_t key) {
    left = resultOf(key);
  });
  size_t remaining = 0;
  for (size_t i = 0; i < count; i = chain[i].next)
    symbols[remaining++] = chain[i].symbol;
  ids.resize(first + remaining);
}

void BytePairEncoder::encodeScored(std::string_view word,
                                   std::vector<int32_t> &ids) const {
  struct Part { // word[begin, end)
    uint32_t begin, end;
  };
  std::vector<LinkedSymbol<Part>> chain;
  for (uint32_t at = 0; at < word.size();) {
    const uint32_t begin = at;
    at += firstUtf8Char(word.substr(at)).bytes;
    chain.push_back({{begin, at}});
  }
  auto pieceId = [&](std::string_view text) -> int32_t {
    std::optional<int32_t> id = characterId(text);
    return id ? *id : -1;
  };
  // Unused pieces take part in merging and are split afterwards: positions.
  std::unordered_map<int32_t, uint32_t> leftBytes;
  auto keyOf = [&](Part left, Part right) {
    const uint32_t bytes = right.end - left.begin;
    if (bytes > table->longestToken())
      return noMerge;
    int32_t id = pieceId(word.substr(left.begin, bytes));
    if (id < 0)
      return noMerge;
    if (spec->flags[id] & TokenUnused)
      leftBytes.emplace(id, left.end - left.begin);
    return scoreRanks[static_cast<size_t>(id)];
  };
  mergeAdjacent(chain, keyOf,
                [](Part &left, Part right, uint32_t) { left.end = right.end; });

  bool lastUnknown = false;
  std::vector<std::string_view> stack;
  for (size_t i = 0; i < chain.size(); i = chain[i].next) {
    const Part part = chain[i].symbol;
    stack.push_back(word.substr(part.begin, part.end - part.begin));
    while (!stack.empty()) {
      std::string_view text = stack.back();
      stack.pop_back();
      int32_t id = pieceId(text);
      auto split = leftBytes.find(id);
      if (id >= 0 && (spec->flags[id] & TokenUnused) &&
          split != leftBytes.end()) {
        stack.push_back(text.substr(split->second));
        stack.push_back(text.substr(0, split->second));
        continue;
      }
      bool isUnknown = id < 0;
      if (!isUnknown)
        ids.push_back(id);
      else if (spec->byteFallback && appendBytes(text, ids))
        isUnknown = false;
      else if (spec->unknownToken >= 0 && !(lastUnknown && spec->fuseUnknown))
        ids.push_back(spec->unknownToken);
      lastUnknown = isUnknown;
    }
  }
}

} // namespace llmir
