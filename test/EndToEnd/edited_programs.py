#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs that are disassembled, edited, assembled and run on the same weights.

    edited_programs.py --work DIR --llmir PROGRAM --llmir-opt PROGRAM --llmir-translate PROGRAM
"""

import copy
import json
import os
import re
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "reference"))

import make_encoders  # noqa: E402
import make_tiny  # noqa: E402
from checks import Checks, Command, fresh_folder, quick_level, work_parser  # noqa: E402
from llmref import ops  # noqa: E402
from llmref.metrics import nmse  # noqa: E402
from llmref.model import Model  # noqa: E402

LAYERS = 3
IDS = [5, 3, 8, 250, 17, 99, 1, 64, 31, 7, 200, 12]
MOST_NMSE = 1e-8  # For f32 weights and cache.

check = Checks()


class Bench:
    def __init__(self, options):
        self.work, self.level = options.work, quick_level()
        self.llmir, self.opt = Command(options.llmir), Command(options.llmir_opt)
        self.translate = Command(options.llmir_translate)
        self.config, self.weights = make_tiny.make("llama3", layers=LAYERS)
        self.artifact = self.compile("model", self.config, self.weights)
        # In the MLLM text format, and as MLIR, the form of most edits here.
        self.notation = self.disassemble(self.artifact)
        self.text = self.as_mlir("notation", self.notation)

    def path(self, name):
        return os.path.join(self.work, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as stream:
            stream.write(text)
        return self.path(name)

    def disassemble(self, artifact):
        return self.translate("--disassemble-program", artifact)

    def as_mlir(self, name, text):
        return self.translate("--assemble-program", self.write(name + ".txt", text))

    def compile(self, name, config, weights):
        make_tiny.write_hf(self.path(name), config, weights)
        self.llmir("compile", self.path(name), "-o", self.path(name + ".llmir"), "--target", self.level)
        return self.path(name + ".llmir")

    def assemble(self, name, text, fails=False, artifact=None):
        """Compiles the text; returns the message if it must be rejected."""
        made = self.path(name + ".llmir")
        call = self.llmir.refuse if fails else self.llmir
        shown = call("compile", "--program", self.write(name + ".txt", text), "--weights-of",
                     artifact or self.artifact, "-o", made, "--target", self.level)
        return shown if fails else made

    def logits(self, artifact):
        name = artifact + ".npy"
        self.llmir("perplexity", artifact, "--ids", ",".join(map(str, IDS)), "--logits", name)
        return np.load(name)

    def reference(self, config=None, weights=None):
        return Model(config or self.config, weights or self.weights).forward(IDS)


def same(a, b):
    return a.shape == b.shape and a.tobytes() == b.tobytes()


def near(logits, expected):
    rows = min(len(logits), len(expected))
    return nmse(logits[:rows], expected[:rows]) <= MOST_NMSE


def check_round_trip(bench):
    check("the notation is the documents'", "prog.jump_next_layer" in bench.notation
          and "mllm.program" not in bench.notation, bench.notation[:300])
    check("MLIR read and written again is the same text",
          bench.as_mlir("whole", bench.text) == bench.text)
    emitted = bench.llmir("compile", bench.path("model"), "--emit", "program")
    check("taken apart and assembled, it is what the compiler wrote",
          emitted.strip() == bench.text.strip())
    original = bench.logits(bench.artifact)
    check("the original is the model", near(original, bench.reference()))
    made = bench.assemble("unchanged", bench.notation)
    # SPEC: 250
    check("an unchanged program gives the same bits", same(bench.logits(made), original))
    check("an assembled program can be taken apart", bench.disassemble(made) == bench.notation)
    check("MLIR text gives the same bits",
          same(bench.logits(bench.assemble("mlir", bench.text)), original))
    shown = bench.llmir("compile", "--program", bench.path("notation.txt"), "--weights-of",
                        bench.artifact, "--emit", "program")
    check("--emit program shows it as read", shown.strip() == bench.text.strip())


def check_layer_count(bench):
    edited = bench.notation.replace("limit:%d" % LAYERS, "limit:%d" % (LAYERS - 1))
    check("the text specifies the end of the layers", edited != bench.notation)
    fewer = copy.copy(bench.config)
    fewer.layers = LAYERS - 1
    weights = {name: values for name, values in bench.weights.items()
               if ".layers.%d." % (LAYERS - 1) not in name}
    logits = bench.logits(bench.assemble("fewer", edited))
    # SPEC: 252 255: the code fragment specifies the number of iterations over layers.
    check("one layer less is the model of one layer less",
          same(logits, bench.logits(bench.compile("fewer-model", fewer, weights))))
    check("and what NumPy computes", near(logits, bench.reference(fewer)))
    check("which is another result", not near(logits, bench.reference()))


def swap(values):
    values = list(values)
    values[0], values[1] = values[1], values[0]
    return values


def check_swapped_layers(bench):
    def swapped(match):
        sources = swap(match.group(1).split(", "))
        offsets = swap(match.group(2).split(", "))
        return "sources [%s] at [%s]" % (", ".join(sources), ", ".join(offsets))

    edited, count = re.subn(r"sources \[([^\]]*, [^\]]*)\] at \[([^\]]*)\]", swapped, bench.text)
    check("weights of layers are found", count == 9, count)
    weights = dict(bench.weights)
    for name in bench.weights:
        if name.startswith("model.layers.0."):
            other = name.replace(".0.", ".1.", 1)
            weights[name], weights[other] = bench.weights[other], bench.weights[name]
    logits = bench.logits(bench.assemble("swapped", edited))
    # SPEC: 253: the data fragment specifies the offsets of the weights of each layer.
    check("two layers change places", near(logits, bench.reference(weights=weights)))
    check("which is another result", not near(logits, bench.reference()))


def check_constant(bench):
    pattern = r"(kernel\.linear .*_swiglu\".*(?:\n.*){1,6}?arith\.constant )1\.000000e\+00"
    edited, count = re.subn(pattern, r"\g<1>2.000000e+00", bench.text)
    check("the constant of SiLU is found", count == 1, count)
    silu = ops.silu
    ops.silu = lambda x: np.asarray(x, np.float64) / (2.0 + np.exp(-np.asarray(x, np.float64)))
    expected = bench.reference()
    ops.silu = silu
    logits = bench.logits(bench.assemble("constant", edited))
    check("an element-wise constant changes what it must", near(logits, expected))
    check("which is another result", not near(logits, bench.reference()))


def check_fused(bench):
    text = bench.opt("--fuse-program-instructions", bench.path("whole.txt"))
    check("instructions are fused", re.search(r"kernel\.rope .*\n *mllm\.kernel\.", text))
    made = bench.assemble("fused", text)
    # SPEC: 251
    check("fused instructions give the same bits",
          same(bench.logits(made), bench.logits(bench.artifact)))
    sites = [json.loads(bench.llmir("inspect", each, "--json"))["artifact"]["sites"]
             for each in (made, bench.artifact)]
    check("and are profiled as before", sites[0] == sites[1] and len(sites[0]) > 20, sites)


def check_barriers(bench):
    # The compiler inserts them, in a text without barriers and in one with too many.
    none, removed = re.subn(r"    mllm\.program\.barrier(?: unless_decode| if_split)?\n", "", bench.text)
    marked = re.sub(r" per_worker(?: at \d+)?| replicated", "", none)
    many = bench.text.replace("    mllm.program.instruction", "    mllm.program.barrier\n    mllm.program.instruction")
    check("barriers are removed", removed > 5 and "barrier" not in none and marked != none, removed)
    for name, text in (("no barriers", marked), ("a barrier everywhere", many)):
        shown = bench.llmir("compile", "--program", bench.write("barriers.txt", text), "--weights-of",
                            bench.artifact, "--emit", "program")
        check(name + ": the compiler places them", shown.strip() == bench.text.strip(), shown)


def fixed_kernel(text):
    found = re.search(r"kernel\.round_rows ins\((%\S+) : (memref<(\d+)x(\d+)xf32>)\)|"
                      r"kernel\.linear weights\([^)]*\) ins\((%\S+) : (memref<(\d+)x(\d+)xf32>)\)", text)
    value, type, rows, columns = [group for group in found.groups() if group]
    size = int(rows) * int(columns)
    return text.replace("    mllm.program.exit\n", (
        "    mllm.program.instruction {\n      mllm.kernel.copy_box ins(%s : %s) outs(%s : %s) {sizes = array<i64: %d>, "
        "from_columns = %s, from_strides = array<i64: 1>, to_columns = %s, to_strides = array<i64: 1>}\n    }\n"
        "    mllm.program.exit\n") % (value, type, value, type, size, columns, columns))


def check_jumps(bench):
    # The layers' loop as a jump over a second, empty one: the same result.
    edited = bench.text.replace("    mllm.program.exit\n", (
        '    mllm.program.barrier\n    mllm.program.jump "end"\n'
        '    mllm.program.label "never"\n    mllm.program.jump "never"\n'
        '    mllm.program.label "end"\n    mllm.program.exit\n'))
    made = bench.assemble("jumps", edited)
    # SPEC: 255 256
    check("a jump passes over what never ends", same(bench.logits(made), bench.logits(bench.artifact)))


def refusals(bench):
    """(name, text, words of the message)"""
    text = bench.text
    first_offsets = re.search(r"at \[(\d+), (\d+)", text)
    yield "no text", "", ("code fragment",)
    yield "words", "hello there\n", ("refused.txt",)
    yield "words in the notation", "@main hello\n", ("refused.txt",)
    yield "the half of the notation", bench.notation[:len(bench.notation) // 2], ("refused.txt",)
    yield "deep nesting", "[" * 5000, ("brackets",)
    yield "a row of signs", "affine_map<(d0) -> (" + "- " * 5000 + "d0)>", ("signs",)
    yield "an offset of nothing", text.replace("at [%s, " % first_offsets.group(1), "at [%d, " % (1 << 40), 1), (
        "no weight of the artifact starts",)
    yield "a weight of another name", text.replace(
        'sources ["model.layers.0.input_layernorm.weight"', 'sources ["model.norm.weight"', 1), (
            "where the artifact has",)
    yield "more layers than there are", text.replace("below %d" % LAYERS, "below %d" % (LAYERS + 1)), (
        "layers 0 to %d" % LAYERS,)
    yield "a layer that is not there", text.replace("set_layer 0", "set_layer 7"), ("has layers 0 to 2",)
    yield "a layer before the first", text.replace("set_layer 0", "set_layer -1"), ("before the first",)
    yield "a limit before the first", text.replace("below %d" % LAYERS, "below -1"), ("below the first",)
    yield "too few rows", text.replace("memref<512x", "memref<256x"), ("512 rows",)
    yield "another cache", text.replace("kv_heads = 2", "kv_heads = 1"), ("another KV cache",)
    yield "another shape of a weight", re.sub(r"(kernel\.linear .*?)rows = \d+", r"\g<1>rows = 16", text, 1), (
        "and weight @",)
    yield "a kernel that does not exist", text.replace("kernel.rms_norm ", "kernel.rms_nor "), ("rms_nor",)
    yield "a kernel of fixed size on rows of a worker", fixed_kernel(text), ("which is per_worker and has",)
    yield "a call", re.sub(r"mllm\.kernel\.rope_angles .*", "mllm.program.call @f()", text), ("@f",)
    yield "another entry", text.replace("@llmir_step", "@main"), ("@llmir_step",)
    yield "a function", text.replace("  mllm.program.fragment @weights", (
        "  func.func private @f()\n  mllm.program.fragment @weights")), ("with the fragments",)
    yield "a field of the context", text.replace("    mllm.program.entry_point\n", (
        "    mllm.program.entry_point\n    mllm.program.set_field num_tokens to 7\n")), (
            "programs of functions",)
    yield "large decode-sized steps", re.sub(r"decode_tokens = \d+", "decode_tokens = 100000", text), ("decode_tokens",)
    yield "a region that calls", re.sub(r"arith\.negf (%\w+) : f32", (
        r'llvm.inline_asm "nop", "=f,f" \1 : (f32) -> f32'), text), ("is not a speculatable scalar computation",)
    yield "a jump to nowhere", text.replace("    mllm.program.exit\n", (
        '    mllm.program.jump "nowhere"\n    mllm.program.exit\n')), ("nowhere",)
    yield "the half of a program", text[:len(text) // 2], ("refused.txt",)


def check_refusals(bench):
    for name, text, words in refusals(bench):
        message = bench.assemble("refused", text, fails=True)
        lines = message.strip().split("\n")
        check("refused in one line: " + name, len(lines) == 1
              and all(word in message for word in words), message[:600])
        check("no file is left: " + name, not os.path.exists(bench.path("refused.llmir")))
    # All layers of an encoder share one of the cache, which has groups for no more than 65536.
    config, weights = make_encoders.make("modernbert")
    make_encoders.write_hf(bench.path("encoder"), config, weights, "mean")
    bench.llmir("compile", bench.path("encoder"), "-o", bench.path("encoder.llmir"), "--target", bench.level)
    text = bench.as_mlir("encoder", bench.disassemble(bench.path("encoder.llmir")))
    shown = bench.assemble("far", text.replace("set_layer 0", "set_layer 70000"), fails=True,
                           artifact=bench.path("encoder.llmir"))
    check("refused: a layer past all groups", "runs for layers" in shown, shown)
    other = make_tiny.make("qwen2")
    shown = bench.assemble("other", bench.text, fails=True,
                           artifact=bench.compile("qwen2", *other))
    check("refused: the weights of another model", "artifact" in shown, shown)
    for name, arguments, words in (
            ("a program alone", ["--program", bench.path("whole.txt")], "--weights-of"),
            ("weights alone", ["--weights-of", bench.artifact], "--program"),
            ("a checkpoint as weights", ["--program", bench.path("whole.txt"), "--weights-of",
                                         bench.path("model")], "not a compiled model"),
            ("an earlier form", ["--program", bench.path("whole.txt"), "--weights-of",
                                 bench.artifact, "--emit", "llm"], "no earlier form"),
            ("a file that is not there", ["--program", bench.path("nowhere.txt"), "--weights-of",
                                          bench.artifact], "nowhere.txt"),
            ("quantization", ["--program", bench.path("whole.txt"), "--weights-of", bench.artifact,
                              "--quantize", "q8"], "--quantize")):
        output = [] if "--emit" in arguments else ["-o", bench.path("refused.llmir")]
        shown = bench.llmir.refuse("compile", *arguments, *output)
        check("refused: " + name, words in shown, shown)
    shown = bench.translate.refuse("--disassemble-program", bench.path("whole.txt"))
    check("refused: to take a text apart", "artifact" in shown, shown)


def main():
    options = work_parser(__doc__, "llmir", "llmir-opt", "llmir-translate").parse_args()
    fresh_folder(options.work)
    bench = Bench(options)
    check_round_trip(bench)
    check_layer_count(bench)
    check_swapped_layers(bench)
    check_constant(bench)
    check_fused(bench)
    check_barriers(bench)
    check_jumps(bench)
    check_refusals(bench)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
