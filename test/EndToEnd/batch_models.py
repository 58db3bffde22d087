#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the tiny models that llmir-batch-tests runs.

    batch_models.py --work DIR --llmir PROGRAM [--target TARGET] [MODEL]...

Writes DIR/MODEL.llmir for each; by default, for all whose names do not start with long.
"""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), folder) for folder in ("reference", "Property")]

import make_tiny  # noqa: E402
import random_decoders  # noqa: E402
from checks import Command, fresh_folder, work_parser  # noqa: E402

# Grouped queries, sizes that are not multiples of tiles if blocks of weights allow them, and
# contexts that end inside a block. One has the default token budget, the others a smaller one.
SMALL_BUDGET = ["--token-budget", "100"]
MODELS = {
    "f32": (dict(family="llama3", odd=True, max_positions=620), None, ["--kv", "f32"]),
    "bf16": (dict(family="qwen2", dtype="bf16", odd=True, max_positions=205), None,
             ["--kv", "bf16"] + SMALL_BUDGET),
    "f16": (dict(family="qwen3", dtype="f16", odd=True, max_positions=205), None,
            ["--kv", "f16"] + SMALL_BUDGET),
    "q8_0": (dict(family="llama3", vocab=259, layers=2, max_positions=205), "q8_0",
             ["--kv", "bf16"] + SMALL_BUDGET),
    "q4_0": (dict(family="llama3", vocab=259, max_positions=205), "q4_0",
             ["--kv", "f32"] + SMALL_BUDGET),
    "q4_k_m": (dict(family="llama", hidden=256, intermediate=512, heads=8, kv_heads=2,
                    head_dim=32, vocab=259, max_positions=205), "q4_k_m",
               ["--kv", "q8"] + SMALL_BUDGET),
    "gpt2": (dict(family="gpt2", odd=True, max_positions=205), None,
             ["--kv", "f32"] + SMALL_BUDGET),
    "int4": (dict(family="qwen2", hidden=128, intermediate=384, head_dim=32, vocab=259, layers=2,
                  max_positions=205), None,
             ["--kv", "bf16", "--quantize", "int4:g128:asym"] + SMALL_BUDGET),
}

# More than one chunk of attention, with each type of cache; heads of the query
# share keys in several ways.
LONG = dict(layers=2, hidden=64, intermediate=96, vocab=67, max_positions=1300)
for kv, shape in (("f32", dict(family="llama3", dtype="bf16", heads=4, kv_heads=2, head_dim=16)),
                  ("bf16", dict(family="qwen2", dtype="bf16", heads=6, kv_heads=1, head_dim=32)),
                  ("f16", dict(family="qwen3", dtype="f16", heads=3, kv_heads=3, head_dim=20)),
                  ("q8", dict(family="llama", dtype="bf16", heads=8, kv_heads=2, head_dim=24))):
    MODELS["long_" + kv] = (dict(LONG, **shape), None, ["--kv", kv])


# Decoders that no family has, of random ops: their seeds.
DECODERS = {"own_%d" % seed: seed for seed in (1, 2, 3)}


def compile_decoder(options, name):
    decoder = random_decoders.Decoder(DECODERS[name])
    directory = os.path.join(options.work, name)
    random_decoders.write_checkpoint(directory, decoder, decoder.write())
    random_decoders.compile_decoder(Command(options.llmir), directory, directory + ".llmir", "--target", options.target)


def compile_model(options, name):
    if name in DECODERS:
        compile_decoder(options, name)
        return
    shape, gguf_type, flags = MODELS[name]
    config, weights = make_tiny.make(**shape)
    model = os.path.join(options.work, name + (".gguf" if gguf_type else ""))
    if gguf_type:
        make_tiny.write_gguf(model, config, weights, gguf_type)
    else:
        make_tiny.write_hf(model, config, weights, shape.get("dtype", "f32"))
    artifact = os.path.join(options.work, name + ".llmir")
    Command(options.llmir)("compile", model, "-o", artifact, "--target", options.target, *flags)


def main():
    parser = work_parser(__doc__, "llmir")
    parser.add_argument("--target", default="native", help="as llmir compile has it")
    known = list(MODELS) + list(DECODERS)
    parser.add_argument("models", nargs="*", metavar="MODEL", help=", ".join(known))
    options = parser.parse_args()
    for name in options.models:
        if name not in known:
            parser.error("no model %r; there are %s" % (name, ", ".join(known)))
    fresh_folder(options.work)
    for name in options.models or [name for name in known if not name.startswith("long")]:
        compile_model(options, name)


if __name__ == "__main__":
    main()
