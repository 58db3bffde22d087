//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PyString.h"
#include "Unicode.h"

#include <algorithm>
#include <cstring>

namespace llmir::chat {

size_t findText(std::string_view text, std::string_view what, size_t from) {
  if (from > text.size())
    return std::string_view::npos;
  text.remove_prefix(from);
  // The library's search by string_view is quadratic.
  const void *found =
      memmem(text.data(), text.size(), what.data(), what.size());
  return found ? from + static_cast<size_t>(static_cast<const char *>(found) -
                                            text.data())
               : std::string_view::npos;
}

size_t findLastText(std::string_view text, std::string_view what) {
  if (what.size() <= 8)
    return text.rfind(what);
  std::string backward(text.rbegin(), text.rend());
  std::string wanted(what.rbegin(), what.rend());
  size_t found = findText(backward, wanted);
  return found == std::string_view::npos ? found
                                         : text.size() - found - what.size();
}

static bool isStripped(uint32_t c, std::string_view text,
                       const std::string *chars) {
  return chars ? chars->find(text) != std::string::npos : isSpace(c);
}

std::string_view stripText(std::string_view text, Sides sides,
                           const std::string *chars) {
  size_t begin = 0, end = text.size();
  if (sides != Sides::Right)
    while (begin < end) {
      size_t next = begin;
      uint32_t c = nextCharacter(text, next);
      if (!isStripped(c, text.substr(begin, next - begin), chars))
        break;
      begin = next;
    }
  if (sides != Sides::Left)
    while (end > begin) {
      size_t previous = end;
      uint32_t c = previousCharacter(text, previous);
      if (!isStripped(c, text.substr(previous, end - previous), chars))
        break;
      end = previous;
    }
  return text.substr(begin, end - begin);
}

using Pieces = std::vector<std::string_view>;

static void addPiece(Heap &heap, Pieces &pieces, std::string_view piece) {
  heap.step();
  if (pieces.size() == pieces.capacity())
    heap.reserve(pieces.size() * 3 * sizeof piece);
  pieces.push_back(piece);
}

static size_t endOfWord(std::string_view text, size_t at) {
  while (at < text.size()) {
    size_t next = at;
    if (isSpace(nextCharacter(text, next)))
      break;
    at = next;
  }
  return at;
}

static size_t beginOfWord(std::string_view text, size_t end) {
  while (end > 0) {
    size_t previous = end;
    if (isSpace(previousCharacter(text, previous)))
      break;
    end = previous;
  }
  return end;
}

static Pieces splitWords(Heap &heap, std::string_view text, int64_t limit) {
  Pieces pieces;
  for (;;) {
    text = stripText(text, Sides::Left);
    if (text.empty())
      return pieces;
    bool isLast = limit >= 0 && static_cast<int64_t>(pieces.size()) >= limit;
    size_t end = isLast ? text.size() : endOfWord(text, 0);
    addPiece(heap, pieces, text.substr(0, end));
    text.remove_prefix(end);
  }
}

static Pieces splitWordsFromRight(Heap &heap, std::string_view text,
                                  int64_t limit) {
  Pieces pieces;
  for (;;) {
    text = stripText(text, Sides::Right);
    if (text.empty())
      break;
    bool isLast = limit >= 0 && static_cast<int64_t>(pieces.size()) >= limit;
    size_t begin = isLast ? 0 : beginOfWord(text, text.size());
    addPiece(heap, pieces, text.substr(begin));
    text = text.substr(0, begin);
  }
  std::reverse(pieces.begin(), pieces.end());
  return pieces;
}

std::vector<std::string_view> splitText(Heap &heap, std::string_view text,
                                        const std::string *separator,
                                        int64_t limit, bool fromRight) {
  heap.stepBytes(text.size());
  if (!separator) {
    heap.stepCharacters(text.size());
    return fromRight ? splitWordsFromRight(heap, text, limit)
                     : splitWords(heap, text, limit);
  }
  if (separator->empty())
    raise(ErrorKind::Value, "empty separator");
  Pieces pieces;
  auto mayGoOn = [&] {
    return limit < 0 || static_cast<int64_t>(pieces.size()) < limit;
  };
  while (mayGoOn()) {
    size_t found =
        fromRight ? findLastText(text, *separator) : findText(text, *separator);
    if (found == std::string_view::npos)
      break;
    size_t after = found + separator->size();
    addPiece(heap, pieces,
             fromRight ? text.substr(after) : text.substr(0, found));
    text = fromRight ? text.substr(0, found) : text.substr(after);
  }
  addPiece(heap, pieces, text);
  if (fromRight)
    std::reverse(pieces.begin(), pieces.end());
  return pieces;
}

static bool isLineEnd(uint32_t c) {
  return (c >= 0x0a && c <= 0x0d) || (c >= 0x1c && c <= 0x1e) || c == 0x85 ||
         c == 0x2028 || c == 0x2029;
}

std::vector<std::string_view> splitLines(Heap &heap, std::string_view text,
                                         bool keepEnds) {
  heap.stepCharacters(text.size());
  Pieces pieces;
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    size_t end = at;
    uint32_t c = nextCharacter(text, at);
    if (!isLineEnd(c))
      continue;
    if (c == '\r' && at < text.size() && text[at] == '\n')
      ++at;
    addPiece(heap, pieces, text.substr(begin, (keepEnds ? at : end) - begin));
    begin = at;
  }
  if (begin < text.size())
    addPiece(heap, pieces, text.substr(begin));
  return pieces;
}

/// Puts `to` before every character and at the end.
static std::string interleave(Heap &heap, std::string_view text,
                              std::string_view to, int64_t limit) {
  TextBuilder result(heap);
  size_t at = 0;
  for (int64_t count = 0; limit < 0 || count < limit; ++count) {
    result.append(to);
    if (at >= text.size())
      return result.take();
    size_t next = std::min(at + characterSize(text[at]), text.size());
    result.append(text.substr(at, next - at));
    at = next;
  }
  result.append(text.substr(at));
  return result.take();
}

std::string replaceText(Heap &heap, std::string_view text,
                        std::string_view from, std::string_view to,
                        int64_t limit) {
  heap.stepBytes(text.size());
  if (from.empty())
    return interleave(heap, text, to, limit);
  TextBuilder result(heap);
  size_t at = 0;
  for (int64_t count = 0; limit < 0 || count < limit; ++count) {
    size_t found = findText(text, from, at);
    if (found == std::string_view::npos)
      break;
    result.append(text.substr(at, found - at));
    result.append(to);
    at = found + from.size();
  }
  result.append(text.substr(at));
  return result.take();
}

std::string padText(Heap &heap, std::string_view text, int64_t left,
                    int64_t right, std::string_view fill) {
  TextBuilder result(heap);
  auto add = [&](int64_t count) {
    if (count > 0 && static_cast<uint64_t>(count) > heap.limits.memoryBytes)
      heap.reserve(SIZE_MAX);
    if (fill.size() == 1 && count > 0)
      result.append(static_cast<size_t>(count), fill[0]);
    else
      for (int64_t i = 0; i < count; ++i)
        result.append(fill);
  };
  add(left);
  result.append(text);
  add(right);
  return result.take();
}

std::string centerText(Heap &heap, std::string_view text, int64_t width,
                       std::string_view fill) {
  auto length = static_cast<int64_t>(countCharacters(text));
  if (width <= length)
    return std::string(text);
  int64_t margin = width - length;
  int64_t left = margin / 2 + (margin & width & 1);
  return padText(heap, text, left, margin - left, fill);
}

} // namespace llmir::chat
