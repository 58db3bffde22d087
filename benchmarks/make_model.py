#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Creates a model of a published shape with random weights: a Hugging Face model directory or a GGUF file.

Speed depends only on the shapes and formats of the weights, not on their values, so benchmarks need
no download. Weights are drawn so that activations stay of order one and nothing is degenerate: the
same seed gives the same weights in each container, before they are rounded to its format. With
--checkpoint the weights are those of a model directory instead.

    benchmarks/make_model.py --shape llama-3.2-1b --out /tmp/llama-1b
    benchmarks/make_model.py --shape llama-3.2-1b --type q4_k_m --out /tmp/llama-1b-q4_k_m.gguf
    benchmarks/make_model.py --checkpoint models/demo --type q8_0 --out /tmp/demo-q8_0.gguf

Types: f32, f16, bf16 for both; for GGUF also f64, all block types (test/reference/llmref), the
mixture q4_k_m, and mix, in which each matrix has one of all types. As in files of llama.cpp, the output projection of a file of few bits is Q6_K, unless --pure.
Rows that are not multiples of the blocks of K-quants (as in Qwen2.5-0.5B) are Q8_0.
"""
import argparse
import itertools
import json
import os
import re
import struct
import sys
import zlib
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "test", "reference"))
import make_experts  # noqa: E402
from llmref import formats, gguf, gguf_model, load_checkpoint  # noqa: E402
from llmref.checkpoint import gguf_name, heads_to_permute, permute_rows  # noqa: E402
from llmref.config import config_from_json  # noqa: E402

# Published configurations: config.json of the original model, without fields that do
# not affect inference.
SHAPES = {
    "llama-3.2-1b": {
        "model_type": "llama", "vocab_size": 128256, "hidden_size": 2048,
        "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 32,
        "num_key_value_heads": 8, "head_dim": 64, "rms_norm_eps": 1e-5,
        "rope_theta": 500000.0, "max_position_embeddings": 131072,
        "rope_scaling": {"rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0,
                         "high_freq_factor": 4.0,
                         "original_max_position_embeddings": 8192},
        "tie_word_embeddings": True},
    "qwen2.5-0.5b": {
        "model_type": "qwen2", "vocab_size": 151936, "hidden_size": 896,
        "intermediate_size": 4864, "num_hidden_layers": 24, "num_attention_heads": 14,
        "num_key_value_heads": 2, "rms_norm_eps": 1e-6, "rope_theta": 1000000.0,
        "max_position_embeddings": 32768, "tie_word_embeddings": True},
    "tinyllama-1.1b": {
        "model_type": "llama", "vocab_size": 32000, "hidden_size": 2048,
        "intermediate_size": 5632, "num_hidden_layers": 22, "num_attention_heads": 32,
        "num_key_value_heads": 4, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
        "max_position_embeddings": 2048, "tie_word_embeddings": False},
    # Eight of the 48 layers of Qwen3-30B-A3B: what a mixture of experts reads per token, in a file that fits.
    "qwen3-30b-a3b-8l": {
        "model_type": "qwen3_moe", "vocab_size": 151936, "hidden_size": 2048,
        "intermediate_size": 6144, "moe_intermediate_size": 768, "num_experts": 128,
        "num_experts_per_tok": 8, "norm_topk_prob": True, "decoder_sparse_step": 1,
        "mlp_only_layers": [], "num_hidden_layers": 8, "num_attention_heads": 32,
        "num_key_value_heads": 4, "head_dim": 128, "rms_norm_eps": 1e-6,
        "rope_theta": 1000000.0, "max_position_embeddings": 40960,
        "tie_word_embeddings": False},
    # 15 million parameters: measures the cost of a step apart from its weights.
    "stories-15m": {
        "model_type": "llama", "vocab_size": 32000, "hidden_size": 288,
        "intermediate_size": 768, "num_hidden_layers": 6, "num_attention_heads": 6,
        "num_key_value_heads": 6, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
        "max_position_embeddings": 2048, "tie_word_embeddings": True},
}
ARCHITECTURES = {"llama": "LlamaForCausalLM", "qwen2": "Qwen2ForCausalLM",
                 "qwen3_moe": "Qwen3MoeForCausalLM"}
DTYPES = {"f32": ("F32", "float32"), "f16": ("F16", "float16"), "bf16": ("BF16", "bfloat16")}

PIECE = 1 << 20  # Number of values that are drawn, rounded and written at a time.

Stored = namedtuple("Stored", "format shape")


def config_of(data):
    """The configuration of a config.json, with those keys of mixtures of experts that the shapes have."""
    config = config_from_json(data)
    config.experts = data.get("num_experts", 0)
    config.experts_per_token = data.get("num_experts_per_tok", 0)
    config.expert_inner = data.get("moe_intermediate_size", 0)
    config.normalizes = data.get("norm_topk_prob", False)
    return config


class RandomWeights(object):
    """Weights of standard deviation 1/sqrt(columns); norms are near one."""

    def __init__(self, config, seed):
        self.config, self.seed = config, seed

    def rows(self, name, shape, begin, end):
        """float32 [end - begin, ...] of a tensor's rows. Each piece has its own random stream."""
        key = [self.seed, zlib.crc32(name.encode()), begin]
        random = np.random.Generator(np.random.SFC64(np.random.SeedSequence(key)))
        values = random.standard_normal((end - begin,) + shape[1:], dtype=np.float32)
        if name.endswith("norm.weight"):
            return 1 + np.float32(0.1) * values
        values *= np.float32(shape[-1] ** -0.5)
        return values


