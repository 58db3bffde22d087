# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gemma 4, text: norms that scale by their weight, heads of two sizes, values with a norm or made from keys,
layers that read keys and values of earlier ones, embeddings of each token for each layer, experts beside the MLP."""

import numpy as np

from . import ops
from .families import Gemma3, attention
from .model import Cache


class Gemma4(Gemma3):
    @staticmethod
    def own(config, i):
        """-> (head_dim, key/value heads) of a layer."""
        if config.slides(i):
            return config.head_dim, config.kv_heads
        return config.full_head_dim, config.full_kv_heads if config.values_are_keys else config.kv_heads

    @staticmethod
    def source(config, i):
        """The layer whose keys and values a layer reads: the last one of its kind before those that share."""
        first = config.layers - config.sharing
        return i if i < first else max(j for j in range(first) if config.slides(j) == config.slides(i))

    # Weights

    @classmethod
    def weights_of(cls, config):
        shapes = super().weights_of(config)
        size = config.layer_embedding
        if size:
            shapes["model.embed_tokens_per_layer.weight"] = (config.vocab, config.layers * size)
            shapes["model.per_layer_model_projection.weight"] = (config.layers * size, config.hidden)
            shapes["model.per_layer_projection_norm.weight"] = (size,)
        return shapes

    @classmethod
    def add_attention(cls, shapes, layer, config):
        i = int(layer.split(".")[-2])
        dim, kv_heads = cls.own(config, i)
        name = layer + "self_attn."
        cls.add_linear(shapes, name + "q_proj", config.heads * dim, config.hidden)
        shapes[name + "q_norm.weight"] = (dim,)
        if cls.source(config, i) == i:
            cls.add_linear(shapes, name + "k_proj", kv_heads * dim, config.hidden)
            shapes[name + "k_norm.weight"] = (dim,)
            if config.slides(i) or not config.values_are_keys:
                cls.add_linear(shapes, name + "v_proj", kv_heads * dim, config.hidden)
        cls.add_linear(shapes, name + "o_proj", config.hidden, config.heads * dim)
        shapes[layer + "layer_scalar"] = (1,)

    @classmethod
    def add_mlp(cls, shapes, layer, config):
        i, size = int(layer.split(".")[-2]), config.layer_embedding
        inner = config.intermediate * (2 if config.double_wide and cls.source(config, i) != i else 1)
        for name, rows, columns in (("gate", inner, config.hidden), ("up", inner, config.hidden),
                                    ("down", config.hidden, inner)):
            cls.add_linear(shapes, "%smlp.%s_proj" % (layer, name), rows, columns)
        if config.experts:
            cls.add_linear(shapes, layer + "router.proj", config.experts, config.hidden)
            shapes[layer + "router.scale"] = (config.hidden,)
            shapes[layer + "router.per_expert_scale"] = (config.experts,)
            shapes[layer + "experts.gate_up_proj"] = (config.experts, 2 * config.expert_inner, config.hidden)
            shapes[layer + "experts.down_proj"] = (config.experts, config.hidden, config.expert_inner)
            for norm in ("post_feedforward_layernorm_1", "pre_feedforward_layernorm_2", "post_feedforward_layernorm_2"):
                cls.add_norm(shapes, layer + norm, config.hidden)
        if size:
            cls.add_linear(shapes, layer + "per_layer_input_gate", size, config.hidden)
            cls.add_linear(shapes, layer + "per_layer_projection", config.hidden, size)
            cls.add_norm(shapes, layer + "post_per_layer_input_norm", config.hidden)

    # The forward pass

    def new_cache(self, *_):
        cache = Cache(self.config)
        cache.keys, cache.values = [], []
        for i in range(self.config.layers):
            dim, kv_heads = self.own(self.config, i)
            for all_layers in (cache.keys, cache.values):
                all_layers.append(np.zeros((0, kv_heads, dim)))
        return cache

    def forward(self, ids, rounding=None, cache=None):
        config = self.config
        if config.layer_embedding:
            self.inputs = self.layer_inputs(ids)  # [T, layers, size], of this call
        return super().forward(ids, rounding, cache)

    def layer_inputs(self, ids):
        config, size = self.config, self.config.layer_embedding
        x = ops.embedding(ids, self.weights["model.embed_tokens.weight"]) * config.embedding_scale
        projected = self.linear("model.per_layer_model_projection", x) / np.sqrt(config.hidden)
        projected = self.norm("model.per_layer_projection_norm", projected.reshape(len(x), config.layers, size))
        table = ops.embedding(ids, self.weights["model.embed_tokens_per_layer.weight"])
        table = table.reshape(projected.shape) * np.float32(np.sqrt(size))
        return (projected + table) / np.sqrt(2)

    def norm(self, name, x):
        return ops.rms_norm(x, self.weights[name + ".weight"], self.config.rms_eps)

    def block(self, i, layer, x, positions, cache):
        y = self.attend(i, layer, self.norm(layer + "input_layernorm", x), positions, cache)
        x = x + self.norm(layer + "post_attention_layernorm", y)
        y = self.mlp(layer, self.norm(layer + "pre_feedforward_layernorm", x))
        if self.config.experts:
            y = self.norm(layer + "post_feedforward_layernorm_1", y) + self.mixture(layer, x)
        x = x + self.norm(layer + "post_feedforward_layernorm", y)
        if self.config.layer_embedding:
            gate = ops.gelu_tanh(self.linear(layer + "per_layer_input_gate", x))
            y = self.linear(layer + "per_layer_projection", gate * self.inputs[:, i])
            x = x + self.norm(layer + "post_per_layer_input_norm", y)
        return x * self.weights[layer + "layer_scalar"]

    def mixture(self, layer, x):
        """The experts of each token, chosen by the softmax: [T, hidden] -> [T, hidden]."""
        config, inner = self.config, self.config.expert_inner
        unscaled = ops.rms_norm(x, np.ones(config.hidden), config.rms_eps)
        scores = ops.softmax(self.linear(layer + "router.proj", unscaled * self.weights[layer + "router.scale"]
                                         / np.sqrt(config.hidden)))
        opening, closing = (self.weights[layer + "experts." + name] for name in ("gate_up_proj", "down_proj"))
        normed, result = self.norm(layer + "pre_feedforward_layernorm_2", x), np.zeros_like(x)
        for t, row in enumerate(normed):
            chosen = np.argsort(-scores[t], kind="stable")[:config.experts_per_token]
            shares = scores[t, chosen] / scores[t, chosen].sum()
            for e, share in zip(chosen, shares * self.weights[layer + "router.per_expert_scale"][chosen]):
                both = opening[e] @ row
                result[t] += share * (closing[e] @ (ops.gelu_tanh(both[:inner]) * both[inner:]))
        return self.norm(layer + "post_feedforward_layernorm_2", result)

    def attend(self, i, layer, x, positions, cache):
        config, name = self.config, layer + "self_attn."
        dim, _ = self.own(config, i)

        def heads(projection):
            return self.linear(name + projection, x).reshape(len(x), -1, dim)

        q = self.rotated(i, self.norm(name + "q_norm", heads("q_proj")), positions)
        source = self.source(config, i)
        if source == i:
            k = heads("k_proj")
            v = heads("v_proj") if name + "v_proj.weight" in self.weights else k
            v = ops.rms_norm(v, np.ones(dim), config.rms_eps)
            cache.append(i, self.rotated(i, self.norm(name + "k_norm", k), positions), v)
        window = config.window if config.slides(i) else None
        mixed = attention(q, cache.keys[source], cache.values[source], 1.0, window)
        return self.linear(name + "o_proj", mixed.reshape(len(x), -1))

    def rotation(self, i):
        config = self.config
        if config.slides(i):
            return ops.rope_frequencies(config.head_dim, config.local_theta), 1.0
        frequencies = ops.rope_frequencies(config.full_head_dim, config.rope_theta)
        frequencies[int(config.turned_share * config.full_head_dim / 2):] = 0.0
        return frequencies, 1.0
