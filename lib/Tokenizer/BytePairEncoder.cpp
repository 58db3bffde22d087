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
  if (pairs.empty() || !cutsPieces)
    return encodeWord(piece, ids);
  forEachCut(piece, [&](std::string_view part) { encodeWord(part, ids); });
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

void BytePairEncoder::encodeWord(std::string_view word,
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
    return encodeRanked(word, ids);
  forEachCut(word, [&](std::string_view part) { encodeRanked(part, ids); });
}

/// One id per character; unknown ones as their bytes, or the unknown token.
void BytePairEncoder::appendSymbols(std::string_view word,
                                    std::vector<int32_t> &ids) const {
  bool unknownWaits = false;
  for (size_t at = 0; at < word.size();) {
    size_t bytes = firstUtf8Char(word.substr(at)).bytes;
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

void BytePairEncoder::encodeRanked(std::string_view word,
                                   std::vector<int32_t> &ids) const {
  size_t first = ids.size();
  appendSymbols(word, ids);
  size_t count = ids.size() - first;
  int32_t *symbols = ids.data() + first;
  // A run of one character asks for the same pair again and again.
  int32_t lastLeft = -1, lastRight = -1;
  uint32_t rule = noMerge;
  auto rankOf = [&](size_t left, size_t right) {
    if (symbols[left] != lastLeft || symbols[right] != lastRight) {
      lastLeft = symbols[left], lastRight = symbols[right];
      rule = merges.find(lastLeft, lastRight).value_or(noMerge);
    }
    return rule != noMerge && spec->ranksAreIds
               ? static_cast<uint32_t>(spec->merges[rule].result)
               : rule;
  };
  auto resultOf = [&](uint32_t rank) {
    return spec->ranksAreIds ? static_cast<int32_t>(rank)
                             : spec->merges[rank].result;
  };
  if (count <= shortWord) {
    uint32_t ranks[shortWord];
    for (size_t i = 0; i + 1 < count; ++i)
      ranks[i] = rankOf(i, i + 1);
    while (count > 1) {
      size_t best = firstSmallest(ranks, count - 1);
      if (ranks[best] == noMerge)
        break;
      symbols[best] = resultOf(ranks[best]);
      std::copy(symbols + best + 2, symbols + count, symbols + best + 1);
      std::copy(ranks + best + 1, ranks + count - 1, ranks + best);
      --count;
      if (best + 1 < count)
        ranks[best] = rankOf(best, best + 1);
      if (best > 0)
        ranks[best - 1] = rankOf(best - 1, best);
    }
    ids.resize(first + count);
    return;
  }
  std::vector<uint32_t> remaining = mergeAdjacent(
      count, rankOf,
      [&](uint32_t left, uint32_t right) {
        uint32_t rank = rankOf(left, right);
        symbols[left] = resultOf(rank);
      },
      [&](uint32_t symbol) { __builtin_prefetch(symbols + symbol); });
  for (size_t i = 0; i < remaining.size(); ++i)
    symbols[i] = symbols[remaining[i]];
  ids.resize(first + remaining.size());
}

void BytePairEncoder::encodeScored(std::string_view word,
                                   std::vector<int32_t> &ids) const {
  // Symbol i is word[begin[i], end[i]).
  std::vector<uint32_t> begin, end;
  for (size_t at = 0; at < word.size();) {
    begin.push_back(static_cast<uint32_t>(at));
    at += firstUtf8Char(word.substr(at)).bytes;
    end.push_back(static_cast<uint32_t>(at));
  }
  auto pieceId = [&](std::string_view text) -> int32_t {
    std::optional<int32_t> id = characterId(text);
    return id ? *id : -1;
  };
  // Unused pieces take part in merging and are split afterwards: positions.
  std::unordered_map<int32_t, uint32_t> leftBytes;
  auto keyOf = [&](uint32_t left, uint32_t right) {
    uint32_t bytes = end[right] - begin[left];
    if (bytes > table->longestToken())
      return noMerge;
    int32_t id = pieceId(word.substr(begin[left], bytes));
    if (id < 0)
      return noMerge;
    if (spec->flags[id] & TokenUnused)
      leftBytes.emplace(id, end[left] - begin[left]);
    return scoreRanks[static_cast<size_t>(id)];
  };
  std::vector<uint32_t> remaining = mergeAdjacent(
      begin.size(), keyOf,
      [&](uint32_t left, uint32_t right) { end[left] = end[right]; },
      [&](uint32_t symbol) {
        __builtin_prefetch(&begin[symbol]);
        __builtin_prefetch(&end[symbol]);
      });

  bool lastUnknown = false;
  std::vector<std::string_view> stack;
  for (uint32_t symbol : remaining) {
    stack.push_back(word.substr(begin[symbol], end[symbol] - begin[symbol]));
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
