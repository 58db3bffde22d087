#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks the reference model itself: formats, containers, operations, and trained models.

Trained models are in the directory LLMIR_TEST_DATA (default: shared/data next to the
repository); their checks are skipped with a message if it is absent. Ends with `N passed, N failed`.
"""

import base64
import glob
import json
import lzma
import os
import shutil
import subprocess
import sys
import tempfile
import traceback

import numpy as np

import make_tiny
from checks import Checks
from llmref import Model, Rounding, compiled, divergence, formats, gguf, gguf_model, load
from llmref import load_checkpoint, nmse, ops, round_to, safetensors, top_two_margin
from llmref.checkpoint import permute_rows, unpermute_rows
from llmref.rounding import int8_groups
from selftest_families import check_dense_families

HERE = os.path.dirname(os.path.abspath(__file__))
TEST_DATA = os.environ.get("LLMIR_TEST_DATA",
                           os.path.join(HERE, "..", "..", "..", "shared", "data"))


class Skipped(Exception):
    """Raised by a check whose data is absent."""


def model_folder(name):
    folder = os.path.join(TEST_DATA, "models", name)
    if not os.path.isdir(folder):
        raise Skipped("no directory %s (set LLMIR_TEST_DATA)" % folder)
    return folder


def random_ids(config, count, seed=7):
    return [int(i) for i in np.random.RandomState(seed).randint(0, config.vocab, count)]


def equal_bits(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


# Formats


def check_bf16(_):
    bits = np.arange(1 << 16, dtype=np.uint16)
    values = formats.bf16_bits_to_f32(bits)
    back = formats.f32_to_bf16_bits(values)
    nan = np.isnan(values)
    assert np.array_equal(back[~nan], bits[~nan]) and np.all(np.isnan(
        formats.bf16_bits_to_f32(back[nan])))
    cases = {0x3F808000: 0x3F80, 0x3F818000: 0x3F82,  # ties go to the even neighbor
             0x3F808001: 0x3F81, 0x3F807FFF: 0x3F80,
             0x7F7FFFFF: 0x7F80, 0xFF800000: 0xFF80,  # overflow to infinity; infinity stays
             0x7F800001: 0x7FC0, 0xFFFFFFFF: 0xFFFF}  # NaN stays NaN, with its sign
    source = np.array(list(cases), dtype=np.uint32).view(np.float32)
    assert list(formats.f32_to_bf16_bits(source)) == list(cases.values())


def check_rounding(_):
    x = np.random.RandomState(0).standard_normal(2000) * 3
    for fmt, bits in (("f32", 24), ("f16", 11), ("bf16", 8)):
        y = round_to(fmt, x)
        assert np.all(np.abs(y - x) <= np.abs(x) * 2.0 ** -bits)
        assert np.array_equal(round_to(fmt, y), y)
    assert round_to("f16", [1 + 2.0 ** -11, 1 + 3 * 2.0 ** -11]).tolist() == [1, 1 + 2.0 ** -9]
    assert np.isinf(round_to("f16", 65520.0)) and round_to("f16", 65519.0) == 65504


def check_q8_0(_):
    x = np.zeros(32, np.float32)
    x[:5] = [127.0, -127.0, 0.5, -0.5, 1.49]  # d = 1: halves are rounded away from zero
    q = np.frombuffer(formats.encode("q8_0", x).data, np.int8)
    assert q[2:7].tolist() == [127, -127, 1, -1, 1]
    x = np.random.RandomState(1).standard_normal((7, 96)).astype(np.float32)
    tensor = formats.encode("q8_0", x)
    assert len(tensor.data) == 7 * 3 * 34
    blocks, back = x.reshape(-1, 32), tensor.values().reshape(-1, 32)
    step = np.abs(blocks).max(axis=1, keepdims=True) / 127
    assert np.all(np.abs(blocks - back) <= step * (0.5 + 127 * 2.0 ** -11) + 1e-6)
    assert not formats.encode("q8_0", np.zeros((1, 32))).values().any()


def check_q4_0(_):
    x = np.zeros(32, np.float32)
    x[0], x[1], x[16], x[17] = -8.0, 7.4, 8.0, -3.5  # the first of equal magnitudes determines the sign: d = 1
    tensor = formats.encode("q4_0", x)
    nibbles = np.frombuffer(tensor.data, np.uint8)[2:]
    assert tensor.data[:2] == np.array([1.0], "<f2").tobytes()
    assert (nibbles[0], nibbles[1]) == (0xF0, 0x5F) and nibbles[2] == 0x88
    assert tensor.values()[[0, 1, 16, 17, 5]].tolist() == [-8, 7, 7, -3, 0]
    x = np.random.RandomState(1).standard_normal((5, 64)).astype(np.float32)
    blocks, back = x.reshape(-1, 32), formats.encode("q4_0", x).values().reshape(-1, 32)
    step = np.abs(blocks).max(axis=1, keepdims=True) / 8
    assert np.all(np.abs(blocks - back) <= step * 1.01)


def check_q4_1(_):
    x = np.zeros(32, np.float32)
    x[0], x[1], x[17] = -3.0, 12.0, 0.4  # m = -3, d = 1
    tensor = formats.encode("q4_1", x)
    assert tensor.data[:4] == np.array([1.0, -3.0], "<f2").tobytes()
    assert np.frombuffer(tensor.data, np.uint8)[4:6].tolist() == [0x30, 0x3F]
    assert tensor.values()[[0, 1, 17, 5]].tolist() == [-3, 12, 0, 0]


def check_q5_0(_):
    x = np.zeros(32, np.float32)
    x[0], x[1], x[17] = -16.0, 15.0, -7.6
    tensor = formats.encode("q5_0", x)
    raw = np.frombuffer(tensor.data, np.uint8)
    assert tensor.data[:2] == np.array([1.0], "<f2").tobytes()
    assert raw[2:6].tolist() == [0xFE, 0xFF, 0xFD, 0xFF]  # fifth bits of values 0 and 17 are 0
    assert tensor.values()[[0, 1, 17, 5]].tolist() == [-16, 15, -8, 0]


def check_codebooks(_):
    """Types of indexes: what they can represent round-trips, and others come close."""
    random = np.random.RandomState(9)
    x = random.standard_normal((40, 256)).astype(np.float32)
    bounds = {"q5_1": 0.04, "q2_k": 0.35, "q3_k": 0.17, "iq4_nl": 0.085, "iq4_xs": 0.085,
              "mxfp4": 0.13, "iq3_s": 0.15, "iq3_xxs": 0.2, "iq2_s": 0.28, "iq2_xs": 0.33,
              "iq2_xxs": 0.38, "iq1_m": 0.55, "iq1_s": 0.63, "tq1_0": 0.9, "tq2_0": 0.9}
    for fmt, error in bounds.items():
        back = formats.encode(fmt, x)
        assert np.std(back.values() - x) < error, fmt
        assert not formats.encode(fmt, np.zeros((1, 256))).values().any(), fmt
        if not fmt.startswith(("iq1", "iq2", "iq3")):  # the grids' scales are not found again
            again = formats.encode(fmt, back.values()).values()
            assert np.std(again - back.values()) < error / 3, fmt
    digits = random.randint(-1, 2, (3, 256)).astype(np.float32)
    digits[:, 0] = 1
    for fmt in ("tq1_0", "tq2_0"):
        assert np.array_equal(formats.encode(fmt, 0.5 * digits).values(), 0.5 * digits)
    # Byte 7 of the nibbles of MXFP4 holds values 7 and 23; 2^(e - 128) is the unit.
    x = np.zeros(32, np.float32)
    x[0], x[7], x[23] = 6, -3, 0.5
    raw = np.frombuffer(formats.encode("mxfp4", x).data, np.uint8)
    assert raw[0] == 127 and raw[1 + 7] == (1 << 4 | 13), raw
    assert formats.encode("mxfp4", x).values()[[0, 7, 23, 5]].tolist() == [6, -3, 0.5, 0]


def check_k_quants(_):
    """Representable values round-trip; the error of others is bounded by the step of the format; the
    byte layout is that of ggml."""
    random = np.random.RandomState(4)
    for fmt, top in (("q4_k", 15), ("q5_k", 31)):
        q = random.randint(0, top + 1, (3, 8, 32))
        q[:, :, 0], q[:, :, 1] = 0, top  # the range of each group
        scale, least = random.randint(1, 64, (3, 8, 1)), random.randint(1, 64, (3, 8, 1))
        scale[:, 0], least[:, 0] = 63, 63
        x = (2.0 ** -9 * scale * q - 2.0 ** -7 * least).reshape(3, 256)
        tensor = formats.encode(fmt, x)
        assert np.array_equal(tensor.values(), x), fmt
        raw = np.frombuffer(tensor.data, np.uint8).reshape(3, -1)
        assert np.array_equal(raw[:, 4:8] & 63, scale[:, :4, 0])
        assert np.array_equal(raw[:, 8:12] & 63, least[:, :4, 0])
        assert np.array_equal(raw[:, 12:16] & 15, scale[:, 4:, 0] & 15)
        nibbles = raw[:, -128:].reshape(3, 4, 32)  # groups 2j and 2j + 1 share 32 bytes
        assert np.array_equal(nibbles & 15, q[:, ::2] & 15)
        assert np.array_equal(nibbles >> 4, q[:, 1::2] & 15)
        if fmt == "q5_k":
            for group in range(8):
                assert np.array_equal(raw[:, 16:48] >> group & 1, q[:, group] >> 4)
    q, scale = random.randint(-32, 32, (3, 16, 16)), random.randint(-127, 128, (3, 16, 1))
    scale[scale == 0], scale[:, 0], q[:, :, 3] = 1, 127, -32  # the largest value
    x = (2.0 ** -8 * scale * q).reshape(3, 256)
    tensor = formats.encode("q6_k", x)
    assert np.array_equal(tensor.values(), x)
    raw = np.frombuffer(tensor.data, np.uint8).reshape(3, -1)
    assert np.array_equal(raw[:, 192:208].view(np.int8), scale[:, :, 0])
    flat = (q + 32).reshape(3, 256)
    assert np.array_equal(raw[:, 64:128] & 15, flat[:, 128:192] & 15)  # the second half's
    assert np.array_equal(raw[:, :64] >> 4, flat[:, 64:128] & 15)
    assert np.array_equal(raw[:, 128:160] >> 4 & 3, flat[:, 64:96] >> 4)
    x = random.standard_normal((40, 256)).astype(np.float32)
    for fmt, error in (("q4_k", 0.09), ("q5_k", 0.045), ("q6_k", 0.02)):
        assert np.std(formats.encode(fmt, x).values() - x) < error
        assert not formats.encode(fmt, np.zeros((1, 256))).values().any()


# Containers


def check_safetensors(temp):
    random = np.random.RandomState(2)
    tensors = {"a": formats.encode("f32", random.standard_normal((3, 5))),
               "b.scalar": formats.encode("f16", np.float32(1.5).reshape(())),
               "c.empty": formats.encode("f32", np.zeros((0, 4))),
               "d": formats.encode("bf16", random.standard_normal((2, 3, 7)))}
    path = os.path.join(temp, "x.safetensors")
    safetensors.write_safetensors(path, tensors)
    assert safetensors.read_safetensors(path) == tensors
    for shards in (1, 3):
        folder = os.path.join(temp, "shards%d" % shards)
        os.mkdir(folder)
        safetensors.write_folder(folder, tensors, shards)
        assert safetensors.read_folder(folder) == tensors
    with open(path, "ab") as stream:
        stream.write(b"x")
    expect_error(lambda: safetensors.read_safetensors(path), "after the last tensor")


def check_gguf(temp):
    keys = {"general.architecture": ("string", "llama"), "a.u8": ("u8", 200), "a.i8": ("i8", -3),
            "a.u16": ("u16", 65535), "a.i16": ("i16", -2), "a.u32": ("u32", 2 ** 32 - 1),
            "a.i32": ("i32", -2 ** 31), "a.f32": ("f32", 0.5), "a.bool": ("bool", True),
            "a.u64": ("u64", 2 ** 64 - 1), "a.i64": ("i64", -2 ** 63), "a.f64": ("f64", 1e-300),
            "a.strings": ("[]string", ["", "\u00e9", b"\xff"]), "a.numbers": ("[]i32", [1, -1]),
            "a.nested": ("[][]u8", [[1, 2], [3]])}
    random = np.random.RandomState(3)
    tensors = {fmt: formats.encode(fmt, random.standard_normal((3, 512)))
               for fmt in formats.FORMATS}
    tensors["vector"] = formats.encode("f32", random.standard_normal(5))
    path = os.path.join(temp, "x.gguf")
    for alignment in (32, 64):
        keys["general.alignment"] = ("u32", alignment)
        gguf.write_gguf(path, keys, tensors)
        assert gguf.read_gguf(path) == (keys, tensors)
    with open(path, "rb") as stream:
        blob = stream.read()
    with open(path, "wb") as stream:
        stream.write(blob[:-64])
    expect_error(lambda: gguf.read_gguf(path), "truncated")


def check_permutation(_):
    rows = np.arange(3 * 10 * 2).reshape(30, 2)
    permuted = permute_rows(rows, 3)
    for head in range(3):
        for j in range(5):  # row 2j <- j, row 2j + 1 <- j + d/2
            assert np.array_equal(permuted[head * 10 + 2 * j], rows[head * 10 + j])
            assert np.array_equal(permuted[head * 10 + 2 * j + 1], rows[head * 10 + j + 5])
    assert np.array_equal(unpermute_rows(permuted, 3), rows)
    # Rotating adjacent pairs of permuted rows is rotating halves of the original rows.
    x = np.random.RandomState(4).standard_normal((4, 3, 10))
    f = ops.rope_frequencies(10, 1e4)
    halves = ops.rope(x, np.arange(4), f)
    adjacent = ops.rope(permute_rows(x.reshape(4, -1).T, 3).T.reshape(x.shape), np.arange(4), f,
                        pairing="adjacent")
    assert np.array_equal(unpermute_rows(adjacent.reshape(4, -1).T, 3).T.reshape(x.shape), halves)


def expect_error(action, words):
    try:
        action()
    except ValueError as error:
        assert words in str(error), error
    else:
        raise AssertionError("no error, expected one with %r" % words)


# Operations, each compared with an equivalent formula


def check_ops(_):
    random = np.random.RandomState(5)
    x = random.standard_normal((4, 6, 10))
    f = ops.rope_frequencies(10, 1e4)
    turned = ((x[..., :5] + 1j * x[..., 5:]) *
              np.exp(1j * np.arange(3, 7)[:, None, None] * f))  # RoPE as complex numbers
    turned = np.concatenate([turned.real, turned.imag], axis=-1)
    assert nmse(ops.rope(x, np.arange(3, 7), f), turned) < 1e-30
    q, k, v = x, random.standard_normal((7, 2, 10)), random.standard_normal((7, 2, 10))
    wanted = np.zeros_like(q)
    for t in range(4):
        for h in range(6):
            seen = t + 3 + 1
            weights = np.exp(k[:seen, h // 3] @ q[t, h] / np.sqrt(10))
            wanted[t, h] = weights @ v[:seen, h // 3] / weights.sum()
    assert nmse(ops.attention(q, k, v), wanted) < 1e-28
    gate, up = random.standard_normal((2, 9))
    assert nmse(ops.silu_mul(gate, up), gate / (1 + np.exp(-gate)) * up) < 1e-30
    assert np.all(ops.silu([-1e4, 1e4]) == [0, 1e4])
    row = random.standard_normal(9)
    assert nmse(ops.rms_norm(row, up, 0.25) * np.sqrt(row @ row / 9 + 0.25), row * up) < 1e-30
    expect_error(lambda: ops.embedding([3], np.zeros((3, 2))), "vocabulary")


def check_rope_scaling(_):
    # The figures of Llama 3.1: head size 128, theta 5e5, factor 8, 1, 4, original length 8192.
    scaling = dict(make_tiny.LLAMA3_SCALING, original_max_position_embeddings=8192)
    plain = ops.rope_frequencies(128, 5e5)
    ratio = plain / ops.rope_frequencies(128, 5e5, scaling)
    wavelength = 2 * np.pi / plain
    assert np.all(ratio[wavelength < 2048] == 1) and np.all(ratio[wavelength > 8192] == 8)
    between = ratio[(wavelength > 2048) & (wavelength < 8192)]
    assert len(between) == 6 and np.all(np.diff(between) > 0)
    linear = ops.rope_frequencies(128, 5e5, {"type": "linear", "factor": 4.0})
    assert np.array_equal(linear * 4, plain)


# Whole models


def check_containers_agree(temp):
    """A directory and a GGUF file with the same weights give the same logits, for every family."""
    for number, family in enumerate(sorted(make_tiny.FAMILIES)):
        for odd in (False, True):
            dialect = ("old", "new")[number % 2]
            config, weights = make_tiny.make(family, 1, "bf16", odd, layers=2)
            folder = os.path.join(temp, "hf-%s-%d" % (family, odd))
            make_tiny.write_hf(folder, config, weights, "bf16", dialect, shards=1 + number % 3)
            make_tiny.write_gguf(folder + ".gguf", config, weights, "bf16")
            ids = random_ids(config, 20)
            direct = Model(config, weights).forward(ids)
            hf, other = load(folder), load(folder + ".gguf")
            assert all(equal_bits(hf.weights[n], other.weights[n]) for n in weights)
            assert np.array_equal(hf.forward(ids), direct), family
            assert np.array_equal(other.forward(ids), direct), family


def check_options(temp):
    """Every option of make_tiny.py is stored in the files and can be read back."""
    for arguments in ("--family llama --attention-bias --mlp-bias --rope-scaling linear --tied",
                      "--family qwen2 --rope-scaling linear --config-dialect new --untied",
                      "--family qwen3 --rope-scaling llama3 --shards 3 --hidden 44 --vocab 61"):
        hf, file = os.path.join(temp, "options"), os.path.join(temp, "options.gguf")
        make_tiny.main(arguments.split() + ["--layers", "2", "--out", hf, "--gguf", file])
        a, b = load(hf), load(file)
        ids = random_ids(a.config, 12)
        assert np.array_equal(b.forward(ids), a.forward(ids)), arguments
        assert a.config.rope_scaling["type"] in arguments
        shutil.rmtree(hf)


def check_quantized_files(temp):
    """Block types are used if the row size allows, and round-trip."""
    for gguf_type in ("q8_0", "q4_0", "f16"):
        config, weights = make_tiny.make("llama", 2, intermediate=172)
        path = os.path.join(temp, gguf_type + ".gguf")
        make_tiny.write_gguf(path, config, weights, gguf_type)
        stored = gguf.read_gguf(path).tensors
        assert stored["blk.0.ffn_up.weight"].format == gguf_type
        assert stored["blk.0.ffn_down.weight"].format == "f16"  # rows of 172
        assert stored["blk.0.attn_norm.weight"].format == "f32"
        back = load_checkpoint(path)[1]
        for name in ("lm_head.weight", "model.layers.1.self_attn.k_proj.weight"):
            assert equal_bits(back[name], formats.encode(gguf_type, weights[name]).values())


def check_mixture(_):
    """Q4_K_M's more precise tensors, as selected by llama.cpp for 16 layers."""
    config = make_tiny.make("llama", 0, layers=16, hidden=256, intermediate=512)[0]
    shapes = config.weights()

    def chosen(name, **options):
        return gguf_model.tensor_format(config, name, shapes[name], "q4_k_m", **options)

    more = [i for i in range(16) if chosen("model.layers.%d.mlp.down_proj.weight" % i) == "q6_k"]
    assert more == [0, 1, 4, 7, 10, 13, 14, 15], more
    assert chosen("model.layers.1.self_attn.v_proj.weight") == "q6_k"
    assert chosen("model.layers.1.self_attn.k_proj.weight") == "q4_k"
    assert chosen("lm_head.weight") == "q6_k" and chosen("lm_head.weight", pure=True) == "q4_k"
    assert chosen("model.embed_tokens.weight") == "q4_k"  # not tied
    assert gguf_model.tensor_format(config, "x.weight", (3, 96), "q4_k") == "q8_0"
    assert gguf_model.tensor_format(config, "x.weight", (3, 90), "q4_k") == "f16"


