//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Support/NearestNames.h"

#include <algorithm>
#include <cstdint>
#include <utility>

using namespace llmir;

/// The least number of insertions, deletions and replacements of characters
/// that turn one name into the other.
static size_t editDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j)
    row[j] = j;
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

/// How much a supported name differs from the one in the file. The names of a
/// vendor's models have a common start.
static int64_t difference(std::string_view name, std::string_view known) {
  size_t common = 0;
  while (common < name.size() && common < known.size() &&
         name[common] == known[common])
    ++common;
  return static_cast<int64_t>(editDistance(name, known)) -
         2 * static_cast<int64_t>(common);
}

std::string llmir::nearestNames(std::string_view name,
                                std::vector<std::string_view> known) {
  constexpr size_t longest = 64; // Of a name from a file.
  name = name.substr(0, longest);
  std::vector<std::pair<int64_t, std::string_view>> ranked;
  for (std::string_view candidate : known)
    ranked.push_back({difference(name, candidate), candidate});
  std::sort(ranked.begin(), ranked.end());
  ranked.erase(std::unique(ranked.begin(), ranked.end()), ranked.end());
  ranked.resize(std::min<size_t>(ranked.size(), 3));

  std::string text;
  for (size_t i = 0; i < ranked.size(); ++i) {
    if (i > 0)
      text += i + 1 == ranked.size() ? " and " : ", ";
    text += ranked[i].second;
  }
  return text;
}
