# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ops that move values without looking at them."""

import numpy as np


def split(x, dim, *sections):
    """One section: the size of all parts; several: that of each."""
    if len(sections) == 1:
        sections = sections * (x.shape[dim] // sections[0])
    return tuple(np.split(x, np.cumsum(sections)[:-1], axis=dim))


def pad(x, low, high, mode="constant", value=0.0):
    """NumPy's names: our `replicate` is its edge, our `circular` its wrap."""
    widths = list(zip(low, high))
    if mode == "constant":
        return np.pad(x, widths, constant_values=value)
    return np.pad(x, widths, mode={"reflect": "reflect", "replicate": "edge", "circular": "wrap"}[mode])
