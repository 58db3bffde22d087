#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every form that `llmir compile --emit` writes, every stage that it ends after, and the code's size.

    forms.py --work FOLDER --llmir PROGRAM --llmir-opt PROGRAM --llvm-tools FOLDER
"""

import argparse
import json
import os
import shutil
import subprocess
import sys

from checks import Checks

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "reference"))

import make_tiny  # noqa: E402

STAGES = ("checkpoint", "frontend", "llm", "optimize", "lower", "target", "artifact")

# What a form must contain, to be that form.
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


def run(arguments, **options):
    return subprocess.run(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=300, **options)


def check_forms(options, model):
    for form, needles in FORMS.items():
        result = run([options.llmir, "compile", model, "--emit", form])
        text = result.stdout.decode("utf-8", "replace")
        check("--emit %s" % form, result.returncode == 0
              and all(needle in text for needle in needles), (text[:300], result.stderr.decode()))
        path = os.path.join(options.work, form + ".txt")
        again = run([options.llmir, "compile", model, "--emit", form, "-o", path])
        same = os.path.exists(path) and open(path, encoding="utf-8").read() == text
        check("--emit %s -o FILE is the same" % form, again.returncode == 0 and same,
              again.stderr.decode())
        if form in ("mllm", "llm", "optimized", "program", "lowered"):
            parsed = run([options.llmir_opt, path, "-o", os.devnull])
            check("llmir-opt reads %s" % form, parsed.returncode == 0,
                  parsed.stderr.decode()[:500])
    path = os.path.join(options.work, "step.o")
    result = run([options.llmir, "compile", model, "--emit", "obj", "-o", path])
    check("--emit obj", result.returncode == 0, result.stderr.decode())
    undefined = run([os.path.join(options.llvm_tools, "llvm-nm"), "-u", path])
    check("the object calls nothing by name", undefined.returncode == 0
          and not undefined.stdout.strip(), undefined.stdout.decode())


def check_stages(options, model):
    for stage in STAGES:
        result = run([options.llmir, "compile", model, "--stop-after", stage, "-o",
                      os.path.join(options.work, "stopped.llmir")])
        check("--stop-after %s" % stage, result.returncode == 0 and stage in result.stdout.decode(),
              (result.stdout.decode()[:300], result.stderr.decode()[:300]))


def code_bytes(options, name, **overrides):
    config, weights = make_tiny.make("llama3", **overrides)
    folder = os.path.join(options.work, name)
    make_tiny.write_hf(folder, config, weights)
    artifact = folder + ".llmir"
    result = run([options.llmir, "compile", folder, "-o", artifact])
    if result.returncode:
        raise SystemExit("%s does not compile: %s" % (name, result.stderr.decode()))
    result = run([options.llmir, "inspect", artifact, "--json"])
    sections = json.loads(result.stdout.decode())["section_bytes"]
    codes = [size for name, size in sections.items() if name.startswith("code ")]
    if len(codes) != 1:
        raise SystemExit("%s has not one section of code: %s" % (artifact, sections))
    return codes[0]


def check_code_size(options):
    sizes = [code_bytes(options, "layers-%d" % n, layers=n) for n in (2, 4, 12)]
    check("code size does not grow with the number of layers", len(set(sizes)) == 1, sizes)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--work", "--llmir", "--llmir-opt", "--llvm-tools"):
        parser.add_argument(name, required=True)
    options = parser.parse_args()
    shutil.rmtree(options.work, ignore_errors=True)
    os.makedirs(options.work)
    config, weights = make_tiny.make("llama3")
    model = os.path.join(options.work, "model")
    make_tiny.write_hf(model, config, weights)
    check_forms(options, model)
    check_stages(options, model)
    check_code_size(options)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
