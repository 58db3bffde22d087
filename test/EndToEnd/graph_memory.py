#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory plans of traced models: close to the lower bound, and without overlapping live values.

    graph_memory.py --work DIR --llmir PROGRAM --llmir-opt PROGRAM
"""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "reference"))

import make_tiny  # noqa: E402
from checks import Checks, Command, fresh_folder, work_parser  # noqa: E402

MOST_PERCENT = 5.0
TOKENS = (512, 7, 1)  # Planned for the first, run with all.
REPORT = re.compile(r"^(.*): (\d+) bytes, at least (\d+) \(([0-9.]+) % more\), (\d+) without sharing; "
                    r"(\d+) tensors, (\d+) in place, (\d+) views$", re.M)

check = Checks()


def sizes(tokens):
    return ",".join("%s=%d" % (name, tokens) for name in ("?", "seq", "tokens", "past"))


def check_plan(options, name, path, before, in_place):
    planned = os.path.join(options.work, "planned.mlir")
    plan = "--mllm-plan-memory=sizes=%s report=true in-place=%s" % (sizes(TOKENS[0]), str(in_place).lower())
    result = options.opt.run(path, *before, plan, "-o", planned)
    frames = REPORT.findall(result.out)
    check("%s is planned" % name, result.code == 0 and frames, result)
    if result.code or not frames:
        return
    for frame in frames:
        check("%s: %s is within %.0f %%" % (name, frame[0], MOST_PERCENT),
              float(frame[3]) <= MOST_PERCENT, frame)
    model = frames[-1]  # Callees come first.
    check("%s shares memory" % name, int(model[1]) * 2 < int(model[4]), model)
    check("%s has tensors in place" % name, (int(model[6]) > 0) == in_place, model)
    for tokens in TOKENS:
        result = options.opt.run(planned, "--mllm-check-memory=sizes=" + sizes(tokens), "-o", os.devnull)
        check("%s runs with %d tokens" % (name, tokens), result.code == 0, result)


def main():
    options = work_parser(__doc__, "llmir", "llmir-opt").parse_args()
    fresh_folder(options.work)
    options.opt = Command(options.llmir_opt)
    for family in ("llama3", "qwen2", "qwen3", "gpt2"):
        config, weights = make_tiny.make(family)
        folder = os.path.join(options.work, family)
        make_tiny.write_hf(folder, config, weights)
        path = folder + ".mlir"
        Command(options.llmir)("compile", folder, "--emit", "mllm", "-o", path)
        check_plan(options, family, path, [], True)
        check_plan(options, family + ", nothing in place", path, [], False)
        check_plan(options, family + ", inlined", path, ["--mllm-inline-subgraphs"], True)
        check_plan(options, family + ", in two stages", path, ["--mllm-split-stages=stages=2"], True)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
