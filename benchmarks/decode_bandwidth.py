#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decode speed of a random model of a known shape, as a share of the machine's read bandwidth.

    decode_bandwidth.py --llmir build/bin/llmir --work FOLDER [--shape llama-1b] [--least 0.5]

Writes the model (2.5 GB for llama-1b) and its artifact into FOLDER, runs `llmir bench` with two
threads, prints what it says, and fails when the share is below --least. Both figures come from the
same run, so another machine, or a busy one, moves them together.
"""

import argparse
import json
import os
import shutil
import struct
import subprocess
import sys

import numpy as np

SHAPES = {
    # Llama-3.2-1B
    "llama-1b": dict(hidden_size=2048, intermediate_size=8192, num_hidden_layers=16,
                     num_attention_heads=32, num_key_value_heads=8, head_dim=64,
                     vocab_size=128256),
    # Small enough for a try.
    "llama-100m": dict(hidden_size=768, intermediate_size=2048, num_hidden_layers=12,
                       num_attention_heads=12, num_key_value_heads=4, head_dim=64,
                       vocab_size=32000),
}


def tensors(shape):
    """Yields (name, shape) in the order of the file."""
    hidden, inner = shape["hidden_size"], shape["intermediate_size"]
    heads = shape["num_attention_heads"] * shape["head_dim"]
    kv = shape["num_key_value_heads"] * shape["head_dim"]
    yield "model.embed_tokens.weight", (shape["vocab_size"], hidden)
    for layer in range(shape["num_hidden_layers"]):
        prefix = "model.layers.%d." % layer
        yield prefix + "input_layernorm.weight", (hidden,)
        yield prefix + "self_attn.q_proj.weight", (heads, hidden)
        yield prefix + "self_attn.k_proj.weight", (kv, hidden)
        yield prefix + "self_attn.v_proj.weight", (kv, hidden)
        yield prefix + "self_attn.o_proj.weight", (hidden, heads)
        yield prefix + "post_attention_layernorm.weight", (hidden,)
        yield prefix + "mlp.gate_proj.weight", (inner, hidden)
        yield prefix + "mlp.up_proj.weight", (inner, hidden)
        yield prefix + "mlp.down_proj.weight", (hidden, inner)
    yield "model.norm.weight", (hidden,)


def write_model(folder, shape):
    """A Hugging Face folder with bf16 weights; the file is written tensor by tensor."""
    os.makedirs(folder, exist_ok=True)
    config = dict(shape, architectures=["LlamaForCausalLM"], model_type="llama",
                  max_position_embeddings=2048, rms_norm_eps=1e-5, rope_theta=500000.0,
                  hidden_act="silu", tie_word_embeddings=True, torch_dtype="bfloat16",
                  bos_token_id=1, eos_token_id=2)
    with open(os.path.join(folder, "config.json"), "w") as stream:
        json.dump(config, stream, indent=2)
    header, position = {}, 0
    for name, size in tensors(shape):
        length = 2 * int(np.prod(size))
        header[name] = {"dtype": "BF16", "shape": list(size),
                        "data_offsets": [position, position + length]}
        position += length
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    random = np.random.RandomState(0)
    # One pool of values, read from changing places: the speed does not depend on the values.
    pool = (0.02 * random.standard_normal(1 << 22)).astype(np.float32)
    pool = (pool.view(np.uint32) >> 16).astype(np.uint16)
    with open(os.path.join(folder, "model.safetensors"), "wb") as stream:
        stream.write(struct.pack("<Q", len(text)))
        stream.write(text)
        for name, size in tensors(shape):
            count = int(np.prod(size))
            if len(size) == 1:
                stream.write(np.full(count, 0x3f80, np.uint16).tobytes())
                continue
            while count:
                start = random.randint(0, len(pool) // 2)
                piece = pool[start:start + count]
                stream.write(piece.tobytes())
                count -= len(piece)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--llmir", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--shape", choices=sorted(SHAPES), default="llama-1b")
    parser.add_argument("--least", type=float, default=0.5)
    parser.add_argument("--threads", default="2")
    parser.add_argument("--keep", action="store_true", help="leave the model there")
    options = parser.parse_args()

    model = os.path.join(options.work, options.shape)
    artifact = model + ".llmir"
    try:
        if not os.path.exists(artifact):
            write_model(model, SHAPES[options.shape])
            subprocess.run([options.llmir, "compile", model, "-o", artifact], check=True)
        out = subprocess.run(
            [options.llmir, "bench", artifact, "-p", "128", "-n", "32", "-r", "3", "-t",
             options.threads, "-o", "json"], check=True, stdout=subprocess.PIPE).stdout
    finally:
        if not options.keep:
            shutil.rmtree(model, ignore_errors=True)
            if os.path.exists(artifact):
                os.remove(artifact)
    share = 0.0
    for row in json.loads(out.decode()):
        line = "%s, %d threads: %.2f ± %.2f tokens/s" % (
            row["test"], row["threads"], row["tokens_per_second"], row["deviation"])
        if row["share_of_limit"] is not None:
            share = row["share_of_limit"]
            line += ", %.1f GB/s of %.1f GB/s measured = %.0f %%" % (
                row["bytes_per_second"] / 1e9, row["limit_bytes_per_second"] / 1e9, 100 * share)
        print(line)
    if share < options.least:
        print("the share is below %.0f %%" % (100 * options.least))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
