//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mllm/models/Decoder.h"

using namespace mllm;
using namespace mllm::models;

/// The root mean square of latents has an epsilon of its own, which no
/// configuration specifies.
static constexpr double latentEps = 1e-6;

/// `rows` of each head from `first` on, of heads with `stride` rows.
static nn::Storage partOfHeads(int64_t heads, int64_t first, int64_t rows,
                               int64_t stride) {
  nn::Storage storage;
  storage.place.first = first;
  storage.place.rows = heads * stride;
  storage.place.groupRows = rows;
  storage.place.groupStride = stride;
  return storage;
}

/// The latent (0) and the rotated key (1) of a token, which share a tensor.
static nn::Storage storedLatent(const DecoderConfig &config, int64_t part) {
  nn::Storage storage;
  storage.place.first = part == 0 ? 0 : config.latent.rank;
  storage.place.rows = config.headDim;
  storage.rotatedHeads = part;
  return storage;
}

/// The matrices of keys (0), which are transposed, and of values (1). Folders
/// store those of a head one after another; GGUF has a tensor for each kind.
static nn::Storage storedExpansion(const DecoderConfig &config, int64_t part) {
  nn::Storage storage;
  storage.place.first = part == 0 ? 0 : config.latent.plainDim;
  storage.place.rows = config.latent.plainDim + config.latent.valueDim;
  storage.placeInGGUF = nn::StoredPlace();
  storage.isTransposed = storage.place.isOfColumns = part == 0;
  return storage;
}

LatentAttention::LatentAttention(const DecoderConfig &config,
                                 const DecoderForm &form, int64_t layer)
    : numHeads(config.numHeads), rotaryDim(config.rotaryDim),
      valueDim(config.latent.valueDim), sizes(config.latent),
      latent(reg<nn::Linear>("kv_a_proj_with_mqa.latent", config.hiddenSize,
                             sizes.rank, /*bias=*/false,
                             storedLatent(config, 0))),
      rotatedKey(reg<nn::Linear>("kv_a_proj_with_mqa.rotated",
                                 config.hiddenSize, rotaryDim, /*bias=*/false,
                                 storedLatent(config, 1))),
      latentNorm(reg<nn::RMSNorm>("kv_a_layernorm", sizes.rank, latentEps)),
      keys(reg<nn::HeadLinear>("kv_b_proj.k", numHeads, sizes.plainDim,
                               sizes.rank, storedExpansion(config, 0))),
      values(reg<nn::HeadLinear>("kv_b_proj.v", numHeads, sizes.rank, valueDim,
                                 storedExpansion(config, 1))),
      rope(reg<nn::RoPE>("rotary_emb", config.ropeFrequencies,
                         config.ropeScaling.attentionFactor, nn::Layout::BSHD)),
      kvCache(reg<nn::KVCache>("kv_cache", layer, nn::Layout::BSHD, 0)),
      attention(reg<nn::FlashAttention2>("attention", config.attentionScale,
                                         /*causal=*/true, 0.0)),
      output(reg<nn::Linear>(form.names.output, numHeads * valueDim,
                             config.hiddenSize, /*bias=*/false)) {
  const int64_t headDim = sizes.plainDim + rotaryDim;
  int64_t inputs = config.hiddenSize;
  std::string name = form.names.query;
  if (sizes.queryRank > 0) {
    queryLatent = reg<nn::Linear>("q_a_proj", inputs, sizes.queryRank,
                                  /*bias=*/false);
    queryNorm = reg<nn::RMSNorm>("q_a_layernorm", sizes.queryRank, latentEps);
    inputs = sizes.queryRank;
    name = "q_b_proj";
  }
  plainQuery = reg<nn::Linear>(
      name + ".plain", inputs, numHeads * sizes.plainDim, /*bias=*/false,
      partOfHeads(numHeads, 0, sizes.plainDim, headDim));
  nn::Storage rotated =
      partOfHeads(numHeads, sizes.plainDim, rotaryDim, headDim);
  rotated.rotatedHeads = numHeads;
  rotatedQuery = reg<nn::Linear>(name + ".rotated", inputs,
                                 numHeads * rotaryDim, /*bias=*/false, rotated);
}

std::vector<Tensor>
LatentAttention::forwardAll(const std::vector<Tensor> &inputs) {
  const Tensor &x = inputs[0];
  Tensor query = x;
  if (queryLatent)
    query = (*queryNorm)((*queryLatent)(x));
  Tensor plain =
      (*plainQuery)(query).view({kSymbolic, numHeads, sizes.plainDim});
  Tensor turned =
      rope((*rotatedQuery)(query).view({kSymbolic, numHeads, rotaryDim}));
  Tensor q = nn::F::concat({keys(plain), turned}, -1);
  if (inputs.size() > 1)
    q = q * inputs[1];
  Tensor kept = latentNorm(latent(x)).view({kSymbolic, 1, sizes.rank});
  Tensor shared = rope(rotatedKey(x).view({kSymbolic, 1, rotaryDim}));
  auto [allKeys, allValues] = kvCache(nn::F::concat({kept, shared}, -1), kept);
  Tensor mixed = values(attention(q, allKeys, allValues));
  return {output(mixed.view({kSymbolic, numHeads * valueDim}))};
}
