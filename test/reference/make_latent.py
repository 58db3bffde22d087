# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What make_experts.py adds for multi-head latent attention (llmref/latent.py): shapes, keys and names."""

import numpy as np

YARN = {"type": "yarn", "factor": 8.0, "original_max_position_embeddings": 64, "beta_fast": 8.0, "beta_slow": 1.0,
        "mscale": 0.707, "mscale_all_dim": 0.707}

_GROWING = dict(YARN, mscale=1.0, mscale_all_dim=1.0, original_max_position_embeddings=32)


def _shape(family, **more):
    return dict(dict(family=family, kv_heads=4, head_dim=24, rotary_dim=8, kv_rank=32, value_dim=16,
                     shared_inner=96, dense_layers=(0,), routed_scale=1.5), **more)


FAMILIES = {
    "deepseek_v2_lite": _shape("deepseek_v2", normalizes=False, routed_scale=1.0, rope_scaling=YARN),
    "deepseek_v2": _shape("deepseek_v2", normalizes=False, routed_scale=4.0, q_rank=48, value_dim=32, experts=9,
                          experts_per_token=3, groups=3, groups_per_token=2),
    "deepseek_v3": _shape("deepseek_v3", q_rank=40, head_dim=44, rotary_dim=12, kv_rank=48, shared_inner=48,
                          experts=9, experts_per_token=3, groups=3, groups_per_token=2, routed_scale=2.5,
                          rope_scaling=dict(YARN, mscale=1.0, mscale_all_dim=1.0)),
    "glm4_moe_lite": _shape("glm4_moe_lite", q_rank=56, head_dim=56, value_dim=64, routed_scale=1.8, rope_theta=1e6,
                            shared_inner=48),
    "mistral4": _shape("mistral4", q_rank=40, head_dim=32, rotary_dim=16, value_dim=32, shared_inner=48, dense_layers=(),
                       routed_scale=1.0, query_growth=0.5, rope_scaling=_GROWING),
    "mistral4_groups": _shape("mistral4", experts=9, experts_per_token=3, groups=3, groups_per_token=2, fused=False,
                              query_growth=0.25, rope_scaling=_GROWING),
}

CLASSES = {"deepseek_v2": "DeepseekV2", "deepseek_v3": "DeepseekV3", "glm4_moe_lite": "Glm4MoeLite",
           "mistral4": "Mistral4"}
ARCHITECTURES = {family: "deepseek2" for family in CLASSES if family != "mistral4"}


def hf_keys(config):
    if not config.kv_rank:
        return {}
    sizes = {"kv_lora_rank": config.kv_rank, "q_lora_rank": config.q_rank or None, "v_head_dim": config.value_dim,
             "qk_nope_head_dim": config.head_dim - config.rotary_dim, "qk_rope_head_dim": config.rotary_dim}
    if config.family == "mistral4":
        return dict(sizes, rope_interleave=True)
    is_v2 = config.family == "deepseek_v2"
    method = ("group_limited_greedy" if config.groups > 1 else "greedy") if is_v2 else "noaux_tc"
    return dict(sizes, topk_method=method, scoring_func="softmax" if is_v2 else "sigmoid", moe_layer_freq=1)


# GGUF

NAMES = {"q_a_proj": "attn_q_a", "q_a_layernorm": "attn_q_a_norm", "q_b_proj": "attn_q_b",
         "kv_a_proj_with_mqa": "attn_kv_a_mqa", "kv_a_layernorm": "attn_kv_a_norm"}


def gguf_tensors(config, block, rest, kind, values):
    """As make_experts.gguf_tensors. Matrices of keys are transposed, those of values are not."""
    module, _, inner = rest.partition(".")
    if config.family == "mistral4" and rest == "mlp.experts":
        if kind == "down_proj":
            return [(block + "ffn_down_exps.weight", values)]
        if config.fused:
            return [(block + "ffn_gate_up_exps.weight", values)]
        return [("%sffn_%s_exps.weight" % (block, part), np.ascontiguousarray(half))
                for part, half in zip(("gate", "up"), np.split(values, 2, axis=1))]
    if module != "self_attn":
        return []
    if inner == "kv_b_proj":
        heads = values.reshape(config.heads, -1, config.kv_rank)
        plain = config.head_dim - config.rotary_dim
        return [(block + "attn_k_b.weight", np.ascontiguousarray(heads[:, :plain].swapaxes(1, 2))),
                (block + "attn_v_b.weight", np.ascontiguousarray(heads[:, plain:]))]
    return [("%s%s.%s" % (block, NAMES[inner], kind), values)] if inner in NAMES else []


def gguf_keys(config):
    if not config.kv_rank:
        return {}
    keys = {"attention.head_count_kv": ("u32", 1), "attention.kv_lora_rank": ("u32", config.kv_rank),
            "attention.key_length": ("u32", config.kv_rank + config.rotary_dim),
            "attention.value_length": ("u32", config.kv_rank),
            "attention.key_length_mla": ("u32", config.head_dim),
            "attention.value_length_mla": ("u32", config.value_dim)}
    if config.q_rank:
        keys["attention.q_lora_rank"] = ("u32", config.q_rank)
    return keys


def by_rows(config, name, values, rounded):
    """The values after `rounded` of the matrices whose rows GGUF stores."""
    if not name.endswith("kv_b_proj.weight"):
        return rounded(values)
    keys, others = np.split(values.reshape(config.heads, -1, config.kv_rank), [config.head_dim - config.rotary_dim], 1)
    keys = rounded(keys.swapaxes(1, 2)).swapaxes(1, 2)
    return np.concatenate([keys, rounded(others)], axis=1).reshape(values.shape)
