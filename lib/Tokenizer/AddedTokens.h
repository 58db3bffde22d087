//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finding added tokens in a text.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_TOKENIZER_ADDEDTOKENS_H
#define LLMIR_LIB_TOKENIZER_ADDEDTOKENS_H

#include "TokenizerSpec.h"

#include <array>

namespace llmir {

/// Looks for a set of texts, leftmost first and the longest there.
class AddedTokenMatcher {
public:
  /// A part of a text: an added token, or what lies between.
  struct Part {
    size_t begin, end;
    int32_t id; ///< -1 between tokens.
  };

  /// `text` is what is looked for (the token's own or its normalized form).
  void add(std::string text, const AddedToken &token);
  /// After the last add().
  void finish();
  bool empty() const { return entries.empty(); }

  /// Appends parts that cover `text`; empty parts are left out.
  void split(std::string_view text, bool matchSpecial,
             std::vector<Part> &parts) const;

private:
  struct Entry {
    std::string text;
    int32_t id;
    uint8_t flags;
  };
  const Entry *longestAt(std::string_view text) const;

  std::vector<Entry> entries; ///< Sorted by text.
  /// Range of entries by first byte.
  std::array<uint32_t, 257> byFirstByte{};
};

} // namespace llmir

#endif // LLMIR_LIB_TOKENIZER_ADDEDTOKENS_H
