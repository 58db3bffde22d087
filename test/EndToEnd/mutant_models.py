#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The inputs of ProgramMutantsTest: artifacts of small models, and programs for them.

    mutant_models.py --llmir PROGRAM --work DIR

Writes llama, gpt2 and moe, each as NAME.llmir and NAME.txt. The program of moe is llama's with a
mixture of experts, whose lists are data that the program computes.
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
# Without barriers, which the compiler inserts.
MOE_CODE = """\
    mllm.program.instruction {{
      mllm.kernel.moe_route ins({x} : {xt}) outs(%w, %chosen : memref<{t}x16xf32>, memref<{t}x16xi32>) {{experts = 4 : i64, normalize, top_k = 2 : i64}}
    }}
    mllm.program.instruction {{
      mllm.kernel.moe_sort ins(%chosen : memref<{t}x16xi32>) outs(%offsets, %pairs, %places : memref<1x16xi32>, memref<1x{p}xi32>, memref<1x{p}xi32>) {{experts = 4 : i64, top_k = 2 : i64}}
    }}
    mllm.program.instruction {{
      mllm.kernel.moe_gather ins(%pairs, {x} : memref<1x{p}xi32>, {xt}) outs(%rows : memref<{p}x{h}xf32>) {{columns = {h} : i64, top_k = 2 : i64}}
    }}
    mllm.program.instruction {{
      mllm.kernel.moe_gate ins(%rows, %rows : memref<{p}x{h}xf32>, memref<{p}x{h}xf32>) outs(%gated : memref<{p}x{h}xf32>) {{columns = {h} : i64, top_k = 2 : i64}}
    }}
    mllm.program.instruction {{
      mllm.kernel.moe_combine ins(%places, %w, %gated : memref<1x{p}xi32>, memref<{t}x16xf32>, memref<{p}x{h}xf32>) outs(%mixed : memref<{t}x{h}xf32>) {{columns = {h} : i64, top_k = 2 : i64}}
    }}
"""


def with_experts(text):
    """The program with experts after the embedding."""
    embedding = re.search(r"\n      mllm\.kernel\.embedding [^\n]*outs\((%\S+) : (memref<(\d+)x(\d+)xf32>)\)[^\n]*\n    \}\n", text)
    x, x_type, tokens, hidden = embedding.groups()
    names = dict(x=x, xt=x_type, t=tokens, h=hidden, p=2 * int(tokens))
    end = embedding.end()
    text = text[:end] + MOE_CODE.format(**names) + text[end:]
    return text.replace("    mllm.program.entry_point\n",
                        MOE_BUFFERS.format(**names) + "    mllm.program.entry_point\n", 1)


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
