# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks of compare.py for experts whose matrices are not f32."""

import json
import os

import numpy as np

import make_families
import make_latent
import make_tiny
from llmref import Model, formats, gguf, gguf_model, nmse, quantized, safetensors
from model_command import Failure

BLOCKS_BOUND = 2e-3   # median NMSE of positions: inputs are rounded to int8 or bf16
TOKENS = 77
SIZES = {"qwen2_moe": dict(shared_inner=256),
         "deepseek_v3": dict(q_rank=64, kv_rank=64, head_dim=96, rotary_dim=32, value_dim=64, shared_inner=256),
         "mistral4": dict(q_rank=64, kv_rank=64, head_dim=96, rotary_dim=32, value_dim=64, shared_inner=256),
         "gemma4": dict(hidden=64, layers=6), "gemma4_shared": dict(hidden=64, layers=8)}


def random_ids(config):
    return [int(i) for i in np.random.RandomState(0).randint(0, config.vocab, TOKENS)]


def same_bits(a, b):
    if a.tobytes() != b.tobytes():
        raise Failure("%d of %d logits differ, nmse %.2e"
                      % (np.count_nonzero(a != b), a.size, nmse(a, b)))
    return "%d logits equal bit for bit" % a.size


def median_nmse(answer, exact):
    median = float(np.median([nmse(a, e) for a, e in zip(answer, exact)]))
    if not median <= BLOCKS_BOUND:
        raise Failure("the median NMSE of %d positions is %.2e, bound %.1e" % (len(exact), median, BLOCKS_BOUND))
    return "median nmse %.2e, bound %.1e" % (median, BLOCKS_BOUND)


def close_median(command, path, config, weights):
    ids = random_ids(config)
    return median_nmse(command.logits(path, ids, ["--kv", "f32"]), Model(config, weights).forward(ids))


def in_blocks(command, temp, family, gguf_type):
    """The values of the blocks are exact, and inputs of such matrices are int8. Rounding them changes which experts
    some tokens choose, so only the median of the positions' errors is bounded."""
    sizes = dict(hidden=256, expert_inner=256, intermediate=256, layers=2)
    sizes.update(SIZES.get(family, {}))
    config, weights = make_tiny.make(family, **sizes)
    path = os.path.join(temp, "experts-%s-%s.gguf" % (family, gguf_type))
    make_tiny.write_gguf(path, config, weights, gguf_type)
    for name, values in weights.items():
        chosen = gguf_model.tensor_format(config, name, values.shape, gguf_type, pure=True)
        weights[name] = make_latent.by_rows(config, name, values, lambda rows: formats.encode(chosen, rows).values())
    return close_median(command, path, config, weights)


def in_quantized(command, temp, family, method, **sizes):
    """As the folders of the Hub: routers, norms, the table and the head are not quantized."""
    plain = "f16" if method.startswith(("gptq", "awq")) else "bf16"
    sizes = dict(dict(hidden=256, expert_inner=128, intermediate=256, layers=2, dtype=plain), **sizes)
    config, weights = make_tiny.make(family, **dict(sizes, **SIZES.get(family, {})))
    folder = os.path.join(temp, "experts-%s-%s" % (family, method.replace(" ", "-")))
    make_tiny.write_hf(folder, config, weights, plain)
    quantized.write_folder(folder, weights, method, plain)
    return close_median(command, folder, config, weights)


def gpt_oss_mxfp4(command, temp):
    """Experts in MXFP4, the rest in f32, from a directory and from a GGUF file, whose bits are equal."""
    config, weights = make_tiny.make("gpt_oss", hidden=96, expert_inner=64)
    folder, path = (os.path.join(temp, "experts-gpt_oss-mxfp4" + suffix) for suffix in ("", ".gguf"))
    make_tiny.write_hf(folder, config, weights)
    tensors, stored = {}, {}
    for name, values in weights.items():
        if not name.endswith(("gate_up_proj", "down_proj")):
            tensors[name] = formats.encode("f32", values)
            stored.update((target, formats.encode("f32", rows))
                          for target, rows in make_families.gguf_tensors(config, name, values))
            continue
        parts, exact, _ = quantized.mxfp4(np.ascontiguousarray(values.swapaxes(1, 2)))
        tensors.update((name + suffix, tensor) for suffix, tensor in parts.items())
        weights[name] = exact.swapaxes(1, 2)
        stored.update((target, formats.encode("mxfp4", rows))
                      for target, rows in make_families.gguf_tensors(config, name, values))
    safetensors.write_folder(folder, tensors)
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as stream:
        fields = json.load(stream)
    fields["quantization_config"] = {"quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.*.self_attn"]}
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as stream:
        json.dump(fields, stream)
    keys = dict(make_families.gguf_keys(config, "mxfp4", "tiny"), **{"tokenizer.ggml.model": ("string", "none")})
    gguf.write_gguf(path, keys, stored)
    ids = random_ids(config)
    answer = command.logits(folder, ids, ["--kv", "f32"])
    return (median_nmse(answer, Model(config, weights).forward(ids)) + ", " +
            same_bits(command.logits(path, ids, ["--kv", "f32"]), answer))


def gpt_oss_bf16(command, temp):
    """Unquantized experts, [in, out] in directories, and biases in bf16. Inputs of matrices are rounded, which changes
    the experts of some tokens."""
    config, weights = make_tiny.make("gpt_oss", dtype="bf16")
    folder, path = (os.path.join(temp, "experts-gpt_oss-bf16" + suffix) for suffix in ("", ".gguf"))
    make_tiny.write_hf(folder, config, weights, "bf16")
    make_tiny.write_gguf(path, config, weights, "bf16")
    ids = random_ids(config)
    answer = command.logits(folder, ids, ["--kv", "f32"])
    return (median_nmse(answer, Model(config, weights).forward(ids)) + ", " +
            same_bits(command.logits(path, ids, ["--kv", "f32"]), answer))
