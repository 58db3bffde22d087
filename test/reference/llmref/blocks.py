# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GGUF's block formats: float32 values <-> bytes.

Q8_0, Q4_0, Q4_1, Q5_0: blocks of 32 values, each with its scales. Q4_K, Q5_K, Q6_K: super-blocks
of 256 values, whose groups have integer scales relative to one f16 scale. Layouts and the quantizers
of blocks of 32 are ggml's; the quantizers of super-blocks use the rounded range of each group,
whereas ggml's search for a smaller error.

Decoded values are exact: a product of a scale and an integer in float32, a sum of two in float64.
"""

import numpy as np

BLOCK, SUPER = 32, 256

# format -> (values per block, bytes per block)
SIZES = {"q8_0": (BLOCK, 34), "q4_0": (BLOCK, 18), "q4_1": (BLOCK, 20), "q5_0": (BLOCK, 22),
         "q4_k": (SUPER, 144), "q5_k": (SUPER, 176), "q6_k": (SUPER, 210)}


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
    q = _round_half_away(x * _inverse(d)[:, None]).astype(np.int8)
    return _joined(_half(d), q.view(np.uint8))


def _decode_q8_0(raw):
    return _from_half(raw[:, :2]) * _bytes(raw[:, 2:]).view(np.int8).astype(np.float32)


def _encode_q4_0(x):
    """f16 d, 16 bytes of nibbles; the value is d * (q - 8).

    d = m / -8 with m the (first) value of the largest magnitude, sign included;
    q = min(15, int(x * (1/d) + 8.5)). The low nibble of byte j is value j, the high nibble value
    j + 16 (ggml, quantize_row_q4_0_ref)."""
    d = _largest(x) / np.float32(-8)
    q = np.minimum((x * _inverse(d)[:, None] + np.float32(8.5)).astype(np.int8), 15)
    return _joined(_half(d), _nibbles(q.astype(np.uint8)))


def _decode_q4_0(raw):
    return _from_half(raw[:, :2]) * (_from_nibbles(raw[:, 2:]).astype(np.float32) - np.float32(8))


def _encode_q4_1(x):
    """f16 d, f16 m, 16 bytes of nibbles; the value is d * q + m.

    m = min x; d = (max x - m) / 15; q = min(15, int((x - m) * (1/d) + 0.5))
    (ggml, quantize_row_q4_1_ref)."""
    m = x.min(axis=1)
    d = (x.max(axis=1) - m) / np.float32(15)
    q = np.minimum(((x - m[:, None]) * _inverse(d)[:, None] + np.float32(0.5)).astype(np.int8), 15)
    return _joined(_half(d), _half(m), _nibbles(q.astype(np.uint8)))


def _decode_q4_1(raw):
    q = _from_nibbles(raw[:, 4:]).astype(np.float64)
    return _from_half(raw[:, :2]) * q + _from_half(raw[:, 2:4])


def _encode_q5_0(x):
    """f16 d, u32 of fifth bits, 16 bytes of nibbles; the value is d * (q - 16).

    d = m / -16 with m the (first) value of the largest magnitude; q = min(31, int(x * (1/d) +
    16.5)). Bit j of the u32 is the fifth bit of value j (ggml, quantize_row_q5_0_ref)."""
    d = _largest(x) / np.float32(-16)
    q = np.minimum((x * _inverse(d)[:, None] + np.float32(16.5)).astype(np.int8), 31)
    q = q.astype(np.uint8)
    return _joined(_half(d), np.packbits(q >> 4, axis=1, bitorder="little"), _nibbles(q & 15))


def _decode_q5_0(raw):
    high = np.unpackbits(_bytes(raw[:, 2:6]), axis=1, bitorder="little")
    q = _from_nibbles(raw[:, 6:]) | (high << 4)
    return _from_half(raw[:, :2]) * (q.astype(np.float32) - np.float32(16))


# Super-blocks of 256


def _encode_q4_k(x):
    """f16 d, f16 dmin, 12 bytes of scales, 128 bytes of nibbles; the value is
    d * scale * q - dmin * min with a scale and a min of 6 bits for each 32 values."""
    d, least, packed, q = _ranges(x, 15)
    return _joined(d, least, packed, _nibbles(q.reshape(-1, 2 * BLOCK)).reshape(len(x), -1))


def _decode_q4_k(raw):
    q = _from_nibbles(_bytes(raw[:, 16:]).reshape(-1, BLOCK)).reshape(-1, 8, BLOCK)
    return _from_ranges(raw, q)


def _encode_q5_k(x):
    """As Q4_K with 32 bytes of fifth bits before the nibbles: bit g of byte j belongs to value j of
    group g."""
    d, least, packed, q = _ranges(x, 31)
    high = np.packbits(q >> 4, axis=1, bitorder="little")[:, 0]  # [n, 32]: a bit for each group
    return _joined(d, least, packed, high,
                   _nibbles((q & 15).reshape(-1, 2 * BLOCK)).reshape(len(x), -1))


def _decode_q5_k(raw):
    q = _from_nibbles(_bytes(raw[:, 48:]).reshape(-1, BLOCK)).reshape(-1, 8, BLOCK)
    high = np.unpackbits(_bytes(raw[:, 16:48])[:, None, :], axis=1, bitorder="little")
    return _from_ranges(raw, q | (high << 4))


def _ranges(x, top):
    """[n, 256] -> f16 d and dmin (bytes), packed 6-bit scales, q uint8 [n, 8, 32] of 0 to top."""
    x = x.reshape(-1, 8, BLOCK)
    least = np.maximum(-x.min(axis=2), np.float32(0))  # the subtrahend: never negative
    scale = (x.max(axis=2) + least) / np.float32(top)
    scale = np.maximum(scale, np.float32(0))
    d, scale = _six_bits(scale)
    dmin, least = _six_bits(least)
    factor = _inverse(_from_half(d) * scale)[:, :, None]
    shifted = x + (_from_half(dmin) * least)[:, :, None]
    q = np.clip(np.rint(shifted * factor), 0, top).astype(np.uint8)
    return d, dmin, _pack_six_bits(scale.astype(np.uint8), least.astype(np.uint8)), q


def _six_bits(values):
    """Values >= 0 [n, 8] -> (f16 unit as bytes, whole numbers 0 to 63 of it as float32)."""
    unit = _half(values.max(axis=1) / np.float32(63))
    return unit, np.clip(np.rint(values * _inverse(_from_half(unit))), 0, 63)


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
    factor, offset = _from_half(raw[:, :2]) * scale, _from_half(raw[:, 2:4]) * least
    return factor[:, :, None] * q - offset[:, :, None]


def _encode_q6_k(x):
    """128 bytes of low nibbles, 64 of high pairs, 16 int8 scales, f16 d; the value is
    d * scale * (q - 32) with a scale for each 16 values.

    In each half of 128 values, byte l of 64 nibbles holds values l and l + 64, and byte l of 32
    pairs values l, l + 32, l + 64 and l + 96."""
    groups = x.reshape(-1, 16, 16)
    most, least = groups.max(axis=2), groups.min(axis=2)
    scale = np.where(most > -least, most, least) / np.float32(-32)
    d = _half(np.abs(scale).max(axis=1) / np.float32(127))
    scale = np.clip(np.rint(scale * _inverse(_from_half(d))), -127, 127)
    factor = _inverse(_from_half(d) * scale)[:, :, None]
    q = (np.clip(np.rint(groups * factor), -32, 31) + 32).astype(np.uint8).reshape(-1, 2, 4, 32)
    low, high = q & 15, q >> 4
    nibbles = (low[:, :, :2] | (low[:, :, 2:] << 4)).reshape(-1, 128)
    pairs = high[:, :, 0] | (high[:, :, 1] << 2) | (high[:, :, 2] << 4) | (high[:, :, 3] << 6)
    return _joined(nibbles, pairs.reshape(-1, 64), scale.astype(np.int8).view(np.uint8), d)


def _decode_q6_k(raw):
    nibbles = _bytes(raw[:, :128]).reshape(-1, 2, 2, 32)
    pairs = _bytes(raw[:, 128:192]).reshape(-1, 2, 1, 32)
    low = np.concatenate([nibbles & 15, nibbles >> 4], axis=2)  # [n, 2, 4, 32]
    high = np.concatenate([pairs >> shift & 3 for shift in (0, 2, 4, 6)], axis=2)
    q = (low | (high << 4)).astype(np.float32).reshape(-1, 16, 16) - np.float32(32)
    scale = _bytes(raw[:, 192:208]).view(np.int8).astype(np.float32)
    return (_from_half(raw[:, 208:210]) * scale)[:, :, None] * q


# Shared by all formats


def _half(values):
    """float32 [n] -> bytes of f16 [n, 2]."""
    return values.astype("<f2").reshape(-1, 1).view(np.uint8)


def _from_half(raw):
    """Bytes of f16 [n, 2] -> float32 [n, 1]."""
    return _bytes(raw).view("<f2").astype(np.float32)


def _nibbles(q):
    """[n, 2m] of 0 to 15 -> bytes [n, m]: the low nibbles hold the first half of a row."""
    half = q.shape[1] // 2
    return q[:, :half] | (q[:, half:] << 4)


def _from_nibbles(raw):
    return np.concatenate([raw & 15, raw >> 4], axis=1)


def _bytes(raw):
    return np.ascontiguousarray(raw)


def _joined(*parts):
    return np.concatenate(parts, axis=1)


def _largest(x):
    """The first value of the largest magnitude of each row, with its sign."""
    return x[np.arange(len(x)), np.argmax(np.abs(x), axis=1)]


def _round_half_away(x):
    """C's roundf: nearest integer, halves away from zero (np.round takes halves to even)."""
    magnitude = np.abs(x)
    whole = np.floor(magnitude)
    return np.copysign(whole + np.floor(2 * (magnitude - whole)), x)


def _inverse(d):
    """1/d in float32, and 0 where d is 0."""
    with np.errstate(divide="ignore"):
        return np.where(d == 0, np.float32(0), np.float32(1) / d).astype(np.float32)


_CODECS = {"q8_0": (_encode_q8_0, _decode_q8_0), "q4_0": (_encode_q4_0, _decode_q4_0),
           "q4_1": (_encode_q4_1, _decode_q4_1), "q5_0": (_encode_q5_0, _decode_q5_0),
           "q4_k": (_encode_q4_k, _decode_q4_k), "q5_k": (_encode_q5_k, _decode_q5_k),
           "q6_k": (_encode_q6_k, _decode_q6_k)}
