//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Segmentation of a piece of text by a unigram language model: the sequence of
// tokens with the highest sum of scores.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_TOKENIZER_UNIGRAMENCODER_H
#define LLMIR_LIB_TOKENIZER_UNIGRAMENCODER_H

#include "PieceTrie.h"
#include "Tables.h"

#include <array>

namespace llmir {

class UnigramEncoder {
public:
  /// `spec` has been checked; it and `table` must outlive the encoder.
  void build(const TokenizerSpec &spec, const TokenTable &table);

  /// Appends the ids of a piece (valid UTF-8, not empty). InvalidArgument if it
  /// has an unknown character and the vocabulary has no unknown token.
  Status encode(std::string_view piece, std::vector<int32_t> &ids) const;

private:
  void findBest(std::string_view piece, std::vector<int32_t> &last) const;
  Status appendUnknown(std::string_view text, std::vector<int32_t> &ids) const;

  const TokenizerSpec *spec = nullptr;
  const TokenTable *table = nullptr;
  PieceTrie trie;
  double unknownScore = 0;
  size_t window = 1; ///< A power of two above the length of any token.
  std::array<int32_t, 256> byteIds{}; ///< Of <0x00> to <0xFF>, or -1.
};

} // namespace llmir

#endif // LLMIR_LIB_TOKENIZER_UNIGRAMENCODER_H
