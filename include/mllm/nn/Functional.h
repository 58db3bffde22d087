//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions of tensors without parameters; each is one op.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_NN_FUNCTIONAL_H
#define MLLM_NN_FUNCTIONAL_H

#include "mllm/Tensor.h"

namespace mllm::nn::F {

/// a […, M, K], b […, K, N] -> […, M, N]; either may be stored transposed.
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

// A tensor shaped as x, of its type and on its device; x is not read.
Tensor zerosLike(const Tensor &x);
Tensor onesLike(const Tensor &x);
Tensor fullLike(const Tensor &x, double value);
/// start + i * step for the i-th value in row-major order.
Tensor arangeLike(const Tensor &x, double start = 0, double step = 1);
/// Even in [start, end), the same for the same seed.
Tensor randomLike(const Tensor &x, double start, double end, int64_t seed);
/// The values of `source`, where `place` lies: it gives shape and device.
Tensor copy(const Tensor &place, const Tensor &source);

// Of bools.
Tensor logicalAnd(const Tensor &a, const Tensor &b);
Tensor logicalOr(const Tensor &a, const Tensor &b);
Tensor logicalNot(const Tensor &x);

Tensor concat(const std::vector<Tensor> &parts, int64_t dim);
Tensor stack(const std::vector<Tensor> &parts, int64_t dim);
/// Rows of a table along `dim`, chosen by index.
Tensor gather(const Tensor &table, const Tensor &indices, int64_t dim);
Tensor where(const Tensor &condition, const Tensor &a, const Tensor &b);

/// Every `step`-th index from `start` on that is below `end`. Negative ones
/// count from the size; an end of kSymbolic is the size.
struct Range {
  int64_t start = 0, end = kSymbolic, step = 1;
};
/// A range for each dimension; dimensions without one stay whole.
Tensor slice(const Tensor &x, std::vector<Range> ranges);
/// A range of a dimension, or a tensor of indices into it.
struct Indexer {
  Indexer(Range range = {}) : range(range) {}
  Indexer(Tensor indices) : indices(std::move(indices)), isTensor(true) {}
  Range range;
  Tensor indices;
  bool isTensor = false; ///< A null tensor is no range.
};
/// As NumPy's x[:, i, 0:4]: tensors of indices broadcast and choose together.
Tensor index(const Tensor &x, std::vector<Indexer> indexers);

/// x with source[a…, i, b…] at [a…, indices[a…, i, b…], b…], the index in
/// `dim`; of several values for a place the last stays.
Tensor scatter(const Tensor &x, const Tensor &indices, const Tensor &source,
               int64_t dim);
/// x with the next value of `source` at each place that the mask chooses.
Tensor maskedScatter(const Tensor &x, const Tensor &mask, const Tensor &source);
/// low[d] values before and high[d] after dimension d; mode: constant (of
/// `value`), reflect, replicate, circular.
Tensor pad(const Tensor &x, const std::vector<int64_t> &low,
           const std::vector<int64_t> &high,
           const std::string &mode = "constant", double value = 0);

Tensor max(const Tensor &x, int64_t dim, bool keepDim = false);
Tensor min(const Tensor &x, int64_t dim, bool keepDim = false);
Tensor sum(const Tensor &x, int64_t dim, bool keepDim = false);
Tensor mean(const Tensor &x, int64_t dim, bool keepDim = false);
/// The k greatest (or least) of a dimension, the greatest (least) first unless
/// the order does not matter, and their indices.
std::pair<Tensor, Tensor> topk(const Tensor &x, int64_t k, int64_t dim = -1,
                               bool largest = true, bool sorted = true);
/// The indices that sort a dimension; equal values stay in their order.
Tensor argsort(const Tensor &x, int64_t dim = -1, bool descending = false);

/// x [B, C, sizes…] resampled to `size`; mode: nearest, linear, bilinear,
/// bicubic, trilinear.
Tensor interpolate(const Tensor &x, const std::vector<int64_t> &size,
                   const std::string &mode = "nearest",
                   bool alignCorners = false, bool antialias = false);
/// The same with a factor for each size.
Tensor interpolateBy(const Tensor &x, const std::vector<double> &factors,
                     const std::string &mode = "nearest",
                     bool alignCorners = false, bool antialias = false);

/// A tensor of results that a function of the user's gives: its shape and type.
struct ResultType {
  std::vector<Dim> shape;
  DataTypes dtype = kFp32;
};
/// What the function registered under `id` (llmir/Reference/CustomOps.h)
/// computes from at least one input. Compiled code does not know it.
std::vector<Tensor> customized(const std::string &name, int64_t id,
                               const std::vector<Tensor> &inputs,
                               const std::vector<ResultType> &results);

} // namespace mllm::nn::F

#endif // MLLM_NN_FUNCTIONAL_H
