//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What ops mean that make one number of many.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_REFERENCE_REDUCE_H
#define LLMIR_REFERENCE_REDUCE_H

#include "llmir/Reference/Tensor.h"

#include <optional>

namespace llmir::reference {

enum class ReduceKind { Max, Min, Sum, Mean };

/// The numbers along `dim` reduced, or all where there is none; the dimension
/// goes, or stays with size 1 where `keepDim` (all of them without `dim`).
/// Sums add in ascending order. NaN makes a maximum or minimum NaN. Of no
/// numbers the sum is 0, the mean NaN, the maximum the least number of the type
/// (−inf) and the minimum the greatest.
Tensor reduce(const Tensor &x, std::optional<int64_t> dim, bool keepDim,
              ReduceKind kind);

} // namespace llmir::reference

#endif // LLMIR_REFERENCE_REDUCE_H
