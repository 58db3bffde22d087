//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Charsmap.h"
#include "Unicode.h"

#include <utf8proc.h>

#include <cstring>

namespace llmir {
namespace {

/// Maximum length of a replacement; the longest of Unicode is 33.
constexpr size_t maxRuleBytes = 256;
/// Clusters of this length or longer are replaced character by character.
constexpr size_t longCluster = 6;

// A unit of the trie, a double array: a node, or the value of its parent.
bool isValue(uint32_t unit) { return unit >> 31; }
uint32_t valueOf(uint32_t unit) { return unit & 0x7fffffffu; }
bool hasValue(uint32_t unit) { return unit >> 8 & 1; }
/// The label of a node; no byte for a value.
uint32_t labelOf(uint32_t unit) { return unit & 0x800000ffu; }
size_t offsetOf(uint32_t unit) {
  return static_cast<size_t>(unit >> 10) << ((unit & (1u << 9)) >> 6);
}

uint32_t littleEndian(std::string_view bytes, size_t at) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i)
    value |= uint32_t(static_cast<uint8_t>(bytes[at + i])) << (8 * i);
  return value;
}

Status malformed(const std::string &what) {
  return Status(StatusCode::InvalidFile, "the character map " + what,
                "download the file again");
}

/// Checks the values of all nodes, so that a search finds only whole texts.
Status checkUnits(const std::vector<uint32_t> &units,
                  const std::string &texts) {
  if (isValue(units[0]))
    return malformed("has no root at byte 4");
  for (size_t i = 0; i < units.size(); ++i) {
    if (isValue(units[i]))
      continue;
    const size_t first = i ^ offsetOf(units[i]);
    if (first >= units.size())
      return malformed("has a node at byte " + std::to_string(4 * i + 4) +
                       " whose offset leads to unit " + std::to_string(first) +
                       " of " + std::to_string(units.size()));
    if (!hasValue(units[i]) || !isValue(units[first]))
      continue;
    const size_t value = valueOf(units[first]);
    if (value >= texts.size())
      return malformed("has a rule at byte " + std::to_string(4 * first + 4) +
                       " whose text is at byte " + std::to_string(value) +
                       " of " + std::to_string(texts.size()));
    const size_t bytes = texts.find('\0', value) - value;
    if (bytes > maxRuleBytes)
      return malformed("has a replacement of " + std::to_string(bytes) +
                       " bytes; the limit is " + std::to_string(maxRuleBytes));
    if (validUtf8Length(std::string_view(texts).substr(value, bytes)) != bytes)
      return malformed("has a replacement at byte " + std::to_string(value) +
                       " of its texts that is not UTF-8");
  }
  return Status::ok();
}

} // namespace

Expected<Charsmap> Charsmap::parse(std::string_view bytes) {
  if (bytes.size() < 4)
    return malformed("has " + std::to_string(bytes.size()) +
                     " bytes; expected at least 4");
  const size_t trieBytes = littleEndian(bytes, 0);
  if (trieBytes % 4 != 0 || trieBytes < 4 || trieBytes > bytes.size() - 4)
    return malformed("declares a trie of " + std::to_string(trieBytes) +
                     " bytes at byte 0, but has " +
                     std::to_string(bytes.size() - 4) + " bytes after it");
  Charsmap map;
  map.units.resize(trieBytes / 4);
  for (size_t i = 0; i < map.units.size(); ++i)
    map.units[i] = littleEndian(bytes, 4 + 4 * i);
  map.texts = bytes.substr(4 + trieBytes);
  if (map.texts.empty() || map.texts.back() != '\0')
    map.texts += '\0';
  LLMIR_RETURN_IF_ERROR(checkUnits(map.units, map.texts));
  return map;
}

Charsmap::Match Charsmap::match(std::string_view text, Length wanted) const {
  Match found;
  size_t node = offsetOf(units[0]);
  for (size_t i = 0; i < text.size() && text[i] != '\0'; ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    node ^= byte;
    if (node >= units.size() || labelOf(units[node]) != byte)
      break;
    const uint32_t unit = units[node];
    node ^= offsetOf(unit);
    if (!hasValue(unit) || node >= units.size() || !isValue(units[node]))
      continue;
    found.bytes = i + 1;
    found.text = texts.c_str() + valueOf(units[node]);
    if (wanted == Length::Shortest)
      break;
  }
  return found;
}

Status Charsmap::replacePrefixes(std::string &text,
                                 const GrowthLimit &limit) const {
  std::string out;
  out.reserve(text.size());
  for (std::string_view rest = text; !rest.empty();) {
    const Match rule = match(rest, Length::Longest);
    const size_t bytes = rule.bytes ? rule.bytes : firstUtf8Char(rest).bytes;
    out += rule.bytes ? rule.text : rest.substr(0, bytes);
    rest.remove_prefix(bytes);
    LLMIR_RETURN_IF_ERROR(limit.check(out.size(), "normalizer Precompiled"));
  }
  text = std::move(out);
  return Status::ok();
}

/// Appends the replacement of `part`, if a rule applies.
bool Charsmap::appendRule(std::string_view part, std::string &out) const {
  const Match rule = match(part, Length::Shortest);
  if (rule.bytes == 0)
    return false;
  out += rule.text;
  return true;
}

void Charsmap::replaceCharacters(std::string_view text,
                                 std::string &out) const {
  while (!text.empty()) {
    const std::string_view part = text.substr(0, firstUtf8Char(text).bytes);
    if (!appendRule(part, out))
      out += part;
    text.remove_prefix(part.size());
  }
}

Status Charsmap::replaceClusters(std::string &text,
                                 const GrowthLimit &limit) const {
  std::string out;
  out.reserve(text.size());
  for (std::string_view rest = text; !rest.empty();) {
    // The extent of the cluster.
    Utf8Char c = firstUtf8Char(rest);
    size_t bytes = c.bytes;
    utf8proc_int32_t state = 0;
    while (bytes < rest.size()) {
      const Utf8Char next = firstUtf8Char(rest.substr(bytes));
      if (utf8proc_grapheme_break_stateful(
              static_cast<utf8proc_int32_t>(c.codePoint),
              static_cast<utf8proc_int32_t>(next.codePoint), &state))
        break;
      bytes += next.bytes;
      c = next;
    }
    std::string_view cluster = rest.substr(0, bytes);
    rest.remove_prefix(bytes);
    if (bytes >= longCluster || !appendRule(cluster, out))
      replaceCharacters(cluster, out);
    LLMIR_RETURN_IF_ERROR(limit.check(out.size(), "normalizer Precompiled"));
  }
  text = std::move(out);
  return Status::ok();
}

} // namespace llmir
