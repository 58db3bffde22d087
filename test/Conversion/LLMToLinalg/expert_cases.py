# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions for run_upstream.py: routers, experts, products per head, and the choice of tokens."""

import itertools

import numpy as np

from linalg_cases import INF, NAN, floats, integers, numbers, stored_blocks, tensor
from upstream import Argument, Case, rounded


def experts():
    logits = numbers("logits", "f32", 5, 8, scale=4)
    logits[1, 2] = logits[1, 5] = logits[1].max() + 1  # Equal ones.
    logits[2] = 0.5
    logits[3, [0, 4]] = NAN, -INF
    for score, normalize, top, kind in itertools.product(("softmax", "sigmoid"), (False, True), (1, 3, 8),
                                                         ("f32", "bf16")):
        name = "moe_route_%s%s_%d_%s" % (score, "_normalized" if normalize else "", top, kind)
        values = rounded(kind, logits)
        for dynamic in (False, True):
            x = Argument("x", tensor(kind, "?" if dynamic else 5, "?" if dynamic else 8), values)
            results = [tensor("i32", "?" if dynamic else 5, top), tensor(kind, "?" if dynamic else 5, top)]
            yield Case(name + ("_dynamic" if dynamic else ""), [x], results, """
  %%e, %%w = llm.moe_route %%x {normalize = %s, score = "%s", top_k = %d} : (%s) -> (%s)
  return %%e, %%w : %s""" % (str(normalize).lower(), score, top, x.type, ", ".join(results), ", ".join(results)))
    for kind, weight, dynamic in itertools.product(("f32", "f16", "bf16"), ("f32", "bf16"), (False, True)):
        yield ffn("%s_%s%s" % (kind, weight, "_dynamic" if dynamic else ""), kind, dynamic,
                  floats("g", weight, (4, 6, 8)), floats("u", weight, (4, 6, 8)), floats("d", weight, (4, 8, 6)))
    for suffix, attributes in (("", ""), ("_clamped", " {swiglu_limit = 0.5}"), ("_gelu", " {gelu}")):
        yield ffn("biases" + suffix, "f32", True, floats("g", "f32", (4, 6, 8)),
                  floats("u", "f32", (4, 6, 8)), floats("d", "f32", (4, 8, 6)),
                  biases=[floats("b", "f32", (4, 6, 1)), floats("c", "bf16", (4, 6, 1)), floats("h", "f32", (4, 8, 1))],
                  attributes=attributes)
    yield ffn("stored", "f32", True, stored_blocks("g", "q4_1", 4, 32, 32), stored_blocks("u", "q8_0", 4, 32, 32),
              stored_blocks("d", "q4_0", 4, 32, 32), columns=32)
    for kind, weight, dynamic in itertools.product(("f32", "bf16"), ("f32", "bf16"), (False, True)):
        yield heads("%s_%s%s" % (kind, weight, "_dynamic" if dynamic else ""), kind, dynamic,
                    floats("w", weight, (4, 6, 8)))
    yield heads("stored", "f32", True, stored_blocks("w", "q8_0", 4, 6, 32), columns=32)
    x = Argument("x", "tensor<?x8xf32>", logits)
    yield Case("sample", [x], ["tensor<?xi32>"], """
  %i = llm.sample %x {seed = 3, top_k = 2} : (tensor<?x8xf32>) -> tensor<?xi32>
  return %i : tensor<?xi32>""")
    nothing = Argument("x", "tensor<2x3xf16>", np.array([[NAN] * 3, [-INF, NAN, -INF]]))
    yield Case("sample_nothing", [nothing], ["tensor<2xi32>"], """
  %i = llm.sample %x : (tensor<2x3xf16>) -> tensor<2xi32>
  return %i : tensor<2xi32>""")


def heads(name, kind, dynamic, weight, columns=8):
    x = floats("x", kind, (3, 4, columns), (0,) if dynamic else ())
    body = """
  %%y = llm.head_linear %%x, %%w : (%s) -> tensor<%sx4x6x%s>
  %%z = tensor.extract_slice %%y[0, 0, 0] [3, 4, 6] [1, 1, 1] : tensor<%sx4x6x%s> to tensor<3x4x6x%s>
  return %%z : tensor<3x4x6x%s>"""

    def text(types):
        rows = "?" if types[0].startswith("tensor<?") else "3"
        return body % (", ".join(types), rows, kind, rows, kind, kind, kind)

    return Case("head_linear_" + name, [x, weight], ["tensor<3x4x6x%s>" % kind], text([x.type, weight.type]),
                reference_body=text([x.reference[0], weight.reference[0]]), tolerance=3e-2 if kind == "bf16" else None)


def ffn(name, kind, dynamic, gate, up, down, columns=8, biases=(), attributes=""):
    rows = "?" if dynamic else 3
    x = floats("x", kind, (3, columns), (0,) if dynamic else ())
    # One expert twice; descending and ascending ids.
    chosen = integers("e", [[2, 0, 3], [1, 1, 0], [0, 1, 2]], sizes=[rows, 3])
    weights = floats("w", kind, (3, 3), (0,) if dynamic else ())
    arguments = [x, chosen, weights, gate, up, down] + list(biases)
    body = """
  %%y = llm.moe_ffn """ + ", ".join("%%" + each for each in "xewgud" + "bch"[:len(biases)]) + attributes + """ : (%s) -> %s
  %%z = tensor.extract_slice %%y[0, 0] [3, 8] [1, 1] : %s to tensor<3x8x%s>
  return %%z : tensor<3x8x%s>"""
    text = lambda types: body % (", ".join(types), x.type, x.type, kind, kind)
    return Case("moe_ffn_" + name, arguments, ["tensor<3x8x%s>" % kind], text([each.type for each in arguments]),
                reference_body=text([each.reference[0] for each in arguments]), tolerance=3e-2 if kind == "bf16" else None)
