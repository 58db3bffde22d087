#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the `llmir` command with the float64 reference, end to end.

    compare.py --llmir build/bin/llmir --suite all
    compare.py --llmir build/bin/llmir --suite formats --filter qwen3 --verbose

Creates tiny random models, runs the command on them, and checks the results:

  f32       every family with float32 weights and float32 KV: logits of every position within NMSE
            1e-9, equal greedy ids over 64 tokens, equal bits from safetensors and from GGUF, with
            one thread and with two
  families  the same for variants of the families: odd sizes, tying, biases, rope scaling, shards,
            both dialects of config.json, prompts longer than a step
  dense     f32 for the families of llmref/families.py
  experts   f32 for those of llmref/experts.py; experts stored in blocks
  hybrid    f32 for those of llmref/hybrid.py
  formats   weights in every other format (of a family of llama3's architecture in bf16 alone, unless
            LLMIR_LONG_TESTS is set) with bf16 KV: NMSE at most 1.5 times that of the
            reference rounded where the compiler rounds; the same largest logit wherever its lead
            exceeds the rounding error; equal bits from safetensors and from GGUF; other KV
            types by flag
  quantized the quantized checkpoints of the Hub (llmref/quantized.py), checked as formats
  embeddings  embedding models: `llmir embed` within NMSE 1e-9, equal bits in any company and in pieces
  real      trained models (directory LLMIR_TEST_DATA) generate their expected ids

Variants of families and formats are compiled for the level that compiles fastest, except for each third one and
with LLMIR_LONG_TESTS. One line per check, then `N passed, N failed`; exit status 1 if a check failed.
"""

import argparse
import base64
import itertools
import json
import lzma
import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np

import embeddings
import make_experts
import make_families
import make_hybrid
import make_tiny
from checks import Checks
from compare_experts import gpt_oss_bf16, gpt_oss_mxfp4, in_blocks, in_quantized, same_bits
from model_command import Command, Failure, Skip
from llmref import Model, compiled, formats, load, nmse, quantized, safetensors, top_two_margin
from llmref.config import DESCRIBED_FAMILIES

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
TEST_DATA = os.environ.get("LLMIR_TEST_DATA", os.path.join(ROOT, "..", "shared", "data"))

F32_BOUND = 1e-9      # NMSE of logits where nothing is rounded below float32
ROUNDED_FACTOR = 1.5  # times the NMSE of the reference that rounds where the compiler rounds
CLEAR_LEAD = 6.0      # times the rounded reference's RMS error: no rounding overturns such a lead
F32_LEAD = 1e-3       # the same for float32 alone, absolute
TOKENS = 77           # several KV blocks, the last of them partly filled
GREEDY_TOKENS = 64
LONG = dict(tokens=613, max_positions=1024)  # more tokens than a step has
BLOCKS_OF_EXPERTS = ("q8_0", "q4_k", "mxfp4", "iq4_xs")
# Same architecture as llama3, with other sizes: their formats are long tests.
SAME_ARCHITECTURE = ("llama", "smollm2", "tinyllama")


class Report(Checks):
    """Counted checks that are functions: the return value is the note, an exception is a failure."""

    def __init__(self, only):
        super().__init__(shows_all=True)
        self.only = only

    def check(self, name, action):
        if self.only and self.only not in name:
            return
        try:
            self(name, True, action())
        except Failure as failure:
            self(name, False, failure)
        except Skip as reason:
            self.skip(name, reason)


class TinyModel(object):
    """One set of random weights: its files, its reference, and inputs suitable for a test."""

    def __init__(self, temp, label, family, dtype="f32", gguf_type=None, dialect="old", shards=1,
                 tokens=TOKENS, seed=0, quick=False, **options):
        config, weights = make_tiny.make(family, seed, dtype, **options)
        base = os.path.join(temp, label.replace("/", "-").replace(" ", "-"))
        self.folder, self.gguf = base, base + ".gguf"
        make_tiny.write_gguf(self.gguf, config, weights, gguf_type or dtype)
        if gguf_type is None:
            make_tiny.write_hf(self.folder, config, weights, dtype, dialect, shards)
        if config.family in DESCRIBED_FAMILIES:  # the reference reads no files of these
            self.reference = Model(config, weights)
        else:
            self.reference = load(self.folder if gguf_type is None else self.gguf)
        self.tokens = tokens
        self.continuation = None
        self.quick, self.answers, self.artifacts = quick, {}, {}
        self.rounds_in_gguf = config.value_heads > 0  # such a file has the exponential of the decays

    def answer(self, command, path, ids):
        """The command's logits for the file or directory, computed once."""
        if path not in self.answers:
            self.answers[path] = command.logits(self.code(command, path), ids)
        return self.answers[path]

    def code(self, command, path):
        """What commands are given: an artifact or, unless quick, a model, which they compile for this CPU."""
        return self.artifact(command, path) if self.quick and not path.endswith(".llmir") else path

    def artifact(self, command, path):
        """The file or directory, compiled once for the level that compiles fastest."""
        if path not in self.artifacts:
            self.artifacts[path] = command.compiled(path)
        return self.artifacts[path]

    def random_ids(self, seed, count):
        ids = np.random.RandomState(seed).randint(0, self.reference.config.vocab, count)
        return [int(i) for i in ids]

    def input(self, kv=None):
        """-> (ids, exact logits, rounded logits or None).

        With a type of KV cache: ids for which the rounded reference keeps every clear lead, so the
        command must keep it, too."""
        for seed in range(50):
            ids = self.random_ids(seed, self.tokens)
            exact = self.reference.forward(ids)
            if kv is None:
                return ids, exact, None
            rounded = self.reference.forward(ids, compiled(kv))
            if not lost_leads(rounded, exact, clear_lead(rounded, exact)):
                return ids, exact, rounded
        raise Failure("no input found for which the rounded reference keeps every clear lead")

    def greedy(self):
        """-> (prompt, ids): a continuation that rounding to float32 cannot change and that is not a short cycle."""
        for seed in range(100, 200):
            if self.continuation is not None:
                return self.continuation
            prompt = self.random_ids(seed, 9)
            ids, margins = self.reference.generate(prompt, GREEDY_TOKENS)
            if min(margins) > F32_LEAD and len(set(ids)) >= 8:
                self.continuation = prompt, ids
        raise Failure("no prompt found with clear leads over %d tokens" % GREEDY_TOKENS)


