#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""--quantize and --recipe: logits against the float64 model with the same integers, and the demo model's text.

    quantized.py --work DIR --llmir PROGRAM --model DIR [GROUP]...

Groups: logits, recipes, demo; by default all.
"""

import json
import os
import re
import struct
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference"))
from checks import Checks, Command, fresh_folder, quick_level, work_parser  # noqa: E402
from llmref import Model, Rounding, compiled, nmse  # noqa: E402
from llmref.quantize import quantized_by, quantized_projections  # noqa: E402
from make_tiny import make, write_gguf, write_hf  # noqa: E402

EXACT = 1e-10  # NMSE of f32 arithmetic with equal integers.
FLIPS = 1e-6   # If some f32 and float64 inputs round to different bytes.
INT8_INPUTS = 2e-3  # If the reference does not round inputs.

# Maximum increase of the bits per byte of held-out text.
MOST_LOST_BITS = {"q8": 0.002, "int8:g32:a32": 0.002, "q4": 0.02}
HELD_OUT = 8000  # Size of that text in bytes.
# Schemes that are also compiled for the level of this CPU: one for each kind of int8 products, and one without.
NATIVE = ("int4:g64:asym:a32", "int8", "q8", "int4:g128:asym")
LEVELS = ("x86-64-v3", "x86-64-v3-vnni", "x86-64-v4", "x86-64-v4-vnni", "x86-64-v4-bf16")

check = Checks(shows_all=True)


def quantized_model(config, weights, scheme):
    formats = {name: "f32" for name in weights}
    return Model(config, *quantized_projections(weights, formats, scheme))


def rounding_of(scheme):
    """Inputs in int8 unless the scheme specifies f32; results are exact."""
    return Rounding(inputs={} if scheme.endswith(":a32") else compiled("f32").inputs)


def logits_of(llmir, model, ids, *flags, level=None):
    """The logits of a model that is compiled with a cache of f32."""
    artifact, out = model + ".llmir", model + ".npy"
    llmir("compile", model, "-o", artifact, "--kv", "f32", "--target", level or quick_level(), *flags)
    llmir("perplexity", artifact, "--ids", ",".join(map(str, ids)), "--logits", out)
    return np.load(out)


def check_logits(llmir, work):
    # Biases, shared key heads; rows are whole groups of 128.
    config, weights = make("qwen2", hidden=128, intermediate=256, head_dim=32, layers=2)
    folder, ids = os.path.join(work, "tiny"), list(range(3, 40))
    write_hf(folder, config, weights)
    plain = Model(config, weights).forward(ids)
    for scheme in ("int8:asym:a32", "int8:g32:a32", "int4:a32", "int4:g64:asym:a32", "int8",
                   "int8:asym", "q8", "q4", "q4:plain-head", "int4:g32", "int4:g64",
                   "int4:g64:plain-head", "int8:g128", "int4:g128:asym"):
        expected = quantized_model(config, weights, scheme).forward(ids, rounding_of(scheme))
        bound = EXACT if scheme.endswith(":a32") else FLIPS
        for level in ("native", quick_level()) if scheme in NATIVE else (quick_level(),):
            logits = logits_of(llmir, folder, ids, "--quantize", scheme, level=level)
            error = nmse(logits, expected)
            check("logits with %s at %s" % (scheme, level), error <= bound, "nmse %.2g" % error)
        # The test detects whether anything was quantized.
        check("%s is not the plain model" % scheme, nmse(logits, plain) > 100 * bound,
              "nmse %.2g" % nmse(logits, plain))


def check_blocks(llmir, work):
    """--quantize q8 of a directory is bit-identical to a Q8_0 file of the same weights."""
    # GPT-2's matrices are columns in the directory, and three of them one tensor.
    for family in ("qwen2", "gpt2"):
        config, weights = make(family, hidden=128, intermediate=256, head_dim=32, tied=True)
        folder = os.path.join(work, family + "-tied")
        file = folder + "-q8_0.gguf"
        write_hf(folder, config, weights)
        write_gguf(file, config, weights, "q8_0")
        logits = [logits_of(llmir, model, [3, 1, 4, 1, 5, 9, 2, 6], "--quantize", scheme)
                  for model, scheme in ((folder, "q8"), (file, "none"), (folder, "q8:plain-head"))]
        check("%s: q8 is a Q8_0 file" % family, logits[0].tobytes() == logits[1].tobytes())
        check("%s: plain-head leaves the head alone" % family,
              logits[0].tobytes() != logits[2].tobytes())
    # Rows of 144 are not whole blocks: those of down_proj are not quantized.
    config, weights = make("llama", hidden=64, intermediate=144, head_dim=32)
    folder, ids = os.path.join(work, "uneven"), [3, 1, 4, 1, 5]
    write_hf(folder, config, weights)
    error = nmse(logits_of(llmir, folder, ids, "--quantize", "q4"),
                 quantized_model(config, weights, "q4").forward(ids, rounding_of("q4")))
    check("rows that are no blocks stay", error <= FLIPS, "nmse %.2g" % error)


def check_experts(llmir, work):
    """Matrices of experts are blocks, or stay as they are. Inputs are rounded to int8, which changes the experts of
    some tokens, so that only the median of the positions' errors is bounded."""
    config, weights = make("qwen3_moe", hidden=128, expert_inner=64, head_dim=32, layers=2)
    folder, ids = os.path.join(work, "experts"), list(range(3, 40))
    write_hf(folder, config, weights)
    formats = {name: "f32" for name in weights}

    def median(answer, exact):
        return float(np.median([nmse(a, e) for a, e in zip(answer, exact)]))

    rules = [("head", "none"), ("*.down_proj.*", "q8"), ("*.experts.*", "q4"), ("*", "none")]
    for title, flags, rules in (("--quantize q4", ("--quantize", "q4"), [("head", "q8"), ("*", "q4")]),
                                ("a recipe", ("--recipe", ",".join("%s=%s" % rule for rule in rules)), rules)):
        expected = Model(config, *quantized_by(weights, formats, rules)).forward(ids)
        for level in ("native", quick_level()):
            error = median(logits_of(llmir, folder, ids, *flags, level=level), expected)
            check("experts with %s at %s" % (title, level), error <= INT8_INPUTS, "median nmse %.2g" % error)
        changed = median(Model(config, weights).forward(ids), expected)
        check("experts with %s differ" % title, changed > 10 * error, "median nmse %.2g" % changed)

    # Values of blocks of Q8_0 are rounded to themselves.
    only, plain = ("--recipe", "*.experts.*=q8"), logits_of(llmir, folder, ids)
    logits = logits_of(llmir, folder, ids, *only)
    rounded = quantized_by(weights, formats, [("*.experts.*", "q8")])[0]
    write_hf(folder, config, {name: np.float32(values) for name, values in rounded.items()})
    check("experts in q8 are those of Q8_0", logits.tobytes() == logits_of(llmir, folder, ids, *only).tobytes()
          and logits.tobytes() != plain.tobytes())
    said = llmir.run("compile", folder, "-o", os.path.join(work, "x"), "--quantize", "int8",
                     "--stop-after", "frontend")
    check("integers leave experts", said.code == 0 and "3 of experts not quantized" in said.out + said.err, said)
    refused = llmir.run("compile", folder, "-o", os.path.join(work, "x"), "--recipe", "*=int4:g32")
    check("integers for experts are refused", refused.code == 1 and "support q8, q4 or none" in refused.err, refused)


