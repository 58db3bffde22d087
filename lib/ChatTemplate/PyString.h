//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The algorithms of Python's str that methods and filters share. Positions are
// bytes.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CHATTEMPLATE_PYSTRING_H
#define LLMIR_LIB_CHATTEMPLATE_PYSTRING_H

#include "Operators.h"

#include <string_view>
#include <vector>

namespace llmir::chat {

/// The first or last place of a text in another, or npos, in linear time.
size_t findText(std::string_view text, std::string_view what, size_t from = 0);
size_t findLastText(std::string_view text, std::string_view what);

enum class Sides : uint8_t { Left, Right, Both };

/// strip(): without `chars`, white space.
std::string_view stripText(std::string_view text, Sides sides,
                           const std::string *chars = nullptr);
/// split() and rsplit(); a null separator is white space, a negative limit
/// none.
std::vector<std::string_view> splitText(Heap &heap, std::string_view text,
                                        const std::string *separator,
                                        int64_t limit, bool fromRight);
std::vector<std::string_view> splitLines(Heap &heap, std::string_view text,
                                         bool keepEnds);
/// replace(); a negative limit is none.
std::string replaceText(Heap &heap, std::string_view text,
                        std::string_view from, std::string_view to,
                        int64_t limit);
/// Pads to a width in characters.
std::string padText(Heap &heap, std::string_view text, int64_t left,
                    int64_t right, std::string_view fill);
/// center(); Python's choice of the side that gets one more.
std::string centerText(Heap &heap, std::string_view text, int64_t width,
                       std::string_view fill);

} // namespace llmir::chat

#endif // LLMIR_LIB_CHATTEMPLATE_PYSTRING_H
