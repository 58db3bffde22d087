# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The functions that run_upstream.py runs: every op that -convert-llm-to-linalg converts, with all of its options."""

import itertools
import os
import sys
import zlib

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "reference"))

from llmref import blocks  # noqa: E402
from upstream import Argument, Case, rounded  # noqa: E402

NAN, INF = float("nan"), float("inf")


def numbers(name, kind, *shape, scale=1.0):
    """Random values of a kind, deterministic for each name."""
    random = np.random.RandomState(zlib.crc32(name.encode()) & 0x7FFFFFFF)
    return rounded(kind, random.uniform(-scale, scale, shape))


def tensor(kind, *sizes):
    return "tensor<%s%s>" % ("".join("%sx" % size for size in sizes), kind)


def floats(name, kind, shape, dynamic=(), label=None, **how):
    """An argument of random floats; `dynamic` dimensions are `?` in its type."""
    sizes = ["?" if d in dynamic else size for d, size in enumerate(shape)]
    return Argument(name, tensor(kind, *sizes), numbers((label or "") + name, kind, *shape, **how))


def integers(name, values, sizes=None, kind="i32"):
    values = np.array(values)
    return Argument(name, tensor(kind, *(sizes or values.shape)), values)


# Rows: norms, softmax, positions, element-wise ops.


def unary(name, op, x, attributes="", more=(), types=None):
    operands = ", ".join("%" + each.name for each in [x, *more])
    types = types or ", ".join([x.type] + [each.type for each in more])
    return Case(name, [x, *more], [x.type], """
  %%y = llm.%s %s%s : %s
  return %%y : %s""" % (op, operands, " {%s}" % attributes if attributes else "", types, x.type))


def rows():
    for kind in ("f32", "f16", "bf16"):
        for dynamic in ((), (0,), (0, 1)):
            suffix = "_%s_%d" % (kind, len(dynamic))
            x = floats("x", kind, (3, 16), dynamic)
            w, b = floats("w", "f32", (16,)), floats("b", kind, (16,))
            yield unary("rms_norm" + suffix, "rms_norm", x, "eps = 1.0e-5 : f64", [w])
            yield unary("rms_norm_alone" + suffix, "rms_norm", x)
            yield unary("layer_norm" + suffix, "layer_norm", x, "eps = 1.0e-3 : f64", [w, b])
            yield unary("layer_norm_alone" + suffix, "layer_norm", x)
            yield unary("softmax" + suffix, "softmax", floats("x", kind, (3, 16), dynamic, scale=20))
            yield unary("silu" + suffix, "silu", x)
            for form in ("none", "tanh", "quick"):
                yield unary("gelu_%s%s" % (form, suffix), "gelu", floats("x", kind, (3, 16), dynamic, scale=3),
                            'approximate = "%s"' % form)
            other = floats("r", kind, (3, 16), dynamic)
            for op in ("swiglu", "add", "mul"):
                yield unary(op + suffix, op, x, more=[other], types=x.type)
    for case in special_rows():
        yield case
    yield unary("rms_norm_heads", "rms_norm", floats("x", "f32", (2, 3, 8), (0,)), more=[floats("w", "f32", (8,))])
    yield unary("softmax_vector", "softmax", floats("x", "f32", (9,)))
    yield unary("norm_of_one_row", "layer_norm", floats("x", "f32", (7,), (0,)))


def special_rows():
    """A softmax of rows with infinities: all masked, all but one masked, NaN."""
    x = np.array([[-INF] * 4, [1, -INF, 2, -INF], [INF, 0, 1, 2], [NAN, 0, -INF, 1], [88, 89, -90, 0]])
    yield unary("softmax_special", "softmax", Argument("x", tensor("f32", "?", 4), x))
    yield unary("silu_special", "silu", Argument("x", tensor("f32", 4), np.array([-90, 90, 0, NAN])))


def positions():
    for interleaved, kind, extra in itertools.product((False, True), ("f32", "f16", "bf16"), (0, 3)):
        for dynamic in ((), (0, 1, 2)):
            name = "rope_%s_%s_%d_%d" % ("pairs" if interleaved else "halves", kind, extra, len(dynamic))
            x = floats("x", kind, (4, 2, 6 + extra), dynamic)
            attributes = "frequencies = array<f64: 1.0, 0.1, 0.0001>, scaling = 0.9 : f64"
            yield unary(name, "rope", x, attributes + (", interleaved" if interleaved else ""),
                        [integers("p", [0, 7, 131071, 5], sizes=["?"] if dynamic else None)])


