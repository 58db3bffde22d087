#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Divergence of compiled models from the float64 reference, by format, on the demo model.

    accuracy.py --llmir build/bin/llmir --work DIR [--tokens N] [--only TEXT]... [--json OUT]
    accuracy.py --llmir build/bin/llmir --work DIR --gate
    accuracy.py --llmir build/bin/llmir --work DIR --llama-cpp LIBRARIES [--all]

Held-out text is evaluated by three models: the float64 reference of the checkpoint as stored (the
base), llmir with the weights and the KV cache in a format, and a NumPy model of the same weights
that rounds where the compiler rounds. For each format the table has, in nats,

  KLD, 99 %   the KL divergence of llmir's next-token distributions from the base: the mean and the
              99th percentile of all positions
  top-1       the fraction of positions where both have the same most likely token
  NumPy       the mean KL divergence of the NumPy model from the base
  arithmetic  the mean KL divergence of llmir from the float64 model of the same rounded weights,
              i.e. the error of computing without that of storing; next to it that of the NumPy
              model, and that between the two
  llama.cpp   the mean KL divergence from the base of llama.cpp with the same GGUF file and the same
              type of cache (Q8_0 for q8)

--gate fails if llmir's divergence, in total or of the arithmetic, exceeds 1.1 times that of the
NumPy model, because it may not round anywhere else. --llama-cpp gives the directory of its libraries
(the npm package @node-llama-cpp/linux-x64 has them in bins/linux-x64) and fails if llama.cpp is
closer. A single rounding in the other direction changes all later results, so two models that round
in the same places are two samples: a mean counts as greater if it exceeds the other by more than
twice the standard error of the difference at each position. More tokens reduce that error.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
from collections import namedtuple

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(ROOT, "test", "reference"))
from llmref import Model, compiled  # noqa: E402
from llmref.checkpoint import read  # noqa: E402
from llmref.metrics import log_divergence, log_softmax  # noqa: E402
from llmref.quantize import quantized_projections  # noqa: E402
from make_model import quantize_checkpoint  # noqa: E402

MODEL = os.path.join(ROOT, "models", "demo")
CONTEXT = 512       # of the demo model's training
MOST_TIMES = 1.1    # the NumPy model's divergence
LEAST = 1e-9        # divergences below this are due to float32
SIGNIFICANT = 2     # standard errors

# How a model is stored: llmir's input (a GGUF type, or --quantize of the directory) and --kv.
Case = namedtuple("Case", "gguf quantize kv")
CASES = (
    [Case("bf16", None, kv) for kv in ("bf16", "f16", "f32", "q8")]
    + [Case(file_type, None, "bf16") for file_type in
       ("f32", "f16", "q8_0", "q4_0", "q4_1", "q2_k", "q4_k", "q5_k", "q6_k", "q4_k_m", "iq4_xs",
        "mxfp4")]
    + [Case(None, scheme, "bf16") for scheme in
       ("q8", "q4", "int8", "int4:g32:asym", "int4:g64", "int4:g64:asym", "int4:g128",
        "int4:g128:asym")])
# With --all.
MORE_CASES = [Case(file_type, None, "bf16") for file_type in
              ("q5_0", "q5_1", "q3_k", "iq4_nl", "iq3_s", "iq3_xxs", "iq2_s", "iq2_xs", "iq2_xxs",
               "iq1_m", "iq1_s", "tq1_0", "tq2_0")]


def label(case):
    return "%s, KV %s" % (case.gguf or case.quantize, case.kv)


class Llmir(object):
    """The command, with a separate cache."""

    def __init__(self, program, work):
        self.program, self.work = program, work
        self.environment = {key: value for key, value in os.environ.items()
                            if not key.startswith("LLMIR_") or key == "LLMIR_COMPILER_LIBRARY"}
        self.environment["XDG_CACHE_HOME"] = os.path.join(work, "cache")

    def __call__(self, *arguments):
        return self.start(*arguments)()

    def start(self, *arguments):
        """-> a function that waits for the command and returns its output."""
        process = subprocess.Popen([self.program] + list(arguments), env=self.environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)

        def finish():
            out, messages = process.communicate(timeout=600)
            if process.returncode:
                raise SystemExit("%s: exit code %d: %s" % (
                    " ".join(arguments), process.returncode, messages.decode("utf-8", "replace")))
            return out.decode("utf-8")
        return finish


