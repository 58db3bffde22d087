# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The weights and forward passes of dense decoders other than those of model.py.

A family is a class that says what differs from a decoder with RMSNorm before each block, separate projections
of queries, keys and values, and a gated MLP with SiLU. Names are those of Hugging Face model directories.
"""

import math

import numpy as np

from . import ops
from .model import Model


def yarn_frequencies(dim, theta, scaling):
    """YaRN (Peng et al. 2023, arXiv:2309.00071, section 3): with r the rotations of a pair within the original
    context, f where r > beta_fast, f / factor where r < beta_slow, a ramp over the pairs in between."""
    plain = ops.rope_frequencies(dim, theta)
    length = scaling["original_max_position_embeddings"]

    def pair(rotations):
        return dim * math.log(length / (rotations * 2 * math.pi)) / (2 * math.log(theta))

    low, high = pair(scaling.get("beta_fast", 32)), pair(scaling.get("beta_slow", 1))
    if scaling.get("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, dim - 1)
    share = np.clip((np.arange(dim // 2) - low) / max(high - low, 0.001), 0, 1)
    return plain / scaling["factor"] * share + plain * (1 - share)


def yarn_factor(scaling):
    """The factor of cosines and sines."""
    def magnitude(scale):
        return 0.1 * scale * math.log(scaling["factor"]) + 1

    if scaling.get("mscale") and scaling.get("mscale_all_dim"):
        return magnitude(scaling["mscale"]) / magnitude(scaling["mscale_all_dim"])
    return magnitude(1)


def gelu_exact(x):
    """x Phi(x)."""
    return 0.5 * x * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def attention(q, k, v, scale, window=None, cap=None, sinks=None, chunk=None, looks_ahead=False):
    """Grouped-query attention of a token to those up to itself, or with looks_ahead to all, at a distance of less than
    `window` or in its chunk; scores s become cap tanh(s / cap). The sink of a head is a score without a value."""
    tokens, heads, _ = q.shape
    length, kv_heads = k.shape[:2]
    own = np.arange(length - tokens, length)[:, None]
    key = np.arange(length)[None, :]
    seen = (key <= own) | looks_ahead
    if window:
        seen &= np.abs(key - own) < window
    if chunk:
        seen &= key // chunk == own // chunk
    out = np.empty((tokens, heads, v.shape[-1]))
    for h in range(heads):
        g = h * kv_heads // heads
        scores = q[:, h] @ k[:, g].T * scale
        if cap:
            scores = cap * np.tanh(scores / cap)
        scores = np.where(seen, scores, -np.inf)
        if sinks is not None:
            scores = np.concatenate([scores, np.full((tokens, 1), sinks[h])], axis=-1)
        out[:, h] = ops.softmax(scores)[:, :length] @ v[:, g]
    return out


class Dense(Model):
    """The common structure, which is that of Mistral. Overridden by families."""

    top = "model."
    embedding, head, final_norm = "model.embed_tokens", "lm_head", "model.norm"
    # (module, its width): norms of a layer.
    norms = ("input_layernorm", "post_attention_layernorm")
    norm_bias = False
    pairing = "halves"
    looks_ahead = False

    # Weights

    @classmethod
    def weights_of(cls, config):
        shapes = {cls.embedding + ".weight": (config.vocab, config.hidden)}
        for i in range(config.layers):
            layer = "%slayers.%d." % (cls.top, i)
            for norm in cls.norms_of(config):
                cls.add_norm(shapes, layer + norm, config.hidden)
            cls.add_attention(shapes, layer, config)
            cls.add_mlp(shapes, layer, config)
        cls.add_norm(shapes, cls.final_norm, config.hidden)
        if not config.tied:
            shapes[cls.head + ".weight"] = (config.vocab, config.hidden)
        return shapes

    @classmethod
    def norms_of(cls, config):
        return cls.norms

    @classmethod
    def add_norm(cls, shapes, name, width):
        shapes[name + ".weight"] = (width,)
        if cls.norm_bias:
            shapes[name + ".bias"] = (width,)

    @staticmethod
    def add_linear(shapes, name, rows, columns, bias=False):
        shapes[name + ".weight"] = (rows, columns)
        if bias:
            shapes[name + ".bias"] = (rows,)

    @classmethod
    def add_attention(cls, shapes, layer, config):
        rows, kv_rows = config.heads * config.head_dim, config.kv_heads * config.head_dim
        for name, count in (("q", rows), ("k", kv_rows), ("v", kv_rows)):
            cls.add_linear(shapes, "%sself_attn.%s_proj" % (layer, name), count, config.hidden,
                           config.attention_bias)
        cls.add_linear(shapes, layer + "self_attn.o_proj", config.hidden, rows, config.output_bias)

    @classmethod
    def add_mlp(cls, shapes, layer, config):
        for name, rows, columns in (("gate", config.intermediate, config.hidden),
                                    ("up", config.intermediate, config.hidden),
                                    ("down", config.hidden, config.intermediate)):
            cls.add_linear(shapes, "%smlp.%s_proj" % (layer, name), rows, columns, config.mlp_bias)

    # The forward pass

    def __init__(self, config, weights, formats=()):
        self.config = config
        self.weights = {name: np.asarray(w, dtype=np.float64) for name, w in weights.items()}
        self.formats = dict(formats)

    def forward(self, ids, rounding=None, cache=None):
        config = self.config
        x = self.hidden(ids, cache)
        logits = self.linear(self.embedding if config.tied else self.head, x) * config.logit_scale
        cap = config.final_softcap
        return cap * np.tanh(logits / cap) if cap else logits

    def hidden(self, ids, cache=None):
        """The last hidden states, after the last norm: [T] -> [T, hidden]."""
        config = self.config
        cache = self.new_cache() if cache is None else cache
        positions = np.arange(len(cache), len(cache) + len(ids))
        x = ops.embedding(ids, self.weights[self.embedding + ".weight"]) * config.embedding_scale
        for i in range(config.layers):
            x = self.block(i, "%slayers.%d." % (self.top, i), x, positions, cache)
        return self.norm(self.final_norm, x)

    def block(self, i, layer, x, positions, cache):
        scale = self.config.residual_scale
        x = x + scale * self.attend(i, layer, self.norm(layer + "input_layernorm", x), positions, cache)
        return x + scale * self.mlp(layer, self.norm(layer + "post_attention_layernorm", x))

    def norm(self, name, x):
        return ops.rms_norm(x, self.weights[name + ".weight"], self.config.rms_eps)

    def linear(self, name, x):
        return ops.linear(x, self.weights[name + ".weight"], self.weights.get(name + ".bias"))

    def heads(self, i, layer, x):
        """Queries, keys and values before rotation: [T, heads, head_dim]."""
        return [self.in_heads(self.linear("%sself_attn.%s_proj" % (layer, name), x)) for name in "qkv"]

    def in_heads(self, y):
        return y.reshape(len(y), -1, self.config.head_dim)

    output = "self_attn.o_proj"

    def attend(self, i, layer, x, positions, cache):
        config = self.config
        q, k, v = self.heads(i, layer, x)
        q, k = (self.rotated(i, each, positions) for each in (q, k))
        q = q * self.query_factors(i, positions)[:, None, None]
        keys, values = cache.append(i, k, v)
        window = config.window if config.slides(i) else None
        scale = config.attention_scale or config.head_dim ** -0.5
        mixed = attention(q, keys, values, scale, window, config.attention_softcap,
                          self.weights.get(layer + "self_attn.sinks"), self.chunk(i), self.looks_ahead)
        return self.linear(layer + self.output, mixed.reshape(len(x), -1))

    def query_factors(self, i, positions):
        """Of the queries of a layer at these positions."""
        config = self.config
        if not config.query_growth:
            return np.ones(len(positions))
        turns = positions // config.rope_scaling["original_max_position_embeddings"]
        return 1 + config.query_growth * np.log(1 + turns)

    def chunk(self, i):
        """The size of the chunks within which the tokens of a layer attend, or None."""
        return None

    def rotation(self, i):
        """-> (frequencies, factor of cosines and sines) of a layer, or None."""
        config = self.config
        scaling, dim = config.rope_scaling, config.rotary_dim or config.head_dim
        if scaling and scaling["type"] == "yarn":
            return yarn_frequencies(dim, config.rope_theta, scaling), yarn_factor(scaling)
        return ops.rope_frequencies(dim, config.rope_theta, scaling), 1.0

    def rotated(self, i, x, positions):
        rotation = self.rotation(i)
        if rotation is None:
            return x
        frequencies, factor = rotation
        count = 2 * len(frequencies)
        first = ops.rope(x[..., :count], positions, frequencies, self.pairing) * factor
        return np.concatenate([first, x[..., count:]], axis=-1)

    def mlp(self, layer, x):
        gate, up = self.linear(layer + "mlp.gate_proj", x), self.linear(layer + "mlp.up_proj", x)
        return self.linear(layer + "mlp.down_proj", ops.silu_mul(gate, up))


class SmolLM3(Dense):
    def rotation(self, i):
        return None if (i + 1) % 4 == 0 else super().rotation(i)


class Phi3(Dense):
    """One matrix of queries, keys and values, one of gate and up projection; longrope."""

    @classmethod
    def add_attention(cls, shapes, layer, config):
        rows = (config.heads + 2 * config.kv_heads) * config.head_dim
        cls.add_linear(shapes, layer + "self_attn.qkv_proj", rows, config.hidden)
        cls.add_linear(shapes, layer + "self_attn.o_proj", config.hidden, config.heads * config.head_dim)

    @classmethod
    def add_mlp(cls, shapes, layer, config):
        cls.add_linear(shapes, layer + "mlp.gate_up_proj", 2 * config.intermediate, config.hidden)
        cls.add_linear(shapes, layer + "mlp.down_proj", config.hidden, config.intermediate)

    def heads(self, i, layer, x):
        y = self.in_heads(self.linear(layer + "self_attn.qkv_proj", x))
        return np.split(y, [self.config.heads, self.config.heads + self.config.kv_heads], axis=1)

    def rotation(self, i):
        config, scaling = self.config, self.config.rope_scaling
        plain = ops.rope_frequencies(config.rotary_dim or config.head_dim, config.rope_theta)
        if not scaling:
            return plain, 1.0
        original = scaling["original_max_position_embeddings"]
        stretch = config.max_positions / original
        key = "long_factor" if stretch > 1 else "short_factor"
        factor = math.sqrt(1 + math.log(stretch) / math.log(original)) if stretch > 1 else 1
        return plain / np.asarray(scaling[key], np.float32), factor

    def mlp(self, layer, x):
        gate, up = np.split(self.linear(layer + "mlp.gate_up_proj", x), 2, axis=-1)
        return self.linear(layer + "mlp.down_proj", ops.silu_mul(gate, up))


class Gemma(Dense):
    """Norms scale by 1 + weight; GeGLU."""

    def norm(self, name, x):
        return ops.rms_norm(x, 1 + self.weights[name + ".weight"], self.config.rms_eps)

    def mlp(self, layer, x):
        gate, up = self.linear(layer + "mlp.gate_proj", x), self.linear(layer + "mlp.up_proj", x)
        return self.linear(layer + "mlp.down_proj", ops.gelu_tanh(gate) * up)


class Gemma2(Gemma):
    """Norms of the results of both blocks, too."""

    norms = ("input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm",
             "post_feedforward_layernorm")

    def block(self, i, layer, x, positions, cache):
        y = self.attend(i, layer, self.norm(layer + "input_layernorm", x), positions, cache)
        x = x + self.norm(layer + "post_attention_layernorm", y)
        y = self.mlp(layer, self.norm(layer + "pre_feedforward_layernorm", x))
        return x + self.norm(layer + "post_feedforward_layernorm", y)


class Gemma3(Gemma2):
    """Norms of each head of queries and keys; layers with a window have a base of their own."""

    @classmethod
    def add_attention(cls, shapes, layer, config):
        super().add_attention(shapes, layer, config)
        for name in "qk":
            shapes["%sself_attn.%s_norm.weight" % (layer, name)] = (config.head_dim,)

    def heads(self, i, layer, x):
        q, k, v = super().heads(i, layer, x)
        return self.norm(layer + "self_attn.q_norm", q), self.norm(layer + "self_attn.k_norm", k), v

    def rotation(self, i):
        if self.config.slides(i):
            return ops.rope_frequencies(self.config.head_dim, self.config.local_theta), 1.0
        return super().rotation(i)


class Olmo2(Dense):
    """Only the results of both blocks are normalized, and all queries, all keys of a token."""

    norms = ("post_attention_layernorm", "post_feedforward_layernorm")

    @classmethod
    def add_attention(cls, shapes, layer, config):
        super().add_attention(shapes, layer, config)
        shapes[layer + "self_attn.q_norm.weight"] = (config.heads * config.head_dim,)
        shapes[layer + "self_attn.k_norm.weight"] = (config.kv_heads * config.head_dim,)

    def block(self, i, layer, x, positions, cache):
        x = x + self.norm(layer + "post_attention_layernorm", self.attend(i, layer, x, positions, cache))
        return x + self.norm(layer + "post_feedforward_layernorm", self.mlp(layer, x))

    def heads(self, i, layer, x):
        name = layer + "self_attn."
        return (self.in_heads(self.norm(name + "q_norm", self.linear(name + "q_proj", x))),
                self.in_heads(self.norm(name + "k_norm", self.linear(name + "k_proj", x))),
                self.in_heads(self.linear(name + "v_proj", x)))


class Olmo3(Olmo2):
    """Scaled rotation only in layers without a window."""

    def rotation(self, i):
        if self.config.slides(i):
            return ops.rope_frequencies(self.config.head_dim, self.config.rope_theta), 1.0
        return super().rotation(i)


class Exaone4(Olmo2):
    """Norms of the results, and of each head of queries and keys; layers without a window are not rotated."""

    @classmethod
    def add_attention(cls, shapes, layer, config):
        Dense.add_attention.__func__(cls, shapes, layer, config)
        for name in "qk":
            shapes["%sself_attn.%s_norm.weight" % (layer, name)] = (config.head_dim,)

    def heads(self, i, layer, x):
        q, k, v = Dense.heads(self, i, layer, x)
        return self.norm(layer + "self_attn.q_norm", q), self.norm(layer + "self_attn.k_norm", k), v

    def rotation(self, i):
        if self.config.window and not self.config.slides(i):
            return None
        return super().rotation(i)


class InternLM2(Dense):
    """One matrix: for each key head its queries, its key, its value."""

    embedding, head = "model.tok_embeddings", "output"
    norms = ("attention_norm", "ffn_norm")
    output = "attention.wo"

    @classmethod
    def add_attention(cls, shapes, layer, config):
        rows = (config.heads + 2 * config.kv_heads) * config.head_dim
        cls.add_linear(shapes, layer + "attention.wqkv", rows, config.hidden)
        cls.add_linear(shapes, layer + "attention.wo", config.hidden, config.heads * config.head_dim)

    @classmethod
    def add_mlp(cls, shapes, layer, config):
        for name in ("w1", "w3"):
            cls.add_linear(shapes, layer + "feed_forward." + name, config.intermediate, config.hidden)
        cls.add_linear(shapes, layer + "feed_forward.w2", config.hidden, config.intermediate)

    def block(self, i, layer, x, positions, cache):
        x = x + self.attend(i, layer, self.norm(layer + "attention_norm", x), positions, cache)
        return x + self.mlp(layer, self.norm(layer + "ffn_norm", x))

    def heads(self, i, layer, x):
        config = self.config
        y = self.linear(layer + "attention.wqkv", x).reshape(len(x), config.kv_heads, -1, config.head_dim)
        return self.in_heads(y[:, :, :-2]), y[:, :, -2], y[:, :, -1]

    def mlp(self, layer, x):
        name = layer + "feed_forward."
        inner = ops.silu_mul(self.linear(name + "w1", x), self.linear(name + "w3", x))
        return self.linear(name + "w2", inner)


class StableLM(Dense):
    """LayerNorm; with parallel blocks, both have one norm."""

    norm_bias = True

    @classmethod
    def norms_of(cls, config):
        return cls.norms[:1] if config.parallel else cls.norms

    def norm(self, name, x):
        return ops.layer_norm(x, self.weights[name + ".weight"], self.weights[name + ".bias"],
                              self.config.rms_eps)

    def block(self, i, layer, x, positions, cache):
        if not self.config.parallel:
            return super().block(i, layer, x, positions, cache)
        normed = self.norm(layer + "input_layernorm", x)
        return x + self.attend(i, layer, normed, positions, cache) + self.mlp(layer, normed)


class GPTNeoX(StableLM):
    """LayerNorm, parallel blocks with a norm each; one matrix, for each head its query, key and value."""

    top = "gpt_neox."
    embedding, head, final_norm = "gpt_neox.embed_in", "embed_out", "gpt_neox.final_layer_norm"
    output = "attention.dense"

    @classmethod
    def norms_of(cls, config):
        return cls.norms

    @classmethod
    def add_attention(cls, shapes, layer, config):
        rows = config.heads * config.head_dim
        cls.add_linear(shapes, layer + "attention.query_key_value", 3 * rows, config.hidden, True)
        cls.add_linear(shapes, layer + "attention.dense", config.hidden, rows, True)

    @classmethod
    def add_mlp(cls, shapes, layer, config):
        cls.add_linear(shapes, layer + "mlp.dense_h_to_4h", config.intermediate, config.hidden, True)
        cls.add_linear(shapes, layer + "mlp.dense_4h_to_h", config.hidden, config.intermediate, True)

    def block(self, i, layer, x, positions, cache):
        mixed = self.attend(i, layer, self.norm(layer + "input_layernorm", x), positions, cache)
        before = x if self.config.parallel else x + mixed
        return x + mixed + self.mlp(layer, self.norm(layer + "post_attention_layernorm", before))

    def heads(self, i, layer, x):
        y = self.linear(layer + "attention.query_key_value", x)
        y = y.reshape(len(x), self.config.heads, 3, self.config.head_dim)
        return y[:, :, 0], y[:, :, 1], y[:, :, 2]

    def mlp(self, layer, x):
        return self.linear(layer + "mlp.dense_4h_to_h",
                           gelu_exact(self.linear(layer + "mlp.dense_h_to_4h", x)))


class Cohere(Dense):
    """LayerNorm without bias, parallel blocks with one norm, rotation of adjacent pairs."""

    norms = ("input_layernorm",)
    pairing = "adjacent"

    def norm(self, name, x):
        weight = self.weights[name + ".weight"]
        return ops.layer_norm(x, weight, np.zeros_like(weight), self.config.rms_eps)

    def block(self, i, layer, x, positions, cache):
        normed = self.norm(layer + "input_layernorm", x)
        return x + self.attend(i, layer, normed, positions, cache) + self.mlp(layer, normed)


class Cohere2(Cohere):
    """Layers without a window are not rotated."""

    def rotation(self, i):
        return super().rotation(i) if self.config.slides(i) else None


class GLM4(Phi3):
    """Four norms, rotation of adjacent pairs of a part of each head, gate and up projection in one matrix."""

    norms = ("input_layernorm", "post_self_attn_layernorm", "post_attention_layernorm", "post_mlp_layernorm")
    pairing = "adjacent"
    add_attention = Dense.__dict__["add_attention"]
    heads, rotation = Dense.heads, Dense.rotation

    def block(self, i, layer, x, positions, cache):
        y = self.attend(i, layer, self.norm(layer + "input_layernorm", x), positions, cache)
        x = x + self.norm(layer + "post_self_attn_layernorm", y)
        y = self.mlp(layer, self.norm(layer + "post_attention_layernorm", x))
        return x + self.norm(layer + "post_mlp_layernorm", y)


FAMILIES = {"mistral": Dense, "smollm3": SmolLM3, "phi3": Phi3, "gemma": Gemma, "gemma2": Gemma2,
            "gemma3_text": Gemma3, "olmo2": Olmo2, "olmo3": Olmo3, "exaone4": Exaone4, "granite": Dense,
            "internlm2": InternLM2, "stablelm": StableLM, "gpt_neox": GPTNeoX, "cohere": Cohere,
            "cohere2": Cohere2, "glm4": GLM4, "seed_oss": Dense, "ministral3": Dense}
