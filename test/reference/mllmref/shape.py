# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shape ops, which move elements."""

import numpy as np


def split(x, dim, *sections):
    """One section is the size of all parts; several are the size of each."""
    if len(sections) == 1:
        sections = sections * (x.shape[dim] // sections[0])
    return tuple(np.split(x, np.cumsum(sections)[:-1], axis=dim))


def pad(x, low, high, mode="constant", value=0.0):
    """NumPy calls `replicate` edge and `circular` wrap."""
    widths = list(zip(low, high))
    if mode == "constant":
        return np.pad(x, widths, constant_values=value)
    return np.pad(x, widths, mode={"reflect": "reflect", "replicate": "edge", "circular": "wrap"}[mode])
