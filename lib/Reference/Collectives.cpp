//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Reference/Collectives.h"

#include <algorithm>

namespace llmir::reference {

Tensor shard(const Tensor &x, int64_t dim, int64_t count, int64_t index) {
  const int64_t part = x.dim(dim) / count;
  return x.slice(dim, index * part, part);
}

/// The first rank of the group of `rank`.
static size_t groupStart(size_t rank, int64_t groupSize) {
  return rank - rank % static_cast<size_t>(groupSize);
}

RankTensors allGather(const RankTensors &x, int64_t dim, int64_t groupSize) {
  RankTensors result;
  for (size_t rank = 0; rank < x.size(); ++rank) {
    const auto first =
        x.begin() + static_cast<int64_t>(groupStart(rank, groupSize));
    result.push_back(concatenate(RankTensors(first, first + groupSize), dim));
  }
  return result;
}

static double combine(double a, double b, Reduction reduction) {
  switch (reduction) {
  case Reduction::Sum:
  case Reduction::Mean:
    return a + b;
  case Reduction::Max:
    return std::max(a, b);
  case Reduction::Min:
    return std::min(a, b);
  }
  return a;
}

RankTensors allReduce(const RankTensors &x, int64_t groupSize,
                      Reduction reduction) {
  RankTensors result = x;
  for (size_t rank = 0; rank < x.size(); ++rank) {
    const size_t first = groupStart(rank, groupSize);
    for (int64_t i = 0; i < x[rank].size(); ++i) {
      double value = x[first][i];
      for (size_t other = first + 1; other < first + size_t(groupSize); ++other)
        value = combine(value, x[other][i], reduction);
      result[rank][i] =
          reduction == Reduction::Mean ? value / double(groupSize) : value;
    }
  }
  return result;
}

RankTensors reduceScatter(const RankTensors &x, int64_t dim, int64_t groupSize,
                          Reduction reduction) {
  RankTensors result = allReduce(x, groupSize, reduction);
  for (size_t rank = 0; rank < result.size(); ++rank)
    result[rank] = shard(result[rank], dim, groupSize,
                         static_cast<int64_t>(rank) % groupSize);
  return result;
}

} // namespace llmir::reference
