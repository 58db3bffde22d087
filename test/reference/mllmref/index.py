# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Indexing, sorting and reduction ops."""

import numpy as np


def integers(x):
    return np.asarray(x).astype(np.int64)


def gather(table, indices, dim):
    return np.take(table, integers(indices), axis=dim)


def scatter(x, indices, source, dim):
    y = np.array(x)
    for at in np.ndindex(*source.shape):
        place = list(at)
        place[dim] = int(indices[at])
        y[tuple(place)] = source[at]
    return y


def masked_scatter(x, mask, source):
    y, where = np.array(x), np.broadcast_to(mask, np.shape(x)).astype(bool)
    y[where] = np.ravel(source)[:np.count_nonzero(where)]
    return y


def argsort(x, dim=-1, descending=False):
    """Stable in both directions; NaN is the greatest."""
    if not descending:
        return np.argsort(x, axis=dim, kind="stable")
    # Sorting the reversed dimension and reversing the order keeps ties stable.
    mirrored = np.argsort(np.flip(x, dim), axis=dim, kind="stable")
    return np.flip(x.shape[dim] - 1 - mirrored, dim)


def top_k(x, k, dim=-1, largest=True):
    order = np.take(argsort(x, dim, largest), np.arange(k), axis=dim)
    return np.take_along_axis(x, order, axis=dim), order


def reduce_max(x, dim=None, keep_dim=False):
    return np.max(x, axis=dim, keepdims=keep_dim, initial=-np.inf)


def reduce_min(x, dim=None, keep_dim=False):
    return np.min(x, axis=dim, keepdims=keep_dim, initial=np.inf)


def reduce_sum(x, dim=None, keep_dim=False):
    return np.sum(x, axis=dim, keepdims=keep_dim)


def mean(x, dim=None, keep_dim=False):
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.divide(np.sum(x, axis=dim, keepdims=keep_dim), x.size if dim is None else x.shape[dim])
