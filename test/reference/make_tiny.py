#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Creates a tiny random checkpoint: a Hugging Face model directory, a GGUF file, or both with the same weights.

    make_tiny.py --family llama3 --dtype bf16 --out /tmp/tiny --gguf /tmp/tiny.gguf --gguf-type q8_0
    make_tiny.py --family qwen3 --odd --out /tmp/odd --shards 3 --config-dialect new

The same seed and dimensions always give the same weights. Their distribution makes errors visible:
logits have a standard deviation of about 2, and attention is concentrated on some tokens. There is no
end token, so greedy decoding does not stop early.
"""

import argparse
import json
import os
import shutil
import sys

import numpy as np

import make_experts
import make_families
import make_hybrid
from llmref import formats, gguf, gguf_model, safetensors
from llmref.checkpoint import gguf_name, gguf_order, is_transposed
from llmref.config import DESCRIBED_FAMILIES, Config

LLAMA3_SCALING = {"type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                  "original_max_position_embeddings": 64}
LINEAR_SCALING = {"type": "linear", "factor": 4.0}

# Large enough that an error is visible in the logits, and exact in GGUF's float32.
RMS_EPS = 2.0 ** -10


def _shape(model_type, hidden, intermediate, heads, kv_heads, head_dim, theta, tied, **more):
    fields = dict(family=model_type, hidden=hidden, intermediate=intermediate, layers=3,
                  heads=heads, kv_heads=kv_heads, head_dim=head_dim, vocab=272, max_positions=512,
                  rms_eps=RMS_EPS, rope_theta=theta, tied=tied)
    fields.update(more)
    return fields


# The properties of each family, at small sizes; rows are multiples of 32, as block formats require.
FAMILIES = {
    "gpt2": _shape("gpt2", 64, 256, 4, 4, 16, None, True),             # learned positions
    "llama": _shape("llama", 64, 160, 4, 4, 16, 1e4, False),           # no grouped queries
    "llama3": _shape("llama", 64, 192, 8, 2, 16, 5e5, False, rope_scaling=LLAMA3_SCALING),
    "tinyllama": _shape("llama", 64, 160, 8, 1, 8, 1e4, False),        # one key/value head
    "smollm2": _shape("llama", 288, 768, 9, 3, 32, 1e5, True, layers=2),
    "qwen2": _shape("qwen2", 64, 160, 4, 2, 16, 1e6, True),
    "qwen3": _shape("qwen3", 64, 192, 4, 2, 32, 1e6, True),            # not hidden / heads
}

# No size is a multiple of 16, 8 or 4 unless required.
ODD = dict(hidden=60, intermediate=172, heads=6, kv_heads=2, head_dim=10, vocab=259)


def make(family, seed=0, dtype="f32", odd=False, **overrides):
    """-> (Config, {Hugging Face name: float32 array}), with values exact in `dtype`.

    `overrides` are fields of Config; head_dim of an odd qwen3 is 14, not hidden / heads."""
    fields = next(dict(families[family]) for families in (FAMILIES, make_families.FAMILIES, make_experts.FAMILIES,
                                                          make_hybrid.FAMILIES)
                  if family in families)
    if odd:
        fields.update(ODD)
        if family == "qwen3":
            fields["head_dim"] = 14
        if family == "gpt2":
            fields["kv_heads"] = 6
    fields.update((key, value) for key, value in overrides.items() if value is not None)
    config = Config(**fields)
    random = np.random.RandomState(seed)  # produces the same stream with every version of NumPy
    weights = {}
    for name, shape in config.weights().items():
        mean, spread = _distribution(config, name, shape)
        values = mean + spread * random.standard_normal(shape)
        weights[name] = formats.encode(dtype, values).values()
    return config, weights


def _distribution(config, name, shape):
    """Mean and standard deviation of a tensor's values.

    A tied embedding is small and the last norm large: if the residual stream were too similar to the
    embedding of its token, greedy decoding would repeat the token forever. Rounding keys and values
    to bf16 changes the logits by an NMSE of about 1e-5, which cannot overturn a lead of 0.05."""
    module = name.split(".")[-2]
    if config.family in DESCRIBED_FAMILIES:
        return make_families.distribution(config, name, shape)
    if config.family == "gpt2":
        return _gpt2_distribution(config, name, module, shape)
    if name.endswith(".bias"):
        return 0.0, 0.3
    if module in ("q_norm", "k_norm"):
        return 1.2, 0.2  # scores of standard deviation 1.5, as below
    if module == "norm" and config.tied:
        return 2.8, 0.5
    if name.endswith("norm.weight"):
        return 1.0, 0.2
    if module == "embed_tokens" and not config.tied:
        return 0.0, 1.0
    gains = {"q_proj": 1.2, "k_proj": 1.2,         # scores of standard deviation 1.5
             "lm_head": 2.0, "embed_tokens": 0.7}  # logits of standard deviation 2
    return 0.0, gains.get(module, 1.0) / np.sqrt(shape[-1])


def _gpt2_distribution(config, name, module, shape):
    """The same for GPT-2, whose positions are as large as its tokens."""
    if name.endswith(".bias"):
        return 0.0, 0.3
    if module.startswith("ln_"):
        return (2.8, 0.5) if module == "ln_f" and config.tied else (1.0, 0.2)
    if module in ("wte", "wpe"):
        return 0.0, 0.7 / np.sqrt(shape[-1]) if config.tied else 1.0
    gains = {"c_attn": 1.2, "lm_head": 2.0}
    columns = shape[0] if is_transposed(config, name) else shape[-1]
    return 0.0, gains.get(module, 1.0) / np.sqrt(columns)


def hf_config(config, dtype="f32", dialect="old"):
    """Config -> the contents of config.json; dialect "old" or "new" (since transformers 5)."""
    torch_dtype = {"f32": "float32", "f16": "float16", "bf16": "bfloat16"}[dtype]
    if config.family in DESCRIBED_FAMILIES:
        return make_families.hf_config(config, torch_dtype, dialect)
    if config.family == "gpt2":
        return _gpt2_config(config, "torch_dtype" if dialect == "old" else "dtype", torch_dtype)
    names = {"llama": "LlamaForCausalLM", "qwen2": "Qwen2ForCausalLM", "qwen3": "Qwen3ForCausalLM"}
    data = {
        "architectures": [names[config.family]],
        "model_type": config.family,
        "hidden_size": config.hidden,
        "intermediate_size": config.intermediate,
        "num_hidden_layers": config.layers,
        "num_attention_heads": config.heads,
        "num_key_value_heads": config.kv_heads,
        "vocab_size": config.vocab,
        "max_position_embeddings": config.max_positions,
        "rms_norm_eps": config.rms_eps,
        "hidden_act": "silu",
        "initializer_range": 0.02,
        "tie_word_embeddings": config.tied,
        "bos_token_id": config.bos,
        "eos_token_id": config.eos[0] if config.eos else None,
        "use_cache": True,
        "attention_dropout": 0.0,
    }
    if config.head_dim * config.heads != config.hidden or config.family == "qwen3":
        data["head_dim"] = config.head_dim
    if config.family != "qwen2":
        data["attention_bias"] = config.attention_bias
    if config.family == "llama":
        data["mlp_bias"] = config.mlp_bias
    else:
        data.update(use_sliding_window=False, sliding_window=None,
                    max_window_layers=config.layers)
    scaling = None
    if config.rope_scaling is not None:
        scaling = dict(config.rope_scaling)
        scaling["rope_type"] = scaling.pop("type")
    if dialect == "old":
        data.update(torch_dtype=torch_dtype, rope_theta=config.rope_theta, rope_scaling=scaling,
                    transformers_version="4.46.0")
    else:
        rope = dict(scaling or {"rope_type": "default"}, rope_theta=config.rope_theta)
        data.update(dtype=torch_dtype, rope_parameters=rope, transformers_version="5.0.0")
        if config.family != "llama":
            data["layer_types"] = ["full_attention"] * config.layers
    return data


def _gpt2_config(config, dtype_key, dtype):
    return {
        "architectures": ["GPT2LMHeadModel"],
        "model_type": "gpt2",
        "n_embd": config.hidden,
        "n_inner": None if config.intermediate == 4 * config.hidden else config.intermediate,
        "n_layer": config.layers,
        "n_head": config.heads,
        "n_positions": config.max_positions,
        "n_ctx": config.max_positions,
        "vocab_size": config.vocab,
        "activation_function": "gelu_new",
        "layer_norm_epsilon": config.rms_eps,
        "scale_attn_weights": True,
        "tie_word_embeddings": config.tied,
        "bos_token_id": config.bos,
        "eos_token_id": config.eos[0] if config.eos else None,
        dtype_key: dtype,
    }


def write_hf(folder, config, weights, dtype="f32", dialect="old", shards=1, tokenizer=None):
    """Writes a Hugging Face model directory; `tokenizer` is a directory to copy tokenizer files from."""
    os.makedirs(folder, exist_ok=True)
    tensors = {name: formats.encode(dtype, values) for name, values in weights.items()}
    safetensors.write_folder(folder, tensors, shards)
    generation = {"_from_model_config": True, "bos_token_id": config.bos,
                  "eos_token_id": config.eos or None}
    for name, data in (("config.json", hf_config(config, dtype, dialect)),
                       ("generation_config.json", generation)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as stream:
            json.dump(data, stream, indent=2)
            stream.write("\n")
    if tokenizer:
        for name in sorted(os.listdir(tokenizer)):
            if name.startswith(("tokenizer", "special_tokens", "chat_template")):
                shutil.copyfile(os.path.join(tokenizer, name), os.path.join(folder, name))


def write_gguf(path, config, weights, gguf_type="f32", tokenizer="none"):
    """Writes a GGUF file of the weights rounded or quantized to `gguf_type`.

    `tokenizer`: "none" writes tokenizer.ggml.model = none, "absent" writes no such key, a .gguf
    file gives its tokenizer.* keys (its vocabulary must have the model's size)."""
    is_described, title = config.family in DESCRIBED_FAMILIES, "tiny-random-" + config.family
    keys = (make_families.gguf_keys if is_described else gguf_model.model_keys)(config, gguf_type, title)
    if tokenizer == "none":
        keys["tokenizer.ggml.model"] = ("string", "none")
    elif tokenizer != "absent":
        source = gguf.read_gguf(tokenizer)
        count = len(gguf.get(source, "tokenizer.ggml.tokens"))
        if count != config.vocab:
            raise ValueError("%s has %d tokens, the model %d" % (tokenizer, count, config.vocab))
        keys.update((k, v) for k, v in source.keys.items() if k.startswith("tokenizer."))
    tensors = {}
    divisors = gguf_model.rope_divisors(config)
    if divisors is not None:
        tensors["rope_freqs.weight"] = formats.encode("f32", divisors)
    if is_described:
        for name, values in make_families.gguf_extra(config).items():
            tensors[name] = formats.encode("f32", values)
    for name, values in make_experts.stacked(weights).items():
        stored = (make_families.gguf_tensors(config, name, values) if is_described
                  else [(gguf_name(name), gguf_order(config, name, values))])
        for target, rows in stored:
            tensors[target] = formats.encode(
                gguf_model.tensor_format(config, name, rows.shape, gguf_type, pure=True), rows)
    gguf.write_gguf(path, keys, tensors)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--family", required=True, choices=[
        name for families in (FAMILIES, make_families.FAMILIES, make_experts.FAMILIES, make_hybrid.FAMILIES)
        for name in sorted(families)])
    parser.add_argument("--dtype", default="f32", choices=("f32", "f16", "bf16"),
                        help="format of the weights (default f32)")
    parser.add_argument("--out", metavar="DIR", help="Hugging Face model directory to write")
    parser.add_argument("--gguf", metavar="FILE", help="GGUF file to write from the same weights")
    parser.add_argument("--gguf-type", choices=sorted(gguf_model.FILE_TYPES), help="default: as --dtype")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--shards", type=int, default=1, help="safetensors files, with an index")
    parser.add_argument("--tied", dest="tied", action="store_true", default=None)
    parser.add_argument("--untied", dest="tied", action="store_false")
    parser.add_argument("--config-dialect", choices=("old", "new"), default="old")
    parser.add_argument("--odd", action="store_true",
                        help="sizes that no tile divides: hidden 60, vocabulary 259, head size 10")
    parser.add_argument("--rope-scaling", choices=("none", "linear", "llama3"),
                        help="default: what the family has")
    parser.add_argument("--attention-bias", action="store_true", default=None)
    parser.add_argument("--mlp-bias", action="store_true", default=None)
    parser.add_argument("--tokenizer", default="none", help="none, absent, a .gguf file (for "
                        "--gguf) or a directory whose tokenizer files are copied (for --out)")
    sizes = {"hidden": "hidden", "intermediate": "intermediate", "layers": "layers",
             "heads": "heads", "kv-heads": "kv_heads", "head-dim": "head_dim", "vocab": "vocab",
             "max-positions": "max_positions"}
    for flag, field in sizes.items():
        parser.add_argument("--" + flag, type=int, dest=field, help="default: the family's")
    options = parser.parse_args(arguments)
    if not options.out and not options.gguf:
        parser.error("nothing to write: give --out, --gguf or both")

    overrides = {field: getattr(options, field) for field in sizes.values()}
    overrides.update(tied=options.tied, attention_bias=options.attention_bias,
                     mlp_bias=options.mlp_bias)
    config, weights = make(options.family, options.seed, options.dtype, options.odd, **overrides)
    if options.rope_scaling:
        config.rope_scaling = {"none": None, "linear": LINEAR_SCALING,
                               "llama3": LLAMA3_SCALING}[options.rope_scaling]
    folder = options.tokenizer if os.path.isdir(options.tokenizer) else None
    if options.out:
        write_hf(options.out, config, weights, options.dtype, options.config_dialect,
                 options.shards, folder)
    if options.gguf:
        write_gguf(options.gguf, config, weights, options.gguf_type or options.dtype,
                   "none" if folder else options.tokenizer)
    return 0


if __name__ == "__main__":
    sys.exit(main())