def check_cache(_):
    """A prompt as a whole, in chunks, or token by token gives the same logits."""
    for family in ("llama3", "qwen3", "gpt2"):
        model = Model(*make_tiny.make(family, 3))
        ids = random_ids(model.config, 30)
        for kv in ("f64", "bf16"):
            whole = model.forward(ids, Rounding(kv=kv))
            for size in (1, 7):
                cache = model.new_cache(Rounding(kv=kv))
                parts = [model.forward(ids[i:i + size], cache=cache)
                         for i in range(0, len(ids), size)]
                assert nmse(np.concatenate(parts), whole) < (1e-25 if kv == "f64" else 1e-7)


def check_rounding_knobs(_):
    """Coarser formats have larger errors, as expected from their bits."""
    model = Model(*make_tiny.make("llama", 0))
    ids = random_ids(model.config, 40)
    exact = model.forward(ids)
    errors = [nmse(model.forward(ids, Rounding(results="f32", kv=kv)), exact)
              for kv in ("f32", "f16", "bf16")]
    assert 0 < errors[0] < 1e-12 < errors[1] < 1e-6 < errors[2] < 1e-4, errors
    coarser = [errors[2], nmse(model.forward(ids, compiled("bf16")), exact)]  # q and p as well
    for kind, formats_of in (("bf16", "bf16"), ("int8", "q8_0")):
        model.formats = {name: formats_of for name in model.weights}
        coarser.append(nmse(model.forward(ids, compiled("bf16")), exact))
    assert coarser == sorted(coarser) and coarser[-1] < 1e-2, coarser


