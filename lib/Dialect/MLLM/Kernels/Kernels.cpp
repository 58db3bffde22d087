//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registration of the kernels, and size computations used outside of the
// dialect.
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
      ,
#define GET_OP_LIST
#include "llmir/Dialect/MLLM/Kernels/StateKernels.cpp.inc"
      >();
}

namespace llmir::mllm::kernel {

/// Maximum size of the sums of an item on the stack, for chunks and in total.
static constexpr int64_t kMaxSumBytes = 1 << 20;
/// Maximum number of rows of one token.
static constexpr int64_t kMaxItemHeads = 128;

static int64_t partialColumns(const AttentionShape &shape) {
  return roundUpTo(shape.valueDim, kTileColumns) + 2 * kTileColumns;
}

int64_t AttentionShape::itemHeads() const {
  const int64_t group = heads / kvHeads;
  const int64_t rowBytes = 2 * partialColumns(*this) * 4;
  int64_t count = std::min(group, kMaxItemHeads);
  while (group % count != 0 || (count > 1 && count * rowBytes > kMaxSumBytes))
    --count;
  return count;
}

PartialResults AttentionShape::partialResults() const {
  const int64_t count = itemHeads();
  const int64_t rows = heads / count * roundUpTo(count, 4);
  return {kAttentionPartials * rows, partialColumns(*this)};
}

} // namespace llmir::mllm::kernel
