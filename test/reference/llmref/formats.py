# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Number formats of stored tensors: bytes <-> values, and rounding to a format.

A format is named f32, f16, bf16, q8_0 or q4_0. Every value of each of them is exact in float32.
"""

from collections import namedtuple

import numpy as np

BLOCK = 32  # values in a Q8_0 or Q4_0 block

# format -> (values per block, bytes per block)
FORMATS = {"f32": (1, 4), "f16": (1, 2), "bf16": (1, 2), "q8_0": (BLOCK, 34), "q4_0": (BLOCK, 18)}


class Tensor(namedtuple("Tensor", "format shape data")):
    """A stored tensor: format name, shape (slowest dimension first), raw little-endian bytes."""

    __slots__ = ()

    def values(self):
        """The exact values, float32 [shape]."""
        return decode(self.format, self.shape, self.data)


def byte_size(fmt, shape):
    """Bytes that a tensor of this format and shape takes; the last dimension holds the blocks."""
    per_block, block_bytes = FORMATS[fmt]
    count = 1
    for extent in shape:
        count *= extent
    if per_block > 1 and (not shape or shape[-1] % per_block):
        raise ValueError("%s needs rows of a multiple of %d values, got shape %s"
                         % (fmt, per_block, tuple(shape)))
    return count // per_block * block_bytes


def encode(fmt, values):
    """Rounds an array to a format and gives it as a Tensor.

    f16 and bf16 round to nearest even; q8_0 and q4_0 quantise as ggml's reference does."""
    values = np.ascontiguousarray(values, dtype=np.float32)
    size = byte_size(fmt, values.shape)
    if fmt == "f32":
        data = values.astype("<f4").tobytes()
    elif fmt == "f16":
        with np.errstate(over="ignore"):
            data = values.astype("<f2").tobytes()
    elif fmt == "bf16":
        data = f32_to_bf16_bits(values).astype("<u2").tobytes()
    elif fmt == "q8_0":
        data = quantize_q8_0(values.reshape(-1, BLOCK))
    else:
        data = quantize_q4_0(values.reshape(-1, BLOCK))
    assert len(data) == size
    return Tensor(fmt, tuple(values.shape), data)


def decode(fmt, shape, data):
    """Exact values of stored bytes: float32 [shape]."""
    if len(data) != byte_size(fmt, shape):
        raise ValueError("%s %s needs %d bytes, got %d"
                         % (fmt, tuple(shape), byte_size(fmt, shape), len(data)))
    if fmt == "f32":
        values = np.frombuffer(data, dtype="<f4").astype(np.float32)
    elif fmt == "f16":
        values = np.frombuffer(data, dtype="<f2").astype(np.float32)
    elif fmt == "bf16":
        values = bf16_bits_to_f32(np.frombuffer(data, dtype="<u2"))
    elif fmt == "q8_0":
        values = dequantize_q8_0(data)
    else:
        values = dequantize_q4_0(data)
    return values.reshape(shape)


def round_to(fmt, x):
    """Rounds float64 values to f32, f16 or bf16 (nearest, ties to even), kept as float64.

    "f64" leaves them alone. bf16 is reached through float32, as code that computes in float32
    does."""
    if fmt in ("f64", "none", None):
        return np.asarray(x, dtype=np.float64)
    with np.errstate(over="ignore"):
        if fmt == "f32":
            return np.asarray(x).astype(np.float32).astype(np.float64)
        if fmt == "f16":
            return np.asarray(x).astype(np.float16).astype(np.float64)
        if fmt == "bf16":
            single = np.asarray(x).astype(np.float32)
            return bf16_bits_to_f32(f32_to_bf16_bits(single)).astype(np.float64)
    raise ValueError("cannot round to %r: want f64, f32, f16 or bf16" % (fmt,))


