#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Memory of traced models: near the least that any plan needs, and never of two values at once.

    graph_memory.py --work FOLDER --llmir PROGRAM --llmir-opt PROGRAM
"""

import argparse
import os
import re
import shutil
import subprocess
import sys

from checks import Checks

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "reference"))

import make_tiny  # noqa: E402

MOST_PERCENT = 5.0
TOKENS = (512, 7, 1)  # Planned for the first, run with all.
REPORT = re.compile(r"^(.*): (\d+) bytes, at least (\d+) \(([0-9.]+) % more\), (\d+) without sharing; "
                    r"(\d+) tensors, (\d+) in place, (\d+) views$", re.M)

check = Checks()


def run(arguments):
    return subprocess.run(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=300)


def sizes(tokens):
    return ",".join("%s=%d" % (name, tokens) for name in ("?", "seq", "tokens", "past"))


def check_plan(options, name, path, before, in_place):
    planned = os.path.join(options.work, "planned.mlir")
    result = run([options.llmir_opt, path] + before +
                 ["--mllm-plan-memory=sizes=%s report=true in-place=%s" % (sizes(TOKENS[0]),
                                                                        str(in_place).lower()),
                  "-o", planned])
    text = result.stdout.decode()
    frames = REPORT.findall(text)
    check("%s is planned" % name, result.returncode == 0 and frames,
          result.stderr.decode()[:2000] or text)
    if result.returncode or not frames:
        return
    for frame in frames:
        check("%s: %s is within %.0f %%" % (name, frame[0], MOST_PERCENT),
              float(frame[3]) <= MOST_PERCENT, frame)
    model = frames[-1]  # Callees come first.
    check("%s shares memory" % name, int(model[1]) * 2 < int(model[4]), model)
    check("%s has tensors in place" % name, (int(model[6]) > 0) == in_place, model)
    for tokens in TOKENS:
        result = run([options.llmir_opt, planned, "--mllm-check-memory=sizes=" + sizes(tokens),
                      "-o", os.devnull])
        check("%s runs with %d tokens" % (name, tokens), result.returncode == 0,
              result.stderr.decode()[:2000])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--work", "--llmir", "--llmir-opt"):
        parser.add_argument(name, required=True)
    options = parser.parse_args()
    shutil.rmtree(options.work, ignore_errors=True)
    os.makedirs(options.work)
    for family in ("llama3", "qwen2", "qwen3", "gpt2"):
        config, weights = make_tiny.make(family)
        folder = os.path.join(options.work, family)
        make_tiny.write_hf(folder, config, weights)
        path = folder + ".mlir"
        result = run([options.llmir, "compile", folder, "--emit", "mllm", "-o", path])
        if result.returncode:
            raise SystemExit("%s: %s" % (family, result.stderr.decode()))
        check_plan(options, family, path, [], True)
        check_plan(options, family + ", nothing in place", path, [], False)
        check_plan(options, family + ", inlined", path, ["--mllm-inline-subgraphs"], True)
        check_plan(options, family + ", in two stages", path, ["--mllm-split-stages=stages=2"], True)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