def check_int8_inputs(_):
    """127 steps in each direction per group; groups of zeros have a valid scale."""
    x = np.zeros((2, 70))
    x[0, :4] = [127, -126.4, 0.5, 1.5]  # scale 1: nearest even
    x[1, 40], x[1, 69] = 1, -3
    y = int8_groups(x, 32)
    assert y[0, :4].tolist() == [127, -126, 0, 2] and not y[0, 4:].any()
    assert abs(y[1, 40] - 1) < 1e-7 and abs(y[1, 69] + 3) < 1e-6 and np.count_nonzero(y) == 5
    x = np.random.RandomState(0).standard_normal((5, 64))
    step = np.abs(x.reshape(5, 2, 32)).max(axis=2, keepdims=True) / 127
    assert np.all(np.abs((int8_groups(x, 32) - x).reshape(5, 2, 32)) <= step * 0.5001)


def check_divergence(_):
    random = np.random.RandomState(5)
    a = random.standard_normal((4, 50)) * 3
    assert np.all(np.abs(divergence(a + 7, a)) < 1e-12)  # a constant changes no distribution
    p, q = np.exp(a[0]) / np.exp(a[0]).sum(), np.exp(a[1]) / np.exp(a[1]).sum()
    assert abs(divergence(a[1:2], a[:1])[0] - np.sum(p * np.log(p / q))) < 1e-12


