//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RangeRules.h"

#include <algorithm>

namespace llmir::shapes {

/// The number of indices of a range in a dimension.
static DimExpr rangeSize(const DimExpr &size, const Range &range) {
  if (!size.isConstant()) {
    if (range.start == 0 && !range.end && range.step == 1)
      return size;
    return range.end && *range.end == 0 ? DimExpr(0) : DimExpr::unknown();
  }
  const int64_t count = *size.constant();
  auto inside = [&](int64_t i) {
    return std::min(std::max(i < 0 ? i + count : i, int64_t(0)), count);
  };
  const int64_t first = inside(range.start);
  const int64_t end = range.end ? inside(*range.end) : count;
  return end <= first ? 0 : (end - first - 1) / range.step + 1;
}

static Status checkRanges(const Shape &shape,
                          const std::vector<Range> &ranges) {
  if (ranges.size() != shape.size())
    return shapeError("has " + std::to_string(ranges.size()) +
                      " ranges for a tensor of rank " +
                      std::to_string(shape.size()));
  for (const Range &range : ranges)
    if (range.step < 1)
      return shapeError("has a step of " + std::to_string(range.step) +
                        ", expected 1 or more");
  return Status::ok();
}

Expected<Shape> slice(const Shape &shape, const std::vector<Range> &ranges) {
  LLMIR_RETURN_IF_ERROR(checkRanges(shape, ranges));
  Shape result;
  for (size_t d = 0; d < shape.size(); ++d)
    result.push_back(rangeSize(shape[d], ranges[d]));
  return result;
}

static Status checkDims(const std::vector<int64_t> &dims, size_t rank) {
  for (size_t i = 0; i < dims.size(); ++i)
    if (dims[i] < (i == 0 ? 0 : dims[i - 1] + 1) || dims[i] >= int64_t(rank))
      return shapeError("names dimension " + std::to_string(dims[i]) +
                        ", expected ascending ones from 0 to below " +
                        std::to_string(rank));
  return Status::ok();
}

Expected<Shape> index(const Shape &shape, const std::vector<Range> &ranges,
                      const std::vector<int64_t> &dims,
                      const std::vector<Shape> &tensors) {
  LLMIR_RETURN_IF_ERROR(checkRanges(shape, ranges));
  LLMIR_RETURN_IF_ERROR(checkDims(dims, shape.size()));
  Shape chosen, result;
  for (const Shape &tensor : tensors) {
    Expected<Shape> both = broadcast(chosen, tensor);
    if (!both)
      return both;
    chosen = *both;
  }
  for (size_t d = 0; d < shape.size(); ++d)
    if (!std::binary_search(dims.begin(), dims.end(), int64_t(d)))
      result.push_back(rangeSize(shape[d], ranges[d]));
  const bool areAdjacent =
      !dims.empty() && dims.back() - dims.front() + 1 == int64_t(dims.size());
  result.insert(result.begin() + (areAdjacent ? dims.front() : 0),
                chosen.begin(), chosen.end());
  return result;
}

} // namespace llmir::shapes
