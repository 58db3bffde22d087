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
#include <array>

namespace llmir {

/// Maximum length of a replacement.
constexpr size_t maxContentBytes = 256;

//===----------------------------------------------------------------------===//
// The byte-level alphabet
//===----------------------------------------------------------------------===//

namespace {

/// Printable bytes map to themselves, the other 68 to U+0100 and up.
struct ByteAlphabet {
  std::array<uint16_t, 256> character{};
  std::array<int16_t, 0x200> byte{};

  ByteAlphabet() {
    byte.fill(-1);
    uint16_t next = 0x100;
    for (int b = 0; b < 256; ++b) {
      bool printable = (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) ||
                       (b >= 0xae && b <= 0xff);
      character[b] = printable ? static_cast<uint16_t>(b) : next++;
      byte[character[b]] = static_cast<int16_t>(b);
    }
  }
};

const ByteAlphabet &byteAlphabet() {
  static const ByteAlphabet alphabet;
  return alphabet;
}

} // namespace

uint32_t byteLevelCharacter(uint8_t byte) {
  return byteAlphabet().character[byte];
}

int byteLevelByte(uint32_t codePoint) {
  return codePoint < 0x200 ? byteAlphabet().byte[codePoint] : -1;
}

void appendByteLevel(std::string &out, std::string_view text) {
  const ByteAlphabet &alphabet = byteAlphabet();
  for (char c : text)
    appendUtf8(out, alphabet.character[static_cast<uint8_t>(c)]);
}

size_t replacedBytes(std::string_view text, std::string_view pattern,
                     std::string_view content) {
  size_t bytes = text.size();
  if (pattern.size() == 1) {
    const auto count =
        static_cast<size_t>(std::count(text.begin(), text.end(), pattern[0]));
    return bytes - count + count * content.size();
  }
  for (size_t at = 0; (at = text.find(pattern, at)) != std::string_view::npos;
       at += pattern.size())
    bytes = bytes - pattern.size() + content.size();
  return bytes;
}

std::string replaceAll(std::string_view text, std::string_view pattern,
                       std::string_view content) {
  std::string out;
  out.reserve(text.size());
  if (pattern.size() == 1) {
    for (char c : text)
      if (c == pattern[0])
        out.append(content);
      else
        out += c;
    return out;
  }
  while (true) {
    size_t found = text.find(pattern);
    if (found == std::string_view::npos)
      break;
    out.append(text.substr(0, found));
    out.append(content);
    text.remove_prefix(found + pattern.size());
  }
  out.append(text);
  return out;
}

//===----------------------------------------------------------------------===//
// Normalization
//===----------------------------------------------------------------------===//

namespace {

bool isAscii(std::string_view text) {
  for (char c : text)
    if (static_cast<uint8_t>(c) >= 0x80)
      return false;
  return true;
}

Status toForm(std::string &text, UnicodeForm form) {
  return isAscii(text) ? Status::ok() : toUnicodeForm(text, form);
}

bool isCombiningMark(uint32_t c) {
  utf8proc_category_t category =
      utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category == UTF8PROC_CATEGORY_MN || category == UTF8PROC_CATEGORY_MC ||
         category == UTF8PROC_CATEGORY_ME;
}

/// Rebuilds the text from the characters that `map(codePoint, out)` appends.
template <typename Map> void mapCharacters(std::string &text, Map map) {
  std::string out;
  out.reserve(text.size());
  for (std::string_view rest = text; !rest.empty();) {
    Utf8Char c = firstUtf8Char(rest);
    rest.remove_prefix(c.bytes);
    map(c.codePoint, out);
  }
  text = std::move(out);
}

/// SentencePiece's `nmt` rules: removes control characters, unifies spaces.
void nmt(std::string &text) {
  mapCharacters(text, [](uint32_t c, std::string &out) {
    if ((c >= 0x01 && c <= 0x08) || c == 0x0b || (c >= 0x0e && c <= 0x1f) ||
        c == 0x7f || c == 0x8f || c == 0x9f)
      return;
    bool becomesSpace = c == 0x09 || c == 0x0a || c == 0x0c || c == 0x0d ||
                        c == 0x1680 || (c >= 0x200b && c <= 0x200f) ||
                        c == 0x2028 || c == 0x2029 || c == 0x2581 ||
                        c == 0xfeff || c == 0xfffd;
    appendUtf8(out, becomesSpace ? ' ' : c);
  });
}

void stripLeft(std::string &text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    Utf8Char c = firstUtf8Char(rest);
    if (!isWhiteSpace(c.codePoint))
      break;
    rest.remove_prefix(c.bytes);
  }
  text.erase(0, text.size() - rest.size());
}

void stripRight(std::string &text) {
  while (!text.empty()) {
    size_t last = text.size() - 1;
    while ((static_cast<uint8_t>(text[last]) & 0xc0) == 0x80)
      --last;
    if (!isWhiteSpace(
            firstUtf8Char(std::string_view(text).substr(last)).codePoint))
      break;
    text.resize(last);
  }
}

void stripMarksRight(std::string &text, std::string_view mark) {
  size_t kept = text.size();
  while (kept >= mark.size() &&
         text.compare(kept - mark.size(), mark.size(), mark) == 0)
    kept -= mark.size();
  text.resize(kept);
}

void collapseSpaces(std::string &text) {
  std::string out;
  out.reserve(text.size());
  for (char c : text)
    if (c != ' ' || (!out.empty() && out.back() != ' '))
      out += c;
  if (!out.empty() && out.back() == ' ')
    out.pop_back();
  text = std::move(out);
}

/// Replaces the matches in `ranges`, which cover the text.
Status replaceRanges(std::string &text, const std::vector<TextRange> &ranges,
                     std::string_view content, const GrowthLimit &limit) {
  size_t bytes = 0;
  for (TextRange range : ranges)
    bytes += range.isMatch ? content.size() : range.end - range.begin;
  LLMIR_RETURN_IF_ERROR(limit.check(bytes, "normalizer Replace"));
  std::string out;
  out.reserve(bytes);
  for (TextRange range : ranges)
    if (range.isMatch)
      out.append(content);
    else
      out.append(text, range.begin, range.end - range.begin);
  text = std::move(out);
  return Status::ok();
}

} // namespace

