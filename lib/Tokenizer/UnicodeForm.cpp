//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The normalization forms: decomposition, canonical order, composition. Tables
// and composition are utf8proc's; its ordering of marks is quadratic.
//
//===----------------------------------------------------------------------===//

#include "Unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <tuple>
#include <vector>

namespace llmir {
namespace {

using CodePoints = std::vector<utf8proc_int32_t>;

utf8proc_option_t optionsOf(UnicodeForm form) {
  const bool composes = form == UnicodeForm::NFC || form == UnicodeForm::NFKC;
  const bool isCompatible =
      form == UnicodeForm::NFKC || form == UnicodeForm::NFKD;
  return static_cast<utf8proc_option_t>(
      UTF8PROC_STABLE | (composes ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE) |
      (isCompatible ? UTF8PROC_COMPAT : 0));
}

Status normalizationFailed(utf8proc_ssize_t code) {
  return Status(StatusCode::Internal,
                std::string("Unicode normalization failed: ") +
                    utf8proc_errmsg(code));
}

Status decompose(std::string_view text, utf8proc_option_t options,
                 CodePoints &points) {
  points.reserve(text.size());
  // No character decomposes into more than 18 (Annex 15, table 7).
  constexpr utf8proc_ssize_t most = 32;
  utf8proc_int32_t parts[most];
  while (!text.empty()) {
    Utf8Char c = firstUtf8Char(text);
    text.remove_prefix(c.bytes);
    utf8proc_ssize_t count =
        utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c.codePoint),
                                parts, most, options, nullptr);
    if (count < 0 || count > most)
      return normalizationFailed(count < 0 ? count : UTF8PROC_ERROR_OVERFLOW);
    points.insert(points.end(), parts, parts + count);
  }
  return Status::ok();
}

int combiningClass(utf8proc_int32_t point) {
  // Nothing below U+0300 combines.
  return point < 0x300 ? 0 : utf8proc_get_property(point)->combining_class;
}

/// A mark with its sort keys: its class, then its position in the text.
struct Mark {
  int combiningClass;
  size_t place;
  utf8proc_int32_t point;

  bool operator<(const Mark &other) const {
    return std::tie(combiningClass, place) <
           std::tie(other.combiningClass, other.place);
  }
};

/// Sorts each run of marks by combining class, stably. (clang warns about
/// std::stable_sort of libstdc++ 12.)
void orderMarks(CodePoints &points) {
  auto isBase = [](utf8proc_int32_t point) {
    return combiningClass(point) == 0;
  };
  auto isBefore = [](utf8proc_int32_t a, utf8proc_int32_t b) {
    return combiningClass(a) < combiningClass(b);
  };
  std::vector<Mark> marks;
  for (auto end = points.begin(); end != points.end();) {
    auto first = std::find_if_not(end, points.end(), isBase);
    end = std::find_if(first, points.end(), isBase);
    if (std::is_sorted(first, end, isBefore))
      continue;
    marks.clear();
    for (auto it = first; it != end; ++it)
      marks.push_back({combiningClass(*it), marks.size(), *it});
    std::sort(marks.begin(), marks.end());
    for (const Mark &mark : marks)
      *first++ = mark.point;
  }
}

} // namespace

Status toUnicodeForm(std::string &text, UnicodeForm form) {
  const utf8proc_option_t options = optionsOf(form);
  CodePoints points;
  LLMIR_RETURN_IF_ERROR(decompose(text, options, points));
  orderMarks(points);
  const utf8proc_ssize_t count = utf8proc_normalize_utf32(
      points.data(), static_cast<utf8proc_ssize_t>(points.size()), options);
  if (count < 0)
    return normalizationFailed(count);
  points.resize(static_cast<size_t>(count));
  std::string out;
  out.reserve(text.size());
  for (utf8proc_int32_t point : points)
    appendUtf8(out, static_cast<uint32_t>(point));
  text = std::move(out);
  return Status::ok();
}

} // namespace llmir
