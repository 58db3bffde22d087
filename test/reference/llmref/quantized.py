# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The quantized safetensors checkpoints of the Hub: matrices as integers (or small floats), scales and zero points.

    parts, values, fmt = encode("gptq", matrix)

parts: {suffix of the matrix's name without ".weight": Tensor}; values: what they stand for, in float64;
fmt: the format whose rounding of inputs a compiled model uses for them.
"""

import json
import os

import numpy as np

from . import safetensors
from .formats import Tensor, round_to
from .formats import encode as encode_blocks

CONFIGS = {
    "gptq": {"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": False, "sym": False},
    "gptq act-order": {"quant_method": "gptq", "bits": 4, "group_size": 64, "desc_act": True, "sym": False},
    "awq": {"quant_method": "awq", "bits": 4, "group_size": 64, "zero_point": True, "version": "gemm"},
    "compressed int4": {"quant_method": "compressed-tensors", "format": "pack-quantized"},
    "compressed int8": {"quant_method": "compressed-tensors", "format": "int-quantized"},
    "fp8 rows": {"quant_method": "compressed-tensors", "format": "float-quantized"},
    "fp8 blocks": {"quant_method": "fp8", "weight_block_size": [128, 128]},
    "bitsandbytes nf4": {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"},
    "bitsandbytes int8": {"quant_method": "bitsandbytes", "load_in_8bit": True},
}

# The quantiles of a normal distribution, scaled to [-1, 1]; any table serves, since it is stored.
NF4 = np.array([-1.0, -0.6962, -0.5251, -0.3949, -0.2844, -0.1848, -0.0911, 0.0,
                0.0796, 0.1609, 0.2461, 0.3379, 0.4407, 0.5626, 0.7230, 1.0], np.float32)


def mxfp4(matrices):
    """Matrices [E, N, K] -> ({suffix of their name: Tensor}, values, blocks as in GGUF), as in gpt-oss's directories:
    element 2i of a block is in the low half of byte i, element 2i + 1 in the high one."""
    stored = encode_blocks("mxfp4", matrices)
    count, rows, columns = matrices.shape
    blocks = np.frombuffer(stored.data, np.uint8).reshape(count, rows, columns // 32, 17)
    codes = np.concatenate([blocks[..., 1:] & 15, blocks[..., 1:] >> 4], axis=-1)  # 0 to 15, then 16 to 31
    pairs = codes[..., 0::2] | codes[..., 1::2] << 4
    return ({"_blocks": _tensor("u8", pairs, "u1"), "_scales": _tensor("u8", blocks[..., 0], "u1")}, stored.values(),
            stored)


def write_folder(folder, weights, method, plain):
    """Quantizes the projections of a model directory, whose other tensors become `plain` (vectors f32 unless it is
    f16). -> {name: what a compiled model rounds inputs for}; `weights` get the values that are stored."""
    tensors, stored = {}, {}
    for name, values in weights.items():
        if not name.endswith(("_proj.weight", "_with_mqa.weight")):
            tensors[name] = encode_blocks("f32" if values.ndim == 1 and plain != "f16" else plain, values)
            continue
        parts, weights[name], stored[name] = encode(method, values)
        tensors.update((name[:-len("weight")] + suffix, tensor) for suffix, tensor in parts.items())
    safetensors.write_folder(folder, tensors)
    path = os.path.join(folder, "config.json")
    with open(path, encoding="utf-8") as stream:
        fields = json.load(stream)
    with open(path, "w", encoding="utf-8") as stream:
        json.dump(dict(fields, quantization_config=CONFIGS[method]), stream)
    return stored


def encode(method, matrix):
    return _ENCODERS[method](np.asarray(matrix, np.float32))


def _tensor(fmt, array, numpy_type):
    array = np.ascontiguousarray(array, numpy_type)
    return Tensor(fmt, array.shape, array.tobytes())


def _grouped(matrix, group, symmetric=False):
    """-> unsigned q [N, K], f16 scales [N, G], zero points [N, G] of 4 bits."""
    n, k = matrix.shape
    parts = matrix.reshape(n, k // group, group)
    low, high = np.minimum(parts.min(-1), 0), np.maximum(parts.max(-1), 0)
    if symmetric:
        scales = np.maximum(-low, high) / 7
    else:
        scales = (high - low) / 15
    scales = round_to("f16", scales)
    zeros = np.full(scales.shape, 8.0) if symmetric else np.clip(np.rint(-low / scales), 1, 15)
    q = np.clip(np.rint(parts / scales[..., None]) + zeros[..., None], 0, 15)
    return q.reshape(n, k).astype(np.uint32), scales, zeros.astype(np.uint32)


def _values(q, scales, zeros):
    group = q.shape[1] // scales.shape[1]
    spread = lambda x: np.repeat(x.astype(np.float64), group, axis=1)
    return spread(scales) * (q.astype(np.float64) - spread(zeros))


def _pack(numbers, axis, order=range(8)):
    """Eight numbers of 4 bits in a word; nibble i is number order[i]."""
    numbers = np.moveaxis(numbers, axis, -1)
    numbers = numbers.reshape(numbers.shape[:-1] + (-1, 8))
    words = np.zeros(numbers.shape[:-1], np.uint32)
    for nibble, place in enumerate(order):
        words |= numbers[..., place].astype(np.uint32) << np.uint32(4 * nibble)
    return np.moveaxis(words, -1, axis)


def _gptq(matrix, group=128, act_order=False):
    n, k = matrix.shape
    order = np.random.RandomState(k).permutation(k) if act_order else np.arange(k)
    q, scales, zeros = _grouped(matrix[:, order], group)
    values = _values(q, scales, zeros)
    back = np.argsort(order)
    q, values = q[:, back], values[:, back]
    parts = {"qweight": _tensor("i32", _pack(q.T, 0), "<u4"),
             "qzeros": _tensor("i32", _pack(zeros.T - 1, 1), "<u4"),
             "scales": _tensor("f16", scales.T, "<f2"),
             "g_idx": _tensor("i32", back // group, "<i4")}
    return (parts, round_to("f16", values), "f16") if act_order else (parts, values, "q4_1")


def _awq(matrix):
    order = [0, 2, 4, 6, 1, 3, 5, 7]
    q, scales, zeros = _grouped(matrix, 64)
    return ({"qweight": _tensor("i32", _pack(q.T, 1, order), "<u4"),
             "qzeros": _tensor("i32", _pack(zeros.T, 1, order), "<u4"),
             "scales": _tensor("f16", scales.T, "<f2")}, _values(q, scales, zeros), "q4_1")


def _compressed4(matrix):
    q, scales, zeros = _grouped(matrix, 128, symmetric=True)
    return ({"weight_packed": _tensor("i32", _pack(q, 1), "<u4"),
             "weight_shape": _tensor("i64", matrix.shape, "<i8"),
             "weight_scale": _tensor("f16", scales, "<f2")}, _values(q, scales, zeros), "q4_1")


def _rows8(matrix):
    scales = (np.abs(matrix).max(-1, keepdims=True) / np.float32(127)).astype(np.float32)
    return np.clip(np.rint(matrix / scales), -127, 127), scales


def _compressed8(matrix):
    q, scales = _rows8(matrix)
    return ({"weight": _tensor("i8", q, "i1"), "weight_scale": _tensor("f32", scales, "<f4")},
            q.astype(np.float64) * scales, "q8_0")


def _bnb8(matrix):
    q, scales = _rows8(matrix)
    return ({"weight": _tensor("i8", q, "i1"), "SCB": _tensor("f32", scales[:, 0] * np.float32(127), "<f4")},
            q.astype(np.float64) * scales, "q8_0")


def f8_values():
    """The 256 values of F8_E4M3; NaN where all other bits are ones."""
    code = np.arange(256)
    exponent, mantissa = (code >> 3) & 15, code & 7
    size = np.where(exponent == 0, mantissa / 8 * 2.0 ** -6, (1 + mantissa / 8) * 2.0 ** (exponent - 7.0))
    size[(code & 127) == 127] = np.nan
    return np.where(code & 128, -size, size)


def _f8(x):
    """The nearest codes."""
    values = f8_values()
    order = np.argsort(np.where(np.isnan(values), np.inf, values))[:254]
    steps = values[order]
    after = np.clip(np.searchsorted(steps, x), 1, len(steps) - 1)
    nearest = np.where(x - steps[after - 1] < steps[after] - x, after - 1, after)
    return order[nearest].astype(np.uint8)


def _fp8(matrix, rows, columns, name):
    n, k = matrix.shape
    shape = (-(-n // rows), -(-k // columns))
    scales = np.zeros(shape, np.float32)
    for i in range(shape[0]):
        for j in range(shape[1]):
            block = matrix[i * rows:(i + 1) * rows, j * columns:(j + 1) * columns]
            scales[i, j] = np.abs(block).max() / np.float32(448)
    all_scales = np.repeat(np.repeat(scales, rows, 0)[:n], columns, 1)[:, :k]
    codes = _f8(matrix / all_scales)
    values = round_to("bf16", (f8_values()[codes].astype(np.float32) * all_scales))
    return ({"weight": _tensor("f8_e4m3", codes, "u1"), name: _tensor("f32", scales, "<f4")}, values, "bf16")


def _nf4(matrix):
    flat = matrix.reshape(-1, 64)
    scales = np.abs(flat).max(-1, keepdims=True)
    codes = np.abs(flat[..., None] / scales[..., None] - NF4).argmin(-1).astype(np.uint8)
    values = round_to("bf16", NF4[codes] * scales).reshape(matrix.shape)
    pairs = codes.reshape(-1, 2)
    state = json.dumps({"quant_type": "nf4", "blocksize": 64, "dtype": "bfloat16", "shape": list(matrix.shape)})
    return ({"weight": _tensor("u8", (pairs[:, :1] << 4 | pairs[:, 1:]), "u1"),
             "weight.absmax": _tensor("f32", scales[:, 0], "<f4"),
             "weight.quant_map": _tensor("f32", NF4, "<f4"),
             "weight.quant_state.bitsandbytes__nf4": _tensor("u8", list(state.encode("utf-8")), "u1")},
            values, "bf16")


_ENCODERS = {
    "gptq": _gptq,
    "gptq act-order": lambda matrix: _gptq(matrix, 64, act_order=True),
    "awq": _awq,
    "compressed int4": _compressed4,
    "compressed int8": _compressed8,
    "fp8 rows": lambda matrix: _fp8(matrix, 1, matrix.shape[1], "weight_scale"),
    "fp8 blocks": lambda matrix: _fp8(matrix, 128, 128, "weight_scale_inv"),
    "bitsandbytes nf4": _nf4,
    "bitsandbytes int8": _bnb8,
}
