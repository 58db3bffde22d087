//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What collectives mean: from one value per rank to one value per rank. Groups
// are runs of `groupSize` ranks; the number of ranks is a multiple of it.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_REFERENCE_COLLECTIVES_H
#define LLMIR_REFERENCE_COLLECTIVES_H

#include "llmir/Reference/Tensor.h"

namespace llmir::reference {

/// [rank] one tensor, all of one shape.
using RankTensors = std::vector<Tensor>;

enum class Reduction { Sum, Mean, Max, Min };

/// Part `index` of `count` equal parts along `dim`.
Tensor shard(const Tensor &x, int64_t dim, int64_t count, int64_t index);

/// Each rank receives its group's tensors one after another along `dim`.
RankTensors allGather(const RankTensors &x, int64_t dim, int64_t groupSize);

/// Each rank receives its group's tensors reduced number by number, in
/// ascending rank order; the sum divided by `groupSize` for Mean.
RankTensors allReduce(const RankTensors &x, int64_t groupSize,
                      Reduction reduction);

/// As allReduce; rank r of a group keeps part r along `dim`.
RankTensors reduceScatter(const RankTensors &x, int64_t dim, int64_t groupSize,
                          Reduction reduction);

} // namespace llmir::reference

#endif // LLMIR_REFERENCE_COLLECTIVES_H
