# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keys and names of tensors of Gemma 4, in config.json and in GGUF."""

import numpy as np

from llmref.gemma4 import Gemma4

EPS = 2.0 ** -10  # As in make_tiny.py.


def _shape(**more):
    fields = dict(family="gemma4_text", hidden=64, intermediate=96, heads=4, kv_heads=2, head_dim=16,
                  full_head_dim=32, vocab=272, max_positions=512, rms_eps=EPS, rope_theta=1e6, local_theta=1e4,
                  tied=True, embedding_scale=8.0, window=20, turned_share=0.25, final_softcap=6.0)
    fields.update(more)
    return fields


FAMILIES = {
    # As the models with 12 and 31 billion parameters: in layers without a window, values are keys.
    "gemma4": _shape(layers=6, full_every=3, values_are_keys=True, full_kv_heads=1),
    # As those of 2 and 4 billion.
    "gemma4_shared": _shape(layers=8, full_every=4, kv_heads=1, sharing=4, double_wide=True, layer_embedding=32),
    # As that of 26 billion: experts beside the MLPs.
    "gemma4_experts": _shape(layers=4, full_every=2, values_are_keys=True, full_kv_heads=1, experts=8,
                             experts_per_token=2, expert_inner=32, normalizes=True),
    "gemma4_separate": _shape(layers=2, full_every=2, experts=6, experts_per_token=3, expert_inner=64, fused=False,
                              normalizes=True),
}
NAMES = {
    "post_feedforward_layernorm_1": "post_ffw_norm_1", "pre_feedforward_layernorm_2": "pre_ffw_norm_2",
    "post_feedforward_layernorm_2": "post_ffw_norm_2", "router.proj": "ffn_gate_inp",
    "per_layer_input_gate": "inp_gate", "per_layer_projection": "proj", "post_per_layer_input_norm": "post_norm",
}
TOP_NAMES = {
    "model.embed_tokens_per_layer": "per_layer_token_embd",
    "model.per_layer_model_projection": "per_layer_model_proj",
    "model.per_layer_projection_norm": "per_layer_proj_norm",
}


def hf_keys(config):
    kinds = ("full_attention", "sliding_attention")
    return {
        "hidden_activation": "gelu_pytorch_tanh", "final_logit_softcapping": config.final_softcap,
        "attention_bias": False, "head_dim": config.head_dim, "global_head_dim": config.full_head_dim,
        "num_global_key_value_heads": config.full_kv_heads or None, "attention_k_eq_v": config.values_are_keys,
        "num_kv_shared_layers": config.sharing, "use_double_wide_mlp": config.double_wide,
        "hidden_size_per_layer_input": config.layer_embedding, "vocab_size_per_layer_input": config.vocab,
        "enable_moe_block": config.experts > 0, "num_experts": config.experts or None,
        "top_k_experts": config.experts_per_token or None, "moe_intermediate_size": config.expert_inner or None,
        "use_bidirectional_attention": None,
        "sliding_window": config.window,
        "layer_types": [kinds[config.slides(i)] for i in range(config.layers)],
        "rope_parameters": {
            "full_attention": {"rope_type": "proportional", "rope_theta": config.rope_theta,
                               "partial_rotary_factor": config.turned_share},
            "sliding_attention": {"rope_type": "default", "rope_theta": config.local_theta}},
    }


def gguf_tensors(config, block, rest, kind, values):
    """-> [(name, values)] of a tensor of the mixture, or none."""
    if rest == "router":
        return [("%s%s.scale" % (block, "ffn_gate_inp" if kind == "scale" else "ffn_down_exps"), values)]
    if rest != "experts":
        return []
    if kind == "down_proj":
        return [(block + "ffn_down_exps.weight", values)]
    if config.fused:
        return [(block + "ffn_gate_up_exps.weight", values)]
    return [(block + "ffn_%s_exps.weight" % part, values[:, i * config.expert_inner:(i + 1) * config.expert_inner])
            for i, part in enumerate(("gate", "up"))]


def gguf_keys(config):
    layers = range(config.layers)
    own = [Gemma4.own(config, i) for i in layers]
    inner = [config.intermediate * (2 if config.double_wide and Gemma4.source(config, i) != i else 1) for i in layers]
    mixture = {"expert_count": ("u32", config.experts), "expert_used_count": ("u32", config.experts_per_token),
               "expert_feed_forward_length": ("u32", config.expert_inner)} if config.experts else {}
    return {
        **mixture,
        "attention.key_length": ("u32", config.full_head_dim), "attention.value_length": ("u32", config.full_head_dim),
        "attention.key_length_swa": ("u32", config.head_dim), "attention.value_length_swa": ("u32", config.head_dim),
        "rope.dimension_count": ("u32", config.full_head_dim), "rope.dimension_count_swa": ("u32", config.head_dim),
        "rope.freq_base_swa": ("f32", config.local_theta), "final_logit_softcapping": ("f32", config.final_softcap),
        "attention.sliding_window_pattern": ("[]bool", [config.slides(i) for i in layers]),
        "attention.shared_kv_layers": ("u32", config.sharing),
        "attention.head_count_kv": ("[]i32", [kv_heads for _, kv_heads in own]),
        "feed_forward_length": ("[]i32", inner),
        "embedding_length_per_layer_input": ("u32", config.layer_embedding),
    }


def gguf_extra(config):
    """The divisors of frequencies, of layers without a window."""
    divisors = np.full(config.full_head_dim // 2, 1e30, np.float32)
    divisors[:int(config.turned_share * config.full_head_dim / 2)] = 1.0
    return {"rope_freqs.weight": divisors}
