# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Layers that keep a state of the sequence."""

import numpy as np


def causal_conv(x, weight, before=None):
    """x [T, C], weight [K, C]; `before`: the rows before x, zeros by default."""
    taps = len(weight)
    if before is None:
        before = np.zeros((taps - 1, x.shape[1]))
    rows = np.concatenate([before, x])[-(len(x) + taps - 1):]
    result = np.zeros_like(x)
    for j in range(taps):
        result += weight[j] * rows[j:j + len(x)]
    return result


def linear_attention(q, k, v, decay, beta=None, interleaved=False):
    """The result of token t as a sum over the earlier ones: with the delta rule, each token first removes what the
    matrix has for its key."""
    tokens, heads, _ = v.shape
    groups = k.shape[1]
    result = np.zeros_like(v)
    for h in range(heads):
        g = h % groups if interleaved else h // (heads // groups)
        written = np.zeros((tokens, v.shape[2]))  # what each token adds for its key
        for t in range(tokens):
            # The product of the decays after token s, up to t.
            remains = np.array([np.prod(decay[s + 1:t + 1, h]) for s in range(t + 1)])
            written[t] = v[t, h]
            if beta is not None:
                known = (remains[:t, None] * written[:t] * (k[:t, g] @ k[t, g])[:, None]).sum(axis=0)
                written[t] = beta[t, h] * (v[t, h] - known)
            result[t, h] = (remains[:, None] * written[:t + 1] * (k[:t + 1, g] @ q[t, g])[:, None]).sum(axis=0)
    return result
