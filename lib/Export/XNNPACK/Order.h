//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Memory order of dimensions.
//
// XNNPACK requires certain dimensions last (channels, the softmax dimension),
// and has no transpose. So a transpose of the model changes the order that is
// noted and moves nothing.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_EXPORT_XNNPACK_ORDER_H
#define LLMIR_LIB_EXPORT_XNNPACK_ORDER_H

#include "Segment.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace llmir::xnnpack {

/// order[i] is the i-th dimension in memory.
using Order = std::vector<size_t>;
using Sizes = std::vector<int64_t>;

Order rowMajor(size_t rank);
/// Row-major, with one dimension moved to the end.
Order withLast(size_t rank, size_t dim);
/// The sizes in memory order.
Dims inOrder(const Sizes &shape, const Order &order);
/// The order of a tensor whose dimension i is dimension axes[i] of a tensor
/// with `order`.
Order permuted(const Order &order, const std::vector<size_t> &axes);

/// The order of a tensor of shape `from` with `order` when reshaped to `to`
/// without moving data; nullopt if that is impossible. Merged dimensions must
/// be adjacent in memory.
std::optional<Order> reshaped(const Order &order, const Sizes &from,
                              const Sizes &to);

/// Copies row-major elements to `order`, and back.
void putInOrder(const float *rowMajor, const Sizes &shape, const Order &order,
                float *inOrder);
void putRowMajor(const float *inOrder, const Sizes &shape, const Order &order,
                 float *rowMajor);

} // namespace llmir::xnnpack

#endif // LLMIR_LIB_EXPORT_XNNPACK_ORDER_H
