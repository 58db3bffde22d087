//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reference data movement ops.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_REFERENCE_SHAPE_H
#define LLMIR_REFERENCE_SHAPE_H

#include "llmir/Reference/Tensor.h"
#include "llmir/Support/Status.h"

#include <functional>
#include <optional>

namespace llmir::reference {

/// A tensor of `shape` with result[index] = x.data[place(index)].
Tensor pick(const Tensor &x, const Shape &shape,
            const std::function<int64_t(const Shape &index)> &place);

/// The row-major stride of each dimension.
Shape stridesOf(const Shape &shape);

/// Dimension d of the result is dimension axes[d] of x; `axes` must be a
/// permutation.
Tensor permuted(const Tensor &x, const std::vector<int64_t> &axes);

/// Repeats each slice of a dimension `times` times: a, a, b, b, … for 2. Fails
/// if the result is too large.
Expected<Tensor> repeatEach(const Tensor &x, int64_t dim, int64_t times);

/// Stacks tensors of equal shape along a new dimension `dim`.
Tensor stack(const std::vector<Tensor> &parts, int64_t dim);

/// Indices start, start + step, … less than `end` of a dimension. A negative
/// start or end is relative to the size of the dimension; both are clamped to
/// it, so that a range is valid for any size. `end` defaults to the size.
struct IndexRange {
  int64_t start = 0;
  std::optional<int64_t> end;
  int64_t step = 1; ///< 1 or more.
};
/// The indices of a range for a dimension of `size`; `first` is valid unless
/// `count` is 0.
struct IndexRun {
  int64_t first, count;
};
IndexRun resolve(const IndexRange &range, int64_t size);

/// The indices of one range per dimension.
Tensor slice(const Tensor &x, const std::vector<IndexRange> &ranges);

enum class PadMode { Constant, Reflect, Replicate, Circular };
/// low[d] elements before and high[d] after each dimension, non-negative:
///   constant   `value`
///   reflect    2 1 | 0 1 2 | 1 0    padding must be less than the size
///   replicate  0 0 | 0 1 2 | 2 2    a size of 0 cannot be padded
///   circular   1 2 | 0 1 2 | 0 1    padding must not exceed the size
/// Otherwise, and if the result is too large, fails.
Expected<Tensor> pad(const Tensor &x, const Shape &low, const Shape &high,
                     PadMode mode, double value);

} // namespace llmir::reference

#endif // LLMIR_REFERENCE_SHAPE_H
