//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TinyModel.h"

#include "llmir/Frontend/TensorNames.h"

namespace llmir::test {

TinyModel &TinyModel::complete() {
  tensors.clear();
  auto linear = [&](const std::string &name, int64_t out, int64_t in,
                    bool bias) {
    tensors[name + ".weight"] = {out, in};
    if (bias)
      tensors[name + ".bias"] = {out};
  };
  int64_t q = heads * headDim, kv = kvHeads * headDim;
  bool qkvBias = attentionBias || family == "qwen2";
  tensors["model.embed_tokens.weight"] = {vocab, hidden};
  for (int64_t i = 0; i < layers; ++i) {
    std::string layer = "model.layers." + std::to_string(i) + ".";
    tensors[layer + "input_layernorm.weight"] = {hidden};
    linear(layer + "self_attn.q_proj", q, hidden, qkvBias);
    linear(layer + "self_attn.k_proj", kv, hidden, qkvBias);
    linear(layer + "self_attn.v_proj", kv, hidden, qkvBias);
    linear(layer + "self_attn.o_proj", hidden, q, attentionBias);
    if (family == "qwen3") {
      tensors[layer + "self_attn.q_norm.weight"] = {headDim};
      tensors[layer + "self_attn.k_norm.weight"] = {headDim};
    }
    tensors[layer + "post_attention_layernorm.weight"] = {hidden};
    linear(layer + "mlp.gate_proj", intermediate, hidden, mlpBias);
    linear(layer + "mlp.up_proj", intermediate, hidden, mlpBias);
    linear(layer + "mlp.down_proj", hidden, intermediate, mlpBias);
  }
  tensors["model.norm.weight"] = {hidden};
  if (!tied)
    linear("lm_head", vocab, hidden, false);
  return *this;
}

std::string TinyModel::configJson() const {
  auto field = [](const std::string &name, int64_t value) {
    return ", \"" + name + "\": " + std::to_string(value);
  };
  auto flag = [](const std::string &name, bool value) {
    return ", \"" + name + "\": " + (value ? "true" : "false");
  };
  std::string json = "{\"model_type\": \"" + family + "\"";
  json += field("hidden_size", hidden);
  json += field("intermediate_size", intermediate);
  json += field("num_hidden_layers", layers);
  json += field("num_attention_heads", heads);
  json += field("num_key_value_heads", kvHeads);
  json += field("head_dim", headDim);
  json += field("vocab_size", vocab);
  json += field("max_position_embeddings", 512);
  json += flag("tie_word_embeddings", tied);
  if (family != "qwen2")
    json += flag("attention_bias", attentionBias);
  if (family == "llama")
    json += flag("mlp_bias", mlpBias);
  json += ", \"rms_norm_eps\": 1e-5, \"hidden_act\": \"silu\"";
  if (moreConfig.find("rope_theta") == std::string::npos)
    json += ", \"rope_theta\": 10000.0";
  return json + moreConfig + "}";
}

std::pair<std::string, int64_t> TinyModel::safetensorsHeader() const {
  int64_t valueBytes = dtype == "F32" ? 4 : dtype == "I64" ? 8 : 2, end = 0;
  std::string header = "{";
  for (const auto &[name, shape] : tensors) {
    int64_t bytes = valueBytes;
    std::string sizes;
    for (int64_t size : shape) {
      bytes *= size;
      sizes += (sizes.empty() ? "" : ",");
      sizes += std::to_string(size);
    }
    header += header.size() > 1 ? "," : "";
    header += "\"" + name + "\":{\"dtype\":\"" + dtype + "\",\"shape\":[" +
              sizes + "],\"data_offsets\":[" + std::to_string(end) + ",";
    end += bytes;
    header += std::to_string(end) + "]}";
  }
  header += "}";
  return {bytesOf(uint64_t(header.size())) + header, end};
}

Expected<Checkpoint> TinyModel::open(const TempFolder &folder) const {
  folder.write("config.json", configJson());
  auto [header, zeros] = safetensorsHeader();
  const std::string weights = folder.write("model.safetensors", header);
  std::filesystem::resize_file(weights, header.size() + size_t(zeros));
  return Checkpoint::open(folder.path());
}

GGUFImage TinyModel::gguf(uint32_t type) const {
  GGUFImage image;
  auto number = [&](const std::string &key, int64_t value) {
    image.set(family + "." + key, static_cast<uint32_t>(value));
  };
  image.set("general.architecture", family);
  number("block_count", layers);
  number("context_length", 512);
  number("embedding_length", hidden);
  number("feed_forward_length", intermediate);
  number("attention.head_count", heads);
  number("attention.head_count_kv", kvHeads);
  number("attention.key_length", headDim);
  number("attention.value_length", headDim);
  number("rope.dimension_count", headDim);
  number("vocab_size", vocab);
  image.set(family + ".attention.layer_norm_rms_epsilon", 1e-5f);
  image.set(family + ".rope.freq_base", 10000.0f);
  for (const auto &[name, shape] : tensors)
    image.add(*ggufTensorName(name), {shape.begin(), shape.end()},
              shape.size() == 1 ? 0 : type);
  return image;
}

Expected<Checkpoint> openGGUF(const TempFolder &folder,
                              const GGUFImage &image) {
  return Checkpoint::open(folder.write("model.gguf", image.build()));
}

} // namespace llmir::test
