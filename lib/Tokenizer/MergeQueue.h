//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The order in which neighbouring symbols merge: the smallest key first, the
// leftmost of equal ones.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_TOKENIZER_MERGEQUEUE_H
#define LLMIR_LIB_TOKENIZER_MERGEQUEUE_H

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

namespace llmir {

/// Two symbols that never merge.
constexpr uint32_t noMerge = UINT32_MAX;

/// Sorts pairs of (key, position), which arrive in order of position, by key:
/// three stable passes over 11 bits each.
inline void sortByKey(std::vector<uint64_t> &entries) {
  if (std::is_sorted(entries.begin(), entries.end()))
    return;
  constexpr int bits = 11;
  constexpr size_t buckets = size_t(1) << bits;
  std::vector<uint64_t> other(entries.size());
  for (int shift = 32; shift < 64; shift += bits) {
    std::vector<uint32_t> starts(buckets + 1);
    for (uint64_t entry : entries)
      ++starts[(entry >> shift & (buckets - 1)) + 1];
    for (size_t i = 0; i < buckets; ++i)
      starts[i + 1] += starts[i];
    for (uint64_t entry : entries)
      other[starts[entry >> shift & (buckets - 1)]++] = entry;
    entries.swap(other);
  }
}

/// Merges the symbols 0 … count - 1 until no two neighbours merge; O(n log n).
/// `keyOf(left, right)` is the key of two neighbours or noMerge; `merge(left,
/// right)` makes `left` stand for both. Returns the symbols that remain, as a
/// list of their positions.
template <typename KeyOf, typename Merge>
std::vector<uint32_t> mergeNeighbours(size_t count, KeyOf keyOf, Merge merge) {
  std::vector<uint32_t> next(count), previous(count), keys(count, noMerge);
  // What merges at the start is sorted once; only what merging makes possible
  // goes through the heap.
  std::vector<uint64_t> sorted, heap;
  for (uint32_t i = 0; i < count; ++i) {
    next[i] = i + 1;
    previous[i] = i - 1;
    if (i + 1 < count && (keys[i] = keyOf(i, i + 1)) != noMerge)
      sorted.push_back(uint64_t(keys[i]) << 32 | i);
  }
  sortByKey(sorted);

  auto renew = [&](uint32_t left, uint32_t right) {
    keys[left] = keyOf(left, right);
    if (keys[left] == noMerge)
      return;
    heap.push_back(uint64_t(keys[left]) << 32 | left);
    std::push_heap(heap.begin(), heap.end(), std::greater<>());
  };
  for (size_t cursor = 0; cursor < sorted.size() || !heap.empty();) {
    uint64_t entry;
    if (heap.empty() ||
        (cursor < sorted.size() && sorted[cursor] < heap.front())) {
      entry = sorted[cursor++];
    } else {
      entry = heap.front();
      std::pop_heap(heap.begin(), heap.end(), std::greater<>());
      heap.pop_back();
    }
    auto left = static_cast<uint32_t>(entry);
    if (keys[left] != static_cast<uint32_t>(entry >> 32))
      continue; // The pair has changed since.
    uint32_t right = next[left], after = next[right];
    merge(left, right);
    keys[left] = keys[right] = noMerge;
    next[left] = after;
    if (after < count) {
      previous[after] = left;
      renew(left, after);
    }
    if (left != 0)
      renew(previous[left], left);
  }

  std::vector<uint32_t> remaining;
  for (uint32_t i = 0; i < count; i = next[i])
    remaining.push_back(i);
  return remaining;
}

} // namespace llmir

#endif // LLMIR_LIB_TOKENIZER_MERGEQUEUE_H
