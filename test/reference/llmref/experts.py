# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decoders with mixtures of experts: of the MLPs of a layer, a router chooses some for each token."""

import numpy as np

from . import families, ops
from .families import Dense


def greatest(scores, count):
    """The columns of the greatest scores of each row, greatest first: [T, E] -> [T, count]."""
    return np.argsort(-scores, axis=-1, kind="stable")[:, :count]


def sigmoid(x):
    return 0.5 * (1 + np.tanh(0.5 * x))


class Sparse(Dense):
    """The common structure, which is that of Mixtral. Overridden by families."""

    mixture, router, parts = "block_sparse_moe.", "gate", ("w1", "w3", "w2")  # gate, up, down
    shared = None

    @classmethod
    def add_mlp(cls, shapes, layer, config):
        if int(layer.split(".")[2]) in config.dense_layers:
            super().add_mlp(shapes, layer, config)
            return
        cls.add_linear(shapes, layer + cls.mixture + cls.router, config.experts, config.hidden)
        cls.add_experts(shapes, layer + cls.mixture, config)
        if config.shared_inner:
            for name, rows, columns in (("gate", config.shared_inner, config.hidden),
                                        ("up", config.shared_inner, config.hidden),
                                        ("down", config.hidden, config.shared_inner)):
                cls.add_linear(shapes, "%s%s.%s_proj" % (layer + cls.mixture, cls.shared, name), rows, columns)

    @classmethod
    def add_experts(cls, shapes, prefix, config):
        for e in range(config.experts):
            for part, rows, columns in zip(cls.parts, (config.expert_inner, config.expert_inner, config.hidden),
                                           (config.hidden, config.hidden, config.expert_inner)):
                cls.add_linear(shapes, "%sexperts.%d.%s" % (prefix, e, part), rows, columns)

    def mlp(self, layer, x):
        if int(layer.split(".")[2]) in self.config.dense_layers:
            return super().mlp(layer, x)
        prefix = layer + self.mixture
        chosen, weights = self.route(prefix, self.linear(prefix + self.router, x))
        result = np.zeros_like(x)
        for e in np.unique(chosen):
            tokens, ranks = np.nonzero(chosen == e)
            result[tokens] += weights[tokens, ranks, np.newaxis] * self.expert(prefix, e, x[tokens])
        return result + self.shared_mlp(prefix, x) if self.config.shared_inner else result

    def route(self, prefix, logits):
        """-> the chosen experts of each token and their weights, [T, k] each."""
        scores = ops.softmax(logits)
        chosen = greatest(scores, self.config.experts_per_token)
        weights = np.take_along_axis(scores, chosen, axis=-1)
        if self.config.normalizes:
            weights = weights / weights.sum(axis=-1, keepdims=True)
        return chosen, weights

    def expert(self, prefix, e, x):
        """The result of one expert: [T, hidden] -> [T, hidden]."""
        gate, up, down = ("%sexperts.%d.%s" % (prefix, e, part) for part in self.parts)
        return self.linear(down, ops.silu_mul(self.linear(gate, x), self.linear(up, x)))

    def shared_mlp(self, prefix, x):
        name = prefix + self.shared
        inner = ops.silu_mul(self.linear(name + ".gate_proj", x), self.linear(name + ".up_proj", x))
        return self.linear(name + ".down_proj", inner)


class Qwen2MoE(Sparse):
    """An MLP for all tokens, with a gate."""

    mixture, parts, shared = "mlp.", ("gate_proj", "up_proj", "down_proj"), "shared_expert"

    @classmethod
    def add_attention(cls, shapes, layer, config):
        super().add_attention(shapes, layer, config)
        rows = {"q": config.heads, "k": config.kv_heads, "v": config.kv_heads}
        for name, heads in rows.items():
            shapes["%sself_attn.%s_proj.bias" % (layer, name)] = (heads * config.head_dim,)

    @classmethod
    def add_mlp(cls, shapes, layer, config):
        super().add_mlp(shapes, layer, config)
        if int(layer.split(".")[2]) not in config.dense_layers:
            cls.add_linear(shapes, layer + "mlp.shared_expert_gate", 1, config.hidden)

    def shared_mlp(self, prefix, x):
        return sigmoid(self.linear(prefix + "shared_expert_gate", x)) * super().shared_mlp(prefix, x)