def held_out_ids(llmir, tokens):
    """About `tokens` ids: a window of CONTEXT of each file in turn."""
    folder = os.path.join(MODEL, "heldout")
    texts = []
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), encoding="utf-8") as stream:
            answer = llmir("tokenize", MODEL, "--no-special-tokens", stream.read(tokens * 8))
        texts.append([int(word) for word in answer.replace(",", " ").split()])
    windows = [text[at:at + CONTEXT] for at in range(0, tokens, CONTEXT) for text in texts
               if len(text) >= at + CONTEXT]
    return [i for window in windows[:max(tokens // CONTEXT, 1)] for i in window]


def logits(model, ids, rounding=None):
    """[tokens, vocab] of independent windows."""
    options = () if rounding is None else (rounding,)
    return np.concatenate([model.forward(ids[at:at + CONTEXT], *options)
                           for at in range(0, len(ids), CONTEXT)]).astype(np.float32)


class Measurement(object):
    """The ids, the base, and the locations of files."""

    def __init__(self, options):
        self.options, self.work = options, options.work
        self.llmir = Llmir(os.path.abspath(options.llmir), options.work)
        self.ids = held_out_ids(self.llmir, options.tokens)
        self.ids_file = os.path.join(self.work, "ids.txt")
        with open(self.ids_file, "w", encoding="utf-8") as stream:
            stream.write(",".join(map(str, self.ids)) + "\n")
        self.checkpoint = read(MODEL)
        base = logits(Model(*self.checkpoint), self.ids)
        self.base = log_softmax(base)
        self.base_file = os.path.join(self.work, "base.npy")
        np.save(self.base_file, base)

    def source(self, case):
        """-> (llmir's input, its --quantize value)."""
        if not case.gguf:
            return MODEL, ["--quantize", case.quantize]
        path = os.path.join(self.work, "demo-%s.gguf" % case.gguf)
        if not os.path.exists(path):
            quantize_checkpoint(MODEL, path, case.gguf)
        return path, []

    def reference(self, case):
        """The reference model of the same weights."""
        if case.gguf:
            return Model(*read(self.source(case)[0]))
        config, weights, formats = self.checkpoint
        weights, formats = quantized_projections(weights, formats, case.quantize)
        return Model(config, weights, formats)

    def start(self, case, artifact=None):
        """-> a function that waits for llmir and returns its answer and log-probabilities. With
        `artifact`, source() has already been compiled there."""
        path, flags = self.source(case)
        model = [artifact] if artifact else [path, "--kv", case.kv] + flags
        out = os.path.join(self.work, "logits.npy")
        finish = self.llmir.start("perplexity", *model, "--ids", self.ids_file, "--ctx",
                                  str(CONTEXT), "--kl-base", self.base_file, "--logits", out,
                                  "--json")
        return lambda: (json.loads(finish()), log_softmax(np.load(out)))

    def from_base(self, case, answer, computed):
        """-> (figures, {engine: divergences [tokens] from the base}) of the result of start()."""
        divergences = {"llmir": log_divergence(computed, self.base)}
        if self.options.llama_cpp and case.gguf:
            peer = log_softmax(self.peer(self.source(case)[0], case.kv))
            divergences["llama_cpp"] = log_divergence(peer, self.base)
        # Compare the command's sums with NumPy's.
        agreeing = np.mean(computed.argmax(axis=1) == self.base.argmax(axis=1))
        ordered = np.sort(divergences["llmir"])
        for name, value in (("kl_mean", ordered.mean()), ("top1_agreement", agreeing),
                            ("kl_p99", ordered[(len(ordered) * 99 + 99) // 100 - 1])):
            if not abs(answer[name] - value) <= 1e-9 + 1e-6 * abs(value):
                raise SystemExit("%s: --kl-base says %s is %r, NumPy %r"
                                 % (label(case), name, answer[name], value))
        figures = {name: answer[name] for name in
                   ("kl_mean", "kl_p99", "top1_agreement", "artifact_checksum")}
        figures["tokens"] = len(self.ids)
        if "llama_cpp" in divergences:
            figures["kl_llama_cpp"] = divergences["llama_cpp"].mean()
        return figures, divergences

    def row(self, case):
        """The figures of a case, by column name."""
        finish = self.start(case)  # Compiles while NumPy computes.
        model = self.reference(case)
        exact = log_softmax(logits(model, self.ids))
        rounded = log_softmax(logits(model, self.ids, compiled(case.kv)))
        answer, computed = finish()
        figures, from_base = self.from_base(case, answer, computed)
        from_base["numpy"] = log_divergence(rounded, self.base)
        arithmetic = {"llmir": log_divergence(computed, exact),
                      "numpy": log_divergence(rounded, exact)}
        figures.update(
            kl_numpy=from_base["numpy"].mean(), arithmetic=arithmetic["llmir"].mean(),
            arithmetic_numpy=arithmetic["numpy"].mean(),
            from_numpy=log_divergence(computed, rounded).mean(),
            faults=[text for what, divergences in (("KLD", from_base), ("arithmetic", arithmetic))
                    for text in faults(what, divergences)])
        return figures

    def peer(self, path, kv):
        """llama.cpp's logits, computed in a separate process for its threads and messages."""
        out = os.path.join(self.work, "peer.npy")
        environment = dict(os.environ, LD_LIBRARY_PATH=self.options.llama_cpp)
        subprocess.run([sys.executable, os.path.join(HERE, "llama_cpp_logits.py"),
                        "--libraries", self.options.llama_cpp, "--ids", self.ids_file, "--ctx",
                        str(CONTEXT), "--out", out, "--kv", kv, path], env=environment, check=True,
                       stderr=subprocess.DEVNULL)
        return np.load(out)


def faults(what, divergences):
    """Describes violations: engines whose divergences [positions] llmir's exceed but should not."""
    for name, times in (("numpy", MOST_TIMES), ("llama_cpp", 1.0)):
        if name not in divergences:
            continue
        excess = divergences["llmir"] - times * divergences[name] - LEAST
        error = excess.std() / np.sqrt(len(excess))
        if excess.mean() > SIGNIFICANT * error:
            yield "%s is %.4g, more than %g times %.4g of %s (by %.2g, standard error %.2g)" % (
                what, divergences["llmir"].mean(), times, divergences[name].mean(), name,
                excess.mean(), error)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--llmir", required=True)
    parser.add_argument("--work", required=True, help="a directory for models and logits")
    parser.add_argument("--tokens", type=int, default=6 * CONTEXT, help="default %(default)s")
    parser.add_argument("--only", action="append", help="rows whose label contains this")
    parser.add_argument("--all", action="store_true", help="all types of GGUF")
    parser.add_argument("--json", metavar="OUT", help="also write the rows there")
    parser.add_argument("--gate", action="store_true", help="fail if a bound is exceeded")
    parser.add_argument("--llama-cpp", metavar="DIR", help="compare with these libraries")
    options = parser.parse_args()
    shutil.rmtree(options.work, ignore_errors=True)
    os.makedirs(options.work)
    measurement = Measurement(options)
    print("%d tokens in windows of %d" % (len(measurement.ids), CONTEXT))
    print("%-24s %10s %10s %8s %10s | %10s %10s %10s | %10s  %s" % (
        "weights", "KLD", "99 %", "top-1", "NumPy", "arithmetic", "NumPy", "between", "llama.cpp",
        "artifact"))
    rows, failed = {}, 0
    for case in CASES + MORE_CASES if options.all else CASES:
        if options.only and not any(text in label(case) for text in options.only):
            continue
        f = rows[label(case)] = measurement.row(case)
        print("%-24s %10.3e %10.3e %7.2f%% %10.3e | %10.3e %10.3e %10.3e | %10s  %s" % (
            label(case), f["kl_mean"], f["kl_p99"], 100 * f["top1_agreement"], f["kl_numpy"],
            f["arithmetic"], f["arithmetic_numpy"], f["from_numpy"],
            "%.3e" % f["kl_llama_cpp"] if "kl_llama_cpp" in f else "-",
            f["artifact_checksum"]), flush=True)
        for fault in f["faults"]:
            failed += 1
            print("FAIL %s: %s" % (label(case), fault), flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as stream:
            json.dump(rows, stream, indent=1)
    print("%d rows, %d faults" % (len(rows), failed))
    return 1 if not rows or (failed and (options.gate or options.llama_cpp)) else 0


if __name__ == "__main__":
    sys.exit(main())
