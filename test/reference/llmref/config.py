# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A model's dimensions, from config.json (older and newer dialect) or from GGUF keys."""

import json
import os

from . import gguf as gguf_file

FAMILIES = ("gpt2", "llama", "qwen2", "qwen3")
DENSE_FAMILIES = ("cohere", "cohere2", "exaone4", "gemma", "gemma2", "gemma3_text", "gemma4_text", "glm4", "gpt_neox",
                  "granite", "internlm2", "ministral3", "mistral", "olmo2", "olmo3", "phi3", "seed_oss",
                  "smollm3", "stablelm")

LATENT_FAMILIES = ("deepseek_v2", "deepseek_v3", "glm4_moe_lite", "mistral4")
EXPERT_FAMILIES = LATENT_FAMILIES + ("glm4_moe", "gpt_oss", "granitemoe", "llama4_text", "mixtral", "olmoe", "qwen2_moe",
                                     "qwen3_moe")
HYBRID_FAMILIES = ("granitemoehybrid", "lfm2", "lfm2_moe", "qwen3_5_moe_text", "qwen3_5_text", "qwen3_next")
# Of families.py, experts.py and hybrid.py.
DESCRIBED_FAMILIES = DENSE_FAMILIES + EXPERT_FAMILIES + HYBRID_FAMILIES

# Prefix of the names of GPT-2's tensors, except for lm_head.
GPT2_PREFIX = "transformer."


