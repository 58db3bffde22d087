# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The contents of a model's GGUF file other than weights: keys, formats of tensors, a vocabulary.

The type of a file is a format of formats.py, q4_k_m, the mixture of most published files, or mix, in
which each matrix has one of all formats.
"""

import json
import os
import zlib

from . import ops
from .blocks import SIZES
from .formats import FORMATS

# general.file_type, the format of most tensors.
FILE_TYPES = {"f32": 0, "f64": 0, "f16": 1, "q4_0": 2, "q4_1": 3, "q8_0": 7, "q5_0": 8, "q5_1": 9,
              "q2_k": 10, "q3_k": 12, "q4_k": 14, "q4_k_m": 15, "q5_k": 16, "q6_k": 18,
              "iq2_xxs": 19, "iq2_xs": 20, "iq3_xxs": 23, "iq1_s": 24, "iq4_nl": 25, "iq3_s": 26,
              "iq2_s": 28, "iq4_xs": 30, "iq1_m": 31, "bf16": 32, "tq1_0": 36, "tq2_0": 37,
              "mxfp4": 38, "mix": 1}


def tensor_format(config, name, shape, file_type, pure=False):
    """The format of a tensor: its Hugging Face name and shape -> format.

    Norms, biases and tables of positions are f32. The matrix of the output projection (the embedding table if tied)
    is Q6_K in files of fewer than 8 bits, as in llama.cpp, unless the file is `pure`. Rows that are
    not a multiple of super-blocks are q8_0, and those that are not a multiple of blocks f16."""
    if len(shape) == 1 or name.endswith(("wpe.weight", "_bias")):
        return "f32"
    if file_type not in SIZES and file_type not in ("q4_k_m", "mix"):
        return file_type
    chosen = "q4_k" if file_type == "q4_k_m" else file_type
    if file_type == "mix":
        return _of_mix(name, shape)
    table = "transformer.wte.weight" if config.family == "gpt2" else "model.embed_tokens.weight"
    head = table if config.tied else "lm_head.weight"
    if name == head and chosen != "q8_0" and not pure:
        chosen = "q6_k"
    if file_type == "q4_k_m" and _takes_more_bits(config, name):
        chosen = "q6_k"
    if shape[-1] % SIZES[chosen][0]:
        chosen = "q8_0"
    return "f16" if shape[-1] % SIZES[chosen][0] else chosen


def _of_mix(name, shape):
    every = sorted(fmt for fmt in FORMATS if shape[-1] % FORMATS[fmt][0] == 0)
    return every[zlib.crc32(name.encode()) % len(every)]


def _takes_more_bits(config, name):
    """Whether Q4_K_M has a matrix in Q6_K: attn_v and ffn_down of the first and the last eighth of
    the layers and of every third one between them (llama.cpp, use_more_bits)."""
    is_down = ".mlp." in name and name.endswith(".down_proj.weight")  # Those of experts, too.
    if not is_down and not name.endswith(("self_attn.v_proj.weight", "attn.c_attn.weight", "mlp.c_proj.weight")):
        return False
    layer, eighth = int(name.split(".")[2]), config.layers // 8
    return (layer < eighth or layer >= 7 * config.layers // 8 or (layer - eighth) % 3 == 2)


def model_keys(config, file_type, name="model"):
    """Config -> {key: (type, value)}, with the keys that llama.cpp's converter writes."""
    arch = config.family
    if arch == "gpt2":
        return _gpt2_keys(config, file_type, name)
    keys = {
        "general.architecture": ("string", arch),
        "general.type": ("string", "model"),
        "general.name": ("string", name),
        "%s.block_count": ("u32", config.layers),
        "%s.context_length": ("u32", config.max_positions),
        "%s.embedding_length": ("u32", config.hidden),
        "%s.feed_forward_length": ("u32", config.intermediate),
        "%s.attention.head_count": ("u32", config.heads),
        "%s.attention.head_count_kv": ("u32", config.kv_heads),
        "%s.attention.layer_norm_rms_epsilon": ("f32", config.rms_eps),
        "%s.rope.freq_base": ("f32", config.rope_theta),
        "%s.vocab_size": ("u32", config.vocab),
        "general.file_type": ("u32", FILE_TYPES[file_type]),
        "general.quantization_version": ("u32", 2),
    }
    if config.head_dim * config.heads != config.hidden or config.family == "qwen3":
        keys["%s.attention.key_length"] = keys["%s.attention.value_length"] = (
            "u32", config.head_dim)
    if config.family == "llama":
        keys["%s.rope.dimension_count"] = ("u32", config.head_dim)
    if config.rope_scaling is not None and config.rope_scaling["type"] == "linear":
        keys["%s.rope.scaling.type"] = ("string", "linear")
        keys["%s.rope.scaling.factor"] = ("f32", config.rope_scaling["factor"])
    return {key.replace("%s", arch): value for key, value in keys.items()}


def _gpt2_keys(config, file_type, name):
    return {
        "general.architecture": ("string", "gpt2"),
        "general.type": ("string", "model"),
        "general.name": ("string", name),
        "gpt2.block_count": ("u32", config.layers),
        "gpt2.context_length": ("u32", config.max_positions),
        "gpt2.embedding_length": ("u32", config.hidden),
        "gpt2.feed_forward_length": ("u32", config.intermediate),
        "gpt2.attention.head_count": ("u32", config.heads),
        "gpt2.attention.layer_norm_epsilon": ("f32", config.rms_eps),
        "general.file_type": ("u32", FILE_TYPES[file_type]),
        "general.quantization_version": ("u32", 2),
    }


