//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Reference/Recurrence.h"

namespace llmir::reference {

Tensor causalConv(const Tensor &x, const Tensor &weight, Tensor &tail) {
  const Tensor all = concatenate({tail, x}, 0);
  const int64_t taps = weight.dim(0), channels = x.dim(1);
  Tensor result(x.kind, x.shape);
  for (int64_t t = 0; t < x.dim(0); ++t)
    for (int64_t c = 0; c < channels; ++c) {
      double sum = 0;
      for (int64_t j = 0; j < taps; ++j)
        sum += weight.at({j, c}) * all.at({t + j, c});
      result.at({t, c}) = sum;
    }
  tail = all.slice(0, x.dim(0), taps - 1);
  return result;
}

/// One token and head: k and q [D], v and the result [V], the matrix [D, V].
static void advance(const double *q, const double *k, const double *v,
                    double decay, const double *beta, double *matrix,
                    double *result, int64_t keyDim, int64_t valueDim) {
  for (int64_t j = 0; j < valueDim; ++j) {
    double known = 0;
    for (int64_t i = 0; i < keyDim; ++i) {
      matrix[i * valueDim + j] *= decay;
      known += k[i] * matrix[i * valueDim + j];
    }
    const double delta = beta ? *beta * (v[j] - known) : v[j];
    result[j] = 0;
    for (int64_t i = 0; i < keyDim; ++i) {
      matrix[i * valueDim + j] += k[i] * delta;
      result[j] += q[i] * matrix[i * valueDim + j];
    }
  }
}

Tensor linearAttention(const LinearAttention &operands, Tensor &matrices) {
  const Tensor &v = operands.v;
  const int64_t heads = v.dim(1), keyHeads = operands.k.dim(1);
  Tensor result(v.kind, v.shape);
  for (int64_t t = 0; t < v.dim(0); ++t)
    for (int64_t h = 0; h < heads; ++h) {
      const int64_t g =
          operands.interleaved ? h % keyHeads : h / (heads / keyHeads);
      double beta = operands.beta ? operands.beta->at({t, h}) : 0;
      advance(operands.q.from({t, g, 0}), operands.k.from({t, g, 0}),
              v.from({t, h, 0}), operands.decay.at({t, h}),
              operands.beta ? &beta : nullptr, matrices.from({h, 0, 0}),
              result.from({t, h, 0}), operands.k.dim(2), v.dim(2));
    }
  return result;
}

} // namespace llmir::reference
