//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Constraint/TokenVocabulary.h"

#include <algorithm>

namespace llmir {

static constexpr size_t mostBytes = 4096;

TokenVocabulary::TokenVocabulary(std::vector<std::string> given)
    : texts(std::move(given)) {
  for (size_t id = 0; id < texts.size(); ++id) {
    if (texts[id].size() > mostBytes)
      texts[id].clear();
    if (!texts[id].empty())
      sorted.push_back(static_cast<int32_t>(id));
  }
  std::sort(sorted.begin(), sorted.end(), [&](int32_t a, int32_t b) {
    const int order = text(a).compare(text(b));
    return order != 0 ? order < 0 : a < b;
  });
  std::vector<uint32_t> path; // The nodes of the bytes of the last text.
  std::string_view last;
  auto closeFrom = [&](size_t depth) {
    for (; path.size() > depth; path.pop_back())
      tree[path.back()].end = static_cast<uint32_t>(tree.size());
  };
  for (uint32_t i = 0; i < sorted.size(); ++i) {
    const std::string_view next = text(sorted[i]);
    const size_t common = static_cast<size_t>(
        std::mismatch(last.begin(), last.end(), next.begin(), next.end())
            .first -
        last.begin());
    closeFrom(common);
    for (size_t depth = common; depth < next.size(); ++depth) {
      path.push_back(static_cast<uint32_t>(tree.size()));
      tree.push_back({0, i, static_cast<uint16_t>(depth + 1),
                      static_cast<uint8_t>(next[depth])});
    }
    last = next;
  }
  closeFrom(0);
  tree.push_back({static_cast<uint32_t>(tree.size()),
                  static_cast<uint32_t>(sorted.size()), 0, 0});
}

} // namespace llmir
