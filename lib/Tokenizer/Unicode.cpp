//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Unicode.h"

#include <utf8proc.h>

namespace llmir {
namespace {

/// Properties of a lead byte: the character's length (0 = not a lead byte) and
/// the range of its second byte, which excludes overlong forms, surrogates and
/// code points above U+10FFFF.
struct LeadByte {
  uint8_t bytes, low, high;
};

LeadByte leadByte(uint8_t byte) {
  if (byte >= 0xc2 && byte <= 0xdf)
    return {2, 0x80, 0xbf};
  if (byte == 0xe0)
    return {3, 0xa0, 0xbf};
  if (byte == 0xed)
    return {3, 0x80, 0x9f};
  if (byte >= 0xe1 && byte <= 0xef)
    return {3, 0x80, 0xbf};
  if (byte == 0xf0)
    return {4, 0x90, 0xbf};
  if (byte >= 0xf1 && byte <= 0xf3)
    return {4, 0x80, 0xbf};
  if (byte == 0xf4)
    return {4, 0x80, 0x8f};
  return {0, 0, 0};
}

bool isContinuation(uint8_t byte) { return (byte & 0xc0) == 0x80; }

} // namespace

size_t validUtf8Length(std::string_view text) {
  const auto *bytes = reinterpret_cast<const uint8_t *>(text.data());
  size_t i = 0, size = text.size();
  while (i < size) {
    if (bytes[i] < 0x80) {
      ++i;
      continue;
    }
    LeadByte lead = leadByte(bytes[i]);
    if (lead.bytes == 0 || size - i < lead.bytes || bytes[i + 1] < lead.low ||
        bytes[i + 1] > lead.high)
      return i;
    for (size_t k = 2; k < lead.bytes; ++k)
      if (!isContinuation(bytes[i + k]))
        return i;
    i += lead.bytes;
  }
  return size;
}

void appendUtf8(std::string &out, uint32_t codePoint) {
  if (codePoint < 0x80) {
    out += static_cast<char>(codePoint);
  } else if (codePoint < 0x800) {
    out += static_cast<char>(0xc0 | codePoint >> 6);
    out += static_cast<char>(0x80 | (codePoint & 0x3f));
  } else if (codePoint < 0x10000) {
    out += static_cast<char>(0xe0 | codePoint >> 12);
    out += static_cast<char>(0x80 | (codePoint >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (codePoint & 0x3f));
  } else {
    out += static_cast<char>(0xf0 | codePoint >> 18);
    out += static_cast<char>(0x80 | (codePoint >> 12 & 0x3f));
    out += static_cast<char>(0x80 | (codePoint >> 6 & 0x3f));
    out += static_cast<char>(0x80 | (codePoint & 0x3f));
  }
}

bool isWhiteSpace(uint32_t c) {
  return (c >= 0x09 && c <= 0x0d) || c == 0x20 || c == 0x85 || c == 0xa0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 ||
         c == 0x2029 || c == 0x202f || c == 0x205f || c == 0x3000;
}

bool isWordCharacter(uint32_t c) {
  if (c == 0x200c || c == 0x200d)
    return true;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(c))) {
  case UTF8PROC_CATEGORY_LU:
  case UTF8PROC_CATEGORY_LL:
  case UTF8PROC_CATEGORY_LT:
  case UTF8PROC_CATEGORY_LM:
  case UTF8PROC_CATEGORY_LO:
  case UTF8PROC_CATEGORY_NL:
  case UTF8PROC_CATEGORY_ND:
  case UTF8PROC_CATEGORY_MN:
  case UTF8PROC_CATEGORY_MC:
  case UTF8PROC_CATEGORY_ME:
  case UTF8PROC_CATEGORY_PC:
    return true;
  default:
    return false;
  }
}

void Utf8Repair::feed(uint8_t byte, std::string &out) {
  if (have > 0) {
    if (byte >= low && byte <= high) {
      pending[have++] = byte;
      low = 0x80, high = 0xbf;
      if (have == need) {
        out.append(reinterpret_cast<const char *>(pending), have);
        have = 0;
      }
      return;
    }
    out += replacementCharacter;
    have = 0;
  }
  if (byte < 0x80) {
    out += static_cast<char>(byte);
    return;
  }
  LeadByte lead = leadByte(byte);
  if (lead.bytes == 0) {
    out += replacementCharacter;
    return;
  }
  pending[0] = byte;
  have = 1;
  need = lead.bytes, low = lead.low, high = lead.high;
}

void Utf8Repair::finish(std::string &out) {
  if (have > 0)
    out += replacementCharacter;
  have = 0;
}

} // namespace llmir
