# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The float64 reference of LLMIR: the semantics of models, optimized for readability.

    from llmref import load, nmse
    model = load("path/to/hf-folder or file.gguf")
    logits = model.forward([1, 2, 3])                        # [3, vocab] float64
    rounded = model.forward([1, 2, 3], compiled(kv="bf16"))  # as compiled code rounds
    ids, margins = model.generate([1, 2, 3], 64)

    formats      number formats of tensors (f32, f16, bf16, blocks) and rounding to them
    blocks       GGUF's block formats
    safetensors  reading and writing .safetensors files and sharded directories
    gguf         reading and writing GGUF v3 files
    gguf_model   keys, formats of tensors and vocabularies of a model's GGUF file
    config       the model's dimensions, from config.json (both dialects) or from GGUF keys
    checkpoint   a checkpoint in any container as (config, weights by Hugging Face name)
    ops          one function for each operation of a decoder layer
    model        the forward pass and greedy decoding
    rounding     where a compiled model rounds
    quantize     quantized weights, as computed by --quantize
    metrics      distances of logits and of distributions

Requires only NumPy, is not optimized for speed, and shares no code with the compiler.
"""

from .checkpoint import load, load_checkpoint
from .config import Config
from .formats import Tensor, encode, round_to
from .metrics import divergence, max_abs, nmse, top_two_margin
from .model import Model
from .rounding import EXACT, Rounding, compiled

__all__ = ["Config", "EXACT", "Model", "Rounding", "Tensor", "compiled", "divergence", "encode",
           "load", "load_checkpoint", "max_abs", "nmse", "round_to", "top_two_margin"]
