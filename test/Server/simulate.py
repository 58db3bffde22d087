#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""llmir bench serve --simulate: loads whose times follow from a table of steps, and llmir bench steps, which writes one.

    simulate.py --work DIR --llmir PROGRAM --demo DIR
"""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference"))
from checks import Checks, Command, fresh_folder, quick_level, work_parser  # noqa: E402

check = Checks()


def table(**changes):
    """A step takes 1 ms for each token of a prompt, 10 for each sequence that decodes, 0.1 for each token before."""
    grid = {"prompts": [0, 100], "sequences": [0, 10], "depths": [0, 100]}
    times = [p * 1 + s * 10 + (d * 0.1 if p + s else 0) for p in grid["prompts"] for s in grid["sequences"]
             for d in grid["depths"]]
    values = dict(grid, model="table", threads=1, vocabulary=1000, context_length=512, token_budget=512, logit_rows=64,
                  block_size=16, blocks=256, milliseconds=times)
    values.update(changes)
    return values


class Simulator:
    def __init__(self, llmir, work):
        self.llmir, self.path = llmir, os.path.join(work, "steps.json")

    def write(self, values):
        with open(self.path, "w") as stream:
            json.dump(values, stream)

    def __call__(self, *flags, **changes):
        self.write(table(**changes))
        return json.loads(self.llmir("bench", "serve", "--simulate", self.path, "--json", *flags))

    def refuse(self, values, *flags):
        self.write(values)
        return self.llmir.refuse("bench", "serve", "--simulate", self.path, "--json", *flags)


def lengths(prompt, output):
    return ("--random-input-len", prompt, "--random-output-len", output)


def check_times(simulate):
    flat = {"milliseconds": [0, 0, 100, 100, 100, 100, 200, 200]}  # Whatever is before.
    one = simulate("--num-prompts", 1, *lengths(50, 5), **flat)
    # 50 tokens of the prompt, then four steps of one sequence.
    check("one request", abs(one["mean_ttft_ms"] - 50) < 1e-6 and abs(one["mean_itl_ms"] - 10) < 1e-6
          and abs(one["mean_e2el_ms"] - 90) < 1e-6 and one["total_output_tokens"] == 5, one)
    two = simulate("--num-prompts", 2, *lengths(50, 5), **flat)
    check("two at once share steps", abs(two["mean_ttft_ms"] - 100) < 1e-6 and abs(two["mean_itl_ms"] - 20) < 1e-6, two)
    turns = simulate("--num-prompts", 2, "--max-concurrency", 1, *lengths(50, 5), **flat)
    check("one after the other", abs(turns["duration"] - 0.18) < 1e-9 and turns["max_concurrent_requests"] == 1
          and abs(turns["mean_ttft_ms"] - 50) < 1e-6, turns)
    rare = simulate("--num-prompts", 20, "--request-rate", "0.1", *lengths(50, 5), **flat)
    check("requests that arrive apart", abs(rare["mean_ttft_ms"] - 50) < 1 and rare["duration"] > 50, rare)
    deep = simulate("--num-prompts", 1, *lengths(100, 2))
    # A tenth of ten sequences after 100 tokens.
    check("tokens before cost time", abs(deep["mean_itl_ms"] - 11) < 1e-6, deep)
    check("the same load, the same times", simulate("--num-prompts", 9, "--request-rate", "5", *lengths(20, 9))
          == simulate("--num-prompts", 9, "--request-rate", "5", *lengths(20, 9)))


def check_cache(simulate):
    shared = simulate("--num-prompts", 8, "--max-concurrency", 1, "--random-prefix-len", 64, *lengths(16, 2))
    check("prefixes are found", shared["total_cached_tokens"] == 7 * 64, shared)
    apart = simulate("--num-prompts", 8, "--max-concurrency", 1, *lengths(80, 2))
    check("and take no time", apart["total_cached_tokens"] == 0 and apart["mean_ttft_ms"] > 2 * shared["mean_ttft_ms"],
          (apart, shared))
    small = simulate("--num-prompts", 16, *lengths(40, 40), blocks=12)
    check("a small cache serves all", small["completed"] == 16 and small["total_output_tokens"] == 640, small)
    large = simulate("--num-prompts", 1, *lengths(400, 100), blocks=256)
    check("the context ends answers", large["completed"] == 1 and large["total_output_tokens"] == 100, large)


def check_refusals(simulate):
    for name, values, words in (
            ("no list", dict(table(), prompts=[5, 6]), "do not ascend from 0"),
            ("descending", dict(table(), depths=[0, 9, 3]), "do not ascend from 0"),
            ("a number too few", dict(table(), milliseconds=[1.0]), "milliseconds"),
            ("a negative time", dict(table(), milliseconds=[-1] * 8), "milliseconds"),
            ("no blocks", dict(table(), blocks=0), "blocks"),
            ("blocks of a size that the cache does not have", dict(table(), block_size=7), "blockSize"),
            ("more than a step", dict(table(), token_budget=20), "do not fit into a step"),
            ("no object", [], "object")):
        answer = simulate.refuse(values, "--num-prompts", 1)
        check("refuses " + name, words in answer, answer)
    answer = simulate.refuse(table(), "--dataset-name", "multi-turn")
    check("refuses conversations", "one turn" in answer, answer)
    answer = simulate.refuse(table(), "--num-prompts", 1, *lengths(600, 1))
    check("refuses what is longer than the context", "longer than the context" in answer, answer)


def check_steps(llmir, options, simulate):
    model = os.path.join(options.work, "demo.llmir")
    llmir("compile", options.demo, "-o", model, "--target", quick_level())
    path = os.path.join(options.work, "measured.json")
    llmir("bench", "steps", model, "-p", "0,1,8", "-s", "0,1,2", "-d", "0,16", "-r", "1", "-o", path)
    with open(path) as stream:
        measured = json.load(stream)
    times = measured["milliseconds"]
    check("a time for each point", len(times) == 3 * 3 * 2 and times[0] == times[1] == 0 and min(times[2:]) > 0, measured)
    check("what the scheduler needs", measured["vocabulary"] > 1000 and measured["block_size"] > 0
          and measured["context_length"] == 512, measured)
    report = json.loads(llmir("bench", "serve", "--simulate", path, "--num-prompts", "5", "--json", *lengths(8, 4)))
    check("a load with measured times", report["completed"] == 5 and report["model_id"] == measured["model"]
          and report["mean_itl_ms"] > 0, report)
    answer = llmir.refuse("bench", "steps", model, "-p", "0,500", "-d", "0,100")
    check("refuses a grid beyond the context", "does not fit into the context" in answer, answer)


def main():
    options = work_parser(__doc__, "llmir", "demo").parse_args()
    fresh_folder(options.work)
    llmir = Command(options.llmir, cache=os.path.join(options.work, "cache"))
    simulate = Simulator(llmir, options.work)
    check_times(simulate)
    check_cache(simulate)
    check_refusals(simulate)
    check_steps(llmir, options, simulate)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
