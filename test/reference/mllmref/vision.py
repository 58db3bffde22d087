# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions and resampling."""

import itertools
import math

import numpy as np

from . import attention, nn


def conv(x, weight, bias=None, stride=None, padding=None, dilation=None, groups=1):
    """x [B, C, s…], weight [O, C / groups, k…]: computed as a sum of shifted images."""
    n = x.ndim - 2
    stride, padding, dilation = (given or [default] * n for given, default in
                                 ((stride, 1), (padding, 0), (dilation, 1)))
    x = np.pad(x, [(0, 0), (0, 0)] + [(p, p) for p in padding])
    kernel = weight.shape[2:]
    sizes = [(x.shape[d + 2] - dilation[d] * (kernel[d] - 1) - 1) // stride[d] + 1 for d in range(n)]
    inputs, outputs = x.shape[1] // groups, weight.shape[0] // groups
    y = np.zeros([x.shape[0], weight.shape[0]] + sizes)
    for group in range(groups):
        part = slice(group * outputs, (group + 1) * outputs)
        for place in itertools.product(*(range(k) for k in kernel)):
            window = tuple(slice(p * d, p * d + (size - 1) * s + 1, s)
                           for p, d, size, s in zip(place, dilation, sizes, stride))
            shifted = x[(slice(None), slice(group * inputs, (group + 1) * inputs)) + window]
            y[:, part] += np.einsum("bc...,oc->bo...", shifted, weight[(part, slice(None)) + place])
    return y if bias is None else y + bias.reshape([-1] + [1] * n)


def keys_kernel(x, a):
    x = abs(x)
    if x < 1:
        return (a + 2) * x**3 - (a + 3) * x**2 + 1
    return a * (x**3 - 5 * x**2 + 8 * x - 4) if x < 2 else 0.0


def resampling_matrix(size, new, mode, align_corners=False, antialias=False, factor=None):
    """[new, size]: the weights of the old elements in each new one."""
    matrix = np.zeros([new, size])
    step = size / new if factor is None else 1 / factor
    for i in range(new):
        if mode == "nearest":
            matrix[i, min(math.floor(i * step), size - 1)] = 1
        elif antialias:
            scale = max(step, 1)
            reach, center = (2 if mode == "cubic" else 1) * scale, (i + 0.5) * step
            for j in range(max(0, int(center - reach + 0.5)), min(size, int(center + reach + 0.5))):
                distance = (j + 0.5 - center) / scale
                matrix[i, j] = keys_kernel(distance, -0.5) if mode == "cubic" else max(0, 1 - abs(distance))
            matrix[i] /= matrix[i].sum()
        else:
            place = (i + 0.5) * step - 0.5
            if align_corners:
                place = i * (size - 1) / (new - 1) if new > 1 else 0.0
            if mode == "linear":
                place = max(place, 0)
            reach = range(-1, 3) if mode == "cubic" else range(2)
            for j in (math.floor(place) + offset for offset in reach):
                weight = keys_kernel(place - j, -0.75) if mode == "cubic" else 1 - abs(place - j)
                matrix[i, min(max(j, 0), size - 1)] += weight
    return matrix


def interpolate(x, size=None, factors=None, mode="nearest", align_corners=False, antialias=False):
    """Resamples x [B, C, s…]; mode is nearest, linear (any rank) or cubic."""
    n = x.ndim - 2
    factors = factors or [None] * n
    size = size or [math.floor(s * f) for s, f in zip(x.shape[2:], factors)]
    for d in range(n):
        matrix = resampling_matrix(x.shape[d + 2], size[d], mode, align_corners, antialias, factors[d])
        x = np.moveaxis(np.tensordot(matrix, x, axes=(1, d + 2)), 0, d + 2)
    return x


def transformer(x, patch, patch_bias, neck, positions, norm, shift, q, k, v, o, up, down):
    """4 x 4 patches, one layer with two heads of size two, the map at 5 x 5."""
    picture = nn.layer_norm_2d(conv(x, patch, patch_bias, stride=[4, 4]), neck, neck, 1e-6)
    h = picture.reshape(len(x), 4, 4).swapaxes(1, 2) + positions
    n = nn.layer_norm(h, norm, shift, 1e-6)
    heads = [nn.linear(n, w, shape=(2, 2)) for w in (q, k, v)]
    h = h + nn.linear(attention.attention(*heads, 0.5, causal=False).reshape(h.shape), o)
    h = h + nn.linear(nn.gelu(nn.linear(h, up)), down)
    return interpolate(h.swapaxes(1, 2).reshape(len(x), 4, 2, 2), [5, 5], mode="linear")
