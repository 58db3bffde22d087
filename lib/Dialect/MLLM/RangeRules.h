//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shape rules of ops that select index ranges; see also ShapeRules.h. Does not
// depend on MLIR or LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DIALECT_MLLM_RANGERULES_H
#define LLMIR_LIB_DIALECT_MLLM_RANGERULES_H

#include "llmir/Dialect/MLLM/ShapeRules.h"

#include <optional>

namespace llmir::shapes {

/// Indices start, start + step, … less than `end`. A negative start or end is
/// relative to the size of the dimension, and both are clamped to it; `end`
/// defaults to the size.
struct Range {
  int64_t start = 0;
  std::optional<int64_t> end;
  int64_t step = 1;
};

/// One range per dimension.
Expected<Shape> slice(const Shape &shape, const std::vector<Range> &ranges);

/// Like slice(), but dimension dims[i] (ascending) is indexed by a tensor of
/// shape tensors[i]. The broadcast shape of the tensors replaces `dims` if
/// these are adjacent, and comes before all other dimensions otherwise.
Expected<Shape> index(const Shape &shape, const std::vector<Range> &ranges,
                      const std::vector<int64_t> &dims,
                      const std::vector<Shape> &tensors);

} // namespace llmir::shapes

#endif // LLMIR_LIB_DIALECT_MLLM_RANGERULES_H
