//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Helpers shared by evaluators of mllm ops.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_INTERPRETER_MLLMEVALUATION_H
#define LLMIR_LIB_INTERPRETER_MLLMEVALUATION_H

#include "Evaluation.h"

#include "llmir/Reference/Shape.h"

namespace llmir::interpreter {

/// Normalizes a verified axis.
inline int64_t axisOf(int64_t axis, const Tensor &x) {
  return axis < 0 ? axis + x.rank() : axis;
}

/// Combines three attributes into ranges; an end of kDynamic means none.
inline std::vector<reference::IndexRange>
indexRangesOf(llvm::ArrayRef<int64_t> starts, llvm::ArrayRef<int64_t> ends,
              llvm::ArrayRef<int64_t> steps) {
  std::vector<reference::IndexRange> result;
  for (auto [start, end, step] : llvm::zip(starts, ends, steps)) {
    result.push_back({start, std::nullopt, step});
    if (!mlir::ShapedType::isDynamic(end))
      result.back().end = end;
  }
  return result;
}

} // namespace llmir::interpreter

#endif // LLMIR_LIB_INTERPRETER_MLLMEVALUATION_H
