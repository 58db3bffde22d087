# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decoders in which some layers keep a state of the sequence in place of keys and values."""

import copy

import numpy as np

from . import ops
from .experts import GraniteMoE, Qwen2MoE, Sparse, greatest, sigmoid
from .families import Dense
from .model import Cache
from .rounding import EXACT


class States(Cache):
    """Keys and values of the layers with attention, and what the others keep, by layer and name."""

    def __init__(self, config, rounding=EXACT):
        super().__init__(config, rounding)
        self.length, self.kept = 0, {}

    def __len__(self):
        return self.length


def causal_conv(x, weight, cache, i):
    """Each channel of x [T, C], with the last rows of earlier calls before it, convolved with weight [C, 1, K]."""
    taps = weight.shape[-1]
    before = cache.kept.get((i, "rows"), np.zeros((taps - 1, x.shape[1])))
    rows = np.concatenate([before, x])
    cache.kept[i, "rows"] = rows[len(rows) - (taps - 1):]
    return np.stack([(rows[t:t + taps] * weight[:, 0].T).sum(axis=0) for t in range(len(x))])


class Hybrid(Dense):
    """The common structure; `mixer` is the module in place of self_attn in layers that keep a state."""

    mixer = None

    @classmethod
    def is_recurrent(cls, layer, config):
        return config.recurrent[int(layer.split(".")[2])]

    @classmethod
    def add_attention(cls, shapes, layer, config):
        if cls.is_recurrent(layer, config):
            cls.add_mixer(shapes, layer + cls.mixer, config)
        else:
            cls.add_heads(shapes, layer, config)

    @classmethod
    def add_heads(cls, shapes, layer, config):
        Dense.add_attention.__func__(cls, shapes, layer, config)

    def new_cache(self, rounding=EXACT):
        return States(self.config, rounding)

    def forward(self, ids, rounding=None, cache=None):
        cache = self.new_cache() if cache is None else cache
        logits = super().forward(ids, rounding, cache)
        cache.length += len(ids)
        return logits

    def attend(self, i, layer, x, positions, cache):
        if self.is_recurrent(layer, self.config):
            return self.mix(i, layer + self.mixer, x, cache)
        return super().attend(i, layer, x, positions, cache)


class Lfm2(Hybrid):
    """Layers out(C * conv(B * u)) with [B, C, u] = in(x); the other layers normalize heads of queries and keys."""

    mixer, output, final_norm = "conv.", "self_attn.out_proj", "model.embedding_norm"
    norms = ("operator_norm", "ffn_norm")

    @classmethod
    def add_mixer(cls, shapes, name, config):
        cls.add_linear(shapes, name + "in_proj", 3 * config.hidden, config.hidden, config.conv_bias)
        shapes[name + "conv.weight"] = (config.hidden, 1, config.taps)
        if config.conv_bias:
            shapes[name + "conv.bias"] = (config.hidden,)
        cls.add_linear(shapes, name + "out_proj", config.hidden, config.hidden, config.conv_bias)

    @classmethod
    def add_heads(cls, shapes, layer, config):
        super().add_heads(shapes, layer, config)
        shapes[layer + cls.output + ".weight"] = shapes.pop(layer + "self_attn.o_proj.weight")
        for name in "qk":
            shapes["%sself_attn.%s_layernorm.weight" % (layer, name)] = (config.head_dim,)

    @classmethod
    def add_mlp(cls, shapes, layer, config):
        for name, rows, columns in (("w1", config.intermediate, config.hidden),
                                    ("w3", config.intermediate, config.hidden),
                                    ("w2", config.hidden, config.intermediate)):
            cls.add_linear(shapes, layer + "feed_forward." + name, rows, columns)

    def block(self, i, layer, x, positions, cache):
        x = x + self.attend(i, layer, self.norm(layer + "operator_norm", x), positions, cache)
        return x + self.mlp(layer, self.norm(layer + "ffn_norm", x))

    def heads(self, i, layer, x):
        q, k, v = super().heads(i, layer, x)
        return self.norm(layer + "self_attn.q_layernorm", q), self.norm(layer + "self_attn.k_layernorm", k), v

    def mix(self, i, name, x, cache):
        b, c, u = np.split(self.linear(name + "in_proj", x), 3, axis=-1)
        mixed = causal_conv(b * u, self.weights[name + "conv.weight"], cache, i)
        if self.config.conv_bias:
            mixed = mixed + self.weights[name + "conv.bias"]
        return self.linear(name + "out_proj", c * mixed)

    def mlp(self, layer, x):
        name = layer + "feed_forward."
        return self.linear(name + "w2", ops.silu_mul(self.linear(name + "w1", x), self.linear(name + "w3", x)))


