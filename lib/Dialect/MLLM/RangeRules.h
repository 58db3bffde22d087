//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shape rules of ops that choose ranges of indices, beside those of
// ShapeRules.h. Links neither MLIR nor LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DIALECT_MLLM_RANGERULES_H
#define LLMIR_LIB_DIALECT_MLLM_RANGERULES_H

#include "llmir/Dialect/MLLM/ShapeRules.h"

#include <optional>

namespace llmir::shapes {

/// Indices start, start + step, … below `end`. A negative start or end counts
/// from the dimension's size, and both are then brought into it; without `end`
/// all up to the last.
struct Range {
  int64_t start = 0;
  std::optional<int64_t> end;
  int64_t step = 1;
};

/// One range per dimension.
Expected<Shape> slice(const Shape &shape, const std::vector<Range> &ranges);

/// As slice(), but dimension dims[i] (ascending) is chosen by a tensor of
/// indices of shape tensors[i]. They broadcast, and stand in the place of the
/// first of `dims` where these are neighbours, else before all other
/// dimensions.
Expected<Shape> index(const Shape &shape, const std::vector<Range> &ranges,
                      const std::vector<int64_t> &dims,
                      const std::vector<Shape> &tensors);

} // namespace llmir::shapes

#endif // LLMIR_LIB_DIALECT_MLLM_RANGERULES_H
