# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Products, norms and activations."""

import math

import numpy as np


def matmul(a, b, transpose_a=False, transpose_b=False):
    a = np.swapaxes(a, -1, -2) if transpose_a else a
    b = np.swapaxes(b, -1, -2) if transpose_b else b
    return np.einsum("...mk,...kn->...mn", a, b)


def linear(x, weight, bias=None, shape=None):
    """`shape` are the dimensions into which the outputs are split."""
    y = np.einsum("...k,nk->...n", x, weight)
    y = y if bias is None else y + bias
    return y if shape is None else y.reshape(x.shape[:-1] + tuple(shape))


def experts(x, chosen, weights, gate, up, down, biases=None, limit=None):
    """The weighted sum of gated MLPs: x [rows, hidden], chosen and weights [rows, k], biases [experts, rows, 1]."""
    def product(number, matrices, e, row):
        return matrices[e] @ row + (biases[number][e][:, 0] if biases else 0)

    result = np.zeros_like(x)
    for row, numbers, factors in zip(range(len(x)), chosen.astype(int), weights):
        for e, factor in zip(numbers, factors):
            opened, values = product(0, gate, e, x[row]), product(1, up, e, x[row])
            if limit:  # gpt-oss
                opened, values = np.minimum(opened, limit), np.clip(values, -limit, limit)
                inner = opened * sigmoid(1.702 * opened) * (values + 1)
            else:
                inner = opened * sigmoid(opened) * values
            result[row] += factor * product(2, down, e, inner)
    return result


def embedding(ids, table):
    return table[ids.astype(int)]


def softmax(x, axis=-1):
    if x.size == 0:
        return x
    most = x.max(axis=axis, keepdims=True)
    with np.errstate(invalid="ignore"):  # inf - inf is NaN.
        powers = np.exp(x - np.where(most == -np.inf, 0, most))
    total = powers.sum(axis=axis, keepdims=True)
    return np.divide(powers, total, out=np.zeros_like(powers), where=total != 0)


def rms_norm(x, weight, eps, unit_offset=False):
    weight = weight + 1 if unit_offset else weight
    return x * weight / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps)


def layer_norm(x, weight=None, bias=None, eps=1e-6, dims=1):
    """Over the last `dims` dimensions."""
    axes = tuple(range(x.ndim - dims, x.ndim))
    centered = x - x.mean(axis=axes, keepdims=True)
    y = centered / np.sqrt((centered**2).mean(axis=axes, keepdims=True) + eps)
    y = y if weight is None else y * weight
    return y if bias is None else y + bias


def layer_norm_2d(x, weight, bias, eps):
    """Over the channels of [B, C, H, W] at each position."""
    centered = x - x.mean(axis=1, keepdims=True)
    y = centered / np.sqrt((centered**2).mean(axis=1, keepdims=True) + eps)
    return y * weight[:, None, None] + bias[:, None, None]


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def silu(x):
    return x * sigmoid(x)


def relu(x):
    return np.maximum(x, 0)


def gelu(x):
    return x * np.vectorize(lambda v: 0.5 * math.erfc(-v / math.sqrt(2)), otypes=[float])(x)


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


def quick_gelu(x):
    return x * sigmoid(1.702 * x)


def bf16(x):
    """Rounds to bf16, to nearest even."""
    bits = x.astype(np.float32).view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16 << 16).astype(np.uint32)
    return rounded.view(np.float32).astype(float)
