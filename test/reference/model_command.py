# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The `llmir` command as compare.py calls it."""

import json
import os
import subprocess
import sys

import numpy as np

from checks import command_environment, quick_level


class Failure(Exception):
    """A failed check, with the reason."""


class Skip(Exception):
    """A check that could not run, with the reason."""


class Command(object):
    """The `llmir` binary, with a separate compile cache."""

    def __init__(self, path, temp, verbose, timeout, batch_tests=None):
        self.path, self.temp, self.verbose, self.timeout = path, temp, verbose, timeout
        self.batch_tests = batch_tests
        self.cache = ["--cache-dir", os.path.join(temp, "cache")]
        self.environment = command_environment()

    def call(self, arguments, text=""):
        """The command's output; `text` is its standard input."""
        program = [sys.executable, self.path] if self.path.endswith(".py") else [self.path]
        line = program + arguments
        if self.verbose:
            print("     $ " + " ".join(line), file=sys.stderr)
        try:
            done = subprocess.run(line, input=text.encode("utf-8"), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  env=self.environment, timeout=self.timeout)
        except subprocess.TimeoutExpired:
            raise Failure("no answer in %d s: %s" % (self.timeout, " ".join(line)))
        if done.returncode:
            words = done.stderr.decode("utf-8", "replace").strip().splitlines()[-3:]
            raise Failure("exit status %d from %s: %s"
                          % (done.returncode, " ".join(line), " | ".join(words)))
        return done.stdout.decode("utf-8")

    def compiled(self, model):
        """An artifact for the level that compiles fastest."""
        artifact = model + ".llmir"
        self.call(["compile", model, "-o", artifact, "--target", quick_level()])
        return artifact

    def logits(self, model, ids, flags=()):
        """`perplexity --logits`: the logits after each of the ids, float32 [T, vocab]."""
        ids_file = os.path.join(self.temp, "ids.txt")
        out = os.path.join(self.temp, "logits.npy")
        with open(ids_file, "w") as stream:
            stream.write(",".join(map(str, ids)) + "\n")
        if os.path.exists(out):
            os.remove(out)
        self.call(["perplexity", model, "--ids", ids_file, "--ctx", str(len(ids)),
                    "--logits", out] + self.cache + list(flags))
        if not os.path.exists(out):
            raise Failure("perplexity wrote no %s" % out)
        answer = np.load(out)
        if answer.dtype != np.float32 or answer.ndim != 2 or len(answer) != len(ids):
            raise Failure("logits are %s %s, want float32 [%d, vocab]"
                          % (answer.dtype, answer.shape, len(ids)))
        return answer

    def run(self, model, prompt, count, flags=()):
        """`run --temp 0 --json`: its JSON object, with greedy ids."""
        text = self.call(["run", model, "--prompt-ids", ",".join(map(str, prompt)), "-n",
                           str(count), "--temp", "0", "--json"] + self.cache + list(flags))
        try:
            answer = json.loads(text)
        except ValueError as error:
            raise Failure("run --json printed no JSON object (%s): %.200r" % (error, text))
        for key in ("prompt_ids", "ids", "text", "finish_reason", "timings"):
            if key not in answer:
                raise Failure("run --json lacks %r: %s" % (key, sorted(answer)))
        if answer["prompt_ids"] != list(prompt):
            raise Failure("prompt_ids came back as %s" % answer["prompt_ids"])
        return answer
