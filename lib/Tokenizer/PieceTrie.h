//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tokens of a vocabulary as a trie of bytes, for finding all tokens with
// which a text begins.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_TOKENIZER_PIECETRIE_H
#define LLMIR_LIB_TOKENIZER_PIECETRIE_H

#include "TokenizerSpec.h"

namespace llmir {

class PieceTrie {
public:
  /// Builds the trie of the ids that have all flags of `wanted` and none of
  /// `unwanted`. Their texts differ.
  void build(const TokenTexts &texts, const std::vector<uint8_t> &flags,
             uint8_t wanted, uint8_t unwanted);

  static constexpr uint32_t root = 0;
  static constexpr uint32_t none = UINT32_MAX;

  /// The node that `text` leads to from the root, or none.
  uint32_t nodeOf(std::string_view text) const {
    uint32_t node = root;
    for (size_t i = 0; i < text.size() && node != none; ++i)
      node = child(node, static_cast<uint8_t>(text[i]));
    return node;
  }

  /// Calls `visit(length, id)` for each token that consists of the path to
  /// `start` and the first `length` bytes of `text`, in order of length, which
  /// is at least one.
  template <typename Visit>
  void forEachPrefix(uint32_t start, std::string_view text, Visit visit) const {
    uint32_t node = start;
    for (size_t i = 0; i < text.size();) {
      node = child(node, static_cast<uint8_t>(text[i++]));
      if (node == none)
        return;
      if (nodes[node].id >= 0)
        visit(i, nodes[node].id);
    }
  }

private:
  /// The children of a node are consecutive and sorted by label. Nodes with
  /// many of them have a table instead.
  struct Node {
    uint32_t first = 0;
    int32_t id = -1;
    uint16_t count = 0;
    uint8_t label = 0;
    bool hasTable = false; ///< `first` is an index into `tables`.
  };

  uint32_t child(uint32_t node, uint8_t label) const {
    const Node &parent = nodes[node];
    if (parent.hasTable)
      return tables[parent.first + label];
    for (uint32_t i = parent.first, end = i + parent.count; i < end; ++i)
      if (nodes[i].label == label)
        return i;
    return none;
  }

  std::vector<Node> nodes;
  std::vector<uint32_t> tables; ///< 256 nodes each.
};

} // namespace llmir

#endif // LLMIR_LIB_TOKENIZER_PIECETRIE_H
