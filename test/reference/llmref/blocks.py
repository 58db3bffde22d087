# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GGUF's block formats: float32 values <-> bytes.

Q8_0, Q4_0, Q4_1, Q5_0, Q5_1: blocks of 32 values, each with its scales. Q2_K to Q6_K: super-blocks
of 256 values, whose groups have integer scales relative to one f16 scale. The other types are in
codebooks.py. Layouts and the quantizers
of blocks of 32 are ggml's; the quantizers of super-blocks use the rounded range of each group,
whereas ggml's search for a smaller error.

Decoded values are exact: a product of a scale and an integer in float32, a sum of two in float64.
"""

import numpy as np

from . import codebooks
from .packing import (SUPER, as_bytes, from_half, from_nibbles, half, inverse, joined, largest,
                      nibbles, round_half_away)

BLOCK = 32

# format -> (values per block, bytes per block)
SIZES = dict({"q8_0": (BLOCK, 34), "q4_0": (BLOCK, 18), "q4_1": (BLOCK, 20), "q5_0": (BLOCK, 22),
              "q5_1": (BLOCK, 24), "q2_k": (SUPER, 84), "q3_k": (SUPER, 110), "q4_k": (SUPER, 144),
              "q5_k": (SUPER, 176), "q6_k": (SUPER, 210)}, **codebooks.SIZES)


def encode(fmt, values):
    """float32 [...], whole blocks -> bytes."""
    blocks = np.ascontiguousarray(values, dtype=np.float32).reshape(-1, SIZES[fmt][0])
    return _CODECS[fmt][0](blocks).tobytes()


def decode(fmt, data):
    """Bytes of whole blocks -> their exact values, concatenated."""
    raw = np.frombuffer(data, dtype=np.uint8).reshape(-1, SIZES[fmt][1])
    return _CODECS[fmt][1](raw).reshape(-1)


# Blocks of 32


def _encode_q8_0(x):
    """f16 d, 32 int8 q; the value is d * q.

    d = max|x| / 127; q = round(x * (1/d)), halves away from zero, with the unrounded d
    (ggml, quantize_row_q8_0_ref)."""
    d = np.max(np.abs(x), axis=1) / np.float32(127)
    q = round_half_away(x * inverse(d)[:, None]).astype(np.int8)
    return joined(half(d), q.view(np.uint8))


def _decode_q8_0(raw):
    return from_half(raw[:, :2]) * as_bytes(raw[:, 2:]).view(np.int8).astype(np.float32)


def _encode_q4_0(x):
    """f16 d, 16 bytes of nibbles; the value is d * (q - 8).

    d = m / -8 with m the (first) value of the largest magnitude, sign included;
    q = min(15, int(x * (1/d) + 8.5)). The low nibble of byte j is value j, the high nibble value
    j + 16 (ggml, quantize_row_q4_0_ref)."""
    d = largest(x) / np.float32(-8)
    q = np.minimum((x * inverse(d)[:, None] + np.float32(8.5)).astype(np.int8), 15)
    return joined(half(d), nibbles(q.astype(np.uint8)))


def _decode_q4_0(raw):
    return from_half(raw[:, :2]) * (from_nibbles(raw[:, 2:]).astype(np.float32) - np.float32(8))


def _encode_q4_1(x):
    """f16 d, f16 m, 16 bytes of nibbles; the value is d * q + m.

    m = min x; d = (max x - m) / 15; q = min(15, int((x - m) * (1/d) + 0.5))
    (ggml, quantize_row_q4_1_ref)."""
    m = x.min(axis=1)
    d = (x.max(axis=1) - m) / np.float32(15)
    q = np.minimum(((x - m[:, None]) * inverse(d)[:, None] + np.float32(0.5)).astype(np.int8), 15)
    return joined(half(d), half(m), nibbles(q.astype(np.uint8)))


def _decode_q4_1(raw):
    q = from_nibbles(raw[:, 4:]).astype(np.float64)
    return from_half(raw[:, :2]) * q + from_half(raw[:, 2:4])


def _encode_q5_0(x):
    """f16 d, u32 of fifth bits, 16 bytes of nibbles; the value is d * (q - 16).

    d = m / -16 with m the (first) value of the largest magnitude; q = min(31, int(x * (1/d) +
    16.5)). Bit j of the u32 is the fifth bit of value j (ggml, quantize_row_q5_0_ref)."""
    d = largest(x) / np.float32(-16)
    q = np.minimum((x * inverse(d)[:, None] + np.float32(16.5)).astype(np.int8), 31)
    q = q.astype(np.uint8)
    return joined(half(d), np.packbits(q >> 4, axis=1, bitorder="little"), nibbles(q & 15))


def _decode_q5_0(raw):
    high = np.unpackbits(as_bytes(raw[:, 2:6]), axis=1, bitorder="little")
    q = from_nibbles(raw[:, 6:]) | (high << 4)
    return from_half(raw[:, :2]) * (q.astype(np.float32) - np.float32(16))


def _encode_q5_1(x):
    """f16 d, f16 m, u32 of fifth bits, 16 bytes of nibbles; the value is d * q + m.

    m = min x; d = (max x - m) / 31; q = int((x - m) * (1/d) + 0.5)
    (ggml, quantize_row_q5_1_ref)."""
    m = x.min(axis=1)
    d = (x.max(axis=1) - m) / np.float32(31)
    q = ((x - m[:, None]) * inverse(d)[:, None] + np.float32(0.5)).astype(np.uint8)
    return joined(half(d), half(m), np.packbits(q >> 4, axis=1, bitorder="little"),
                  nibbles(q & 15))


def _decode_q5_1(raw):
    high = np.unpackbits(as_bytes(raw[:, 4:8]), axis=1, bitorder="little")
    q = (from_nibbles(raw[:, 8:]) | (high << 4)).astype(np.float64)
    return from_half(raw[:, :2]) * q + from_half(raw[:, 2:4])


# Super-blocks of 256


def _two_bits(q):
    """[n, 256] of 0 to 3 -> bytes [n, 64]: pair n of byte j of a half is value 32 * n + j."""
    q = q.reshape(-1, 2, 4, 32)
    return (q[:, :, 0] | q[:, :, 1] << 2 | q[:, :, 2] << 4 | q[:, :, 3] << 6).reshape(-1, 64)


def _from_two_bits(raw):
    pairs = as_bytes(raw).reshape(-1, 2, 1, 32)
    return np.concatenate([pairs >> shift & 3 for shift in (0, 2, 4, 6)], axis=2).reshape(-1, SUPER)


def _encode_q2_k(x):
    """16 bytes of a scale (low nibble) and a min, 64 bytes of two bits, f16 d, f16 dmin; the value
    is d * scale * q - dmin * min with a scale and a min for each 16 values."""
    groups = x.reshape(-1, 16, 16)
    least = np.maximum(-groups.min(axis=2), np.float32(0))
    scale = np.maximum((groups.max(axis=2) + least) / np.float32(3), np.float32(0))
    d, dmin = half(scale.max(axis=1) / np.float32(15)), half(least.max(axis=1) / np.float32(15))
    scale = np.clip(np.rint(scale * inverse(from_half(d))), 0, 15)
    least = np.clip(np.rint(least * inverse(from_half(dmin))), 0, 15)
    shifted = groups + (from_half(dmin) * least)[:, :, None]
    q = np.clip(np.rint(shifted * inverse(from_half(d) * scale)[:, :, None]), 0, 3)
    return joined(scale.astype(np.uint8) | least.astype(np.uint8) << 4,
                  _two_bits(q.astype(np.uint8)), d, dmin)


def _decode_q2_k(raw):
    q = _from_two_bits(raw[:, 16:80]).reshape(-1, 16, 16).astype(np.float64)
    factor = from_half(raw[:, 80:82]) * (raw[:, :16] & 15)
    offset = from_half(raw[:, 82:84]) * (raw[:, :16] >> 4)
    return factor[:, :, None] * q - offset[:, :, None]


def _encode_q3_k(x):
    """32 bytes of third bits (bit n of byte j is that of value 32 * n + j), 64 bytes of two bits, 12
    bytes of 16 scales plus 32, f16 d; the value is d * scale * (q - 4) with a scale for each 16
    values. Four bits of scale g are in byte g % 8, two more in byte 8 + g % 4."""
    groups = x.reshape(-1, 16, 16)
    scale = largest(groups.reshape(-1, 16)).reshape(-1, 16) / np.float32(-4)
    d = half(np.abs(scale).max(axis=1) / np.float32(31))
    scale = np.clip(np.rint(scale * inverse(from_half(d))), -32, 31)
    factor = inverse(from_half(d) * scale)[:, :, None]
    q = (np.clip(np.rint(groups * factor), -4, 3) + 4).astype(np.uint8).reshape(-1, SUPER)
    stored = (scale + 32).astype(np.uint8)
    low, high = stored & 15, (stored >> 4).reshape(-1, 4, 4)
    third = np.packbits(q.reshape(-1, 8, 32) >> 2, axis=1, bitorder="little")[:, 0]
    return joined(third, _two_bits(q & 3), low[:, :8] | low[:, 8:] << 4,
                  high[:, 0] | high[:, 1] << 2 | high[:, 2] << 4 | high[:, 3] << 6, d)


def _decode_q3_k(raw):
    third = np.unpackbits(as_bytes(raw[:, None, :32]), axis=1, bitorder="little")
    q = _from_two_bits(raw[:, 32:96]) | third.reshape(-1, SUPER) << 2
    low = np.concatenate([raw[:, 96:104] & 15, raw[:, 96:104] >> 4], axis=1)
    high = np.concatenate([raw[:, 104:108] >> shift & 3 for shift in (0, 2, 4, 6)], axis=1)
    scale = (low | high << 4).astype(np.float32) - np.float32(32)
    return (from_half(raw[:, 108:110]) * scale)[:, :, None] * (
        q.reshape(-1, 16, 16).astype(np.float32) - np.float32(4))


def _encode_q4_k(x):
    """f16 d, f16 dmin, 12 bytes of scales, 128 bytes of nibbles; the value is
    d * scale * q - dmin * min with a scale and a min of 6 bits for each 32 values."""
    d, least, packed, q = _ranges(x, 15)
    return joined(d, least, packed, nibbles(q.reshape(-1, 2 * BLOCK)).reshape(len(x), -1))


def _decode_q4_k(raw):
    q = from_nibbles(as_bytes(raw[:, 16:]).reshape(-1, BLOCK)).reshape(-1, 8, BLOCK)
    return _from_ranges(raw, q)


def _encode_q5_k(x):
    """As Q4_K with 32 bytes of fifth bits before the nibbles: bit g of byte j belongs to value j of
    group g."""
    d, least, packed, q = _ranges(x, 31)
    high = np.packbits(q >> 4, axis=1, bitorder="little")[:, 0]  # [n, 32]: a bit for each group
    return joined(d, least, packed, high,
                   nibbles((q & 15).reshape(-1, 2 * BLOCK)).reshape(len(x), -1))


def _decode_q5_k(raw):
    q = from_nibbles(as_bytes(raw[:, 48:]).reshape(-1, BLOCK)).reshape(-1, 8, BLOCK)
    high = np.unpackbits(as_bytes(raw[:, 16:48])[:, None, :], axis=1, bitorder="little")
    return _from_ranges(raw, q | (high << 4))


def _ranges(x, top):
    """[n, 256] -> f16 d and dmin (bytes), packed 6-bit scales, q uint8 [n, 8, 32] of 0 to top."""
    x = x.reshape(-1, 8, BLOCK)
    least = np.maximum(-x.min(axis=2), np.float32(0))  # the subtrahend: never negative
    scale = (x.max(axis=2) + least) / np.float32(top)
    scale = np.maximum(scale, np.float32(0))
    d, scale = _six_bits(scale)
    dmin, least = _six_bits(least)
    factor = inverse(from_half(d) * scale)[:, :, None]
    shifted = x + (from_half(dmin) * least)[:, :, None]
    q = np.clip(np.rint(shifted * factor), 0, top).astype(np.uint8)
    return d, dmin, _pack_six_bits(scale.astype(np.uint8), least.astype(np.uint8)), q


def _six_bits(values):
    """Values >= 0 [n, 8] -> (f16 unit as bytes, whole numbers 0 to 63 of it as float32)."""
    unit = half(values.max(axis=1) / np.float32(63))
    return unit, np.clip(np.rint(values * inverse(from_half(unit))), 0, 63)


def _pack_six_bits(scale, least):
    """uint8 [n, 8] each -> [n, 12]: the first four of each have one byte, whose two free bits store
    the high bits of the last four; their low bits share the last four bytes."""
    return np.concatenate([scale[:, :4] | (scale[:, 4:] >> 4 << 6),
                           least[:, :4] | (least[:, 4:] >> 4 << 6),
                           (scale[:, 4:] & 15) | ((least[:, 4:] & 15) << 4)], axis=1)


def _from_ranges(raw, q):
    """d * scale * q - dmin * min: raw blocks, q [n, 8, 32] -> float64 [n, 8, 32]."""
    a, b, c = raw[:, 4:8], raw[:, 8:12], raw[:, 12:16]
    scale = np.concatenate([a & 63, (c & 15) | (a >> 6 << 4)], axis=1).astype(np.float64)
    least = np.concatenate([b & 63, (c >> 4) | (b >> 6 << 4)], axis=1).astype(np.float64)
    factor, offset = from_half(raw[:, :2]) * scale, from_half(raw[:, 2:4]) * least
    return factor[:, :, None] * q - offset[:, :, None]


def _encode_q6_k(x):
    """128 bytes of low nibbles, 64 of high pairs, 16 int8 scales, f16 d; the value is
    d * scale * (q - 32) with a scale for each 16 values.

    In each half of 128 values, byte l of 64 nibbles holds values l and l + 64, and byte l of 32
    pairs values l, l + 32, l + 64 and l + 96."""
    groups = x.reshape(-1, 16, 16)
    most, least = groups.max(axis=2), groups.min(axis=2)
    scale = np.where(most > -least, most, least) / np.float32(-32)
    d = half(np.abs(scale).max(axis=1) / np.float32(127))
    scale = np.clip(np.rint(scale * inverse(from_half(d))), -127, 127)
    factor = inverse(from_half(d) * scale)[:, :, None]
    q = (np.clip(np.rint(groups * factor), -32, 31) + 32).astype(np.uint8).reshape(-1, 2, 4, 32)
    low, high = q & 15, q >> 4
    nibbles = (low[:, :, :2] | (low[:, :, 2:] << 4)).reshape(-1, 128)
    pairs = high[:, :, 0] | (high[:, :, 1] << 2) | (high[:, :, 2] << 4) | (high[:, :, 3] << 6)
    return joined(nibbles, pairs.reshape(-1, 64), scale.astype(np.int8).view(np.uint8), d)


def _decode_q6_k(raw):
    nibbles = as_bytes(raw[:, :128]).reshape(-1, 2, 2, 32)
    pairs = as_bytes(raw[:, 128:192]).reshape(-1, 2, 1, 32)
    low = np.concatenate([nibbles & 15, nibbles >> 4], axis=2)  # [n, 2, 4, 32]
    high = np.concatenate([pairs >> shift & 3 for shift in (0, 2, 4, 6)], axis=2)
    q = (low | (high << 4)).astype(np.float32).reshape(-1, 16, 16) - np.float32(32)
    scale = as_bytes(raw[:, 192:208]).view(np.int8).astype(np.float32)
    return (from_half(raw[:, 208:210]) * scale)[:, :, None] * q


_CODECS = dict({name: (globals()["_encode_" + name], globals()["_decode_" + name])
                for name in SIZES if name not in codebooks.SIZES}, **codebooks.CODECS)