def is_quick(number):
    """Whether a variant is compiled for the fastest level: in long tests none, else two of three."""
    return number % 3 != 0 and not os.environ.get("LLMIR_LONG_TESTS")


def clear_lead(rounded, exact):
    """A lead that rounding cannot overturn: two logits move apart by sqrt(2) RMS errors each."""
    return CLEAR_LEAD * float(np.sqrt(np.mean((rounded - exact) ** 2)))


def lost_leads(answer, exact, lead):
    """Positions where the reference's best logit has a clear lead and the command's best logit is another."""
    clear = top_two_margin(exact) > lead
    return [int(i) for i in
            np.nonzero(clear & (np.argmax(answer, -1) != np.argmax(exact, -1)))[0]]


def close(answer, exact, bound):
    """Returns the note of a passing check; raises Failure with the worst row otherwise."""
    if answer.shape != exact.shape:
        raise Failure("logits are %s, want %s" % (answer.shape, exact.shape))
    error = nmse(answer, exact)
    note = "nmse %.2e, bound %.1e, %d positions" % (error, bound, len(exact))
    if not error <= bound:
        rows = [nmse(a, e) for a, e in zip(answer, exact)]
        first = next((i for i, row in enumerate(rows) if not row <= bound), -1)
        raise Failure("%s; position %d is the first beyond it, %d the worst with %.2e"
                      % (note, first, int(np.argmax(rows)), max(rows)))
    return note


