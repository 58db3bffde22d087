# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A checkpoint in any container: (Config, {Hugging Face name: exact values})."""

import os

import numpy as np

from . import gguf as gguf_file
from . import safetensors
from .config import GPT2_PREFIX, config_from_folder, config_from_gguf

# Module of a layer -> its name in GGUF; each has .weight and optionally .bias.
LAYER_NAMES = {
    "input_layernorm": "attn_norm",
    "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm",
    "self_attn.k_norm": "attn_k_norm",
    "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down",
    # GPT-2
    "ln_1": "attn_norm",
    "attn.c_attn": "attn_qkv",
    "attn.c_proj": "attn_output",
    "ln_2": "ffn_norm",
    "mlp.c_fc": "ffn_up",
    "mlp.c_proj": "ffn_down",
}
TOP_NAMES = {"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output",
             "transformer.wte": "token_embd", "transformer.wpe": "position_embd",
             "transformer.ln_f": "output_norm"}


def load(path):
    """A Hugging Face model directory or a .gguf file -> Model."""
    from .model import Model
    return Model(*read(path))


def load_checkpoint(path):
    """A Hugging Face model directory or a .gguf file -> (Config, {name: exact values})."""
    return read(path)[:2]


def read(path):
    """A Hugging Face model directory or a .gguf file -> (Config, {name: exact values}, {name: format}).

    Names and row order are Hugging Face's: q and k rows of GGUF's llama architecture are
    restored. Missing, extra and wrongly shaped tensors are rejected."""
    if os.path.isdir(path):
        tensors = safetensors.read_folder(path)
        config = config_from_folder(path, tensors)
        tensors = {name: tensor for name, tensor in tensors.items()
                   if not name.endswith(("rotary_emb.inv_freq", ".attn.bias", ".attn.masked_bias"))}
        if config.family == "gpt2":  # exports without the head leave the prefix out
            tensors = {name if name.startswith((GPT2_PREFIX, "lm_head.")) else GPT2_PREFIX + name:
                       tensor for name, tensor in tensors.items()}
        if config.tied:
            tensors.pop("lm_head.weight", None)
        weights = {name: tensor.values() for name, tensor in tensors.items()}
    else:
        gguf = gguf_file.read_gguf(path)
        config = config_from_gguf(gguf)
        originals = {gguf_name(name): name for name in config.weights()}
        tensors = {originals.get(name, name): tensor for name, tensor in gguf.tensors.items()
                   if name != "rope_freqs.weight"}
        weights = {name: in_order(config, name, tensor.values())
                   for name, tensor in tensors.items()}
    check_weights(config, weights, path)
    return config, weights, {name: tensor.format for name, tensor in tensors.items()}


def check_weights(config, weights, path="checkpoint"):
    """Raises ValueError unless the weights are exactly those of the config."""
    wanted = config.weights()
    for name in sorted(set(wanted) | set(weights)):
        if name not in weights:
            raise ValueError("%s: %s %s is missing" % (path, name, wanted[name]))
        if name not in wanted:
            raise ValueError("%s: %s is not part of a %s model" % (path, name, config.family))
        if tuple(weights[name].shape) != wanted[name]:
            raise ValueError("%s: %s has shape %s, want %s"
                             % (path, name, tuple(weights[name].shape), wanted[name]))


def gguf_name(name):
    """model.layers.3.mlp.up_proj.weight -> blk.3.ffn_up.weight"""
    module, kind = name.rsplit(".", 1)
    if module in TOP_NAMES:
        return "%s.%s" % (TOP_NAMES[module], kind)
    _, _, layer, rest = module.split(".", 3)
    return "blk.%s.%s.%s" % (layer, LAYER_NAMES[rest], kind)


def heads_to_permute(config, name):
    """The number of heads of this tensor if GGUF stores its rows permuted, else 0.

    GGUF's llama architecture rotates adjacent pairs, so its q and k rows are reordered."""
    if config.family == "llama" and ".self_attn.q_proj." in name:
        return config.heads
    if config.family == "llama" and ".self_attn.k_proj." in name:
        return config.kv_heads
    return 0


def permute_rows(rows, heads):
    """Halves to adjacent pairs: within a head of d rows, row 2j <- j, row 2j + 1 <- j + d/2."""
    grouped = rows.reshape((heads, 2, rows.shape[0] // heads // 2) + rows.shape[1:])
    return np.ascontiguousarray(grouped.swapaxes(1, 2)).reshape(rows.shape)


def unpermute_rows(rows, heads):
    """The inverse of permute_rows."""
    grouped = rows.reshape((heads, rows.shape[0] // heads // 2, 2) + rows.shape[1:])
    return np.ascontiguousarray(grouped.swapaxes(1, 2)).reshape(rows.shape)


def is_transposed(config, name):
    """Whether Hugging Face has this matrix as [in, out] and GGUF as [out, in]."""
    return (config.family == "gpt2" and ".h." in name and name.endswith(".weight")
            and ".ln_" not in name)


def in_order(config, name, values):
    """A tensor of a GGUF file in Hugging Face's order of rows and dimensions."""
    if is_transposed(config, name):
        return np.ascontiguousarray(values.T)
    heads = heads_to_permute(config, name)
    return unpermute_rows(values, heads) if heads else values


def gguf_order(config, name, values):
    """The inverse of in_order."""
    if is_transposed(config, name):
        return np.ascontiguousarray(values.T)
    heads = heads_to_permute(config, name)
    return permute_rows(values, heads) if heads else values
