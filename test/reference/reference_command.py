#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reference model with the part of llmir's command line that compare.py uses.

    compare.py --llmir reference_command.py --suite f32

tests that the comparison passes for correct results and, with REFERENCE_FAULT set to the name of an
error, that it fails for wrong ones.
"""

import argparse
import json
import os
import sys

import numpy as np

from llmref import compiled, gguf, load, ops


def is_f32(path):
    """Whether `--kv auto` means f32."""
    if not os.path.isdir(path):
        return gguf.get(gguf.read_gguf(path), "general.file_type") == 0
    with open(os.path.join(path, "config.json"), encoding="utf-8") as stream:
        data = json.load(stream)
    return data.get("dtype", data.get("torch_dtype")) == "float32"


def apply_fault(fault, model):
    """Introduces an error that a compiler might have."""
    if fault == "eps":
        model.config.rms_eps = 1e-6
    elif fault == "theta":
        model.frequencies = ops.rope_frequencies(model.config.head_dim, 1e4)
    elif fault == "pairing":
        original = ops.rope
        ops.rope = lambda x, p, f: original(x, p, f, pairing="adjacent")
    elif fault == "last-block":  # the last 8 rows of every projection are not computed
        for name, weight in model.weights.items():
            if weight.ndim == 2:
                weight[len(weight) - len(weight) % 8:] = 0
    elif fault and fault != "container":
        raise SystemExit("unknown REFERENCE_FAULT %r" % fault)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("verb", choices=("run", "perplexity", "compile"))
    parser.add_argument("model")
    parser.add_argument("--prompt-ids")
    parser.add_argument("-n", type=int)
    parser.add_argument("--temp", type=float)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--ids")
    parser.add_argument("--ctx", type=int)
    parser.add_argument("--logits")
    parser.add_argument("--kv", default="auto")
    parser.add_argument("-t", type=int)
    parser.add_argument("--cache-dir")
    parser.add_argument("-o")
    parser.add_argument("--target")
    options = parser.parse_args()
    options.model = os.path.realpath(options.model)
    if options.verb == "compile":  # The artifact is a reference to the model.
        os.symlink(options.model, options.o)
        return 0

    fault = os.environ.get("REFERENCE_FAULT", "")
    model = load(options.model)
    apply_fault(fault, model)
    kv = options.kv if options.kv != "auto" else "f32" if is_f32(options.model) else "bf16"
    if fault == "kv":  # 8 bits; the tests allow 11
        kv = "bf16"
    rounding = compiled(kv)
    if options.verb == "run":
        prompt = [int(word) for word in options.prompt_ids.split(",")]
        ids, _ = model.generate(prompt, options.n, rounding, stop=model.config.eos)
        reason = "stop" if ids[-1] in model.config.eos else "length"
        print(json.dumps({"prompt_ids": prompt, "ids": ids, "text": None,
                          "finish_reason": reason, "timings": {}}))
    else:
        with open(options.ids) as stream:
            ids = [int(word) for word in stream.read().replace(",", " ").split()]
        windows = [model.forward(ids[i:i + options.ctx], rounding)
                   for i in range(0, len(ids), options.ctx)]
        if fault == "container" and options.model.endswith(".gguf"):
            windows[0][0, 0] *= 1 + 2e-7  # one bit of one logit depends on the container
        np.save(options.logits, np.concatenate(windows).astype(np.float32))
    return 0


if __name__ == "__main__":
    sys.exit(main())
