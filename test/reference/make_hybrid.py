# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What make_families.py adds for layers that keep a state (llmref/hybrid.py): shapes, keys and names."""

import numpy as np

FIELDS = dict(hidden=64, intermediate=96, layers=5, heads=4, kv_heads=2, head_dim=16, vocab=272, max_positions=512,
              rms_eps=2.0 ** -10, rope_theta=1e4, tied=False)


def _shape(family, **more):
    return dict(FIELDS, family=family, **more)


FAMILIES = {
    # The inner size is two thirds of 288, rounded up to a multiple of 64.
    "lfm2": _shape("lfm2", tied=True, rope_theta=1e6, taps=3, intermediate=192,
                   recurrent=(True, True, False, True, False)),
    "lfm2_biased": _shape("lfm2", hidden=60, heads=6, head_dim=10, taps=4, intermediate=104, conv_bias=True,
                          recurrent=(False, True, True)),
}
FAMILIES["lfm2_biased"]["layers"] = 3

_GRANITE = dict(tied=True, attention_scale=0.5, embedding_scale=3.0, residual_scale=0.5, logit_scale=0.5, taps=4,
                key_heads=1, key_dim=16, value_heads=8, value_dim=16, rotates=False,
                recurrent=(True, True, False, True))
_QWEN = dict(rope_theta=1e3, rotary_dim=4, taps=4, key_heads=2, key_dim=16, value_heads=4, value_dim=8)
_SPARSE = dict(experts=6, experts_per_token=2, expert_inner=48, normalizes=True, shared_inner=80)
_THREE_TO_ONE = (True, True, True, False) * 2
FAMILIES.update({
    "lfm2_moe": _shape("lfm2_moe", tied=True, layers=4, taps=3, recurrent=(True, False, True, True), experts=6,
                       experts_per_token=2, expert_inner=48, dense_layers=(0,), routed_scale=1.5, normalizes=True),
    "granite_hybrid": _shape("granitemoehybrid", layers=4, intermediate=48, **dict(_SPARSE, **_GRANITE)),
    "granite_hybrid_dense": _shape("granitemoehybrid", layers=4, **dict(_GRANITE, rotates=True, key_dim=20)),
    "qwen3_next": _shape("qwen3_next", layers=8, recurrent=_THREE_TO_ONE, **dict(_SPARSE, **_QWEN)),
    "qwen3_5": _shape("qwen3_5_text", layers=8, recurrent=_THREE_TO_ONE, **_QWEN),
    "qwen3_5_moe": _shape("qwen3_5_moe_text", layers=4, recurrent=(True, False, True, False),
                          **dict(_SPARSE, **dict(_QWEN, value_heads=6, key_heads=3))),
})

CLASSES = {"lfm2": "Lfm2", "lfm2_moe": "Lfm2Moe", "granitemoehybrid": "GraniteMoeHybrid", "qwen3_next": "Qwen3Next",
           "qwen3_5_text": "Qwen3_5", "qwen3_5_moe_text": "Qwen3_5Moe"}
ARCHITECTURES = {"lfm2_moe": "lfm2moe", "granitemoehybrid": "granitehybrid", "qwen3_next": "qwen3next", "qwen3_5_text": "qwen35",
                 "qwen3_5_moe_text": "qwen35moe"}
PERMUTED = ("granitemoehybrid",)