def check_tiny_models_are_good_tests(_):
    """Logits vary, attention is not uniform, and plausible errors change the logits significantly."""
    for family in sorted(make_tiny.FAMILIES):
        config, weights = make_tiny.make(family, 0)
        model = Model(config, weights)
        ids = random_ids(config, 48)
        exact = model.forward(ids)
        assert 1 < exact.std() < 3 and np.median(top_two_margin(exact)) > 0.2
        random = np.random.RandomState(0)
        for name, values in weights.items():  # every tensor affects the logits: change it by 1 %
            moved = values * (1 + 0.01 * random.standard_normal(values.shape))
            assert error_with(config, dict(weights, **{name: moved}), ids, exact) > 1e-7, name
        assert error_with(changed(config, rms_eps=config.rms_eps / 2), weights, ids, exact) > 1e-8
        if config.rope_theta:
            assert error_with(changed(config, rope_theta=config.rope_theta * 1.1), weights, ids,
                              exact) > 1e-6
        if config.rope_scaling:
            assert error_with(changed(config, rope_scaling=None), weights, ids, exact) > 1e-3
        if config.kv_heads > 1 and config.heads > config.kv_heads:  # h % G for h // (H / G)
            q_name = "model.layers.0.self_attn.q_proj.weight"
            rows = weights[q_name].reshape(-1, config.heads // config.kv_heads, config.head_dim,
                                           config.hidden)
            mixed = rows.swapaxes(0, 1).reshape(weights[q_name].shape)
            assert error_with(config, dict(weights, **{q_name: mixed}), ids, exact) > 1e-3


