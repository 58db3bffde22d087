# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decoders with multi-head latent attention (DeepSeek-V2, arXiv:2405.04434, section 2.1): keys and values of all
heads are expanded from one latent per token, beside which keys have rotated elements that all heads share. Here
they are expanded before attention, as in the paper's equations."""

import math

import numpy as np

from . import experts, ops
from .experts import Glm4MoE, greatest
from .families import attention
from .model import Cache

LATENT_EPS = 1e-6  # Of the norms of latents, whatever the configuration says.


class DeepSeekV3(Glm4MoE):
    """Experts as in GLM-4.5, whose routing is that of DeepSeek-V3 (arXiv:2412.19437)."""

    pairing = "adjacent"

    @classmethod
    def add_attention(cls, shapes, layer, config):
        name = layer + "self_attn."
        rows, columns = config.heads * config.head_dim, config.hidden
        if config.q_rank:
            cls.add_linear(shapes, name + "q_a_proj", config.q_rank, config.hidden)
            shapes[name + "q_a_layernorm.weight"] = (config.q_rank,)
            columns = config.q_rank
        cls.add_linear(shapes, name + ("q_b_proj" if config.q_rank else "q_proj"), rows, columns)
        cls.add_linear(shapes, name + "kv_a_proj_with_mqa", config.kv_rank + config.rotary_dim, config.hidden)
        shapes[name + "kv_a_layernorm.weight"] = (config.kv_rank,)
        plain = config.head_dim - config.rotary_dim
        cls.add_linear(shapes, name + "kv_b_proj", config.heads * (plain + config.value_dim), config.kv_rank)
        cls.add_linear(shapes, name + "o_proj", config.hidden, config.heads * config.value_dim)

    def new_cache(self, *arguments):
        cache = Cache(self.config, *arguments)
        cache.values = [np.zeros((0, self.config.heads, self.config.value_dim))] * self.config.layers
        return cache

    def latent_norm(self, name, x):
        return ops.rms_norm(x, self.weights[name + ".weight"], LATENT_EPS)

    def score_scale(self):
        scaling, scale = self.config.rope_scaling, self.config.head_dim ** -0.5
        if scaling and scaling.get("mscale_all_dim"):
            scale *= (0.1 * scaling["mscale_all_dim"] * math.log(scaling["factor"]) + 1) ** 2
        return scale

    def attend(self, i, layer, x, positions, cache):
        config, name = self.config, layer + "self_attn."
        plain, tokens = config.head_dim - config.rotary_dim, len(x)
        query = self.latent_norm(name + "q_a_layernorm", self.linear(name + "q_a_proj", x)) if config.q_rank else x
        q = self.in_heads(self.linear(name + ("q_b_proj" if config.q_rank else "q_proj"), query))
        q = np.concatenate([q[..., :plain], self.rotated(i, q[..., plain:], positions)], axis=-1)
        q = q * self.query_factors(i, positions)[:, None, None]
        latent, shared = np.split(self.linear(name + "kv_a_proj_with_mqa", x), [config.kv_rank], axis=-1)
        latent = self.latent_norm(name + "kv_a_layernorm", latent)
        shared = self.rotated(i, shared[:, None, :], positions)
        expanded = self.linear(name + "kv_b_proj", latent).reshape(tokens, config.heads, plain + config.value_dim)
        shared = np.broadcast_to(shared, (tokens, config.heads, config.rotary_dim))
        k = np.concatenate([expanded[..., :plain], shared], axis=-1)
        keys, values = cache.append(i, k, expanded[..., plain:])
        mixed = attention(q, keys, values, self.score_scale())
        return self.linear(name + "o_proj", mixed.reshape(tokens, -1))


class DeepSeekV2(DeepSeekV3):
    """Experts are chosen by their softmax, from the groups with the greatest scores; weights are not normalized."""

    @classmethod
    def add_mlp(cls, shapes, layer, config):
        super(Glm4MoE, cls).add_mlp(shapes, layer, config)

    def route(self, prefix, logits):
        config, scores = self.config, ops.softmax(logits)
        ranking = scores
        if config.groups > 1:
            members = scores.reshape(len(scores), config.groups, -1)
            best = greatest(members.max(axis=-1), config.groups_per_token)
            hidden = np.ones((len(scores), config.groups), bool)
            np.put_along_axis(hidden, best, False, axis=-1)
            ranking = np.where(hidden[..., None], -np.inf, members).reshape(scores.shape)
        chosen = greatest(ranking, config.experts_per_token)
        return chosen, np.take_along_axis(scores, chosen, axis=-1) * config.routed_scale


class Mistral4(DeepSeekV3):
    """Experts are chosen by their softmax, and their weights are normalized; stacks of matrices, gate and up
    projection of an expert in one. Queries grow with their position."""

    @classmethod
    def add_mlp(cls, shapes, layer, config):
        super(Glm4MoE, cls).add_mlp(shapes, layer, config)

    @classmethod
    def add_experts(cls, shapes, prefix, config):
        shapes[prefix + "experts.gate_up_proj"] = (config.experts, 2 * config.expert_inner, config.hidden)
        shapes[prefix + "experts.down_proj"] = (config.experts, config.hidden, config.expert_inner)

    def route(self, prefix, logits):
        config, scores = self.config, ops.softmax(logits)
        ranking = scores
        if config.groups > 1:
            members = scores.reshape(len(scores), config.groups, -1)
            best = greatest(np.sort(members, axis=-1)[..., -2:].sum(axis=-1), config.groups_per_token)
            hidden = np.ones((len(scores), config.groups), bool)
            np.put_along_axis(hidden, best, False, axis=-1)
            ranking = np.where(hidden[..., None], 0, members).reshape(scores.shape)
        chosen = greatest(ranking, config.experts_per_token)
        weights = np.take_along_axis(scores, chosen, axis=-1)
        return chosen, weights / (weights.sum(axis=-1, keepdims=True) + 1e-20) * config.routed_scale

    def expert(self, prefix, e, x):
        gate, up = np.split(ops.linear(x, self.weights[prefix + "experts.gate_up_proj"][e]), 2, axis=-1)
        return ops.linear(ops.silu_mul(gate, up), self.weights[prefix + "experts.down_proj"][e])


CLASSES = dict(experts.CLASSES, deepseek_v2=DeepSeekV2, deepseek_v3=DeepSeekV3, glm4_moe_lite=DeepSeekV3,
               mistral4=Mistral4)