class CheckpointWeights(object):
    """The weights of a directory or a GGUF file."""

    def __init__(self, path):
        self.config, self.weights = load_checkpoint(path)

    def rows(self, name, shape, begin, end):
        return self.weights[name][begin:end].astype(np.float32)


def pieces(config, shape):
    """(first row, end) of the pieces of a tensor, each of whole heads."""
    rows = max(PIECE // int(np.prod(shape[1:])) // config.head_dim, 1) * config.head_dim
    return [(begin, min(begin + rows, shape[0])) for begin in range(0, shape[0], rows)]


def stored_bytes(weights, name, shape, fmt, pool, permute=False):
    """The bytes of a tensor in a format, piece by piece; prepares the next one concurrently."""
    config = weights.config

    def piece(part):
        values = weights.rows(name, shape, *part)
        if permute and heads_to_permute(config, name):
            values = permute_rows(values, len(values) // config.head_dim)
        return formats.encode(fmt, values).data

    waiting = []
    for part in pieces(config, shape):
        waiting.append(pool.submit(piece, part))
        if len(waiting) > 4:
            yield waiting.pop(0).result()
    for future in waiting:
        yield future.result()


def write_folder(weights, data, folder, fmt="bf16"):
    """config.json and model.safetensors; -> bytes of weights."""
    os.makedirs(folder, exist_ok=True)
    header, offset = {}, 0
    for name, shape in weights.config.weights().items():
        size = formats.byte_size(fmt, shape)
        header[name] = {"dtype": DTYPES[fmt][0], "shape": list(shape),
                        "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(os.path.join(folder, "model.safetensors"), "wb") as stream, \
            ThreadPoolExecutor(os.cpu_count()) as pool:
        stream.write(struct.pack("<Q", len(text)) + text)
        for name, shape in weights.config.weights().items():
            stream.writelines(stored_bytes(weights, name, shape, fmt, pool))
    data = dict(data, architectures=[ARCHITECTURES[data["model_type"]]], hidden_act="silu",
                torch_dtype=DTYPES[fmt][1], bos_token_id=None, eos_token_id=None)
    with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as stream:
        json.dump(data, stream, indent=1)
    return offset


def write_model(data, folder, seed):
    """A directory of bf16 weights for a config.json; -> bytes of weights."""
    return write_folder(RandomWeights(config_of(data), seed), data, folder)


def model_keys(config, file_type, name):
    """The keys of the model, in the order of the file, those of a mixture of experts included."""
    keys = gguf_model.model_keys(config, file_type, name)
    if config.experts:
        architecture = make_experts.ARCHITECTURES[config.family]
        keys.update(("%s.%s" % (config.family, key), value)
                    for key, value in make_experts.gguf_keys(config).items())
        keys = {key.replace(config.family + ".", architecture + ".", 1): value for key, value in keys.items()}
        keys["general.architecture"] = ("string", architecture)
    return keys


def stored_name(name):
    """The name in GGUF of a tensor: the matrices of all experts of a layer have one."""
    module, _, rest = name.partition(".mlp.")
    inner, _, kind = re.sub(r"^experts\.\d+\.", "experts.", rest).rpartition(".")
    if inner in make_experts.NAMES:
        return "blk.%s.%s.%s" % (module.rsplit(".", 1)[1], make_experts.NAMES[inner], kind)
    return gguf_name(name)


def write_gguf(weights, path, file_type, vocabulary, name="random", pure=False):
    """A GGUF file that llama.cpp can also load; -> bytes of weights."""
    config = weights.config
    if config.experts and config.family != "qwen3_moe":
        raise ValueError("%s: of mixtures of experts, only qwen3_moe can be written" % path)
    keys = dict(model_keys(config, file_type, name), **vocabulary)
    tensors, names = {}, {}
    divisors = gguf_model.rope_divisors(config)
    if divisors is not None:
        tensors["rope_freqs.weight"] = formats.encode("f32", divisors)
    for original, shape in config.weights().items():
        names.setdefault(stored_name(original), []).append((original, shape))
    for stored, originals in names.items():
        original, shape = originals[0]
        fmt = gguf_model.tensor_format(config, original, shape, file_type, pure)
        if ".mlp.experts." in original:
            shape = (len(originals),) + shape
        tensors[stored] = Stored("f32" if "_inp." in stored else fmt, shape)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        def parts(stored):
            if stored not in names:
                return [tensors[stored].data]
            return itertools.chain.from_iterable(
                stored_bytes(weights, original, shape, tensors[stored].format, pool, permute=True)
                for original, shape in names[stored])
        gguf.write_gguf_parts(path, keys, tensors, parts)
    return sum(formats.byte_size(tensors[stored].format, tensors[stored].shape) for stored in names)


def quantize_checkpoint(folder, path, file_type, pure=False):
    """A checkpoint's weights as a GGUF file of a type; -> bytes of weights."""
    weights = CheckpointWeights(folder)
    vocabulary = (gguf_model.tokenizer_vocabulary(folder, weights.config)
                  or gguf_model.dummy_vocabulary(weights.config))
    name = os.path.basename(os.path.abspath(folder))
    return write_gguf(weights, path, file_type, vocabulary, name, pure)


def random_model(shape, path, file_type, seed=1, pure=False):
    """A random model of a shape, as a GGUF file if the path ends so; -> bytes of weights."""
    weights = RandomWeights(config_of(SHAPES[shape]), seed)
    if path.endswith(".gguf"):
        vocabulary = gguf_model.dummy_vocabulary(weights.config)
        return write_gguf(weights, path, file_type, vocabulary, shape, pure)
    return write_folder(weights, SHAPES[shape], path, file_type)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--shape", choices=sorted(SHAPES))
    source.add_argument("--checkpoint", metavar="DIR", help="use these weights; GGUF only")
    parser.add_argument("--out", required=True, help="the directory, or a name that ends with .gguf")
    parser.add_argument("--type", default="bf16", choices=sorted(gguf_model.FILE_TYPES))
    parser.add_argument("--pure", action="store_true", help="all matrices in the one format")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if not options.out.endswith(".gguf") and (options.checkpoint or options.type not in DTYPES):
        parser.error("a directory has random weights in f32, f16 or bf16; end --out with .gguf")
    if options.checkpoint:
        size = quantize_checkpoint(options.checkpoint, options.out, options.type, options.pure)
    else:
        size = random_model(options.shape, options.out, options.type, options.seed, options.pure)
    print("%s: %.3f GB of %s weights" % (options.out, size / 1e9, options.type))


if __name__ == "__main__":
    main()
