//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A stable sort for comparisons that may throw or be inconsistent, as those of
// templates: std::sort would leave its range.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CHATTEMPLATE_SORT_H
#define LLMIR_LIB_CHATTEMPLATE_SORT_H

#include <algorithm>
#include <utility>
#include <vector>

namespace llmir::chat {

/// Sorts by merging runs; `less(a, b)` may throw.
template <typename T, typename Less>
void mergeSort(std::vector<T> &items, Less less) {
  std::vector<T> other(items.size());
  for (size_t width = 1; width < items.size(); width *= 2) {
    for (size_t begin = 0; begin < items.size(); begin += 2 * width) {
      size_t middle = std::min(begin + width, items.size());
      size_t end = std::min(begin + 2 * width, items.size());
      size_t left = begin, right = middle;
      for (size_t i = begin; i < end; ++i) {
        bool takeRight =
            left == middle || (right < end && less(items[right], items[left]));
        other[i] = std::move(takeRight ? items[right++] : items[left++]);
      }
    }
    items.swap(other);
  }
}

} // namespace llmir::chat

#endif // LLMIR_LIB_CHATTEMPLATE_SORT_H