class Qwen3MoE(Sparse):
    """Norms of each head of queries and keys."""

    mixture, parts = "mlp.", ("gate_proj", "up_proj", "down_proj")

    @classmethod
    def add_attention(cls, shapes, layer, config):
        super().add_attention(shapes, layer, config)
        for name in "qk":
            shapes["%sself_attn.%s_norm.weight" % (layer, name)] = (config.head_dim,)

    def heads(self, i, layer, x):
        q, k, v = super().heads(i, layer, x)
        return self.norm(layer + "self_attn.q_norm", q), self.norm(layer + "self_attn.k_norm", k), v


class OLMoE(Sparse):
    """Norms of all queries of a token, of all its keys."""

    mixture, parts = "mlp.", ("gate_proj", "up_proj", "down_proj")

    @classmethod
    def add_attention(cls, shapes, layer, config):
        super().add_attention(shapes, layer, config)
        shapes[layer + "self_attn.q_norm.weight"] = (config.heads * config.head_dim,)
        shapes[layer + "self_attn.k_norm.weight"] = (config.kv_heads * config.head_dim,)

    def heads(self, i, layer, x):
        name = layer + "self_attn."
        return (self.in_heads(self.norm(name + "q_norm", self.linear(name + "q_proj", x))),
                self.in_heads(self.norm(name + "k_norm", self.linear(name + "k_proj", x))),
                self.in_heads(self.linear(name + "v_proj", x)))


class GraniteMoE(Sparse):
    """The softmax is over the chosen logits; stacks of matrices, gate and up projection of an expert in one."""

    router = "router.layer"

    @classmethod
    def add_experts(cls, shapes, prefix, config):
        shapes[prefix + "input_linear.weight"] = (config.experts, 2 * config.expert_inner, config.hidden)
        shapes[prefix + "output_linear.weight"] = (config.experts, config.hidden, config.expert_inner)

    def route(self, prefix, logits):
        chosen = greatest(logits, self.config.experts_per_token)
        return chosen, ops.softmax(np.take_along_axis(logits, chosen, axis=-1))

    def expert(self, prefix, e, x):
        gate, up = np.split(ops.linear(x, self.weights[prefix + "input_linear.weight"][e]), 2, axis=-1)
        return ops.linear(ops.silu_mul(gate, up), self.weights[prefix + "output_linear.weight"][e])


class Glm4MoE(Qwen3MoE):
    """The first layers are dense; an MLP for all tokens. Experts are chosen by the sigmoid of their logits plus a
    bias, which does not enter their weights."""

    shared = "shared_experts"

    @classmethod
    def add_attention(cls, shapes, layer, config):
        (super() if config.qk_norm else super(Qwen3MoE, cls)).add_attention(shapes, layer, config)

    @classmethod
    def add_mlp(cls, shapes, layer, config):
        super().add_mlp(shapes, layer, config)
        if int(layer.split(".")[2]) not in config.dense_layers:
            shapes[layer + "mlp.gate.e_score_correction_bias"] = (config.experts,)

    def heads(self, i, layer, x):
        return super().heads(i, layer, x) if self.config.qk_norm else Dense.heads(self, i, layer, x)

    def route(self, prefix, logits):
        config, scores = self.config, sigmoid(logits)
        ranking = scores + self.weights[prefix + "gate.e_score_correction_bias"]
        if config.groups > 1:
            members = ranking.reshape(len(ranking), config.groups, -1)
            best = greatest(np.sort(members, axis=-1)[..., -2:].sum(axis=-1), config.groups_per_token)
            hidden = np.ones((len(ranking), config.groups), bool)
            np.put_along_axis(hidden, best, False, axis=-1)
            ranking = np.where(hidden[..., None], -np.inf, members).reshape(ranking.shape)
        chosen = greatest(ranking, config.experts_per_token)
        weights = np.take_along_axis(scores, chosen, axis=-1)
        if config.normalizes:
            weights = weights / (weights.sum(axis=-1, keepdims=True) + 1e-20)
        return chosen, weights * config.routed_scale


