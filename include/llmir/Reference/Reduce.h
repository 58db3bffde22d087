//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reference reductions.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_REFERENCE_REDUCE_H
#define LLMIR_REFERENCE_REDUCE_H

#include "llmir/Reference/Tensor.h"

#include <optional>

namespace llmir::reference {

enum class ReduceKind { Max, Min, Sum, Mean };

/// Reduces along `dim`, or all dimensions if absent. Reduced dimensions are
/// dropped, or kept with size 1 if `keepDim`. Sums are computed in ascending
/// order. A maximum or minimum with a NaN is NaN. Without elements, the sum is
/// 0, the mean NaN, the maximum the least value of the type (−inf for floats),
/// and the minimum the greatest.
Tensor reduce(const Tensor &x, std::optional<int64_t> dim, bool keepDim,
              ReduceKind kind);

} // namespace llmir::reference

#endif // LLMIR_REFERENCE_REDUCE_H
