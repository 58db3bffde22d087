//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mllm/models/Attention.h"

#include "../Emit.h"
#include "BatchOfIds.h"

#include <cmath>

using namespace mllm;
using namespace mllm::models;

bool models::isBatchOfIds(const Tensor &ids) {
  if (hasNull({ids}, "the model"))
    return false;
  if (ids.rank() == 2)
    return true;
  Engine &engine = engineOf({ids});
  engine.fail(engine.location(nullptr),
              "the model takes token ids [sequences, tokens], not of shape " +
                  llmir::shapes::str(ids.dims()),
              "use [1, n] for one sequence of n tokens");
  return false;
}

Tensor models::softCapped(const Tensor &x, double cap) {
  // tanh(y) is 2 sigmoid(2 y) - 1.
  return nn::F::sigmoid(x * (2 / cap)) * (2 * cap) - cap;
}

Tensor models::normalized(const Tensor &x, double eps) {
  Tensor squares = nn::F::mean(x * x, -1, /*keepDim=*/true);
  return x / nn::F::exp(nn::F::log(squares + eps) * 0.5);
}

static double scaleOf(const DecoderConfig &config) {
  return config.attentionScale > 0
             ? config.attentionScale
             : 1.0 / std::sqrt(static_cast<double>(config.headDim));
}

/// In the explicit form, the cache repeats KV heads for query heads.
CausalAttention::CausalAttention(const DecoderConfig &config,
                                 AttentionForm form, int64_t layer)
    : form(form), numHeads(config.numHeads), headDim(config.headDim),
      scale(scaleOf(config)), softCap(config.attentionSoftCap),
      isBidirectional(config.isBidirectional),
      kvCache(reg<nn::KVCache>("kv_cache", config.indexOfKind(layer), layout(),
                               form == AttentionForm::Explicit ? config.numHeads
                                                               : 0)),
      mask(reg<nn::CausalMask>("mask", config.attentionOf(layer).window)),
      softmax(reg<nn::Softmax>("softmax", -1)) {
  const llmir::LayerAttention own = config.attentionOf(layer);
  if (own.window > 0 || config.hasSinks)
    overWindow = reg<nn::FlashAttention2SwaSink>("attention", scale, own.window,
                                                 softCap, own.isChunked,
                                                 /*causal=*/!isBidirectional);
  else
    overAll = reg<nn::FlashAttention2>("attention", scale,
                                       /*causal=*/!isBidirectional, softCap);
}

Tensor CausalAttention::asHeads(const Tensor &x, int64_t count) const {
  if (form == AttentionForm::Fused || !x.isValid())
    return x.view({kSymbolic, count, headDim});
  return x.view({x.size(0), x.size(1), count, headDim});
}

Tensor CausalAttention::heads(const nn::Linear &projection, const Tensor &x,
                              int64_t count) const {
  if (form == AttentionForm::Explicit)
    return projection(x, {count, headDim});
  return projection(x).view({kSymbolic, count, headDim});
}

Tensor CausalAttention::toLayout(const Tensor &heads) const {
  return form == AttentionForm::Explicit ? heads.transpose(1, 2) : heads;
}

Tensor CausalAttention::attend(const Tensor &q, const Tensor &k,
                               const Tensor &v) const {
  // There is nothing before the tokens of a text.
  auto [keys, values] = isBidirectional ? std::pair(k, v) : kvCache(k, v);
  if (form == AttentionForm::Explicit)
    return stepByStep(q, keys, values);
  Tensor mixed =
      overWindow ? (*overWindow)(q, keys, values) : (*overAll)(q, keys, values);
  return mixed.view({kSymbolic, numHeads * headDim});
}

Tensor CausalAttention::attend(const Tensor &q, const Tensor &k,
                               const Tensor &v, const Tensor &sinks) const {
  auto [keys, values] = kvCache(k, v);
  return (*overWindow)(q, keys, values, sinks)
      .view({kSymbolic, numHeads * headDim});
}

Tensor CausalAttention::stepByStep(const Tensor &q, const Tensor &k,
                                   const Tensor &v) const {
  Tensor scores = nn::F::matmul(q, k, false, /*transposeB=*/true);
  scores = scores * scale;
  if (softCap > 0)
    scores = softCapped(scores, softCap);
  Tensor mixed = nn::F::matmul(softmax(mask(scores)), v);
  mixed = mixed.transpose(1, 2);
  if (!mixed.isValid())
    return {};
  return mixed.view({mixed.size(0), mixed.size(1), numHeads * headDim});
}
