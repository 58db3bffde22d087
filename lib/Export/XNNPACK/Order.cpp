//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Order.h"

#include <algorithm>
#include <numeric>

using namespace llmir;
using namespace llmir::xnnpack;

Order xnnpack::rowMajor(size_t rank) {
  Order order(rank);
  std::iota(order.begin(), order.end(), size_t(0));
  return order;
}

Order xnnpack::withLast(size_t rank, size_t dim) {
  Order order = rowMajor(rank);
  order.erase(order.begin() + static_cast<ptrdiff_t>(dim));
  order.push_back(dim);
  return order;
}

Dims xnnpack::inOrder(const Sizes &shape, const Order &order) {
  Dims dims;
  for (size_t dim : order)
    dims.push_back(static_cast<size_t>(shape[dim]));
  return dims;
}

Order xnnpack::permuted(const Order &order, const std::vector<size_t> &axes) {
  std::vector<size_t> place(axes.size());
  for (size_t i = 0; i < axes.size(); ++i)
    place[axes[i]] = i;
  Order result;
  for (size_t dim : order)
    result.push_back(place[dim]);
  return result;
}

namespace {
/// Dimensions [from, fromEnd) of one shape that are [to, toEnd) of another.
struct Group {
  size_t from, fromEnd, to, toEnd;
};
} // namespace

/// Minimal groups of dimensions with equal products; sizes are positive.
static std::vector<Group> matchDimensions(const Sizes &from, const Sizes &to) {
  std::vector<Group> groups;
  size_t i = 0, j = 0;
  while (i < from.size() && j < to.size()) {
    Group group = {i, i + 1, j, j + 1};
    int64_t left = from[i++], right = to[j++];
    while (left != right)
      if (left < right && i < from.size())
        left *= from[i++];
      else if (j < to.size())
        right *= to[j++];
      else
        return {};
    group.fromEnd = i;
    group.toEnd = j;
    groups.push_back(group);
  }
  if (groups.empty())
    return groups;
  // Sizes of 1 may remain on either side.
  groups.back().fromEnd = from.size();
  groups.back().toEnd = to.size();
  return groups;
}

std::optional<Order> xnnpack::reshaped(const Order &order, const Sizes &from,
                                       const Sizes &to) {
  if (order == rowMajor(from.size()))
    return rowMajor(to.size());
  const std::vector<Group> groups = matchDimensions(from, to);
  Order result;
  for (size_t i = 0; i < order.size();) {
    auto group =
        std::find_if(groups.begin(), groups.end(), [&](const Group &candidate) {
          return candidate.from <= order[i] && order[i] < candidate.fromEnd;
        });
    if (group == groups.end())
      return std::nullopt;
    for (size_t dim = group->from; dim != group->fromEnd; ++dim, ++i)
      if (i == order.size() || order[i] != dim)
        return std::nullopt;
    for (size_t dim = group->to; dim != group->toEnd; ++dim)
      result.push_back(dim);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Calls `visit(row-major index, memory index)` for all elements.
template <typename Visit>
static void forEachPlace(const Sizes &shape, const Order &order, Visit visit) {
  const size_t rank = shape.size();
  std::vector<size_t> step(rank, 1), index(rank, 0);
  for (size_t dim = rank; dim-- > 1;)
    step[dim - 1] = step[dim] * static_cast<size_t>(shape[dim]);
  const size_t count = numValues(inOrder(shape, order));
  size_t source = 0;
  for (size_t place = 0; place < count; ++place) {
    visit(source, place);
    for (size_t i = rank; i-- > 0;) {
      const size_t dim = order[i], size = static_cast<size_t>(shape[dim]);
      source += step[dim];
      if (++index[i] < size)
        break;
      source -= step[dim] * size;
      index[i] = 0;
    }
  }
}

void xnnpack::putInOrder(const float *rowMajor, const Sizes &shape,
                         const Order &order, float *inOrder) {
  forEachPlace(shape, order,
               [&](size_t from, size_t to) { inOrder[to] = rowMajor[from]; });
}

void xnnpack::putRowMajor(const float *inOrder, const Sizes &shape,
                          const Order &order, float *rowMajor) {
  forEachPlace(shape, order,
               [&](size_t to, size_t from) { rowMajor[to] = inOrder[from]; });
}