RULES = [("head", "q8"), ("*.layers.0.*", "none"), ("*.down_proj.*", "int8:g64"),
         ("*.mlp.*", "int4:g32:asym"), ("*.k_proj.weight", "int8:a32"), ("*", "q4")]


def check_recipes(llmir, work):
    """A scheme for each part of a model, from the command line and from a file."""
    config, weights = make("qwen2", hidden=128, intermediate=256, head_dim=32, layers=2, tied=True)
    folder, file = os.path.join(work, "mixed"), os.path.join(work, "recipe.txt")
    write_hf(folder, config, weights)
    with open(file, "w", encoding="utf-8") as stream:
        stream.write("# Layers differ.\n" + "".join("%s = %s  # so\n" % rule for rule in RULES))
    ids = list(range(5, 30))
    logits = [logits_of(llmir, folder, ids, "--recipe", recipe, level=level)
              for recipe, level in ((",".join("%s=%s" % rule for rule in RULES), "native"), (file, quick_level()))]
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
    check("the traced model has the annotations",
          shown.count("sym_per_block, bits = 4, block = 128>") == 14
          and shown.count("#mllm.quant<q8_0, ") == 1)
    for recipe, words in (("*.mlp.*=int5:g32", "is not supported"), ("*.attention.*=q8", "no projection"),
                          ("*=q8,*.mlp.*=q4", "has no effect"), ("*=fine", "invalid scheme"),
                          ("*=int8", "also an embedding table"), ("head=", "PATTERN=SCHEME"),
                          ("head=int4:tensor,*=q8", "also an embedding table"),
                          (os.path.join(work, "nowhere"), "nowhere")):
        refused = llmir.run("compile", folder, "-o", os.path.join(work, "x"), "--recipe", recipe)
        # Errors of a recipe that do not depend on the model are wrong usage.
        code = 2 if words in ("invalid scheme", "PATTERN=SCHEME") else 1
        check("--recipe %s is refused" % recipe, refused.code == code and words in refused.err
              and "loc(" not in refused.err and len(refused.err.strip().split("\n")) == 1, refused)
    both = llmir.run("compile", folder, "-o", os.path.join(work, "x"), "--recipe", "*=q8",
                     "--quantize", "q8")
    check("one of --recipe and --quantize", both.code != 0 and "--recipe" in both.err, both)


