# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checkpoints of embedding models: tiny shapes of encoders, the files of sentence-transformers, and GGUF as llama.cpp's
converter names keys and tensors."""

import json
import os
from types import SimpleNamespace

import numpy as np

from llmref import encoders, formats, gguf, safetensors
from llmref.gguf_model import FILE_TYPES

EPS = 2.0 ** -20
# Values of <architecture>.pooling_type.
POOLING_TYPES = {"none": 0, "mean": 1, "cls": 2, "last": 3, "rank": 4}
FLAGS = {"cls": "pooling_mode_cls_token", "mean": "pooling_mode_mean_tokens", "last": "pooling_mode_lasttoken"}


def _shape(family, **more):
    fields = dict(family=family, hidden=64, intermediate=160, layers=3, heads=4, vocab=272, max_positions=640, types=2,
                  first_position=0, eps=EPS, rope_theta=None)
    fields.update(more)
    return SimpleNamespace(**fields)


FAMILIES = {
    "bert": _shape("bert"),
    "bert_odd": _shape("bert", hidden=60, intermediate=172, heads=6, vocab=259, layers=2),
    "xlm_roberta": _shape("xlm-roberta", types=1, max_positions=642, first_position=2),
    "nomic_bert": _shape("nomic_bert", rope_theta=1000.0),
    "modernbert": _shape("modernbert", layers=5, rope_theta=160000.0, local_theta=10000.0, window=40, full_every=3),
    "modernbert_odd": _shape("modernbert", layers=4, hidden=60, intermediate=172, heads=6, vocab=259, rope_theta=160000.0,
                             local_theta=10000.0, window=129, full_every=3),
}


def make(name, seed=0):
    """-> (config, {Hugging Face name: float32 array})"""
    config = FAMILIES[name]
    random = np.random.RandomState(seed)
    weights = {}
    for tensor, shape in encoders.CLASSES[config.family].weights_of(config).items():
        mean, spread = _distribution(tensor, shape)
        values = mean + spread * random.standard_normal(shape)
        weights[tensor] = formats.encode("f32", values).values()
    return config, weights


def _distribution(name, shape):
    if name.endswith(".bias"):
        return 0.0, 0.3
    if len(shape) == 1:
        return 1.0, 0.2
    if "embeddings" in name:
        return 0.0, 0.7
    return 0.0, 1.2 / np.sqrt(shape[-1])


def write_json(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as stream:
        json.dump(data, stream, indent=2)


def write_pooling(folder, pooling, size, dense=()):
    """The files that make a model directory one of sentence-transformers; `dense`: matrices after pooling."""
    modules = [("", "Transformer"), ("1_Pooling", "Pooling")]
    for i, matrix in enumerate(dense):
        name = "%d_Dense" % (i + 2)
        modules.append((name, "Dense"))
        write_json(os.path.join(folder, name, "config.json"), {
            "in_features": matrix.shape[1], "out_features": matrix.shape[0], "bias": False,
            "activation_function": "torch.nn.modules.linear.Identity"})
        safetensors.write_folder(os.path.join(folder, name), {"linear.weight": formats.encode("f32", matrix)}, 1)
    modules.append(("%d_Normalize" % (len(dense) + 2), "Normalize"))
    write_json(os.path.join(folder, "modules.json"), [
        {"idx": i, "name": str(i), "path": path, "type": "sentence_transformers.models." + kind}
        for i, (path, kind) in enumerate(modules)])
    flags = {flag: kind == pooling for kind, flag in FLAGS.items()}
    flags.update(word_embedding_dimension=size, pooling_mode_max_tokens=False, include_prompt=True)
    write_json(os.path.join(folder, "1_Pooling", "config.json"), flags)


def hf_config(config):
    if config.family == "nomic_bert":
        return {"model_type": "nomic_bert", "vocab_size": config.vocab, "n_embd": config.hidden,
                "n_inner": config.intermediate, "n_layer": config.layers, "n_head": config.heads, "n_positions": 8192,
                "max_trained_positions": config.max_positions, "type_vocab_size": config.types,
                "layer_norm_epsilon": config.eps, "activation_function": "swiglu", "rotary_emb_base": config.rope_theta,
                "rotary_emb_fraction": 1.0, "rotary_emb_interleaved": False, "qkv_proj_bias": False,
                "mlp_fc1_bias": False, "mlp_fc2_bias": False, "prenorm": False, "use_rms_norm": False, "causal": False}
    if config.family == "modernbert":
        return {"model_type": "modernbert", "vocab_size": config.vocab, "hidden_size": config.hidden,
                "intermediate_size": config.intermediate, "num_hidden_layers": config.layers,
                "num_attention_heads": config.heads, "max_position_embeddings": config.max_positions,
                "norm_eps": config.eps, "norm_bias": False, "attention_bias": False, "mlp_bias": False,
                "hidden_activation": "gelu", "global_attn_every_n_layers": config.full_every,
                "local_attention": config.window, "global_rope_theta": config.rope_theta,
                "local_rope_theta": config.local_theta}
    data = {"model_type": config.family, "vocab_size": config.vocab, "hidden_size": config.hidden,
            "intermediate_size": config.intermediate, "num_hidden_layers": config.layers,
            "num_attention_heads": config.heads, "max_position_embeddings": config.max_positions,
            "type_vocab_size": config.types, "layer_norm_eps": config.eps, "hidden_act": "gelu",
            "position_embedding_type": "absolute", "pad_token_id": 0}
    if config.first_position:
        data["pad_token_id"] = config.first_position - 1
    return data


def write_hf(folder, config, weights, pooling, prefix=""):
    """Names have the prefix of a model with a head, or none."""
    os.makedirs(folder, exist_ok=True)
    tensors = {prefix + name: formats.encode("f32", values) for name, values in weights.items()}
    safetensors.write_folder(folder, tensors, 1)
    write_json(os.path.join(folder, "config.json"), hf_config(config))
    write_pooling(folder, pooling, config.hidden)


# GGUF

TOP_NAMES = {"embeddings.word_embeddings": "token_embd", "embeddings.position_embeddings": "position_embd",
             "embeddings.token_type_embeddings": "token_types", "embeddings.LayerNorm": "token_embd_norm",
             "emb_ln": "token_embd_norm", "embeddings.tok_embeddings": "token_embd",
             "embeddings.norm": "token_embd_norm", "final_norm": "output_norm"}
NAMES = {"attention.self.query": "attn_q", "attention.self.key": "attn_k", "attention.self.value": "attn_v",
         "attention.output.dense": "attn_output", "attention.output.LayerNorm": "attn_output_norm",
         "intermediate.dense": "ffn_up", "output.dense": "ffn_down", "output.LayerNorm": "layer_output_norm",
         "attn.Wqkv": "attn_qkv", "attn.out_proj": "attn_output", "norm1": "attn_output_norm", "mlp.fc11": "ffn_up",
         "mlp.fc12": "ffn_gate", "mlp.fc2": "ffn_down", "norm2": "layer_output_norm", "attn_norm": "attn_norm",
         "attn.Wo": "attn_output", "mlp_norm": "ffn_norm", "mlp.Wi": "ffn_up", "mlp.Wo": "ffn_down"}


def gguf_name(name):
    module, kind = name.rsplit(".", 1)
    if module in TOP_NAMES:
        return "%s.%s" % (TOP_NAMES[module], kind)
    layer, rest = module[module.index("layer"):].split(".", 2)[1:]
    return "blk.%s.%s.%s" % (layer, NAMES[rest], kind)


def write_gguf(path, config, weights, pooling):
    arch = {"xlm-roberta": "bert", "nomic_bert": "nomic-bert", "modernbert": "modern-bert"}.get(config.family, config.family)
    context = config.max_positions - config.first_position
    keys = {"block_count": ("u32", config.layers), "context_length": ("u32", context),
            "embedding_length": ("u32", config.hidden), "feed_forward_length": ("u32", config.intermediate),
            "attention.head_count": ("u32", config.heads), "attention.layer_norm_epsilon": ("f32", config.eps),
            "attention.causal": ("bool", False), "pooling_type": ("u32", POOLING_TYPES[pooling])}
    if config.rope_theta:
        keys["rope.freq_base"] = ("f32", config.rope_theta)
    if config.family == "modernbert":
        keys.update({"rope.freq_base_swa": ("f32", config.local_theta),
                     "attention.sliding_window": ("u32", config.window),
                     "attention.sliding_window_pattern": ("u32", config.full_every)})
    keys = {"%s.%s" % (arch, key): value for key, value in keys.items()}
    keys.update({"general.architecture": ("string", arch), "general.type": ("string", "model"),
                 "general.name": ("string", "tiny-random-" + config.family),
                 "general.file_type": ("u32", FILE_TYPES["f32"]), "tokenizer.ggml.model": ("string", "none"),
                 "general.quantization_version": ("u32", 2)})
    tensors = {}
    for name, values in weights.items():
        if name == "embeddings.position_embeddings.weight":
            values = values[config.first_position:]
        tensors[gguf_name(name)] = formats.encode("f32", values)
    gguf.write_gguf(path, keys, tensors)