def f32_checks(command, report, temp, label, family, **options):
    """The checks of a model with float32 weights, in both containers: the directory with code for this CPU, the file
    with code for a lower level, which accumulates in the same order."""
    if report.only and not any(report.only in label + name for name in
                               (" logits", " greedy", " gguf", " gguf greedy", " threads")):
        return
    model = TinyModel(temp, label, family, **options)
    ids, exact, _ = model.input()

    def logits():
        return close(model.answer(command, model.folder, ids), exact, F32_BOUND)

    def gguf():
        answer = model.answer(command, model.artifact(command, model.gguf), ids)
        note, other = close(answer, exact, F32_BOUND), model.answer(command, model.folder, ids)
        return note if model.rounds_in_gguf else note + ", " + same_bits(answer, other)

    def threads():
        folder = model.code(command, model.folder)
        return same_bits(command.logits(folder, ids, ["-t", "2"]), command.logits(folder, ids, ["-t", "1"]))

    report.check(label + " logits", logits)
    report.check(label + " greedy", lambda: equal_greedy(command, model.code(command, model.folder), *model.greedy()))
    report.check(label + " gguf", gguf)
    report.check(label + " gguf greedy", lambda:
                 equal_greedy(command, model.artifact(command, model.gguf), *model.greedy()))
    report.check(label + " threads", threads)


def equal_greedy(command, path, prompt, expected):
    answer = command.run(path, prompt, len(expected))
    if answer["ids"] != expected:
        equal = agreeing(answer["ids"], expected)
        raise Failure("the first %d of %d ids are equal, then %s instead of %s"
                      % (equal, len(expected), answer["ids"][equal:equal + 3],
                         expected[equal:equal + 3]))
    if answer["finish_reason"] != "length":
        raise Failure("finish_reason is %r, want 'length'" % answer["finish_reason"])
    return "%d ids equal" % len(expected)


def agreeing(ids, expected):
    """How many ids from the start are equal."""
    count = 0
    while count < min(len(ids), len(expected)) and ids[count] == expected[count]:
        count += 1
    return count


def suite_f32(command, report, temp):
    for family in sorted(make_tiny.FAMILIES):
        f32_checks(command, report, temp, "f32/" + family, family)


def described_families(command, report, temp, suite, families):
    names = []
    for number, family in enumerate(sorted(families)):
        label = "%s/%s" % (suite, family)
        f32_checks(command, report, temp, label, family, dialect=("old", "new")[number % 2], quick=is_quick(number))
        artifact = os.path.join(temp, label.replace("/", "-") + ".gguf.llmir")
        if command.batch_tests and os.path.exists(artifact):
            os.link(artifact, os.path.join(temp, family + ".llmir"))
            names.append(family)
    if names:
        report.check(suite + " in company", lambda: in_company(command, temp, names))


def suite_dense(command, report, temp):
    described_families(command, report, temp, "dense", make_families.FAMILIES)
    report.check("dense/gemma3 as the text part of a multimodal model",
                 lambda: text_part(command, temp, "gemma3", "vision_tower.embedding.weight"))
    report.check("dense/gemma4_shared as the text part of a multimodal model",
                 lambda: text_part(command, temp, "gemma4_shared", "model.embed_vision.embedding_projection.weight",
                                   "language_model.model.layers.7.self_attn.k_proj.weight"))  # of the shared cache
    for family in ("gemma4", "gemma4_shared"):
        report.check("dense/%s q8_0" % family, lambda: in_blocks(command, temp, family, "q8_0"))
        f32_checks(command, report, temp, "dense/%s longer than a step" % family, family, quick=is_quick(1), **LONG)


def suite_experts(command, report, temp):
    described_families(command, report, temp, "experts", make_experts.FAMILIES)
    for number, gguf_type in enumerate(BLOCKS_OF_EXPERTS):
        family = ("mixtral", "qwen2_moe")[number % 2]
        report.check("experts/%s %s" % (family, gguf_type), lambda: in_blocks(command, temp, family, gguf_type))
    for family in ("deepseek_v3", "mistral4"):
        report.check("experts/%s q8_0" % family, lambda: in_blocks(command, temp, family, "q8_0"))
    report.check("experts/deepseek_v3 fp8 blocks", lambda: in_quantized(command, temp, "deepseek_v3", "fp8 blocks"))
    for method in sorted(quantized.CONFIGS):
        report.check("experts/qwen3_moe " + method,
                     lambda: in_quantized(command, temp, "qwen3_moe", method, head_dim=32))
    report.check("experts/gpt_oss MXFP4", lambda: gpt_oss_mxfp4(command, temp))
    report.check("experts/gpt_oss bf16", lambda: gpt_oss_bf16(command, temp))
    f32_checks(command, report, temp, "experts/gpt_oss longer than a step", "gpt_oss", quick=is_quick(1), **LONG)
    f32_checks(command, report, temp, "experts/llama4 longer than a step", "llama4", chunk=160, quick=is_quick(1), **LONG)
    f32_checks(command, report, temp, "experts/llama4 without norms", "llama4", experts=128, qk_norm=False, layers=4)
    report.check("experts/llama4 as the text part of a multimodal model",
                 lambda: text_part(command, temp, "llama4", "vision_model.class_embedding"))
    report.check("experts/mistral4 as the text part of a multimodal model",
                 lambda: text_part(command, temp, "mistral4", "vision_tower.embedding.weight"))


