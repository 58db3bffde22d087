//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A custom decoder that is not a model family of the compiler: traced here,
// compiled and served like any other model.
//
//   own_decoder DIRECTORY GRAPH.mlir
//   llmir compile DIRECTORY --graph GRAPH.mlir -o own.llmir
//   llmir run own.llmir "Once"
//
// DIRECTORY contains the parameters (model.safetensors), the tokenizer, and a
// config.json with vocab_size, max_position_embeddings and the special tokens.
//
// Its special features: attention whose output is gated by the layer's input, a
// mixture of experts with squared ReLUs, scaled residuals, and soft-capped
// logits.
//
//===----------------------------------------------------------------------===//

#include "mllm/ir/DecoderGraph.h"
#include "mllm/mllm.hpp"

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

using namespace mllm;

namespace {

constexpr int64_t kLayers = 2, kHidden = 64, kHeads = 4, kKVHeads = 2,
                  kHeadDim = 16, kExperts = 4, kChosen = 2, kInner = 96,
                  kVocabulary = 272, kContext = 128;
constexpr double kEps = 1e-5, kLogitCap = 30.0;

std::vector<double> ropeFrequencies() {
  std::vector<double> frequencies;
  for (int64_t i = 0; i < kHeadDim / 2; ++i)
    frequencies.push_back(
        std::pow(10000.0, -2.0 * static_cast<double>(i) / kHeadDim));
  return frequencies;
}

/// x [T, hidden] -> same shape
class GatedAttention : public nn::Module {
public:
  explicit GatedAttention(int64_t layer)
      : q(reg<nn::Linear>("q_proj", kHidden, kHeads * kHeadDim, false)),
        k(reg<nn::Linear>("k_proj", kHidden, kKVHeads * kHeadDim, false)),
        v(reg<nn::Linear>("v_proj", kHidden, kKVHeads * kHeadDim, false)),
        gate(reg<nn::Linear>("g_proj", kHidden, kHeads * kHeadDim, false)),
        o(reg<nn::Linear>("o_proj", kHeads * kHeadDim, kHidden, false)),
        rope(reg<nn::RoPE>("rotary_emb", ropeFrequencies())),
        cache(reg<nn::KVCache>("cache", layer)),
        attend(reg<nn::FlashAttention2>("attend",
                                        1.0 / std::sqrt(double(kHeadDim)))) {}

  Tensor forward(const Tensor &x) override {
    auto heads = [&](nn::Linear &project, int64_t count) {
      return project(x).view({kSymbolic, count, kHeadDim});
    };
    Tensor queries = rope(heads(q, kHeads));
    Tensor keys = rope(heads(k, kKVHeads));
    Tensor values = heads(v, kKVHeads);
    auto [allKeys, allValues] = cache(keys, values);
    Tensor mixed = attend(queries, allKeys, allValues);
    Tensor opened = nn::F::sigmoid(gate(x));
    return o(mixed.view({kSymbolic, kHeads * kHeadDim}) * opened);
  }

private:
  nn::Linear q, k, v, gate, o;
  nn::RoPE rope;
  nn::KVCache cache;
  nn::FlashAttention2 attend;
};

/// down(relu(up x)^2): x [T, hidden] -> same shape
class Expert : public nn::Module {
public:
  Expert()
      : up(reg<nn::Linear>("up_proj", kHidden, kInner, false)),
        down(reg<nn::Linear>("down_proj", kInner, kHidden, false)) {}

  Tensor forward(const Tensor &x) override {
    Tensor h = nn::F::relu(up(x));
    return down(h * h);
  }

private:
  nn::Linear up, down;
};

/// The weighted sum of the experts that the router selects for a token: x [T,
/// hidden] -> same shape. All experts are computed; those that are not selected
/// have the share 0.
class Mixture : public nn::Module {
public:
  Mixture()
      : router(reg<nn::Linear>("router", kHidden, kExperts, false)),
        experts(regList<Expert>("experts", kExperts,
                                [](int64_t) { return Expert(); })) {}

  Tensor forward(const Tensor &x) override {
    Tensor shares = nn::F::softmax(router(x), -1);
    auto [chosen, numbers] = nn::F::topk(shares, kChosen);
    Tensor whole = nn::F::sum(chosen, -1, /*keepDim=*/true);
    Tensor weights =
        nn::F::scatter(nn::F::zerosLike(shares), numbers, chosen / whole, -1);
    Tensor sum;
    for (int64_t i = 0; i < kExperts; ++i) {
      std::vector<nn::F::Range> ranges(weights.shape().size());
      ranges.back() = {i, i + 1};
      Tensor part = experts[i](x) * nn::F::slice(weights, ranges);
      sum = i == 0 ? part : sum + part;
    }
    return sum;
  }

private:
  nn::Linear router;
  std::vector<Expert> experts;
};

/// x [T, hidden] -> same shape
class DecoderLayer : public nn::Module {
public:
  explicit DecoderLayer(int64_t layer)
      : attentionNorm(reg<nn::RMSNorm>("attention_norm", kHidden, kEps)),
        attention(reg<GatedAttention>("attention", layer)),
        mixtureNorm(reg<nn::RMSNorm>("mixture_norm", kHidden, kEps)),
        mixture(reg<Mixture>("mixture")),
        scale(reg<nn::Param>("residual", "scale",
                             std::vector<int64_t>{kHidden})) {}

  Tensor forward(const Tensor &x) override {
    Tensor h = x + attention(attentionNorm(x)) * scale();
    return h + mixture(mixtureNorm(h)) * scale();
  }

private:
  nn::RMSNorm attentionNorm;
  GatedAttention attention;
  nn::RMSNorm mixtureNorm;
  Mixture mixture;
  nn::Param scale;
};

/// ids [T] -> logits [T, vocabulary]
class OwnDecoder : public nn::Module {
public:
  OwnDecoder()
      : Module("model"),
        embed(reg<nn::Embedding>("embed", kVocabulary, kHidden)),
        layers(regList<DecoderLayer>(
            "layers", kLayers, [](int64_t i) { return DecoderLayer(i); })),
        norm(reg<nn::RMSNorm>("norm", kHidden, kEps)),
        head(reg<nn::Linear>("head", kHidden, kVocabulary, false)) {}

  Tensor forward(const Tensor &ids) override {
    Tensor x = embed(ids);
    for (DecoderLayer &layer : layers)
      x = layer(x);
    // cap * tanh(logits / cap)
    Tensor small = nn::F::sigmoid(head(norm(x)) * (2.0 / kLogitCap));
    return (small * 2.0 - 1.0) * kLogitCap;
  }

private:
  nn::Embedding embed;
  std::vector<DecoderLayer> layers;
  nn::RMSNorm norm;
  nn::Linear head;
};

int fail(const llmir::Status &status) {
  std::fprintf(stderr, "own_decoder: %s\n", status.message().c_str());
  return 1;
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 3)
    return fail(
        llmir::Status(llmir::StatusCode::InvalidArgument,
                      "there are " + std::to_string(argc - 1) + " arguments",
                      "give a directory of parameters and the file to write"));
  OwnDecoder model;
  model.load(load(argv[1]));
  // One trace for every number of tokens.
  auto context = ir::trace(model, Tensor::empty({dim("seq")}, kInt64));
  if (!context->status())
    return fail(context->status());
  ir::DecoderSizes sizes{"own-decoder", kLayers,     kHeads,
                         kKVHeads,      kHeadDim,    kHidden,
                         kInner,        kVocabulary, kContext};
  llmir::Status written = ir::writeDecoder(*context, sizes, argv[2]);
  return written ? 0 : fail(written);
}
