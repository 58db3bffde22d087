//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions whose sizes are known only when they run, as functions of static
// shapes: every tensor is as large as the ranges of its sizes allow, and the
// sizes are arguments. What lies behind a tensor's own elements (its padding)
// has any value, and nothing that a function gives depends on it.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_CONVERSION_BOUNDSIZES_H
#define LLMIR_CONVERSION_BOUNDSIZES_H

#include "llmir/Dialect/MLLM/DimExpr.h"
#include "llmir/Support/Status.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <optional>

namespace llmir {

/// The attribute of a function's argument that names its sizes, as
/// `#mllm.tensor<dims = (seq, 64)>`, where its type has no such encoding.
constexpr llvm::StringLiteral kSizesAttr = "mllm.sizes";
/// The attribute of a function, or subgraph, with a range for each name.
constexpr llvm::StringLiteral kDimsAttr = "mllm.dims";

/// A named size and the values that it takes.
struct BoundedSize {
  std::string name;
  int64_t least, greatest, multiple;
};

/// What the caller of a bounded function must know.
struct BoundedSizes {
  /// The function's last arguments, of type `index`, in order.
  std::vector<BoundedSize> sizes;
  /// What the sizes of each argument, those of `sizes` excluded, and of each
  /// result are; of what is no tensor there are none.
  std::vector<shapes::Shape> arguments, results;

  /// The number for each of `sizes`, read from the shapes of the arguments
  /// (nullopt: no tensor). Fails where a shape is not what its names say, where
  /// one name is two numbers, or where a number is beyond its range.
  Expected<std::vector<int64_t>>
  bind(const std::vector<std::optional<std::vector<int64_t>>> &shapes) const;
  /// A shape of `results` for those numbers.
  std::vector<int64_t> evaluate(const shapes::Shape &shape,
                                const std::vector<int64_t> &numbers) const;
};

/// Whether an argument of the function has a size that is not known.
bool hasDynamicSizes(mlir::func::FuncOp function);

/// Makes the function one of static shapes, in place. Its sizes must have names
/// with ranges. Fails, with an error that names the op, where results would
/// depend on padding, or where nobody says how large a tensor gets.
mlir::FailureOr<BoundedSizes> boundSizes(mlir::func::FuncOp function);

} // namespace llmir

#endif // LLMIR_CONVERSION_BOUNDSIZES_H
