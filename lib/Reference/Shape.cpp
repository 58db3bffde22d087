//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Reference/Shape.h"

#include "llmir/Reference/Elementwise.h"

#include <algorithm>

namespace llmir::reference {

Shape stridesOf(const Shape &shape) {
  Shape strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  return strides;
}

/// Moves to the next index in row-major order; the last one wraps to the first.
static void advance(Shape &index, const Shape &shape) {
  for (size_t d = shape.size(); d-- > 0;) {
    if (++index[d] < shape[d])
      return;
    index[d] = 0;
  }
}

Tensor pick(const Tensor &x, const Shape &shape,
            const std::function<int64_t(const Shape &index)> &place) {
  Tensor result(x.kind, shape);
  Shape index(shape.size(), 0);
  for (int64_t i = 0; i < result.size(); ++i) {
    result[i] = x.number(place(index));
    advance(index, shape);
  }
  return result;
}

Tensor permuted(const Tensor &x, const std::vector<int64_t> &axes) {
  const Shape strides = stridesOf(x.shape);
  Shape shape;
  for (int64_t axis : axes)
    shape.push_back(x.dim(axis));
  return pick(x, shape, [&](const Shape &index) {
    int64_t place = 0;
    for (size_t d = 0; d < index.size(); ++d)
      place += index[d] * strides[static_cast<size_t>(axes[d])];
    return place;
  });
}

/// The element at indexAt(d, index[d]) for each d.
static int64_t placeOf(const Shape &index, const Shape &strides,
                       const std::function<int64_t(size_t, int64_t)> &indexAt) {
  int64_t place = 0;
  for (size_t d = 0; d < index.size(); ++d)
    place += indexAt(d, index[d]) * strides[d];
  return place;
}

Expected<Tensor> repeatEach(const Tensor &x, int64_t dim, int64_t times) {
  const auto repeated = static_cast<size_t>(dim);
  Shape shape = x.shape;
  if (times < 0 || (times > 0 && shape[repeated] > INT64_MAX / times))
    return Status(StatusCode::InvalidArgument,
                  "a dimension of " + std::to_string(shape[repeated]) +
                      " cannot be repeated " + std::to_string(times) +
                      " times");
  shape[repeated] *= times;
  LLMIR_RETURN_IF_ERROR(checkAffordable(shape));
  const Shape strides = stridesOf(x.shape);
  return pick(x, shape, [&](const Shape &index) {
    return placeOf(index, strides, [&](size_t d, int64_t i) {
      return d == repeated ? i / times : i;
    });
  });
}

Tensor stack(const std::vector<Tensor> &parts, int64_t dim) {
  std::vector<Tensor> wide;
  for (const Tensor &part : parts) {
    Shape shape = part.shape;
    shape.insert(shape.begin() + dim, 1);
    wide.push_back(part.reshaped(shape));
  }
  return concatenate(wide, dim);
}

IndexRun resolve(const IndexRange &range, int64_t size) {
  auto inside = [&](int64_t i) {
    return std::min(std::max(i < 0 ? i + size : i, int64_t(0)), size);
  };
  const int64_t first = inside(range.start);
  const int64_t end = range.end ? inside(*range.end) : size;
  if (end <= first)
    return {first, 0};
  return {first, (end - first - 1) / range.step + 1};
}

Tensor slice(const Tensor &x, const std::vector<IndexRange> &ranges) {
  const Shape strides = stridesOf(x.shape);
  Shape shape;
  int64_t first = 0;
  for (size_t d = 0; d < ranges.size(); ++d) {
    const IndexRun run = resolve(ranges[d], x.shape[d]);
    shape.push_back(run.count);
    first += run.first * strides[d];
  }
  return pick(x, shape, [&](const Shape &index) {
    return first + placeOf(index, strides, [&](size_t d, int64_t i) {
             return i * ranges[d].step;
           });
  });
}

//===----------------------------------------------------------------------===//
// Pad
//===----------------------------------------------------------------------===//

static Status checkPad(int64_t size, int64_t padding, PadMode mode) {
  auto fail = [&](const char *limit) {
    return Status(StatusCode::InvalidArgument,
                  "a dimension of " + std::to_string(size) + " is padded by " +
                      std::to_string(padding) + limit);
  };
  if (padding < 0)
    return fail(", expected 0 or more");
  if (padding == 0 || mode == PadMode::Constant)
    return Status::ok();
  if (mode == PadMode::Reflect && padding >= size)
    return fail(", expected less than its size in mode reflect");
  if (mode == PadMode::Circular && padding > size)
    return fail(", expected at most its size in mode circular");
  if (size == 0)
    return fail(", expected 0 for an empty dimension");
  return Status::ok();
}

/// The index that a position `i` outside [0, size) repeats.
static int64_t repeatedIndex(int64_t i, int64_t size, PadMode mode) {
  switch (mode) {
  case PadMode::Reflect:
    return i < 0 ? -i : i >= size ? 2 * (size - 1) - i : i;
  case PadMode::Circular:
    return i < 0 ? i + size : i >= size ? i - size : i;
  case PadMode::Constant:
  case PadMode::Replicate:
    break;
  }
  return std::min(std::max(i, int64_t(0)), size - 1);
}

/// Pads x with a constant.
static Tensor padConstant(const Tensor &x, const Shape &shape, const Shape &low,
                          double value) {
  Tensor result = filled(x.kind, shape, value);
  const Shape strides = stridesOf(shape);
  Shape index(x.shape.size(), 0);
  for (int64_t n = 0; n < x.size(); ++n) {
    result[placeOf(index, strides, [&](size_t d, int64_t i) {
      return i + low[d];
    })] = x.number(n);
    advance(index, x.shape);
  }
  return result;
}

Expected<Tensor> pad(const Tensor &x, const Shape &low, const Shape &high,
                     PadMode mode, double value) {
  constexpr int64_t most = int64_t(1) << 40; // Sums of these do not overflow.
  Shape shape = x.shape;
  for (size_t d = 0; d < shape.size(); ++d) {
    LLMIR_RETURN_IF_ERROR(checkPad(x.shape[d], low[d], mode));
    LLMIR_RETURN_IF_ERROR(checkPad(x.shape[d], high[d], mode));
    shape[d] += std::min(low[d], most) + std::min(high[d], most);
  }
  LLMIR_RETURN_IF_ERROR(checkAffordable(shape));
  if (mode == PadMode::Constant)
    return padConstant(x, shape, low, value);
  const Shape strides = stridesOf(x.shape);
  return pick(x, shape, [&](const Shape &index) {
    return placeOf(index, strides, [&](size_t d, int64_t i) {
      return repeatedIndex(i - low[d], x.shape[d], mode);
    });
  });
}

} // namespace llmir::reference
