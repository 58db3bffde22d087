# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Emulates the rounding of compiled models; each field of Rounding is optional.

    Model.forward(ids)                          # nothing is rounded
    Model.forward(ids, compiled(kv="bf16"))     # as `llmir` with a bf16 KV cache
    Model.forward(ids, Rounding(kv="bf16"))     # the cache only

Weights keep the exact values of their stored format in all of them.
"""

from collections import namedtuple

import numpy as np

from .blocks import SIZES
from .formats import round_to


def input_group(fmt):
    """Group size of int8 inputs that are multiplied by weights of this format: 64 if the scales of the
    weights are per row or per more than 32 values, else 32."""
    parts = fmt.split(":")
    return 64 if parts[0] in ("int8", "int4") and "g32" not in parts else 32


class Rounding(namedtuple("Rounding", "results kv attention inputs")):
    """results    the result of each operation: f64 (not rounded) or f32
    kv         keys and values in the cache: f64, f32, f16, bf16, or q8
    attention  the exponentials that weight values: f64 or bf16; queries are sums of two such numbers
    inputs     {format of a weight: type of the other operand, bf16 or int8}; others are not rounded
    """

    __slots__ = ()

    def __new__(cls, results="f64", kv="f64", attention="f64", inputs=None):
        return super(Rounding, cls).__new__(cls, results, kv, attention, inputs or {})

    def result(self, x):
        return round_to(self.results, x)

    def cached(self, x):
        """Keys or values [T, heads, D] after rounding to the type of the cache."""
        return int8_groups(x, x.shape[-1]) if self.kv == "q8" else round_to(self.kv, x)

    def input(self, fmt, x):
        """The inputs [T, K] of a matmul whose weights have this format."""
        kind = None if "a32" in fmt.split(":") else self.inputs.get(base_format(fmt))
        return int8_groups(x, input_group(fmt)) if kind == "int8" else round_to(kind, x)


def base_format(fmt):
    """int4:g128:asym -> int4; other names are unchanged."""
    return fmt.split(":")[0]


def int8_groups(x, group):
    """Rounds each group of values of the last dimension to multiples, -127 to 127, of its float32
    scale max|x| / 127 (the last group may be shorter)."""
    x = np.asarray(x).astype(np.float32)
    result = np.empty(x.shape, np.float64)
    for first in range(0, x.shape[-1], group):
        part = x[..., first:first + group]
        scale = np.abs(part).max(axis=-1, keepdims=True) / np.float32(127)
        q = np.rint(part / np.where(scale == 0, np.float32(1), scale))
        result[..., first:first + group] = scale.astype(np.float64) * q
    return result


EXACT = Rounding()

INTEGERS = tuple(SIZES) + ("int8", "int4")
COMPILED_INPUTS = dict({fmt: "int8" for fmt in INTEGERS}, bf16="bf16")


def compiled(kv):
    """The rounding of a compiled model with this type of KV cache."""
    return Rounding(results="f32", kv=kv, attention="bf16" if kv == "bf16" else "f64",
                    inputs=COMPILED_INPUTS)
