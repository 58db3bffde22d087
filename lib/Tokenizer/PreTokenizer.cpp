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

#include <algorithm>

namespace llmir {

void partitionString(std::string_view text, std::string_view pattern,
                     std::vector<TextRange> &ranges) {
  size_t at = 0;
  while (at < text.size()) {
    size_t found = std::min(text.find(pattern, at), text.size());
    if (found > at)
      ranges.push_back(
          {static_cast<uint32_t>(at), static_cast<uint32_t>(found), false});
    if (found == text.size())
      break;
    at = found + pattern.size();
    ranges.push_back(
        {static_cast<uint32_t>(found), static_cast<uint32_t>(at), true});
  }
}

static bool isDecimalDigit(uint32_t c) {
  if (c < 0x80)
    return c >= '0' && c <= '9';
  return utf8proc_category(static_cast<utf8proc_int32_t>(c)) ==
         UTF8PROC_CATEGORY_ND;
}

void partitionDigits(std::string_view text, bool ofWords,
                     std::vector<TextRange> &ranges) {
  auto append = [&](size_t begin, size_t end, bool isMatch) {
    if (begin < end)
      ranges.push_back(
          {static_cast<uint32_t>(begin), static_cast<uint32_t>(end), isMatch});
  };
  std::vector<size_t> digits; // The positions of those of one number.
  size_t last = 0, at = 0;    // The end of the last range.
  while (at < text.size()) {
    digits.clear();
    size_t end = at;
    uint32_t next = 0;
    for (size_t bytes; end < text.size(); end += bytes) {
      const Utf8Char c = firstUtf8Char(text.substr(end));
      next = c.codePoint;
      bytes = c.bytes;
      if (!isDecimalDigit(next))
        break;
      digits.push_back(end);
    }
    const bool isInside = end < text.size() && isWordCharacter(next);
    if (!digits.empty() && !(ofWords && isInside)) {
      append(last, at, false);
      // The first group has what remains.
      size_t begin = at;
      for (size_t i = (digits.size() - 1) % 3 + 1; i < digits.size(); i += 3) {
        append(begin, digits[i], true);
        begin = digits[i];
      }
      append(begin, end, true);
      last = end;
    }
    at = end;
    if (at < text.size())
      at += firstUtf8Char(text.substr(at)).bytes;
  }
  append(last, text.size(), false);
}

namespace {

/// Joins each range with the preceding one of equal kind (Contiguous), or each
/// match with the preceding range unless that is also a match.
void joinForward(std::vector<TextRange> &ranges, bool equalKinds) {
  size_t kept = 0;
  bool previous = false;
  for (TextRange range : ranges) {
    bool join =
        equalKinds ? range.isMatch == previous : range.isMatch && !previous;
    previous = range.isMatch;
    if (join && kept > 0)
      ranges[kept - 1].end = range.end;
    else
      ranges[kept++] = range;
  }
  ranges.resize(kept);
}

/// Joins each match with the following range unless that is also a match.
void joinBackward(std::vector<TextRange> &ranges) {
  size_t kept = ranges.size();
  bool following = false;
  for (size_t i = ranges.size(); i-- > 0;) {
    TextRange range = ranges[i];
    if (range.isMatch && !following && kept < ranges.size())
      ranges[kept].begin = range.begin;
    else
      ranges[--kept] = range;
    following = range.isMatch;
  }
  ranges.erase(ranges.begin(), ranges.begin() + static_cast<ptrdiff_t>(kept));
}

void applyBehavior(PreTokenizerStep::Behavior behavior,
                   std::vector<TextRange> &ranges) {
  switch (behavior) {
  case PreTokenizerStep::Isolated:
  case PreTokenizerStep::Removed:
  case PreTokenizerStep::BehaviorCount:
    break;
  case PreTokenizerStep::Contiguous:
    joinForward(ranges, /*equalKinds=*/true);
    break;
  case PreTokenizerStep::MergedWithPrevious:
    joinForward(ranges, /*equalKinds=*/false);
    break;
  case PreTokenizerStep::MergedWithNext:
    joinBackward(ranges);
    break;
  }
}

/// Rebuilds the text; `append(text, piece, out)` writes a piece's new text.
template <typename Append>
Status rewrite(Pieces &pieces, size_t expectedBytes, const GrowthLimit &limit,
               const char *stage, Append append) {
  std::string out;
  out.reserve(expectedBytes);
  for (Pieces::Piece &piece : pieces.pieces) {
    std::string_view text = std::string_view(pieces.text)
                                .substr(piece.begin, piece.end - piece.begin);
    auto begin = static_cast<uint32_t>(out.size());
    append(text, piece, out);
    LLMIR_RETURN_IF_ERROR(limit.check(out.size(), stage));
    piece.begin = begin;
    piece.end = static_cast<uint32_t>(out.size());
  }
  pieces.text = std::move(out);
  return Status::ok();
}

} // namespace

Expected<PreTokenizer> PreTokenizer::build(PreTokenizerStep step) {
  PreTokenizer result;
  if (step.kind == PreTokenizerStep::SplitRegex) {
    Expected<Regex> regex = Regex::compile(step.pattern);
    if (!regex)
      return regex.takeStatus().withContext("pre-tokenizer Split");
    result.regex = std::move(*regex);
  }
  bool needsPattern = step.kind == PreTokenizerStep::SplitString ||
                      step.kind == PreTokenizerStep::Metaspace;
  if (needsPattern && step.pattern.empty())
    return Status(StatusCode::InvalidFile,
                  "pre-tokenizer: the pattern to split by is empty");
  if (step.kind == PreTokenizerStep::Metaspace &&
      firstUtf8Char(step.pattern).bytes != step.pattern.size())
    return Status(StatusCode::InvalidFile,
                  "pre-tokenizer Metaspace: the replacement must be one "
                  "character");
  result.step = std::move(step);
  return result;
}

Status PreTokenizer::split(Pieces &pieces) const {
  std::vector<Pieces::Piece> result;
  std::vector<TextRange> ranges;
  for (Pieces::Piece piece : pieces.pieces) {
    std::string_view text = std::string_view(pieces.text)
                                .substr(piece.begin, piece.end - piece.begin);
    // A single character cannot be split.
    if (step.behavior != PreTokenizerStep::Removed && !text.empty() &&
        firstUtf8Char(text).bytes == text.size()) {
      result.push_back(piece);
      continue;
    }
    ranges.clear();
    if (regex)
      LLMIR_RETURN_IF_ERROR(regex->partition(text, ranges));
    else if (step.kind == PreTokenizerStep::DigitGroups)
      partitionDigits(text, !step.pattern.empty(), ranges);
    else
      partitionString(text, step.pattern, ranges);
    if (step.invert)
      for (TextRange &range : ranges)
        range.isMatch = !range.isMatch;
    applyBehavior(step.behavior, ranges);
    for (TextRange range : ranges) {
      bool remove = step.behavior == PreTokenizerStep::Removed && range.isMatch;
      if (!remove && range.begin < range.end)
        result.push_back({piece.begin + range.begin, piece.begin + range.end,
                          piece.isFirst && range.begin == 0});
    }
  }
  pieces.pieces = std::move(result);
  return Status::ok();
}

Status PreTokenizer::prefixSpace(Pieces &pieces,
                                 const GrowthLimit &limit) const {
  return rewrite(
      pieces, pieces.text.size() + pieces.pieces.size(), limit,
      "pre-tokenizer with a space before each piece",
      [](std::string_view text, const Pieces::Piece &, std::string &out) {
        if (!text.empty() && text[0] != ' ')
          out += ' ';
        out.append(text);
      });
}

Status PreTokenizer::mapBytes(Pieces &pieces, const GrowthLimit &limit) const {
  return rewrite(pieces, pieces.text.size() + pieces.text.size() / 4, limit,
                 "pre-tokenizer ByteLevel",
                 [](std::string_view text, const Pieces::Piece &,
                    std::string &out) { appendByteLevel(out, text); });
}

Status PreTokenizer::metaspace(Pieces &pieces, const GrowthLimit &limit) const {
  const char *stage = "pre-tokenizer Metaspace";
  const size_t bytes = replacedBytes(pieces.text, " ", step.pattern);
  LLMIR_RETURN_IF_ERROR(limit.check(bytes, stage));
  return rewrite(
      pieces, bytes + pieces.pieces.size() * step.pattern.size(), limit, stage,
      [&](std::string_view text, const Pieces::Piece &piece, std::string &out) {
        std::string replaced = replaceAll(text, " ", step.pattern);
        bool wanted = step.scheme == PreTokenizerStep::Always ||
                      (step.scheme == PreTokenizerStep::First && piece.isFirst);
        if (wanted &&
            replaced.compare(0, step.pattern.size(), step.pattern) != 0)
          out += step.pattern;
        out += replaced;
      });
}

Status PreTokenizer::apply(Pieces &pieces, const GrowthLimit &limit) const {
  switch (step.kind) {
  case PreTokenizerStep::SplitRegex:
  case PreTokenizerStep::SplitString:
  case PreTokenizerStep::DigitGroups:
    return split(pieces);
  case PreTokenizerStep::PrefixSpace:
    return prefixSpace(pieces, limit);
  case PreTokenizerStep::ByteLevel:
    return mapBytes(pieces, limit);
  case PreTokenizerStep::Metaspace:
    return metaspace(pieces, limit);
  case PreTokenizerStep::KindCount:
    break;
  }
  return Status::ok();
}

} // namespace llmir
