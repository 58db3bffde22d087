# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Error measures relative to the reference."""

import numpy as np


def nmse(answer, reference):
    """Normalized mean square error: sum((answer - reference)^2) / sum(reference^2).

    For any two arrays of the same shape; sums are over all elements, in float64. NaN or infinity in
    the answer yields infinity, so that `nmse(...) <= bound` fails."""
    answer = np.asarray(answer, dtype=np.float64)
    reference = np.asarray(reference, dtype=np.float64)
    if answer.shape != reference.shape:
        raise ValueError("shapes differ: answer %s, reference %s"
                         % (answer.shape, reference.shape))
    if not np.all(np.isfinite(answer)):
        return float("inf")
    error = np.sum((answer - reference) ** 2)
    power = np.sum(reference ** 2)
    if power == 0.0:
        return 0.0 if error == 0.0 else float("inf")
    return float(error / power)


def max_abs(answer, reference):
    """Largest absolute difference of two arrays of one shape."""
    return float(np.max(np.abs(np.asarray(answer, np.float64) - np.asarray(reference, np.float64))))


def top_two_margin(logits):
    """Largest minus second largest value of each row: [..., vocab] -> [...]."""
    top = np.partition(np.asarray(logits, dtype=np.float64), -2, axis=-1)[..., -2:]
    return top[..., 1] - top[..., 0]


def divergence(answer, reference):
    """KL divergence of next-token distributions: logits [T, vocab] each -> [T], in nats.

    sum p (log p - log q) with p the reference's softmax and q the answer's."""
    return log_divergence(log_softmax(answer), log_softmax(reference))


def log_divergence(log_q, log_p):
    """The same for logarithms of probabilities."""
    return np.sum(np.exp(log_p) * (log_p - log_q), axis=-1)


def log_softmax(logits):
    """Log-softmax over the last dimension."""
    logits = np.asarray(logits, np.float64)
    shifted = logits - np.max(logits, axis=-1, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=-1, keepdims=True))
