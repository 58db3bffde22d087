#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decode speed of a random model of a known shape, as a share of the machine's read bandwidth.

    decode_bandwidth.py --llmir build/bin/llmir --work FOLDER [--shape NAME] [--least 0.5]

Writes the model (2.5 GB for llama-3.2-1b) and its artifact into FOLDER, runs `llmir bench` with two
threads, prints what it says, and fails when the share is below --least. Both figures come from the
same run, so another machine, or a busy one, moves them together.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys

from make_model import SHAPES, write_model


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--llmir", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--shape", choices=sorted(SHAPES), default="llama-3.2-1b")
    parser.add_argument("--least", type=float, default=0.5)
    parser.add_argument("--threads", default="2")
    parser.add_argument("--keep", action="store_true", help="leave the model there")
    options = parser.parse_args()

    model = os.path.join(options.work, options.shape)
    artifact = model + ".llmir"
    try:
        if not os.path.exists(artifact):
            write_model(SHAPES[options.shape], model, seed=1)
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
        line = "%s, %d threads: %.2f ± %.2f tokens/s, %.0f %% of the limit by %s" % (
            row["test"], row["threads"], row["tokens_per_second"], row["spread"],
            100 * row["share_of_limit"], row["bound"])
        if row["n_gen"]:
            share = row["source_bytes_per_second"] / row["read_limit"]
            line += ", %.1f GB/s of %.1f GB/s measured = %.0f %%" % (
                row["source_bytes_per_second"] / 1e9, row["read_limit"] / 1e9, 100 * share)
        print(line)
    if share < options.least:
        print("the share is below %.0f %%" % (100 * options.least))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
