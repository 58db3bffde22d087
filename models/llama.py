"""The demo model's network (Llama architecture) and its file formats.

`Llama` names its parameters as Hugging Face checkpoints do, so that
`state_dict()` can be written to `model.safetensors` as it is.
"""

import json
import math
import struct

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "vocab_size": 4096,
    "hidden_size": 256,
    "intermediate_size": 768,
    "num_hidden_layers": 6,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 64,
    "hidden_act": "silu",
    "max_position_embeddings": 512,
    "rope_theta": 10000.0,
    "rope_scaling": None,
    "rms_norm_eps": 1e-5,
    "initializer_range": 0.02,
    "attention_bias": False,
    "attention_dropout": 0.0,
    "mlp_bias": False,
    "tie_word_embeddings": True,
    "bos_token_id": 0,
    "eos_token_id": 0,
    "torch_dtype": "bfloat16",
    "use_cache": True,
}


class RMSNorm(nn.Module):
    def __init__(self, size, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.eps = eps

    def forward(self, x):
        x32 = x.float()
        scale = torch.rsqrt(x32.pow(2).mean(-1, keepdim=True) + self.eps)
        return (x32 * scale * self.weight).to(x.dtype)


class Softmax(torch.autograd.Function):
    """Softmax over the last axis.  PyTorch's own backward is slow on a CPU
    in bf16, here and in the two functions below; the results are the same."""

    @staticmethod
    def forward(ctx, x):
        y = torch.softmax(x, -1)
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad):
        y, = ctx.saved_tensors
        product = grad * y
        total = product.sum(-1, keepdim=True)
        return product.addcmul_(y, total, value=-1)


class SwiGLU(torch.autograd.Function):
    """silu(gate) * up"""

    @staticmethod
    def forward(ctx, gate, up):
        sig = torch.sigmoid(gate)
        ctx.save_for_backward(gate, up, sig)
        return gate * sig * up

    @staticmethod
    def backward(ctx, grad):
        gate, up, sig = ctx.saved_tensors
        silu = gate * sig
        grad_up = grad * silu
        # d silu = sig + silu * (1 - sig)
        slope = torch.addcmul(sig, silu, 1 - sig)
        return slope.mul_(up).mul_(grad), grad_up


class CrossEntropy(torch.autograd.Function):
    """Mean cross-entropy in nats of logits [n, vocabulary] and targets [n]."""

    @staticmethod
    def forward(ctx, logits, targets):
        logp = torch.log_softmax(logits.float(), -1)
        rows = torch.arange(len(targets), device=targets.device)
        loss = -logp[rows, targets].mean()
        probs = logp.exp_()
        probs[rows, targets] -= 1
        ctx.save_for_backward(probs.to(logits.dtype))
        return loss

    @staticmethod
    def backward(ctx, grad):
        probs, = ctx.saved_tensors
        return probs * (grad / len(probs)).to(probs.dtype), None


def rope_tables(length, head_dim, theta):
    """cos and sin, [length, head_dim]; the two halves of a head are equal."""
    inv = theta ** (-torch.arange(0, head_dim, 2).double() / head_dim)
    angle = torch.outer(torch.arange(length).double(), inv)
    angle = torch.cat([angle, angle], dim=-1)
    return angle.cos().float(), angle.sin().float()


def rotate(x, cos, sin):
    """Rotary position embedding, the rotate-halves convention."""
    a, b = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-b, a], dim=-1) * sin


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.heads, self.kv = c["num_attention_heads"], c["num_key_value_heads"]
        self.dim = c["head_dim"]
        hidden = c["hidden_size"]
        self.q_proj = nn.Linear(hidden, self.heads * self.dim, bias=False)
        self.k_proj = nn.Linear(hidden, self.kv * self.dim, bias=False)
        self.v_proj = nn.Linear(hidden, self.kv * self.dim, bias=False)
        self.o_proj = nn.Linear(self.heads * self.dim, hidden, bias=False)

    def forward(self, x, cos, sin, mask):
        batch, length, _ = x.shape
        group = self.heads // self.kv

        def split(y, heads):
            return y.view(batch, length, heads, self.dim).transpose(1, 2)

        q = rotate(split(self.q_proj(x), self.heads), cos, sin)
        k = rotate(split(self.k_proj(x), self.kv), cos, sin)
        v = split(self.v_proj(x), self.kv)
        # The query heads of one group are rows of one matrix, so that keys
        # and values need not be repeated: [batch*kv, group*length, dim].
        q = (q / math.sqrt(self.dim)).reshape(batch * self.kv, -1, self.dim)
        k = k.reshape(batch * self.kv, length, self.dim)
        v = v.reshape(batch * self.kv, length, self.dim)
        scores = torch.bmm(q, k.transpose(1, 2))
        scores = scores.view(-1, group, length, length) + mask
        weights = Softmax.apply(scores)
        out = torch.bmm(weights.view(-1, group * length, length), v)
        out = out.view(batch, self.heads, length, self.dim).transpose(1, 2)
        return self.o_proj(out.reshape(batch, length, -1))