class GptOss(GraniteMoE):
    """Biases everywhere, sinks in the attention, and a clamped SwiGLU. Matrices of experts are [in, out]; of the
    columns of gate and up projections, gate and up alternate."""

    mixture, router = "mlp.", "router"

    @classmethod
    def add_attention(cls, shapes, layer, config):
        super().add_attention(shapes, layer, config)
        shapes[layer + "self_attn.sinks"] = (config.heads,)

    @classmethod
    def add_experts(cls, shapes, prefix, config):
        shapes[prefix + "router.bias"] = (config.experts,)
        for name, rows, columns in (("gate_up_proj", config.hidden, 2 * config.expert_inner),
                                    ("down_proj", config.expert_inner, config.hidden)):
            shapes[prefix + "experts." + name] = (config.experts, rows, columns)
            shapes[prefix + "experts." + name + "_bias"] = (config.experts, columns)

    def expert(self, prefix, e, x):
        def product(name, x):
            name = prefix + "experts." + name
            return x @ self.weights[name][e] + self.weights[name + "_bias"][e]

        opened, limit = product("gate_up_proj", x), self.config.swiglu_limit
        gate, up = np.minimum(opened[:, ::2], limit), np.clip(opened[:, 1::2], -limit, limit)
        return product("down_proj", gate * sigmoid(1.702 * gate) * (up + 1))


class Llama4(Sparse):
    """Every fourth layer neither rotates nor attends in chunks, and scales its queries; in the others, queries and keys
    are divided by their root mean squares after rotation. A token has one expert, whose input is scaled, and an MLP
    that all tokens share. Matrices of experts are [in, out], gate and up projections side by side."""

    mixture, router, shared, pairing = "feed_forward.", "router", "shared_expert", "adjacent"

    def is_full(self, i):
        return (i + 1) % 4 == 0

    def rotation(self, i):
        return None if self.is_full(i) else super().rotation(i)

    def chunk(self, i):
        return None if self.is_full(i) else self.config.chunk

    def rotated(self, i, x, positions):
        x = super().rotated(i, x, positions)
        if self.is_full(i) or not self.config.qk_norm:
            return x
        return x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + self.config.rms_eps)

    def query_factors(self, i, positions):
        if not self.is_full(i):
            return np.ones(len(positions))
        return 1 + self.config.query_growth * np.log1p(np.floor((positions + 1) / self.config.floor_scale))

    @classmethod
    def add_mlp(cls, shapes, layer, config):
        if int(layer.split(".")[2]) not in config.dense_layers:
            Sparse.add_mlp.__func__(cls, shapes, layer, config)
            return
        for name, rows, columns in (("gate", config.intermediate, config.hidden),
                                    ("up", config.intermediate, config.hidden),
                                    ("down", config.hidden, config.intermediate)):
            cls.add_linear(shapes, "%sfeed_forward.%s_proj" % (layer, name), rows, columns)

    @classmethod
    def add_experts(cls, shapes, prefix, config):
        shapes[prefix + "experts.gate_up_proj"] = (config.experts, config.hidden, 2 * config.expert_inner)
        shapes[prefix + "experts.down_proj"] = (config.experts, config.expert_inner, config.hidden)

    def mlp(self, layer, x):
        prefix = layer + self.mixture
        if int(layer.split(".")[2]) in self.config.dense_layers:
            inner = ops.silu_mul(self.linear(prefix + "gate_proj", x), self.linear(prefix + "up_proj", x))
            return self.linear(prefix + "down_proj", inner)
        logits = self.linear(prefix + self.router, x)
        chosen = logits.argmax(axis=-1)
        result = self.shared_mlp(prefix, x)
        for t, e in enumerate(chosen):
            opened = (x[t] * sigmoid(logits[t, e])) @ self.weights[prefix + "experts.gate_up_proj"][e]
            gate, up = np.split(opened, 2)
            result[t] += ops.silu_mul(gate, up) @ self.weights[prefix + "experts.down_proj"][e]
        return result


CLASSES = dict(families.FAMILIES, mixtral=Sparse, qwen2_moe=Qwen2MoE, qwen3_moe=Qwen3MoE, olmoe=OLMoE,
               granitemoe=GraniteMoE, glm4_moe=Glm4MoE, gpt_oss=GptOss, llama4_text=Llama4)
