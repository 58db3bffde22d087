#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints functions with attention for `llmir-translate --compare`.

Covers every feature with every head size, and every group size with every block
size and element type of caches; each function has sequences of all boundary
lengths.
"""

import sys

# No key; one; the boundaries of a tile of 16 keys and of blocks; several of these.
LENGTHS = [1, 0, 15, 100, 16, 17, 33]
NEW = [1, 0, 2, 3, 16, 1, 5]  # Queries, the last tokens of each sequence.
TOKENS, QUERIES = sum(LENGTHS), sum(NEW)

HEAD_SIZES = [64, 80, 96, 128, 256]
GROUPS = [1, 4, 7, 8]  # Query heads per KV head.
BLOCK_SIZES = [8, 16, 32]
CACHE_TYPES = ["f32", "bf16", "f16"]


def slopes(heads):
    return ", ".join(f"{2.0 ** (-8.0 * (h + 1) / heads):.9f}" for h in range(heads))


# Name, attributes, whether it has a mask and sinks.
FEATURES = [
    ("plain", lambda h: "", False, False),
    ("all_keys", lambda h: "causal = false", False, False),
    ("scale", lambda h: "scale = 0.03125 : f64", False, False),
    ("window", lambda h: "window = 7", False, False),
    ("chunked", lambda h: "window = 7, chunked", False, False),
    ("window_all_keys", lambda h: "causal = false, window = 20", False, False),
    ("soft_cap", lambda h: "soft_cap = 3.0 : f64", False, False),
    ("alibi", lambda h: f"alibi_slopes = array<f64: {slopes(h)}>", False, False),
    ("sinks", lambda h: "", False, True),
    ("mask", lambda h: "causal = false", True, False),
    (
        "everything",
        lambda h: f"window = 40, soft_cap = 5.0 : f64, alibi_slopes = array<f64: {slopes(h)}>",
        True,
        True,
    ),
]


def vector(numbers):
    return f"dense<[{', '.join(map(str, numbers))}]> : tensor<{len(numbers)}xi32>"


def placement(block_size):
    """Slots of all tokens, and the block table, allocated from the last block downward."""
    columns = max(1, -(-max(LENGTHS) // block_size))
    free = sum(-(-length // block_size) for length in LENGTHS)
    slots, table = [], []
    for length in LENGTHS:
        row = []
        for _ in range(-(-length // block_size)):
            free -= 1
            row.append(free)
        slots += [row[t // block_size] * block_size + t % block_size for t in range(length)]
        table.append(row + [0] * (columns - len(row)))
    return slots, table, columns


def function(name, feature, group, head, value, block_size, cache_type, activations):
    """One step: all keys are appended, then the new tokens attend."""
    _, attributes, has_mask, has_sinks = feature
    kv_heads = 2 if group < 7 else 1
    heads = group * kv_heads
    slots, table, columns = placement(block_size)
    offsets = [sum(NEW[:s]) for s in range(len(NEW) + 1)]
    apart = f", valueDim = {value}" if value != head else ""
    cache = f"!llm.paged_kv_cache<{cache_type}, 1, {kv_heads}, {head}, {block_size}, 128{apart}>"
    # Keys are appended in the element type of the cache, or in f32.
    new = activations if activations in ("f32", cache_type) else "f32"
    arguments = [
        ("q", f"tensor<{QUERIES}x{heads}x{head}x{activations}>"),
        ("k", f"tensor<{TOKENS}x{kv_heads}x{head}x{new}>"),
        ("v", f"tensor<{TOKENS}x{kv_heads}x{value}x{new}>"),
    ]
    clauses, types = "", ""
    if has_mask:
        arguments.append(("m", f"tensor<{QUERIES}x{max(LENGTHS)}xf32>"))
        clauses, types = " mask(%m)", f", {arguments[-1][1]}"
    if has_sinks:
        arguments.append(("s", f"tensor<{heads}xf32>"))
        clauses, types = clauses + " sinks(%s)", types + f", {arguments[-1][1]}"
    kinds = dict(arguments)
    text = attributes(heads)
    result = f"tensor<{QUERIES}x{heads}x{value}x{activations}>"
    sequences = len(LENGTHS)
    rows = ", ".join(str(row) for row in table)
    return f"""
func.func @{name}({", ".join(f"%{n}: {t}" for n, t in arguments)}) -> {result} {{
  %slots = arith.constant {vector(slots)}
  %tables = arith.constant dense<[{rows}]> : tensor<{sequences}x{columns}xi32>
  %lens = arith.constant {vector(LENGTHS)}
  %offs = arith.constant {vector(offsets)}
  %c = llm.create_paged_cache : {cache}
  %c2 = llm.append_kv %c, %k, %v slots(%slots)
      : ({cache}, {kinds["k"]}, {kinds["v"]}, tensor<{TOKENS}xi32>) -> {cache}
  %o = llm.paged_attention %q, %c2, %tables, %lens offsets(%offs){clauses}{" {" + text + "}" if text else ""}
      : ({kinds["q"]}, {cache}, tensor<{sequences}x{columns}xi32>, tensor<{sequences}xi32>, tensor<{sequences + 1}xi32>{types}) -> {result}
  return %o : {result}
}}"""


def features():
    """Every feature with every head size; other parameters alternate."""
    count = 0
    for feature in FEATURES:
        for head in HEAD_SIZES:
            group = GROUPS[count % 4]
            block_size = BLOCK_SIZES[count % 3]
            cache_type = CACHE_TYPES[(count // 2) % 3]
            value = head if count % 5 else head // 2 + 3
            name = f"{feature[0]}_{head}_{value}_{group}_{block_size}_{cache_type}"
            yield function(name, feature, group, head, value, block_size, cache_type, "f32")
            count += 1


def geometries():
    """Every group size with every block size and element type; other parameters alternate."""
    count = 0
    for group in GROUPS:
        for block_size in BLOCK_SIZES:
            for cache_type in CACHE_TYPES:
                feature = FEATURES[count % len(FEATURES)]
                head = [16, 24, 7, 1][count % 4]
                name = f"{feature[0]}_{head}_{group}_{block_size}_{cache_type}"
                yield function(name, feature, group, head, head, block_size, cache_type, "f32")
                count += 1


def activations():
    """Every feature with queries and results of bf16 and of f16."""
    count = 0
    for feature in FEATURES:
        for kind in ["bf16", "f16"]:
            cache_type = [kind, "f32"][(count // 2) % 2]
            name = f"{feature[0]}_{kind}_{cache_type}"
            yield function(name, feature, 4, 64, 64, 16, cache_type, kind)
            count += 1


if __name__ == "__main__":
    makers = {"features": features, "geometries": geometries, "activations": activations}
    print("\n".join(makers[sys.argv[1]]()))
