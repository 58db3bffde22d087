# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GGUF's types whose integers are indexes: float32 values <-> bytes.

IQ4_NL, IQ4_XS and MXFP4 store indexes of tables with 16 entries, TQ1_0 and TQ2_0 ternary digits.
Blocks of IQ1, IQ2 and IQ3 hold points of a grid: levels of 8 or 4 values at once. Layouts are ggml's;
the quantizers take the nearest entry or point for a scale from the largest value, whereas ggml's
search for a smaller error.

The grids are numbers of the file format, which the compiler's sources have as a table.
"""

import os
import re

import numpy as np

from .packing import (SUPER, as_bytes, from_half, from_nibbles, half, inverse, joined, largest,
                      nibbles)

IQ4 = np.array([-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113],
               np.float32)
E2M1 = np.array([0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12], np.float32)
LEVELS_2 = np.array([8, 25, 43], np.float32)
LEVELS_3 = np.array([4, 12, 20, 28, 36, 44, 52, 62], np.float32)
ODD = np.arange(1, 16, 2).astype(np.float32)

SIZES = {"iq4_nl": (32, 18), "iq4_xs": (SUPER, 136), "mxfp4": (32, 17), "tq1_0": (SUPER, 54),
         "tq2_0": (SUPER, 66), "iq2_xxs": (SUPER, 66), "iq2_xs": (SUPER, 74), "iq2_s": (SUPER, 82),
         "iq3_xxs": (SUPER, 98), "iq3_s": (SUPER, 110), "iq1_s": (SUPER, 50), "iq1_m": (SUPER, 56)}


# Tables of 16 entries


def _nearest(x, table):
    """Indexes of the entries nearest to x."""
    order = np.argsort(table, kind="stable")
    middles = (table[order][1:] + table[order][:-1]) / 2
    return order[np.searchsorted(middles, x)].astype(np.uint8)


def _encode_iq4_nl(x):
    """f16 d, 16 bytes of nibbles; the value is d * table[q]. The largest value becomes -127."""
    d = half(largest(x) / np.float32(-127))
    return joined(d, nibbles(_nearest(x * inverse(from_half(d)), IQ4)))


def _decode_iq4_nl(raw):
    return from_half(raw[:, :2]) * IQ4[from_nibbles(raw[:, 2:])]


def _encode_iq4_xs(x):
    """f16 d, a u16 with two high bits and four bytes with four low bits of eight scales plus 32,
    nibbles of 8 groups of 32; the value is d * scale * table[q]."""
    groups = x.reshape(-1, 8, 32)
    scale = largest(groups.reshape(-1, 32)).reshape(-1, 8) / np.float32(-127)
    d = half(np.abs(scale).max(axis=1) / np.float32(31))
    scale = np.clip(np.rint(scale * inverse(from_half(d))), -32, 31)
    q = _nearest(groups * inverse(from_half(d) * scale)[:, :, None], IQ4)
    stored = (scale + 32).astype(np.uint8)
    low = (stored[:, 0::2] & 15) | ((stored[:, 1::2] & 15) << 4)
    high = ((stored >> 4).astype(np.uint16) << (2 * np.arange(8, dtype=np.uint16))).sum(
        axis=1, dtype=np.uint16)
    return joined(d, _words(high[:, None]), low, nibbles(q.reshape(-1, 32)).reshape(len(x), -1))


def _decode_iq4_xs(raw):
    high = as_bytes(raw[:, 2:4]).view("<u2")
    low = np.stack([raw[:, 4:8] & 15, raw[:, 4:8] >> 4], axis=2).reshape(-1, 8)
    scale = (low | ((high >> (2 * np.arange(8, dtype=np.uint16)) & 3) << 4)).astype(np.float32)
    factor = from_half(raw[:, :2]) * (scale - np.float32(32))
    q = from_nibbles(as_bytes(raw[:, 8:]).reshape(-1, 16)).reshape(-1, 8, 32)
    return factor[:, :, None] * IQ4[q]


def _encode_mxfp4(x):
    """A byte e, 16 bytes of nibbles; the value is 2^(e - 128) * table[q], twice E2M1."""
    most = np.abs(x).max(axis=1)
    with np.errstate(divide="ignore"):
        e = np.clip(np.floor(np.log2(most)) - 2 + 127, 2, 254)  # 4 to 8 times 2^(e - 127)
    e = e.astype(np.uint8)[:, None]
    return joined(e, nibbles(_nearest(x * inverse(_exponent(e)), E2M1)))


def _decode_mxfp4(raw):
    with np.errstate(over="ignore"):
        return _exponent(raw[:, :1]) * E2M1[from_nibbles(raw[:, 1:])]


def _exponent(e):
    """2^(e - 128) of a byte, in float32; there is neither infinity nor NaN."""
    return np.ldexp(np.float32(1), e.astype(np.int32) - 128).astype(np.float32)


# Ternary digits


def _ternary(x):
    """d as bytes, digits 0 to 2 [n, 256]; the value is d * (digit - 1)."""
    d = half(np.abs(x).max(axis=1))
    return d, (np.clip(np.rint(x * inverse(from_half(d))), -1, 1) + 1).astype(np.uint8)


def _encode_tq2_0(x):
    """64 bytes, f16 d: digit n of byte j of a half is value 32 * n + j."""
    d, q = _ternary(x)
    q = q.reshape(-1, 2, 4, 32)
    return joined((q[:, :, 0] | q[:, :, 1] << 2 | q[:, :, 2] << 4 | q[:, :, 3] << 6).reshape(
        len(x), -1), d)


def _decode_tq2_0(raw):
    pairs = as_bytes(raw[:, :64]).reshape(-1, 2, 1, 32)
    q = np.concatenate([pairs >> shift & 3 for shift in (0, 2, 4, 6)], axis=2)
    return from_half(raw[:, 64:]) * (q.reshape(-1, SUPER).astype(np.float32) - np.float32(1))


# Bytes and digits of the three parts of a block of TQ1_0.
_TQ1_PARTS = ((32, 5), (16, 5), (4, 4))


def _encode_tq1_0(x):
    """52 bytes, f16 d: a byte is ceil(256 / 243 * number), a number of five ternary digits, the
    first one the most significant."""
    d, q = _ternary(x)
    parts, at = [], 0
    for count, digits in _TQ1_PARTS:
        part = q[:, at:at + count * digits].reshape(-1, digits, count).astype(np.uint16)
        number = sum(part[:, n] * np.uint16(3 ** (4 - n)) for n in range(digits))
        parts.append(((number * 256 + 242) // 243).astype(np.uint8))
        at += count * digits
    return joined(*(parts + [d]))


def _decode_tq1_0(raw):
    values, at = [], 0
    for count, digits in _TQ1_PARTS:
        for n in range(digits):
            rest = raw[:, at:at + count].astype(np.uint16) * np.uint16(3 ** n) & 255
            values.append(rest * 3 >> 8)
        at += count
    q = np.concatenate(values, axis=1).astype(np.float32)
    return from_half(raw[:, 52:]) * (q - np.float32(1))


# Points of grids


def _read_grids():
    """name -> levels [points, 8 or 4]."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "lib",
                        "Support", "CodebookGrids.inc")
    with open(path, encoding="utf-8") as stream:
        text = stream.read()
    grids = {}
    for name, points, numbers in re.findall(
            r"^LLMIR_CODEBOOK_GRID\((\w+), (\d+),([^)]*)\)", text, re.M):
        numbers = np.array([int(number, 16) for number in numbers.split(",")])
        assert len(numbers) == int(points)
        bits, size = (3, 4) if name.startswith("IQ3") else (2, 8)
        grids[name.lower()] = numbers[:, None] >> bits * np.arange(size) & ((1 << bits) - 1)
    return grids


