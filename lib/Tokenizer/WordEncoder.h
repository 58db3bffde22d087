//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// WordPiece: the longest token with which a word begins, again and again; and
// WordLevel: whole words.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_TOKENIZER_WORDENCODER_H
#define LLMIR_LIB_TOKENIZER_WORDENCODER_H

#include "PieceTrie.h"
#include "Tables.h"

namespace llmir {

class WordEncoder {
public:
  /// `spec` has been checked; it and `table` must outlive the encoder.
  void build(const TokenizerSpec &spec, const TokenTable &table);

  /// Appends the ids of a word (valid UTF-8, not empty); the unknown token if
  /// it is not made of tokens.
  void encode(std::string_view word, std::vector<int32_t> &ids) const;

private:
  bool appendPieces(std::string_view word, std::vector<int32_t> &ids) const;

  const TokenizerSpec *spec = nullptr;
  const TokenTable *table = nullptr;
  PieceTrie trie;
  /// The nodes of the prefixes of the first and of the other pieces.
  uint32_t firstPiece = PieceTrie::none, otherPiece = PieceTrie::none;
};

} // namespace llmir

#endif // LLMIR_LIB_TOKENIZER_WORDENCODER_H