def changed(config, **fields):
    return type(config)(**dict(config.__dict__, **fields))


def error_with(config, weights, ids, exact):
    return nmse(Model(config, weights).forward(ids), exact)


def check_refusals(temp):
    config, weights = make_tiny.make("qwen2", 0, layers=1)
    folder = os.path.join(temp, "bad")
    name = "model.layers.0.self_attn.k_proj.bias"
    for change, words in (({name: None}, name + " (32,) is missing"),
                          ({name: np.zeros(31)}, "has shape (31,), want (32,)"),
                          ({"model.extra": np.zeros(3)}, "model.extra is not part")):
        broken = {k: v for k, v in dict(weights, **change).items() if v is not None}
        make_tiny.write_hf(folder, config, broken)
        expect_error(lambda: load(folder), words)
    expect_error(lambda: changed(config, head_dim=7), "even")
    expect_error(lambda: changed(config, kv_heads=3), "multiple")
    expect_error(lambda: changed(config, rope_scaling={"type": "dynamic"}), "dynamic")


# The comparison script: it must pass for a correct command and fail for a wrong one


def check_comparison(_):
    def compare(fault, only):
        environment = dict(os.environ, REFERENCE_FAULT=fault)
        done = subprocess.run(
            [sys.executable, os.path.join(HERE, "compare.py"), "--suite", only.split("/")[0],
             "--filter", only, "--llmir", os.path.join(HERE, "reference_command.py")],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment)
        return done.returncode, done.stdout.decode("utf-8")

    for only in ("f32/llama3 gguf", "formats/qwen2 bf16"):
        status, text = compare("", only)
        assert status == 0 and " 0 failed" in text, text
    for fault, only in (("eps", "f32/llama3 logits"), ("theta", "f32/llama3 greedy"),
                        ("pairing", "f32/qwen3 logits"), ("last-block", "families/llama odd sizes logits"),
                        ("container", "formats/qwen2 bf16"),
                        ("kv", "formats/llama3 f32 --kv f16")):
        status, text = compare(fault, only)
        assert status == 1 and "FAIL " in text and "Traceback" not in text, (fault, text)
    status, text = compare("", "f32/no such check")
    assert status == 1 and text.endswith("0 passed, 0 failed\n"), text


