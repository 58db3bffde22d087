//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Reference/MoE.h"
#include "llmir/Reference/NN.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace llmir::reference {

Routing moeRoute(const Tensor &logits, int64_t topK, RouteScore score,
                 bool normalize) {
  const int64_t tokens = logits.dim(0), numExperts = logits.dim(1);
  const Tensor scores =
      score == RouteScore::Softmax ? softmax(logits) : map(logits, sigmoid);
  Routing result{Tensor(ElementKind::I32, {tokens, topK}),
                 Tensor(logits.kind, {tokens, topK})};
  for (int64_t t = 0; t < tokens; ++t) {
    // By logit, since saturated scores of different logits may be equal.
    std::vector<int64_t> order(static_cast<size_t>(numExperts));
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      const double x = logits.at({t, a}), y = logits.at({t, b});
      if (std::isnan(x) || std::isnan(y))
        return std::isnan(x) == std::isnan(y) ? a < b : std::isnan(y);
      return x != y ? x > y : a < b;
    });
    double sum = 0;
    for (int64_t i = 0; i < topK; ++i)
      sum += scores.at({t, order[static_cast<size_t>(i)]});
    for (int64_t i = 0; i < topK; ++i) {
      const int64_t expert = order[static_cast<size_t>(i)];
      result.experts.at({t, i}) = double(expert);
      result.weights.at({t, i}) =
          scores.at({t, expert}) / (normalize ? sum : 1.0);
    }
  }
  return result;
}

/// Matrix e of [E, rows, columns].
static Tensor expertMatrix(const Tensor &weights, int64_t expert) {
  return weights.slice(0, expert, 1).reshaped({weights.dim(1), weights.dim(2)});
}

Tensor moeFFN(const Tensor &x, const Tensor &experts, const Tensor &weights,
              const Tensor &gate, const Tensor &up, const Tensor &down) {
  Tensor result(x.kind, x.shape);
  for (int64_t e = 0; e < gate.dim(0); ++e)
    for (int64_t t = 0; t < x.dim(0); ++t)
      for (int64_t i = 0; i < experts.dim(1); ++i) {
        if (experts.integer(t * experts.dim(1) + i) != e)
          continue;
        const Tensor token = x.slice(0, t, 1);
        const Tensor inner =
            map(linear(token, expertMatrix(gate, e)),
                linear(token, expertMatrix(up, e)),
                [](double g, double u) { return silu(g) * u; });
        const Tensor y = linear(inner, expertMatrix(down, e));
        for (int64_t k = 0; k < y.size(); ++k)
          result.at({t, k}) += weights.at({t, i}) * y[k];
      }
  return result;
}

Tensor sample(const Tensor &logits, const SamplingParams &params) {
  Tensor result(ElementKind::I32, {logits.dim(0)});
  for (int64_t r = 0; r < logits.dim(0); ++r) {
    std::vector<float> row(logits.row(r), logits.row(r) + logits.columns());
    SamplingParams ofRow = params;
    ofRow.seed += static_cast<uint64_t>(r);
    result[r] = Sampler(ofRow).sample(row);
  }
  return result;
}

} // namespace llmir::reference