# XXH3 of the weight sections, computed before recipes existed. A different order of packing,
# rounding or selection of weights changes them.
WEIGHTS = {
    ("llama", "none"): 0x6b86f5014a6d65bc, ("llama", "q8"): 0xbfb28b390124ecc7,
    ("llama", "q4:plain-head"): 0xc88ef83df88548b, ("llama", "int8"): 0x90624bfc052b0ca5,
    ("llama", "int8:asym:a32"): 0x9eabecf6b66b4786,
    ("llama", "int4:g128:asym"): 0x62836dde3ccdd467,
    ("qwen2", "q8"): 0xd43b909a42d56f90, ("qwen2", "int4:g64"): 0x7bb4486ff5ee367a,
    ("qwen2", "int4:g32:plain-head"): 0x8cdc2a4fcab5b7c5,
    ("gpt2", "q4"): 0xd07fedbb91df27f9, ("gpt2", "int4:g128:asym"): 0xb0d031c3e7017b42,
}
WEIGHT_SECTION = 3  # See ArtifactFormat.h: a header of 64 bytes, then entries of 40.


def weights_checksum(path):
    with open(path, "rb") as stream:
        page = stream.read(4096)
    for place in range(64, len(page), 40):
        section, _, _, _, _, checksum = struct.unpack_from("<IIQQQQ", page, place)
        if section == WEIGHT_SECTION:
            return checksum
    raise SystemExit(path + " has no weights")