def rope_divisors(config):
    """The values of rope_freqs.weight, which represents llama3 scaling; None without scaling."""
    if config.rope_scaling is None or config.rope_scaling["type"] != "llama3":
        return None
    frequencies = ops.rope_frequencies(config.head_dim, config.rope_theta)
    return ops.llama3_divisors(frequencies, config.rope_scaling)


# Vocabularies

NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6  # tokenizer.ggml.token_type


def dummy_vocabulary(config):
    """tokenizer.* keys with as many (arbitrary, but valid) tokens as the model has: SentencePiece for
    fewer than 65536, byte-level BPE for more."""
    return _dummy_pieces(config) if config.vocab < 65536 else _dummy_bpe(config)


def _dummy_pieces(config):
    tokens = ["<unk>", "<s>", "</s>"] + ["<0x%02X>" % byte for byte in range(256)]
    types = [UNKNOWN, CONTROL, CONTROL] + [BYTE] * 256
    if config.vocab < len(tokens) + 1:
        raise ValueError("a vocabulary of %d has no room for the 256 bytes" % config.vocab)
    tokens += ["\u2581" + _letters(i) for i in range(config.vocab - len(tokens))]
    types += [NORMAL] * (config.vocab - len(types))
    scores = [0.0] * 259 + [-float(i) for i in range(config.vocab - 259)]
    return {"tokenizer.ggml.model": ("string", "llama"),
            "tokenizer.ggml.pre": ("string", "default"),
            "tokenizer.ggml.tokens": ("[]string", tokens),
            "tokenizer.ggml.scores": ("[]f32", scores),
            "tokenizer.ggml.token_type": ("[]i32", types),
            "tokenizer.ggml.bos_token_id": ("u32", 1),
            "tokenizer.ggml.eos_token_id": ("u32", 2),
            "tokenizer.ggml.unknown_token_id": ("u32", 0),
            "tokenizer.ggml.add_bos_token": ("bool", True)}


def _dummy_bpe(config):
    """The 256 bytes, merges of an earlier token with a byte, and an end-of-text token last."""
    tokens = list(_byte_characters().values())
    bytes_, known, merges = list(tokens), set(tokens), []
    source = 0
    while len(tokens) < config.vocab - 1:
        for byte in bytes_:
            if len(tokens) < config.vocab - 1 and tokens[source] + byte not in known:
                merges.append(tokens[source] + " " + byte)
                tokens.append(tokens[source] + byte)
                known.add(tokens[-1])
        source += 1
    return _bpe_keys("llama-bpe" if config.family == "llama" else "qwen2",
                     tokens + ["<|end_of_text|>"], merges, {config.vocab - 1},
                     bos=config.vocab - 1, eos=config.vocab - 1)


def tokenizer_vocabulary(folder, config):
    """tokenizer.* keys of a directory's tokenizer.json, which must be byte-level BPE that splits text
    as GPT-2 does; None if there is no such file."""
    path = os.path.join(folder, "tokenizer.json")
    if not os.path.exists(path):
        return None
    with open(path, encoding="utf-8") as stream:
        data = json.load(stream)
    splitter = data["pre_tokenizer"]
    if data["model"]["type"] != "BPE" or splitter["type"] != "ByteLevel" or not splitter["use_regex"]:
        raise ValueError("%s: want byte-level BPE with GPT-2's pattern" % path)
    added = {token["content"]: token["id"] for token in data["added_tokens"]}
    ids = dict(data["model"]["vocab"], **added)
    if sorted(ids.values()) != list(range(config.vocab)):
        raise ValueError("%s: the ids are not 0 to %d" % (path, config.vocab - 1))
    merges = [" ".join(pair) if isinstance(pair, list) else pair for pair in data["model"]["merges"]]
    return _bpe_keys("gpt-2", sorted(ids, key=ids.get), merges, set(added.values()),
                     config.bos, config.eos[0] if config.eos else None)


def _bpe_keys(pattern, tokens, merges, control, bos, eos):
    keys = {"tokenizer.ggml.model": ("string", "gpt2"),
            "tokenizer.ggml.pre": ("string", pattern),
            "tokenizer.ggml.tokens": ("[]string", tokens),
            "tokenizer.ggml.token_type": ("[]i32", [CONTROL if i in control else NORMAL
                                                    for i in range(len(tokens))]),
            "tokenizer.ggml.merges": ("[]string", merges)}
    if bos is not None:
        keys["tokenizer.ggml.bos_token_id"] = ("u32", bos)
    if eos is not None:
        keys["tokenizer.ggml.eos_token_id"] = ("u32", eos)
    return keys


def _byte_characters():
    """Byte -> the character that represents it in byte-level BPE (GPT-2, bytes_to_unicode)."""
    plain = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    table = {byte: chr(byte) for byte in plain}
    others = [byte for byte in range(256) if byte not in table]
    table.update((byte, chr(256 + i)) for i, byte in enumerate(others))
    return {byte: table[byte] for byte in range(256)}


def _letters(number):
    """0, 1, 2… -> a, b, … z, aa, ab, …"""
    text = ""
    number += 1
    while number:
        number, digit = divmod(number - 1, 26)
        text = chr(ord("a") + digit) + text
    return text
