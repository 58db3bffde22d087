#!/usr/bin/env python3
"""Makes a Hugging Face folder of a published shape with random weights.

Speed does not depend on what the weights say, only on their shapes; so a
benchmark needs no download. Weights are bf16, drawn so that activations stay of
order one and nothing is degenerate.

    benchmarks/make_model.py --shape llama-3.2-1b --out /tmp/llama-1b
"""
import argparse
import json
import os
import struct

import numpy as np

# Published configurations: config.json as the model's makers wrote it, less
# what does not matter for inference.
SHAPES = {
    "llama-3.2-1b": {
        "model_type": "llama", "vocab_size": 128256, "hidden_size": 2048,
        "intermediate_size": 8192, "num_hidden_layers": 16, "num_attention_heads": 32,
        "num_key_value_heads": 8, "head_dim": 64, "rms_norm_eps": 1e-5,
        "rope_theta": 500000.0, "max_position_embeddings": 131072,
        "rope_scaling": {"rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0,
                         "high_freq_factor": 4.0,
                         "original_max_position_embeddings": 8192},
        "tie_word_embeddings": True},
    "qwen2.5-0.5b": {
        "model_type": "qwen2", "vocab_size": 151936, "hidden_size": 896,
        "intermediate_size": 4864, "num_hidden_layers": 24, "num_attention_heads": 14,
        "num_key_value_heads": 2, "rms_norm_eps": 1e-6, "rope_theta": 1000000.0,
        "max_position_embeddings": 32768, "tie_word_embeddings": True},
    "tinyllama-1.1b": {
        "model_type": "llama", "vocab_size": 32000, "hidden_size": 2048,
        "intermediate_size": 5632, "num_hidden_layers": 22, "num_attention_heads": 32,
        "num_key_value_heads": 4, "rms_norm_eps": 1e-5, "rope_theta": 10000.0,
        "max_position_embeddings": 2048, "tie_word_embeddings": False},
}


def tensors(config):
    """Names and shapes of a model's tensors in Hugging Face's layout."""
    hidden, inner = config["hidden_size"], config["intermediate_size"]
    heads, kv_heads = config["num_attention_heads"], config["num_key_value_heads"]
    head_dim = config.get("head_dim", hidden // heads)
    yield "model.embed_tokens.weight", (config["vocab_size"], hidden)
    for n in range(config["num_hidden_layers"]):
        layer = f"model.layers.{n}."
        yield layer + "input_layernorm.weight", (hidden,)
        for name, rows in (("q", heads), ("k", kv_heads), ("v", kv_heads)):
            yield layer + f"self_attn.{name}_proj.weight", (rows * head_dim, hidden)
            if config["model_type"] == "qwen2":
                yield layer + f"self_attn.{name}_proj.bias", (rows * head_dim,)
        yield layer + "self_attn.o_proj.weight", (hidden, heads * head_dim)
        yield layer + "post_attention_layernorm.weight", (hidden,)
        yield layer + "mlp.gate_proj.weight", (inner, hidden)
        yield layer + "mlp.up_proj.weight", (inner, hidden)
        yield layer + "mlp.down_proj.weight", (hidden, inner)
    yield "model.norm.weight", (hidden,)
    if not config["tie_word_embeddings"]:
        yield "lm_head.weight", (config["vocab_size"], hidden)


def random_bf16(rng, name, shape):
    """Values of standard deviation 1/sqrt(columns); norms are near one."""
    if name.endswith("norm.weight"):
        values = 1.0 + 0.1 * rng.standard_normal(shape, dtype=np.float32)
    else:
        values = rng.standard_normal(shape, dtype=np.float32)
        values *= np.float32(shape[-1] ** -0.5)
    return (values.view(np.uint32) >> 16).astype(np.uint16)


def write_model(config, folder, seed):
    """Writes config.json and model.safetensors, one tensor in memory at a time."""
    os.makedirs(folder, exist_ok=True)
    header, offset = {}, 0
    for name, shape in tensors(config):
        size = 2 * int(np.prod(shape))
        header[name] = {"dtype": "BF16", "shape": list(shape),
                        "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    rng = np.random.default_rng(seed)
    with open(os.path.join(folder, "model.safetensors"), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name, shape in tensors(config):
            file.write(random_bf16(rng, name, shape).tobytes())
    architectures = {"llama": "LlamaForCausalLM", "qwen2": "Qwen2ForCausalLM"}
    config = dict(config, architectures=[architectures[config["model_type"]]],
                  hidden_act="silu", torch_dtype="bfloat16",
                  bos_token_id=None, eos_token_id=None)
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump(config, file, indent=1)
    return offset


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", choices=sorted(SHAPES), required=True)
    parser.add_argument("--out", required=True, help="the folder to make")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    size = write_model(SHAPES[options.shape], options.out, options.seed)
    print(f"{options.out}: {size / 1e9:.2f} GB of bf16 weights")


if __name__ == "__main__":
    main()
