# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions with a paged cache for run_upstream.py: every cache op in both forms, through the C runtime."""

import itertools

import numpy as np

from linalg_cases import INF, SLOPES, floats, integers, numbers, tensor
from upstream import Argument, Case

# Lengths of the sequences of a step: no tokens, one token, less than a block, whole blocks and more.
LENGTHS, NEW = [1, 0, 5, 9], [1, 0, 2, 3]
TOKENS, QUERIES = sum(LENGTHS), sum(NEW)
BLOCK, COLUMNS = 4, 3
# Block tables, allocated from the last block downward.
TABLES = [[5, -1, -1], [-1, -1, -1], [4, 3, -1], [2, 1, 0]]
SLOTS = [TABLES[s][t // BLOCK] * BLOCK + t % BLOCK for s, length in enumerate(LENGTHS) for t in range(length)]
OFFSETS = [sum(NEW[:s]) for s in range(len(NEW) + 1)]


def cache_type(kind, layers=1, heads=2, dim=4, value=None, longest=12):
    return "!llm.paged_kv_cache<%s, %d, %d, %d, %d, %d%s>" % (
        kind, layers, heads, dim, BLOCK, longest, ", valueDim = %d" % value if value and value != dim else "")


def ragged(name, kind="f32", given="f32", query="f32", dynamic=False, mask=None, sinks=None, attributes="", value=None,
           layer=False):
    """Keys of all tokens are appended to their slots; the last tokens of each sequence attend."""
    value = value or 4
    cache = cache_type(kind, 2 if layer else 1, value=value)
    all_of = lambda rank: range(rank) if dynamic else ()
    q = floats("q", query, (QUERIES, 4, 4), (0,) if dynamic else (), label=name, scale=2.0)
    k = floats("k", given, (TOKENS, 2, 4), all_of(3), label=name, scale=2.0)
    v = floats("v", given, (TOKENS, 2, value), all_of(3), label=name, scale=2.0)
    size = lambda known: "?" if dynamic else known
    slots = integers("slots", SLOTS, [size(TOKENS)])
    tables = integers("tables", TABLES, [size(4), size(COLUMNS)])
    lens, offsets = integers("lens", LENGTHS, [size(4)]), integers("offsets", OFFSETS, [size(5)])
    arguments, clauses, types = [q, k, v, slots, tables, lens, offsets], "", ""
    if layer:
        arguments.append(Argument("l", "tensor<i32>", np.array(1)))
        clauses = " layer(%layer)"
    if mask:
        mask_kind, values = mask
        arguments.append(Argument("m", tensor(mask_kind, size(QUERIES), size(values.shape[1])), values))
        clauses, types = clauses + " mask(%m)", types + ", " + arguments[-1].type
    if sinks:
        arguments.append(Argument("s", "tensor<4xf32>", np.array(sinks, np.float32)))
        clauses, types = clauses + " sinks(%s)", types + ", tensor<4xf32>"
    result = tensor(query, size(QUERIES), 4, value)
    layers = """
  %%i = tensor.extract %%l[] : tensor<i32>
  %%layer = arith.index_cast %%i : i32 to index""".replace("%%", "%") if layer else ""
    return Case("ragged_" + name, arguments, [result], """%s
  %%c = llm.create_paged_cache : %s
  %%c2 = llm.append_kv %%c, %%k, %%v slots(%%slots)%s : (%s, %s, %s, %s) -> %s
  %%o = llm.paged_attention %%q, %%c2, %%tables, %%lens offsets(%%offsets)%s%s : (%s, %s, %s, %s, %s%s) -> %s
  return %%o : %s""" % (layers, cache, " layer(%layer)" if layer else "", cache, k.type, v.type, slots.type,
                        cache, clauses, " {%s}" % attributes if attributes else "", q.type,
                        cache, tables.type, lens.type, offsets.type, types, result, result))


def masks(name):
    hidden = numbers(name, "f32", QUERIES, 12)
    return {"i1": ("i1", hidden > -0.4), "f32": ("f32", np.where(hidden < -0.5, -INF, hidden).astype(np.float32)),
            "one_column": ("f32", numbers(name, "f32", QUERIES, 1))}


FEATURES = {
    "plain": {}, "all_keys": {"attributes": "causal = false"}, "window": {"attributes": "window = 3"},
    "chunks": {"attributes": "window = 3, chunked"},
    "soft_cap": {"attributes": "soft_cap = 1.5 : f64, scale = 0.7 : f64"}, "alibi": {"attributes": SLOPES},
    "sinks": {"sinks": [0.5, -1.0, 3.0, 0.0]}, "layer": {"layer": True}, "values": {"value": 6},
    "mask_i1": {"mask": masks("a")["i1"], "attributes": "causal = false"}, "mask": {"mask": masks("b")["f32"]},
    "mask_one": {"mask": masks("c")["one_column"]},
    "everything": {"mask": masks("d")["f32"], "sinks": [0.5, -1.0, 3.0, 0.0], "layer": True, "value": 3,
                   "attributes": "window = 7, soft_cap = 2.0 : f64, " + SLOPES},
}


def ragged_attention():
    for (name, how), dynamic in itertools.product(FEATURES.items(), (False, True)):
        yield ragged(name + ("_dynamic" if dynamic else ""), dynamic=dynamic, **how)
    for kind, given, query in (("f16", "f16", "f16"), ("f16", "f32", "f32"), ("bf16", "bf16", "bf16"),
                               ("bf16", "f32", "f32"), ("i8", "f32", "f32"), ("i8", "f32", "bf16")):
        yield ragged("%s_%s_%s" % (kind, given, query), kind, given, query)


def batched(name, kind="f32", dynamic=False, attributes="", mask=None, tokens=3, rank=4):
    """A prompt, one further token, attention after each, and lookups with rows of every width."""
    cache, numbers_of = cache_type(kind, longest=16), "f32" if kind == "i8" else kind
    size = lambda known: "?" if dynamic else known
    ids = integers("ids", [7, 3], [size(2)])
    k = floats("k", numbers_of, (2, 5, 2, 4), (0, 1) if dynamic else (), label=name)
    v = floats("v", numbers_of, (2, 5, 2, 4), (0, 1) if dynamic else (), label=name)
    one = [floats(each, numbers_of, (2, 2, 4), (0,) if dynamic else (), label=name) for each in ("k1", "v1")]
    shape = (2, tokens, 4, 4) if rank == 4 else (2, 4, 4)
    q = floats("q", "f32", shape, range(rank - 2) if dynamic else (), label=name, scale=2.0)
    lens, more = integers("lens", [5, 5], [size(2)]), integers("more", [6, 6], [size(2)])
    arguments, clause, types = [ids, k, v, *one, q, lens, more], "", ""
    if mask:
        mask_kind, values = mask
        arguments.append(Argument("m", tensor(mask_kind, *["?"] * 4 if dynamic else values.shape), values))
        clause, types = " mask(%m)", ", " + arguments[-1].type
    rows, last = tensor("i32", size(2), size(5)), tensor("i32", size(2))
    found = tensor(numbers_of, size(2), size(6), 2, 4)
    result = q.type
    return Case("batched_" + name, arguments, [result, result, found, found, last], """
  %%c0 = llm.create_paged_cache : %(cache)s
  %%c1, %%b1 = llm.append_kv %%c0, %%k, %%v, %%ids : (%(cache)s, %(k)s, %(k)s, %(ids)s) -> (%(cache)s, %(rows)s)
  %%o = llm.paged_attention %%q, %%c1, %%b1, %%lens%(clause)s%(attributes)s : (%(q)s, %(cache)s, %(rows)s, %(ids)s%(types)s) -> %(q)s
  %%c2, %%b2 = llm.append_kv %%c1, %%k1, %%v1, %%ids : (%(cache)s, %(one)s, %(one)s, %(ids)s) -> (%(cache)s, %(ids)s)
  %%p = llm.paged_attention %%q, %%c2, %%b2, %%more%(clause)s%(attributes)s : (%(q)s, %(cache)s, %(ids)s, %(ids)s%(types)s) -> %(q)s
  %%x, %%y = llm.lookup_kv %%c2, %%b2, %%more : (%(cache)s, %(ids)s, %(ids)s) -> (%(found)s, %(found)s)
  return %%o, %%p, %%x, %%y, %%b2 : %(q)s, %(q)s, %(found)s, %(found)s, %(ids)s""" % {
        "cache": cache, "k": k.type, "ids": ids.type, "rows": rows, "one": one[0].type, "q": q.type, "found": found,
        "clause": clause, "types": types, "attributes": " {%s}" % attributes if attributes else ""})


def batched_attention():
    for kind, dynamic in itertools.product(("f32", "f16", "bf16", "i8"), (False, True)):
        yield batched("%s%s" % (kind, "_dynamic" if dynamic else ""), kind, dynamic)
    for dynamic in (False, True):
        suffix = "_dynamic" if dynamic else ""
        yield batched("one_token" + suffix, dynamic=dynamic, rank=3, tokens=1)
        yield batched("window" + suffix, dynamic=dynamic, attributes="window = 2, causal = false")
        for shape in ((2, 4, 3, 8), (1, 4, 1, 8), (2, 1, 3, 1), (1, 1, 3, 8)):
            name = "mask_" + "_".join(map(str, shape))
            values = numbers(name, "f32", *shape)
            yield batched(name + suffix, dynamic=dynamic, mask=("f32", values))
            yield batched(name + "_i1" + suffix, dynamic=dynamic, mask=("i1", values > -0.5))


def sequences():
    """Reservations, forks that diverge, sequences that are freed, caches in calls and loops."""
    cache = cache_type("f32", longest=16)
    k = floats("k", "f32", (2, 5, 2, 4))
    one = floats("one", "f32", (1, 2, 4))
    values = {"cache": cache, "k": k.type, "one": one.type, "row": "tensor<1x6x2x4xf32>"}
    yield Case("forks", [k, one], ["tensor<2x8xi32>", "tensor<4xi32>", "tensor<2x4xi32>", "tensor<2xi32>", "tensor<1x4xi32>"]
               + ["tensor<1x6x2x4xf32>"] * 2, """
  %%c0 = llm.create_paged_cache : %(cache)s
  %%ids = arith.constant dense<[3, 9]> : tensor<2xi32>
  %%three = arith.constant dense<3> : tensor<1xi32>
  %%five = arith.constant dense<5> : tensor<1xi32>
  %%nine = arith.constant dense<9> : tensor<1xi32>
  %%six = arith.constant dense<6> : tensor<1xi32>
  %%c1, %%b1 = llm.append_kv %%c0, %%k, %%k, %%ids : (%(cache)s, %(k)s, %(k)s, tensor<2xi32>) -> (%(cache)s, tensor<2x8xi32>)
  %%c2 = llm.fork_kv %%c1, %%three, %%five : (%(cache)s, tensor<1xi32>, tensor<1xi32>) -> %(cache)s
  %%c3, %%b3 = llm.append_kv %%c2, %%one, %%one, %%five : (%(cache)s, %(one)s, %(one)s, tensor<1xi32>) -> (%(cache)s, tensor<1xi32>)
  %%x, %%y = llm.lookup_kv %%c3, %%b3, %%six : (%(cache)s, tensor<1xi32>, tensor<1xi32>) -> (%(row)s, %(row)s)
  %%whole = llm.block_tables %%c3, %%b3, %%six : (%(cache)s, tensor<1xi32>, tensor<1xi32>) -> tensor<1x4xi32>
  %%c4 = llm.free_kv %%c3, %%nine : (%(cache)s, tensor<1xi32>) -> %(cache)s
  %%c5, %%slots, %%blocks, %%tables, %%lens = llm.reserve_kv %%c4, %%ids {tokens = 2}
      : (%(cache)s, tensor<2xi32>) -> (%(cache)s, tensor<4xi32>, tensor<2x2xi32>, tensor<2x4xi32>, tensor<2xi32>)
  return %%b1, %%slots, %%tables, %%lens, %%whole, %%x, %%y
      : tensor<2x8xi32>, tensor<4xi32>, tensor<2x4xi32>, tensor<2xi32>, tensor<1x4xi32>, %(row)s, %(row)s""" % values)
    keys = floats("k", "f32", (4, 1, 2, 4))
    yield Case("loop", [keys], ["tensor<1x4x2x4xf32>"], """
  %%c0 = func.call @make_loop_cache() : () -> %(cache)s
  %%zero = arith.constant 0 : index
  %%unit = arith.constant 1 : index
  %%count = arith.constant 4 : index
  %%id = arith.constant dense<2> : tensor<1xi32>
  %%none = arith.constant dense<0> : tensor<1xi32>
  %%c, %%last = scf.for %%i = %%zero to %%count step %%unit iter_args(%%cache = %%c0, %%rows = %%none) -> (%(cache)s, tensor<1xi32>) {
    %%t = tensor.extract_slice %%k[%%i, 0, 0, 0] [1, 1, 2, 4] [1, 1, 1, 1] : %(keys)s to tensor<1x2x4xf32>
    %%n, %%b = func.call @append_in_loop(%%cache, %%t, %%id) : (%(cache)s, tensor<1x2x4xf32>, tensor<1xi32>) -> (%(cache)s, tensor<1xi32>)
    scf.yield %%n, %%b : %(cache)s, tensor<1xi32>
  }
  %%lens = arith.constant dense<4> : tensor<1xi32>
  %%x, %%y = llm.lookup_kv %%c, %%last, %%lens : (%(cache)s, tensor<1xi32>, tensor<1xi32>) -> (tensor<1x4x2x4xf32>, tensor<1x4x2x4xf32>)
  return %%x : tensor<1x4x2x4xf32>""" % dict(values, keys=keys.type), prelude="""
func.func private @make_loop_cache() -> %(cache)s {
  %%c = llm.create_paged_cache : %(cache)s
  return %%c : %(cache)s
}
func.func private @append_in_loop(%%c: %(cache)s, %%k: tensor<1x2x4xf32>, %%id: tensor<1xi32>) -> (%(cache)s, tensor<1xi32>) {
  %%n, %%b = llm.append_kv %%c, %%k, %%k, %%id : (%(cache)s, tensor<1x2x4xf32>, tensor<1x2x4xf32>, tensor<1xi32>) -> (%(cache)s, tensor<1xi32>)
  return %%n, %%b : %(cache)s, tensor<1xi32>
}""" % values)


def fused():
    """Ops that combine several others."""
    cache = cache_type("f32", longest=16)
    q, k = floats("q", "f32", (2, 3, 4, 4)), floats("k", "f32", (2, 3, 2, 4))
    yield Case("fused_attention", [q, k], [q.type, "tensor<2x1xi32>"], """
  %%c = llm.create_paged_cache : %(cache)s
  %%ids = arith.constant dense<[4, 1]> : tensor<2xi32>
  %%lens = arith.constant dense<3> : tensor<2xi32>
  %%rows = arith.constant dense<[[0], [1]]> : tensor<2x1xi32>
  %%o, %%c2, %%b = llm.fused_attention %%q, %%k, %%k, %%c, %%ids, %%rows, %%lens
      : (%(q)s, %(k)s, %(k)s, %(cache)s, tensor<2xi32>, tensor<2x1xi32>, tensor<2xi32>) -> (%(q)s, %(cache)s, tensor<2x1xi32>)
  return %%o, %%b : %(q)s, tensor<2x1xi32>""" % {"cache": cache, "q": q.type, "k": k.type})
    keys = floats("k", "f32", (3, 2, 4))
    yield Case("rope_append", [keys], ["tensor<1x3x2x4xf32>", "tensor<1x3x2x4xf32>"], """
  %%c = llm.create_paged_cache : %(cache)s
  %%id = arith.constant dense<4> : tensor<1xi32>
  %%p = arith.constant dense<[0, 1, 70000]> : tensor<3xi32>
  %%c1, %%slots, %%blocks, %%tables, %%lens = llm.reserve_kv %%c, %%id {tokens = 3}
      : (%(cache)s, tensor<1xi32>) -> (%(cache)s, tensor<3xi32>, tensor<1x3xi32>, tensor<1x4xi32>, tensor<1xi32>)
  %%c2 = llm.rope_append_kv %%c1, %%k, %%k positions(%%p) slots(%%slots) {frequencies = array<f64: 1.0, 0.01>}
      : (%(cache)s, %(k)s, %(k)s, tensor<3xi32>, tensor<3xi32>) -> %(cache)s
  %%x, %%y = llm.lookup_kv %%c2, %%tables, %%lens : (%(cache)s, tensor<1x4xi32>, tensor<1xi32>) -> (tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>)
  return %%x, %%y : tensor<1x3x2x4xf32>, tensor<1x3x2x4xf32>""" % {"cache": cache, "k": keys.type})


def caches():
    for group in (ragged_attention, batched_attention, sequences, fused):
        for case in group():
            yield case
