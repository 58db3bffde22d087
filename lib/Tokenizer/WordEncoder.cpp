//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WordEncoder.h"
#include "Unicode.h"

namespace llmir {

void WordEncoder::build(const TokenizerSpec &description,
                        const TokenTable &tokenTable) {
  spec = &description;
  table = &tokenTable;
  if (spec->model != TokenizerModel::WordPiece)
    return;
  trie.build(spec->tokens, spec->flags, TokenMergeable, 0);
  firstPiece = trie.nodeOf(spec->wordPrefix);
  otherPiece = trie.nodeOf(spec->continuingPrefix);
}

/// Returns false if the word is not made of tokens.
bool WordEncoder::appendPieces(std::string_view word,
                               std::vector<int32_t> &ids) const {
  size_t characters = 0;
  for (char c : word)
    characters += (static_cast<uint8_t>(c) & 0xc0) != 0x80;
  if (characters > spec->maxWordCharacters)
    return false;
  uint32_t node = firstPiece;
  while (!word.empty()) {
    size_t longest = 0;
    int32_t found = -1;
    if (node != PieceTrie::none)
      trie.forEachPrefix(node, word, [&](size_t length, int32_t id) {
        longest = length;
        found = id;
      });
    if (found < 0)
      return false;
    ids.push_back(found);
    word.remove_prefix(longest);
    node = otherPiece;
  }
  return true;
}

void WordEncoder::encode(std::string_view word,
                         std::vector<int32_t> &ids) const {
  if (spec->model == TokenizerModel::WordLevel) {
    std::optional<int32_t> id = table->find(word);
    const bool isWord = id && (spec->flags[*id] & TokenMergeable);
    ids.push_back(isWord ? *id : spec->unknownToken);
    return;
  }
  const size_t before = ids.size();
  if (appendPieces(word, ids))
    return;
  ids.resize(before);
  ids.push_back(spec->unknownToken);
}

} // namespace llmir
