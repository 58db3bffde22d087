//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layers that keep a state of the sequence. Outside a trace, the root of the
// module tree holds it until reset().
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_NN_STATELAYERS_H
#define MLLM_NN_STATELAYERS_H

#include "mllm/nn/Module.h"

#include <optional>

namespace mllm::nn {

/// The causal convolution of each channel over the tokens of a sequence.
class CausalConv : public Layer {
public:
  /// `taps`: tokens, with itself, that a token's result depends on; `layer`:
  /// index among the layers that keep a state.
  CausalConv(int64_t channels, int64_t taps, bool hasBias, int64_t layer);

  /// x [T, channels] -> same shape
  Tensor operator()(const Tensor &x) const;

private:
  Parameter weight;
  std::optional<Parameter> bias;
  int64_t layer;
};

/// Attention as a recurrence over a matrix per head, `mllm.linalg`'s
/// linear_attention.
class LinearAttention : public Layer {
public:
  explicit LinearAttention(int64_t layer, bool interleaved = false)
      : layer(layer), interleaved(interleaved) {}

  /// q, k [T, G, D], v [T, H, V], decay [T, H] -> [T, H, V]
  Tensor operator()(const Tensor &q, const Tensor &k, const Tensor &v,
                    const Tensor &decay) const;
  /// The delta rule: beta [T, H].
  Tensor operator()(const Tensor &q, const Tensor &k, const Tensor &v,
                    const Tensor &decay, const Tensor &beta) const;

private:
  Tensor call(const std::vector<Tensor> &operands) const;

  int64_t layer;
  bool interleaved;
};

} // namespace mllm::nn

#endif // MLLM_NN_STATELAYERS_H
