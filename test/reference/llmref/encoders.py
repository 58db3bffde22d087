# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Embeddings of texts: pooling, and the forward passes of encoders, in float64.

An encoder is a class with the names and shapes of its weights, those of Hugging Face model directories, and the last
hidden states of a text. Every token attends to all tokens of its text.
"""

import numpy as np

from . import ops
from .families import Gemma3, gelu_exact

POOLINGS = ("cls", "last", "mean")


def embedding(rows, pooling):
    """The rows of a text's tokens [T, hidden] -> its embedding [hidden], of length 1."""
    row = {"cls": rows[0], "last": rows[-1], "mean": rows.mean(axis=0)}[pooling]
    return row / np.linalg.norm(row)


def attention(q, k, v, reach=None):
    """Attention of all tokens to each other, at most `reach` apart: q, k, v [T, heads, D] -> [T, heads * D]."""
    scores = np.einsum("qhd,khd->hqk", q, k) * q.shape[-1] ** -0.5
    if reach is not None:
        places = np.arange(len(q))
        scores[:, np.abs(places[:, None] - places) > reach] = -np.inf
    mixed = np.einsum("hqk,khd->qhd", ops.softmax(scores), v)
    return mixed.reshape(len(q), -1)


class BERT(object):
    """BERT (Devlin et al. 2018). XLM-RoBERTa differs in the row of the table of positions for the first token:

    `first_position` is 0, or the one after that of padding."""

    def __init__(self, config, weights):
        self.config = config
        self.weights = {name: np.asarray(w, np.float64) for name, w in weights.items()}

    @staticmethod
    def weights_of(config):
        hidden, inner = config.hidden, config.intermediate
        shapes = {"embeddings.word_embeddings.weight": (config.vocab, hidden),
                  "embeddings.position_embeddings.weight": (config.max_positions, hidden),
                  "embeddings.token_type_embeddings.weight": (config.types, hidden)}

        def linear(name, rows, columns):
            shapes[name + ".weight"], shapes[name + ".bias"] = (rows, columns), (rows,)

        def norm(name):
            shapes[name + ".weight"], shapes[name + ".bias"] = (hidden,), (hidden,)

        norm("embeddings.LayerNorm")
        for i in range(config.layers):
            layer = "encoder.layer.%d." % i
            for part in ("query", "key", "value"):
                linear(layer + "attention.self." + part, hidden, hidden)
            linear(layer + "attention.output.dense", hidden, hidden)
            norm(layer + "attention.output.LayerNorm")
            linear(layer + "intermediate.dense", inner, hidden)
            linear(layer + "output.dense", hidden, inner)
            norm(layer + "output.LayerNorm")
        return shapes

    def norm(self, name, x):
        return ops.layer_norm(x, self.weights[name + ".weight"], self.weights[name + ".bias"], self.config.eps)

    def linear(self, name, x):
        return ops.linear(x, self.weights[name + ".weight"], self.weights[name + ".bias"])

    def hidden(self, ids):
        """-> [T, hidden]"""
        places = np.arange(len(ids)) + self.config.first_position
        x = (ops.embedding(ids, self.weights["embeddings.word_embeddings.weight"]) +
             self.weights["embeddings.token_type_embeddings.weight"][0] +
             ops.embedding(places, self.weights["embeddings.position_embeddings.weight"]))
        x = self.norm("embeddings.LayerNorm", x)
        for i in range(self.config.layers):
            x = self.layer("encoder.layer.%d." % i, x)
        return x

    def layer(self, name, x):
        q, k, v = (self.linear(name + "attention.self." + part, x).reshape(len(x), self.config.heads, -1)
                   for part in ("query", "key", "value"))
        mixed = self.linear(name + "attention.output.dense", attention(q, k, v))
        x = self.norm(name + "attention.output.LayerNorm", x + mixed)
        inner = gelu_exact(self.linear(name + "intermediate.dense", x))
        return self.norm(name + "output.LayerNorm", x + self.linear(name + "output.dense", inner))


