# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fourier transforms of frames, by NumPy's FFT. Complex numbers are pairs."""

import numpy as np


def widened(window, n_fft):
    left = (n_fft - len(window)) // 2
    return np.pad(window, (left, n_fft - len(window) - left))


def pairs(x):
    return np.stack([x.real, x.imag], axis=-1)


def stft(x, window, n_fft, hop, onesided=True, center=True, pad_mode="reflect", normalized=False):
    if center:
        mode = {"replicate": "edge", "circular": "wrap"}.get(pad_mode, pad_mode)
        x = np.pad(x, [(0, 0)] * (x.ndim - 1) + [(n_fft // 2, n_fft // 2)], mode=mode)
    count = 1 + (x.shape[-1] - n_fft) // hop
    frames = np.stack([x[..., t * hop : t * hop + n_fft] for t in range(count)], axis=-2) * widened(window, n_fft)
    transform = (np.fft.rfft if onesided else np.fft.fft)(frames, axis=-1)
    return pairs(np.swapaxes(transform, -1, -2) / (np.sqrt(n_fft) if normalized else 1))


def istft(x, window, n_fft, hop, onesided=True, center=True, normalized=False, length=None):
    spectrum = np.swapaxes(x[..., 0] + 1j * x[..., 1], -1, -2) * (np.sqrt(n_fft) if normalized else 1)
    frames = np.fft.irfft(spectrum, n_fft, axis=-1) if onesided else np.fft.ifft(spectrum, axis=-1).real
    count, window = frames.shape[-2], widened(window, n_fft)
    y = np.zeros(frames.shape[:-2] + (n_fft + hop * (count - 1),))
    squares = np.zeros(y.shape[-1])
    for t in range(count):
        y[..., t * hop : t * hop + n_fft] += frames[..., t, :] * window
        squares[t * hop : t * hop + n_fft] += window**2
    y = np.where(squares > 1e-11, y / np.where(squares > 1e-11, squares, 1), y)
    y = y[..., n_fft // 2 :] if center else y
    if length is None:
        return y[..., : y.shape[-1] - n_fft // 2] if center else y
    missing = max(0, length - y.shape[-1])
    return np.pad(y, [(0, 0)] * (y.ndim - 1) + [(0, missing)])[..., :length]
