//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Search for added tokens in a text.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_TOKENIZER_ADDEDTOKENS_H
#define LLMIR_LIB_TOKENIZER_ADDEDTOKENS_H

#include "TokenizerSpec.h"

#include <array>

namespace llmir {

/// Finds leftmost-longest occurrences of a set of texts.
class AddedTokenMatcher {
public:
  /// A part of a text: an added token, or the text between two of them.
  struct Part {
    size_t begin, end;
    int32_t id; ///< -1 between tokens.
  };

  /// `text` is the text to find (the token's own or its normalized form).
  void add(std::string text, const AddedToken &token);
  /// Called after the last add().
  void finish();
  bool empty() const { return entries.empty(); }

  /// Appends nonempty parts that cover `text`.
  void split(std::string_view text, bool matchSpecial,
             std::vector<Part> &parts) const;

private:
  struct Entry {
    std::string text;
    int32_t id;
    uint8_t flags;
  };
  bool mayBegin(std::string_view text, size_t at) const;
  const Entry *longestAt(std::string_view text) const;

  std::vector<Entry> entries; ///< Sorted by text.
  /// Range of entries for each first byte.
  std::array<uint32_t, 257> byFirstByte{};
  /// Number of bytes that all entries of a first byte have in common.
  std::array<uint32_t, 256> commonBytes{};
};

} // namespace llmir

#endif // LLMIR_LIB_TOKENIZER_ADDEDTOKENS_H