# Trained models: results of other programs


def expected_lines(path, limit=None):
    with open(path, encoding="utf-8") as stream:
        return [json.loads(line) for line in stream][:limit]


def check_expected(model, lines, margin_error):
    """Each expected id has the largest logit, with the expected lead. Returns the number of ids."""
    count = 0
    for line in lines:
        prompt, output = line["prompt_ids"], line["output_ids"]
        logits = model.forward(prompt + output[:-1])[len(prompt) - 1:]
        assert np.argmax(logits, axis=-1).tolist() == output, line["prompt_ids"]
        assert np.abs(top_two_margin(logits) - line["margins"]).max() < margin_error
        count += len(output)
    return count


def check_stories(_):
    folder = model_folder("stories260K")
    count = check_expected(load(os.path.join(folder, "hf")),
                           expected_lines(os.path.join(folder, "expected.jsonl")), 1e-4)
    files = sorted(glob.glob(os.path.join(folder, "*.gguf")))
    assert len(files) == 4
    for path in files:
        count += check_expected(load(path), expected_lines(path[:-5] + ".expected.jsonl"), 1e-4)
    line = expected_lines(os.path.join(folder, "expected.jsonl"))[0]
    ids, _margins = load(os.path.join(folder, "hf")).generate(line["prompt_ids"], 64)
    assert ids == line["output_ids"][:64]
    return "%d ids in five files" % count


