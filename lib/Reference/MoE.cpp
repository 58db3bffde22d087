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

double clampedSwiGLU(double g, double u, double limit) {
  constexpr double alpha = 1.702;
  if (g > limit)
    g = limit;
  if (u > limit || u < -limit)
    u = u > 0 ? limit : -limit;
  return g * sigmoid(alpha * g) * (u + 1);
}

/// The product of a row with matrix e of [E, rows, columns], plus the bias.
static Tensor ofExpert(const ExpertParameters &mlps, const Tensor &matrices,
                       size_t number, int64_t e, const Tensor &row) {
  const int64_t rows = matrices.dim(1);
  const Tensor matrix =
      matrices.slice(0, e, 1).reshaped({rows, matrices.dim(2)});
  if (mlps.biases.empty())
    return linear(row, matrix);
  const Tensor bias = mlps.biases[number].slice(0, e, 1).reshaped({rows});
  return linear(row, matrix, &bias);
}

Tensor moeFFN(const Tensor &x, const Tensor &experts, const Tensor &weights,
              const ExpertParameters &mlps) {
  const double limit = mlps.swigluLimit;
  Tensor result(x.kind, x.shape);
  for (int64_t e = 0; e < mlps.gate.dim(0); ++e)
    for (int64_t t = 0; t < x.dim(0); ++t)
      for (int64_t i = 0; i < experts.dim(1); ++i) {
        if (experts.integer(t * experts.dim(1) + i) != e)
          continue;
        const Tensor token = x.slice(0, t, 1);
        const Tensor inner =
            map(ofExpert(mlps, mlps.gate, 0, e, token),
                ofExpert(mlps, mlps.up, 1, e, token), [&](double g, double u) {
                  if (mlps.usesGELU)
                    return gelu(g, GeluApproximation::Tanh) * u;
                  return limit > 0 ? clampedSwiGLU(g, u, limit) : silu(g) * u;
                });
        const Tensor y = ofExpert(mlps, mlps.down, 2, e, inner);
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
