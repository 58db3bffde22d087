# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""One function for each operation of a decoder layer, in float64.

Dimensions: T new tokens, S tokens in the cache after them, H query heads, G key/value heads,
D values in a head. Kernels are tested against these functions one by one.
"""

import numpy as np

from .formats import round_to


def embedding(ids, table):
    """Rows of a table: ids [T], table [vocab, hidden] -> [T, hidden]."""
    ids = np.asarray(ids, dtype=np.int64)
    if ids.size and (ids.min() < 0 or ids.max() >= table.shape[0]):
        raise ValueError("token ids run from %d to %d, the vocabulary has %d"
                         % (ids.min(), ids.max(), table.shape[0]))
    return np.asarray(table, dtype=np.float64)[ids]


def linear(x, weight, bias=None):
    """y = x W^T + b: x [T, in], weight [out, in], bias [out] -> [T, out]."""
    y = np.asarray(x, np.float64) @ np.asarray(weight, np.float64).T
    return y if bias is None else y + np.asarray(bias, np.float64)


def rms_norm(x, weight, eps):
    """y = x / sqrt(mean(x^2) + eps) * weight, over the last dimension (Zhang and Sennrich 2019)."""
    x = np.asarray(x, np.float64)
    scale = 1.0 / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps)
    return x * scale * np.asarray(weight, np.float64)


def layer_norm(x, weight, bias, eps):
    """y = (x - mean) / sqrt(variance + eps) * weight + bias, over the last dimension; the variance is
    that of the population (Ba et al. 2016)."""
    x = np.asarray(x, np.float64)
    centered = x - np.mean(x, axis=-1, keepdims=True)
    scale = 1.0 / np.sqrt(np.mean(centered * centered, axis=-1, keepdims=True) + eps)
    return centered * scale * np.asarray(weight, np.float64) + np.asarray(bias, np.float64)


def rope_frequencies(head_dim, theta, scaling=None):
    """Angles per position, [D/2]: f_i = theta^(-2i/D), then scaled.

    linear    f / factor (Chen et al. 2023, position interpolation)
    llama3    with wavelength w = 2 pi / f and original length L: f / factor where w > L / low,
              f where w < L / high, between them f * ((1 - t) / factor + t) with
              t = (L / w - low) / (high - low) (Llama 3.1's reference code)
    divisors  f_i / divisors_i (GGUF's rope_freqs, which represents the llama3 scaling)

    The llama3 divisors are rounded to float32, as GGUF stores them, so that a model has the same
    rotation in both containers (a relative difference of at most 6e-8)."""
    frequencies = float(theta) ** (-np.arange(0, head_dim, 2, dtype=np.float64) / head_dim)
    if scaling is None:
        return frequencies
    if scaling["type"] == "linear":
        return frequencies / scaling["factor"]
    if scaling["type"] == "divisors":
        return frequencies / np.asarray(scaling["divisors"], dtype=np.float64)
    if scaling["type"] == "llama3":
        return frequencies / llama3_divisors(frequencies, scaling).astype(np.float32)
    raise ValueError("rope type %r" % scaling["type"])


def llama3_divisors(frequencies, scaling):
    """The divisors of frequencies in llama3 scaling: [D/2] -> [D/2], from 1 to factor."""
    factor, low, high = (float(scaling[key])
                         for key in ("factor", "low_freq_factor", "high_freq_factor"))
    turns = scaling["original_max_position_embeddings"] * frequencies / (2 * np.pi)  # L / w
    t = (turns - low) / (high - low or 1.0)
    between = 1.0 / ((1.0 - t) / factor + t)
    return np.where(turns < low, factor, np.where(turns > high, 1.0, between))


def rope(x, positions, frequencies, pairing="halves"):
    """Rotates each pair of a head by position * frequency: x [T, heads, D] -> same shape.

    Pair i is (x_i, x_(i + D/2)) for "halves" (Hugging Face weights) and (x_2i, x_(2i+1)) for
    "adjacent" (GGUF's llama architecture); (a, b) becomes (a cos - b sin, b cos + a sin)
    (Su et al. 2021)."""
    x = np.asarray(x, np.float64)
    angles = np.asarray(positions, np.float64)[:, None] * frequencies[None, :]  # [T, D/2]
    cos, sin = np.cos(angles)[:, None, :], np.sin(angles)[:, None, :]
    half = x.shape[-1] // 2
    if pairing == "halves":
        first, second = slice(0, half), slice(half, None)
    elif pairing == "adjacent":
        first, second = slice(0, None, 2), slice(1, None, 2)
    else:
        raise ValueError("pairing %r, want halves or adjacent" % pairing)
    y = np.empty_like(x)
    y[..., first] = x[..., first] * cos - x[..., second] * sin
    y[..., second] = x[..., second] * cos + x[..., first] * sin
    return y


def softmax(x):
    """exp(x) / sum(exp(x)) over the last dimension, shifted by the maximum."""
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def attention(q, k, v, scale=None, dtype="f64"):
    """Causal grouped-query attention: q [T, H, D], k and v [S, G, D] -> [T, H, D].

    softmax(q k^T * scale) v with scale 1/sqrt(D) unless given (Vaswani et al. 2017). The T queries
    are the last of the S positions, and position p sees keys 0 to p. Query head h reads key/value
    head h // (H/G) (Ainslie et al. 2023).

    `dtype` is the operand type of dot products: the exponentials that weight the values are rounded
    to it before they are summed, and queries, multiplied by the scale for a softmax of base 2, are
    represented as the sum of two such numbers, the second being the rounding error of the first."""
    q, k, v = (np.asarray(a, np.float64) for a in (q, k, v))
    tokens, heads, head_dim = q.shape
    length, kv_heads = k.shape[:2]
    scale = head_dim ** -0.5 if scale is None else scale
    position = np.arange(length - tokens, length)
    hidden = np.arange(length)[None, :] > position[:, None]  # [T, S]: keys of the future
    q = q * (scale / np.log(2))
    greater = round_to(dtype, q)
    q = greater + round_to(dtype, q - greater)
    out = np.empty((tokens, heads, v.shape[-1]))
    for h in range(heads):
        g = h // (heads // kv_heads)
        scores = q[:, h] @ k[:, g].T
        scores[hidden] = -np.inf
        e = round_to(dtype, np.exp2(scores - np.max(scores, axis=-1, keepdims=True)))
        out[:, h] = e @ v[:, g] / np.sum(e, axis=-1, keepdims=True)
    return out


def silu(x):
    """x * sigmoid(x), written with tanh so that no exponential overflows."""
    x = np.asarray(x, np.float64)
    return x * 0.5 * (1.0 + np.tanh(0.5 * x))


def gelu_tanh(x):
    """x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), GPT-2's GELU (Hendrycks and Gimpel 2016)."""
    x = np.asarray(x, np.float64)
    return 0.5 * x * (1.0 + np.tanh(np.sqrt(2.0 / np.pi) * (x + 0.044715 * x ** 3)))


def silu_mul(gate, up):
    """SwiGLU's inner product: silu(gate) * up, element by element (Shazeer 2020)."""
    return silu(gate) * np.asarray(up, np.float64)
