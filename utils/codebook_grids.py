#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Derives lib/Support/CodebookGrids.inc, the grids of GGUF's IQ types, with a build of ggml.

    utils/codebook_grids.py PATH/libggml-base.so > lib/Support/CodebookGrids.inc

A block of these types stores indexes of grid points, which are groups of 8 or 4 levels. The grids
are part of the file format and follow no rule. This script lets ggml decode one block for each
index, with scales and signs whose effect is known, and prints the levels of each point.

The npm package @node-llama-cpp/linux-x64 contains the library.
"""
import ctypes
import struct
import sys

HEADER = """\
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The grids of GGUF's IQ types, derived from the format by
// utils/codebook_grids.py. Do not edit. A number is a point: the level of its
// value i, an index of a codebook, takes 2 bits (3 in grids of 4 values) from
// bit 2 * i (3 * i) on.
//
// LLMIR_CODEBOOK_GRID(name, points, …)
//
//===----------------------------------------------------------------------===//
"""

ONE = struct.pack("<e", 1.0)  # the scale d of a block
MAGNITUDES_2 = (8, 25, 43)
MAGNITUDES_3 = (4, 12, 20, 28, 36, 44, 52, 62)
ODD = tuple(range(1, 16, 2))


class Traits(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("block_values", ctypes.c_int64),
                ("interleaved", ctypes.c_int64), ("block_bytes", ctypes.c_size_t),
                ("is_quantized", ctypes.c_bool),
                ("to_float", ctypes.CFUNCTYPE(None, ctypes.c_char_p,
                                              ctypes.POINTER(ctypes.c_float), ctypes.c_int64))]


class Ggml(object):
    def __init__(self, path):
        self.library = ctypes.CDLL(path)
        self.library.ggml_get_type_traits.restype = ctypes.POINTER(Traits)
        self.library.ggml_get_type_traits.argtypes = [ctypes.c_int]

    def decode(self, number, name, data):
        """The values of blocks of the type with this id and name, as an array of floats."""
        traits = self.library.ggml_get_type_traits(number).contents
        if traits.name.lower() != name or len(data) % traits.block_bytes:
            raise SystemExit("type %d is %r of %d bytes" % (number, traits.name,
                                                            traits.block_bytes))
        count = len(data) // traits.block_bytes * traits.block_values
        values = (ctypes.c_float * count)()
        traits.to_float(data, values, count)
        return values


def padded(*parts):
    """Bytes from (offset, bytes) pairs, the last one empty at the end."""
    block = bytearray(parts[-1][0])
    for at, data in parts:
        block[at:at + len(data)] = data
    return bytes(block)


# For each grid: type id, type name, points, values of a point, levels of the first values of the
# block divided by the unit, and the block that starts with a point, all signs positive.
GRIDS = (
    ("iq2_xxs", 16, 256, 8, MAGNITUDES_2, 0.125,
     lambda i: padded((0, ONE), (2, bytes([i])), (66, b""))),
    ("iq2_xs", 17, 512, 8, MAGNITUDES_2, 0.125,
     lambda i: padded((0, ONE), (2, struct.pack("<H", i)), (74, b""))),
    ("iq2_s", 22, 1024, 8, MAGNITUDES_2, 0.125,
     lambda i: padded((0, ONE), (2, bytes([i & 255])), (66, bytes([i >> 8])), (82, b""))),
    ("iq3_xxs", 18, 256, 4, MAGNITUDES_3, 0.25,
     lambda i: padded((0, ONE), (2, bytes([i])), (98, b""))),
    ("iq3_s", 21, 512, 4, ODD, 1,
     lambda i: padded((0, ONE), (2, bytes([i & 255])), (66, bytes([i >> 8])), (110, b""))),
    # Values are level - 1 + 1/8.
    ("iq1_s", 19, 2048, 8, (-7, 1, 9), 0.125,
     lambda i: padded((0, ONE), (2, bytes([i & 255])), (34, struct.pack("<H", i >> 8)),
                      (50, b""))),
)


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    ggml = Ggml(sys.argv[1])
    print(HEADER, end="")
    for name, number, points, size, levels, unit, block in GRIDS:
        bits = 2 if size == 8 else 3
        numbers = []
        for i in range(points):
            values = ggml.decode(number, name.encode(), block(i))[:size]
            numbers.append(sum(levels.index(value / unit) << (bits * j)
                               for j, value in enumerate(values)))
        print("\nLLMIR_CODEBOOK_GRID(%s, %d" % (name.upper(), points), end="")
        for at in range(0, points, 9):
            print(",\n    " + ", ".join("0x%04x" % n for n in numbers[at:at + 9]), end="")
        print(")")
    print("\n#undef LLMIR_CODEBOOK_GRID")


if __name__ == "__main__":
    main()