def gathers():
    for kind, dynamic in itertools.product(("f32", "f16", "bf16"), ((), (0, 1))):
        name = "%s_%d" % (kind, len(dynamic))
        x = floats("x", kind, (5, 4), dynamic)
        ids = integers("i", [4, 0, 4, 2], sizes=["?"] if dynamic else None)
        count = "?" if dynamic else 4
        result = tensor(kind, count, "?" if dynamic else 4)
        yield Case("select_rows_" + name, [x, ids], [result], """
  %%y = llm.select_rows %%x, %%i : %s, %s -> %s
  return %%y : %s""" % (x.type, ids.type, result, result))
        wide = tensor("f32", count, "?" if dynamic else 4)
        yield Case("embedding_" + name, [ids, x], [wide], """
  %%y = llm.embedding %%i, %%x : %s, %s -> %s
  return %%y : %s""" % (ids.type, x.type, wide, wide))
    x, ids = floats("x", "f32", (3, 2, 4), (0,)), integers("i", [2, 1])
    yield Case("select_rows_of_heads", [x, ids], [tensor("f32", 2, 2, 4)], """
  %%y = llm.select_rows %%x, %%i : %s, %s -> tensor<2x2x4xf32>
  return %%y : tensor<2x2x4xf32>""" % (x.type, ids.type))


def means():
    for kind, dynamic in itertools.product(("f32", "f16", "bf16"), (False, True)):
        x = floats("x", kind, (7, 2, 3), (0, 1, 2) if dynamic else ())
        offsets = integers("o", [0, 4, 4, 7], sizes=["?"] if dynamic else None)
        result = tensor(kind, *(["?"] * 3 if dynamic else [3, 2, 3]))
        yield Case("mean_rows_%s_%d" % (kind, dynamic), [x, offsets], [result], """
  %%y = llm.mean_rows %%x, %%o : %s, %s -> %s
  return %%y : %s""" % (x.type, offsets.type, result, result))


# Products.


def linear(name, x, w, bias=None):
    result = x.type[:x.type.rindex("x", 0, x.type.rindex("x"))] if x.type.count("x") > 1 else "tensor<"
    result = "%sx%s" % (result, "x".join(w.type[7:].split("x")[:1] + x.type.split("x")[-1:]))
    result = result.replace("tensor<x", "tensor<")
    arguments = [x, w] + ([bias] if bias else [])
    return Case("linear_" + name, arguments, [result], """
  %%y = llm.linear %%x, %%w%s : %s -> %s
  return %%y : %s""" % (" bias %b" if bias else "", ", ".join(each.type for each in arguments), result, result))


def products():
    for kind, weight in itertools.product(("f32", "f16", "bf16"), repeat=2):
        for dynamic, has_bias in itertools.product(((), (0,), (0, 1)), (False, True)):
            name = "%s_%s_%d%s" % (kind, weight, len(dynamic), "_bias" if has_bias else "")
            yield linear(name, floats("x", kind, (3, 8), dynamic), floats("w", weight, (5, 8)),
                         floats("b", "f32", (5,)) if has_bias else None)
    yield linear("of_heads", floats("x", "f32", (2, 3, 8), (0, 1)), floats("w", "f32", (5, 8)))
    yield linear("of_one_row", floats("x", "f32", (8,)), floats("w", "f32", (5, 8)), floats("b", "f16", (5,)))
    x, g = floats("x", "bf16", (3, 8), (0,)), floats("g", "f32", (8,))
    v, w, b = floats("v", "bf16", (4, 8)), floats("w", "f32", (6, 8)), floats("b", "f32", (4,))
    c = floats("c", "f32", (6,))
    results = ["tensor<?x4xbf16>", "tensor<?x6xbf16>"]
    yield Case("fused_linear", [x, g, v, w, b, c], results, """
  %%y, %%z = llm.fused_linear %%x norm(%%g) weights(%%v, %%w) biases(%%b, %%c) {norm_eps = 1.0e-5 : f64}
      : (%s, %s, %s, %s, %s, %s) -> (%s)
  return %%y, %%z : %s""" % (x.type, g.type, v.type, w.type, b.type, c.type, ", ".join(results), ", ".join(results)))
    r = floats("r", "bf16", (3, 8), (0,))
    yield Case("add_rms_norm", [x, r, g], [x.type, x.type], """
  %%n, %%s = llm.add_rms_norm %%x, %%r, %%g {eps = 1.0e-5 : f64} : %s, %s
  return %%n, %%s : %s, %s""" % (x.type, g.type, x.type, x.type))


