# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The forward passes of Llama, Qwen2 and Qwen3, and of GPT-2, and greedy decoding."""

import numpy as np

from . import ops
from .config import DESCRIBED_FAMILIES
from .metrics import top_two_margin
from .rounding import EXACT


class Cache(object):
    """Keys (after rotation) and values of the tokens so far: per layer [S, kv_heads, head_dim].

    Entries are rounded once; attention reads only the cache."""

    def __init__(self, config, rounding=EXACT):
        empty = np.zeros((0, config.kv_heads, config.head_dim))
        self.rounding = rounding
        self.keys = [empty] * config.layers
        self.values = [empty] * config.layers

    def __len__(self):
        return self.keys[0].shape[0]

    def append(self, layer, k, v):
        """k, v [T, kv_heads, head_dim] -> all keys and values of the layer, [S, ...]."""
        rounded = self.rounding.cached
        self.keys[layer] = np.concatenate([self.keys[layer], rounded(k)])
        self.values[layer] = np.concatenate([self.values[layer], rounded(v)])
        return self.keys[layer], self.values[layer]


class Model(object):
    """A decoder: config and weights {Hugging Face name: array}, stored in float64; GPT-2 if that is
    the config's family.

    `formats` {name: format} are the stored formats of weights, for roundings that depend on them;
    the default is f32. Weights keep the exact values of their stored format."""

    def __new__(cls, config, *_, **__):
        if config.family in DESCRIBED_FAMILIES:
            from .described import CLASSES
            cls = CLASSES[config.family]
        return super(Model, cls).__new__(GPT2 if config.family == "gpt2" else cls)

    def __init__(self, config, weights, formats=()):
        self.config = config
        self.weights = {name: np.asarray(w, dtype=np.float64) for name, w in weights.items()}
        self.formats = dict(formats)
        if config.rope_theta is not None:
            self.frequencies = ops.rope_frequencies(config.head_dim, config.rope_theta,
                                                    config.rope_scaling)

    def new_cache(self, rounding=EXACT):
        """An empty cache, for forward passes that continue each other."""
        return Cache(self.config, rounding)

    def forward(self, ids, rounding=EXACT, cache=None):
        """Logits after each of the ids: [T] -> [T, vocab] float64.

        `rounding` specifies where values are rounded, to emulate a compiled model. With a cache, the
        ids follow the tokens in it and are added to it, and its rounding applies."""
        cache = self.new_cache(rounding) if cache is None else cache
        head = "model.embed_tokens" if self.config.tied else "lm_head"
        return self._linear(head, self.hidden(ids, cache=cache), cache.rounding)

    def hidden(self, ids, rounding=EXACT, cache=None):
        """The last hidden states, after the last norm: [T] -> [T, hidden] float64."""
        config = self.config
        cache = self.new_cache(rounding) if cache is None else cache
        rounding = cache.rounding
        positions = np.arange(len(cache), len(cache) + len(ids))
        act = rounding.result

        x = act(ops.embedding(ids, self.weights["model.embed_tokens.weight"]))
        for i in range(config.layers):
            name = "model.layers.%d." % i
            normed = act(self._norm(name + "input_layernorm", x))
            x = act(x + self._attention(i, normed, positions, cache))
            normed = act(self._norm(name + "post_attention_layernorm", x))
            x = act(x + self._mlp(name + "mlp.", normed, rounding))
        return act(self._norm("model.norm", x))

    def generate(self, prompt, count, rounding=EXACT, stop=()):
        """Greedy decoding: up to `count` ids after the prompt, ending with one of `stop`.

        -> (ids, margins), margins being the lead of the best logit over the second at each step.
        Equal logits: the lowest id wins."""
        cache = self.new_cache(rounding)
        logits = self.forward(prompt, cache=cache)[-1]
        ids, margins = [], []
        while len(ids) < count:
            ids.append(int(np.argmax(logits)))
            margins.append(float(top_two_margin(logits)))
            if ids[-1] in stop or len(ids) == count:
                break
            logits = self.forward(ids[-1:], cache=cache)[-1]
        return ids, margins

    def _norm(self, name, x):
        return ops.rms_norm(x, self.weights[name + ".weight"], self.config.rms_eps)

    def _linear(self, name, x, rounding):
        """x [T, in] -> [T, out]: inputs are rounded as the weight's format requires, then the result."""
        x = rounding.input(self.formats.get(name + ".weight", "f32"), x)
        return rounding.result(ops.linear(x, self.weights[name + ".weight"],
                                          self.weights.get(name + ".bias")))

    def _attention(self, layer, x, positions, cache):
        """Self-attention with its output projection: x [T, hidden] -> [T, hidden]."""
        config, rounding, act = self.config, cache.rounding, cache.rounding.result
        name = "model.layers.%d.self_attn." % layer

        def heads(projection, count):
            y = self._linear(name + projection, x, rounding)
            return y.reshape(len(x), count, config.head_dim)

        q, k = heads("q_proj", config.heads), heads("k_proj", config.kv_heads)
        v = heads("v_proj", config.kv_heads)
        if config.family == "qwen3":  # each head is normalized separately, before rotation
            q, k = act(self._norm(name + "q_norm", q)), act(self._norm(name + "k_norm", k))
        q = act(ops.rope(q, positions, self.frequencies))
        k = act(ops.rope(k, positions, self.frequencies))
        keys, values = cache.append(layer, k, v)
        mixed = act(ops.attention(q, keys, values, dtype=rounding.attention))
        return self._linear(name + "o_proj", mixed.reshape(len(x), -1), rounding)

    def _mlp(self, name, x, rounding):
        """down(silu(gate x) * up x): [T, hidden] -> [T, hidden]."""
        gate = self._linear(name + "gate_proj", x, rounding)
        up = self._linear(name + "up_proj", x, rounding)
        inner = rounding.result(ops.silu_mul(gate, up))
        return self._linear(name + "down_proj", inner, rounding)


