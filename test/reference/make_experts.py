# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What make_families.py adds for mixtures of experts (llmref/experts.py): shapes, keys and names."""

import numpy as np

import make_latent

FIELDS = dict(hidden=64, intermediate=96, layers=3, heads=4, kv_heads=2, head_dim=16, vocab=272, max_positions=512,
              rms_eps=2.0 ** -10, rope_theta=1e4, tied=False, experts=6, experts_per_token=2, expert_inner=48,
              normalizes=True)


def _shape(family, **more):
    return dict(FIELDS, family=family, **more)


FAMILIES = {
    "mixtral": _shape("mixtral", rope_theta=1e6),
    "qwen2_moe": _shape("qwen2_moe", shared_inner=80, dense_layers=(0,)),
    "qwen3_moe": _shape("qwen3_moe", dense_layers=(0, 2)),
    "olmoe": _shape("olmoe", kv_heads=4),
    "granitemoe": _shape("granitemoe", tied=True, attention_scale=0.5, embedding_scale=3.0, residual_scale=0.5,
                         logit_scale=0.5),
    "glm4_moe": _shape("glm4_moe", rotary_dim=8, attention_bias=True, shared_inner=48, dense_layers=(0,),
                       routed_scale=1.5, groups=3, groups_per_token=2),
    "glm4_moe_plain": _shape("glm4_moe", rotary_dim=8, attention_bias=True, shared_inner=96, dense_layers=(0,),
                             qk_norm=False),
}
FAMILIES.update((name, _shape(**fields)) for name, fields in make_latent.FAMILIES.items())
FAMILIES["gpt_oss"] = _shape("gpt_oss", layers=4, head_dim=24, window=20, full_every=2, experts_per_token=4,
                             attention_bias=True, output_bias=True, swiglu_limit=7.0, rope_theta=1.5e5, rope_scaling={
                                 "type": "yarn", "factor": 32.0, "original_max_position_embeddings": 64,
                                 "beta_fast": 8.0, "beta_slow": 1.0, "truncate": False})
FAMILIES["llama4"] = _shape("llama4_text", layers=5, experts_per_token=1, shared_inner=48, intermediate=160,
                            dense_layers=(0, 2, 4), rope_theta=5e5, chunk=24, floor_scale=16, query_growth=0.5,
                            rope_scaling={"type": "llama3", "factor": 16.0, "low_freq_factor": 1.0,
                                          "high_freq_factor": 1.0, "original_max_position_embeddings": 64})
for _family in ("qwen2_moe", "olmoe"):
    FAMILIES[_family]["normalizes"] = False

CLASSES = {"mixtral": "Mixtral", "qwen2_moe": "Qwen2Moe", "qwen3_moe": "Qwen3Moe", "olmoe": "Olmoe",
           "granitemoe": "GraniteMoe", "glm4_moe": "Glm4Moe", "gpt_oss": "GptOss",
           "llama4_text": "Llama4"}
ARCHITECTURES = {"mixtral": "llama", "qwen2_moe": "qwen2moe", "qwen3_moe": "qwen3moe", "glm4_moe": "glm4moe",
                 "gpt_oss": "gpt-oss", "llama4_text": "llama4"}
CLASSES.update(make_latent.CLASSES)
ARCHITECTURES.update(make_latent.ARCHITECTURES)
PERMUTED = ("mixtral", "granitemoe")
OF_ROWS = ("mistral4",)  # Stacks are [experts, out, in].


def hf_keys(config):
    family = config.family
    common = {"num_experts_per_tok": config.experts_per_token, "attention_bias": config.attention_bias}
    if family == "gpt_oss":
        common.update(swiglu_limit=config.swiglu_limit, head_dim=config.head_dim)
    if family in ("mixtral", "granitemoe", "gpt_oss"):
        return dict(common, num_local_experts=config.experts, intermediate_size=config.expert_inner)
    if family == "llama4_text":
        return dict(common, num_local_experts=config.experts, intermediate_size=config.expert_inner,
                    intermediate_size_mlp=config.intermediate, interleave_moe_layer_step=2, moe_layers=[
                        i for i in range(config.layers) if i not in config.dense_layers],
                    no_rope_layers=[int((i + 1) % 4 != 0) for i in range(config.layers)], use_qk_norm=config.qk_norm,
                    attention_chunk_size=config.chunk, attn_temperature_tuning=4, attn_scale=config.query_growth,
                    floor_scale=config.floor_scale)
    common["norm_topk_prob"] = config.normalizes
    if family == "olmoe":
        return dict(common, num_experts=config.experts, intermediate_size=config.expert_inner, clip_qkv=None)
    common["moe_intermediate_size"] = config.expert_inner
    if family == "glm4_moe" or config.kv_rank:
        common.update(make_latent.hf_keys(config) or {"use_qk_norm": config.qk_norm})
        return dict(common, n_routed_experts=config.experts,
                    n_shared_experts=config.shared_inner // config.expert_inner,
                    first_k_dense_replace=len(config.dense_layers), routed_scaling_factor=config.routed_scale,
                    n_group=config.groups, topk_group=config.groups_per_token)
    common["num_experts"] = config.experts
    if family == "qwen2_moe":
        return dict(common, shared_expert_intermediate_size=config.shared_inner, decoder_sparse_step=1,
                    mlp_only_layers=list(config.dense_layers), use_sliding_window=False)
    return dict(common, decoder_sparse_step=2, mlp_only_layers=[], use_sliding_window=False)


