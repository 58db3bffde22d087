//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The stages before the model: normalization of a segment and its splitting
// into pieces.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_TOKENIZER_STAGES_H
#define LLMIR_LIB_TOKENIZER_STAGES_H

#include "GrowthLimit.h"
#include "Regex.h"
#include "TokenizerSpec.h"

#include <optional>

namespace llmir {

/// A normalizer step ready to run.
struct Normalizer {
  NormalizerStep step;
  std::optional<Regex> regex;

  static Expected<Normalizer> build(NormalizerStep step);
  /// `isFirst`: the segment is where the text begins. OutOfRange where the
  /// segment grows beyond the limit, or a pattern costs too much.
  Status apply(std::string &text, bool isFirst, const GrowthLimit &limit) const;
};

/// Runs all steps in order.
Status normalize(const std::vector<Normalizer> &steps, std::string &text,
                 bool isFirst, const GrowthLimit &limit);

/// A text and its division into pieces that the model sees one by one.
struct Pieces {
  struct Piece {
    uint32_t begin, end;
    bool isFirst; ///< Begins where the whole text begins.
  };
  std::string text;
  std::vector<Piece> pieces;
};

/// A pre-tokenizer step ready to run.
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

/// The byte-level alphabet: the printable character that stands for a byte.
uint32_t byteLevelCharacter(uint8_t byte);
/// The byte for which a character stands, or -1.
int byteLevelByte(uint32_t codePoint);
/// Appends the bytes of `text` in the byte-level alphabet.
void appendByteLevel(std::string &out, std::string_view text);

/// As Regex::partition, for a plain string, which must not be empty.
void partitionString(std::string_view text, std::string_view pattern,
                     std::vector<TextRange> &ranges);

/// Bytes of what replaceAll gives.
size_t replacedBytes(std::string_view text, std::string_view pattern,
                     std::string_view content);

/// Replaces every occurrence, left to right.
std::string replaceAll(std::string_view text, std::string_view pattern,
                       std::string_view content);

} // namespace llmir

#endif // LLMIR_LIB_TOKENIZER_STAGES_H