def f32_to_bf16_bits(values):
    """float32 -> uint16 bits of bf16: nearest, ties to even; NaN stays a (quiet) NaN."""
    bits = np.ascontiguousarray(values, dtype=np.float32).view(np.uint32)
    high = bits >> np.uint32(16)
    rounded = (bits + np.uint32(0x7FFF) + (high & np.uint32(1))) >> np.uint32(16)
    quieted = high | np.uint32(0x0040)
    is_nan = (bits & np.uint32(0x7FFFFFFF)) > np.uint32(0x7F800000)
    return np.where(is_nan, quieted, rounded).astype(np.uint16)


def bf16_bits_to_f32(bits):
    """uint16 bits of bf16 -> float32, exact."""
    return (np.asarray(bits).astype(np.uint32) << np.uint32(16)).view(np.float32)


def quantize_q8_0(blocks):
    """float32 [n, 32] -> Q8_0 bytes: f16 d, then 32 int8 q; the value is d * q.

    d = max|x| / 127; q = round(x * (1/d)), halves away from zero, with the unrounded d
    (ggml, quantize_row_q8_0_ref)."""
    blocks = np.asarray(blocks, dtype=np.float32)
    d = np.max(np.abs(blocks), axis=1) / np.float32(127)
    q = _round_half_away(blocks * _inverse(d)[:, None]).astype(np.int8)
    out = np.empty((len(blocks), 34), dtype=np.uint8)
    out[:, :2] = d.astype("<f2").reshape(-1, 1).view(np.uint8)
    out[:, 2:] = q.view(np.uint8)
    return out.tobytes()


def dequantize_q8_0(data):
    """Q8_0 bytes -> float32 [n * 32]."""
    raw = np.frombuffer(data, dtype=np.uint8).reshape(-1, 34)
    d = np.ascontiguousarray(raw[:, :2]).view("<f2").astype(np.float32)
    return (d * np.ascontiguousarray(raw[:, 2:]).view(np.int8).astype(np.float32)).reshape(-1)


def quantize_q4_0(blocks):
    """float32 [n, 32] -> Q4_0 bytes: f16 d, then 16 bytes of nibbles; the value is d * (q - 8).

    d = m / -8 with m the (first) value of the largest magnitude, sign included;
    q = min(15, int(x * (1/d) + 8.5)). The low nibble of byte j is value j, the high nibble value
    j + 16 (ggml, quantize_row_q4_0_ref)."""
    blocks = np.asarray(blocks, dtype=np.float32)
    largest = np.argmax(np.abs(blocks), axis=1)
    d = blocks[np.arange(len(blocks)), largest] / np.float32(-8)
    q = (blocks * _inverse(d)[:, None] + np.float32(8.5)).astype(np.int8)
    q = np.minimum(q, 15).astype(np.uint8)
    out = np.empty((len(blocks), 18), dtype=np.uint8)
    out[:, :2] = d.astype("<f2").reshape(-1, 1).view(np.uint8)
    out[:, 2:] = q[:, :16] | (q[:, 16:] << 4)
    return out.tobytes()


def dequantize_q4_0(data):
    """Q4_0 bytes -> float32 [n * 32]."""
    raw = np.frombuffer(data, dtype=np.uint8).reshape(-1, 18)
    d = np.ascontiguousarray(raw[:, :2]).view("<f2").astype(np.float32)
    nibbles = np.concatenate([raw[:, 2:] & 15, raw[:, 2:] >> 4], axis=1)
    return (d * (nibbles.astype(np.float32) - np.float32(8))).reshape(-1)


def _round_half_away(x):
    """C's roundf: nearest integer, halves away from zero (np.round takes halves to even)."""
    magnitude = np.abs(x)
    whole = np.floor(magnitude)
    return np.copysign(whole + np.floor(2 * (magnitude - whole)), x)


def _inverse(d):
    """1/d in float32, and 0 where d is 0."""
    with np.errstate(divide="ignore"):
        return np.where(d == 0, np.float32(0), np.float32(1) / d).astype(np.float32)
