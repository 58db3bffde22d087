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
Tensor gelu(const Tensor &x);
Tensor relu(const Tensor &x);
Tensor sigmoid(const Tensor &x);
Tensor exp(const Tensor &x);
Tensor log(const Tensor &x);
Tensor sin(const Tensor &x);
Tensor cos(const Tensor &x);
Tensor abs(const Tensor &x);
Tensor clip(const Tensor &x, double least, double greatest);

Tensor concat(const std::vector<Tensor> &parts, int64_t dim);
Tensor stack(const std::vector<Tensor> &parts, int64_t dim);
/// Rows of a table along `dim`, chosen by index.
Tensor gather(const Tensor &table, const Tensor &indices, int64_t dim);
Tensor where(const Tensor &condition, const Tensor &a, const Tensor &b);

Tensor max(const Tensor &x, int64_t dim, bool keepDim = false);
Tensor min(const Tensor &x, int64_t dim, bool keepDim = false);
Tensor sum(const Tensor &x, int64_t dim, bool keepDim = false);
Tensor mean(const Tensor &x, int64_t dim, bool keepDim = false);
/// The k greatest of a dimension, the greatest first, and their indices.
std::pair<Tensor, Tensor> topk(const Tensor &x, int64_t k, int64_t dim = -1);

/// x [B, C, sizes…] resampled to `size`; mode: nearest, linear, bilinear,
/// bicubic, trilinear.
Tensor interpolate(const Tensor &x, const std::vector<int64_t> &size,
                   const std::string &mode = "nearest",
                   bool alignCorners = false);

} // namespace mllm::nn::F

#endif // MLLM_NN_FUNCTIONAL_H