# Integer type, block size, whether symmetric.
BLOCK_FORMATS = {"q8_0": ("i8", 32, "true"), "q4_0": ("i4", 32, "true"), "q4_1": ("i4", 32, "false"),
                 "q4_k": ("i4", 256, "false"), "q5_k": ("i5", 256, "false"), "q6_k": ("i6", 256, "true"),
                 "q5_0": ("i5", 32, "true"), "q5_1": ("i5", 32, "false"), "q2_k": ("i2", 256, "false"),
                 "q3_k": ("i3", 256, "true"), "iq4_nl": ("i4", 32, "true"), "iq4_xs": ("i4", 256, "true"),
                 "mxfp4": ("i4", 32, "true"), "tq1_0": ("i2", 256, "true"), "tq2_0": ("i2", 256, "true"),
                 "iq2_xxs": ("i3", 256, "true"), "iq2_xs": ("i3", 256, "true"), "iq2_s": ("i3", 256, "true"),
                 "iq3_xxs": ("i4", 256, "true"), "iq3_s": ("i4", 256, "true"), "iq1_s": ("i3", 256, "true"),
                 "iq1_m": ("i3", 256, "true")}
# Offsets of the f16 values of a block; 0 unless given.
HALVES = {"q6_k": [208], "q4_1": [0, 2], "q5_1": [0, 2], "q4_k": [0, 2], "q5_k": [0, 2], "q2_k": [80, 82],
          "q3_k": [108], "tq1_0": [52], "tq2_0": [64], "mxfp4": [], "iq1_m": []}


def stored_blocks(name, kind, *shape):
    """An argument in a block format, with random bytes and small scales; the reference uses its f32 values."""
    element, block, symmetric = BLOCK_FORMATS[kind]
    random = np.random.RandomState(zlib.crc32((name + kind).encode()) & 0x7FFFFFFF)
    count = int(np.prod(shape)) // block
    size = blocks.SIZES[kind][1]
    data = random.randint(0, 256, (count, size)).astype(np.uint8)
    if kind == "mxfp4":
        data[:, 0] = random.randint(122, 127, count)
    if kind == "iq1_m":  # The top bits of the last four words are 0x2...: about 1/100.
        data[:, 49::2] &= 15
        data[:, 55] |= 32
    for at in HALVES.get(kind, [0]):
        scales = random.uniform(1 / 256, 1 / 16, count).astype(np.float16)
        data[:, at:at + 2] = scales.view(np.uint8).reshape(count, 2)
    decoded = np.asarray(blocks.decode(kind, data.tobytes()), np.float32).reshape(shape)
    rows = data.reshape(*shape[:-1], -1).view(np.int8)
    bits = element[1:]
    of_type = "!llm.quantized_tensor<%s, [%s], %s, false, -1, %d, %s, format = %s>" % (
        element, ", ".join(map(str, shape)), symmetric, block, bits, kind)
    return Argument(name, of_type, converted=(tensor("i8", *rows.shape), rows),
                    reference=(tensor("f32", *shape), decoded))


