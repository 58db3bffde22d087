//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Qwen2 in the form of the documents: batches of equal length, and attention
// written out, so that a trace shows every step of it. The defaults are those
// of Qwen2.5-1.5B. `llmir compile` traces the family of Llama.h instead, which
// has one op for attention.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_MODELS_QWEN_H
#define MLLM_MODELS_QWEN_H

#include "mllm/nn/Layers.h"

namespace mllm::models {

struct QWenConfig {
  int64_t vocabSize = 151936;
  int64_t hiddenSize = 1536;
  int64_t intermediateSize = 8960;
  int64_t numLayers = 28;
  int64_t numHeads = 12;
  int64_t numKVHeads = 2;
  double rmsNormEps = 1e-6;
  double ropeTheta = 1e6;
  bool tieWordEmbeddings = true; ///< The output projection is the embedding.

  int64_t headDim() const { return hiddenSize / numHeads; }
  /// InvalidArgument, naming the field, where no model has these sizes.
  llmir::Status check() const;
  /// The config of a checkpoint: a Hugging Face folder or a .gguf file of a
  /// Qwen2 model.
  static llmir::Expected<QWenConfig> fromFile(const std::string &path);
};

/// x [B, T, hidden] -> [B, T, hidden]
class QWenAttention : public nn::Module {
public:
  QWenAttention(const QWenConfig &config, int64_t layer);
  Tensor forward(const Tensor &x) override;

private:
  int64_t numHeads, numKVHeads, headDim;
  nn::Linear qProj, kProj, vProj, oProj;
  nn::RoPE rotaryEmb;
  nn::KVCache kvCache;
  nn::CausalMask mask;
  nn::Softmax softmax;
};

/// down(silu(gate x) * up x): x [B, T, hidden] -> [B, T, hidden]
class QWenMLP : public nn::Module {
public:
  explicit QWenMLP(const QWenConfig &config);
  Tensor forward(const Tensor &x) override;

private:
  nn::Linear gateProj, upProj, downProj;
  nn::SiLU silu;
};

/// x [B, T, hidden] -> [B, T, hidden]
class QWenDecoder : public nn::Module {
public:
  QWenDecoder(const QWenConfig &config, int64_t layer);
  Tensor forward(const Tensor &x) override;

private:
  nn::RMSNorm inputLayernorm;
  QWenAttention selfAttn;
  nn::RMSNorm postAttentionLayernorm;
  QWenMLP mlp;
};

/// ids [B, T] -> logits [B, T, vocabulary]
class QWenForCausalLM : public nn::Module {
public:
  explicit QWenForCausalLM(const QWenConfig &config);
  Tensor forward(const Tensor &ids) override;

private:
  nn::Embedding embedTokens;
  std::vector<QWenDecoder> layers;
  nn::RMSNorm norm;
  nn::Linear lmHead;
};

} // namespace mllm::models

#endif // MLLM_MODELS_QWEN_H