def suite_hybrid(command, report, temp):
    described_families(command, report, temp, "hybrid", make_hybrid.FAMILIES)


def text_part(command, temp, family, *others):
    config, weights = make_tiny.make(family)
    ids = [int(i) for i in np.random.RandomState(0).randint(0, config.vocab, TOKENS)]
    folder = os.path.join(temp, "dense-%s-part" % family)
    whole = {"mistral4": "mistral3"}.get(family, family.split("_")[0])
    write_part(folder, config, weights, whole, others)
    return close(command.logits(folder, ids), Model(config, weights).forward(ids), F32_BOUND)


def write_part(folder, config, weights, model_type, others):
    """Tensors have a prefix, those of the other parts and other unused ones are ignored, and config.json nests the text's."""
    make_tiny.write_hf(folder, config, weights)
    path = os.path.join(folder, "config.json")
    with open(path, encoding="utf-8") as stream:
        text = json.load(stream)
    with open(path, "w", encoding="utf-8") as stream:
        json.dump({"model_type": model_type, "text_config": text, "vision_config": {}}, stream)
    tensors = {"language_model." + name: formats.encode("f32", values) for name, values in weights.items()}
    tensors.update((name, formats.encode("f32", np.zeros((3, 4)))) for name in others)
    safetensors.write_folder(folder, tensors, 1)


COMPANY = ("BatchInvariance.InOnePiece", "BatchInvariance.InPieces", "BatchInvariance.TokenByTokenAfterAPrompt",
           "BatchInvariance.FiveAtOnceInAnyOrder", "EngineInvariance.GivesTheTokensOfARequestAlone",
           "EngineInvariance.ContinuesAConversation")


