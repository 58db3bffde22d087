//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Reference/Index.h"

#include "llmir/Reference/Elementwise.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace llmir::reference {

Status checkIndices(const Tensor &indices, int64_t size) {
  for (int64_t i = 0; i < indices.size(); ++i)
    if (indices.integer(i) < 0 || indices.integer(i) >= size)
      return Status(StatusCode::OutOfRange,
                    "index " + std::to_string(i) + " is " +
                        std::to_string(indices.integer(i)) +
                        ", but the dimension has " + std::to_string(size));
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// Gather and scatter
//===----------------------------------------------------------------------===//

/// The dimensions [first, last) of an index, and the indices of a row-major
/// position in a tensor of that shape.
static int64_t placeIn(const Shape &shape, const Shape &index, size_t first,
                       size_t last) {
  int64_t place = 0;
  for (size_t d = first; d < last; ++d)
    place = place * shape[d] + index[d];
  return place;
}

Expected<Tensor> gather(const Tensor &table, const Tensor &indices,
                        int64_t dim) {
  LLMIR_RETURN_IF_ERROR(checkIndices(indices, table.dim(dim)));
  const auto at = static_cast<size_t>(dim);
  Shape shape(table.shape.begin(), table.shape.begin() + dim);
  shape.insert(shape.end(), indices.shape.begin(), indices.shape.end());
  shape.insert(shape.end(), table.shape.begin() + dim + 1, table.shape.end());
  LLMIR_RETURN_IF_ERROR(checkAffordable(shape));
  const size_t behind = at + indices.shape.size();
  const int64_t inner = stridesOf(table.shape)[at];
  return pick(table, shape, [&](const Shape &index) {
    const int64_t chosen = indices.integer(placeIn(shape, index, at, behind));
    const int64_t outer = placeIn(shape, index, 0, at);
    return (outer * table.dim(dim) + chosen) * inner +
           placeIn(shape, index, behind, shape.size());
  });
}

/// Whether indices of that shape are valid for x, except in `dim`.
static Status checkScatter(const Tensor &x, const Tensor &indices,
                           const Tensor &source, int64_t dim) {
  bool fits = indices.shape == source.shape && indices.rank() == x.rank();
  for (int64_t d = 0; fits && d < x.rank(); ++d)
    fits = d == dim || indices.dim(d) <= x.dim(d);
  if (!fits)
    return Status(StatusCode::InvalidArgument,
                  "indices " + typeString(indices) + " of " +
                      typeString(source) + " do not match " + typeString(x));
  return checkIndices(indices, x.dim(dim));
}

Expected<Tensor> scatter(const Tensor &x, const Tensor &indices,
                         const Tensor &source, int64_t dim) {
  LLMIR_RETURN_IF_ERROR(checkScatter(x, indices, source, dim));
  Tensor result = x;
  const Shape strides = stridesOf(x.shape);
  for (int64_t i = 0; i < source.size(); ++i) {
    int64_t rest = i, place = 0;
    for (int64_t d = x.rank(); d-- > 0;) {
      const int64_t index =
          d == dim ? indices.integer(i) : rest % indices.dim(d);
      rest /= indices.dim(d);
      place += index * strides[static_cast<size_t>(d)];
    }
    result[place] = source.number(i);
  }
  return result;
}

Expected<Tensor> maskedScatter(const Tensor &x, const Tensor &mask,
                               const Tensor &source) {
  Expected<Shape> shape = broadcastShape(x.shape, mask.shape);
  if (!shape)
    return shape.takeStatus();
  if (*shape != x.shape)
    return Status(StatusCode::InvalidArgument, "the mask " + typeString(mask) +
                                                   " cannot be broadcast to " +
                                                   typeString(x));
  const Tensor chosen = broadcastTo(mask, x.shape);
  int64_t places = 0;
  for (int64_t i = 0; i < chosen.size(); ++i)
    places += chosen[i] != 0;
  if (places > source.size())
    return Status(StatusCode::OutOfRange, "the mask selects " +
                                              std::to_string(places) +
                                              " elements, but the source has " +
                                              std::to_string(source.size()));
  Tensor result = x;
  int64_t next = 0;
  for (int64_t i = 0; i < x.size(); ++i)
    if (chosen[i] != 0)
      result[i] = source.number(next++);
  return result;
}

//===----------------------------------------------------------------------===//
// Index
//===----------------------------------------------------------------------===//

namespace {
/// The plan of an index() operation.
struct IndexPlan {
  Shape chosen;                ///< Broadcast shape of the tensors.
  std::vector<Tensor> indices; ///< Broadcast, for dimensions with a tensor.
  std::vector<IndexRun> runs;  ///< Ranges of the other dimensions.
  size_t place;                ///< Position of `chosen` in the result.
  Shape shape;                 ///< Result shape.
};
} // namespace

/// The position of the tensor dimensions among those of the ranges.
static size_t placeOfTensors(const std::vector<Indexer> &indexers) {
  auto isTensor = [](const Indexer &each) { return each.tensor != nullptr; };
  auto first = std::find_if(indexers.begin(), indexers.end(), isTensor);
  auto end = std::find_if_not(first, indexers.end(), isTensor);
  const bool areAdjacent = std::none_of(end, indexers.end(), isTensor);
  return areAdjacent ? static_cast<size_t>(first - indexers.begin()) : 0;
}

static Expected<IndexPlan> planIndex(const Tensor &x,
                                     const std::vector<Indexer> &indexers) {
  IndexPlan plan;
  for (size_t d = 0; d < indexers.size(); ++d) {
    if (!indexers[d].tensor)
      continue;
    LLMIR_RETURN_IF_ERROR(checkIndices(*indexers[d].tensor, x.shape[d]));
    Expected<Shape> shape =
        broadcastShape(plan.chosen, indexers[d].tensor->shape);
    if (!shape)
      return shape.takeStatus();
    plan.chosen = *shape;
  }
  for (size_t d = 0; d < indexers.size(); ++d) {
    const Tensor *tensor = indexers[d].tensor;
    plan.indices.push_back(tensor ? broadcastTo(*tensor, plan.chosen)
                                  : Tensor());
    plan.runs.push_back(resolve(indexers[d].range, x.shape[d]));
    if (!tensor)
      plan.shape.push_back(plan.runs.back().count);
  }
  plan.place = placeOfTensors(indexers);
  plan.shape.insert(plan.shape.begin() + int64_t(plan.place),
                    plan.chosen.begin(), plan.chosen.end());
  LLMIR_RETURN_IF_ERROR(checkAffordable(plan.shape));
  return plan;
}

Expected<Tensor> index(const Tensor &x, const std::vector<Indexer> &indexers) {
  Expected<IndexPlan> plan = planIndex(x, indexers);
  if (!plan)
    return plan.takeStatus();
  const Shape strides = stridesOf(x.shape);
  const size_t width = plan->chosen.size();
  return pick(x, plan->shape, [&](const Shape &at) {
    const int64_t chosen =
        placeIn(plan->shape, at, plan->place, plan->place + width);
    int64_t place = 0;
    size_t next = plan->place == 0 ? width : 0; // First range dimension.
    for (size_t d = 0; d < indexers.size(); ++d) {
      if (indexers[d].tensor) {
        place += plan->indices[d].integer(chosen) * strides[d];
        continue;
      }
      place += (plan->runs[d].first + at[next] * indexers[d].range.step) *
               strides[d];
      if (++next == plan->place)
        next += width;
    }
    return place;
  });
}

//===----------------------------------------------------------------------===//
// Sorting
//===----------------------------------------------------------------------===//

/// Whether `a` precedes `b`; NaN is greater than all other values.
static bool isLess(Number a, Number b) {
  if (a.isInteger())
    return a.toInteger() < b.toInteger();
  const double x = a.toDouble(), y = b.toDouble();
  return !std::isnan(x) && (std::isnan(y) || x < y);
}

Tensor argsort(const Tensor &x, int64_t dim, bool descending) {
  Tensor result(ElementKind::I32, x.shape);
  const int64_t size = x.dim(dim);
  const int64_t inner = stridesOf(x.shape)[static_cast<size_t>(dim)];
  std::vector<int64_t> order(static_cast<size_t>(size));
  for (int64_t line = 0; size > 0 && line < x.size() / size; ++line) {
    const int64_t first = line / inner * inner * size + line % inner;
    auto number = [&](int64_t i) { return x.number(first + i * inner); };
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      const Number before = number(descending ? b : a);
      const Number after = number(descending ? a : b);
      return isLess(before, after) || (!isLess(after, before) && a < b);
    });
    for (int64_t i = 0; i < size; ++i)
      result[first + i * inner] = order[static_cast<size_t>(i)];
  }
  return result;
}

std::pair<Tensor, Tensor> topK(const Tensor &x, int64_t k, int64_t dim,
                               bool largest) {
  const Tensor indices = argsort(x, dim, largest).slice(dim, 0, k);
  const Shape strides = stridesOf(x.shape);
  const Shape shape = indices.shape;
  Tensor values = pick(x, shape, [&](const Shape &index) {
    int64_t place = 0;
    for (size_t d = 0; d < shape.size(); ++d)
      place += strides[d] *
               (int64_t(d) == dim
                    ? indices.integer(placeIn(shape, index, 0, shape.size()))
                    : index[d]);
    return place;
  });
  return {values, indices};
}

} // namespace llmir::reference
