#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""--quantize and --recipe: logits against the float64 model with the same integers, and the demo model's text.

    quantized.py --work FOLDER --llmir PROGRAM --model FOLDER
"""

import argparse
import json
import os
import re
import shutil
import struct
import subprocess
import sys

from checks import Checks

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference"))
from llmref import Model, Rounding, compiled, nmse  # noqa: E402
from llmref.quantize import quantized_by, quantized_projections  # noqa: E402
from make_tiny import make, write_gguf, write_hf  # noqa: E402

EXACT = 1e-10  # NMSE of f32 arithmetic on equal integers.
FLIPS = 1e-6   # Where f32 and float64 inputs round to different bytes now and then.

# How far the bits per byte of held-out text may rise.
MOST_LOST_BITS = {"q8": 0.002, "int8:g32:a32": 0.002, "q4": 0.02}
HELD_OUT = 8000  # Bytes of it.
LEVELS = ("x86-64-v3", "x86-64-v3-vnni", "x86-64-v4", "x86-64-v4-vnni", "x86-64-v4-bf16")

check = Checks(shows_all=True)


class Command:
    def __init__(self, program, cache):
        self.program = program
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("LLMIR_")}
        self.environment["XDG_CACHE_HOME"] = cache

    def run(self, *arguments):
        return subprocess.run([self.program] + list(arguments), env=self.environment, timeout=600,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def __call__(self, *arguments):
        result = self.run(*arguments)
        if result.returncode:
            raise SystemExit("%s: exit code %d: %s" % (
                " ".join(arguments), result.returncode, result.stderr.decode("utf-8", "replace")))
        return result.stdout.decode("utf-8")


def quantized_model(config, weights, scheme):
    formats = {name: "f32" for name in weights}
    return Model(config, *quantized_projections(weights, formats, scheme))


def rounding_of(scheme):
    """Inputs in int8 unless the scheme says f32; results stay exact."""
    return Rounding(inputs={} if scheme.endswith(":a32") else compiled("f32").inputs)


def check_logits(llmir, work):
    # Biases, shared key heads; rows are whole groups of 128.
    config, weights = make("qwen2", hidden=128, intermediate=256, head_dim=32, layers=2)
    folder, ids = os.path.join(work, "tiny"), list(range(3, 40))
    write_hf(folder, config, weights)
    text = ",".join(map(str, ids))
    plain = Model(config, weights).forward(ids)
    for scheme in ("int8:asym:a32", "int8:g32:a32", "int4:a32", "int4:g64:asym:a32", "int8",
                   "int8:asym", "q8", "q4", "q4:plain-head", "int4:g32", "int4:g64",
                   "int4:g64:plain-head", "int8:g128", "int4:g128:asym"):
        out = os.path.join(work, "logits.npy")
        llmir("perplexity", folder, "--ids", text, "--kv", "f32", "--quantize", scheme,
              "--logits", out)
        logits = np.load(out)
        error = nmse(logits, quantized_model(config, weights, scheme).forward(
            ids, rounding_of(scheme)))
        bound = EXACT if scheme.endswith(":a32") else FLIPS
        check("logits with %s" % scheme, error <= bound, "nmse %.2g" % error)
        # The test sees whether anything was quantized.
        check("%s is not the plain model" % scheme, nmse(logits, plain) > 100 * bound,
              "nmse %.2g" % nmse(logits, plain))


def check_blocks(llmir, work):
    """--quantize q8 of a folder is what a Q8_0 file of the same weights is, to the bit."""
    # GPT-2's matrices are columns in the folder, and three of them one tensor.
    for family in ("qwen2", "gpt2"):
        config, weights = make(family, hidden=128, intermediate=256, head_dim=32, tied=True)
        folder = os.path.join(work, family + "-tied")
        file = folder + "-q8_0.gguf"
        write_hf(folder, config, weights)
        write_gguf(file, config, weights, "q8_0")
        logits = []
        for model, scheme in ((folder, "q8"), (file, "none"), (folder, "q8:plain-head")):
            out = os.path.join(work, "blocks.npy")
            llmir("perplexity", model, "--ids", "3,1,4,1,5,9,2,6", "--quantize", scheme, "--kv",
                  "f32", "--logits", out)
            logits.append(np.load(out))
        check("%s: q8 is a Q8_0 file" % family, logits[0].tobytes() == logits[1].tobytes())
        check("%s: plain-head leaves the head alone" % family,
              logits[0].tobytes() != logits[2].tobytes())
    # Rows of 144 are no whole blocks: those of down_proj stay as they are.
    config, weights = make("llama", hidden=64, intermediate=144, head_dim=32)
    folder, out = os.path.join(work, "uneven"), os.path.join(work, "blocks.npy")
    write_hf(folder, config, weights)
    llmir("perplexity", folder, "--ids", "3,1,4,1,5", "--quantize", "q4", "--kv", "f32",
          "--logits", out)
    error = nmse(np.load(out), quantized_model(config, weights, "q4").forward(
        [3, 1, 4, 1, 5], rounding_of("q4")))
    check("rows that are no blocks stay", error <= FLIPS, "nmse %.2g" % error)


RULES = [("head", "q8"), ("*.layers.0.*", "none"), ("*.down_proj.*", "int8:g64"),
         ("*.mlp.*", "int4:g32:asym"), ("*.k_proj.weight", "int8:a32"), ("*", "q4")]


def check_recipes(llmir, work):
    """A scheme for each part of a model, from the command line and from a file."""
    config, weights = make("qwen2", hidden=128, intermediate=256, head_dim=32, layers=2, tied=True)
    folder, artifact = os.path.join(work, "mixed"), os.path.join(work, "mixed.llmir")
    write_hf(folder, config, weights)
    file, out = os.path.join(work, "recipe.txt"), os.path.join(work, "mixed.npy")
    with open(file, "w", encoding="utf-8") as stream:
        stream.write("# Layers differ.\n" + "".join("%s = %s  # so\n" % rule for rule in RULES))
    logits, ids = [], list(range(5, 30))
    for recipe in (",".join("%s=%s" % rule for rule in RULES), file):
        llmir("compile", folder, "-o", artifact, "--recipe", recipe, "--kv", "f32")
        llmir("perplexity", artifact, "--ids", ",".join(map(str, ids)), "--logits", out)
        logits.append(np.load(out))
    formats = {name: "f32" for name in weights}
    expected = Model(config, *quantized_by(weights, formats, RULES)).forward(
        ids, Rounding(inputs=compiled("f32").inputs))
    error = nmse(logits[0], expected)
    check("a mixed recipe is what NumPy computes", error <= FLIPS, "nmse %.2g" % error)
    check("a file says the same", logits[0].tobytes() == logits[1].tobytes())
    for name, rule in (("without its head", 0), ("without its mlp", 3), ("without its rest", 5)):
        other = Model(config, *quantized_by(weights, formats, RULES[:rule] + RULES[rule + 1:]))
        error = nmse(logits[0], other.forward(ids, Rounding(inputs=compiled("f32").inputs)))
        check("which is not the recipe " + name, error > 100 * FLIPS, "nmse %.2g" % error)
    shown = llmir("compile", folder, "--emit", "mllm", "--recipe", "head=q8,*=int4:g128")
    check("the annotations stand in the traced model",
          shown.count("sym_per_block, bits = 4, block = 128>") == 14
          and shown.count("#mllm.quant<q8_0, ") == 1)
    for recipe, words in (("*.mlp.*=int5:g32", "no form for"), ("*.attention.*=q8", "no projection"),
                          ("*=q8,*.mlp.*=q4", "comes too late"), ("*=fine", "as a scheme"),
                          ("*=int8", "table of embeddings"), ("head=", "PATTERN=SCHEME"),
                          ("head=int4:tensor,*=q8", "table of embeddings"),
                          (os.path.join(work, "nowhere"), "nowhere")):
        refused = llmir.run("compile", folder, "-o", os.path.join(work, "x"), "--recipe", recipe)
        message = refused.stderr.decode("utf-8", "replace")
        check("--recipe %s is refused" % recipe, refused.returncode == 1 and words in message
              and len(message.strip().split("\n")) == 1, message)
    both = llmir.run("compile", folder, "-o", os.path.join(work, "x"), "--recipe", "*=q8",
                     "--quantize", "q8")
    check("one of --recipe and --quantize", both.returncode != 0 and b"--recipe" in both.stderr,
          both.stderr)


# XXH3 of the weight sections, of the compiler before recipes. Another order of packing, another
# rounding or another choice of weights changes them.
WEIGHTS = {
    ("llama", "none"): 0x6b86f5014a6d65bc, ("llama", "q8"): 0xbfb28b390124ecc7,
    ("llama", "q4:plain-head"): 0xc88ef83df88548b, ("llama", "int8"): 0x90624bfc052b0ca5,
    ("llama", "int8:asym:a32"): 0x9eabecf6b66b4786,
    ("llama", "int4:g128:asym"): 0x62836dde3ccdd467,
    ("qwen2", "q8"): 0xd43b909a42d56f90, ("qwen2", "int4:g64"): 0x7bb4486ff5ee367a,
    ("qwen2", "int4:g32:plain-head"): 0x8cdc2a4fcab5b7c5,
    ("gpt2", "q4"): 0xd07fedbb91df27f9, ("gpt2", "int4:g128:asym"): 0xb0d031c3e7017b42,
}
WEIGHT_SECTION = 3  # Of ArtifactFormat.h: after 64 bytes, entries of 40.


def weights_checksum(path):
    with open(path, "rb") as stream:
        page = stream.read(4096)
    for place in range(64, len(page), 40):
        section, _, _, _, _, checksum = struct.unpack_from("<IIQQQQ", page, place)
        if section == WEIGHT_SECTION:
            return checksum
    raise SystemExit(path + " has no weights")


def check_weights(llmir, work):
    """What --quantize stores stays the same to the bit."""
    artifact = os.path.join(work, "same.llmir")
    for (family, scheme), expected in sorted(WEIGHTS.items()):
        config, weights = make(family, hidden=128, intermediate=256, head_dim=32, layers=2,
                               tied=family != "llama")
        folder = os.path.join(work, "same-" + family)
        write_hf(folder, config, weights)
        llmir("compile", folder, "-o", artifact, "--quantize", scheme, "--target", "x86-64-v3")
        stored = weights_checksum(artifact)
        check("weights of %s with %s" % (family, scheme), stored == expected, "%#x" % stored)


def check_demo(llmir, model, work):
    excerpt = os.path.join(work, "excerpt.txt")
    with open(os.path.join(model, "heldout", "austen.txt"), encoding="utf-8") as stream:
        text = stream.read(HELD_OUT)
    with open(excerpt, "w", encoding="utf-8") as stream:
        stream.write(text)

    def bits(scheme):
        answer = llmir("perplexity", model, "-f", excerpt, "--quantize", scheme, "--json")
        return json.loads(answer)["bits_per_byte"]

    plain = bits("none")
    for scheme, bound in sorted(MOST_LOST_BITS.items()):
        lost = bits(scheme) - plain
        check("bits per byte lost with %s" % scheme, lost <= bound, "%.5f of %.4f" % (lost, plain))
    answer = json.loads(llmir("run", model, "In the beginning", "-n", "40", "--temp", "0",
                              "--quantize", "q4", "--json"))
    check("q4 writes text", len(answer["ids"]) == 40 and len(answer["text"]) > 40, answer["text"])


def check_levels(llmir, work):
    """Instructions and threads differ, bits do not. Levels that this processor lacks are only
    compiled for."""
    config, weights = make("llama", hidden=128, intermediate=160, head_dim=32)
    folder, artifact = os.path.join(work, "levels"), os.path.join(work, "level.llmir")
    write_hf(folder, config, weights)
    out, expected, compared = os.path.join(work, "logits.npy"), None, 0
    for level in LEVELS:
        llmir("compile", folder, "-o", artifact, "--quantize", "q4", "--target", level)
        for threads in ("1", "2"):
            result = llmir.run("perplexity", artifact, "--ids", "5,6,7,8,9", "--logits", out,
                               "-t", threads)
            if re.search(rb"this processor .*lacks", result.stderr):
                continue
            if result.returncode:
                raise SystemExit(result.stderr.decode("utf-8", "replace"))
            logits = np.load(out)
            if expected is None:
                expected = logits
            check("logits at %s with %s threads" % (level, threads),
                  logits.tobytes() == expected.tobytes())
            compared += 1
    check("levels were compared", compared >= 2, compared)


def check_artifacts(llmir, model, work):
    sizes = {}
    for scheme in ("none", "q8", "q4"):
        path = os.path.join(work, scheme + ".llmir")
        llmir("compile", model, "-o", path, "--quantize", scheme)
        sizes[scheme] = os.path.getsize(path)
    check("fewer bits are fewer bytes", sizes["q4"] < 0.8 * sizes["q8"] < 0.6 * sizes["none"],
          sizes)
    first = json.loads(llmir("run", model, "--prompt-ids", "1,2", "-n", "1", "--quantize", "int4",
                             "--json"))
    other = json.loads(llmir("run", model, "--prompt-ids", "1,2", "-n", "1", "--quantize",
                             "int4:a32", "--json"))
    again = json.loads(llmir("run", model, "--prompt-ids", "1,2", "-n", "1", "--quantize", "int4",
                             "--json"))
    check("each scheme has its entry in the cache",
          first["timings"]["compile_ms"] > 0 and other["timings"]["compile_ms"] > 0
          and again["timings"]["compile_ms"] == 0)
    late = llmir.run("run", os.path.join(work, "q8.llmir"), "x", "--quantize", "q4")
    check("an artifact is not quantized", late.returncode == 1
          and b"compiled already" in late.stderr, late.stderr)
    for name in ("q3", "int8:g48", "int4:g32:g64", "int16", "q8:", ":a8", "int8:f16", "q4:a8",
                 "int8:plain-head:plain-head"):
        refused = llmir.run("compile", model, "-o", os.path.join(work, "x"), "--quantize", name)
        check("--quantize %s is refused" % name, refused.returncode == 1
              and name.encode() in refused.stderr and b"choose none, q8" in refused.stderr,
              refused.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--work", "--llmir", "--model"):
        parser.add_argument(name, required=True)
    options = parser.parse_args()
    shutil.rmtree(options.work, ignore_errors=True)
    os.makedirs(options.work)
    llmir = Command(options.llmir, os.path.join(options.work, "cache"))
    check_blocks(llmir, options.work)
    check_logits(llmir, options.work)
    check_recipes(llmir, options.work)
    check_weights(llmir, options.work)
    check_demo(llmir, options.model, options.work)
    check_levels(llmir, options.work)
    check_artifacts(llmir, options.model, options.work)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