def stored():
    for kind, (_, block, _) in BLOCK_FORMATS.items():
        x, w = floats("x", "f32", (2, 2 * block), (0,)), stored_blocks("w", kind, 3, 2 * block)
        body = """
  %%y = llm.linear %%x, %%w : %s, %s -> tensor<?x3xf32>
  return %%y : tensor<?x3xf32>"""
        yield Case("linear_" + kind, [x, w], ["tensor<?x3xf32>"], body % (x.type, w.type),
                   reference_body=body % (x.type, w.reference[0]))
        # Each element of the rows, first to last, selected by columns of a unit matrix.
        ids = integers("i", [2, 0], sizes=["?"])
        body = """
  %%e = llm.embedding %%i, %%t : tensor<?xi32>, %s -> tensor<?x%dxf32>
  %%y = tensor.extract_slice %%e[0, %d] [2, 16] [1, %d] : tensor<?x%dxf32> to tensor<2x16xf32>
  return %%y : tensor<2x16xf32>"""
        for first in (0, 1, 2 * block // 16 - 1):
            t = stored_blocks("t", kind, 3, 2 * block)
            facts = (2 * block, first, 2 * block // 16, 2 * block)
            yield Case("embedding_%s_%d" % (kind, first), [ids, t], ["tensor<2x16xf32>"], body % ((t.type,) + facts),
                       reference_body=body % ((t.reference[0],) + facts))


def ranks():
    x, w = floats("x", "f32", (3, 8), (0,)), floats("w", "f32", (8, 6))
    b = floats("b", "f32", (6,))
    for dim, shard, has_bias in itertools.product((0, 1), (0, 1), (False, True)):
        columns = 6 if dim == 0 else 3
        name = "sharded_linear_%d_%d%s" % (dim, shard, "_bias" if has_bias else "")
        arguments = [x, w] + ([b] if has_bias else [])
        yield Case(name, arguments, ["tensor<?x%dxf32>" % columns], """
  %%y = llm.sharded_linear %s {num_shards = 2, shard_dim = %d, shard_id = %d} : (%s) -> tensor<?x%dxf32>
  return %%y : tensor<?x%dxf32>""" % (", ".join("%" + each.name for each in arguments), dim, shard,
                                      ", ".join(each.type for each in arguments), columns, columns))
    half = floats("x", "f16", (2, 4))
    wide = floats("w", "bf16", (8, 6))
    yield Case("sharded_linear_given_slices", [half, wide, b], ["tensor<2x6xf16>", "tensor<2x3xf16>"], """
  %s = llm.shard %w {dim = 0, num_shards = 2, shard_index = 1}
      : (tensor<8x6xbf16>) -> !llm.sharded_tensor<tensor<8x6xbf16>, 0, 2, 1>
  %y = llm.sharded_linear %x, %s {num_shards = 2, shard_dim = 0, shard_id = 1, x_is_shard}
      : (tensor<2x4xf16>, !llm.sharded_tensor<tensor<8x6xbf16>, 0, 2, 1>) -> tensor<2x6xf16>
  %top = tensor.extract_slice %w[0, 0] [4, 6] [1, 1] : tensor<8x6xbf16> to tensor<4x6xbf16>
  %c = llm.shard %top {dim = 1, num_shards = 2, shard_index = 0} : (tensor<4x6xbf16>) -> tensor<4x3xbf16>
  %d = tensor.extract_slice %b[0] [3] [1] : tensor<6xf32> to tensor<3xf32>
  %z = llm.sharded_linear %x, %c, %d {num_shards = 2, shard_dim = 1, shard_id = 0, weight_is_shard, bias_is_shard}
      : (tensor<2x4xf16>, tensor<4x3xbf16>, tensor<3xf32>) -> tensor<2x3xf16>
  return %y, %z : tensor<2x6xf16>, tensor<2x3xf16>""")
    wide_x = floats("x", "f32", (3, 8), (0, 1))
    yield Case("sharded_linear_dynamic", [wide_x, w], ["tensor<?x6xf32>"], """
  %y = llm.sharded_linear %x, %w {num_shards = 2, shard_dim = 0, shard_id = 1} : (tensor<?x?xf32>, tensor<8x6xf32>) -> tensor<?x6xf32>
  return %y : tensor<?x6xf32>""")
    yield Case("ranks_of_one", [x], ["tensor<?x8xf32>", "tensor<?x4xf32>"], """
  %a = llm.all_gather %x {dim = 1, group_size = 1} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %b = llm.all_reduce %a {group_size = 1, reduce_op = "mean"} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %c = llm.reduce_scatter %b {dim = 1, group_size = 1, reduce_op = "max"} : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %d = llm.shard %c {dim = 1, num_shards = 2} : (tensor<?x8xf32>) -> tensor<?x4xf32>
  return %c, %d : tensor<?x8xf32>, tensor<?x4xf32>""")


# Attention.


def attention(name, batch=2, queries=3, keys=5, heads=4, kv_heads=2, dim=4, value=None, kind="f32", dynamic=False,
              mask=None, mask_type=None, sinks=None, attributes="", rank=4, given=None):
    """`mask` is (kind, values); `given` replaces the values of arguments by name."""
    value = value or dim
    of = {"q": (batch, queries, heads, dim), "k": (batch, keys, kv_heads, dim), "v": (batch, keys, kv_heads, value)}
    if rank == 3:
        of = {each: (shape[0], shape[1], shape[3]) for each, shape in of.items()}
    arguments = [floats(each, kind, shape, range(rank) if dynamic else (), label=name, scale=2.0)
                 for each, shape in of.items()]
    clauses = ""
    if mask:
        mask_kind, values = mask
        arguments.append(Argument("m", mask_type or tensor(mask_kind, *(["?"] * rank if dynamic else values.shape)),
                                  rounded(mask_kind, values) if "f" in mask_kind else values))
        clauses += " mask(%m)"
    if sinks is not None:
        arguments.append(Argument("s", tensor("f32", "?" if dynamic else heads), np.array(sinks, np.float32)))
        clauses += " sinks(%s)"
    for each in arguments:
        if given and each.name in given:
            each.converted = each.reference = (each.type, given[each.name](each.converted[1].copy()))
    sizes = list(of["q"][:-1]) + [value]
    result = tensor(kind, *(["?"] * rank if dynamic else sizes))
    return Case("attention_" + name, arguments, [result], """
  %%o = llm.attention %%q, %%k, %%v%s%s : (%s) -> %s
  return %%o : %s""" % (clauses, " {%s}" % attributes if attributes else "",
                        ", ".join(each.type for each in arguments), result, result))


SLOPES = "alibi_slopes = array<f64: 0.5, 0.25, 0.125, 0.0625>"


def random_mask(name, kind, shape):
    values = numbers(name + "mask", "f32", *shape)
    if kind == "i1":
        return kind, values > -0.3
    hidden = numbers(name + "hidden", "f32", *shape)
    return kind, np.where(hidden < -0.4, -INF, values).astype(np.float32)


FEATURES = {
    "plain": {}, "scale": {"attributes": "scale = 0.3 : f64"}, "zero_scale": {"attributes": "scale = 0.0 : f64"},
    "causal": {"attributes": "causal = true"}, "window": {"attributes": "window = 2"},
    "causal_window": {"attributes": "causal = true, window = 2"}, "chunks": {"attributes": "window = 2, chunked"}, "causal_chunks": {"attributes": "causal = true, window = 2, chunked"}, "soft_cap": {"attributes": "soft_cap = 1.5 : f64"},
    "alibi": {"attributes": SLOPES}, "sinks": {"sinks": [0.5, -1.0, 3.0, -INF]},
    "everything": {"attributes": "causal = true, window = 4, soft_cap = 2.0 : f64, scale = 0.7 : f64, " + SLOPES,
                   "sinks": [0.5, -1.0, 3.0, 0.0], "mask": random_mask("everything", "f32", (1, 4, 3, 5))},
}


def attention_features():
    """Every feature with every element type, with static and dynamic sizes."""
    for (name, how), kind, dynamic in itertools.product(FEATURES.items(), ("f32", "f16", "bf16"), (False, True)):
        yield attention("%s_%s%s" % (name, kind, "_dynamic" if dynamic else ""), kind=kind, dynamic=dynamic, **how)


def attention_masks():
    """Masks of each kind with all combinations of broadcast dimensions."""
    for kind in ("i1", "f32", "f16", "bf16"):
        for shared in itertools.product((False, True), repeat=4):
            shape = tuple(1 if share else size for share, size in zip(shared, (2, 4, 3, 5)))
            name = "mask_%s_%s" % (kind, "".join("1" if share else "n" for share in shared))
            mask = random_mask(name, kind, shape)
            yield attention(name, mask=mask)
            if kind in ("i1", "f32"):
                yield attention(name + "_dynamic", mask=mask, dynamic=True)
    yield attention("mask_partly_known", mask=random_mask("partly", "i1", (1, 1, 3, 5)), mask_type="tensor<1x1x?x?xi1>")


def attention_shapes():
    """Groups, one head, more queries than keys, different head sizes of values."""
    for heads, kv_heads in ((1, 1), (4, 4), (4, 1), (6, 2), (3, 3)):
        yield attention("heads_%d_%d" % (heads, kv_heads), heads=heads, kv_heads=kv_heads, attributes="causal = true")
        yield attention("heads_%d_%d_dynamic" % (heads, kv_heads), heads=heads, kv_heads=kv_heads, dynamic=True)
    for dynamic in (False, True):
        suffix = "_dynamic" if dynamic else ""
        yield attention("values" + suffix, value=7, dynamic=dynamic)
        yield attention("one_query" + suffix, queries=1, keys=9, dynamic=dynamic, attributes="causal = true")
        yield attention("more_queries" + suffix, queries=6, keys=2, dynamic=dynamic, attributes="causal = true")
        yield attention("no_keys" + suffix, keys=0, dynamic=dynamic, attributes="causal = true")
        for kind in ("f32", "bf16"):
            name = "one_head_%s%s" % (kind, suffix)
            yield attention(name, rank=3, heads=1, kv_heads=1, kind=kind, dynamic=dynamic,
                            mask=(kind, numbers(name, kind, 2, 3, 5)), sinks=[0.5], value=3,
                            attributes="causal = true, window = 3, alibi_slopes = array<f64: 0.5>")
        yield attention("one_head_shared_mask" + suffix, rank=3, heads=1, kv_heads=1, dynamic=dynamic,
                        mask=random_mask("shared", "i1", (1, 1, 5)))


def attention_special():
    """Rows without visible keys; non-finite keys and values that are masked; scores at the limits of the range."""
    def last_is(value):
        def change(x):
            x[:, -1] = value
            return x
        return change

    nothing = np.zeros((1, 1, 3, 5), bool)
    some = nothing.copy()
    some[..., 1, 2] = True
    last = np.ones((1, 1, 1, 5), bool)
    last[..., -1] = False
    for dynamic in (False, True):
        suffix = "_dynamic" if dynamic else ""
        yield attention("sees_nothing" + suffix, mask=("i1", nothing), dynamic=dynamic)
        yield attention("sees_nothing_but_sinks" + suffix, mask=("i1", nothing), sinks=[0, 1, -1, -INF], dynamic=dynamic)
        yield attention("sees_one" + suffix, mask=("i1", some), dynamic=dynamic)
        yield attention("hidden_nan" + suffix, mask=("i1", last), dynamic=dynamic,
                        given={"k": last_is(NAN), "v": last_is(NAN)})
        yield attention("hidden_infinite" + suffix, mask=("f32", np.where(last, 0, -INF)), dynamic=dynamic,
                        given={"k": last_is(INF), "v": last_is(-INF)})
        yield attention("later_nan" + suffix, queries=5, dynamic=dynamic, attributes="causal = true",
                        given={"k": last_is(NAN), "v": last_is(NAN), "q": last_is(0)},
                        mask=("i1", np.tril(np.ones((1, 1, 5, 5), bool), -1)))
        yield attention("nan_query" + suffix, dynamic=dynamic, given={"q": last_is(NAN)}, attributes="causal = true")
        yield attention("nan_query_sees_nothing" + suffix, mask=("i1", nothing), dynamic=dynamic, given={"q": last_is(NAN)})
        yield attention("nan_key" + suffix, dynamic=dynamic, queries=5, given={"k": last_is(NAN)}, attributes="causal = true")
    for scale in (50.0, 1e4):
        yield attention("great_scores_%d" % scale, attributes="scale = %.1f : f64" % scale)


# Quantization.

# Type, whether symmetric, axis, group, bits, shape.
LAYOUTS = [
    ("tensor", True, -1, -1, 8, (3, 8)), ("tensor_zeros", False, -1, -1, 8, (3, 8)), ("row", True, 0, -1, 8, (3, 8)),
    ("row_zeros", False, 0, -1, 4, (3, 8)), ("column", True, 1, -1, 4, (3, 8)), ("column_zeros", False, 1, -1, 8, (3, 8)),
    ("group", True, -1, 4, 4, (3, 8)), ("group_zeros", False, -1, 4, 4, (3, 8)), ("row_group", False, 0, 2, 8, (3, 8)),
    ("column_group", True, 1, 4, 8, (8, 3)), ("column_group_zeros", False, 1, 2, 4, (8, 3)),
    ("wide", True, 0, -1, 16, (3, 8)), ("wide_zeros", False, -1, 4, 16, (3, 8)), ("whole_group", True, -1, 8, 8, (3, 8)),
]


def scale_shape(axis, group, shape):
    dim = 0 if len(shape) > 1 and axis == len(shape) - 1 else len(shape) - 1
    if 0 < group < shape[dim]:
        return tuple(size // group if d == dim else size for d, size in enumerate(shape))
    return (shape[axis],) if axis >= 0 else (1,)


def quantized_type(layout, shape=None):
    _, symmetric, axis, group, bits, known = layout
    return "!llm.quantized_tensor<i%d, [%s], %s, %s, %d, %d, %d>" % (
        bits, ", ".join(map(str, shape or known)), str(symmetric).lower(), str(axis >= 0).lower(), axis, group, bits)


def scales_of(layout, kind="f32", shape=None):
    """Arguments: scales, one of them 0, and zero points."""
    name, symmetric, axis, group, bits, known = layout
    sizes = scale_shape(axis, group, shape or known)
    scales = (np.abs(numbers(name, "f32", *sizes)) + 0.3) / (1 << (bits - 2))
    if scales.size > 2:
        scales.ravel()[1] = 0
    result = [Argument("s", tensor(kind, *sizes), rounded(kind, scales))]
    if not symmetric:
        zeros = (numbers(name + "z", "f32", *sizes) * (1 << (bits - 2))).astype(np.int64)
        result.append(Argument("z", tensor("i16" if bits == 16 else "i8", *sizes), zeros))
    return result


def with_scales(op, first, scales):
    operands = ", ".join("%" + each for each in [first] + [each.name for each in scales])
    return "llm.%s %s" % (op, operands), ", ".join(each.type for each in scales)


def quantization():
    for layout in LAYOUTS:
        name, symmetric, axis, group, bits, shape = layout
        x = Argument("x", tensor("f32", *shape), numbers(name + "x", "f32", *shape, scale=1.5))
        scales = scales_of(layout)
        of_type, stored_as = quantized_type(layout), tensor("i%d" % bits, *shape)
        quantize, types = with_scales("quantize", "x", scales)
        dequantize, _ = with_scales("dequantize", "q", scales)
        yield Case("quantize_" + name, [x] + scales, [of_type, x.type, tensor("bf16", *shape)], """
  %%q = %s : (%s, %s) -> %s
  %%y = %s : (%s, %s) -> %s
  %%b = %s : (%s, %s) -> %s
  return %%q, %%y, %%b : %s, %s, %s""" % (
            quantize, x.type, types, of_type, dequantize, of_type, types, x.type, dequantize, of_type, types,
            tensor("bf16", *shape), of_type, x.type, tensor("bf16", *shape)),
                   converted_results=[stored_as, x.type, tensor("bf16", *shape)])
        sizes = scale_shape(axis, group, shape)
        made = [tensor("f32", *sizes)] + ([] if symmetric else [tensor("i16" if bits == 16 else "i8", *sizes)])
        for kind in ("f32", "f16"):
            weights = numbers(name + "w", kind, *shape)
            weights.reshape(-1)[:4] = 0  # A group of zeros.
            w = Argument("w", tensor(kind, *shape), weights)
            yield Case("quant_params_%s_%s" % (name, kind), [w], made, """
  %%s%s = llm.quant_params %%w {axis = %d, bits = %d, group_size = %d, symmetric = %s} : (%s) -> (%s)
  return %%s%s : %s""" % ("" if symmetric else ", %z", axis, bits, group, str(symmetric).lower(), w.type,
                          ", ".join(made), "" if symmetric else ", %z", ", ".join(made)), tolerance=0)
    yield boundary()
    yield special_numbers()
    yield special_scales()


def boundary():
    """A quantized tensor through a call, a branch and a loop."""
    layout = LAYOUTS[0]
    of_type = quantized_type(layout)
    x, scales = floats("x", "f32", (3, 8)), scales_of(layout)
    c = Argument("c", "tensor<i1>", np.array(True))
    return Case("quantized_boundary", [x, c] + scales, [x.type, of_type], """
  %%q = func.call @quantize_it(%%x, %%s) : (tensor<3x8xf32>, tensor<1xf32>) -> %s
  %%two = arith.constant dense<2.0> : tensor<3x8xf32>
  %%p = llm.quantize %%two, %%s : (tensor<3x8xf32>, tensor<1xf32>) -> %s
  %%b = tensor.extract %%c[] : tensor<i1>
  %%r = scf.if %%b -> %s {
    scf.yield %%q : %s
  } else {
    scf.yield %%p : %s
  }
  %%y = llm.dequantize %%r, %%s : (%s, tensor<1xf32>) -> tensor<3x8xf32>
  return %%y, %%r : tensor<3x8xf32>, %s""" % ((of_type,) * 7), prelude="""
func.func private @quantize_it(%%x: tensor<3x8xf32>, %%s: tensor<1xf32>) -> %s {
  %%q = llm.quantize %%x, %%s : (tensor<3x8xf32>, tensor<1xf32>) -> %s
  return %%q : %s
}""" % ((of_type,) * 3), converted_results=[x.type, tensor("i8", 3, 8)])


def special_numbers():
    """Values beyond the integers, and ties."""
    x = Argument("x", "tensor<8xf32>", np.array([NAN, INF, -INF, 0.5, 1.5, -0.5, -2.5, 1e9]))
    of_type = "!llm.quantized_tensor<i8, [8], true, false, -1, -1, 8>"
    return Case("quantize_special", [x], [of_type], """
  %%s = arith.constant dense<1.0> : tensor<f32>
  %%q = llm.quantize %%x, %%s : (tensor<8xf32>, tensor<f32>) -> %s
  return %%q : %s""" % (of_type, of_type), converted_results=["tensor<8xi8>"])


def special_scales():
    """Scales of 0 and NaN with zero points: NaN becomes the smallest integer, elements with scale 0 the zero point."""
    row = [NAN, INF, -INF, 1.0, -2.5, 0.5]
    x = Argument("x", "tensor<3x6xf32>", np.array([row] * 3))
    s, z = Argument("s", "tensor<3xf32>", np.array([1.0, 0.0, NAN])), integers("z", [3, 5, 7], kind="i8")
    of_type = "!llm.quantized_tensor<i8, [3, 6], false, true, 0, -1, 8>"
    return Case("quantize_special_scales", [x, s, z], [of_type], """
  %%q = llm.quantize %%x, %%s, %%z : (tensor<3x6xf32>, tensor<3xf32>, tensor<3xi8>) -> %s
  return %%q : %s""" % (of_type, of_type), converted_results=["tensor<3x6xi8>"])


def quantized_products():
    """Each layout, both orientations, plain and quantized activations, biases."""
    for layout, transposed in itertools.product(LAYOUTS, (False, True)):
        name, symmetric, axis, group, bits, shape = layout
        inputs, outputs = (shape[1], shape[0]) if transposed else shape
        weights = Argument("w", tensor("f32", *shape), numbers(name + "w", "f32", *shape))
        scales, of_type = scales_of(layout), quantized_type(layout)
        quantize, types = with_scales("quantize", "w", scales)
        operands = ", ".join("%" + each.name for each in scales)
        for activations, bias, dynamic, kind in (("", False, False, "f32"), ("activation_bits = 8", True, True, "f32"),
                                                 ("activation_bits = 8, activation_group = 3", False, False, "bf16"),
                                                 ("activation_bits = 8, activation_group = 2", True, False, "f16")):
            x = floats("x", kind, (2, inputs), (0, 1) if dynamic else ())
            b = floats("b", "f32", (outputs,))
            result = tensor(kind, "?" if dynamic else 2, outputs)
            attributes = ", ".join(each for each in ("transpose_rhs" if transposed else "", activations) if each)
            label = "%s_%s%s%s" % (name, "nk" if transposed else "kn", "_q8" if activations else "", activations[-1:])
            yield Case("quantized_matmul_" + label, [x, weights] + scales + ([b] if bias else []), [result], """
  %%q = %s : (%s, %s) -> %s
  %%y = llm.quantized_matmul %%x, %%q, %s%s%s : (%s, %s, %s%s) -> %s
  return %%y : %s""" % (quantize, weights.type, types, of_type, operands, " bias(%b)" if bias else "",
                        " {%s}" % attributes if attributes else "", x.type, of_type, types,
                        ", " + b.type if bias else "", result, result))


def tensors():
    for group in (rows, positions, gathers, means, products, stored, ranks):
        for case in group():
            yield case


def attentions():
    for group in (attention_features, attention_masks, attention_shapes, attention_special):
        for case in group():
            yield case


def integer_tensors():
    for group in (quantization, quantized_products):
        for case in group():
            yield case
