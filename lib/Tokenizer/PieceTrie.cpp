//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PieceTrie.h"

#include <algorithm>

namespace llmir {

/// Nodes with at least this many children have a table. It takes 1 KiB, so
/// tables take no more than a small multiple of the nodes.
static constexpr uint16_t minTableChildren = 24;

void PieceTrie::build(const TokenTexts &texts,
                      const std::vector<uint8_t> &flags, uint8_t wanted,
                      uint8_t unwanted) {
  std::vector<int32_t> ids;
  for (size_t id = 0; id < texts.size(); ++id)
    if ((flags[id] & wanted) == wanted && !(flags[id] & unwanted) &&
        !texts[id].empty())
      ids.push_back(static_cast<int32_t>(id));
  std::sort(ids.begin(), ids.end(), [&](int32_t a, int32_t b) {
    return texts[static_cast<size_t>(a)] < texts[static_cast<size_t>(b)];
  });
  auto text = [&](uint32_t i) { return texts[static_cast<size_t>(ids[i])]; };

  /// The sorted ids below a node, and the length of the path to it.
  struct Range {
    uint32_t begin, end, depth;
  };
  std::vector<Range> ranges = {{0, static_cast<uint32_t>(ids.size()), 0}};
  nodes.assign(1, Node());
  tables.clear();
  for (uint32_t node = 0; node < nodes.size(); ++node) {
    Range range = ranges[node];
    // The token that ends here comes first.
    if (range.begin < range.end && text(range.begin).size() == range.depth)
      nodes[node].id = ids[range.begin++];
    const auto first = static_cast<uint32_t>(nodes.size());
    for (uint32_t begin = range.begin, end; begin < range.end; begin = end) {
      const char label = text(begin)[range.depth];
      for (end = begin + 1; end < range.end; ++end)
        if (text(end)[range.depth] != label)
          break;
      ranges.push_back({begin, end, range.depth + 1});
      nodes.emplace_back().label = static_cast<uint8_t>(label);
    }
    nodes[node].first = first;
    nodes[node].count = static_cast<uint16_t>(nodes.size() - first);
  }
  for (Node &node : nodes) {
    if (node.count < minTableChildren)
      continue;
    const auto table = static_cast<uint32_t>(tables.size());
    tables.resize(tables.size() + 256, none);
    for (uint32_t i = 0; i < node.count; ++i)
      tables[table + nodes[node.first + i].label] = node.first + i;
    node.first = table;
    node.hasTable = true;
  }
}

} // namespace llmir
