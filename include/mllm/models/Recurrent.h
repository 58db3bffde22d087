//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layers of decoders that keep a state of the sequence in place of keys and
// values, as modules: x [T, hidden] -> same shape. They are traced in the fused
// form only.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_MODELS_RECURRENT_H
#define MLLM_MODELS_RECURRENT_H

#include "mllm/models/Families.h"
#include "mllm/nn/Layers.h"
#include "mllm/nn/StateLayers.h"

#include <vector>

namespace mllm::models {

/// LFM2: out_proj(c * conv(b * u)) of projections b, c, u.
class ShortConv : public nn::Module {
public:
  ShortConv(const DecoderConfig &config, int64_t layer);
  Tensor forward(const Tensor &x) override;

private:
  nn::Linear before, after, values, output;
  nn::CausalConv conv;
};

/// The gated delta rule (arXiv:2412.06464), as in Qwen3-Next: of projections
/// [q, k, v], z, b and a of x,
///   q, k, v = silu(conv([q, k, v])), q = q / |q| / sqrt(D), k = k / |k|
///   g = exp(-exp(A_log) softplus(a + dt_bias)), y = linear attention with the
///   decay g and beta = sigmoid(b)
///   out_proj(norm(y) * silu(z))
class DeltaNet : public nn::Module {
public:
  /// `isGrouped`: folders have [q, k, v, z] and [b, a] for each key head.
  DeltaNet(const DecoderConfig &config, bool isGrouped, int64_t layer);
  Tensor forward(const Tensor &x) override;

private:
  Tensor mixedInputs(const Tensor &x) const;

  llmir::RecurrentConfig sizes;
  std::vector<nn::Linear> inputs; ///< [q, k, v], or q, k and v.
  nn::Linear gate, rates, times;
  nn::CausalConv conv;
  nn::Param timeBias, decay;
  nn::LinearAttention recurrence;
  nn::RMSNorm norm;
  nn::Linear output;
};

/// Mamba-2 (arXiv:2405.21060) with the gate before the norm, as in Granite 4:
/// of projections z, [u, B, C] and dt of x,
///   u, B, C = silu(conv([u, B, C])), dt = softplus(dt + dt_bias)
///   S = exp(dt A) S + B (dt u)^T, y = S^T C + D u
///   out_proj(norm(y * silu(z)))
class Mamba2 : public nn::Module {
public:
  Mamba2(const DecoderConfig &config, int64_t layer);
  Tensor forward(const Tensor &x) override;

private:
  llmir::RecurrentConfig sizes;
  nn::Linear gate, inputs, times;
  nn::CausalConv conv;
  nn::Param timeBias, decay, skip;
  nn::LinearAttention recurrence;
  nn::RMSNorm norm;
  nn::Linear output;
};

} // namespace mllm::models

#endif // MLLM_MODELS_RECURRENT_H