GRIDS = _read_grids()
_EVEN = np.array([bin(i).count("1") % 2 for i in range(128)])


def _nearest_points(x, points):
    """Indexes of the points [p, size] nearest to rows of x [n, size]."""
    found = []
    offset = (points * points).sum(axis=1) / 2
    for at in range(0, len(x), 1 << 14):
        found.append(np.argmax(x[at:at + (1 << 14)] @ points.T - offset, axis=1))
    return np.concatenate(found)


def _signs(x):
    """x [n, 8] -> (magnitudes, 7 bits of signs). An odd number of negative values is made even by
    the sign of the least one."""
    negative = x < 0
    odd = negative.sum(axis=1) % 2 == 1
    least = np.abs(x).argmin(axis=1)
    negative[odd, least[odd]] ^= True
    magnitude = np.where(negative, -x, x)
    return magnitude, (negative[:, :7] << np.arange(7)).sum(axis=1).astype(np.uint32)


def _all_signs(x):
    """x [n, 8] -> (magnitudes, 8 bits of signs)."""
    return np.abs(x), ((x < 0) << np.arange(8)).sum(axis=1).astype(np.uint8)


def _odd_scales(x, group, top, unit, bits):
    """f16 d as bytes, s [n, groups], x over its scale: scale = d * (2 * s + 1) * unit, for groups
    whose largest value is `top` times the scale."""
    groups = x.reshape(len(x), -1, group)
    scale = np.abs(groups).max(axis=2) / np.float32(top * unit)
    most = (2 << bits) - 1
    d = half(scale.max(axis=1) / np.float32(most))
    s = np.clip(np.rint((scale * inverse(from_half(d)) - 1) / 2), 0, most // 2).astype(np.uint32)
    factor = inverse(from_half(d) * (2 * s + 1).astype(np.float32) * np.float32(unit))
    return d, s, (groups * factor[:, :, None]).reshape(len(x), -1)


def _decoded(d, s, unit, levels):
    """d * (2 * s + 1) * unit * level: bytes, [n, groups], number, [n, 256]."""
    scale = from_half(d) * (2 * s.astype(np.float32) + 1) * np.float32(unit)
    return (scale[:, :, None] * levels.reshape(len(s), s.shape[1], -1)).reshape(len(s), -1)


def _apply_signs(levels, signs):
    """levels [n, 8], signs in 8 bits [n]."""
    return np.where(signs[:, None] >> np.arange(8) & 1, -levels, levels)


def _even(bits):
    """The eight signs of seven."""
    return bits | _EVEN[bits] << 7


def _words(values):
    return np.ascontiguousarray(values, dtype="<u2").view(np.uint8).reshape(len(values), -1)


def _longs(values):
    return np.ascontiguousarray(values, dtype="<u4").view(np.uint8).reshape(len(values), -1)


def _pairs(s):
    """Numbers of four bits [n, 2m] -> bytes [n, m], the first in the low nibble."""
    s = s.astype(np.uint8)
    return s[:, 0::2] | (s[:, 1::2] << 4)


def _unpairs(raw):
    return np.stack([raw & 15, raw >> 4], axis=2).reshape(len(raw), -1).astype(np.int64)


def _encode_iq2_xxs(x):
    """f16 d; for each 32 values four bytes of points, and a u32: 7 signs for each, 4 bits of s."""
    d, s, x = _odd_scales(x, 32, 43, 0.125, 4)
    magnitude, signs = _signs(x.reshape(-1, 8))
    points = _nearest_points(magnitude, LEVELS_2[GRIDS["iq2_xxs"]]).astype(np.uint8)
    signs = signs.reshape(-1, 8, 4)
    more = s << 28 | sum(signs[:, :, i] << (7 * i) for i in range(4))
    both = np.concatenate([points.reshape(-1, 8, 4),
                           _longs(more.reshape(-1, 1)).reshape(-1, 8, 4)], axis=2)
    return joined(d, both.reshape(len(s), -1))


def _decode_iq2_xxs(raw):
    both = as_bytes(raw[:, 2:]).reshape(-1, 8, 8)
    more = as_bytes(both[:, :, 4:]).view("<u4")[:, :, 0].astype(np.int64)
    signs = _even(more[:, :, None] >> 7 * np.arange(4) & 127).reshape(-1)
    levels = LEVELS_2[GRIDS["iq2_xxs"][both[:, :, :4].reshape(-1)]]
    return _decoded(raw[:, :2], more >> 28, 0.125, _apply_signs(levels, signs))


def _encode_iq2_xs(x):
    """f16 d; 32 words: 9 bits of a point, 7 signs; 16 nibbles of s."""
    d, s, x = _odd_scales(x, 16, 43, 0.125, 4)
    magnitude, signs = _signs(x.reshape(-1, 8))
    points = _nearest_points(magnitude, LEVELS_2[GRIDS["iq2_xs"]])
    return joined(d, _words((points | signs << 9).reshape(len(s), 32)), _pairs(s))


def _decode_iq2_xs(raw):
    word = as_bytes(raw[:, 2:66]).view("<u2").reshape(-1).astype(np.int64)
    levels = _apply_signs(LEVELS_2[GRIDS["iq2_xs"][word & 511]], _even(word >> 9))
    return _decoded(raw[:, :2], _unpairs(raw[:, 66:]), 0.125, levels)


def _encode_iq2_s(x):
    """f16 d; 32 bytes of points, 32 of signs, 8 with two high bits of points, 16 nibbles of s."""
    d, s, x = _odd_scales(x, 16, 43, 0.125, 4)
    magnitude, signs = _all_signs(x.reshape(-1, 8))
    points = _nearest_points(magnitude, LEVELS_2[GRIDS["iq2_s"]]).reshape(-1, 32)
    high = (points >> 8).reshape(-1, 8, 4)
    return joined(d, (points & 255).astype(np.uint8), signs.reshape(-1, 32),
                  (high << 2 * np.arange(4)).sum(axis=2).astype(np.uint8), _pairs(s))


def _decode_iq2_s(raw):
    high = (raw[:, 66:74, None] >> 2 * np.arange(4) & 3).reshape(-1)
    points = raw[:, 2:34].reshape(-1) | high.astype(np.int64) << 8
    levels = _apply_signs(LEVELS_2[GRIDS["iq2_s"][points]], raw[:, 34:66].reshape(-1))
    return _decoded(raw[:, :2], _unpairs(raw[:, 74:]), 0.125, levels)


def _encode_iq3_xxs(x):
    """f16 d; 64 bytes of points; for each 32 values a u32: 7 signs for each 8, 4 bits of s."""
    d, s, x = _odd_scales(x, 32, 62, 0.25, 4)
    magnitude, signs = _signs(x.reshape(-1, 8))
    points = _nearest_points(magnitude.reshape(-1, 4), LEVELS_3[GRIDS["iq3_xxs"]])
    signs = signs.reshape(-1, 8, 4)
    more = s << 28 | sum(signs[:, :, i] << (7 * i) for i in range(4))
    return joined(d, points.astype(np.uint8).reshape(-1, 64), _longs(more))


def _decode_iq3_xxs(raw):
    more = as_bytes(raw[:, 66:]).view("<u4").astype(np.int64)
    signs = _even(more[:, :, None] >> 7 * np.arange(4) & 127).reshape(-1)
    levels = LEVELS_3[GRIDS["iq3_xxs"][raw[:, 2:66].reshape(-1)]].reshape(-1, 8)
    return _decoded(raw[:, :2], more >> 28, 0.25, _apply_signs(levels, signs))


def _encode_iq3_s(x):
    """f16 d; 64 bytes of points, 8 with their ninth bits, 32 of signs, 8 nibbles of s."""
    d, s, x = _odd_scales(x, 32, 15, 1, 4)
    magnitude, signs = _all_signs(x.reshape(-1, 8))
    points = _nearest_points(magnitude.reshape(-1, 4), ODD[GRIDS["iq3_s"]]).reshape(-1, 64)
    return joined(d, (points & 255).astype(np.uint8),
                  np.packbits((points >> 8).astype(np.uint8), axis=1, bitorder="little"),
                  signs.reshape(-1, 32), _pairs(s))


def _decode_iq3_s(raw):
    high = np.unpackbits(as_bytes(raw[:, 66:74]), axis=1, bitorder="little")
    points = raw[:, 2:66] | high.astype(np.int64) << 8
    levels = ODD[GRIDS["iq3_s"][points.reshape(-1)]].reshape(-1, 8)
    levels = _apply_signs(levels, raw[:, 74:106].reshape(-1))
    return _decoded(raw[:, :2], _unpairs(raw[:, 106:]), 1, levels)


def _shifted_points(x):
    """Points of rows of 8 and whether -1 or 1 is added to 8 times their digits."""
    digits = 8 * (GRIDS["iq1_s"].astype(np.float32) - 1)
    best = []
    for shift in (1, -1):
        points = _nearest_points(x, digits + np.float32(shift))
        best.append((points, ((x - digits[points] - shift) ** 2).sum(axis=1)))
    return best


def _encode_iq1_s(x):
    """f16 d; 32 bytes of points; for each 32 values a u16: three high bits of four points, three
    bits of s, the sign of the shift."""
    d, s, x = _odd_scales(x, 32, 9, 0.125, 3)
    (up, up_error), (down, down_error) = _shifted_points(x.reshape(-1, 8))
    errors = [error.reshape(-1, 4).sum(axis=1) for error in (up_error, down_error)]
    is_down = errors[1] < errors[0]
    points = np.where(is_down[:, None], down.reshape(-1, 4), up.reshape(-1, 4))
    word = ((points >> 8) << 3 * np.arange(4)).sum(axis=1) | s.reshape(-1) << 12
    word = (word | is_down.astype(np.int64) << 15).reshape(-1, 8)
    return joined(d, (points & 255).astype(np.uint8).reshape(-1, 32), _words(word))


def _decode_iq1_s(raw):
    word = as_bytes(raw[:, 34:]).view("<u2").astype(np.int64)
    high = (word[:, :, None] >> 3 * np.arange(4) & 7).reshape(-1, 32)
    digits = GRIDS["iq1_s"][(raw[:, 2:34] | high << 8).reshape(-1)].astype(np.float32) - 1
    shift = np.repeat(np.where(word >> 15, -1, 1), 4).astype(np.float32)
    return _decoded(raw[:, :2], word >> 12 & 7, 0.125, 8 * digits + shift[:, None])


def _encode_iq1_m(x):
    """32 bytes of points; 32 nibbles: three high bits of a point, the sign of the shift; four words:
    four s of three bits, four bits of the f16 d."""
    d, s, x = _odd_scales(x, 16, 9, 0.125, 3)
    (up, up_error), (down, down_error) = _shifted_points(x.reshape(-1, 8))
    is_down = down_error < up_error
    points = np.where(is_down, down, up).reshape(-1, 32)
    more = (points >> 8) | is_down.reshape(-1, 32).astype(np.int64) << 3
    bits = as_bytes(d).view("<u2").astype(np.int64)
    word = (s.reshape(-1, 4, 4) << 3 * np.arange(4)).sum(axis=2)
    word |= (bits >> 4 * np.arange(4) & 15) << 12
    return joined((points & 255).astype(np.uint8), _pairs(more), _words(word))


def _decode_iq1_m(raw):
    more = _unpairs(raw[:, 32:48])
    word = as_bytes(raw[:, 48:]).view("<u2").astype(np.int64)
    d = _words(((word >> 12) << 4 * np.arange(4)).sum(axis=1)[:, None])
    s = (word[:, :, None] >> 3 * np.arange(4) & 7).reshape(-1, 16)
    digits = GRIDS["iq1_s"][(raw[:, :32] | (more & 7) << 8).reshape(-1)].astype(np.float32) - 1
    shift = np.where(more >> 3, -1, 1).astype(np.float32).reshape(-1, 1)
    return _decoded(d, s, 0.125, 8 * digits + shift)


CODECS = {name: (globals()["_encode_" + name], globals()["_decode_" + name]) for name in SIZES}
