//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Frontend/TensorNames.h"

#include <algorithm>

using namespace llmir;

static constexpr TensorName topNames[] = {
    {"model.embed_tokens", "token_embd"},
    {"model.norm", "output_norm"},
    {"lm_head", "output"},
    {"transformer.wte", "token_embd"},
    {"transformer.wpe", "position_embd"},
    {"transformer.ln_f", "output_norm"},
};

static constexpr TensorName layerNames[] = {
    {"input_layernorm", "attn_norm"},
    {"self_attn.q_proj", "attn_q"},
    {"self_attn.k_proj", "attn_k"},
    {"self_attn.v_proj", "attn_v"},
    {"self_attn.o_proj", "attn_output"},
    {"self_attn.q_norm", "attn_q_norm"},
    {"self_attn.k_norm", "attn_k_norm"},
    {"post_attention_layernorm", "ffn_norm"},
    {"mlp.gate_proj", "ffn_gate"},
    {"mlp.up_proj", "ffn_up"},
    {"mlp.down_proj", "ffn_down"},
    {"mlp.gate", "ffn_gate_inp"},
    {"mlp.experts.gate_proj", "ffn_gate_exps"},
    {"mlp.experts.up_proj", "ffn_up_exps"},
    {"mlp.experts.down_proj", "ffn_down_exps"},
    {"ln_1", "attn_norm"},
    {"attn.c_attn", "attn_qkv"},
    {"attn.c_proj", "attn_output"},
    {"ln_2", "ffn_norm"},
    {"mlp.c_fc", "ffn_up"},
    {"mlp.c_proj", "ffn_down"},
};

/// The prefix of a layer index.
static constexpr std::string_view layerPrefixes[] = {
    "model.layers.", "transformer.h.", "gpt_neox.layers.",
    "model.encoder.layer.", "model.encoder.layers."};

static constexpr std::string_view ignoredSuffixes[] = {
    ".rotary_emb.inv_freq",
    ".attn.bias",        // the causal mask of GPT-2's exports
    ".attn.masked_bias", // and its value
};

template <size_t N>
static std::optional<std::string_view> lookUp(Span<const TensorName> own,
                                              const TensorName (&common)[N],
                                              std::string_view module) {
  for (Span<const TensorName> names : {own, Span<const TensorName>(common, N)})
    for (const TensorName &name : names)
      if (name.module == module)
        return name.gguf;
  return std::nullopt;
}

std::optional<std::string> llmir::ggufTensorName(std::string_view parameter,
                                                 Span<const TensorName> own) {
  size_t dot = parameter.rfind('.');
  if (dot == std::string_view::npos)
    return std::nullopt;
  std::string_view module = parameter.substr(0, dot);
  std::string kind(parameter.substr(dot));
  if (auto name = lookUp(own, topNames, module))
    return std::string(*name) + kind;

  auto prefix = std::find_if(std::begin(layerPrefixes), std::end(layerPrefixes),
                             [&](std::string_view start) {
                               return module.substr(0, start.size()) == start;
                             });
  if (prefix == std::end(layerPrefixes))
    return std::nullopt;
  std::string_view rest = module.substr(prefix->size());
  size_t end = rest.find('.');
  if (end == std::string_view::npos) { // A parameter of the layer itself.
    auto name = lookUp(own, layerNames, kind.substr(1));
    return name ? std::optional("blk." + std::string(rest) + "." +
                                std::string(*name))
                : std::nullopt;
  }
  const std::string block = "blk." + std::string(rest.substr(0, end)) + ".";
  const std::string_view inLayer = rest.substr(end + 1);
  // A parameter whose name does not consist of that of its module.
  if (auto name = lookUp(own, layerNames, std::string(inLayer) + kind))
    return block + std::string(*name);
  if (auto name = lookUp(own, layerNames, inLayer))
    return block + std::string(*name) + kind;
  return std::nullopt;
}

bool llmir::isIgnoredTensor(std::string_view name) {
  return std::any_of(std::begin(ignoredSuffixes), std::end(ignoredSuffixes),
                     [&](std::string_view suffix) {
                       return name.size() >= suffix.size() &&
                              name.substr(name.size() - suffix.size()) ==
                                  suffix;
                     });
}
