#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two builds of llmir on the same model files: interleaved runs, and the ratios of their speeds.

    compare_builds.py --before OLD/bin/llmir --after NEW/bin/llmir --work DIR
                      [--shape NAME,...] [--type NAME,...] [--threads 1,2] [--prompt 512] [--gen 32]
                      [--rounds 5] [--level x86-64-v3] [--kv bf16] [--json OUT.json]

Models have the shapes and formats of make_model.py and random weights. Each is compiled by both
builds, and each round runs them one after the other, in alternating order, so that other load on the
machine affects both equally. A ratio is that of two adjacent runs; the table has their median,
minimum and maximum. Files are created in DIR and removed after the model.
"""
import argparse
import json
import os
import statistics
import sys

import make_model
from peers import KV_TYPES, EngineFailed, Llmir, output_of


def measure(llmir, artifact, options):
    """-> {(threads, test): tokens per second} for one repetition of each test."""
    rows = json.loads(output_of(
        [llmir.program, "bench", artifact, "-p", str(options.prompt), "-n", str(options.gen),
         "-t", ",".join(map(str, options.threads)), "-r", "1", "-o", "json"]))
    return {(row["threads"], row["test"]): row["tokens_per_second"] for row in rows}


def compare(shape, kind, options):
    """-> a row for each test of a model."""
    builds = [Llmir(program, options.level) for program in (options.before, options.after)]
    model = os.path.join(options.work, "model.gguf")
    artifacts = [os.path.join(options.work, name) for name in ("before.llmir", "after.llmir")]
    try:
        make_model.random_model(shape, model, kind)
        for llmir, artifact in zip(builds, artifacts):
            llmir.compile(model, artifact, None, options.kv)
        rounds = []
        for number in range(options.rounds):
            order = (0, 1) if number % 2 == 0 else (1, 0)
            speeds = {which: measure(builds[which], artifacts[which], options) for which in order}
            rounds.append((speeds[0], speeds[1]))
    finally:
        for path in [model] + artifacts:
            if os.path.exists(path):
                os.remove(path)
    rows = []
    for threads, test in rounds[0][0]:
        pairs = [(before[threads, test], after[threads, test]) for before, after in rounds]
        rows.append({"shape": shape, "type": kind, "threads": threads, "test": test,
                     "before": [before for before, _ in pairs],
                     "after": [after for _, after in pairs],
                     "ratios": [after / before for before, after in pairs]})
    return rows


def table_line(row):
    ratios = row["ratios"]
    return "| %s %s | %d | %s | %.1f | %.1f | %.3f | %.3f to %.3f |" % (
        row["shape"], row["type"], row["threads"], row["test"], statistics.median(row["before"]),
        statistics.median(row["after"]), statistics.median(ratios), min(ratios), max(ratios))


def words(text):
    return text.split(",")


def numbers(text):
    return [int(word) for word in words(text)]


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", required=True, metavar="LLMIR")
    parser.add_argument("--after", required=True, metavar="LLMIR")
    parser.add_argument("--work", required=True, metavar="DIR")
    parser.add_argument("--shape", type=words, default=["tinyllama-1.1b", "qwen2.5-0.5b"])
    parser.add_argument("--type", type=words, default=["bf16", "q8_0", "q4_0", "q4_k_m"])
    parser.add_argument("--threads", type=numbers, default=[1, 2])
    parser.add_argument("--prompt", type=int, default=512)
    parser.add_argument("--gen", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--level", help="CPU level of the code (default: the best one of the machine)")
    parser.add_argument("--kv", choices=sorted(KV_TYPES), help="type of the KV cache")
    parser.add_argument("--json", metavar="OUT", help="also write all values to this file")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds is at least 1")
    return options


def main():
    options = parse_arguments()
    os.makedirs(options.work, exist_ok=True)
    rows = []
    print("Tokens per second, medians of %d rounds; ratios after / before.\n\n"
          "| model, format | threads | test | before | after | ratio | min to max |\n"
          "|---|---|---|---|---|---|---|" % options.rounds, flush=True)
    for shape in options.shape:
        for kind in options.type:
            for row in compare(shape, kind, options):
                print(table_line(row), flush=True)
                rows.append(row)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as stream:
            json.dump(rows, stream, indent=1)


if __name__ == "__main__":
    try:
        main()
    except EngineFailed as failure:
        sys.exit("compare_builds.py: %s" % failure)
