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

static double scaleOf(int64_t headDim) {
  return 1.0 / std::sqrt(static_cast<double>(headDim));
}

/// In the explicit form, the cache repeats KV heads for query heads.
CausalAttention::CausalAttention(const DecoderConfig &config,
                                 AttentionForm form, int64_t layer)
    : form(form), numHeads(config.numHeads), headDim(config.headDim),
      kvCache(reg<nn::KVCache>("kv_cache", layer, layout(),
                               form == AttentionForm::Explicit ? config.numHeads
                                                               : 0)),
      fused(reg<nn::FlashAttention2>("attention", scaleOf(headDim))),
      mask(reg<nn::CausalMask>("mask")),
      softmax(reg<nn::Softmax>("softmax", -1)) {}

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
  auto [keys, values] = kvCache(k, v);
  if (form == AttentionForm::Explicit)
    return stepByStep(q, keys, values);
  return fused(q, keys, values).view({kSymbolic, numHeads * headDim});
}

Tensor CausalAttention::stepByStep(const Tensor &q, const Tensor &k,
                                   const Tensor &v) const {
  Tensor scores = nn::F::matmul(q, k, false, /*transposeB=*/true);
  scores = scores * scaleOf(headDim);
  Tensor mixed = nn::F::matmul(softmax(mask(scores)), v);
  mixed = mixed.transpose(1, 2);
  if (!mixed.isValid())
    return {};
  return mixed.view({mixed.size(0), mixed.size(1), numHeads * headDim});
}
