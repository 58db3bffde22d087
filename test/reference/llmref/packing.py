# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the codecs of block formats share: f16, nibbles, rounding."""

import numpy as np

SUPER = 256  # values of a super-block


def half(values):
    """float32 [n] -> bytes of f16 [n, 2]."""
    return values.astype("<f2").reshape(-1, 1).view(np.uint8)


def from_half(raw):
    """Bytes of f16 [n, 2] -> float32 [n, 1]."""
    return as_bytes(raw).view("<f2").astype(np.float32)


def nibbles(q):
    """[n, 2m] of 0 to 15 -> bytes [n, m]: the low nibbles hold the first half of a row."""
    half = q.shape[1] // 2
    return q[:, :half] | (q[:, half:] << 4)


def from_nibbles(raw):
    return np.concatenate([raw & 15, raw >> 4], axis=1)


def as_bytes(raw):
    return np.ascontiguousarray(raw)


def joined(*parts):
    return np.concatenate(parts, axis=1)


def largest(x):
    """The first value of the largest magnitude of each row, with its sign."""
    return x[np.arange(len(x)), np.argmax(np.abs(x), axis=1)]


def round_half_away(x):
    """C's roundf: nearest integer, halves away from zero (np.round takes halves to even)."""
    magnitude = np.abs(x)
    whole = np.floor(magnitude)
    return np.copysign(whole + np.floor(2 * (magnitude - whole)), x)


def inverse(d):
    """1/d in float32, and 0 where d is 0."""
    with np.errstate(divide="ignore"):
        return np.where(d == 0, np.float32(0), np.float32(1) / d).astype(np.float32)
