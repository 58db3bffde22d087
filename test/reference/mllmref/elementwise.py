# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Element-wise ops."""

import math

import numpy as np

BITS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64}


def wrap(x, kind):
    """Wraps integers to the two's complement of the type."""
    count = 1 << BITS[kind]
    return np.array([(int(v) + count // 2) % count - count // 2 for v in np.ravel(x)], np.float64).reshape(np.shape(x))


def div(a, b, kind="f32"):
    with np.errstate(divide="ignore", invalid="ignore"):
        if kind not in BITS:
            return np.true_divide(a, b)
        return wrap(np.where(np.asarray(b) == 0, 0, np.fix(np.true_divide(a, np.where(b == 0, 1, b)))), kind)


def whole_quotient(a, b):
    """Division of int64 toward zero, without conversion to float64."""
    quotients = [abs(int(x)) // abs(int(y)) * (1 if (x < 0) == (y < 0) else -1) for x, y in zip(a, b)]
    return np.array([(q + (1 << 63)) % (1 << 64) - (1 << 63) for q in quotients], np.int64)


def clip(x, least=-1.0, greatest=1.0):
    return np.where(x < least, least, np.where(x > greatest, greatest, x))


def arange(x, start, step):
    return start + step * np.arange(x.size).reshape(x.shape)


def splitmix(count, seed):
    """The first outputs of SplitMix64."""
    mask, numbers = (1 << 64) - 1, []
    for i in range(1, count + 1):
        z = (seed + i * 0x9E3779B97F4A7C15) & mask
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        numbers.append(z ^ (z >> 31))
    return numbers


def random(x, start, end, seed, whole=False):
    numbers = splitmix(x.size, seed)
    if whole:
        values = [start + z % (end - start) for z in numbers]
    else:
        values = [start + (end - start) * ((z >> 11) / 2.0 ** 53) for z in numbers]
    return np.array(values, np.float64).reshape(x.shape)


def cast(x, kind, source="f32"):
    """Floats are truncated and saturate to the range of integers; integers wrap."""
    if kind == "i1":
        return x != 0
    if kind not in BITS:
        return x
    if source in BITS or source == "i1":
        return wrap(x, kind)
    half = 1 << (BITS[kind] - 1)
    return np.array([0 if math.isnan(v) else min(max(math.trunc(v) if math.isfinite(v) else v, -half), half - 1)
                     for v in np.ravel(x)], np.int64).reshape(np.shape(x))
