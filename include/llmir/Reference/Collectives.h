//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reference collectives, which map one value per rank to one value per rank.
// Groups consist of `groupSize` consecutive ranks; the number of ranks must be
// a multiple of it.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_REFERENCE_COLLECTIVES_H
#define LLMIR_REFERENCE_COLLECTIVES_H

#include "llmir/Reference/Tensor.h"

namespace llmir::reference {

/// One tensor per rank, all of the same shape.
using RankTensors = std::vector<Tensor>;

enum class Reduction { Sum, Mean, Max, Min };

/// Slice `index` of `count` equal slices along `dim`.
Tensor shard(const Tensor &x, int64_t dim, int64_t count, int64_t index);

/// Each rank receives the concatenation of its group's tensors along `dim`.
RankTensors allGather(const RankTensors &x, int64_t dim, int64_t groupSize);

/// Each rank receives the element-wise reduction of its group's tensors, in
/// ascending rank order; the sum divided by `groupSize` for Mean.
RankTensors allReduce(const RankTensors &x, int64_t groupSize,
                      Reduction reduction);

/// Like allReduce, but rank r of a group keeps slice r along `dim`.
RankTensors reduceScatter(const RankTensors &x, int64_t dim, int64_t groupSize,
                          Reduction reduction);

} // namespace llmir::reference

#endif // LLMIR_REFERENCE_COLLECTIVES_H
