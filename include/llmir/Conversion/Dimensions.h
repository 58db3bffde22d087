//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//
// Dimensions of the values of functions and steps.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_CONVERSION_DIMENSIONS_H
#define LLMIR_CONVERSION_DIMENSIONS_H

#include "mlir/IR/BuiltinTypeInterfaces.h"

#include "llvm/ADT/STLExtras.h"

#include <optional>

namespace llmir {

/// The index of a dimension, which may be negative to count from the end.
inline int64_t dimOf(int64_t dim, int64_t rank) {
  return dim < 0 ? dim + rank : dim;
}

/// The dynamic dimension of a tensor of a step, whose indices are rows of the
/// step: its tokens, or those selected from them. nullopt if all sizes are
/// static.
inline std::optional<int64_t> rowDimension(llvm::ArrayRef<int64_t> shape) {
  const auto *dynamic = llvm::find_if(shape, mlir::ShapedType::isDynamic);
  if (dynamic == shape.end())
    return std::nullopt;
  return dynamic - shape.begin();
}

} // namespace llmir

#endif // LLMIR_CONVERSION_DIMENSIONS_H
