#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles the tiny models that llmir-batch-tests runs.

    batch_models.py --work FOLDER [--llmir PROGRAM] [--target TARGET] [MODEL]...

Writes FOLDER/MODEL.llmir for each: f32, bf16, f16, q8_0, q4_0 (default: all).
"""

import argparse
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "reference"))

import make_tiny  # noqa: E402

# Grouped queries everywhere, sizes that no tile divides where blocks of weights allow them, and
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
}


def compile_model(options, name):
    shape, gguf_type, flags = MODELS[name]
    config, weights = make_tiny.make(**shape)
    model = os.path.join(options.work, name + (".gguf" if gguf_type else ""))
    if gguf_type:
        make_tiny.write_gguf(model, config, weights, gguf_type)
    else:
        make_tiny.write_hf(model, config, weights, shape.get("dtype", "f32"))
    artifact = os.path.join(options.work, name + ".llmir")
    # Flags also come from LLMIR_* variables: the models must not depend on the caller's.
    environment = {key: value for key, value in os.environ.items()
                   if not key.startswith("LLMIR_") or key == "LLMIR_COMPILER_LIBRARY"}
    return subprocess.call([options.llmir, "compile", model, "-o", artifact, "--target",
                            options.target] + flags, env=environment)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--llmir", default="llmir")
    parser.add_argument("--work", required=True)
    parser.add_argument("--target", default="native", help="as llmir compile has it")
    parser.add_argument("models", nargs="*", metavar="MODEL", help=", ".join(MODELS))
    options = parser.parse_args()
    for name in options.models:
        if name not in MODELS:
            parser.error("no model %r; there are %s" % (name, ", ".join(MODELS)))
    shutil.rmtree(options.work, ignore_errors=True)
    os.makedirs(options.work)
    return max(compile_model(options, name) for name in options.models or MODELS)


if __name__ == "__main__":
    sys.exit(main())