class Config(object):
    """The parameters of the forward pass.

    family                  "gpt2", "llama", "qwen2" or "qwen3"
    hidden, intermediate    widths of the residual stream and of the MLP
    layers, vocab           counts; vocab is the number of embedding rows
    heads, kv_heads         query heads and key/value heads; heads is a multiple of kv_heads
    head_dim                values in a head: even; need not be hidden / heads
    rms_eps                 epsilon of every RMSNorm; of every LayerNorm in gpt2
    rope_theta              base of the rotary frequencies; None in gpt2, whose positions are learned
    rope_scaling            None, or a dict with "type":
                            linear {factor}; llama3 {factor, low_freq_factor, high_freq_factor,
                            original_max_position_embeddings}; divisors {divisors: [head_dim/2]}
    tied                    the output projection is the embedding table
    attention_bias          llama, qwen3: q, k, v and o have biases (qwen2: q, k, v always)
    mlp_bias                llama: gate, up and down have biases
    max_positions           the trained context
    bos, eos                id or None; list of ids that end a text

    Of the families in families.py:
    window                  tokens, with itself, that a token attends to in layers that slide; None: all
    full_every              every n-th layer does not slide; 0: all do
    local_theta             base of the frequencies of layers that slide, where it differs
    rotary_dim              leading values of a head that are rotated; None: all
    attention_scale         of scores; None: head_dim ** -0.5
    attention_softcap, final_softcap    None, or c: scores and logits x become c tanh(x / c)
    embedding_scale, residual_scale, logit_scale    factors
    query_growth            queries are scaled by 1 + query_growth ln(1 + floor(position / original length))
    output_bias             the output projection of the attention has a bias
    parallel                both blocks read the same residual stream

    Of those in gemma4.py:
    full_head_dim, full_kv_heads    of layers that do not slide; full_kv_heads only with values_are_keys
    values_are_keys         in these layers, values are the projected keys
    turned_share            the share of their pairs that are rotated; the others have the frequency 0
    sharing                 so many layers at the end read keys and values of earlier ones
    double_wide             their MLPs have twice the inner size
    layer_embedding         elements of an embedding of each token for each layer; 0: none

    Of those in experts.py:
    experts, experts_per_token, expert_inner    their number, those that are chosen, and their inner size
    shared_inner            inner size of the MLP of all tokens; 0: none
    dense_layers            layers with an MLP of size `intermediate` instead
    normalizes              the weights of a token's experts are divided by their sum
    routed_scale            factor of the weights
    groups, groups_per_token    experts are chosen from some of the groups
    qk_norm                 heads of queries and keys are normalized
    swiglu_limit            of the clamped SwiGLU of gpt_oss
    chunk, floor_scale      of llama4_text: tokens of a chunk of attention, and of a step of the scales of queries

    Of those in latent.py:
    kv_rank, q_rank         elements of the latents of keys and values, and of queries; q_rank 0: there are none
    value_dim               elements of a value
    fused                   GGUF: gate and up projections of experts are one tensor

    Of those in hybrid.py:
    recurrent               per layer, whether it keeps a state in place of keys and values
    taps, conv_bias         tokens of its convolution, and whether that has a bias
    key_heads, key_dim, value_heads, value_dim    of its recurrence
    rotates                 the layers with attention are rotated
    """

    def __init__(self, **fields):
        self.attention_bias = self.mlp_bias = self.output_bias = self.parallel = False
        self.window = self.local_theta = self.rotary_dim = self.attention_scale = None
        self.attention_softcap = self.final_softcap = None
        self.embedding_scale = self.residual_scale = self.logit_scale = 1.0
        self.full_every = 0
        self.full_head_dim = self.full_kv_heads = self.sharing = self.layer_embedding = 0
        self.values_are_keys = self.double_wide = False
        self.turned_share = 1.0
        self.query_growth = 0.0
        self.experts = self.experts_per_token = self.expert_inner = self.shared_inner = 0
        self.dense_layers, self.normalizes, self.routed_scale = (), False, 1.0
        self.groups, self.groups_per_token, self.qk_norm = 1, 1, True
        self.kv_rank = self.q_rank = 0
        self.fused = True
        self.swiglu_limit, self.chunk, self.floor_scale = 0.0, 0, 0
        self.recurrent, self.taps, self.conv_bias, self.rotates = (), 0, False, True
        self.key_heads = self.key_dim = self.value_heads = self.value_dim = 0
        self.rope_theta = self.rope_scaling = self.bos = None
        self.eos = []
        self.__dict__.update(fields)
        self.check()

    def check(self):
        """Raises ValueError, with the name of the field, for invalid values."""
        if self.family not in FAMILIES + DESCRIBED_FAMILIES:
            raise ValueError("model_type is %r, want one of %s" % (self.family, FAMILIES))
        if self.heads % self.kv_heads:
            raise ValueError("%d heads are not a multiple of %d key/value heads"
                             % (self.heads, self.kv_heads))
        if self.head_dim % 2:
            raise ValueError("head_dim is %d, want an even number" % self.head_dim)
        if not self.rms_eps > 0:
            raise ValueError("rms_norm_eps is %r, want a positive number" % self.rms_eps)
        if self.family == "gpt2" and (self.kv_heads != self.heads or
                                      self.heads * self.head_dim != self.hidden):
            raise ValueError("%d heads of %d values, %d of them with keys, are not %d values"
                             % (self.heads, self.head_dim, self.kv_heads, self.hidden))
        scaling = self.rope_scaling
        known = ("linear", "llama3", "divisors", "yarn", "longrope")
        if scaling is not None and scaling["type"] not in known:
            raise ValueError("rope type is %r, want default, linear or llama3" % scaling["type"])

    def slides(self, layer):
        """Whether the layer has the window."""
        return bool(self.window) and (not self.full_every or (layer + 1) % self.full_every != 0)

    def weights(self):
        """{Hugging Face name: shape} of every tensor that the model has, in file order."""
        if self.family in DESCRIBED_FAMILIES:
            from .described import CLASSES
            return CLASSES[self.family].weights_of(self)
        if self.family == "gpt2":
            return self._gpt2_weights()
        q_rows, kv_rows = self.heads * self.head_dim, self.kv_heads * self.head_dim
        shapes = {"model.embed_tokens.weight": (self.vocab, self.hidden)}

        def linear(name, rows, columns, bias):
            shapes[name + ".weight"] = (rows, columns)
            if bias:
                shapes[name + ".bias"] = (rows,)

        qkv_bias = self.attention_bias or self.family == "qwen2"
        out_bias = self.attention_bias and self.family != "qwen2"
        for i in range(self.layers):
            layer = "model.layers.%d." % i
            shapes[layer + "input_layernorm.weight"] = (self.hidden,)
            linear(layer + "self_attn.q_proj", q_rows, self.hidden, qkv_bias)
            linear(layer + "self_attn.k_proj", kv_rows, self.hidden, qkv_bias)
            linear(layer + "self_attn.v_proj", kv_rows, self.hidden, qkv_bias)
            linear(layer + "self_attn.o_proj", self.hidden, q_rows, out_bias)
            if self.family == "qwen3":
                shapes[layer + "self_attn.q_norm.weight"] = (self.head_dim,)
                shapes[layer + "self_attn.k_norm.weight"] = (self.head_dim,)
            shapes[layer + "post_attention_layernorm.weight"] = (self.hidden,)
            linear(layer + "mlp.gate_proj", self.intermediate, self.hidden, self.mlp_bias)
            linear(layer + "mlp.up_proj", self.intermediate, self.hidden, self.mlp_bias)
            linear(layer + "mlp.down_proj", self.hidden, self.intermediate, self.mlp_bias)
        shapes["model.norm.weight"] = (self.hidden,)
        if not self.tied:
            shapes["lm_head.weight"] = (self.vocab, self.hidden)
        return shapes

    def _gpt2_weights(self):
        """Matrices of layers are [in, out], as in GPT-2's implementation (Conv1D)."""
        shapes = {GPT2_PREFIX + "wte.weight": (self.vocab, self.hidden),
                  GPT2_PREFIX + "wpe.weight": (self.max_positions, self.hidden)}

        def add(name, *shape):
            shapes[name + ".weight"], shapes[name + ".bias"] = shape, shape[-1:]

        for i in range(self.layers):
            layer = "%sh.%d." % (GPT2_PREFIX, i)
            add(layer + "ln_1", self.hidden)
            add(layer + "attn.c_attn", self.hidden, 3 * self.hidden)
            add(layer + "attn.c_proj", self.hidden, self.hidden)
            add(layer + "ln_2", self.hidden)
            add(layer + "mlp.c_fc", self.hidden, self.intermediate)
            add(layer + "mlp.c_proj", self.intermediate, self.hidden)
        add(GPT2_PREFIX + "ln_f", self.hidden)
        if not self.tied:
            shapes["lm_head.weight"] = (self.vocab, self.hidden)
        return shapes


