//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mllm/models/QWen.h"

#include "llmir/Checkpoint/Checkpoint.h"

#include <cmath>

using namespace mllm;
using namespace mllm::models;
using llmir::Expected;
using llmir::Status;
using llmir::StatusCode;

//===----------------------------------------------------------------------===//
// Config
//===----------------------------------------------------------------------===//

Status QWenConfig::check() const {
  auto refuse = [](const std::string &what) {
    return Status(StatusCode::InvalidArgument, "QWenConfig: " + what,
                  "take the numbers from the model's config.json");
  };
  const std::pair<const char *, int64_t> sizes[] = {
      {"vocabSize", vocabSize},
      {"hiddenSize", hiddenSize},
      {"intermediateSize", intermediateSize},
      {"numLayers", numLayers},
      {"numHeads", numHeads},
      {"numKVHeads", numKVHeads}};
  for (auto [name, size] : sizes)
    if (size < 1 || size > (int64_t(1) << 31))
      return refuse(std::string(name) + " is " + std::to_string(size));
  if (numHeads % numKVHeads != 0)
    return refuse("numHeads is no multiple of numKVHeads");
  if (hiddenSize % numHeads != 0 || headDim() % 2 != 0)
    return refuse("hiddenSize does not fall into heads of an even size");
  for (double number : {rmsNormEps, ropeTheta})
    if (!std::isfinite(number) || number <= 0)
      return refuse("rmsNormEps and ropeTheta must be positive numbers");
  return Status::ok();
}

Expected<QWenConfig> QWenConfig::fromFile(const std::string &path) {
  Expected<llmir::Checkpoint> checkpoint = llmir::Checkpoint::open(path);
  if (!checkpoint)
    return checkpoint.takeStatus();
  const llmir::ModelConfig &read = checkpoint->config();
  if (read.architecture != "qwen2")
    return Status(StatusCode::Unsupported,
                  path + ": the model is of the family " + read.architecture +
                      ", not qwen2");
  QWenConfig config;
  config.vocabSize = read.vocabSize;
  config.hiddenSize = read.hiddenSize;
  config.intermediateSize = read.intermediateSize;
  config.numLayers = read.numLayers;
  config.numHeads = read.numHeads;
  config.numKVHeads = read.numKVHeads;
  config.rmsNormEps = read.normEps;
  config.ropeTheta = read.ropeTheta;
  config.tieWordEmbeddings = read.tieWordEmbeddings;
  LLMIR_RETURN_IF_ERROR(config.check());
  if (read.headDim != config.headDim())
    return Status(StatusCode::Unsupported,
                  path + ": heads of " + std::to_string(read.headDim) +
                      " values are not hiddenSize / numHeads");
  return config;
}