# GGUF

NAMES = {"gate": "ffn_gate_inp", "router.layer": "ffn_gate_inp", "router": "ffn_gate_inp", "shared_expert_gate": "ffn_gate_inp_shexp",
         "experts.w1": "ffn_gate_exps", "experts.w3": "ffn_up_exps", "experts.w2": "ffn_down_exps",
         "experts.gate_proj": "ffn_gate_exps", "experts.up_proj": "ffn_up_exps", "experts.down_proj": "ffn_down_exps",
         "output_linear": "ffn_down_exps"}
for _kind in ("gate", "up", "down"):
    for _shared in ("shared_expert", "shared_experts"):
        NAMES["%s.%s_proj" % (_shared, _kind)] = "ffn_%s_shexp" % _kind


def stacked(weights):
    """The matrices of a layer's experts as one tensor each, as in GGUF: experts.3.w1 becomes a part of experts.w1."""
    result = {}
    for name, values in weights.items():
        head, dot, rest = name.partition(".experts.")
        if dot and rest[0].isdigit():
            result.setdefault(head + dot + rest.split(".", 1)[1], []).append(values)
        else:
            result[name] = values
    return {name: np.stack(each) if isinstance(each, list) else each for name, each in result.items()}


def gguf_tensors(config, block, rest, kind, values):
    """-> [(name, values)] of a tensor of a mixture, whose module in the layer is `rest`; empty for other tensors."""
    of_latents = make_latent.gguf_tensors(config, block, rest, kind, values)
    if of_latents:
        return of_latents
    module, _, inner = rest.partition(".")
    if kind == "e_score_correction_bias":
        return [(block + "exp_probs_b.bias", values)]
    if kind == "sinks":
        return [(block + "attn_sinks.weight", values)]
    if config.family in ("gpt_oss", "llama4_text") and rest in ("mlp.experts", "feed_forward.experts"):
        return _stacks(block, kind, values, interleaved=rest.startswith("mlp"))
    if module not in ("mlp", "block_sparse_moe", "feed_forward"):
        return []
    if inner == "input_linear":
        return [("%sffn_%s_exps.weight" % (block, part), half)
                for part, half in zip(("gate", "up"), np.split(values, 2, axis=1))]
    if inner == "shared_expert_gate":
        values = values[0]
    return [("%s%s.%s" % (block, NAMES[inner], kind), values)] if inner in NAMES else []


def _stacks(block, kind, values, interleaved):
    """Of gpt-oss and Llama 4: [out, in], gate and up projections in tensors of their own."""
    name, is_bias, _ = kind.partition("_bias")
    suffix = ".bias" if is_bias else ".weight"
    if not is_bias:
        values = np.ascontiguousarray(values.swapaxes(1, 2))
    if name == "down_proj":
        return [(block + "ffn_down_exps" + suffix, values)]
    halves = (values[:, 0::2], values[:, 1::2]) if interleaved else np.split(values, 2, axis=1)
    return [("%sffn_%s_exps%s" % (block, part, suffix), np.ascontiguousarray(half))
            for part, half in zip(("gate", "up"), halves)]


def gguf_keys(config):
    keys = {"expert_count": ("u32", config.experts), "expert_used_count": ("u32", config.experts_per_token)}
    if config.family in ("mixtral", "olmoe", "granitemoe"):
        keys["feed_forward_length"] = ("u32", config.expert_inner)
        return keys
    keys["expert_feed_forward_length"] = ("u32", config.expert_inner)
    if config.family == "gpt_oss":
        keys["feed_forward_length"] = ("u32", config.expert_inner)
    if config.family == "llama4_text":
        keys.update({"interleave_moe_layer_step": ("u32", 2), "attention.chunk_size": ("u32", config.chunk),
                     "attention.temperature_scale": ("f32", config.query_growth),
                     "attention.temperature_length": ("u32", config.floor_scale)})
    if config.family == "qwen2_moe":
        keys["expert_shared_feed_forward_length"] = ("u32", config.shared_inner)
    keys.update(make_latent.gguf_keys(config))
    if config.family == "glm4_moe" or config.kv_rank:
        keys.update(expert_gating_func=("u32", 1 if config.family in ("deepseek_v2", "mistral4") else 2), expert_weights_norm=("bool", config.normalizes),
                    expert_weights_scale=("f32", config.routed_scale),
                    expert_shared_count=("u32", config.shared_inner // config.expert_inner),
                    leading_dense_block_count=("u32", len(config.dense_layers)),
                    expert_group_count=("u32", config.groups),
                    expert_group_used_count=("u32", config.groups_per_token))
    return keys
