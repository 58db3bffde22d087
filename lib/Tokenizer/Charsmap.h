//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The compiled normalization rules of SentencePiece ("precompiled_charsmap"): a
// trie whose values are positions in a list of texts that end with a zero byte.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_TOKENIZER_CHARSMAP_H
#define LLMIR_LIB_TOKENIZER_CHARSMAP_H

#include "GrowthLimit.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace llmir {

class Charsmap {
public:
  /// InvalidFile, naming the offset, if the bytes are malformed.
  static Expected<Charsmap> parse(std::string_view bytes);

  /// Replaces the longest prefix with a rule, as SentencePiece does.
  Status replacePrefixes(std::string &text, const GrowthLimit &limit) const;
  /// Replaces grapheme clusters and characters, as the library `tokenizers`
  /// does: a short cluster by the rule of its shortest prefix.
  Status replaceClusters(std::string &text, const GrowthLimit &limit) const;

private:
  enum class Length { Shortest, Longest };
  struct Match {
    size_t bytes = 0; ///< 0: no rule.
    std::string_view text;
  };
  Match match(std::string_view text, Length wanted) const;
  bool appendRule(std::string_view part, std::string &out) const;
  void replaceCharacters(std::string_view text, std::string &out) const;

  std::vector<uint32_t> units;
  std::string texts;
};

} // namespace llmir

#endif // LLMIR_LIB_TOKENIZER_CHARSMAP_H
