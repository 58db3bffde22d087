#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The memory of layers that keep a state: of folders, GGUF files and artifacts.

    states.py --llmir build/bin/llmir --work DIRECTORY
"""

import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "reference"))

from checks import Checks, Command, fresh_folder, quick_level, work_parser  # noqa: E402

import make_hybrid  # noqa: E402
import make_tiny  # noqa: E402

check = Checks()


def whole_lanes(count):
    return (count + 15) // 16 * 16


def state_bytes(config):
    """Of a sequence, in all layers: rows of inputs of the convolution, and the matrices of the heads, in f32."""
    if config.family.startswith("lfm2"):
        channels, matrices = config.hidden, 0
    else:
        channels = config.value_heads * config.value_dim + 2 * config.key_heads * config.key_dim
        matrices = config.value_heads * config.key_dim * whole_lanes(config.value_dim)
    return 4 * sum(config.recurrent) * ((config.taps - 1) * whole_lanes(channels) + matrices)


def check_inspect(llmir, name, model, expected):
    memory = json.loads(llmir("inspect", model, "--json"))["memory"]
    check(name + " of " + os.path.basename(model), memory["state_bytes_per_sequence"] == expected, memory)


def check_family(llmir, work, name):
    config, weights = make_tiny.make(name)
    expected = state_bytes(config)
    folder, gguf, artifact = (os.path.join(work, name + end) for end in ("", ".gguf", ".llmir"))
    make_tiny.write_hf(folder, config, weights)
    make_tiny.write_gguf(gguf, config, weights)
    llmir("compile", folder, "-o", artifact, "--target", quick_level())
    for model in (folder, gguf, artifact):
        check_inspect(llmir, name, model, expected)
    return folder, artifact, expected, sum(config.recurrent)


def check_texts(llmir, folder, artifact, expected, layers):
    text = llmir("inspect", folder)
    check("the summary of a folder", " per sequence in f32, %d layers\n" % layers in text, text)
    text = llmir("inspect", artifact)
    check("the fields of an artifact", any(line.split() == ["stateBytesPerSequence", str(expected)]
                                           for line in text.splitlines()), text)
    for model in (folder, artifact):
        text = json.loads(llmir.run("doctor", model, "--json").out)["model memory"]["value"]
        check("doctor", " of states per sequence" in text, text)


def check_bench(llmir, artifact, expected):
    rows = json.loads(llmir("bench", artifact, "-p", "12", "-b", "5", "-n", "3", "-s", "1,4", "-r", "1", "-t", "1", "--json"))
    check("the tests of bench", [row["test"] for row in rows] == ["pp12", "tg3", "tg3 x 4"], rows)
    # A prompt of 12 tokens has three steps of up to five; each step reads the states of its sequences.
    for row, reads, tokens in zip(rows, (3, 3, 12), (12, 3, 12)):
        wanted = expected * reads * row["tokens_per_second"] / tokens
        check("the states that bench counts: " + row["test"],
              abs(row["state_bytes_per_second"] - wanted) <= 1e-6 * wanted
              and row["source_bytes_per_second"] > row["state_bytes_per_second"] + row["kv_bytes_per_second"], row)


def check_without_states(llmir, work):
    config, weights = make_tiny.make("qwen2")
    folder = os.path.join(work, "qwen2")
    make_tiny.write_hf(folder, config, weights)
    check_inspect(llmir, "a model without states", folder, 0)
    check("no line about states", "per sequence" not in llmir("inspect", folder))
    check("doctor without states", "per sequence" not in llmir.run("doctor", folder).out)


def main():
    options = work_parser(__doc__, "llmir").parse_args()
    fresh_folder(options.work)
    llmir = Command(options.llmir, cache=os.path.join(options.work, "cache"))
    made = {name: check_family(llmir, options.work, name) for name in make_hybrid.FAMILIES}
    check_texts(llmir, *made["qwen3_5"])
    check_bench(llmir, made["granite_hybrid_dense"][1], made["granite_hybrid_dense"][2])
    check_without_states(llmir, options.work)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
