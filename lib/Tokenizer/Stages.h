//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The stages before the model: normalization of a segment, and splitting into
// pieces.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_TOKENIZER_STAGES_H
#define LLMIR_LIB_TOKENIZER_STAGES_H

#include "Charsmap.h"
#include "GrowthLimit.h"
#include "Regex.h"
#include "TokenizerSpec.h"

#include <optional>

namespace llmir {

/// A compiled normalizer step.
struct Normalizer {
  NormalizerStep step;
  std::optional<Regex> regex;
  std::optional<Charsmap> charsmap;

  static Expected<Normalizer> build(NormalizerStep step);
  /// `isFirst`: the segment is at the start of the text. OutOfRange if the
  /// segment grows beyond the limit or a pattern is too expensive.
  Status apply(std::string &text, bool isFirst, const GrowthLimit &limit) const;
};

/// Converts every letter to lower case.
void lowercase(std::string &text);

/// BERT's normalization: `flags` are NormalizerStep::BertFlags.
Status normalizeBert(std::string &text, uint8_t flags);

/// Runs all steps in order.
Status normalize(const std::vector<Normalizer> &steps, std::string &text,
                 bool isFirst, const GrowthLimit &limit);

/// A text and its division into pieces that the model encodes separately.
struct Pieces {
  struct Piece {
    uint32_t begin, end;
    bool isFirst; ///< At the start of the whole text.
  };
  std::string text;
  std::vector<Piece> pieces;
};

/// A compiled pre-tokenizer step.
struct PreTokenizer {
  PreTokenizerStep step;
  std::optional<Regex> regex;

  static Expected<PreTokenizer> build(PreTokenizerStep step);
  Status apply(Pieces &pieces, const GrowthLimit &limit) const;

private:
  Status split(Pieces &pieces) const;
  Status prefixSpace(Pieces &pieces, const GrowthLimit &limit) const;
  Status mapBytes(Pieces &pieces, const GrowthLimit &limit) const;
  Status metaspace(Pieces &pieces, const GrowthLimit &limit) const;
};

/// The byte-level alphabet: the printable character that represents a byte.
uint32_t byteLevelCharacter(uint8_t byte);
/// The byte that a character represents, or -1.
int byteLevelByte(uint32_t codePoint);
/// Appends the bytes of `text` in the byte-level alphabet.
void appendByteLevel(std::string &out, std::string_view text);

/// Like Regex::partition, for a nonempty plain string.
void partitionString(std::string_view text, std::string_view pattern,
                     std::vector<TextRange> &ranges);

/// Numbers as matches of up to three digits, counted from their end. `ofWords`:
/// only numbers that no letter follows.
void partitionDigits(std::string_view text, bool ofWords,
                     std::vector<TextRange> &ranges);

/// Size in bytes of the result of replaceAll.
size_t replacedBytes(std::string_view text, std::string_view pattern,
                     std::string_view content);

/// Replaces every occurrence, left to right.
std::string replaceAll(std::string_view text, std::string_view pattern,
                       std::string_view content);

} // namespace llmir

#endif // LLMIR_LIB_TOKENIZER_STAGES_H