def config_from_folder(folder, tensor_names):
    """config.json and generation_config.json -> Config.

    The older dialect has rope_theta, rope_scaling {rope_type or type}, torch_dtype; the newer one
    has all rotary keys in rope_parameters, and dtype. `tensor_names` determines tying if the
    file does not specify it."""
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as stream:
        data = json.load(stream)
    generation = {}
    path = os.path.join(folder, "generation_config.json")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as stream:
            generation = json.load(stream)
    return config_from_json(data, generation, tensor_names)


def config_from_json(data, generation=(), tensor_names=()):
    """The contents of config.json and of generation_config.json -> Config."""
    generation = dict(generation)
    if data["model_type"] == "gpt2":
        return _gpt2_from_json(data, generation, tensor_names)
    theta, scaling = _rope(data)
    heads = data["num_attention_heads"]
    eos = generation.get("eos_token_id", data.get("eos_token_id"))
    return Config(
        family=data["model_type"],
        hidden=data["hidden_size"],
        intermediate=data["intermediate_size"],
        layers=data["num_hidden_layers"],
        heads=heads,
        kv_heads=data.get("num_key_value_heads") or heads,
        head_dim=data.get("head_dim") or data["hidden_size"] // heads,
        vocab=data["vocab_size"],
        max_positions=data["max_position_embeddings"],
        rms_eps=data.get("rms_norm_eps", 1e-6),
        rope_theta=theta,
        rope_scaling=scaling,
        tied=data.get("tie_word_embeddings", "lm_head.weight" not in tensor_names),
        attention_bias=data.get("attention_bias", False),
        mlp_bias=data.get("mlp_bias", False),
        bos=generation.get("bos_token_id", data.get("bos_token_id")),
        eos=[] if eos is None else (eos if isinstance(eos, list) else [eos]))


def _gpt2_from_json(data, generation, tensor_names):
    heads, hidden = data["n_head"], data["n_embd"]
    eos = generation.get("eos_token_id", data.get("eos_token_id"))
    return Config(
        family="gpt2",
        hidden=hidden,
        intermediate=data.get("n_inner") or 4 * hidden,
        layers=data["n_layer"],
        heads=heads,
        kv_heads=heads,
        head_dim=hidden // heads,
        vocab=data["vocab_size"],
        max_positions=data["n_positions"],
        rms_eps=data.get("layer_norm_epsilon", 1e-5),
        tied=data.get("tie_word_embeddings", "lm_head.weight" not in tensor_names),
        bos=generation.get("bos_token_id", data.get("bos_token_id")),
        eos=[] if eos is None else (eos if isinstance(eos, list) else [eos]))


def _rope(data):
    """-> (theta, scaling or None) from either dialect of config.json."""
    parameters = data.get("rope_parameters") or {}
    parameters = parameters.get("full_attention", parameters)
    theta = parameters.get("rope_theta", data.get("rope_theta", 10000.0))
    scaling = dict(parameters or data.get("rope_scaling") or {})
    kind = scaling.get("rope_type", scaling.get("type", "default"))
    if kind == "default":
        return theta, None
    scaling.pop("rope_type", None)
    scaling["type"] = kind
    return theta, scaling


def config_from_gguf(gguf):
    """GGUF keys (and the rope_freqs tensor) -> Config."""
    family = gguf_file.get(gguf, "general.architecture")

    def key(name, default=None):
        return gguf_file.get(gguf, "%s.%s" % (family, name), default)

    heads = key("attention.head_count")
    hidden = key("embedding_length")
    scaling = None
    if key("rope.scaling.type", "none") == "linear":
        scaling = {"type": "linear", "factor": key("rope.scaling.factor")}
    if "rope_freqs.weight" in gguf.tensors:
        scaling = {"type": "divisors", "divisors": gguf.tensors["rope_freqs.weight"].values()}
    eos = gguf_file.get(gguf, "tokenizer.ggml.eos_token_id")
    return Config(
        family=family,
        hidden=hidden,
        intermediate=key("feed_forward_length"),
        layers=key("block_count"),
        heads=heads,
        kv_heads=key("attention.head_count_kv", heads),
        head_dim=key("attention.key_length", hidden // heads),
        vocab=gguf.tensors["token_embd.weight"].shape[0],
        max_positions=key("context_length"),
        rms_eps=key("attention.layer_norm_epsilon" if family == "gpt2"
                    else "attention.layer_norm_rms_epsilon"),
        rope_theta=None if family == "gpt2" else key("rope.freq_base", 10000.0),
        rope_scaling=scaling,
        tied="output.weight" not in gguf.tensors,
        attention_bias="blk.0.attn_output.bias" in gguf.tensors,
        mlp_bias="blk.0.ffn_down.bias" in gguf.tensors,
        bos=gguf_file.get(gguf, "tokenizer.ggml.bos_token_id"),
        eos=[] if eos is None else [eos])
