//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Base of the attention modules of decoders, in two traced forms.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_MODELS_ATTENTION_H
#define MLLM_MODELS_ATTENTION_H

#include "mllm/models/Families.h"
#include "mllm/nn/Layers.h"

#include <optional>

namespace mllm::models {

enum class AttentionForm {
  /// One op over the tokens [T] of one sequence: what `llmir compile` traces.
  Fused,
  /// Step by step over a batch [B, T] of sequences of equal length: what
  /// MLLM's documentation shows.
  Explicit,
};

/// cap * tanh(x / cap), element-wise.
Tensor softCapped(const Tensor &x, double cap);
/// x / sqrt(mean(x^2) + eps), over the last dimension.
Tensor normalized(const Tensor &x, double eps);

/// Attention over heads, within the window of its layer, to earlier tokens or
/// to all of the sequence, as the config says; subclasses implement the
/// projections.
class CausalAttention : public nn::Module {
protected:
  CausalAttention(const DecoderConfig &config, AttentionForm form,
                  int64_t layer);

  /// projection(x) as heads: x [(B,) T, hidden] -> [(B,) T, count, headDim]
  Tensor heads(const nn::Linear &projection, const Tensor &x,
               int64_t count) const;
  /// x as heads: [(B,) T, count * headDim] -> [(B,) T, count, headDim]
  Tensor asHeads(const Tensor &x, int64_t count) const;
  /// [(B,) T, count, headDim] in layout(): [B, count, T, headDim], or
  /// unchanged.
  Tensor toLayout(const Tensor &heads) const;
  nn::Layout layout() const {
    return form == AttentionForm::Explicit ? nn::Layout::BHSD
                                           : nn::Layout::BSHD;
  }
  /// q, k, v: heads in layout() -> [(B,) T, numHeads * headDim]
  Tensor attend(const Tensor &q, const Tensor &k, const Tensor &v) const;
  /// The same with sinks [numHeads], which the explicit form does not have.
  Tensor attend(const Tensor &q, const Tensor &k, const Tensor &v,
                const Tensor &sinks) const;

private:
  Tensor stepByStep(const Tensor &q, const Tensor &k, const Tensor &v) const;

  AttentionForm form;
  int64_t numHeads, headDim;
  double scale, softCap;
  bool isBidirectional;
  nn::KVCache kvCache;
  std::optional<nn::FlashAttention2> overAll;
  std::optional<nn::FlashAttention2SwaSink> overWindow;
  nn::CausalMask mask;
  nn::Softmax softmax;
};

} // namespace mllm::models

#endif // MLLM_MODELS_ATTENTION_H
