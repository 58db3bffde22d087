//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "UnigramEncoder.h"
#include "Unicode.h"

#include "llmir/Support/Json.h"

#include <algorithm>
#include <limits>

namespace llmir {

/// What an unknown character costs more than the least probable token.
static constexpr double unknownPenalty = 10;

void UnigramEncoder::build(const TokenizerSpec &description,
                           const TokenTable &tokenTable) {
  spec = &description;
  table = &tokenTable;
  trie.build(spec->tokens, spec->flags, TokenMergeable, TokenUnused);
  byteIds = byteTokenIds(*table);

  double lowest = std::numeric_limits<double>::infinity();
  size_t longest = 4;
  for (size_t id = 0; id < spec->tokens.size(); ++id)
    if ((spec->flags[id] & TokenMergeable) &&
        !(spec->flags[id] & TokenUnused)) {
      lowest = std::min(lowest, spec->scores[id]);
      longest = std::max(longest, spec->tokens[id].size());
    }
  unknownScore =
      (lowest < std::numeric_limits<double>::infinity() ? lowest : 0) -
      unknownPenalty;
  if (spec->sumsInSinglePrecision)
    unknownScore = static_cast<float>(unknownScore);
  for (window = 1; window <= longest;)
    window *= 2;
}

/// For each position that a token may end at, sets `last` to the token of the
/// best segmentation of the text before it; -1 is an unknown character.
void UnigramEncoder::findBest(std::string_view piece,
                              std::vector<int32_t> &last) const {
  constexpr double unreached = -std::numeric_limits<double>::infinity();
  last.assign(piece.size() + 1, -1);
  // The best sums at the positions that tokens from here can reach.
  std::vector<double> sums(std::min(window, piece.size() + 1), unreached);
  // A power of two, or more than all positions.
  auto sumAt = [&](size_t position) -> double & {
    return sums[sums.size() == window ? position & (window - 1) : position];
  };
  sumAt(0) = 0;
  for (size_t at = 0; at < piece.size();) {
    const double here = sumAt(at);
    sumAt(at) = unreached;
    const size_t characterBytes = firstUtf8Char(piece.substr(at)).bytes;
    bool isKnown = false;
    auto offer = [&](size_t length, double score, int32_t id) {
      double &best = sumAt(at + length);
      const double sum = score + here;
      if (!(sum > best))
        return;
      best = spec->sumsInSinglePrecision ? static_cast<float>(sum) : sum;
      last[at + length] = id;
    };
    trie.forEachPrefix(
        PieceTrie::root, piece.substr(at), [&](size_t length, int32_t id) {
          isKnown |= length == characterBytes;
          offer(length, spec->scores[static_cast<size_t>(id)], id);
        });
    if (!isKnown)
      offer(characterBytes, unknownScore, -1);
    at += characterBytes;
  }
}

/// A run of unknown characters.
Status UnigramEncoder::appendUnknown(std::string_view text,
                                     std::vector<int32_t> &ids) const {
  // The run as a whole may be a token whose score is too low.
  std::optional<int32_t> whole;
  if (!spec->sumsInSinglePrecision)
    whole = table->find(text);
  if (whole && (spec->flags[*whole] & TokenMergeable)) {
    ids.push_back(*whole);
    return Status::ok();
  }
  auto hasByte = [&](char c) { return byteIds[static_cast<uint8_t>(c)] >= 0; };
  if (spec->byteFallback && std::all_of(text.begin(), text.end(), hasByte)) {
    for (char c : text)
      ids.push_back(byteIds[static_cast<uint8_t>(c)]);
    return Status::ok();
  }
  if (spec->unknownToken < 0)
    return Status(StatusCode::InvalidArgument,
                  "the vocabulary has neither a token for '" +
                      printable(text.substr(0, firstUtf8Char(text).bytes)) +
                      "' nor one for unknown characters",
                  "use only characters that the model knows");
  ids.push_back(spec->unknownToken);
  return Status::ok();
}

Status UnigramEncoder::encode(std::string_view piece,
                              std::vector<int32_t> &ids) const {
  std::vector<int32_t> last;
  findBest(piece, last);
  // Walk back, then write the tokens in order over the positions.
  auto startOf = [&](size_t end) {
    if (last[end] >= 0)
      return end - spec->tokens[static_cast<size_t>(last[end])].size();
    do
      --end;
    while ((static_cast<uint8_t>(piece[end]) & 0xc0) == 0x80);
    return end;
  };
  struct Part {
    uint32_t begin, end;
    int32_t id;
  };
  std::vector<Part> parts;
  for (size_t end = piece.size(); end > 0;) {
    const int32_t id = last[end];
    const size_t begin = startOf(end);
    const bool isUnknown = id < 0 || id == spec->unknownToken;
    if (isUnknown && !parts.empty() && parts.back().id < 0)
      parts.back().begin = static_cast<uint32_t>(begin);
    else
      parts.push_back({static_cast<uint32_t>(begin), static_cast<uint32_t>(end),
                       isUnknown ? -1 : id});
    end = begin;
  }
  for (size_t i = parts.size(); i-- > 0;) {
    if (parts[i].id >= 0)
      ids.push_back(parts[i].id);
    else
      LLMIR_RETURN_IF_ERROR(appendUnknown(
          piece.substr(parts[i].begin, parts[i].end - parts[i].begin), ids));
  }
  return Status::ok();
}

} // namespace llmir
