# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks of compare.py: models with experts whose matrices are stored in blocks."""

import json
import os

import numpy as np

import make_latent
import make_tiny
from model_command import Failure
from llmref import Model, formats, gguf_model, nmse, quantized, safetensors

BLOCKS_BOUND = 2e-3   # median NMSE of positions: inputs are rounded to int8
SIZES = {"qwen2_moe": dict(shared_inner=256),
         "deepseek_v3": dict(q_rank=64, kv_rank=64, head_dim=96, rotary_dim=32, value_dim=64, shared_inner=256)}


def in_blocks(command, temp, family, gguf_type, tokens):
    """The values of the blocks are exact, and inputs of such matrices are int8. Rounding them changes which experts
    some tokens choose, so only the median of the positions' errors is bounded."""
    config, weights = make_tiny.make(family, hidden=256, expert_inner=256, intermediate=256, layers=2,
                                     **SIZES.get(family, {}))
    path = os.path.join(temp, "experts-%s-%s.gguf" % (family, gguf_type))
    make_tiny.write_gguf(path, config, weights, gguf_type)
    for name, values in weights.items():
        chosen = gguf_model.tensor_format(config, name, values.shape, gguf_type, pure=True)
        weights[name] = make_latent.by_rows(config, name, values, lambda rows: formats.encode(chosen, rows).values())
    return _close_median(command, path, config, weights, tokens)


def in_fp8(command, temp, family, tokens):
    """As the folders of DeepSeek-V3: routers, norms and the head are not quantized."""
    config, weights = make_tiny.make(family, hidden=256, expert_inner=128, intermediate=256, layers=2, dtype="bf16",
                                     **SIZES.get(family, {}))
    folder = os.path.join(temp, "experts-%s-fp8" % family)
    make_tiny.write_hf(folder, config, weights, "bf16")
    tensors = {}
    for name, values in weights.items():
        if not name.endswith(("_proj.weight", "_with_mqa.weight")):
            tensors[name] = formats.encode("f32" if values.ndim == 1 else "bf16", values)
            continue
        parts, weights[name], _ = quantized.encode("fp8 blocks", values)
        tensors.update((name[:-len("weight")] + suffix, tensor) for suffix, tensor in parts.items())
    safetensors.write_folder(folder, tensors)
    path = os.path.join(folder, "config.json")
    with open(path, encoding="utf-8") as stream:
        fields = json.load(stream)
    with open(path, "w", encoding="utf-8") as stream:
        json.dump(dict(fields, quantization_config=quantized.CONFIGS["fp8 blocks"]), stream)
    return _close_median(command, folder, config, weights, tokens)


def _close_median(command, path, config, weights, tokens):
    ids = [int(i) for i in np.random.RandomState(0).randint(0, config.vocab, tokens)]
    exact = Model(config, weights).forward(ids)
    answer = command.logits(path, ids, ["--kv", "f32"])
    median = float(np.median([nmse(a, e) for a, e in zip(answer, exact)]))
    if not median <= BLOCKS_BOUND:
        raise Failure("the median NMSE of %d positions is %.2e, bound %.1e" % (len(ids), median, BLOCKS_BOUND))
    return "median nmse %.2e, bound %.1e" % (median, BLOCKS_BOUND)
