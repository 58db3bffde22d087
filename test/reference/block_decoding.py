#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares decoders of GGUF's types, to the bit: NumPy's, the library's and llama.cpp's.

    block_decoding.py --decoder build/bin/tests/llmir-decode-blocks [--ggml PATH/libggml-base.so]

Blocks are random bytes, among them some whose f16 or 8-bit scales are zero, denormal, the largest,
infinite or NaN. All NaNs are equal. The npm package @node-llama-cpp/linux-x64 has the library.
"""
import argparse
import os
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
sys.path.insert(0, os.path.join(HERE, "..", "..", "utils"))
from llmref import blocks, formats  # noqa: E402
from llmref.gguf import TENSOR_TYPES  # noqa: E402

RANDOM, EDGES = 4000, 64
# f16: +0, -0, least and largest denormal, -least, least normal, largest, 1, +inf, -inf, NaNs.
HALVES = np.array([0x0000, 0x8000, 0x0001, 0x03FF, 0x8001, 0x0400, 0x7BFF, 0xFBFF, 0x3C00, 0x7C00,
                   0xFC00, 0x7E00, 0xFE01, 0x7C01], "<u2")
EXPONENTS = np.array([0, 1, 2, 3, 127, 128, 253, 254, 255], np.uint8)
# Offsets of f16 values, 0 unless given.
SCALES = {"q4_1": (0, 2), "q5_1": (0, 2), "q4_k": (0, 2), "q5_k": (0, 2), "q2_k": (80, 82),
          "q3_k": (108,), "q6_k": (208,), "tq1_0": (52,), "tq2_0": (64,)}


def edge_scales(fmt, raw, random):
    """Replaces the scales of some blocks."""
    count = len(raw)
    if fmt == "mxfp4":
        raw[:, 0] = EXPONENTS[random.randint(0, len(EXPONENTS), count)]
    elif fmt == "iq1_m":  # the top bits of four words
        half = HALVES[random.randint(0, len(HALVES), count)].astype(np.int64)
        for word in range(4):
            raw[:, 49 + 2 * word] &= 15
            raw[:, 49 + 2 * word] |= ((half >> 4 * word & 15) << 4).astype(np.uint8)
    else:
        for at in SCALES.get(fmt, (0,)):
            half = HALVES[random.randint(0, len(HALVES), count)]
            raw[:, at:at + 2] = half.view(np.uint8).reshape(-1, 2)


def sample(fmt):
    """[n, bytes of a block]"""
    random = np.random.RandomState(TENSOR_TYPES[fmt] + 1)
    raw = random.randint(0, 256, (RANDOM + EDGES, formats.FORMATS[fmt][1])).astype(np.uint8)
    if fmt in blocks.SIZES:
        edge_scales(fmt, raw[RANDOM:], random)
    return raw


def differences(a, b):
    """Number of elements of two float32 arrays whose bits differ, NaNs aside."""
    same = (a.view(np.uint32) == b.view(np.uint32)) | (np.isnan(a) & np.isnan(b))
    return int(np.count_nonzero(~same))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--decoder", required=True)
    parser.add_argument("--ggml", help="libggml-base.so")
    options = parser.parse_args()
    ggml = None
    if options.ggml:
        from codebook_grids import Ggml
        ggml = Ggml(options.ggml)
    failed = False
    np.seterr(all="ignore")
    for fmt in sorted(formats.FORMATS):
        raw = sample(fmt)
        data = raw.tobytes()
        shape = (raw.size // formats.FORMATS[fmt][1] * formats.FORMATS[fmt][0],)
        expected = formats.decode(fmt, shape, data).astype(np.float32)
        decoded = np.frombuffer(subprocess.run([options.decoder, fmt], input=data, check=True,
                                               stdout=subprocess.PIPE).stdout, np.float32)
        results = [("NumPy", differences(expected, decoded))]
        if ggml and fmt in blocks.SIZES:
            peer = ggml.decode(TENSOR_TYPES[fmt], fmt.encode(), data)
            results.append(("llama.cpp", differences(np.array(peer, np.float32), decoded)))
        failed |= any(count for _, count in results)
        print("%-8s %d values; other bits: %s" % (
            fmt, shape[0], ", ".join("%s %d" % result for result in results)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