class Lfm2MoE(Lfm2, Sparse):
    """Experts in all but the first layers, chosen by the sigmoid of their logits plus a bias."""

    mixture, parts = "feed_forward.", ("w1", "w3", "w2")

    @classmethod
    def add_mlp(cls, shapes, layer, config):
        if int(layer.split(".")[2]) in config.dense_layers:
            Lfm2.add_mlp.__func__(cls, shapes, layer, config)
            return
        Sparse.add_mlp.__func__(cls, shapes, layer, config)
        shapes[layer + "feed_forward.expert_bias"] = (config.experts,)

    def mlp(self, layer, x):
        of = Lfm2 if int(layer.split(".")[2]) in self.config.dense_layers else Sparse
        return of.mlp(self, layer, x)

    def route(self, prefix, logits):
        scores = sigmoid(logits)
        chosen = greatest(scores + self.weights[prefix + "expert_bias"], self.config.experts_per_token)
        weights = np.take_along_axis(scores, chosen, axis=-1)
        return chosen, weights / (weights.sum(axis=-1, keepdims=True) + 1e-6) * self.config.routed_scale


def softplus(x):
    return np.logaddexp(0, x)


def silu(x):
    return x * sigmoid(x)


def rms(x, eps):
    return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps)


class GraniteHybrid(Hybrid, GraniteMoE):
    """Mamba-2 with the gate before the norm; an MLP beside the mixture of experts, or alone; attention without
    rotation."""

    mixer = "mamba."

    @classmethod
    def add_mixer(cls, shapes, name, config):
        inner, heads = config.value_heads * config.value_dim, config.value_heads
        channels = inner + 2 * config.key_dim
        cls.add_linear(shapes, name + "in_proj", inner + channels + heads, config.hidden)
        shapes[name + "conv1d.weight"] = (channels, 1, config.taps)
        shapes[name + "conv1d.bias"] = (channels,)
        for parameter in ("dt_bias", "A_log", "D"):
            shapes[name + parameter] = (heads,)
        shapes[name + "norm.weight"] = (inner,)
        cls.add_linear(shapes, name + "out_proj", config.hidden, inner)

    @classmethod
    def add_mlp(cls, shapes, layer, config):
        if config.experts:
            super().add_mlp(shapes, layer, copy_with(config, shared_inner=0))
        inner = config.shared_inner or config.intermediate
        cls.add_linear(shapes, layer + "shared_mlp.input_linear", 2 * inner, config.hidden)
        cls.add_linear(shapes, layer + "shared_mlp.output_linear", config.hidden, inner)

    def mlp(self, layer, x):
        gate, up = np.split(self.linear(layer + "shared_mlp.input_linear", x), 2, axis=-1)
        result = self.linear(layer + "shared_mlp.output_linear", ops.silu_mul(gate, up))
        return result + super().mlp(layer, x) if self.config.experts else result

    def shared_mlp(self, prefix, x):
        return 0  # Added above.

    def rotation(self, i):
        return super().rotation(i) if self.config.rotates else None

    def mix(self, i, name, x, cache):
        config = self.config
        inner, size = config.value_heads * config.value_dim, config.key_dim
        z, mixed, dt = np.split(self.linear(name + "in_proj", x), [inner, 2 * inner + 2 * size], axis=-1)
        mixed = silu(causal_conv(mixed, self.weights[name + "conv1d.weight"], cache, i) +
                     self.weights[name + "conv1d.bias"])
        u, b, c = np.split(mixed, [inner, inner + size], axis=-1)
        u = u.reshape(len(x), config.value_heads, config.value_dim)
        dt = softplus(dt + self.weights[name + "dt_bias"])
        decay = np.exp(-dt * np.exp(self.weights[name + "A_log"]))
        state = cache.kept.get((i, "matrix"), np.zeros((config.value_heads, config.value_dim, size)))
        y = np.empty_like(u)
        for t in range(len(x)):
            state = decay[t, :, None, None] * state + (dt[t, :, None] * u[t])[..., None] * b[t]
            y[t] = state @ c[t]
        cache.kept[i, "matrix"] = state
        y = (y + self.weights[name + "D"][:, None] * u).reshape(len(x), inner)
        return self.linear(name + "out_proj",
                           rms(y * silu(z), config.rms_eps) * self.weights[name + "norm.weight"])


