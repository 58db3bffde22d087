//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Converts functions with dynamic sizes to functions with static shapes: every
// tensor has its maximum size, and the actual sizes are arguments. Elements
// beyond the actual sizes (padding) are unspecified, and results do not depend
// on them.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_CONVERSION_BOUNDSIZES_H
#define LLMIR_CONVERSION_BOUNDSIZES_H

#include "llmir/Dialect/MLLM/DimExpr.h"
#include "llmir/Support/Status.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace llmir {

/// The argument attribute that names sizes, for example
/// `#mllm.tensor<dims = (seq, 64)>`, if the type has no such encoding.
constexpr llvm::StringLiteral kSizesAttr = "mllm.sizes";
/// The attribute of a function or subgraph with a range for each name.
constexpr llvm::StringLiteral kDimsAttr = "mllm.dims";

/// A named size and its range.
struct BoundedSize {
  std::string name;
  int64_t least, greatest, multiple;
};

/// The calling convention of a bounded function.
struct BoundedSizes {
  /// The trailing arguments of the function, of type `index`.
  std::vector<BoundedSize> sizes;
  /// The shape of each argument, except those of `sizes`, and of each result;
  /// empty for non-tensors.
  std::vector<shapes::Shape> arguments, results;

  /// Returns the values of `sizes`, derived from the shapes of the arguments
  /// (nullopt: not a tensor). Fails if a shape contradicts its declaration, if
  /// a name has two values, or if a value is out of range.
  Expected<std::vector<int64_t>>
  bind(const std::vector<std::optional<std::vector<int64_t>>> &shapes) const;
  /// Evaluates a shape of `results` for these values.
  std::vector<int64_t> evaluate(const shapes::Shape &shape,
                                const std::vector<int64_t> &numbers) const;
};

/// Whether an argument of the function has a dynamic size.
bool hasDynamicSizes(mlir::func::FuncOp function);

/// Converts the function to static shapes, in place. Its sizes must be named
/// and have ranges. Fails, with an error that names the op, if results would
/// depend on padding, or if the maximum size of a tensor is unknown.
mlir::FailureOr<BoundedSizes> boundSizes(mlir::func::FuncOp function);

} // namespace llmir

#endif // LLMIR_CONVERSION_BOUNDSIZES_H