/// Radians per position of each rotated pair.
static std::vector<double> frequenciesOf(const QWenConfig &config) {
  std::vector<double> result;
  for (int64_t i = 0; i < config.headDim() / 2; ++i)
    result.push_back(std::pow(config.ropeTheta,
                              -2.0 * double(i) / double(config.headDim())));
  return result;
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

QWenAttention::QWenAttention(const QWenConfig &config, int64_t layer)
    : numHeads(config.numHeads), numKVHeads(config.numKVHeads),
      headDim(config.headDim()),
      qProj(reg<nn::Linear>("q_proj", config.hiddenSize, numHeads * headDim,
                            /*bias=*/true, /*rotatedHeads=*/numHeads)),
      kProj(reg<nn::Linear>("k_proj", config.hiddenSize, numKVHeads * headDim,
                            /*bias=*/true, /*rotatedHeads=*/numKVHeads)),
      vProj(reg<nn::Linear>("v_proj", config.hiddenSize, numKVHeads * headDim,
                            /*bias=*/true)),
      oProj(reg<nn::Linear>("o_proj", numHeads * headDim, config.hiddenSize,
                            /*bias=*/false)),
      rotaryEmb(reg<nn::RoPE>("rotary_emb", frequenciesOf(config), 1.0,
                              nn::Layout::BHSD)),
      kvCache(reg<nn::KVCache>("kv_cache", layer, nn::Layout::BHSD, numHeads)),
      mask(reg<nn::CausalMask>("mask")),
      softmax(reg<nn::Softmax>("softmax", -1)) {}

Tensor QWenAttention::forward(const Tensor &x) {
  Tensor q = qProj(x, {numHeads, headDim});
  Tensor k = kProj(x, {numKVHeads, headDim});
  Tensor v = vProj(x, {numKVHeads, headDim});
  q = q.transpose(1, 2);
  k = k.transpose(1, 2);
  v = v.transpose(1, 2);
  q = rotaryEmb(q);
  k = rotaryEmb(k);
  auto [keys, values] = kvCache(k, v);
  Tensor scores = nn::F::matmul(q, keys, false, /*transposeB=*/true);
  scores = scores * (1.0 / std::sqrt(static_cast<double>(headDim)));
  Tensor mixed = nn::F::matmul(softmax(mask(scores)), values);
  mixed = mixed.transpose(1, 2);
  if (!mixed.isValid())
    return {};
  return oProj(mixed.view({mixed.size(0), mixed.size(1), numHeads * headDim}));
}

//===----------------------------------------------------------------------===//
// The rest of a layer
//===----------------------------------------------------------------------===//

QWenMLP::QWenMLP(const QWenConfig &config)
    : gateProj(reg<nn::Linear>("gate_proj", config.hiddenSize,
                               config.intermediateSize, /*bias=*/false)),
      upProj(reg<nn::Linear>("up_proj", config.hiddenSize,
                             config.intermediateSize, /*bias=*/false)),
      downProj(reg<nn::Linear>("down_proj", config.intermediateSize,
                               config.hiddenSize, /*bias=*/false)),
      silu(reg<nn::SiLU>("act_fn")) {}

Tensor QWenMLP::forward(const Tensor &x) {
  Tensor gate = silu(gateProj(x));
  Tensor up = upProj(x);
  return downProj(gate * up);
}

QWenDecoder::QWenDecoder(const QWenConfig &config, int64_t layer)
    : inputLayernorm(reg<nn::RMSNorm>("input_layernorm", config.hiddenSize,
                                      config.rmsNormEps)),
      selfAttn(reg<QWenAttention>("self_attn", config, layer)),
      postAttentionLayernorm(reg<nn::RMSNorm>(
          "post_attention_layernorm", config.hiddenSize, config.rmsNormEps)),
      mlp(reg<QWenMLP>("mlp", config)) {}

Tensor QWenDecoder::forward(const Tensor &x) {
  Tensor h = selfAttn(inputLayernorm(x));
  h = h + x;
  Tensor y = mlp(postAttentionLayernorm(h));
  return y + h;
}

//===----------------------------------------------------------------------===//
// The whole model
//===----------------------------------------------------------------------===//

QWenForCausalLM::QWenForCausalLM(const QWenConfig &config)
    : Module("model"),
      embedTokens(reg<nn::Embedding>("embed_tokens", config.vocabSize,
                                     config.hiddenSize)),
      layers(regList<QWenDecoder>(
          "layers", config.numLayers,
          [&](int64_t i) { return QWenDecoder(config, i); })),
      norm(reg<nn::RMSNorm>("norm", config.hiddenSize, config.rmsNormEps)),
      lmHead(config.tieWordEmbeddings
                 ? regAbsolute<nn::Linear>("lm_head", embedTokens.weight())
                 : regAbsolute<nn::Linear>("lm_head", config.hiddenSize,
                                           config.vocabSize, /*bias=*/false)) {}

Tensor QWenForCausalLM::forward(const Tensor &ids) {
  Tensor x = embedTokens(ids);
  for (QWenDecoder &layer : layers)
    x = layer(x);
  return lmHead(norm(x));
}
