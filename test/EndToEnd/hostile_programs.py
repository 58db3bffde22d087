#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Handwritten programs with invalid accesses: rejected with one line, or limited to their memory.

    hostile_programs.py --work DIR --llmir PROGRAM --llmir-opt PROGRAM --llmir-translate PROGRAM
"""

import re
import sys

import numpy as np
from edited_programs import Bench  # It adds the directory of the next one to the path.
from checks import Checks, fresh_folder, work_parser
from mutant_models import with_experts

check = Checks()


def edit(text, pattern, replacement, flags=0):
    """The text with the first match replaced; there must be one."""
    edited, times = re.subn(pattern, replacement, text, count=1, flags=flags)
    if times != 1 or edited == text:
        raise SystemExit("nothing to edit: " + pattern)
    return edited


LINEAR = r"(mllm\.kernel\.linear weights\()(%\S+)( : memref<\d+xi8>)\) ins"  # Without a bias.


def with_buffer(text, name, type):
    return text.replace("    mllm.program.entry_point\n",
                        "    %%%s = mllm.program.buffer : %s\n    mllm.program.entry_point\n" % (name, type))


def weight_as_buffer(text, type):
    """Replaces a kernel's weight by a buffer that the program packs."""
    return with_buffer(edit(text, LINEAR, r"\1%%packed : %s) ins" % type), "packed", type)


def with_mask(text, strides):
    text = edit(text, r"(mllm\.kernel\.paged_attention [^\n]*ins\([^)]*\))( [^\n{]*\{)",
                r"\1 mask(%%mask : memref<16x16xf32>)\2mask_strides = array<i64: %s>, " % strides)
    return with_buffer(text, "mask", "memref<16x16xf32>")


def refusals(text, experts):
    """(name, text, words of the message)"""
    yield "a weight that is a buffer", weight_as_buffer(text, "memref<8192x16xf32>"), (
        "a step's weights are those of the artifact")
    yield "a small buffer as a weight", weight_as_buffer(text, "memref<32x16xf32>"), "bytes or more"
    yield "a weight too many", edit(text, LINEAR, r"\1\2\3) bias(\2\3) ins"), "reads a vector of"
    yield "rows of experts in decode-sized memory", edit(
        experts, r"%gated = mllm.program.buffer :", "%gated = mllm.program.buffer per_worker :"), (
            "which is per_worker and has")
    yield "a mask with strides beyond it", with_mask(text, "0, 0, 0, 16, 1"), "rows for it"
    yield "a mask with strides beyond 64 bits", with_mask(text, "0, 0, %d, 1, 1" % (1 << 62)), "rows for it"
    yield "rows that lie elsewhere", text.replace(
        "memref<512x64xf32>", "memref<512x64xf32, strided<[1000, 1], offset: 7>>"), "static rows"
    yield "a memory space", text.replace("memref<512x64xf32>", "memref<512x64xf32, 3>"), "static rows"
    array = "array<…> holds numbers of type i1, i8, i16, i32, i64, f32 or f64, not 'index'"
    yield "an array that MLIR's parser does not survive", edit(text, r"module attributes \{", (
        "module attributes {a = array<index: 1>, ")), array
    yield "the same in the documents' notation", (
        "@main () -> () { prog.fragment @f <CPU> <text> [a:mlir\"array<index: 1>\"] { } }"), array
    yield "MLIR's bytecode", "ML\u00efR" + text, "the byte 195 has no meaning in MLIR's text"
    yield "an attribute that no program has", edit(text, r"module attributes \{", (
        "module attributes {a = affine_set<(d0) : (d0 >= 0)>, ")), "'affine_set<(d0) : (d0 >= 0)>"
    yield "a parameter of another kernel", edit(text, r"(kernel\.embedding [^\n{]*\{)", r"\1choices = 2 : i64, "), (
        "has the unknown attribute 'choices'")
    yield "a number of another type", edit(text, r"(kernel\.rms_norm [^\n{]*\{columns = \d+ : )i64", r"\1i32"), (
        "a size from 1 to 2^28")
    yield "a name that is defined twice", edit(
        text, r"(    mllm.program.weight @model.norm.weight [^\n]*\n)([^}]*\})", (
            r"\1\2\n  mllm.program.fragment @more data {\n\1  }")), "is the second op called"
    yield "a division by zero", edit(text, r"(\^bb0\([^\n]*\n)", (
        r"\1      %zero = arith.constant 0 : i32\n      %gone = arith.divsi %zero, %zero : i32\n")), (
            "is not a speculatable scalar computation")
    yield "a number of a thousand bits", edit(text, r"(\^bb0\([^\n]*\n)", (
        r"\1      %wide = arith.constant 7 : i1024\n")), "is not a speculatable scalar computation"
    yield "means in the place of logits", edit(text, r"mllm\.kernel\.select_rows", "mllm.kernel.mean_rows"), (
        "takes means of sequences, but the artifact yields other rows")
    many = 1 << 20
    yield "more experts than counts fit on the stack", edit(
        experts, r"(kernel\.moe_sort [^\n]*experts = )4", r"\g<1>%d" % many).replace(
            "memref<1x16xi32>", "memref<1x%dxi32>" % (many + 16)), "65536"
    yield "choices without rows for them", edit(
        experts, r"(kernel\.moe_gate [^\n]*top_k = )2", r"\g<1>3"), "rows for it"
    yield "choices without places for them", edit(
        experts, r"(kernel\.moe_gather [^\n]*top_k = )2", r"\g<1>3"), "1536 or more columns"


def check_lists(bench, experts):
    """Unsorted or uninitialized lists: accesses remain within the buffers."""
    sort = r"    mllm.program.instruction \{\n      mllm.kernel.moe_sort [^\n]*\n    \}\n"
    swapped = edit(edit(experts, r"moe_gather ins\(%pairs,", "moe_gather ins(%junk,"),
                   r"moe_combine ins\(%places,", "moe_combine ins(%junk,")
    # Memory that previously held f32 elements, shared by the planner.
    swapped = with_buffer(swapped, "junk", "memref<1x1024xi32>")
    for name, text in (("experts", experts), ("lists that are not written", edit(experts, sort, "")),
                       ("lists of other buffers", swapped)):
        logits = bench.logits(bench.assemble("lists", text))
        check("the step runs with " + name, logits.shape[0] > 0 and bool(np.isfinite(logits).all()))


def main():
    options = work_parser(__doc__, "llmir", "llmir-opt", "llmir-translate").parse_args()
    fresh_folder(options.work)
    bench = Bench(options)
    experts = with_experts(bench.text)
    for name, text, words in refusals(bench.text, experts):
        message = bench.assemble("refused", text, fails=True)
        check("refused in one line: " + name, len(message.strip().split("\n")) == 1 and words in message,
              message[:600])
    check_lists(bench, experts)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