def check_minimind(temp):
    folder = model_folder("minimind2-small")
    shutil.copy(os.path.join(folder, "config.json"), temp)
    with lzma.open(os.path.join(folder, "model.safetensors.xz")) as packed, \
            open(os.path.join(temp, "model.safetensors"), "wb") as stream:
        shutil.copyfileobj(packed, stream)
    lines = expected_lines(os.path.join(folder, "expected.jsonl"))
    return "%d ids" % check_expected(load(temp), lines, 1e-3)


def nano_sort_tensor(folder, name):
    """A tensor computed by PyTorch: base64 of float32."""
    with open(os.path.join(folder, "gpt-nano-sort-t0-partials.json"), encoding="utf-8") as stream:
        tensor = json.load(stream)[name]
    return np.frombuffer(base64.b64decode(tensor["data"]), "<f4").reshape(tensor["shape"])


def check_nano_sort(_):
    """A trained GPT-2 compared with PyTorch: embeddings, inputs of attention, logits, sorted letters."""
    folder = model_folder("gpt-nano-sort")
    model = load(os.path.join(folder, "hf"))
    logits = nano_sort_tensor(folder, "lm_head")
    keys, values = nano_sort_tensor(folder, "k"), nano_sort_tensor(folder, "v")
    for row, ids in enumerate(nano_sort_tensor(folder, "idx").astype(int)):
        cache = model.new_cache()
        assert nmse(model.forward(ids.tolist(), cache=cache), logits[row]) < 1e-10
        # The file contains those of the first block, as [head, token, value].
        assert nmse(cache.keys[0], keys[row].swapaxes(0, 1)) < 1e-11
        assert nmse(cache.values[0], values[row].swapaxes(0, 1)) < 1e-11
    lines = expected_lines(os.path.join(folder, "expected.jsonl"))
    for line in lines:
        prompt, output = line["prompt_ids"], line["output_ids"]
        after = model.forward(prompt + output[:-1])[len(prompt) - 1:]
        assert np.argmax(after, axis=-1).tolist() == output, prompt
        assert abs(top_two_margin(after).min() - line["min_margin"]) < 1e-4, prompt
    return "%d inputs" % len(lines)


CHECKS = [check_bf16, check_rounding, check_q8_0, check_q4_0, check_q4_1, check_q5_0,
          check_k_quants, check_codebooks, check_int8_inputs, check_divergence, check_mixture, check_safetensors,
          check_gguf, check_permutation, check_ops, check_rope_scaling, check_containers_agree, check_options,
          check_quantized_files, check_cache, check_dense_families, check_rounding_knobs,
          check_tiny_models_are_good_tests, check_refusals, check_comparison, check_stories,
          check_minimind, check_nano_sort]


def main():
    checks = Checks(shows_all=True)
    for check in CHECKS:
        name = check.__name__[len("check_"):]
        temp = tempfile.mkdtemp(prefix="llmref-")
        try:
            checks(name, True, check(temp) or "")
        except Skipped as reason:
            checks.skip(name, reason)
        except Exception:  # an exception in one check must not skip the others
            checks(name, False, traceback.format_exc())
        finally:
            shutil.rmtree(temp)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