void lowercase(std::string &text) {
  mapCharacters(text, [](uint32_t c, std::string &out) {
    if (c == 0x130) { // The only character whose lower case has two.
      appendUtf8(out, 'i');
      appendUtf8(out, 0x307);
      return;
    }
    appendUtf8(out, static_cast<uint32_t>(
                        utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
  });
}

Expected<Normalizer> Normalizer::build(NormalizerStep step) {
  Normalizer result;
  if (step.kind == NormalizerStep::ReplaceRegex) {
    Expected<Regex> regex = Regex::compile(step.pattern);
    if (!regex)
      return regex.takeStatus().withContext("normalizer Replace");
    result.regex = std::move(*regex);
  }
  if (step.kind == NormalizerStep::ReplaceString && step.pattern.empty())
    return Status(StatusCode::InvalidFile,
                  "normalizer Replace: the pattern is empty");
  if (step.hasCharsmap()) {
    Expected<Charsmap> map = Charsmap::parse(step.content);
    if (!map)
      return map.takeStatus().withContext("normalizer Precompiled");
    result.charsmap = std::move(*map);
  } else if (step.content.size() > maxContentBytes) {
    return Status(
        StatusCode::Unsupported,
        "normalizer: a replacement of " + std::to_string(step.content.size()) +
            " bytes; the limit is " + std::to_string(maxContentBytes));
  }
  if (step.kind == NormalizerStep::StripMarksRight && step.content.empty())
    return Status(StatusCode::InvalidFile, "normalizer: the mark is empty");
  result.step = std::move(step);
  return result;
}

Status Normalizer::apply(std::string &text, bool isFirst,
                         const GrowthLimit &limit) const {
  switch (step.kind) {
  case NormalizerStep::NFC:
    return toForm(text, UnicodeForm::NFC);
  case NormalizerStep::NFD:
    return toForm(text, UnicodeForm::NFD);
  case NormalizerStep::NFKC:
    return toForm(text, UnicodeForm::NFKC);
  case NormalizerStep::NFKD:
    return toForm(text, UnicodeForm::NFKD);
  case NormalizerStep::Nmt:
    nmt(text);
    break;
  case NormalizerStep::Lowercase:
    lowercase(text);
    break;
  case NormalizerStep::StripAccents:
    mapCharacters(text, [](uint32_t c, std::string &out) {
      if (!isCombiningMark(c))
        appendUtf8(out, c);
    });
    break;
  case NormalizerStep::StripLeft:
    stripLeft(text);
    break;
  case NormalizerStep::StripRight:
    stripRight(text);
    break;
  case NormalizerStep::CollapseSpaces:
    collapseSpaces(text);
    break;
  case NormalizerStep::PrependFirst:
    if (!isFirst)
      break;
    [[fallthrough]];
  case NormalizerStep::Prepend:
    if (!text.empty())
      text.insert(0, step.content);
    break;
  case NormalizerStep::ReplaceString:
    LLMIR_RETURN_IF_ERROR(limit.check(
        replacedBytes(text, step.pattern, step.content), "normalizer Replace"));
    text = replaceAll(text, step.pattern, step.content);
    break;
  case NormalizerStep::ReplaceRegex: {
    std::vector<TextRange> ranges;
    LLMIR_RETURN_IF_ERROR(regex->partition(text, ranges));
    return replaceRanges(text, ranges, step.content, limit);
  }
  case NormalizerStep::ByteLevel: {
    std::string mapped;
    appendByteLevel(mapped, text);
    text = std::move(mapped);
    break;
  }
  case NormalizerStep::Bert:
    return normalizeBert(text, step.flags);
  case NormalizerStep::CharsmapClusters:
    return charsmap->replaceClusters(text, limit);
  case NormalizerStep::CharsmapPrefixes:
    return charsmap->replacePrefixes(text, limit);
  case NormalizerStep::StripMarksRight:
    stripMarksRight(text, step.content);
    break;
  case NormalizerStep::KindCount:
    break;
  }
  return Status::ok();
}

Status normalize(const std::vector<Normalizer> &steps, std::string &text,
                 bool isFirst, const GrowthLimit &limit) {
  for (const Normalizer &step : steps) {
    LLMIR_RETURN_IF_ERROR(step.apply(text, isFirst, limit));
    // A step without a check of its own grows the text by a small factor.
    LLMIR_RETURN_IF_ERROR(limit.check(text.size(), "normalizer"));
  }
  return Status::ok();
}

} // namespace llmir