def in_company(command, temp, names):
    """The artifacts give the same bits for a text in one piece, in pieces, and in a batch."""
    done = subprocess.run(
        [command.batch_tests, "--gtest_brief=1", "--gtest_filter=" +
         ":".join("Decoders/%s/*_3threads" % test for test in COMPANY)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=command.timeout,
        env=dict(command.environment, LLMIR_BATCH_MODELS=temp, LLMIR_BATCH_DECODERS=" ".join(names)))
    text = done.stdout.decode("utf-8", "replace")
    if done.returncode or "%d tests" % (len(COMPANY) * len(names)) not in text:
        raise Failure(text[-2000:])
    return "%d models, %s" % (len(names), ", ".join(COMPANY))


def suite_families(command, report, temp):
    linear, llama3 = make_tiny.LINEAR_SCALING, make_tiny.LLAMA3_SCALING
    variants = [
        ("llama odd sizes", "llama", dict(odd=True)),
        ("llama3 odd sizes", "llama3", dict(odd=True, head_dim=6, heads=7, kv_heads=1)),
        ("qwen2 odd sizes", "qwen2", dict(odd=True, intermediate=97, vocab=131)),
        ("qwen3 odd sizes", "qwen3", dict(odd=True)),
        ("gpt2 odd sizes", "gpt2", dict(odd=True)),
        ("gpt2 untied, 2 shards", "gpt2", dict(tied=False, shards=2, intermediate=97)),
        ("gpt2 longer than a step", "gpt2", LONG),
        ("llama smallest", "llama", dict(layers=1, hidden=5, intermediate=3, heads=1, kv_heads=1,
                                         head_dim=2, vocab=33)),
        ("llama tied", "llama", dict(tied=True)),
        ("llama biases", "llama", dict(attention_bias=True, mlp_bias=True)),
        ("llama linear scaling", "llama", dict(rope_scaling=linear)),
        ("llama3 factor 32, tied, new dialect", "llama3",
         dict(tied=True, dialect="new", rope_scaling=dict(llama3, factor=32.0))),
        ("tinyllama 3 shards", "tinyllama", dict(shards=3)),
        ("qwen2 untied, new dialect, 2 shards", "qwen2",
         dict(tied=False, dialect="new", shards=2)),
        ("qwen3 untied, new dialect", "qwen3", dict(tied=False, dialect="new")),
        ("qwen3 biases", "qwen3", dict(attention_bias=True)),
        ("llama3 longer than a step", "llama3", LONG),
    ]
    for number, (name, family, options) in enumerate(variants):
        f32_checks(command, report, temp, "families/" + name, family, quick=is_quick(number), **options)


def suite_formats(command, report, temp):
    numbers = itertools.count()

    def check(label, family, **options):
        format_checks(command, report, temp, label, family, quick=is_quick(next(numbers)), **options)

    for family in sorted(make_tiny.FAMILIES):
        is_whole = family not in SAME_ARCHITECTURE or os.environ.get("LLMIR_LONG_TESTS")
        for dtype in ("bf16", "f16") if is_whole else ("bf16",):
            check("formats/%s %s" % (family, dtype), family, dtype=dtype)
        for gguf_type in ("q8_0", "q4_0") if is_whole else ():
            check("formats/%s %s" % (family, gguf_type), family, gguf_type=gguf_type)
    check("formats/llama bf16 odd sizes", "llama", dtype="bf16", odd=True)
    check("formats/gpt2 bf16 odd sizes", "gpt2", dtype="bf16", odd=True)
    check("formats/qwen3 f16 odd sizes", "qwen3", dtype="f16", odd=True)
    for gguf_type in ("q8_0", "q4_0"):  # rows of 172 remain f16
        check("formats/llama %s mixed" % gguf_type, "llama", gguf_type=gguf_type, intermediate=172, vocab=259)
    for gguf_type in ("f64", "q4_1", "q5_0", "q5_1", "iq4_nl", "mxfp4"):
        check("formats/llama %s" % gguf_type, "llama", gguf_type=gguf_type)
    for gguf_type in ("q2_k", "q3_k", "q4_k", "q5_k", "q6_k", "q4_k_m", "iq4_xs", "iq3_s", "iq3_xxs",
                      "iq2_s", "iq2_xs", "iq2_xxs", "iq1_m", "iq1_s", "tq1_0", "tq2_0", "mix"):
        # Rows of 256 values.
        check("formats/llama3 %s" % gguf_type, "llama3", gguf_type=gguf_type, hidden=256, intermediate=512,
              layers=4 if gguf_type == "q4_k_m" else 2, head_dim=32)
    kv_checks(command, report, temp)


def format_checks(command, report, temp, label, family, **options):
    """The checks of a model whose weights are not float32; KV is bf16, the choice of `--kv auto`."""
    if report.only and not any(report.only in label + name for name in (" logits", " bits")):
        return
    model = TinyModel(temp, label, family, **options)
    ids, exact, rounded = model.input("bf16")

    def logits():
        return close_rounded(model.answer(command, model.gguf, ids), exact, rounded)

    def bits():
        return same_bits(model.answer(command, model.folder, ids),
                         model.answer(command, model.gguf, ids))

    report.check(label + " logits", logits)
    if "gguf_type" not in options:
        report.check(label + " bits", bits)


def close_rounded(answer, exact, rounded):
    note = close(answer, exact, ROUNDED_FACTOR * nmse(rounded, exact))
    lead = clear_lead(rounded, exact)
    lost = lost_leads(answer, exact, lead)
    if lost:
        raise Failure("%s, but another id leads at positions %s" % (note, lost[:8]))
    clear = np.count_nonzero(top_two_margin(exact) > lead)
    return note + ", %d leads above %.2g kept" % (clear, lead)


def kv_checks(command, report, temp):
    """--kv selects the type for any weights."""
    for weights, kv in (("bf16", "f32"), ("f16", "f32"), ("q8_0", "f32"), ("q4_0", "f32"),
                        ("f32", "bf16"), ("f32", "f16"), ("bf16", "f16"), ("bf16", "bf16")):
        label = "formats/llama3 %s --kv %s" % (weights, kv)
        if report.only and report.only not in label:
            continue
        blocks = weights in ("q8_0", "q4_0")
        model = TinyModel(temp, label, "llama3",
                          **({"gguf_type": weights} if blocks else {"dtype": weights}))

        def check():
            ids, exact, rounded = model.input(kv)
            answer = command.logits(model.gguf, ids, ["--kv", kv])
            if kv == "f32" and weights == "f16":  # nothing is rounded below float32
                return close(answer, exact, F32_BOUND)
            return close_rounded(answer, exact, rounded)

        report.check(label, check)


class QuantizedModel(TinyModel):
    """A model of llama3's architecture whose linear layers are quantized by a method; the rest is f16."""

    def __init__(self, temp, label, method):
        config, weights = make_tiny.make("llama3", dtype="f16", layers=2, hidden=256, intermediate=512, head_dim=32)
        self.folder = os.path.join(temp, label.replace("/", "-").replace(" ", "-"))
        self.tokens, self.quick, self.answers = TOKENS, False, {}
        make_tiny.write_hf(self.folder, config, weights, "f16")
        stored = quantized.write_folder(self.folder, weights, method, "f16")
        self.reference = Model(config, weights, stored)


def suite_quantized(command, report, temp):
    for method in sorted(quantized.CONFIGS):
        label = "quantized/" + method

        def check():
            model = QuantizedModel(temp, label, method)
            ids, exact, rounded = model.input("bf16")
            return close_rounded(model.answer(command, model.folder, ids), exact, rounded)

        report.check(label, check)


def suite_real(command, report, temp):
    stories = os.path.join(TEST_DATA, "models", "stories260K")

    def stories_check(name, path, expected, kv, *flags):
        report.check("real/stories260K " + name, lambda: expected_ids(
            command, os.path.join(stories, path), os.path.join(stories, expected), kv, flags))

    stories_check("safetensors", "hf", "expected.jsonl", "f32")
    for kind in ("f32", "f16", "q8", "q4"):
        file, expected = "stories260K-%s.gguf" % kind, "stories260K-%s.expected.jsonl" % kind
        stories_check("gguf %s --kv f32" % kind, file, expected, "f32", "--kv", "f32")
        if kind != "f32":
            stories_check("gguf %s" % kind, file, expected, "bf16")
    report.check("real/minimind2-small", lambda: minimind(command, temp))
    nano_sort = os.path.join(TEST_DATA, "models", "gpt-nano-sort")
    report.check("real/gpt-nano-sort logits", lambda: nano_sort_logits(command, nano_sort))
    report.check("real/gpt-nano-sort sorts", lambda: nano_sort_ids(command, nano_sort))


def minimind(command, temp):
    source = os.path.join(TEST_DATA, "models", "minimind2-small")
    folder = os.path.join(temp, "minimind2-small")
    if not os.path.isdir(source):
        raise Skip("no directory %s (set LLMIR_TEST_DATA)" % source)
    os.makedirs(folder)
    for name in os.listdir(source):
        if name.endswith(".json"):
            shutil.copy(os.path.join(source, name), folder)
    with lzma.open(os.path.join(source, "model.safetensors.xz")) as packed, \
            open(os.path.join(folder, "model.safetensors"), "wb") as stream:
        shutil.copyfileobj(packed, stream)
    return expected_ids(command, folder, os.path.join(source, "expected.jsonl"), "f32")


def nano_sort_logits(command, folder):
    """The logits equal those computed by PyTorch."""
    path = os.path.join(folder, "gpt-nano-sort-t0-partials.json")
    if not os.path.exists(path):
        raise Skip("no %s (set LLMIR_TEST_DATA)" % path)
    with open(path, encoding="utf-8") as stream:
        tensors = json.load(stream)

    def tensor(name):
        data = base64.b64decode(tensors[name]["data"])
        return np.frombuffer(data, "<f4").reshape(tensors[name]["shape"])

    return ", ".join(close(command.logits(os.path.join(folder, "hf"), ids.astype(int).tolist()),
                           logits.astype(np.float64), F32_BOUND)
                     for ids, logits in zip(tensor("idx"), tensor("lm_head")))


def nano_sort_ids(command, folder):
    """Every 40th of the 729 inputs is sorted."""
    path = os.path.join(folder, "expected.jsonl")
    if not os.path.exists(path):
        raise Skip("no %s (set LLMIR_TEST_DATA)" % path)
    with open(path, encoding="utf-8") as stream:
        lines = [json.loads(line) for line in stream][::40]
    for line in lines:
        equal_greedy(command, os.path.join(folder, "hf"), line["prompt_ids"], line["output_ids"])
    return "%d inputs" % len(lines)


def rounding_lead(path, kv, texts):
    """A lead that rounding cannot overturn in these texts, according to the rounded reference."""
    model, most = load(path), F32_LEAD
    if kv == "f32" and not set(model.formats.values()) - {"f32", "f16"}:
        return most  # nothing is rounded below float32
    for text in texts:
        most = max(most, clear_lead(model.forward(text, compiled(kv)), model.forward(text)))
    return most


def expected_ids(command, path, expected_file, kv, flags=()):
    """Greedy ids are the expected ones unless the lead of the expected id is so small that rounding
    can overturn it; decoding then continues with the expected id."""
    if not os.path.exists(path):
        raise Skip("no %s (set LLMIR_TEST_DATA)" % path)
    with open(expected_file, encoding="utf-8") as stream:
        lines = [json.loads(line) for line in stream]
    lead = rounding_lead(path, kv, [line["prompt_ids"] + line["output_ids"] for line in lines[:3]])
    total = forced = 0
    for number, line in enumerate(lines):
        expected, margins, done = line["output_ids"], line["margins"], 0
        while done < len(expected):
            answer = command.run(path, line["prompt_ids"] + expected[:done],
                                 len(expected) - done, flags)
            done += agreeing(answer["ids"], expected[done:])
            if done == len(expected):
                break
            if margins[done] > lead:
                raise Failure("line %d: id %d of %d differs, where the expected one leads by %.4f"
                              % (number + 1, done, len(expected), margins[done]))
            done, forced = done + 1, forced + 1
        total += len(expected)
    return "%d ids in %d texts, %d of them put in place at leads up to %.2g" % (
        total, len(lines), forced, lead)


SUITES = {"f32": suite_f32, "dense": suite_dense, "experts": suite_experts, "hybrid": suite_hybrid,
          "families": suite_families, "embeddings": embeddings.suite_embeddings,
          "formats": suite_formats, "quantized": suite_quantized, "real": suite_real}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--llmir", default=os.path.join(ROOT, "build", "bin", "llmir"),
                        help="the command to test (default build/bin/llmir)")
    parser.add_argument("--suite", choices=list(SUITES) + ["all"], default="all")
    parser.add_argument("--filter", metavar="TEXT", help="only checks whose name contains this")
    parser.add_argument("--keep", metavar="DIR", help="make the models here and leave them")
    parser.add_argument("--timeout", type=int, default=300, metavar="S",
                        help="seconds for one command (default 300)")
    parser.add_argument("--verbose", action="store_true", help="print each command")
    parser.add_argument("--batch-tests", metavar="PROGRAM",
                        help="suites dense, experts and hybrid: llmir-batch-tests, which runs the compiled models in batches")
    options = parser.parse_args()
    if not os.path.isfile(options.llmir) or not os.access(options.llmir, os.X_OK):
        print("compare.py: no command %s; build it, or name it with --llmir" % options.llmir,
              file=sys.stderr)
        return 2
    temp = options.keep or tempfile.mkdtemp(prefix="llmir-compare-")
    os.makedirs(temp, exist_ok=True)
    report = Report(options.filter)
    try:
        command = Command(os.path.abspath(options.llmir), temp, options.verbose, options.timeout,
                          options.batch_tests)
        for name in SUITES if options.suite == "all" else [options.suite]:
            SUITES[name](command, report, temp)
    finally:
        if not options.keep:
            shutil.rmtree(temp)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
