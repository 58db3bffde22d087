//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Utf8Ranges.h"

#include <algorithm>

namespace llmir::constraint {

const char *readCharacterCode(std::string_view source, size_t &at,
                              size_t digits, uint32_t &character) {
  uint64_t value = 0; // Of at most 8 digits, or of too many.
  for (size_t i = 0; i < digits; ++i, ++at) {
    const char c = at < source.size() ? source[at] : '\0';
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0)
      return "expected a hexadecimal digit";
    value =
        std::min<uint64_t>(value * 16 + static_cast<uint64_t>(digit), 0x110000);
  }
  if (value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
    return "this is no character";
  character = static_cast<uint32_t>(value);
  return nullptr;
}

void appendUtf8(uint32_t character, std::string &text) {
  auto add = [&](uint32_t byte) { text += static_cast<char>(byte); };
  auto addRest = [&](int shift) { add(0x80 | ((character >> shift) & 0x3f)); };
  if (character < 0x80)
    return add(character);
  if (character < 0x800) {
    add(0xc0 | (character >> 6));
    return addRest(0);
  }
  if (character < 0x10000) {
    add(0xe0 | (character >> 12));
    addRest(6);
    return addRest(0);
  }
  add(0xf0 | (character >> 18));
  addRest(12);
  addRest(6);
  addRest(0);
}

/// A range of characters with encodings of one length. It is split until all
/// but the last bytes are either the same or free.
static void split(uint32_t first, uint32_t last,
                  std::vector<ByteSequence> &sequences) {
  for (uint32_t bits = 6; bits <= 18; bits += 6) {
    const uint32_t mask = (uint32_t(1) << bits) - 1;
    if (last <= mask || (first & ~mask) == (last & ~mask))
      continue;
    if ((first & mask) != 0) {
      split(first, first | mask, sequences);
      return split((first | mask) + 1, last, sequences);
    }
    if ((last & mask) != mask) {
      split(first, (last & ~mask) - 1, sequences);
      return split(last & ~mask, last, sequences);
    }
  }
  std::string from, to;
  appendUtf8(first, from);
  appendUtf8(last, to);
  ByteSequence sequence;
  for (size_t i = 0; i < from.size(); ++i)
    sequence.push_back(
        {static_cast<uint8_t>(from[i]), static_cast<uint8_t>(to[i])});
  sequences.push_back(std::move(sequence));
}

void addUtf8(CodePoints range, std::vector<ByteSequence> &sequences) {
  constexpr CodePoints parts[] = {{0, 0x7f},
                                  {0x80, 0x7ff},
                                  {0x800, 0xd7ff},
                                  {0xe000, 0xffff},
                                  {0x10000, 0x10ffff}};
  for (const CodePoints &part : parts) {
    const uint32_t first = std::max(range.first, part.first);
    const uint32_t last = std::min(range.last, part.last);
    if (first > last)
      continue;
    if (last < 0x80)
      sequences.push_back(
          {{static_cast<uint8_t>(first), static_cast<uint8_t>(last)}});
    else
      split(first, last, sequences);
  }
}

} // namespace llmir::constraint
