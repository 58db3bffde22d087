# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Number formats of stored tensors: bytes <-> values, and rounding to a format.

A format is f64, f32, f16, bf16 or one of the block formats of blocks.py. Values are exact: in float32,
or in float64 for block formats that add two terms; those of f64 are rounded to float32.
"""

from collections import namedtuple

import numpy as np

from . import blocks

# format -> (values per block, bytes per block)
FORMATS = dict({"f64": (1, 8), "f32": (1, 4), "f16": (1, 2), "bf16": (1, 2)}, **blocks.SIZES)


class Tensor(namedtuple("Tensor", "format shape data")):
    """A stored tensor: format name, shape (slowest dimension first), raw little-endian bytes."""

    __slots__ = ()

    def values(self):
        """The exact values [shape]."""
        return decode(self.format, self.shape, self.data)


def byte_size(fmt, shape):
    """Size in bytes of a tensor of this format and shape; blocks extend along the last dimension."""
    per_block, block_bytes = FORMATS[fmt]
    count = 1
    for extent in shape:
        count *= extent
    if per_block > 1 and (not shape or shape[-1] % per_block):
        raise ValueError("%s needs rows of a multiple of %d values, got shape %s"
                         % (fmt, per_block, tuple(shape)))
    return count // per_block * block_bytes


def encode(fmt, values):
    """Rounds an array to a format and returns it as a Tensor.

    f16 and bf16 round to nearest even."""
    values = np.ascontiguousarray(values, dtype=np.float32)
    size = byte_size(fmt, values.shape)
    if fmt in ("f32", "f64"):
        data = values.astype("<f4" if fmt == "f32" else "<f8").tobytes()
    elif fmt == "f16":
        with np.errstate(over="ignore"):
            data = values.astype("<f2").tobytes()
    elif fmt == "bf16":
        data = f32_to_bf16_bits(values).astype("<u2").tobytes()
    else:
        data = blocks.encode(fmt, values)
    assert len(data) == size
    return Tensor(fmt, tuple(values.shape), data)


def decode(fmt, shape, data):
    """Exact values of stored bytes [shape]."""
    if len(data) != byte_size(fmt, shape):
        raise ValueError("%s %s needs %d bytes, got %d"
                         % (fmt, tuple(shape), byte_size(fmt, shape), len(data)))
    if fmt in ("f32", "f64"):
        values = np.frombuffer(data, dtype="<f4" if fmt == "f32" else "<f8").astype(np.float32)
    elif fmt == "f16":
        values = np.frombuffer(data, dtype="<f2").astype(np.float32)
    elif fmt == "bf16":
        values = bf16_bits_to_f32(np.frombuffer(data, dtype="<u2"))
    else:
        values = blocks.decode(fmt, data)
    return values.reshape(shape)


def round_to(fmt, x):
    """Rounds float64 values to f32, f16 or bf16 (nearest, ties to even), kept as float64.

    "f64" does not round. Values are rounded to float32 before bf16, as in code that computes in
    float32."""
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
