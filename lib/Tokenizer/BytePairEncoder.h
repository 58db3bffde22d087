//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Byte-pair encoding of a piece of text, by the ranks of merge rules or by the
// scores of the merged pieces (SentencePiece).
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_TOKENIZER_BPE_H
#define LLMIR_LIB_TOKENIZER_BPE_H

#include "Tables.h"

#include <array>

namespace llmir {

class PairMemo;

class BytePairEncoder {
public:
  /// `spec` has been checked; it and `table` must outlive the encoder.
  void build(const TokenizerSpec &spec, const TokenTable &table);

  /// Appends the ids of a piece (valid UTF-8, not empty).
  void encode(std::string_view piece, std::vector<int32_t> &ids) const;

private:
  void encodeWord(std::string_view word, PairMemo &memo,
                  std::vector<int32_t> &ids) const;
  void encodeRanked(std::string_view word, PairMemo &memo,
                    std::vector<int32_t> &ids) const;
  void encodeScored(std::string_view word, std::vector<int32_t> &ids) const;
  void appendSymbols(std::string_view word, std::vector<int32_t> &ids) const;
  std::optional<int32_t> characterId(std::string_view character) const;
  std::optional<int32_t> symbolId(std::string_view character, bool isFirst,
                                  bool isLast) const;
  bool appendBytes(std::string_view text, std::vector<int32_t> &ids) const;
  void notePairs();
  bool mayMerge(uint32_t left, uint32_t right) const;
  template <typename Encode>
  void forEachCut(std::string_view text, Encode encode) const;

  const TokenizerSpec *spec = nullptr;
  const TokenTable *table = nullptr;
  MergeTable merges;
  std::vector<uint32_t> scoreRanks; ///< By id; MergesByScore only.
  /// Ids of <0x00> to <0xFF>; -1 if missing.
  std::array<int32_t, 256> byteIds{};
  /// Ids of characters, indexed by code point; -1 if missing.
  std::vector<int32_t> characterIds;

  /// If two characters are adjacent in no token, no merge joins them, and a
  /// piece can be cut between them. A conservative set of adjacent pairs (it
  /// may contain too many); empty if cutting could change the result.
  std::vector<uint64_t> pairs;
  bool dropsUnknown = false;
  bool cutsPieces = false; ///< Cut every piece, not only long words.
};

} // namespace llmir

#endif // LLMIR_LIB_TOKENIZER_BPE_H
