//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Stages.h"
#include "Unicode.h"

#include <utf8proc.h>

namespace llmir {
namespace {

utf8proc_category_t categoryOf(uint32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

bool isRemoved(uint32_t c) {
  if (c == '\t' || c == '\n' || c == '\r')
    return false;
  if (c == 0 || c == 0xfffd)
    return true;
  utf8proc_category_t category = categoryOf(c);
  return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF ||
         category == UTF8PROC_CATEGORY_CO;
}

/// The ranges of the original implementation. They leave out some ideographs,
/// and Japanese and Korean letters on purpose.
bool isChinese(uint32_t c) {
  return (c >= 0x4e00 && c <= 0x9fff) || (c >= 0x3400 && c <= 0x4dbf) ||
         (c >= 0x20000 && c <= 0x2a6df) || (c >= 0x2a700 && c <= 0x2b73f) ||
         (c >= 0x2b740 && c <= 0x2b81f) || (c >= 0x2b920 && c <= 0x2ceaf) ||
         (c >= 0xf900 && c <= 0xfaff) || (c >= 0x2f800 && c <= 0x2fa1f);
}

/// Cleans and separates; returns whether the result is ASCII.
bool cleanText(std::string &text, uint8_t flags) {
  const bool cleans = flags & NormalizerStep::CleanText;
  const bool separates = flags & NormalizerStep::SeparateChinese;
  bool isAscii = true;
  std::string out;
  out.reserve(text.size());
  for (std::string_view rest = text; !rest.empty();) {
    const Utf8Char c = firstUtf8Char(rest);
    const std::string_view bytes = rest.substr(0, c.bytes);
    rest.remove_prefix(c.bytes);
    if (c.codePoint > ' ' && c.codePoint < 0x7f) {
      out += bytes[0];
      continue;
    }
    if (cleans && isRemoved(c.codePoint))
      continue;
    if (cleans && isWhiteSpace(c.codePoint)) {
      out += ' ';
      continue;
    }
    isAscii &= c.bytes == 1;
    const bool alone = separates && isChinese(c.codePoint);
    if (alone)
      out += ' ';
    out += bytes;
    if (alone)
      out += ' ';
  }
  text = std::move(out);
  return isAscii;
}

void removeNonspacingMarks(std::string &text) {
  std::string out;
  out.reserve(text.size());
  for (std::string_view rest = text; !rest.empty();) {
    const Utf8Char c = firstUtf8Char(rest);
    // Nothing below U+0300 is a mark.
    if (c.codePoint < 0x300 || categoryOf(c.codePoint) != UTF8PROC_CATEGORY_MN)
      out += rest.substr(0, c.bytes);
    rest.remove_prefix(c.bytes);
  }
  text = std::move(out);
}

} // namespace

Status normalizeBert(std::string &text, uint8_t flags) {
  const bool isAscii = cleanText(text, flags);
  if ((flags & NormalizerStep::RemoveAccents) && !isAscii) {
    LLMIR_RETURN_IF_ERROR(toUnicodeForm(text, UnicodeForm::NFD));
    removeNonspacingMarks(text);
  }
  if (!(flags & NormalizerStep::LowercaseLetters))
    return Status::ok();
  if (!isAscii) {
    lowercase(text);
    return Status::ok();
  }
  for (char &c : text)
    if (c >= 'A' && c <= 'Z')
      c = static_cast<char>(c - 'A' + 'a');
  return Status::ok();
}

} // namespace llmir
