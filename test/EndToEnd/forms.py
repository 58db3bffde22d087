#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The forms of `llmir compile --emit`, the stages of --stop-after, and the size of the code.

    forms.py --work DIR --llmir PROGRAM --llmir-opt PROGRAM --llvm-tools DIR
"""

import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "reference"))

import make_tiny  # noqa: E402
from checks import Checks, Command, fresh_folder, work_parser  # noqa: E402

LEVEL = "x86-64-v3"  # The level that compiles fastest.
STAGES = ("checkpoint", "frontend", "llm", "optimize", "lower", "target", "artifact")

# Texts that each form must contain.
FORMS = {
    "mllm": ("mllm.graph.subgraph", "mllm.linalg.linear", "mllm.tensor.register"),
    "llm": ("llm.paged_attention", "llm.append_kv", "llm.weight", "func.func @step"),
    "optimized": ("llm.paged_attention", "func.func @step"),
    "program": ("mllm.program.fragment", "mllm.program.instruction"),
    "lowered": ("func", "vector."),
    "llvm": ("define ", "target triple"),
    "asm": (".text", ".globl"),
}

check = Checks()


def check_forms(options, model):
    for form, needles in FORMS.items():
        result = options.llmir.run("compile", model, "--emit", form, "--target", LEVEL)
        text = result.out
        check("--emit %s" % form, result.code == 0 and all(needle in text for needle in needles), result)
        path = os.path.join(options.work, form + ".txt")
        again = options.llmir.run("compile", model, "--emit", form, "--target", LEVEL, "-o", path)
        same = os.path.exists(path) and open(path, encoding="utf-8").read() == text
        check("--emit %s -o FILE is the same" % form, again.code == 0 and same, again)
        if form in ("mllm", "llm", "optimized", "program", "lowered"):
            parsed = Command(options.llmir_opt).run(path, "-o", os.devnull)
            check("llmir-opt reads %s" % form, parsed.code == 0, parsed)
    path = os.path.join(options.work, "step.o")
    result = options.llmir.run("compile", model, "--emit", "obj", "--target", LEVEL, "-o", path)
    check("--emit obj", result.code == 0, result)
    undefined = Command(os.path.join(options.llvm_tools, "llvm-nm")).run("-u", path)
    check("the object calls nothing by name", undefined.code == 0 and not undefined.out.strip(), undefined)


def check_stages(options, model):
    for stage in STAGES:
        result = options.llmir.run("compile", model, "--stop-after", stage, "--target", LEVEL, "-o",
                                   os.path.join(options.work, "stopped.llmir"))
        check("--stop-after %s" % stage, result.code == 0 and stage in result.out, result)


def code_bytes(options, name, **overrides):
    config, weights = make_tiny.make("llama3", **overrides)
    folder = os.path.join(options.work, name)
    make_tiny.write_hf(folder, config, weights)
    artifact = folder + ".llmir"
    options.llmir("compile", folder, "-o", artifact, "--target", LEVEL)
    sections = json.loads(options.llmir("inspect", artifact, "--json"))["section_bytes"]
    codes = [size for name, size in sections.items() if name.startswith("code ")]
    if len(codes) != 1:
        raise SystemExit("%s has not one section of code: %s" % (artifact, sections))
    return codes[0]


def check_code_size(options):
    sizes = [code_bytes(options, "layers-%d" % n, layers=n) for n in (2, 4, 12)]
    check("code size does not grow with the number of layers", len(set(sizes)) == 1, sizes)


def main():
    options = work_parser(__doc__, "llmir", "llmir-opt", "llvm-tools").parse_args()
    fresh_folder(options.work)
    options.llmir = Command(options.llmir)
    config, weights = make_tiny.make("llama3")
    model = os.path.join(options.work, "model")
    make_tiny.write_hf(model, config, weights)
    check_forms(options, model)
    check_stages(options, model)
    check_code_size(options)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