class NomicBERT(object):
    """Nomic BERT (Nussbaum et al. 2024): BERT with rotary positions, SwiGLU, and biases of norms only."""

    def __init__(self, config, weights):
        self.config = config
        self.weights = {name: np.asarray(w, np.float64) for name, w in weights.items()}

    @staticmethod
    def weights_of(config):
        hidden, inner = config.hidden, config.intermediate
        shapes = {"embeddings.word_embeddings.weight": (config.vocab, hidden),
                  "embeddings.token_type_embeddings.weight": (config.types, hidden)}
        norms = ["emb_ln"]
        for i in range(config.layers):
            layer = "encoder.layers.%d." % i
            shapes.update({layer + "attn.Wqkv.weight": (3 * hidden, hidden),
                           layer + "attn.out_proj.weight": (hidden, hidden),
                           layer + "mlp.fc11.weight": (inner, hidden), layer + "mlp.fc12.weight": (inner, hidden),
                           layer + "mlp.fc2.weight": (hidden, inner)})
            norms += [layer + "norm1", layer + "norm2"]
        for name in norms:
            shapes[name + ".weight"], shapes[name + ".bias"] = (hidden,), (hidden,)
        return shapes

    def norm(self, name, x):
        return ops.layer_norm(x, self.weights[name + ".weight"], self.weights[name + ".bias"], self.config.eps)

    def linear(self, name, x):
        return ops.linear(x, self.weights[name + ".weight"])

    def hidden(self, ids):
        """-> [T, hidden]"""
        x = (ops.embedding(ids, self.weights["embeddings.word_embeddings.weight"]) +
             self.weights["embeddings.token_type_embeddings.weight"][0])
        x = self.norm("emb_ln", x)
        for i in range(self.config.layers):
            x = self.layer("encoder.layers.%d." % i, x)
        return x

    def layer(self, name, x):
        heads, places = self.config.heads, np.arange(len(x))
        q, k, v = (part.reshape(len(x), heads, -1)
                   for part in np.split(self.linear(name + "attn.Wqkv", x), 3, axis=-1))
        frequencies = ops.rope_frequencies(q.shape[-1], self.config.rope_theta)
        q, k = (ops.rope(each, places, frequencies) for each in (q, k))
        x = self.norm(name + "norm1", x + self.linear(name + "attn.out_proj", attention(q, k, v)))
        inner = ops.silu_mul(self.linear(name + "mlp.fc12", x), self.linear(name + "mlp.fc11", x))
        return self.norm(name + "norm2", x + self.linear(name + "mlp.fc2", inner))


class ModernBERT(object):
    """ModernBERT (Warner et al. 2024): LayerNorm without bias before each block but the first, GeGLU, rotary positions;
    layers 0, n, 2n, … attend to all tokens and have another base."""

    def __init__(self, config, weights):
        self.config = config
        self.weights = {name: np.asarray(w, np.float64) for name, w in weights.items()}

    @staticmethod
    def weights_of(config):
        hidden, inner = config.hidden, config.intermediate
        shapes = {"embeddings.tok_embeddings.weight": (config.vocab, hidden), "embeddings.norm.weight": (hidden,)}
        for i in range(config.layers):
            layer = "layers.%d." % i
            if i > 0:
                shapes[layer + "attn_norm.weight"] = (hidden,)
            shapes.update({layer + "attn.Wqkv.weight": (3 * hidden, hidden), layer + "attn.Wo.weight": (hidden, hidden),
                           layer + "mlp_norm.weight": (hidden,), layer + "mlp.Wi.weight": (2 * inner, hidden),
                           layer + "mlp.Wo.weight": (hidden, inner)})
        shapes["final_norm.weight"] = (hidden,)
        return shapes

    def norm(self, name, x):
        return ops.layer_norm(x, self.weights[name + ".weight"], 0.0, self.config.eps)

    def linear(self, name, x):
        return ops.linear(x, self.weights[name + ".weight"])

    def hidden(self, ids):
        """-> [T, hidden]"""
        x = self.norm("embeddings.norm", ops.embedding(ids, self.weights["embeddings.tok_embeddings.weight"]))
        for i in range(self.config.layers):
            name = "layers.%d." % i
            x = x + self.attend(i, name, self.norm(name + "attn_norm", x) if i > 0 else x)
            opened, other = np.split(self.linear(name + "mlp.Wi", self.norm(name + "mlp_norm", x)), 2, axis=-1)
            x = x + self.linear(name + "mlp.Wo", gelu_exact(opened) * other)
        return self.norm("final_norm", x)

    def attend(self, i, name, x):
        config, places = self.config, np.arange(len(x))
        q, k, v = (part.reshape(len(x), config.heads, -1)
                   for part in np.split(self.linear(name + "attn.Wqkv", x), 3, axis=-1))
        is_full = i % config.full_every == 0
        frequencies = ops.rope_frequencies(q.shape[-1], config.rope_theta if is_full else config.local_theta)
        q, k = (ops.rope(each, places, frequencies) for each in (q, k))
        return self.linear(name + "attn.Wo", attention(q, k, v, None if is_full else config.window // 2))


class EmbeddingGemma(Gemma3):
    """EmbeddingGemma (2025): Gemma 3 whose tokens attend to all tokens at a distance of less than the window."""

    looks_ahead = True

    def __new__(cls, config, weights):
        return object.__new__(cls)


CLASSES = {"bert": BERT, "xlm-roberta": BERT, "nomic_bert": NomicBERT, "modernbert": ModernBERT}