def hf_keys(config, is_new):
    if config.family.startswith("lfm2"):
        return _lfm2_keys(config, is_new)
    kinds = ("attention", "mamba") if config.family == "granitemoehybrid" else ("full_attention", "linear_attention")
    keys = {"layer_types": [kinds[each] for each in config.recurrent]}
    if config.family == "granitemoehybrid":
        keys.update(mamba_n_heads=config.value_heads, mamba_n_groups=1, mamba_d_state=config.key_dim,
                    mamba_d_head=config.value_dim if is_new else "auto", mamba_d_conv=config.taps,
                    mamba_expand=config.value_heads * config.value_dim // config.hidden, mamba_conv_bias=True,
                    mamba_proj_bias=False, position_embedding_type="rope" if config.rotates else "nope",
                    shared_intermediate_size=config.shared_inner or config.intermediate,
                    num_local_experts=config.experts, intermediate_size=config.expert_inner or 8,
                    num_experts_per_tok=config.experts_per_token)
        return keys
    keys.update(linear_num_key_heads=config.key_heads, linear_num_value_heads=config.value_heads,
                linear_key_head_dim=config.key_dim, linear_value_head_dim=config.value_dim,
                linear_conv_kernel_dim=config.taps, head_dim=config.head_dim)
    if not is_new:
        keys["full_attention_interval"] = config.recurrent.index(False) + 1
        del keys["layer_types"]
    if config.experts:
        keys.update(num_experts=config.experts, moe_intermediate_size=config.expert_inner,
                    shared_expert_intermediate_size=config.shared_inner, decoder_sparse_step=1, mlp_only_layers=[],
                    num_experts_per_tok=config.experts_per_token)
    return keys


def _lfm2_keys(config, is_new):
    kinds = ("full_attention", "conv")
    keys = {"conv_L_cache": config.taps, "conv_bias": config.conv_bias, "norm_eps": config.rms_eps}
    if config.experts:
        keys.update(layer_types=[kinds[each] for each in config.recurrent], num_experts=config.experts,
                    num_experts_per_tok=config.experts_per_token, moe_intermediate_size=config.expert_inner,
                    num_dense_layers=len(config.dense_layers), routed_scaling_factor=config.routed_scale,
                    use_expert_bias=True, norm_topk_prob=True)
    elif is_new:
        keys.update(layer_types=[kinds[each] for each in config.recurrent], block_auto_adjust_ff_dim=False)
    else:
        keys.update(full_attn_idxs=[i for i, each in enumerate(config.recurrent) if not each],
                    block_ff_dim=config.intermediate * 3 // 2, block_multiple_of=8, block_ffn_dim_multiplier=1.0,
                    block_auto_adjust_ff_dim=True, intermediate_size=None)
    return keys


NAMES = {"operator_norm": "attn_norm", "self_attn.out_proj": "attn_output", "self_attn.q_layernorm": "attn_q_norm",
         "self_attn.k_layernorm": "attn_k_norm", "feed_forward.w1": "ffn_gate", "feed_forward.w3": "ffn_up",
         "feed_forward.w2": "ffn_down", "conv.in_proj": "shortconv.in_proj", "conv.conv": "shortconv.conv",
         "conv.out_proj": "shortconv.out_proj"}
for _mixer in ("mamba", "linear_attn"):
    NAMES.update({_mixer + ".conv1d": "ssm_conv1d", _mixer + ".norm": "ssm_norm", _mixer + ".out_proj": "ssm_out"})
NAMES.update({"mamba.in_proj": "ssm_in", "linear_attn.in_proj_qkv": "attn_qkv", "linear_attn.in_proj_z": "attn_gate",
              "linear_attn.in_proj_b": "ssm_beta", "linear_attn.in_proj_a": "ssm_alpha",
              "linear_attn.in_proj_ba": "ssm_ba"})


def tiled(config, rows, size, axis=0):
    """Value heads of `size` rows each, in the order of GGUF files of Qwen3.5: the first one of each key head, the
    second ones, …"""
    rows = np.moveaxis(rows, axis, 0)
    groups = rows.reshape((config.key_heads, -1, size) + rows.shape[1:])
    return np.moveaxis(groups.swapaxes(0, 1).reshape(rows.shape), 0, axis)


def _in_gguf_order(config, rest, kind, values):
    """The tensors of Qwen3.5 whose rows or columns belong to value heads."""
    keys, size = 2 * config.key_heads * config.key_dim, config.value_dim
    if rest in ("linear_attn.in_proj_qkv", "linear_attn.conv1d"):
        return np.concatenate([values[:keys], tiled(config, values[keys:], size)])
    if rest == "linear_attn.in_proj_z":
        return tiled(config, values, size)
    if rest == "linear_attn.out_proj":
        return tiled(config, values, size, axis=1)
    if rest in ("linear_attn.in_proj_b", "linear_attn.in_proj_a") or kind in ("A_log", "dt_bias"):
        return tiled(config, values, 1)
    return values