class MLP(nn.Module):
    def __init__(self, c):
        super().__init__()
        hidden, inner = c["hidden_size"], c["intermediate_size"]
        self.gate_proj = nn.Linear(hidden, inner, bias=False)
        self.up_proj = nn.Linear(hidden, inner, bias=False)
        self.down_proj = nn.Linear(inner, hidden, bias=False)

    def forward(self, x):
        return self.down_proj(SwiGLU.apply(self.gate_proj(x), self.up_proj(x)))


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.self_attn = Attention(c)
        self.mlp = MLP(c)
        self.input_layernorm = RMSNorm(c["hidden_size"], c["rms_norm_eps"])
        self.post_attention_layernorm = RMSNorm(c["hidden_size"],
                                                c["rms_norm_eps"])

    def forward(self, x, cos, sin, mask):
        x = x + self.self_attn(self.input_layernorm(x), cos, sin, mask)
        return x + self.mlp(self.post_attention_layernorm(x))


class Decoder(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.embed_tokens = nn.Embedding(c["vocab_size"], c["hidden_size"])
        self.layers = nn.ModuleList(
            Layer(c) for _ in range(c["num_hidden_layers"]))
        self.norm = RMSNorm(c["hidden_size"], c["rms_norm_eps"])


class Llama(nn.Module):
    """`forward` maps token ids [batch, length] to logits."""

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.model = Decoder(config)
        cos, sin = rope_tables(config["max_position_embeddings"],
                               config["head_dim"], config["rope_theta"])
        self.register_buffer("cos", cos, persistent=False)
        self.register_buffer("sin", sin, persistent=False)
        size = config["max_position_embeddings"]
        mask = torch.full((size, size), float("-inf")).triu(1)
        self.register_buffer("mask", mask, persistent=False)

    def initialize(self):
        """Normal weights, the residual projections scaled with the depth."""
        std = self.config["initializer_range"]
        depth = 2 * self.config["num_hidden_layers"]
        for name, p in self.named_parameters():
            if p.dim() == 2:
                residual = name.endswith(("o_proj.weight", "down_proj.weight"))
                fan = std if "embed" in name else p.shape[1] ** -0.5
                nn.init.normal_(
                    p, std=fan / math.sqrt(depth) if residual else fan)

    def forward(self, ids):
        length = ids.shape[1]
        cos, sin = self.cos[:length], self.sin[:length]
        mask = self.mask[:length, :length]
        x = self.model.embed_tokens(ids)
        if torch.is_autocast_enabled() or torch.is_autocast_cpu_enabled():
            x = x.bfloat16()
            cos, sin, mask = cos.bfloat16(), sin.bfloat16(), mask.bfloat16()
        for layer in self.model.layers:
            x = layer(x, cos, sin, mask)
        return F.linear(self.model.norm(x), self.model.embed_tokens.weight)


# ------------------------------------------------------------ safetensors --

def write_safetensors(path, tensors):
    """Write {name: tensor} as bf16 (round to nearest even), sorted by name."""
    header, blobs, offset = {"__metadata__": {"format": "pt"}}, [], 0
    for name in sorted(tensors):
        t = tensors[name].detach().cpu().to(torch.bfloat16).contiguous()
        blob = t.view(torch.int16).numpy().tobytes()
        header[name] = {"dtype": "BF16", "shape": list(t.shape),
                        "data_offsets": [offset, offset + len(blob)]}
        blobs.append(blob)
        offset += len(blob)
    text = json.dumps(header, separators=(",", ":")).encode("utf-8")
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(struct.pack("<Q", len(text)) + text)
        for blob in blobs:
            f.write(blob)


def read_safetensors(path):
    """{name: float32 tensor} of a bf16 safetensors file."""
    with open(path, "rb") as f:
        size, = struct.unpack("<Q", f.read(8))
        header = json.loads(f.read(size).decode("utf-8"))
        data = f.read()
    out = {}
    for name, info in header.items():
        if name == "__metadata__":
            continue
        if info["dtype"] != "BF16":
            raise ValueError("%s: %s is not supported" % (name, info["dtype"]))
        begin, end = info["data_offsets"]
        bits = np.frombuffer(data[begin:end], dtype="<u2").astype("<u4") << 16
        out[name] = torch.from_numpy(
            bits.view("<f4").reshape(info["shape"]).copy())
    return out


def load(folder):
    """The model in `directory` with float32 weights, ready for evaluation."""
    with open(folder + "/config.json") as f:
        config = json.load(f)
    model = Llama(config)
    model.load_state_dict(read_safetensors(folder + "/model.safetensors"))
    return model.eval()
