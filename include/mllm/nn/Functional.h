//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions on tensors without parameters; each is one op.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_NN_FUNCTIONAL_H
#define MLLM_NN_FUNCTIONAL_H

#include "mllm/Tensor.h"

namespace mllm::nn::F {

/// a […, M, K], b […, K, N] -> […, M, N]; either may be transposed.
Tensor matmul(const Tensor &a, const Tensor &b, bool transposeA = false,
              bool transposeB = false);
Tensor softmax(const Tensor &x, int64_t axis);
Tensor silu(const Tensor &x);
/// The tanh form, or x * Phi(x) itself.
Tensor gelu(const Tensor &x, bool exact = false);
/// x * sigmoid(1.702 x).
Tensor quickGelu(const Tensor &x);
Tensor relu(const Tensor &x);
Tensor sigmoid(const Tensor &x);
Tensor exp(const Tensor &x);
Tensor log(const Tensor &x);
Tensor sin(const Tensor &x);
Tensor cos(const Tensor &x);
Tensor abs(const Tensor &x);
Tensor clip(const Tensor &x, double least, double greatest);

// A tensor with the shape, type and device of x, whose elements are not read.
Tensor zerosLike(const Tensor &x);
Tensor onesLike(const Tensor &x);
Tensor fullLike(const Tensor &x, double value);
/// start + i * step for element i in row-major order.
Tensor arangeLike(const Tensor &x, double start = 0, double step = 1);
/// Uniform in [start, end), deterministic for a given seed.
Tensor randomLike(const Tensor &x, double start, double end, int64_t seed);
/// The elements of `source` in the memory of `dst`, which has the same shape.
Tensor copy(const Tensor &dst, const Tensor &source);

// Of bools.
Tensor logicalAnd(const Tensor &a, const Tensor &b);
Tensor logicalOr(const Tensor &a, const Tensor &b);
Tensor logicalNot(const Tensor &x);

Tensor concat(const std::vector<Tensor> &parts, int64_t dim);
Tensor stack(const std::vector<Tensor> &parts, int64_t dim);
/// Gathers slices of a table along `dim` by index.
Tensor gather(const Tensor &table, const Tensor &indices, int64_t dim);
Tensor where(const Tensor &condition, const Tensor &a, const Tensor &b);

/// Indices start, start + step, … less than `end`. Negative values are relative
/// to the size; an end of kSymbolic is the size.
struct Range {
  int64_t start = 0, end = kSymbolic, step = 1;
};
/// Slices each dimension by a range; dimensions without a range are not sliced.
Tensor slice(const Tensor &x, std::vector<Range> ranges);
/// A range of a dimension, or an index tensor.
struct Indexer {
  Indexer(Range range = {}) : range(range) {}
  Indexer(Tensor indices) : indices(std::move(indices)), isTensor(true) {}
  Range range;
  Tensor indices;
  bool isTensor = false; ///< Distinguishes a null tensor from a range.
};
/// Like NumPy's x[:, i, 0:4]: index tensors are broadcast and used together.
Tensor index(const Tensor &x, std::vector<Indexer> indexers);

/// x with source[a…, i, b…] at [a…, indices[a…, i, b…], b…], with the index in
/// `dim`; the last of several writes wins.
Tensor scatter(const Tensor &x, const Tensor &indices, const Tensor &source,
               int64_t dim);
/// x with consecutive elements of `source` where the mask is true.
Tensor maskedScatter(const Tensor &x, const Tensor &mask, const Tensor &source);
/// Adds low[d] elements before and high[d] after dimension d; mode: constant
/// (with `value`), reflect, replicate, circular.
Tensor pad(const Tensor &x, const std::vector<int64_t> &low,
           const std::vector<int64_t> &high,
           const std::string &mode = "constant", double value = 0);

Tensor max(const Tensor &x, int64_t dim, bool keepDim = false);
Tensor min(const Tensor &x, int64_t dim, bool keepDim = false);
Tensor sum(const Tensor &x, int64_t dim, bool keepDim = false);
Tensor mean(const Tensor &x, int64_t dim, bool keepDim = false);
/// The k greatest (or least) elements of a dimension, greatest (least) first
/// unless the order does not matter, and their indices.
std::pair<Tensor, Tensor> topk(const Tensor &x, int64_t k, int64_t dim = -1,
                               bool largest = true, bool sorted = true);
/// The indices that sort a dimension stably.
Tensor argsort(const Tensor &x, int64_t dim = -1, bool descending = false);

/// Resamples x [B, C, sizes…] to `size`; mode: nearest, linear, bilinear,
/// bicubic, trilinear.
Tensor interpolate(const Tensor &x, const std::vector<int64_t> &size,
                   const std::string &mode = "nearest",
                   bool alignCorners = false, bool antialias = false);
/// The same with one scale factor per dimension.
Tensor interpolateBy(const Tensor &x, const std::vector<double> &factors,
                     const std::string &mode = "nearest",
                     bool alignCorners = false, bool antialias = false);

/// Shape and type of a result of a custom op.
struct ResultType {
  std::vector<Dim> shape;
  DataTypes dtype = kFp32;
};
/// Calls the function registered under `id` (llmir/Reference/CustomOps.h) with
/// at least one input. Not supported in compiled code.
std::vector<Tensor> customized(const std::string &name, int64_t id,
                               const std::vector<Tensor> &inputs,
                               const std::vector<ResultType> &results);

} // namespace mllm::nn::F

#endif // MLLM_NN_FUNCTIONAL_H