def gguf_tensors(config, block, rest, kind, values):
    """-> [(name, values)] of a tensor whose module in the layer is `rest`; empty for those of other families, too."""
    if config.family.startswith("qwen3_5"):
        values = _in_gguf_order(config, rest, kind, values)
    if kind == "expert_bias":
        return [(block + "exp_probs_b.bias", values)]
    if rest.startswith(("feed_forward.gate", "feed_forward.experts.")):
        part = rest[len("feed_forward."):]
        names = {"gate": "ffn_gate_inp", "experts.w1": "ffn_gate_exps", "experts.w3": "ffn_up_exps",
                 "experts.w2": "ffn_down_exps"}
        return [("%s%s.weight" % (block, names[part]), values)]
    if kind == "A_log":
        values = -np.exp(values.astype(np.float64))
        return [(block + "ssm_a", values[:, None] if rest == "mamba" else values)]
    if kind == "D":
        return [(block + "ssm_d", values[:, None])]
    if kind == "dt_bias":
        return [(block + "ssm_dt.bias", values)]
    if rest == "shared_mlp.input_linear":
        suffix = "_shexp" if config.experts else ""
        return [("%sffn_%s%s.weight" % (block, part, suffix), half)
                for part, half in zip(("gate", "up"), np.split(values, 2))]
    if rest == "shared_mlp.output_linear":
        return [("%sffn_down%s.weight" % (block, "_shexp" if config.experts else ""), values)]
    if rest == "linear_attn.in_proj_qkvz":
        return _regrouped(config, block, values)
    if rest == "mlp.experts" and kind == "gate_up_proj":
        return [("%sffn_%s_exps.weight" % (block, part), half)
                for part, half in zip(("gate", "up"), np.split(values, 2, axis=1))]
    if rest == "mlp.experts":
        return [(block + "ffn_down_exps.weight", values)]
    if rest not in NAMES:
        return []
    if rest == "mamba.norm":
        values = values[None]
    return [("%s%s.%s" % (block, NAMES[rest], kind), values[:, 0] if values.ndim == 3 else values)]


def _regrouped(config, block, values):
    """[q, k, v, z] of each key head as all q, all k, all v, and all z."""
    size, more = config.key_dim, config.value_heads // config.key_heads * config.value_dim
    parts = np.split(values.reshape(config.key_heads, -1, values.shape[-1]),
                     [size, 2 * size, 2 * size + more], axis=1)
    q, k, v, z = (part.reshape(-1, values.shape[-1]) for part in parts)
    return [(block + "attn_qkv.weight", np.concatenate([q, k, v])), (block + "attn_gate.weight", z)]


def gguf_keys(config):
    heads = ("[]i32", [0 if each else config.kv_heads for each in config.recurrent])
    if config.family.startswith("lfm2"):
        keys = {"shortconv.l_cache": ("u32", config.taps), "attention.head_count_kv": heads}
        if config.experts:
            keys.update({"expert_gating_func": ("u32", 2), "expert_weights_scale": ("f32", config.routed_scale),
                         "leading_dense_block_count": ("u32", len(config.dense_layers))})
        return keys
    keys = {"ssm.conv_kernel": ("u32", config.taps), "ssm.state_size": ("u32", config.key_dim),
            "ssm.group_count": ("u32", config.key_heads), "ssm.time_step_rank": ("u32", config.value_heads),
            "ssm.inner_size": ("u32", config.value_heads * config.value_dim)}
    if config.family == "granitemoehybrid":
        keys.update({"attention.head_count_kv": heads, "rope.scaling.finetuned": ("bool", config.rotates)})
        if config.experts:
            keys.update({"expert_shared_feed_forward_length": ("u32", config.shared_inner),
                         "feed_forward_length": ("u32", config.expert_inner)})
            keys["expert_feed_forward_length"] = ("u32", config.expert_inner)
        return keys
    keys.update({"full_attention_interval": ("u32", config.recurrent.index(False) + 1),
                 "attention.key_length": ("u32", config.head_dim), "attention.value_length": ("u32", config.head_dim)})
    if config.experts:
        keys["expert_shared_feed_forward_length"] = ("u32", config.shared_inner)
    return keys
