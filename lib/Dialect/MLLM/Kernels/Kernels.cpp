//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registration of the kernels, and what those outside of the dialect compute
// of their sizes.
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/Kernels/Kernels.h"

#include "llmir/ABI/AttentionSplit.h"
#include "llmir/Support/PackedLayout.h"

#include <algorithm>

using namespace mlir;

void llmir::mllm::MLLMDialect::addKernelOps() {
  addOperations<
#define GET_OP_LIST
#include "llmir/Dialect/MLLM/Kernels/RowKernels.cpp.inc"
      ,
#define GET_OP_LIST
#include "llmir/Dialect/MLLM/Kernels/MatmulKernels.cpp.inc"
      ,
#define GET_OP_LIST
#include "llmir/Dialect/MLLM/Kernels/CacheKernels.cpp.inc"
      ,
#define GET_OP_LIST
#include "llmir/Dialect/MLLM/Kernels/ExpertKernels.cpp.inc"
      ,
#define GET_OP_LIST
#include "llmir/Dialect/MLLM/Kernels/NestKernels.cpp.inc"
      ,
#define GET_OP_LIST
#include "llmir/Dialect/MLLM/Kernels/QuantKernels.cpp.inc"
      >();
}

namespace llmir::mllm::kernel {

/// Most bytes of sums that an item has on the stack, for chunks and in all.
static constexpr int64_t kMostSumBytes = 1 << 20;
/// Most rows of one token.
static constexpr int64_t kMostItemHeads = 128;

static int64_t partialColumns(const AttentionShape &shape) {
  return roundUpTo(shape.valueDim, kTileColumns) + 2 * kTileColumns;
}

int64_t AttentionShape::itemHeads() const {
  const int64_t group = heads / kvHeads;
  const int64_t rowBytes = 2 * partialColumns(*this) * 4;
  int64_t count = std::min(group, kMostItemHeads);
  while (group % count != 0 || (count > 1 && count * rowBytes > kMostSumBytes))
    --count;
  return count;
}

PartialResults AttentionShape::partialResults() const {
  const int64_t count = itemHeads();
  const int64_t rows = heads / count * roundUpTo(count, 4);
  return {kAttentionPartials * rows, partialColumns(*this)};
}

} // namespace llmir::mllm::kernel