def check_weights(llmir, work):
    """Weights stored by --quantize are bit-identical across versions."""
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

    artifacts, bits = {}, {}
    for scheme in ["none"] + sorted(MOST_LOST_BITS):
        artifacts[scheme] = os.path.join(work, scheme.replace(":", "-") + ".llmir")
        llmir("compile", model, "-o", artifacts[scheme], "--quantize", scheme)
        answer = llmir("perplexity", artifacts[scheme], "-f", excerpt, "--json")
        bits[scheme] = json.loads(answer)["bits_per_byte"]
    for scheme, bound in sorted(MOST_LOST_BITS.items()):
        lost = bits[scheme] - bits["none"]
        check("bits per byte lost with %s" % scheme, lost <= bound, "%.5f of %.4f" % (lost, bits["none"]))
    answer = json.loads(llmir("run", artifacts["q4"], "In the beginning", "-n", "40", "--temp", "0", "--json"))
    check("q4 writes text", len(answer["ids"]) == 40 and len(answer["text"]) > 40, answer["text"])
    sizes = {scheme: os.path.getsize(path) for scheme, path in artifacts.items()}
    check("fewer bits are fewer bytes", sizes["q4"] < 0.8 * sizes["q8"] < 0.6 * sizes["none"],
          sizes)
    late = llmir.run("run", artifacts["q8"], "x", "--quantize", "q4")
    check("an artifact is not quantized", late.code == 1 and "already compiled" in late.err, late)


def check_levels(llmir, work):
    """Results are bitwise equal for any level and number of threads. Levels that this processor does not
    support are only compiled."""
    config, weights = make("llama", hidden=128, intermediate=160, head_dim=32)
    folder, artifact = os.path.join(work, "levels"), os.path.join(work, "level.llmir")
    write_hf(folder, config, weights)
    out, expected, compared = os.path.join(work, "logits.npy"), None, 0
    for level in LEVELS:
        llmir("compile", folder, "-o", artifact, "--quantize", "q4", "--target", level)
        for threads in ("1", "2"):
            result = llmir.run("perplexity", artifact, "--ids", "5,6,7,8,9", "--logits", out,
                               "-t", threads)
            if re.search(r"this processor .*lacks", result.err):
                continue
            if result.code:
                raise SystemExit(repr(result))
            logits = np.load(out)
            if expected is None:
                expected = logits
            check("logits at %s with %s threads" % (level, threads),
                  logits.tobytes() == expected.tobytes())
            compared += 1
    check("levels were compared", compared >= 2, compared)


def check_cache(llmir, work):
    config, weights = make("llama", hidden=128, intermediate=160, head_dim=32)
    model = os.path.join(work, "cached")
    write_hf(model, config, weights)
    first = json.loads(llmir("run", model, "--prompt-ids", "1,2", "-n", "1", "--quantize", "int4",
                             "--json"))
    other = json.loads(llmir("run", model, "--prompt-ids", "1,2", "-n", "1", "--quantize",
                             "int4:a32", "--json"))
    again = json.loads(llmir("run", model, "--prompt-ids", "1,2", "-n", "1", "--quantize", "int4",
                             "--json"))
    check("each scheme has its entry in the cache",
          first["timings"]["compile_ms"] > 0 and other["timings"]["compile_ms"] > 0
          and again["timings"]["compile_ms"] == 0)
    for name in ("q3", "int8:g48", "int4:g32:g64", "int16", "q8:", ":a8", "int8:f16", "q4:a8",
                 "int8:plain-head:plain-head"):
        refused = llmir.run("compile", model, "-o", os.path.join(work, "x"), "--quantize", name)
        check("--quantize %s is refused" % name, refused.code == 2 and name in refused.err
              and "choose none, q8" in refused.err, refused)


def main():
    parser = work_parser(__doc__, "llmir", "model")
    parser.add_argument("groups", nargs="*", metavar="GROUP")
    options = parser.parse_args()
    fresh_folder(options.work)
    llmir = Command(options.llmir, os.path.join(options.work, "cache"))
    groups = {"logits": (check_blocks, check_logits), "recipes": (check_recipes, check_experts, check_weights,
                                                                         check_cache),
              "demo": (lambda llmir, work: check_demo(llmir, options.model, work), check_levels)}
    for group in options.groups or groups:
        for part in groups[group]:
            part(llmir, options.work)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
