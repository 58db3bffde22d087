//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The order in which adjacent symbols merge: the smallest key first, the
// leftmost among equals.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_TOKENIZER_MERGEQUEUE_H
#define LLMIR_LIB_TOKENIZER_MERGEQUEUE_H

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <vector>

namespace llmir {

/// The key of symbols that never merge.
constexpr uint32_t noMerge = UINT32_MAX;

/// A priority queue of (key, position), for keys below maxTokenIds, optimized
/// for few keys with many positions each: merging in order of keys adds the
/// positions of a key nearly sorted, so that removing them is almost free.
/// O(log n) in the worst case.
class MergeQueue {
public:
  void push(uint32_t key, uint32_t position) {
    Bucket &bucket = bucketOf(key);
    if (bucket.isOpen) {
      bucket.late.push(position);
    } else {
      bucket.isSorted &=
          bucket.positions.empty() || bucket.positions.back() <= position;
      bucket.positions.push_back(position);
    }
    if (!bucket.isQueued) {
      bucket.isQueued = true;
      keys.push(key);
    }
  }

  /// Removes the smallest entry; false if there is none.
  bool pop(uint32_t &key, uint32_t &position) {
    while (!keys.empty()) {
      key = keys.top();
      Bucket &bucket = bucketOf(key);
      if (bucket.pop(position)) {
        const size_t later = bucket.taken + 8;
        ahead = later < bucket.positions.size() ? bucket.positions[later]
                                                : position;
        return true;
      }
      bucket.isQueued = false;
      keys.pop();
    }
    return false;
  }

  /// A position that pop() will probably return soon.
  uint32_t upcoming() const { return ahead; }

private:
  template <typename T>
  using MinHeap = std::priority_queue<T, std::vector<T>, std::greater<>>;

  struct Bucket {
    std::vector<uint32_t> positions;
    size_t taken = 0;
    MinHeap<uint32_t> late; ///< Added after the first removal.
    bool isSorted = true, isOpen = false, isQueued = false;

    bool pop(uint32_t &position) {
      if (!isOpen && !isSorted)
        std::sort(positions.begin(), positions.end());
      isOpen = true;
      bool hasNext = taken < positions.size();
      if (!late.empty() && (!hasNext || late.top() < positions[taken])) {
        position = late.top();
        late.pop();
        return true;
      }
      if (hasNext)
        position = positions[taken++];
      return hasNext;
    }
  };

  Bucket &bucketOf(uint32_t key) {
    if (recent && key == recentKey)
      return *recent;
    if (key / pageSize >= pages.size())
      pages.resize(key / pageSize + 1);
    Page &page = pages[key / pageSize];
    if (page.empty())
      page.resize(pageSize);
    Bucket *&bucket = page[key % pageSize];
    if (!bucket)
      bucket = &buckets.emplace_back();
    recentKey = key;
    recent = bucket;
    return *bucket;
  }

  static constexpr uint32_t pageSize = 1024;
  using Page = std::vector<Bucket *>;
  std::vector<Page> pages; ///< Buckets by key.
  std::deque<Bucket> buckets;
  MinHeap<uint32_t> keys;
  Bucket *recent = nullptr;
  uint32_t recentKey = 0;
  uint32_t ahead = 0;
};

/// The same as a heap of four children, which is faster for few entries.
class SmallMergeQueue {
public:
  void push(uint32_t key, uint32_t position) {
    size_t at = count++;
    if (entries.size() < count + children)
      entries.resize(2 * (count + children), absent);
    uint64_t *heap = entries.data();
    const uint64_t entry = uint64_t(key) << 32 | position;
    for (; at > 0 && entry < heap[(at - 1) / children];
         at = (at - 1) / children)
      heap[at] = heap[(at - 1) / children];
    heap[at] = entry;
  }
  bool pop(uint32_t &key, uint32_t &position) {
    if (count == 0)
      return false;
    uint64_t *heap = entries.data();
    key = static_cast<uint32_t>(heap[0] >> 32);
    position = static_cast<uint32_t>(heap[0]);
    const uint64_t entry = heap[--count];
    heap[count] = absent;
    size_t at = 0;
    for (size_t first; (first = children * at + 1) < count;) {
      const uint64_t *child = heap + first;
      const size_t low = child[1] < child[0], high = 2 + (child[3] < child[2]);
      const size_t least = child[high] < child[low] ? high : low;
      if (entry <= child[least])
        break;
      heap[at] = child[least];
      at = first + least;
    }
    heap[at] = entry;
    return true;
  }
  uint32_t upcoming() const { return 0; }

private:
  static constexpr size_t children = 4;
  /// Comes after all entries, so that each one in use has four children.
  static constexpr uint64_t absent = UINT64_MAX;
  std::vector<uint64_t> entries;
  size_t count = 0;
};

/// Up to this number of symbols, SmallMergeQueue is used.
constexpr size_t fewSymbols = 2048;

/// A symbol of a word, its neighbors' positions, and the key of the pair that
/// begins with it.
template <typename Symbol> struct LinkedSymbol {
  Symbol symbol;
  uint32_t next = 0, previous = 0, key = noMerge;
};

/// Merges adjacent symbols until none merge; O(n log n). `keyOf(left, right)`
/// is the key of adjacent symbols or noMerge; `merge(left, right, key)` makes
/// `left` the symbol for both. The remaining symbols are at 0, [0].next and so
/// on.
template <typename Queue, typename Symbol, typename KeyOf, typename Merge>
void mergeAdjacentBy(std::vector<LinkedSymbol<Symbol>> &symbols, KeyOf keyOf,
                     Merge merge) {
  const auto count = static_cast<uint32_t>(symbols.size());
  LinkedSymbol<Symbol> *links = symbols.data(); // Without a check per access.
  Queue queue;
  /// `limit`: a larger key need not be queued.
  auto renew = [&](uint32_t left, uint32_t right, uint32_t limit) {
    const uint32_t key = keyOf(links[left].symbol, links[right].symbol);
    links[left].key = key <= limit ? key : noMerge;
    if (links[left].key != noMerge)
      queue.push(key, left);
  };
  for (uint32_t i = 0; i < count; ++i) {
    links[i].next = i + 1;
    links[i].previous = i - 1;
    if (i + 1 < count)
      renew(i, i + 1, noMerge);
  }
  for (uint32_t key, left; queue.pop(key, left);) {
    __builtin_prefetch(&links[queue.upcoming()]);
    if (links[left].key != key)
      continue; // The pair has changed since it was added.
    const uint32_t right = links[left].next, after = links[right].next;
    merge(links[left].symbol, links[right].symbol, key);
    links[left].key = links[right].key = noMerge;
    links[left].next = after;
    if (left != 0)
      renew(links[left].previous, left, noMerge);
    if (after < count) {
      links[after].previous = left;
      // If the pair that follows has the same key, it merges before one with a
      // larger key, and the symbol on its left then belongs to another pair. In
      // a run of one character this is so for every pair.
      renew(left, after, links[after].key == key ? key : noMerge);
    }
  }
}

template <typename Symbol, typename KeyOf, typename Merge>
void mergeAdjacent(std::vector<LinkedSymbol<Symbol>> &symbols, KeyOf keyOf,
                   Merge merge) {
  if (symbols.size() <= fewSymbols)
    mergeAdjacentBy<SmallMergeQueue>(symbols, keyOf, merge);
  else
    mergeAdjacentBy<MergeQueue>(symbols, keyOf, merge);
}

} // namespace llmir

#endif // LLMIR_LIB_TOKENIZER_MERGEQUEUE_H
