# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Quantized weights as computed by `llmir --quantize`: float32 values <-> integers with scales."""

from fnmatch import fnmatchcase

import numpy as np

from .formats import FORMATS, decode, encode

BLOCKS = {"q8": "q8_0", "q4": "q4_0"}


def quantized(weight, scheme):
    """The dequantized values of a float32 matrix [rows, K] in a scheme: float64 [rows, K].

    A scheme is intB[:gG][:asym]: B bits, a scale per G values of a row (per row without :g), and a
    zero point with :asym. As specified by llm.quant_params, llm.quantize and llm.dequantize, the
    integers are computed in float32, and dequantization is exact."""
    parts = scheme.split(":")
    bits = int(parts[0][3:])
    group = next((int(part[1:]) for part in parts if part[0] == "g"), weight.shape[1])
    x = weight.astype(np.float32).reshape(weight.shape[0], -1, group)
    high = np.float32(2 ** (bits - 1) - 1)
    least = np.minimum(x.min(axis=2, keepdims=True), np.float32(0))
    most = np.maximum(x.max(axis=2, keepdims=True), np.float32(0))
    if "asym" in parts:
        low = -high - 1
        scale = (most - least) / np.float32(2 ** bits - 1)
        zero = np.clip(low - np.rint(least / scale), low, high)
    else:
        low, scale, zero = -high, np.maximum(-least, most) / high, np.float32(0)
    q = np.clip(np.rint(x / scale) + zero, low, high)
    assert q.dtype == np.float32
    return (scale.astype(np.float64) * (q.astype(np.float64) - zero)).reshape(weight.shape)


def quantized_by(weights, formats, rules):
    """(weights, formats) after applying a recipe: the first of the rules [(pattern, scheme)] that
    matches the name of a projection's matrix applies; "head" matches the projection to the
    vocabulary, or the embedding table if tied. Rows that are not whole blocks are not quantized."""
    weights, formats = dict(weights), dict(formats)
    head = "lm_head.weight" if "lm_head.weight" in weights else "model.embed_tokens.weight"
    for name, weight in weights.items():
        if name != head and not name.endswith("_proj.weight"):
            continue
        scheme = next((scheme for pattern, scheme in rules
                       if (name == head if pattern == "head" else fnmatchcase(name, pattern))),
                      "none")
        stored = BLOCKS.get(scheme, scheme)
        if stored in FORMATS and weight.shape[1] % FORMATS[stored][0] == 0:
            weights[name] = decode(*encode(stored, weight)).astype(np.float64)
            formats[name] = stored
        elif stored != "none" and stored not in FORMATS:
            weights[name] = quantized(weight, stored)
            formats[name] = stored
    return weights, formats


def quantized_projections(weights, formats, scheme):
    """(weights, formats) after applying --quantize: the projections of all layers in a scheme (q8 and
    q4 are the block formats of GGUF) and, without a32 and plain-head, the projection to the
    vocabulary in 8 bits."""
    parts = scheme.split(":")
    plain = "a32" in parts or "plain-head" in parts
    scheme = ":".join(part for part in parts if part not in ("a32", "plain-head"))
    return quantized_by(weights, formats, [("head", "none" if plain else "q8"), ("*", scheme)])
