#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts the barriers of a layer in the program of each family.

    barriers.py --work DIR --llmir PROGRAM
"""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "reference"))

import make_tiny  # noqa: E402
from checks import Checks, Command, fresh_folder, work_parser  # noqa: E402

# qkv, rope, append | attention | o_proj, residual | gate, up, their product | down, residual
DECODE = 5
# After normalizing or converting rows for a matmul: at the four places before matmuls.
ROWS = 4
SPLIT = 1
FAMILIES = ("llama3", "qwen2", "qwen3")
FORMATS = ("none", "q8", "int4:g32:asym")
KINDS = {"": "always", " unless_decode": "many", " if_split": "split"}


def count(program):
    """Barriers by kind in the loop over the layers, and outside of it."""
    body = re.search(r'program\.label "layers\.0"\n(.*)program\.jump_next_layer "layers\.0"', program, re.S)
    inside, outside = dict.fromkeys(KINDS.values(), 0), dict.fromkeys(KINDS.values(), 0)
    for match in re.finditer(r"program\.barrier(.*)\n", program):
        counts = inside if body.start() < match.start() < body.end() else outside
        counts[KINDS[match.group(1).rstrip()]] += 1
    return inside, outside


def main():
    options = work_parser(__doc__, "llmir").parse_args()
    fresh_folder(options.work)
    llmir, check = Command(options.llmir), Checks(shows_all=True)
    for family in FAMILIES:
        config, weights = make_tiny.make(family=family, dtype="bf16", layers=3, hidden=64, heads=4, kv_heads=2,
                                         head_dim=24, intermediate=96, vocab=67)
        model = os.path.join(options.work, family)
        make_tiny.write_hf(model, config, weights, "bf16")
        for quantize in FORMATS:
            inside, outside = count(llmir("compile", model, "--emit", "program", "--quantize", quantize))
            good = (inside["always"] <= DECODE and inside["split"] <= SPLIT and inside["many"] <= ROWS
                    and outside["always"] <= 1 and outside["split"] == 0)
            check("barriers of %s with %s" % (family, quantize), good,
                  "%s a layer, %s outside of the layers" % (inside, outside))
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
