#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What ProgramMutantsTest changes: artifacts of small models, and programs for them.

    mutant_models.py --llmir PROGRAM --work FOLDER

Writes llama, gpt2 and moe, each as NAME.llmir and NAME.txt. The program of moe is llama's with a
mixture of experts in it that no model here has: its lists are data that a program computes.
"""

import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference"))
from checks import Command, fresh_folder, quick_level, work_parser  # noqa: E402
from make_tiny import make, write_hf  # noqa: E402

MODELS = {"llama": ("llama3", "int4:g32"), "gpt2": ("gpt2", "none"), "moe": ("llama3", "none")}

MOE_BUFFERS = """\
    %w = mllm.program.buffer : memref<{t}x16xf32>
    %chosen = mllm.program.buffer : memref<{t}x16xi32>
    %offsets = mllm.program.buffer : memref<1x16xi32>
    %pairs = mllm.program.buffer : memref<1x{p}xi32>
    %places = mllm.program.buffer : memref<1x{p}xi32>
    %rows = mllm.program.buffer : memref<{p}x{h}xf32>
    %gated = mllm.program.buffer : memref<{p}x{h}xf32>
    %mixed = mllm.program.buffer : memref<{t}x{h}xf32>
"""
MOE_CODE = """\
    mllm.program.barrier
    mllm.program.instruction @moe_route weights [] ({x}, %w, %chosen) : {xt}, memref<{t}x16xf32>, memref<{t}x16xi32>
    mllm.program.barrier
    mllm.program.instruction @moe_sort weights [] (%chosen, %offsets, %pairs, %places) : memref<{t}x16xi32>, memref<1x16xi32>, memref<1x{p}xi32>, memref<1x{p}xi32>
    mllm.program.barrier
    mllm.program.instruction @moe_gather weights [] (%pairs, {x}, %rows) : memref<1x{p}xi32>, {xt}, memref<{p}x{h}xf32>
    mllm.program.barrier
    mllm.program.instruction @moe_gate weights [] (%rows, %rows, %gated) : memref<{p}x{h}xf32>, memref<{p}x{h}xf32>, memref<{p}x{h}xf32>
    mllm.program.barrier
    mllm.program.instruction @moe_combine weights [] (%places, %w, %gated, %mixed) : memref<1x{p}xi32>, memref<{t}x16xf32>, memref<{p}x{h}xf32>, memref<{t}x{h}xf32>
    mllm.program.barrier
"""
MOE_KERNELS = """\
    mllm.program.kernel @moe_route "moe_route" {{experts = 4 : i64, normalize = true, sigmoid = false, top_k = 2 : i64}} [{xt}, memref<{t}x16xf32>, memref<{t}x16xi32>]
    mllm.program.kernel @moe_sort "moe_sort" {{experts = 4 : i64, top_k = 2 : i64}} [memref<{t}x16xi32>, memref<1x16xi32>, memref<1x{p}xi32>, memref<1x{p}xi32>]
    mllm.program.kernel @moe_gather "moe_gather" {{columns = {h} : i64, top_k = 2 : i64}} [memref<1x{p}xi32>, {xt}, memref<{p}x{h}xf32>]
    mllm.program.kernel @moe_gate "moe_gate" {{columns = {h} : i64, rounded = false, top_k = 2 : i64}} [memref<{p}x{h}xf32>, memref<{p}x{h}xf32>, memref<{p}x{h}xf32>]
    mllm.program.kernel @moe_combine "moe_combine" {{columns = {h} : i64, top_k = 2 : i64}} [memref<1x{p}xi32>, memref<{t}x16xf32>, memref<{p}x{h}xf32>, memref<{t}x{h}xf32>]
"""


def with_experts(text):
    """The program with experts behind the embedding."""
    embedding = re.search(r"\n    mllm.program.instruction @embedding\S* weights \[[^\]]*\] ?"
                          r"\((%\S+)\)[^\n]*: (memref<(\d+)x(\d+)xf32>)\n", text)
    x, x_type, tokens, hidden = embedding.groups()
    names = dict(x=x, xt=x_type, t=tokens, h=hidden, p=2 * int(tokens))
    end = embedding.end()
    text = text[:end] + MOE_CODE.format(**names) + text[end:]
    text = text.replace("    mllm.program.entry_point\n",
                        MOE_BUFFERS.format(**names) + "    mllm.program.entry_point\n", 1)
    kernel = text.index("    mllm.program.kernel ")
    return text[:kernel] + MOE_KERNELS.format(**names) + text[kernel:]


def main():
    options = work_parser(__doc__, "llmir").parse_args()
    fresh_folder(options.work)
    llmir = Command(options.llmir)
    for name, (family, scheme) in sorted(MODELS.items()):
        config, weights = make(family, layers=2)
        folder = os.path.join(options.work, name)
        write_hf(folder, config, weights)
        llmir("compile", folder, "--quantize", scheme, "--target", quick_level(), "-o", folder + ".llmir")
        text = llmir("compile", folder, "--quantize", scheme, "--emit", "program")
        with open(folder + ".txt", "w", encoding="utf-8") as stream:
            stream.write(with_experts(text) if name == "moe" else text)


if __name__ == "__main__":
    main()
