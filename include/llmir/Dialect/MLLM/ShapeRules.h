//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shape inference rules shared by verifiers, type inference, eager execution
// and the text parser. Rules accept unknown sizes and fail only if sizes differ
// for all values of the symbols. Failures are InvalidArgument with a message
// that continues the op's name. Does not depend on MLIR or LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_SHAPERULES_H
#define LLMIR_DIALECT_MLLM_SHAPERULES_H

#include "llmir/Dialect/MLLM/DimExpr.h"
#include "llmir/Support/Status.h"

namespace llmir::shapes {

/// InvalidArgument with the message `cause`.
Status shapeError(std::string cause);

/// Returns the more precise of two equal sizes; `what` names them in the error
/// message: "the keys and the values have different numbers of heads: 2 and 4".
Expected<DimExpr> sameSize(const DimExpr &a, const DimExpr &b,
                           const std::string &what);
/// The same for shapes.
Expected<Shape> sameShape(const Shape &a, const Shape &b);

/// Normalizes an axis, which counts from the end if negative. `what` names the
/// attribute in the error message.
Expected<int64_t> normalizeAxis(int64_t axis, size_t rank,
                                const std::string &what = "axis");

/// Broadcasts shapes according to NumPy's rules.
Expected<Shape> broadcast(const Shape &a, const Shape &b);

/// The number of elements: the product of the sizes.
DimExpr numElements(const Shape &shape);
/// `to` with its -1, if any, inferred from the number of elements.
Expected<Shape> reshape(const Shape &from, const std::vector<int64_t> &to);
/// Fails if two shapes cannot have the same number of elements.
Status sameNumElements(const Shape &from, const Shape &to);

/// Dimension i of the result is dimension order[i] of `shape`; `order` must be
/// a permutation.
Expected<Shape> permute(const Shape &shape, const std::vector<int64_t> &order);
/// Exchanges two dimensions.
Expected<Shape> transpose(const Shape &shape, int64_t a, int64_t b);
/// Concatenates along an axis; all other sizes must be equal. Requires at least
/// one part.
Expected<Shape> concat(const std::vector<Shape> &parts, int64_t axis);
/// Stacks equal shapes along a new axis, numbered within rank + 1 dimensions.
Expected<Shape> stack(const std::vector<Shape> &parts, int64_t axis);
/// A single section is the size of all parts and must divide the axis, which
/// must be static; several sections are the sizes of the parts and must sum to
/// the size of the axis.
Expected<std::vector<Shape>> split(const Shape &shape, int64_t axis,
                                   const std::vector<int64_t> &sections);
/// Repeats each slice of an axis `times` times.
Expected<Shape> repeat(const Shape &shape, int64_t axis, int64_t times);
/// Removes the axes, or sets their sizes to 1; no axes means all axes.
Expected<Shape> reduce(const Shape &shape, const std::vector<int64_t> &axes,
                       bool keepDims);
/// Replaces the axis by the shape of the indices.
Expected<Shape> gather(const Shape &table, const Shape &indices, int64_t axis);

/// [.., M, K] times [.., K, N]; leading dimensions are broadcast, and either
/// matrix may be transposed. Both ranks must be at least 2.
Expected<Shape> matmul(const Shape &a, const Shape &b, bool transposeA,
                       bool transposeB);

/// The window of a convolution; one element per spatial dimension.
struct Window {
  std::vector<int64_t> kernel, stride, padLow, padHigh, dilation;
};
/// (size + low + high - dilation * (kernel - 1) - 1) / stride + 1, per
/// dimension. Fails if the window is larger than the padded dimension.
Expected<Shape> windowed(const Shape &spatial, const Window &window);
/// x [batch, channels, spatial…] to [batch, outChannels, spatial…].
Expected<Shape> convolution(const Shape &x, int64_t outChannels,
                            const Window &window);

} // namespace llmir::shapes

#endif // LLMIR_DIALECT_MLLM_SHAPERULES_H
