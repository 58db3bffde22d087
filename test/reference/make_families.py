# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checkpoints of the families of llmref/families.py: tiny shapes, config.json, and GGUF as llama.cpp's converter
names keys and tensors and orders rows."""

import math

import numpy as np

import make_experts
import make_gemma4
import make_hybrid
from llmref.checkpoint import permute_rows
from llmref.families import yarn_factor
from llmref.gguf_model import FILE_TYPES

EPS = 2.0 ** -10  # As in make_tiny.py.
YARN = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 128, "beta_fast": 8.0,
        "beta_slow": 1.0}
ROOT = math.sqrt(64)


def _shape(family, **more):
    fields = dict(family=family, hidden=64, intermediate=160, layers=3, heads=4, kv_heads=2, head_dim=16,
                  vocab=272, max_positions=512, rms_eps=EPS, rope_theta=1e4, tied=False)
    fields.update(more)
    return fields


FAMILIES = {
    "mistral": _shape("mistral", window=20, rope_theta=1e6),
    "mistral_nemo": _shape("mistral", head_dim=24, rope_theta=1e6),         # heads wider than hidden / heads
    "smollm3": _shape("smollm3", layers=4, tied=True, rope_theta=5e6),
    "phi3": _shape("phi3", window=20),
    "phi4_mini": _shape("phi3", rotary_dim=12, tied=True, rope_scaling={
        "type": "longrope", "short_factor": [1.0, 1.1, 1.25, 1.5, 2.0, 2.5],
        "long_factor": [1.0, 1.3, 1.75, 2.5, 4.0, 8.0], "original_max_position_embeddings": 128}),
    "gemma": _shape("gemma", head_dim=32, kv_heads=1, tied=True, embedding_scale=ROOT),
    "gemma2": _shape("gemma2", head_dim=32, tied=True, embedding_scale=ROOT, window=20, full_every=2,
                     attention_scale=0.25, attention_softcap=2.0, final_softcap=6.0),
    "gemma3": _shape("gemma3_text", layers=6, head_dim=32, tied=True, embedding_scale=ROOT, window=20,
                     full_every=6, local_theta=1e4, rope_theta=1e6, attention_scale=32 ** -0.5,
                     rope_scaling={"type": "linear", "factor": 8.0}),
    "olmo2": _shape("olmo2", rope_theta=5e5),
    "olmo3": _shape("olmo3", layers=4, rope_theta=5e5, window=20, full_every=4, rope_scaling=YARN),
    "granite": _shape("granite", tied=True, attention_scale=0.5, embedding_scale=3.0, residual_scale=0.5,
                      logit_scale=0.5),
    "internlm2": _shape("internlm2", rope_theta=1e6),
    "stablelm": _shape("stablelm", kv_heads=4, rotary_dim=4, attention_bias=True),
    "stablelm_parallel": _shape("stablelm", rotary_dim=4, parallel=True),
    "gpt_neox": _shape("gpt_neox", intermediate=256, kv_heads=4, rotary_dim=4, attention_bias=True, output_bias=True,
                       mlp_bias=True, parallel=True),
    "cohere": _shape("cohere", tied=True, logit_scale=0.5),
    "cohere2": _shape("cohere2", layers=4, tied=True, logit_scale=0.25, window=20, full_every=4),
    "glm4": _shape("glm4", rotary_dim=8, attention_bias=True),
    "exaone4": _shape("exaone4", layers=4, window=20, full_every=4, rope_scaling={
        "type": "llama3", "factor": 16.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 64}),
    "seed_oss": _shape("seed_oss", head_dim=32, attention_bias=True),
    "ministral3": _shape("ministral3", head_dim=32, rope_theta=1e6, query_growth=0.5, rope_scaling=dict(
        YARN, mscale=1.0, mscale_all_dim=1.0, original_max_position_embeddings=32)),
}
FAMILIES.update(make_gemma4.FAMILIES)

CLASSES = {"mistral": "Mistral", "smollm3": "SmolLM3", "phi3": "Phi3", "gemma": "Gemma", "gemma2": "Gemma2",
           "gemma3_text": "Gemma3", "gemma4_text": "Gemma4", "olmo2": "Olmo2", "olmo3": "Olmo3", "granite": "Granite",
           "internlm2": "InternLM2", "stablelm": "StableLm", "gpt_neox": "GPTNeoX", "cohere": "Cohere",
           "cohere2": "Cohere2", "glm4": "Glm4", "exaone4": "Exaone4", "seed_oss": "SeedOss",
           "ministral3": "Ministral3"}
CLASSES.update(make_experts.CLASSES)
CLASSES.update(make_hybrid.CLASSES)
LAYER_NORM = ("stablelm", "gpt_neox", "cohere", "cohere2")
UNIT_OFFSET = ("gemma", "gemma2", "gemma3_text", "qwen3_next", "qwen3_5_text", "qwen3_5_moe_text")


def distribution(config, name, shape):
    """Mean and standard deviation, as in make_tiny.py."""
    module = name.split(".")[-2]
    is_head = module in ("lm_head", "embed_out", "output")
    is_table = module in ("embed_tokens", "tok_embeddings", "embed_in")
    offset = 1.0 if config.family in UNIT_OFFSET and module != "linear_attn" else 0.0
    if name.endswith("linear_attn.norm.weight"):
        offset = 0.0
    if name.endswith(("A_log", "dt_bias", ".D")):
        return (0.0 if name.endswith("A_log") else -1.0 if name.endswith("dt_bias") else 0.5), 0.5
    if name.endswith(".bias"):
        return 0.0, 0.3
    if name.endswith(("correction_bias", "expert_bias")):
        return 0.0, 0.1
    if name.endswith(("sinks", "down_proj_bias")):
        return 0.0, 1.0
    if name.endswith("gate_up_proj_bias"):
        return 0.0, 4.0  # Many gates and values beyond the limit.
    if name.endswith("router.scale"):
        return 2.0 * math.sqrt(config.hidden), 1.0
    if module == "experts" and config.family in make_experts.OF_ROWS + ("gemma4_text",):
        return 0.0, 1.0 / np.sqrt(shape[-1])
    if module == "experts":  # [in, out]
        return 0.0, (1.0 if name.endswith("gate_up_proj") else 0.1) / np.sqrt(shape[-2])
    if len(shape) == 1:
        is_last = name.startswith(("model.norm", "model.embedding_norm", "gpt_neox.final"))
        if is_last and config.tied:
            scale = config.embedding_scale / config.logit_scale
            return 2.8 * scale - offset, 0.5 * scale
        if config.family == "gemma4_text" and module in ("q_norm", "k_norm"):
            return 0.6, 0.1  # The scores of larger heads are not divided by the root of their size.
        return (1.2 if module in ("q_norm", "k_norm", "q_layernorm", "k_layernorm") else 1.0) - offset, 0.2
    if is_table and not config.tied:
        return 0.0, 1.0
    gain = (0.7 / config.embedding_scale if is_table else 2.0 / config.logit_scale if is_head
            else 1.2 if "attention" in name or "attn" in name else 1.0)
    return 0.0, gain / np.sqrt(shape[-1])


# config.json


def hf_config(config, dtype, dialect):
    """dialect: "old" or "new" (since transformers 5)."""
    family, is_new = config.family, dialect == "new"
    eps = "layer_norm_eps" if family in LAYER_NORM else "rms_norm_eps"
    data = {
        "architectures": [CLASSES[family] + "ForCausalLM"], "model_type": family,
        "hidden_size": config.hidden, "intermediate_size": config.intermediate,
        "num_hidden_layers": config.layers, "num_attention_heads": config.heads,
        "num_key_value_heads": config.kv_heads, "vocab_size": config.vocab,
        "max_position_embeddings": config.max_positions, eps: config.rms_eps, "hidden_act": "silu",
        "tie_word_embeddings": config.tied, "bos_token_id": config.bos, "eos_token_id": None,
        "dtype" if is_new else "torch_dtype": dtype,
    }
    if config.head_dim * config.heads != config.hidden:
        data["head_dim"] = config.head_dim
    data.update(_switches(config))
    if config.experts and not config.recurrent and family != "gemma4_text":
        data.update(make_experts.hf_keys(config))
    if config.recurrent:
        data.update(make_hybrid.hf_keys(config, is_new))
    if family == "gemma4_text":  # Since transformers 5.
        return dict(data, **make_gemma4.hf_keys(config))
    _add_rope(data, config, is_new)
    _add_windows(data, config, is_new)
    return data


def _switches(config):
    family = config.family
    if family == "internlm2":
        return {"bias": False, "rope_scaling": {"type": "dynamic", "factor": 2.0}}
    if family == "stablelm":
        return {"use_qkv_bias": config.attention_bias, "use_parallel_residual": config.parallel,
                "qk_layernorm": False}
    if family == "gpt_neox":
        return {"hidden_act": "gelu", "use_parallel_residual": True, "attention_bias": True}
    if family in ("qwen3_next", "qwen3_5_text", "qwen3_5_moe_text"):
        return {"attention_bias": False, "use_sliding_window": False}
    if family.startswith("granite"):
        return {"embedding_multiplier": config.embedding_scale, "attention_multiplier": config.attention_scale,
                "residual_multiplier": config.residual_scale, "logits_scaling": 1 / config.logit_scale,
                "attention_bias": False, "mlp_bias": False}
    if family.startswith("cohere"):
        return {"logit_scale": config.logit_scale, "use_qk_norm": False, "attention_bias": False}
    if family == "gemma":
        return {"hidden_act": "gelu", "hidden_activation": None}
    if family == "gemma4_text":
        return {}
    if family.startswith("gemma"):
        return {"hidden_activation": "gelu_pytorch_tanh", "query_pre_attn_scalar": round(config.attention_scale ** -2),
                "attn_logit_softcapping": config.attention_softcap,
                "final_logit_softcapping": config.final_softcap}
    if family in ("glm4", "seed_oss"):
        return {"attention_bias": config.attention_bias, "attention_out_bias": False, "mlp_bias": False}
    return {"attention_bias": False}


def _add_rope(data, config, is_new):
    scaling = dict(config.rope_scaling or {})
    kind = scaling.pop("type", "default")
    if config.query_growth and config.family in ("ministral3", "mistral4"):
        scaling["llama_4_scaling_beta"] = config.query_growth
    if config.family == "phi3":
        data["original_max_position_embeddings"] = scaling.pop("original_max_position_embeddings", 512)
    is_partial = config.rotary_dim and not config.kv_rank
    share = {"partial_rotary_factor": config.rotary_dim / config.head_dim} if is_partial else {}
    if not is_new:
        if config.family == "gpt_neox":
            data.update(rotary_pct=share["partial_rotary_factor"], rotary_emb_base=config.rope_theta)
            return
        data.update(share, rope_theta=config.rope_theta)
        if kind != "default":
            data["rope_scaling"] = dict(scaling, rope_type=kind)
        if config.local_theta:
            data["rope_local_base_freq"] = config.local_theta
        return
    full = dict(scaling, rope_type=kind, rope_theta=config.rope_theta, **share)
    local = {"rope_type": "default", "rope_theta": config.local_theta}
    data["rope_parameters"] = {"full_attention": full, "sliding_attention": local} if config.local_theta else full


def _add_windows(data, config, is_new):
    data["sliding_window"] = config.window
    if config.family == "smollm3":
        data.update(use_sliding_window=False, no_rope_layer_interval=4)
    if is_new and config.family == "llama4_text":
        kinds = ("full_attention", "chunked_attention")
        data["layer_types"] = [kinds[(i + 1) % 4 != 0] for i in range(config.layers)]
    elif is_new and config.family != "phi3" and not config.recurrent:
        kinds = ("full_attention", "sliding_attention")
        data["layer_types"] = [kinds[config.slides(i)] for i in range(config.layers)]
    elif config.full_every and config.family != "gemma2":
        data["sliding_window_pattern"] = "LLLG" if config.family == "exaone4" else config.full_every


# GGUF

ARCHITECTURES = {"mistral": "llama", "gemma3_text": "gemma3", "gemma4_text": "gemma4", "olmo3": "olmo2", "gpt_neox": "gptneox",
                 "cohere": "command-r", "ministral3": "mistral3"}
ARCHITECTURES.update(make_experts.ARCHITECTURES)
ARCHITECTURES.update(make_hybrid.ARCHITECTURES)
NAMES = {
    "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "self_attn.qkv_proj": "attn_qkv", "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down", "mlp.gate_up_proj": "ffn_up", "post_self_attn_layernorm": "post_attention_norm",
    "post_mlp_layernorm": "post_ffw_norm", "post_feedforward_layernorm": "post_ffw_norm",
    "pre_feedforward_layernorm": "ffn_norm", "attention_norm": "attn_norm", "ffn_norm": "ffn_norm",
    "attention.wo": "attn_output", "feed_forward.w1": "ffn_gate", "feed_forward.w3": "ffn_up",
    "feed_forward.w2": "ffn_down", "attention.query_key_value": "attn_qkv", "attention.dense": "attn_output",
    "mlp.dense_h_to_4h": "ffn_up", "mlp.dense_4h_to_h": "ffn_down", "feed_forward.gate_proj": "ffn_gate",
    "feed_forward.up_proj": "ffn_up", "feed_forward.down_proj": "ffn_down",
}
NAMES.update(make_gemma4.NAMES)
# Where post_attention_layernorm normalizes the result of the attention, or is called so.
AFTER_ATTENTION = ("glm4_moe", "gpt_oss", "qwen3_next", "qwen3_5_text", "qwen3_5_moe_text", "gemma2", "gemma3_text", "olmo2", "olmo3",
                   "exaone4", "seed_oss", "gemma4_text")
TOP_NAMES = {"model.embed_tokens": "token_embd", "model.tok_embeddings": "token_embd",
             "gpt_neox.embed_in": "token_embd", "model.norm": "output_norm", "model.embedding_norm": "token_embd_norm",
             "gpt_neox.final_layer_norm": "output_norm", "lm_head": "output", "output": "output",
             "embed_out": "output"}
TOP_NAMES.update(make_gemma4.TOP_NAMES)
PERMUTED = ("mistral", "smollm3", "granite", "ministral3", "internlm2") + make_experts.PERMUTED + make_hybrid.PERMUTED


def gguf_tensors(config, name, values):
    """-> [(name, values)] of a Hugging Face tensor."""
    module, kind = name.rsplit(".", 1)
    if module in TOP_NAMES:
        return [("%s.%s" % (TOP_NAMES[module], kind), _offset(config, values))]
    if kind == "layer_scalar":
        return [("blk.%s.layer_output_scale.weight" % module.split(".")[-1], values)]
    _, _, layer, rest = module.split(".", 3)
    block = "blk.%s." % layer
    if config.experts:
        module = make_gemma4 if config.family == "gemma4_text" else make_experts
        of_mixture = module.gguf_tensors(config, block, rest, kind, values)
        if of_mixture:
            return of_mixture
    if config.recurrent:
        of_hybrid = make_hybrid.gguf_tensors(config, block, rest, kind, values)
        if of_hybrid:
            return of_hybrid
    if rest == "attention.wqkv":
        groups = values.reshape(config.kv_heads, -1, config.head_dim, values.shape[-1])
        parts = (("q", groups[:, :-2], config.heads), ("k", groups[:, -2], config.kv_heads), ("v", groups[:, -1], 0))
        return [("%sattn_%s.weight" % (block, part), _permuted(rows.reshape(-1, values.shape[-1]), heads))
                for part, rows, heads in parts]
    target = NAMES[rest]
    if rest == "post_attention_layernorm" and config.family in AFTER_ATTENTION:
        target = "post_attention_norm"
    if rest == "attention.query_key_value":  # all queries, all keys, all values
        values = values.reshape((config.heads, 3, config.head_dim) + values.shape[1:]).swapaxes(0, 1)
        values = values.reshape((-1,) + values.shape[3:])
    if config.family in PERMUTED and rest in ("self_attn.q_proj", "self_attn.k_proj"):
        values = _permuted(values, config.heads if rest.endswith("q_proj") else config.kv_heads)
    return [("%s%s.%s" % (block, target, kind), _offset(config, values))]


def _permuted(rows, heads):
    return permute_rows(np.ascontiguousarray(rows), heads) if heads else rows


def _offset(config, values):
    """Norms of Gemma and Qwen3-Next are stored plus one."""
    return values + 1 if config.family in UNIT_OFFSET and values.ndim == 1 else values


def gguf_extra(config):
    """-> {name: values} of tensors that are not weights."""
    scaling = config.rope_scaling
    if config.family == "gemma4_text":
        return make_gemma4.gguf_extra(config)
    if scaling is None or scaling["type"] != "longrope":
        return {}
    return {"rope_factors_%s.weight" % kind: np.asarray(scaling[kind + "_factor"], np.float32)
            for kind in ("short", "long")}


def gguf_keys(config, file_type, name):
    family, scaling = config.family, dict(config.rope_scaling or {"type": "default"})
    arch = ARCHITECTURES.get(family, family)
    eps = "attention.layer_norm_epsilon" if family in LAYER_NORM else "attention.layer_norm_rms_epsilon"
    keys = {
        "block_count": ("u32", config.layers), "context_length": ("u32", config.max_positions),
        "embedding_length": ("u32", config.hidden), "feed_forward_length": ("u32", config.intermediate),
        "attention.head_count": ("u32", config.heads), "attention.head_count_kv": ("u32", config.kv_heads),
        eps: ("f32", config.rms_eps), "rope.freq_base": ("f32", config.rope_theta),
        "vocab_size": ("u32", config.vocab),
    }
    if config.head_dim * config.heads != config.hidden:
        keys["attention.key_length"] = keys["attention.value_length"] = ("u32", config.head_dim)
    if family != "gemma3_text":
        keys["rope.dimension_count"] = ("u32", config.rotary_dim or config.head_dim)
    if family in ("stablelm", "gpt_neox"):
        keys["use_parallel_residual"] = ("bool", config.parallel)
    if family == "phi3" or config.window:
        keys["attention.sliding_window"] = ("u32", config.window or 0)
    if family in ("olmo3", "exaone4"):
        keys["attention.sliding_window_pattern"] = ("[]bool", [config.slides(i) for i in range(config.layers)])
    if config.experts and family != "gemma4_text":
        keys.update(make_experts.gguf_keys(config))
    if config.recurrent:
        keys.update(make_hybrid.gguf_keys(config))
    if family == "gemma4_text":
        keys.update(make_gemma4.gguf_keys(config))
    if family == "qwen3_5_moe_text":
        del keys["feed_forward_length"]  # Its config.json has no such size.
    keys.update(_scales(config))
    keys.update(_scaling_keys(config, scaling))
    keys = {"%s.%s" % (arch, key): value for key, value in keys.items()}
    keys.update({"general.architecture": ("string", arch), "general.type": ("string", "model"),
                 "general.name": ("string", name), "general.file_type": ("u32", FILE_TYPES[file_type]),
                 "general.quantization_version": ("u32", 2)})
    return keys


def _scales(config):
    if config.family.startswith("granite"):
        return {"attention.scale": ("f32", config.attention_scale), "embedding_scale": ("f32", config.embedding_scale),
                "residual_scale": ("f32", config.residual_scale), "logit_scale": ("f32", 1 / config.logit_scale)}
    keys = {}
    if config.family.startswith("cohere"):
        keys["logit_scale"] = ("f32", config.logit_scale)
    if config.family == "gemma2":
        keys["attention.scale"] = ("f32", config.attention_scale)
        keys["attn_logit_softcapping"] = ("f32", config.attention_softcap)
        keys["final_logit_softcapping"] = ("f32", config.final_softcap)
    if config.query_growth:
        keys["attention.temperature_scale"] = ("f32", config.query_growth)
    return keys


def _scaling_keys(config, scaling):
    prefix = "rope.scaling."
    if scaling["type"] == "linear":
        return {prefix + "type": ("string", "linear"), prefix + "factor": ("f32", scaling["factor"])}
    if scaling["type"] == "longrope":
        original = scaling["original_max_position_embeddings"]
        stretch = config.max_positions / original
        return {prefix + "original_context_length": ("u32", original),
                prefix + "attn_factor": ("f32", math.sqrt(1 + math.log(stretch) / math.log(original)))}
    if scaling["type"] != "yarn":
        return {}
    keys = {prefix + "type": ("string", "yarn"), prefix + "factor": ("f32", scaling["factor"]),
            prefix + "original_context_length": ("u32", scaling["original_max_position_embeddings"]),
            prefix + "yarn_beta_fast": ("f32", scaling["beta_fast"]),
            prefix + "yarn_beta_slow": ("f32", scaling["beta_slow"])}
    if config.family == "olmo3":
        keys[prefix + "attn_factor"] = ("f32", yarn_factor(scaling))
    if "mscale_all_dim" in scaling:
        unit = 0.1 if config.kv_rank else 1
        keys[prefix + "yarn_log_multiplier"] = ("f32", unit * scaling["mscale_all_dim"])
    return keys
