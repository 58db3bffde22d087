//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tables.h"

#include "llmir/Support/Json.h"

#include <cstring>
#include <random>

namespace llmir {
namespace {

uint64_t processSeed() {
  static const uint64_t seed = [] {
    std::random_device device;
    return (uint64_t(device()) << 32 | device()) | 1;
  }();
  return seed;
}

uint64_t mix(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  Wide product = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

constexpr uint64_t odd1 = 0x9e3779b97f4a7c15u, odd2 = 0xd6e8feb86659fd93u;

} // namespace

uint64_t hashBytes(std::string_view bytes) {
  uint64_t hash = processSeed() ^ bytes.size() * odd1;
  while (bytes.size() >= 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data(), 8);
    hash = mix(hash ^ word, odd2);
    bytes.remove_prefix(8);
  }
  uint64_t word = 0;
  std::memcpy(&word, bytes.data(), bytes.size());
  return mix(mix(hash ^ word, odd2), processSeed() ^ odd1);
}

uint64_t hashSeed() { return processSeed(); }

void IndexTable::reset(size_t count) {
  size_t size = 16;
  while (size * 3 < count * 4)
    size *= 2;
  slots.assign(size, emptySlot);
  mask = size - 1;
}

Status TokenTable::build(const TokenTexts &tokens,
                         const std::vector<uint8_t> &flags) {
  texts = &tokens;
  table.reset(tokens.size());
  for (size_t id = 0; id < tokens.size(); ++id) {
    if (!(flags[id] & TokenPresent))
      continue;
    std::string_view text = tokens[id];
    longest = std::max(longest, text.size());
    std::optional<uint32_t> other =
        table.insert(hashBytes(text), static_cast<uint32_t>(id),
                     [&](uint32_t i) { return tokens[i] == text; });
    if (other)
      return Status(StatusCode::InvalidFile,
                    "tokens " + std::to_string(*other) + " and " +
                        std::to_string(id) + " are both '" + printable(text) +
                        "'");
  }
  return Status::ok();
}

std::optional<int32_t> TokenTable::find(std::string_view text) const {
  if (text.size() > longest)
    return std::nullopt;
  std::optional<uint32_t> id = table.find(
      hashBytes(text), [&](uint32_t i) { return (*texts)[i] == text; });
  if (!id)
    return std::nullopt;
  return static_cast<int32_t>(*id);
}

std::array<int32_t, 256> byteTokenIds(const TokenTable &table) {
  constexpr char hex[] = "0123456789ABCDEF";
  std::array<int32_t, 256> ids;
  for (size_t byte = 0; byte < ids.size(); ++byte) {
    char text[] = {'<', '0', 'x', hex[byte >> 4], hex[byte & 15], '>'};
    ids[byte] = table.find({text, sizeof text}).value_or(-1);
  }
  return ids;
}

void MergeTable::build(const std::vector<MergeRule> &list) {
  rules = &list;
  seed = hashSeed();
  table.reset(list.size());
  int filterBits = 10;
  while (filterBits < 24 && size_t(1) << filterBits < list.size() * 8)
    ++filterBits;
  filterShift = 64 - filterBits;
  filter.assign((size_t(1) << filterBits) / 64, 0);
  for (size_t rank = 0; rank < list.size(); ++rank) {
    const MergeRule &rule = list[rank];
    const uint64_t hash = hashPair(rule.left, rule.right, seed);
    filter[filterBit(hash) / 64] |= uint64_t(1) << (filterBit(hash) % 64);
    table.insert(hash, static_cast<uint32_t>(rank), [&](uint32_t i) {
      return list[i].left == rule.left && list[i].right == rule.right;
    });
  }
}

} // namespace llmir
