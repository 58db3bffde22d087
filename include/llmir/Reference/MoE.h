//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reference expert routing and sampling.
//
// T tokens, E experts, k selected experts per token, K inputs, F inner size of
// an expert.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_REFERENCE_MOE_H
#define LLMIR_REFERENCE_MOE_H

#include "llmir/Reference/Tensor.h"
#include "llmir/Support/Sampler.h"

namespace llmir::reference {

enum class RouteScore { Softmax, Sigmoid };

struct Routing {
  Tensor experts; ///< [T, k] i32, by descending logit; equals by number,
                  ///< NaN last.
  Tensor weights; ///< [T, k]
};
/// Scores are the softmax or the sigmoid of logits [T, E]; `normalize` divides
/// the selected scores by their sum.
Routing moeRoute(const Tensor &logits, int64_t topK, RouteScore score,
                 bool normalize);

/// The parameters of gated MLPs.
struct ExpertParameters {
  Tensor gate, up, down; ///< [E, F, K], [E, F, K], [E, K, F]
  /// None, or [E, F, 1], [E, F, 1], [E, K, 1].
  std::vector<Tensor> biases = {};
  double swigluLimit = 0; ///< 0: silu(g) · u; see clampedSwiGLU.
  bool usesGELU = false;  ///< The tanh form in place of silu.
};

/// g' · σ(1.702 g') · (u' + 1) with g' = min(g, limit) and u' = u clamped to
/// [−limit, limit]; NaN stays NaN.
double clampedSwiGLU(double g, double u, double limit);

/// y[t] = Σ_e weight_e · down_e · (silu(gate_e · x[t]) ⊙ (up_e · x[t])) over
/// the token's experts in ascending order, each product with its bias, if
/// any. x [T, K]; every expert is less than E.
Tensor moeFFN(const Tensor &x, const Tensor &experts, const Tensor &weights,
              const ExpertParameters &mlps);

/// Samples one id [R] from each row of logits [R, V] like the runtime's
/// Sampler; row r is the first draw of a generator with seed `params.seed` + r.
Tensor sample(const Tensor &logits, const SamplingParams &params);

} // namespace llmir::reference

#endif // LLMIR_REFERENCE_MOE_H