def copy_with(config, **fields):
    other = copy.copy(config)
    other.__dict__.update(fields)
    return other


class Qwen3Next(Hybrid, Qwen2MoE):
    """The gated delta rule, and attention with a gate; norms scale by 1 + weight."""

    mixer = "linear_attn."

    @classmethod
    def add_mixer(cls, shapes, name, config):
        keys, values = config.key_heads * config.key_dim, config.value_heads * config.value_dim
        cls.add_projections(shapes, name, config, keys, values)
        shapes[name + "conv1d.weight"] = (2 * keys + values, 1, config.taps)
        for parameter in ("dt_bias", "A_log"):
            shapes[name + parameter] = (config.value_heads,)
        shapes[name + "norm.weight"] = (config.value_dim,)
        cls.add_linear(shapes, name + "out_proj", config.hidden, values)

    @classmethod
    def add_projections(cls, shapes, name, config, keys, values):
        cls.add_linear(shapes, name + "in_proj_qkvz", 2 * keys + 2 * values, config.hidden)
        cls.add_linear(shapes, name + "in_proj_ba", 2 * config.value_heads, config.hidden)

    def projections(self, name, x):
        """-> q, k [T, G, D], v, z [T, H, V], b, a [T, H]: for each key head, all of it."""
        config = self.config
        each = config.value_heads // config.key_heads
        inputs = self.linear(name + "in_proj_qkvz", x).reshape(len(x), config.key_heads, -1)
        size, more = config.key_dim, each * config.value_dim
        q, k, v, z = np.split(inputs, [size, 2 * size, 2 * size + more], axis=-1)
        factors = self.linear(name + "in_proj_ba", x).reshape(len(x), config.key_heads, 2 * each)
        b, a = np.split(factors, 2, axis=-1)
        heads = (len(x), config.value_heads)
        return (q, k, v.reshape(heads + (-1,)), z.reshape(heads + (-1,)), b.reshape(heads), a.reshape(heads))

    @classmethod
    def add_heads(cls, shapes, layer, config):
        super().add_heads(shapes, layer, config)
        shapes[layer + "self_attn.q_proj.weight"] = (2 * config.heads * config.head_dim, config.hidden)
        for name in "qk":
            shapes["%sself_attn.%s_norm.weight" % (layer, name)] = (config.head_dim,)

    @classmethod
    def add_mlp(cls, shapes, layer, config):
        if config.experts:
            Qwen2MoE.add_mlp.__func__(cls, shapes, layer, config)
        else:
            Dense.add_mlp.__func__(cls, shapes, layer, config)

    def mlp(self, layer, x):
        return super().mlp(layer, x) if self.config.experts else Dense.mlp(self, layer, x)

    def norm(self, name, x):
        return rms(x, self.config.rms_eps) * (1 + self.weights[name + ".weight"])

    def heads(self, i, layer, x):
        rows = self.linear(layer + "self_attn.q_proj", x).reshape(len(x), self.config.heads, 2, -1)
        self.gate = rows[:, :, 1].reshape(len(x), -1)
        k, v = (self.in_heads(self.linear("%sself_attn.%s_proj" % (layer, name), x)) for name in "kv")
        return (self.norm(layer + "self_attn.q_norm", rows[:, :, 0]), self.norm(layer + "self_attn.k_norm", k), v)

    def linear(self, name, x):
        if name.endswith("self_attn.o_proj"):
            x = x * sigmoid(self.gate)
        return super().linear(name, x)

    def mix(self, i, name, x, cache):
        config = self.config
        q, k, v, z, b, a = self.projections(name, x)
        rows = np.concatenate([each.reshape(len(x), -1) for each in (q, k, v)], axis=-1)
        rows = silu(causal_conv(rows, self.weights[name + "conv1d.weight"], cache, i))
        keys = config.key_heads * config.key_dim
        q, k, v = (part.reshape(shape) for part, shape in zip(np.split(rows, [keys, 2 * keys], axis=-1),
                                                              (q.shape, k.shape, v.shape)))
        q, k = (part / np.sqrt((part * part).sum(axis=-1, keepdims=True) + 1e-6) for part in (q, k))
        q, k = (np.repeat(part, config.value_heads // config.key_heads, axis=1) for part in (q, k))
        decay = np.exp(-np.exp(self.weights[name + "A_log"]) * softplus(a + self.weights[name + "dt_bias"]))
        beta = sigmoid(b)
        state = cache.kept.get((i, "matrix"), np.zeros((config.value_heads, config.key_dim, config.value_dim)))
        y = np.empty_like(v)
        for t in range(len(x)):
            state = decay[t, :, None, None] * state
            known = np.einsum("hkv,hk->hv", state, k[t])
            state = state + k[t][..., None] * (beta[t, :, None] * (v[t] - known))[:, None]
            y[t] = np.einsum("hkv,hk->hv", state, q[t]) / np.sqrt(config.key_dim)
        cache.kept[i, "matrix"] = state
        y = rms(y, config.rms_eps) * self.weights[name + "norm.weight"] * silu(z)
        return self.linear(name + "out_proj", y.reshape(len(x), -1))


class Qwen35(Qwen3Next):
    """Separate projections, each with all heads; experts in stacks."""

    @classmethod
    def add_projections(cls, shapes, name, config, keys, values):
        for part, rows in (("qkv", 2 * keys + values), ("z", values), ("b", config.value_heads),
                           ("a", config.value_heads)):
            cls.add_linear(shapes, "%sin_proj_%s" % (name, part), rows, config.hidden)

    def projections(self, name, x):
        config = self.config
        keys = config.key_heads * config.key_dim
        q, k, v = np.split(self.linear(name + "in_proj_qkv", x), [keys, 2 * keys], axis=-1)
        z, b, a = (self.linear("%sin_proj_%s" % (name, part), x) for part in "zba")
        of_keys, of_values = ((len(x), heads, -1) for heads in (config.key_heads, config.value_heads))
        return q.reshape(of_keys), k.reshape(of_keys), v.reshape(of_values), z.reshape(of_values), b, a

    @classmethod
    def add_experts(cls, shapes, prefix, config):
        shapes[prefix + "experts.gate_up_proj"] = (config.experts, 2 * config.expert_inner, config.hidden)
        shapes[prefix + "experts.down_proj"] = (config.experts, config.hidden, config.expert_inner)

    def expert(self, prefix, e, x):
        gate, up = np.split(ops.linear(x, self.weights[prefix + "experts.gate_up_proj"][e]), 2, axis=-1)
        return ops.linear(ops.silu_mul(gate, up), self.weights[prefix + "experts.down_proj"][e])


FAMILIES = {"lfm2": Lfm2, "lfm2_moe": Lfm2MoE, "granitemoehybrid": GraniteHybrid, "qwen3_next": Qwen3Next, "qwen3_5_text": Qwen35,
            "qwen3_5_moe_text": Qwen35}
