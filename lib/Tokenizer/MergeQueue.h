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

/// The same as a binary heap, which is faster for few entries.
class SmallMergeQueue {
public:
  void push(uint32_t key, uint32_t position) {
    entries.push_back(uint64_t(key) << 32 | position);
    std::push_heap(entries.begin(), entries.end(), std::greater<>());
  }
  bool pop(uint32_t &key, uint32_t &position) {
    if (entries.empty())
      return false;
    std::pop_heap(entries.begin(), entries.end(), std::greater<>());
    key = static_cast<uint32_t>(entries.back() >> 32);
    position = static_cast<uint32_t>(entries.back());
    entries.pop_back();
    return true;
  }
  uint32_t upcoming() const { return 0; }

private:
  std::vector<uint64_t> entries;
};

/// Up to this number of symbols, SmallMergeQueue is used.
constexpr size_t fewSymbols = 2048;

/// Merges the symbols 0 … count - 1 until no adjacent ones merge; O(n log n).
/// `keyOf(left, right)` is the key of adjacent symbols or noMerge; `merge(left,
/// right)` replaces both by `left`; `touch(symbol)` may prefetch a symbol that
/// is soon merged. Returns the positions of the remaining symbols.
template <typename Queue, typename KeyOf, typename Merge, typename Touch>
std::vector<uint32_t> mergeAdjacentBy(size_t count, KeyOf keyOf, Merge merge,
                                      Touch touch) {
  /// A symbol's neighbors, and the key of the pair that begins with it.
  struct Link {
    uint32_t next, previous, key;
  };
  std::vector<Link> links(count);
  Queue queue;
  auto renew = [&](uint32_t left, uint32_t right) {
    const uint32_t key = links[left].key = keyOf(left, right);
    if (key != noMerge)
      queue.push(key, left);
  };
  for (uint32_t i = 0; i < count; ++i) {
    links[i] = {i + 1, i - 1, noMerge};
    if (i + 1 < count)
      renew(i, i + 1);
  }
  for (uint32_t key, left; queue.pop(key, left);) {
    __builtin_prefetch(&links[queue.upcoming()]);
    touch(queue.upcoming());
    if (links[left].key != key)
      continue; // The pair has changed since it was added.
    const uint32_t right = links[left].next, after = links[right].next;
    merge(left, right);
    links[left].key = links[right].key = noMerge;
    links[left].next = after;
    if (left != 0)
      renew(links[left].previous, left);
    if (after < count) {
      links[after].previous = left;
      renew(left, after);
    }
  }
  std::vector<uint32_t> remaining;
  for (uint32_t i = 0; i < count; i = links[i].next)
    remaining.push_back(i);
  return remaining;
}

template <typename KeyOf, typename Merge, typename Touch>
std::vector<uint32_t> mergeAdjacent(size_t count, KeyOf keyOf, Merge merge,
                                    Touch touch) {
  return count <= fewSymbols
             ? mergeAdjacentBy<SmallMergeQueue>(count, keyOf, merge, touch)
             : mergeAdjacentBy<MergeQueue>(count, keyOf, merge, touch);
}

} // namespace llmir

#endif // LLMIR_LIB_TOKENIZER_MERGEQUEUE_H
