//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The ids of the short words of a text, most of which occur again and again.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_TOKENIZER_WORDCACHE_H
#define LLMIR_LIB_TOKENIZER_WORDCACHE_H

#include "Tables.h"

#include <cstring>

namespace llmir {

/// A word replaces another one with the same place. Short texts have no cache.
class WordCache {
public:
  explicit WordCache(size_t textBytes) {
    size_t count = 0;
    if (textBytes >= 2048)
      for (count = 256; count < 8192 && count * 16 < textBytes;)
        count *= 2;
    entries.resize(count);
  }

  /// Appends the ids of a word; if the word is new, `encode()` appends them.
  template <typename Encode>
  Status append(std::string_view word, std::vector<int32_t> &ids,
                Encode encode) {
    if (word.size() > maxBytes || entries.empty())
      return encode();
    // There are at least 256 places.
    const uint64_t place =
        word.size() == 1 ? static_cast<uint8_t>(word[0]) : hashBytes(word);
    Entry &entry = entries[place & (entries.size() - 1)];
    if (entry.bytes == word.size() && entry.text[0] == word[0] &&
        std::memcmp(entry.text, word.data(), word.size()) == 0) {
      for (uint8_t i = 0; i < entry.count; ++i)
        ids.push_back(entry.ids[i]);
      return Status::ok();
    }
    const size_t before = ids.size();
    LLMIR_RETURN_IF_ERROR(encode());
    const size_t count = ids.size() - before;
    if (count > maxIds)
      return Status::ok();
    entry.bytes = static_cast<uint8_t>(word.size());
    entry.count = static_cast<uint8_t>(count);
    std::memcpy(entry.text, word.data(), word.size());
    std::copy(ids.begin() + static_cast<ptrdiff_t>(before), ids.end(),
              entry.ids);
    return Status::ok();
  }

private:
  static constexpr size_t maxBytes = 26, maxIds = 9;
  struct Entry { // 64 bytes.
    uint8_t bytes = 0, count = 0;
    char text[maxBytes];
    int32_t ids[maxIds];
  };
  std::vector<Entry> entries; ///< None or a power of two.
};

} // namespace llmir

#endif // LLMIR_LIB_TOKENIZER_WORDCACHE_H
