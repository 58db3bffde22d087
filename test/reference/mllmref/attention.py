# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Positions, caches and attention."""

import numpy as np

from . import nn

HIDDEN = -1e10


def rotate(x, cosines, sines, tokens):
    """Rotates halves of the first 2·R elements of each head as complex numbers.

    Tables [T, R] or [B, T, R]; `tokens` is the token dimension of x.
    """
    pairs = cosines.shape[-1]
    tokens %= x.ndim
    shape = [1] * (x.ndim - 1) + [pairs]
    shape[tokens] = x.shape[tokens]
    if cosines.ndim == 3:
        shape[0] = cosines.shape[0]
    turn = (cosines + 1j * sines).reshape(shape)
    turned = (x[..., :pairs] + 1j * x[..., pairs : 2 * pairs]) * turn
    return np.concatenate([turned.real, turned.imag, x[..., 2 * pairs :]], axis=-1)


def tables(positions, frequencies, scaling=1.0):
    angles = np.asarray(positions, float)[..., None] * np.asarray(frequencies)
    return scaling * np.cos(angles), scaling * np.sin(angles)


def rope(x, frequencies, scaling=1.0, tokens=0, past=0):
    positions = past + np.arange(x.shape[tokens])
    return rotate(x, *tables(positions, frequencies, scaling), tokens)


def multimodal_rope(x, sines, cosines, sections, tokens):
    """Tables [planes, T, R]; each section uses one plane."""
    cuts = np.cumsum(sections)[:-1]
    chosen = [np.concatenate([part[i % len(part)] for i, part in enumerate(np.split(table, cuts, axis=-1))], axis=-1)
              for table in (cosines, sines)]
    return rotate(x, *chosen, tokens)


def vision_tables(times, rows, columns, merge, head_dim, theta):
    """The tables of Qwen2-VL: two halves of head_dim / 2 pairs, row and column."""
    row, column = np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij")
    order = [grid.reshape(rows // merge, merge, columns // merge, merge).transpose(0, 2, 1, 3).ravel()
             for grid in (row, column)]
    frequencies = 1.0 / theta ** (np.arange(0, head_dim // 2, 2) / (head_dim // 2))
    angles = np.concatenate([np.outer(grid, frequencies) for grid in order], axis=-1)
    angles = np.tile(angles, (times, 1))
    return np.cos(angles), np.sin(angles)


def vision_rope(x, times, rows, columns, merge=2, theta=10000.0, tokens=0):
    return rotate(x, *vision_tables(times, rows, columns, merge, x.shape[-1], theta), tokens)


def visible(queries, keys, window=0, chunked=False, causal=True):
    """[queries, keys]: whether a query of the last `queries` positions sees a key."""
    position = keys - queries + np.arange(queries)[:, None]
    key = np.arange(keys)[None, :]
    seen = (key <= position) | (not causal)
    if chunked:
        return seen & (key // window == position // window)
    return seen & ((np.abs(key - position) < window) if window else True)


def causal_mask(scores, window=0):
    return np.where(visible(scores.shape[-2], scores.shape[-1], window), scores, HIDDEN)


def repeat_heads(x, heads, axis):
    return np.repeat(x, heads // x.shape[axis], axis=axis)


def weights(q, k, scale, causal=True, window=0, sinks=None, cap=None, chunked=False):
    """q [B, S, H, D], k [B, N, G, D] -> [B, H, S, N]."""
    k = repeat_heads(k, q.shape[2], 2)
    scores = scale * np.einsum("bshd,bnhd->bhsn", q, k)
    if cap:
        scores = cap * np.tanh(scores / cap)
    scores = np.where(visible(q.shape[1], k.shape[1], window, chunked, causal), scores, -np.inf)
    if sinks is None:
        return nn.softmax(scores)
    column = np.broadcast_to(sinks[None, :, None, None], scores.shape[:3] + (1,))
    return nn.softmax(np.concatenate([scores, column], axis=-1))[..., :-1]


def attention(q, k, v, scale, causal=True, window=0, sinks=None, cap=None, chunked=False):
    """-> [B, S, H, V]."""
    v = repeat_heads(v, q.shape[2], 2)
    return np.einsum("bhsn,bnhv->bshv", weights(q, k, scale, causal, window, sinks, cap, chunked), v)


def rows(pool, index):
    """One sequence [1, N, G, D] from a pool [rows, G, D]."""
    return pool[index.astype(int)][None]


def gpt2_layer(ids, tokens, positions, norm, qkv, qkv_bias, up, down):
    """Learned positions, two causal heads, and a feed-forward layer."""
    h = nn.embedding(ids, tokens) + positions[: ids.shape[1]]
    mixed = nn.linear(nn.layer_norm(h, norm, norm, 1e-5), qkv, qkv_bias)
    heads = [part.reshape(h.shape[:2] + (2, 2)) for part in np.split(mixed, 3, axis=-1)]
    return nn.linear(nn.gelu_tanh(nn.linear(attention(*heads, 0.5).reshape(h.shape), up)), down)
