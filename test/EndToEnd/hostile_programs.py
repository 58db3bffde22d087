#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs by hand that would touch what is not theirs: refused in a line, or kept to their memory.

    hostile_programs.py --work FOLDER --llmir PROGRAM --llmir-opt PROGRAM --llmir-translate PROGRAM
"""

import re
import sys

import numpy as np
from edited_programs import Bench  # It knows where the next one lies.
from checks import Checks, fresh_folder, work_parser
from mutant_models import with_experts

check = Checks()


def edit(text, pattern, replacement, flags=0):
    """The text with the first match replaced; there must be one."""
    edited, times = re.subn(pattern, replacement, text, count=1, flags=flags)
    if times != 1 or edited == text:
        raise SystemExit("nothing to edit: " + pattern)
    return edited


def linear_kernel(text):
    """(name, types, operands) of a product without a region."""
    found = re.search(r"mllm.program.kernel (@linear_f32_\S+) \"linear\" \{bias = false[^\n]*\} "
                      r"\[([^\n]*)\]\n", text)
    return found.group(1), found.group(2)


def weight_as_buffer(text):
    """The kernel's weight is a buffer that the program packs: of 2048 bytes, for a matrix of 32768."""
    name, types = linear_kernel(text)
    text = text.replace("[%s]\n" % types, "[memref<512x1xi32>, %s]\n" % types)
    call = r"(instruction %s weights )\[[^\]]*\] ?\(([^)]*)\)([^:\n]*): " % re.escape(name)
    text = re.sub(call, r"\g<1>[] (%packed, \2)\3: memref<512x1xi32>, ", text)
    return text.replace("    mllm.program.entry_point\n",
                        "    %packed = mllm.program.buffer : memref<512x1xi32>\n    mllm.program.entry_point\n")


def with_mask(text, strides):
    text = edit(text, r"(\"paged_attention\" \{[^\n]*kv_heads = 2 : i64, )([^\n]*\} \[)(memref<\S+xf32>, )",
                r"\1mask_strides = array<i64: %s>, \2\3memref<16x16xf32>, " % strides)
    text = re.sub(r"(instruction @paged_attention\S* weights \[\] ?\()(%\w+, )([^:\n]*: )(memref<\S+>, )",
                  r"\1\2%mask, \3\4memref<16x16xf32>, ", text)
    return text.replace("    mllm.program.entry_point\n",
                        "    %mask = mllm.program.buffer : memref<16x16xf32>\n    mllm.program.entry_point\n")


def refusals(text, experts):
    """(name, text, words of the message)"""
    yield "a weight that is a buffer", weight_as_buffer(text), "a step's weights are those of the artifact"
    name, _ = linear_kernel(text)
    yield "a weight too many", edit(text, r"(instruction %s weights \[)([^\]]*)\]" % re.escape(name),
                                    r"\1\2, \2]"), "gives 2 weights to " + name
    yield "rows of experts in memory of few tokens", edit(
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
        "module attributes {a = affine_map<(d0) -> (d0)>, ")), "'affine_map<(d0) -> (d0)>"
    yield "a parameter of another kind", edit(text, r'("embedding" \{)', r'\1over = "logit_rows", '), (
        "kind 'embedding' does not know")
    yield "a number of another type", edit(text, r'("rms_norm" \{columns = \d+ : )i64', r"\1i32"), "type i64"
    yield "a name that stands twice", edit(
        text, r"(    mllm.program.weight @model.norm.weight [^\n]*\n)([^}]*\})", (
            r"\1\2\n  mllm.program.fragment @more data {\n\1  }")), "is the second op called"
    yield "a division by zero", edit(text, r"(\^bb0\([^\n]*\n)", (
        r"\1      %zero = arith.constant 0 : i32\n      %gone = arith.divsi %zero, %zero : i32\n")), (
            "is no scalar computation")
    yield "a number of a thousand bits", edit(text, r"(\^bb0\([^\n]*\n)", (
        r"\1      %wide = arith.constant 7 : i1024\n")), "is no scalar computation"
    many = 1 << 20
    yield "more experts than counts fit on the stack", experts.replace(
        "experts = 4", "experts = %d" % many).replace("memref<1x16xi32>", "memref<1x%dxi32>" % (many + 16)).replace(
            '"moe_route" {experts = %d' % many, '"moe_route" {experts = 4'), "the most are"
    yield "choices without rows for them", experts.replace(
        '"moe_gather" {columns = 64 : i64, top_k = 2', '"moe_gather" {columns = 64 : i64, top_k = 3'), "rows for it"


def check_lists(bench, experts):
    """Lists that nothing has sorted, or that hold anything: rows stay those of the buffers."""
    sort = r"    mllm.program.instruction @moe_sort [^\n]*\n"
    swapped = experts.replace("@moe_gather weights [] (%pairs,", "@moe_gather weights [] (%junk,").replace(
        "@moe_combine weights [] (%places,", "@moe_combine weights [] (%junk,")
    # What was an f32 a moment ago in memory that the planner gives to both.
    swapped = swapped.replace("    mllm.program.entry_point\n", (
        "    %junk = mllm.program.buffer : memref<1x1024xi32>\n    mllm.program.entry_point\n"))
    for name, text in (("experts", experts), ("lists that nobody writes", edit(experts, sort, "")),
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
