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
#include <unordered_map>
#include <vector>

namespace llmir {

/// The key of symbols that never merge.
constexpr uint32_t noMerge = UINT32_MAX;

/// A priority queue of (key, position), optimized for few keys with many
/// positions each: merging in order of keys adds the positions of a key nearly
/// sorted, so that removing them is almost free. O(log n) in the worst case.
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
      if (bucketOf(key).pop(position))
        return true;
      bucketOf(key).isQueued = false;
      keys.pop();
    }
    return false;
  }

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
    for (const Recent &entry : recent)
      if (entry.bucket && entry.key == key)
        return *entry.bucket;
    auto [place, isNew] = byKey.try_emplace(key, nullptr);
    if (isNew) {
      buckets.emplace_back();
      place->second = &buckets.back();
    }
    recent[next++ & 3] = {key, place->second};
    return *place->second;
  }

  std::unordered_map<uint32_t, Bucket *> byKey;
  std::deque<Bucket> buckets;
  MinHeap<uint32_t> keys;
  /// Recently used keys: a long run of one character has few.
  struct Recent {
    uint32_t key;
    Bucket *bucket;
  };
  Recent recent[4] = {};
  unsigned next = 0;
};

/// Merges the symbols 0 … count - 1 until no adjacent ones merge; O(n log n).
/// `keyOf(left, right)` is the key of adjacent symbols or noMerge; `merge(left,
/// right)` replaces both by `left`. Returns the positions of the remaining
/// symbols.
template <typename KeyOf, typename Merge>
std::vector<uint32_t> mergeAdjacent(size_t count, KeyOf keyOf, Merge merge) {
  std::vector<uint32_t> next(count), previous(count), keys(count, noMerge);
  MergeQueue queue;
  auto renew = [&](uint32_t left, uint32_t right) {
    keys[left] = keyOf(left, right);
    if (keys[left] != noMerge)
      queue.push(keys[left], left);
  };
  for (uint32_t i = 0; i < count; ++i) {
    next[i] = i + 1;
    previous[i] = i - 1;
    if (i + 1 < count)
      renew(i, i + 1);
  }
  for (uint32_t key, left; queue.pop(key, left);) {
    if (keys[left] != key)
      continue; // The pair has changed since it was added.
    uint32_t right = next[left], after = next[right];
    merge(left, right);
    keys[left] = keys[right] = noMerge;
    next[left] = after;
    if (left != 0)
      renew(previous[left], left);
    if (after < count) {
      previous[after] = left;
      renew(left, after);
    }
  }
  std::vector<uint32_t> remaining;
  for (uint32_t i = 0; i < count; i = next[i])
    remaining.push_back(i);
  return remaining;
}

} // namespace llmir

#endif // LLMIR_LIB_TOKENIZER_MERGEQUEUE_H
