# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Weights in few bits as `llmir --quantize` makes them: float32 values <-> integers with scales."""

import numpy as np

SHORT = {"q8": "int8:g32", "q4": "int4:g32"}


def quantized(weight, scheme):
    """The values of a matrix of float32 [rows, K] in a scheme: float64 [rows, K].

    A scheme is q8, q4, or intB[:gG][:asym]: B bits, a scale for each G values of a row (all of them
    if there is no :g), and a zero point if it says asym. What llm.quant_params, llm.quantize and
    llm.dequantize say: float32 arithmetic up to the integers, exact from there on."""
    parts = SHORT.get(scheme, scheme).split(":")
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


def quantized_projections(weights, formats, scheme):
    """(weights, formats) with the projections of all layers in a scheme, as --quantize leaves the
    embedding, the norms and the output projection alone."""
    weights, formats = dict(weights), dict(formats)
    for name, weight in weights.items():
        if name.endswith("_proj.weight"):
            weights[name] = quantized(weight, scheme)
            formats[name] = SHORT.get(scheme, scheme)
    return weights, formats
