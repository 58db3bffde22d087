#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The example own_decoder with random parameters: its logits are those of the interpreter, and it writes text.

    own_decoder.py --work DIRECTORY --llmir build/bin/llmir --llmir-translate build/bin/llmir-translate
                   --own-decoder build/bin/own_decoder
"""

import json
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), folder) for folder in ("reference", "Property")]

from byte_tokenizer import write_byte_tokenizer  # noqa: E402
from checks import Checks, Command, fresh_folder, quick_level, work_parser  # noqa: E402
from llmref import formats, nmse, safetensors  # noqa: E402
from random_decoders import F32_BOUND, function_logits, interpreted, step_logits  # noqa: E402

LAYERS, HIDDEN, HEADS, KV_HEADS, HEAD_DIM, EXPERTS, INNER, VOCABULARY, CONTEXT = 2, 64, 4, 2, 16, 4, 96, 272, 128


def shapes():
    """The parameters of the example, by name."""
    yield "model.embed.weight", (VOCABULARY, HIDDEN)
    for i in range(LAYERS):
        layer = "model.layers.%d." % i
        for name, rows, columns in (("q", HEADS * HEAD_DIM, HIDDEN), ("k", KV_HEADS * HEAD_DIM, HIDDEN),
                                    ("v", KV_HEADS * HEAD_DIM, HIDDEN), ("g", HEADS * HEAD_DIM, HIDDEN),
                                    ("o", HIDDEN, HEADS * HEAD_DIM)):
            yield layer + "attention.%s_proj.weight" % name, (rows, columns)
        yield layer + "attention_norm.weight", (HIDDEN,)
        yield layer + "mixture_norm.weight", (HIDDEN,)
        yield layer + "residual.scale", (HIDDEN,)
        yield layer + "mixture.router.weight", (EXPERTS, HIDDEN)
        for expert in range(EXPERTS):
            yield layer + "mixture.experts.%d.up_proj.weight" % expert, (INNER, HIDDEN)
            yield layer + "mixture.experts.%d.down_proj.weight" % expert, (HIDDEN, INNER)
    yield "model.norm.weight", (HIDDEN,)
    yield "model.head.weight", (VOCABULARY, HIDDEN)


def write_checkpoint(directory):
    random = np.random.RandomState(7)
    fresh_folder(directory)
    tensors = {}
    for name, shape in shapes():
        low, high = (-0.2, 0.2) if len(shape) == 2 else (0.5, 1.5)
        tensors[name] = formats.encode("f32", random.uniform(low, high, shape).astype(np.float32))
    safetensors.write_folder(directory, tensors)
    with open(os.path.join(directory, "config.json"), "w") as stream:
        json.dump({"model_type": "own-decoder", "vocab_size": VOCABULARY, "max_position_embeddings": CONTEXT}, stream)
    write_byte_tokenizer(os.path.join(directory, "tokenizer.json"))


def main():
    options = work_parser(__doc__, "llmir", "llmir-translate", "own-decoder").parse_args()
    llmir, checks = Command(options.llmir), Checks(shows_all=True)
    directory = os.path.join(options.work, "own")
    write_checkpoint(directory)
    graph, artifact = os.path.join(directory, "graph.mlir"), os.path.join(directory, "own.llmir")
    Command(options.own_decoder)(directory, graph)
    llmir("compile", directory, "--graph", graph, "-o", artifact, "--kv", "f32", "--target", quick_level())
    ids = [int(i) for i in np.random.RandomState(8).randint(0, VOCABULARY, 20)]
    translate = Command(options.llmir_translate)
    exact = interpreted(translate, directory, [ids[:12], ids[12:17]] + [[i] for i in ids[17:]])
    for form, logits in (("a step", step_logits(llmir, directory, artifact, ids)),
                         ("a function", function_logits(translate, directory, ids))):
        error = nmse(logits, exact)
        checks("logits of " + form, error <= F32_BOUND, "nmse %.1e" % error)
    answer = json.loads(llmir("run", artifact, "Once", "-n", "8", "--temp", "0", "--json"))
    checks("text", len(answer["ids"]) == 8, answer["ids"])
    refused = llmir.refuse("compile", directory, "-o", artifact)
    checks("without the graph", "own-decoder" in refused and "does not support" in refused, refused)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
