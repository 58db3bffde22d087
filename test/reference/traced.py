#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares traced models with checkpoints in the interpreter of mllm, as compiled programs, and in NumPy.

    traced.py --llmir build/bin/llmir --llmir-translate build/bin/llmir-translate

Each model is traced (`llmir compile --emit mllm`) and evaluated with the checkpoint's parameters, for a
prompt in two steps and then token by token (`llmir-translate --interpret-model`):

  interpreter  its logits compared with the float64 reference: NMSE 1e-9 for weights in float32 and
               block formats, which it decodes; for bf16 weights 1.5 times the NMSE of the reference
               that rounds the other operands of bf16 weights
  compiled     the command's logits compared with the reference, within the bounds of compare.py, and
               with the interpreter, within the sum of both bounds
  greedy       the ids with the largest logits of the interpreter, step by step, are those of the
               reference and of `llmir run`

Trained models are read from the directory LLMIR_TEST_DATA. Prints one line per check, then `N passed,
N failed`; exit status 1 if a check failed.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np

from compare import (F32_BOUND, ROUNDED_FACTOR, TEST_DATA, Command, Failure, Report, Skip, TinyModel,
                     close, close_rounded, equal_greedy)
from llmref import compiled, load, nmse

FAMILIES = ("llama3", "qwen2", "qwen3", "gpt2")
TOKENS = 23
DECODED = 6        # the last of them, individually
GREEDY_TOKENS = 8


class Interpreter(object):
    """`llmir-translate --interpret-model` on models that `command` traces."""

    def __init__(self, path, command):
        self.path, self.command = path, command

    def _call(self, line):
        done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=self.command.environment, timeout=self.command.timeout)
        if done.returncode:
            raise Failure("exit status %d from %s: %s"
                          % (done.returncode, " ".join(line), done.stderr.decode()[-1000:]))
        return done.stdout.decode()

    def trace(self, model):
        out = os.path.join(self.command.temp, "traced.mlir")
        self._call([self.command.path, "compile", model, "--emit", "mllm", "-o", out])
        return out

    def logits(self, model, steps):
        """The logits after each id of the steps: float64 [T, vocab]."""
        rows = self._call([self.path, "--interpret-model", "--checkpoint", model, "--ids",
                           ";".join(",".join(map(str, step)) for step in steps),
                           self.trace(model)]).splitlines()
        answer = np.array([np.array(row.split(), dtype=np.float64) for row in rows])
        if len(answer) != sum(len(step) for step in steps):
            raise Failure("%d rows of logits for %s" % (len(answer), steps))
        return answer


def in_steps(ids):
    """A prompt in two steps, then one id at a time."""
    prompt = len(ids) - DECODED
    return [ids[:prompt // 2], ids[prompt // 2:prompt]] + [[i] for i in ids[prompt:]]


def model_checks(interpreter, report, label, path, reference, ids, rounds):
    """`rounds`: whether the interpreter rounds the other operands of weights."""
    command = interpreter.command
    exact = reference.forward(ids)
    rounded = reference.forward(ids, compiled("f32"))
    is_plain = not set(reference.formats.values()) - {"f32", "f16"}
    evaluated = []

    def evaluate():
        evaluated.append(interpreter.logits(path, in_steps(ids)))
        bound = ROUNDED_FACTOR * nmse(rounded, exact) if rounds else F32_BOUND
        return close(evaluated[0], exact, bound)

    def compile_and_run():
        answer = command.logits(path, ids, ["--kv", "f32"])
        note = close(answer, exact, F32_BOUND) if is_plain else close_rounded(answer, exact, rounded)
        if not evaluated:
            raise Failure("nothing was evaluated")
        # The NMSE of the difference is at most twice the sum of both NMSEs.
        bound = 4 * (F32_BOUND if is_plain else ROUNDED_FACTOR * nmse(rounded, exact))
        return note + "; compared with the interpreter " + close(answer, evaluated[0], bound)

    report.check(label + " interpreter", evaluate)
    report.check(label + " compiled", compile_and_run)


def greedy_check(interpreter, report, label, model):
    def generate():
        prompt, ids = model.greedy()
        ids = ids[:GREEDY_TOKENS]
        logits = interpreter.logits(model.folder, [prompt] + [[i] for i in ids[:-1]])
        leading = [int(i) for i in np.argmax(logits[len(prompt) - 1:], -1)]
        if leading != ids:
            raise Failure("%s lead, want %s" % (leading, ids))
        return equal_greedy(interpreter.command, model.folder, prompt, ids)

    report.check(label + " greedy", generate)


def tiny_models(interpreter, report):
    temp = interpreter.command.temp
    for family in FAMILIES:
        for name, options in (("f32", {}), ("bf16", {"dtype": "bf16"}),
                              ("q8_0", {"gguf_type": "q8_0"})):
            label = "traced/%s %s" % (family, name)
            if report.only and report.only not in label + " interpreter compiled greedy":
                continue
            model = TinyModel(temp, label, family, tokens=TOKENS, **options)
            path = model.gguf if name == "q8_0" else model.folder
            ids = model.input(None if name == "f32" else "f32")[0]
            model_checks(interpreter, report, label, path, model.reference, ids, name == "bf16")
            if name == "f32":
                greedy_check(interpreter, report, label, model)


def trained_models(interpreter, report):
    for name, path in (("stories260K", "stories260K"), ("gpt-nano-sort", "gpt-nano-sort")):
        folder = os.path.join(TEST_DATA, "models", path)
        label = "traced/" + name
        if not os.path.isdir(folder):
            report.check(label, missing(folder))
            continue
        reference = load(os.path.join(folder, "hf"))
        with open(os.path.join(folder, "expected.jsonl"), encoding="utf-8") as stream:
            line = json.loads(stream.readline())
        tokens = min(TOKENS, reference.config.max_positions)
        ids = (line["prompt_ids"] + line["output_ids"])[:tokens]
        model_checks(interpreter, report, label, os.path.join(folder, "hf"), reference, ids, False)


def missing(folder):
    def skip():
        raise Skip("no directory %s (set LLMIR_TEST_DATA)" % folder)
    return skip


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--llmir", required=True)
    parser.add_argument("--llmir-translate", required=True)
    parser.add_argument("--filter", metavar="TEXT", help="only checks whose name contains this")
    parser.add_argument("--verbose", action="store_true", help="print each command")
    options = parser.parse_args()
    temp = tempfile.mkdtemp(prefix="llmir-traced-")
    report = Report(options.filter)
    try:
        command = Command(os.path.abspath(options.llmir), temp, options.verbose, 300)
        interpreter = Interpreter(os.path.abspath(options.llmir_translate), command)
        tiny_models(interpreter, report)
        trained_models(interpreter, report)
    finally:
        shutil.rmtree(temp)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
