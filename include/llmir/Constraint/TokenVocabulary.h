//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The texts of the tokens of a model, as a tree of their bytes: what may come
// next is found for all tokens that begin alike at once.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_CONSTRAINT_TOKENVOCABULARY_H
#define LLMIR_CONSTRAINT_TOKENVOCABULARY_H

#include "llmir/Support/Span.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace llmir {

/// Immutable: threads may use one concurrently.
class TokenVocabulary {
public:
  /// The bytes that each token adds to a text, by id; empty: it adds none, like
  /// a control token. Tokens of more than 4096 bytes count as such.
  explicit TokenVocabulary(std::vector<std::string> texts);

  /// Ids are less than this.
  size_t size() const { return texts.size(); }
  std::string_view text(int32_t id) const {
    return texts[static_cast<size_t>(id)];
  }

  /// A byte of one or more tokens.
  struct Node {
    uint32_t end;        ///< The first node after those that continue it.
    uint32_t firstToken; ///< Of those that end here, in tokens().
    uint16_t depth;      ///< 1 for the first byte.
    uint8_t byte;
  };
  /// Each before those that continue it. The last one only ends the list.
  Span<const Node> nodes() const { return tree; }
  Span<const int32_t> tokens() const { return sorted; }

private:
  std::vector<std::string> texts;
  std::vector<Node> tree;
  std::vector<int32_t> sorted; ///< By their texts.
};

} // namespace llmir

#endif // LLMIR_CONSTRAINT_TOKENVOCABULARY_H
