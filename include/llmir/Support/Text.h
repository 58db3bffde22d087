//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Small operations on texts: ends of names, letters of ASCII, sizes in words.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_SUPPORT_TEXT_H
#define LLMIR_SUPPORT_TEXT_H

#include <string>
#include <string_view>

namespace llmir {

inline bool startsWith(std::string_view text, std::string_view start) {
  return text.substr(0, start.size()) == start;
}

inline bool endsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         text.substr(text.size() - end.size()) == end;
}

/// The text with small letters of ASCII; other bytes are kept.
std::string lowerCase(std::string_view text);

/// "1.5 GB", "12 kB": decimal units.
std::string formatBytes(double bytes);

} // namespace llmir

#endif // LLMIR_SUPPORT_TEXT_H
