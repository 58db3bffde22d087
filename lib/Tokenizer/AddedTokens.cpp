//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AddedTokens.h"
#include "Unicode.h"

#include <algorithm>
#include <cstring>

namespace llmir {
namespace {

size_t lastCharacter(std::string_view text) {
  size_t at = text.size() - 1;
  while ((static_cast<uint8_t>(text[at]) & 0xc0) == 0x80)
    --at;
  return at;
}

bool endsWithWord(std::string_view text) {
  return !text.empty() &&
         isWordCharacter(
             firstUtf8Char(text.substr(lastCharacter(text))).codePoint);
}

bool beginsWithWord(std::string_view text) {
  return !text.empty() && isWordCharacter(firstUtf8Char(text).codePoint);
}

/// The position at which trailing white space begins.
size_t trailingSpace(std::string_view text) {
  while (!text.empty()) {
    size_t last = lastCharacter(text);
    if (!isWhiteSpace(firstUtf8Char(text.substr(last)).codePoint))
      break;
    text = text.substr(0, last);
  }
  return text.size();
}

/// Bytes of leading white space.
size_t leadingSpace(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    Utf8Char c = firstUtf8Char(text.substr(at));
    if (!isWhiteSpace(c.codePoint))
      break;
    at += c.bytes;
  }
  return at;
}

} // namespace

void AddedTokenMatcher::add(std::string text, const AddedToken &token) {
  if (!text.empty())
    entries.push_back({std::move(text), token.id, token.flags});
}

void AddedTokenMatcher::finish() {
  std::sort(entries.begin(), entries.end(),
            [](const Entry &a, const Entry &b) { return a.text < b.text; });
  uint32_t at = 0;
  for (int byte = 0; byte < 256; ++byte) {
    byFirstByte[byte] = at;
    while (at < entries.size() &&
           static_cast<uint8_t>(entries[at].text[0]) == byte)
      ++at;
    if (byFirstByte[byte] == at)
      continue;
    // In sorted texts, what the first and the last one share.
    const std::string &first = entries[byFirstByte[byte]].text;
    const std::string &last = entries[at - 1].text;
    const auto differ =
        std::mismatch(first.begin(), first.end(), last.begin(), last.end());
    commonBytes[byte] = static_cast<uint32_t>(differ.first - first.begin());
  }
  byFirstByte[256] = at;
}

/// Whether an entry may begin at a position: few bytes begin one, but if each
/// token begins with the character that replaces spaces, every word does.
bool AddedTokenMatcher::mayBegin(std::string_view text, size_t at) const {
  const auto byte = static_cast<uint8_t>(text[at]);
  const uint32_t first = byFirstByte[byte], common = commonBytes[byte];
  return first < byFirstByte[byte + 1] && text.size() - at >= common &&
         std::memcmp(text.data() + at, entries[first].text.data(), common) == 0;
}

const AddedTokenMatcher::Entry *
AddedTokenMatcher::longestAt(std::string_view text) const {
  uint8_t first = static_cast<uint8_t>(text[0]);
  auto begin = entries.begin() + byFirstByte[first];
  auto end = entries.begin() + byFirstByte[first + 1];
  const Entry *longest = nullptr;
  // [begin, end) are the entries that start with the text's first `depth`
  // bytes; an entry of exactly that length comes first.
  for (size_t depth = 1; begin != end; ++depth) {
    if (begin->text.size() == depth)
      longest = &*begin;
    if (depth == text.size())
      break;
    auto byteAt = [depth](const Entry &entry) {
      return entry.text.size() > depth ? static_cast<uint8_t>(entry.text[depth])
                                       : -1;
    };
    int wanted = static_cast<uint8_t>(text[depth]);
    begin =
        std::lower_bound(begin, end, wanted, [&](const Entry &entry, int byte) {
          return byteAt(entry) < byte;
        });
    end =
        std::upper_bound(begin, end, wanted, [&](int byte, const Entry &entry) {
          return byte < byteAt(entry);
        });
  }
  return longest;
}

void AddedTokenMatcher::split(std::string_view text, bool matchSpecial,
                              std::vector<Part> &parts) const {
  size_t last = 0; // End of the last token found.
  for (size_t at = 0; at < text.size() && !entries.empty();) {
    if (!mayBegin(text, at)) {
      ++at;
      continue;
    }
    const Entry *entry = longestAt(text.substr(at));
    if (!entry) {
      ++at;
      continue;
    }
    size_t begin = at, end = at + entry->text.size();
    at = end;
    if ((entry->flags & AddedToken::Special) && !matchSpecial)
      continue;
    if ((entry->flags & AddedToken::SingleWord) &&
        (endsWithWord(text.substr(0, begin)) ||
         beginsWithWord(text.substr(end))))
      continue;
    // White space taken by the preceding token belongs to it.
    begin = std::max(begin, last);
    if (entry->flags & AddedToken::LeftStrip)
      begin = std::max(last, trailingSpace(text.substr(0, begin)));
    if (entry->flags & AddedToken::RightStrip)
      end += leadingSpace(text.substr(end));
    end = std::max(end, begin);
    if (last < begin)
      parts.push_back({last, begin, -1});
    parts.push_back({begin, end, entry->id});
    last = end;
  }
  if (last < text.size())
    parts.push_back({last, text.size(), -1});
}

} // namespace llmir