class GPT2(Model):
    """GPT-2: LayerNorm, learned positions, one matrix for queries, keys and values, GELU."""

    def forward(self, ids, rounding=EXACT, cache=None):
        config = self.config
        cache = self.new_cache(rounding) if cache is None else cache
        rounding = cache.rounding
        positions = np.arange(len(cache), len(cache) + len(ids))
        act = rounding.result

        x = act(act(ops.embedding(ids, self.weights["transformer.wte.weight"])) +
                act(ops.embedding(positions, self.weights["transformer.wpe.weight"])))
        for i in range(config.layers):
            name = "transformer.h.%d." % i
            x = act(x + self._attention(i, act(self._norm(name + "ln_1", x)), positions, cache))
            x = act(x + self._mlp(name + "mlp.", act(self._norm(name + "ln_2", x)), rounding))
        x = act(self._norm("transformer.ln_f", x))
        head = "transformer.wte" if config.tied else "lm_head"
        return self._linear(head, x, rounding)

    def _norm(self, name, x):
        return ops.layer_norm(x, self.weights[name + ".weight"], self.weights[name + ".bias"],
                              self.config.rms_eps)

    def _conv(self, name, x, rounding):
        """x [T, in] -> [T, out] by a matrix stored as [in, out]."""
        x = rounding.input(self.formats.get(name + ".weight", "f32"), x)
        return rounding.result(ops.linear(x, self.weights[name + ".weight"].T,
                                          self.weights[name + ".bias"]))

    def _attention(self, layer, x, positions, cache):
        config, rounding = self.config, cache.rounding
        name = "transformer.h.%d.attn." % layer
        q, k, v = (part.reshape(len(x), config.heads, config.head_dim) for part in
                   np.split(self._conv(name + "c_attn", x, rounding), 3, axis=-1))
        keys, values = cache.append(layer, k, v)
        mixed = rounding.result(ops.attention(q, keys, values, dtype=rounding.attention))
        return self._conv(name + "c_proj", mixed.reshape(len(x), -1), rounding)

    def _mlp(self, name, x, rounding):
        inner = rounding.result(ops.gelu_tanh(self._conv(name + "c_fc", x, rounding)))
        return self._conv(name + "c_proj", inner, rounding)

