# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The forward pass of Llama, Qwen2 and Qwen3, and greedy decoding."""

import numpy as np

from . import ops
from .formats import round_to
from .metrics import top_two_margin


class Cache(object):
    """Keys (after rotation) and values of the tokens so far: per layer [S, kv_heads, head_dim].

    What enters is rounded to `kv_dtype`, once; attention reads nothing else."""

    def __init__(self, config, kv_dtype="f64"):
        empty = np.zeros((0, config.kv_heads, config.head_dim))
        self.kv_dtype = kv_dtype
        self.keys = [empty] * config.layers
        self.values = [empty] * config.layers

    def __len__(self):
        return self.keys[0].shape[0]

    def append(self, layer, k, v):
        """k, v [T, kv_heads, head_dim] -> all keys and values of the layer, [S, ...]."""
        self.keys[layer] = np.concatenate([self.keys[layer], round_to(self.kv_dtype, k)])
        self.values[layer] = np.concatenate([self.values[layer], round_to(self.kv_dtype, v)])
        return self.keys[layer], self.values[layer]


class Model(object):
    """A decoder: config and weights {Hugging Face name: array}, held in float64.

    Two knobs say where numbers are rounded, so that the model can imitate a compiled one:
      kv_dtype      f64 (not at all), f32, f16, bf16: keys and values as they enter the cache
      activations   f64 (not at all), f32: the result of every operation
    Weights keep the exact values of their stored format."""

    def __init__(self, config, weights):
        self.config = config
        self.weights = {name: np.asarray(w, dtype=np.float64) for name, w in weights.items()}
        self.frequencies = ops.rope_frequencies(config.head_dim, config.rope_theta,
                                                config.rope_scaling)

    def new_cache(self, kv_dtype="f64"):
        """An empty cache, for forward passes that continue each other."""
        return Cache(self.config, kv_dtype)

    def forward(self, ids, kv_dtype="f64", activations="f64", cache=None):
        """Logits after each of the ids: [T] -> [T, vocab] float64.

        With a cache, the ids follow what it holds, are added to it, and its own dtype counts."""
        config = self.config
        cache = self.new_cache(kv_dtype) if cache is None else cache
        positions = np.arange(len(cache), len(cache) + len(ids))

        def act(x):
            return round_to(activations, x)

        x = ops.embedding(ids, self.weights["model.embed_tokens.weight"])
        for i in range(config.layers):
            name = "model.layers.%d." % i
            normed = act(self._norm(name + "input_layernorm", x))
            x = act(x + self._attention(i, normed, positions, cache, act))
            normed = act(self._norm(name + "post_attention_layernorm", x))
            x = act(x + self._mlp(name + "mlp.", normed, act))
        x = act(self._norm("model.norm", x))
        head = "model.embed_tokens" if config.tied else "lm_head"
        return act(self._linear(head, x))

    def generate(self, prompt, count, kv_dtype="f64", activations="f64", stop=()):
        """Greedy decoding: up to `count` ids after the prompt, ending with one of `stop`.

        -> (ids, margins), margins being the lead of the best logit over the second at each step.
        Equal logits: the lowest id wins."""
        cache = self.new_cache(kv_dtype)
        logits = self.forward(prompt, activations=activations, cache=cache)[-1]
        ids, margins = [], []
        while len(ids) < count:
            ids.append(int(np.argmax(logits)))
            margins.append(float(top_two_margin(logits)))
            if ids[-1] in stop or len(ids) == count:
                break
            logits = self.forward(ids[-1:], activations=activations, cache=cache)[-1]
        return ids, margins

    def _norm(self, name, x):
        return ops.rms_norm(x, self.weights[name + ".weight"], self.config.rms_eps)

    def _linear(self, name, x):
        return ops.linear(x, self.weights[name + ".weight"], self.weights.get(name + ".bias"))

    def _attention(self, layer, x, positions, cache, act):
        """Self-attention with its output projection: x [T, hidden] -> [T, hidden]."""
        config = self.config
        name = "model.layers.%d.self_attn." % layer
        q = act(self._linear(name + "q_proj", x)).reshape(len(x), config.heads, config.head_dim)
        k = act(self._linear(name + "k_proj", x)).reshape(len(x), config.kv_heads, config.head_dim)
        v = act(self._linear(name + "v_proj", x)).reshape(len(x), config.kv_heads, config.head_dim)
        if config.family == "qwen3":  # each head is normalised by itself, before it is rotated
            q, k = act(self._norm(name + "q_norm", q)), act(self._norm(name + "k_norm", k))
        q = act(ops.rope(q, positions, self.frequencies))
        k = act(ops.rope(k, positions, self.frequencies))
        keys, values = cache.append(layer, k, v)
        mixed = act(ops.attention(q, keys, values)).reshape(len(x), -1)
        return act(self._linear(name + "o_proj", mixed))

    def _mlp(self, name, x, act):
        """down(silu(gate x) * up x): [T, hidden] -> [T, hidden]."""
        gate, up = act(self._linear(name + "gate_proj", x)), act(self._linear(name + "up_proj", x))
        return act(self._linear(name + "down_proj", act(ops.silu_mul(gate, up))))
