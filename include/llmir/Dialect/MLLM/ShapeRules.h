//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How the shape of a result follows from those of the operands, once for the
// verifier, type inference, eager execution and the text parser. Every rule
// takes sizes that are not known and says no only where the sizes differ
// whatever the symbols are. A failure is InvalidArgument; its cause reads well
// after the op's name. Links neither MLIR nor LLVM.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_SHAPERULES_H
#define LLMIR_DIALECT_MLLM_SHAPERULES_H

#include "llmir/Dialect/MLLM/DimExpr.h"
#include "llmir/Support/Status.h"

namespace llmir::shapes {

/// InvalidArgument with this cause.
Status shapeError(std::string cause);

/// The two sizes as one, the better known; `what` names them in the failure:
/// "the keys and the values have different numbers of heads: 2 and 4".
Expected<DimExpr> sameSize(const DimExpr &a, const DimExpr &b,
                           const std::string &what);
/// Equal shapes as one.
Expected<Shape> sameShape(const Shape &a, const Shape &b);

/// An axis from 0: negative ones count from the end. `what` names the
/// attribute in the failure.
Expected<int64_t> normalizeAxis(int64_t axis, size_t rank,
                                const std::string &what = "axis");

/// NumPy's rule: aligned at the last dimension, sizes of 1 repeat.
Expected<Shape> broadcast(const Shape &a, const Shape &b);

/// Values of a tensor: the product of its sizes.
DimExpr numElements(const Shape &shape);
/// `to` with its one -1, if any, computed from the number of values.
Expected<Shape> reshape(const Shape &from, const std::vector<int64_t> &to);
/// Fails where two shapes cannot hold the same number of values.
Status sameNumElements(const Shape &from, const Shape &to);

/// Result dimension i is dimension order[i]; `order` names each one once.
Expected<Shape> permute(const Shape &shape, const std::vector<int64_t> &order);
/// With two dimensions exchanged.
Expected<Shape> transpose(const Shape &shape, int64_t a, int64_t b);
/// One after another along an axis; the other sizes are equal. At least one.
Expected<Shape> concat(const std::vector<Shape> &parts, int64_t axis);
/// Equal shapes along a new axis, which counts among rank + 1.
Expected<Shape> stack(const std::vector<Shape> &parts, int64_t axis);
/// One section: parts of that size, which divides the axis, a number then;
/// several: parts of those sizes, which sum up to the axis.
Expected<std::vector<Shape>> split(const Shape &shape, int64_t axis,
                                   const std::vector<int64_t> &sections);
/// Each slice of an axis `times` times, one after another.
Expected<Shape> repeat(const Shape &shape, int64_t axis, int64_t times);
/// Without the axes, or with sizes of 1 there; no axes are all of them.
Expected<Shape> reduce(const Shape &shape, const std::vector<int64_t> &axes,
                       bool keepDims);
/// The axis replaced by the shape of the indices.
Expected<Shape> gather(const Shape &table, const Shape &indices, int64_t axis);

/// [.., M, K] times [.., K, N]; leading dimensions broadcast, and either
/// matrix may be stored transposed. Rank 2 or more each.
Expected<Shape> matmul(const Shape &a, const Shape &b, bool transposeA,
                       bool transposeB);

/// A convolution's window along its spatial dimensions; one entry each.
struct Window {
  std::vector<int64_t> kernel, stride, padLow, padHigh, dilation;
};
/// (size + low + high - dilation * (kernel - 1) - 1) / stride + 1, per
/// dimension. Fails where the window does not fit in once.
Expected<Shape> windowed(const Shape &spatial, const Window &window);
/// x [batch, channels, spatial…] to [batch, outChannels, spatial…].
Expected<Shape> convolution(const Shape &x, int64_t outChannels,
                            const Window &window);

} // namespace llmir::shapes

#endif // LLMIR_DIALECT_MLLM_SHAPERULES_H
