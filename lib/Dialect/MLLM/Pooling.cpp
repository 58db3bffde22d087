//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/Pooling.h"

#include "llmir/Dialect/MLLM/MLLM.h"

using namespace mlir;
using namespace llmir::mllm;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static bool isOpen(int64_t end) { return end == INT64_MIN || end == INT64_MAX; }

static bool takesOneRow(SliceOp slice) {
  RankedTensorType type = typeOf(slice.getX());
  if (type.getRank() != 2)
    return false;
  ArrayRef<int64_t> starts = slice.getStarts(), ends = slice.getEnds();
  const bool isFirst = starts[0] == 0 && ends[0] == 1;
  const bool isLast = starts[0] == -1 && isOpen(ends[0]);
  const bool hasAllColumns =
      starts[1] == 0 && (isOpen(ends[1]) || ends[1] == type.getDimSize(1));
  return (isFirst || isLast) && hasAllColumns &&
         llvm::all_equal(
             {slice.getSteps()[0], slice.getSteps()[1], int64_t(1)});
}

bool llmir::mllm::poolsTokens(Operation *op) {
  if (auto slice = dyn_cast<SliceOp>(op))
    return takesOneRow(slice);
  auto mean = dyn_cast<MeanOp>(op);
  if (!mean || typeOf(mean.getX()).getRank() != 2 || !mean.getKeepDim())
    return false;
  std::optional<int64_t> dim = mean.getDim();
  return dim && (*dim == 0 || *dim == -2);
}
