//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What ops mean that move numbers to other places without looking at them.
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

/// For each dimension, how many numbers lie between two that are neighbours in
/// it.
Shape stridesOf(const Shape &shape);

/// result[i_0, …] has dimension axes[d] of x at d: `axes` lists each dimension
/// once.
Tensor permuted(const Tensor &x, const std::vector<int64_t> &axes);

/// Each index of a dimension `times` times in a row: a, a, b, b, … for 2. Fails
/// where the result is not affordable.
Expected<Tensor> repeatEach(const Tensor &x, int64_t dim, int64_t times);

/// The tensors, which are of one shape, along a new dimension `dim`.
Tensor stack(const std::vector<Tensor> &parts, int64_t dim);

/// Indices start, start + step, … below `end` of a dimension. A negative start
/// or end counts from the dimension's end; both are then brought into it, so
/// that no range is wrong for a size. Without `end` all up to the last.
struct IndexRange {
  int64_t start = 0;
  std::optional<int64_t> end;
  int64_t step = 1; ///< 1 or more.
};
/// The indices of a dimension of `size` that the range means: first is in the
/// dimension unless count is 0.
struct IndexRun {
  int64_t first, count;
};
IndexRun resolve(const IndexRange &range, int64_t size);

/// The indices of one range per dimension.
Tensor slice(const Tensor &x, const std::vector<IndexRange> &ranges);

enum class PadMode { Constant, Reflect, Replicate, Circular };
/// low[d] numbers before and high[d] after each dimension, none negative:
///   constant   `value`
///   reflect    2 1 | 0 1 2 | 1 0    fails where a pad is not below the size
///   replicate  0 0 | 0 1 2 | 2 2    fails where it pads a size of 0
///   circular   1 2 | 0 1 2 | 0 1    fails where a pad exceeds the size
/// Fails where the result is not affordable.
Expected<Tensor> pad(const Tensor &x, const Shape &low, const Shape &high,
                     PadMode mode, double value);

} // namespace llmir::reference

#endif // LLMIR_REFERENCE_SHAPE_H
