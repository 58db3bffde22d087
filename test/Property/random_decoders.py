#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random decoders: what a step computes is what the traced graph means.

    random_decoders.py --work DIRECTORY --llmir build/bin/llmir --llmir-translate build/bin/llmir-translate
                       --batch-tests build/bin/llmir-batch-tests

Each decoder is random text of the mllm dialect over ops whose meaning is per token (element-wise ops with broadcasts,
norms, activations, projections, reshapes and transpositions of what a token has, slices and concatenations of columns,
reductions within a row, softmax, top-k, scatter, gathers from parameters, rotations by tables), with attention over
caches here and there, some of it in a window and with sinks. Its parameters are random. The same text is

  interpreted  by the interpreter of mllm, which knows neither form, in several steps
  a step       compiled as an artifact, with a prompt in one piece
  a function   compiled for that number of tokens; its caches are empty, so it has all tokens at once

and each pair of these must have the same logits within the bound of float32. Besides, the logits of the step have the
same bits in any company: the tests of SCHEDULES in BatchInvarianceTest compare those of a text alone, one token at a
time, with those in pieces and in ragged batches with other texts.

One line for each decoder, then `N passed, N failed`; exit status 1 if one failed.
"""

import itertools
import json
import os
import random
import re
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "reference"))

from byte_tokenizer import write_byte_tokenizer  # noqa: E402
from checks import Checks, Command, fresh_folder, quick_level, work_parser  # noqa: E402
from llmref import formats, nmse, safetensors  # noqa: E402

F32_BOUND = 1e-9  # NMSE of logits where nothing is rounded below float32, as compare.py has it
SCHEDULES = ("InPieces", "FiveAtOnceInAnyOrder", "ForksGoOnApart")

TOKENS = 11
VOCABULARY = 40
CONTEXT = 205
HEADS, KV_HEADS, HEAD_DIM = 4, 2, 8
HIDDEN = HEADS * HEAD_DIM
MOST_LAYERS = 8
PAIRS, PLANES = HEAD_DIM // 2, 3


class Decoder:
    """Writes a decoder op by op. Values are rows [tokens, columns]; ops that need heads view and unview them."""

    def __init__(self, seed, tokens="?"):
        self.seed, self.random, self.weights = seed, random.Random(seed), np.random.RandomState(seed)
        self.tokens = tokens
        self.parameters, self.lines, self.values, self.subgraphs = {}, [], [], ""
        self.layers = 0
        self.kinds = set()
        self.has_tables = self.random.random() < 0.6

    def name(self):
        return "%%v%d" % len(self.lines)

    def type(self, *sizes, element="f32"):
        return "tensor<%s>" % "x".join([self.tokens] + [str(size) for size in sizes] + [element])

    def op(self, text):
        name = self.name()
        self.lines.append("%s = %s" % (name, text))
        return name

    def parameter(self, *shape, low=-0.3, high=0.3):
        name = "p%d" % len(self.parameters)
        self.parameters[name] = self.weights.uniform(low, high, shape).astype(np.float32)
        return "@" + name

    def unary(self, op, x, columns, attributes=""):
        return self.op("mllm.linalg.%s %s%s : %s" % (op, x, attributes, self.type(*columns)))

    def binary(self, op, x, y, columns, other=None):
        types = self.type(*columns) if other is None else "(%s, %s) -> %s" % (
            self.type(*columns), other, self.type(*columns))
        return self.op("mllm.linalg.%s %s, %s : %s" % (op, x, y, types))

    def linear(self, x, columns, to):
        return self.op("mllm.linalg.linear %s, %s : %s -> %s" % (
            x, self.parameter(to, columns), self.type(columns), self.type(to)))

    def view(self, x, sizes, to):
        return self.op("mllm.linalg.view %s : %s -> %s" % (x, self.type(*sizes), self.type(*to)))

    def param(self, *shape, **how):
        kind = "tensor<%s>" % "x".join([str(size) for size in shape] + ["f32"])
        return self.op("mllm.linalg.param %s : %s" % (self.parameter(*shape, **how), kind)), kind

    # Each makes a value of HIDDEN columns of one.

    def activation(self, x):
        return self.unary(self.random.choice(["silu", "relu", "sigmoid", "gelu", "neg", "abs", "sin", "cos"]), x,
                          [HIDDEN])

    def arithmetic(self, x):
        return self.binary(self.random.choice(["add", "sub", "mul"]), x, self.random.choice(self.values), [HIDDEN])

    def scalar(self, x):
        op, number = self.random.choice([("add", 0.25), ("mul", -0.75), ("sub", 0.5), ("div", 1.5)])
        return self.unary(op, x, [HIDDEN], " {scalar = %r : f64}" % number)

    def broadcast(self, x):
        w, kind = self.param(HIDDEN)
        return self.binary(self.random.choice(["mul", "add"]), x, w, [HIDDEN], kind)

    def constant(self, x):
        numbers = ", ".join("%r" % (self.random.randrange(-8, 9) / 8) for _ in range(HIDDEN))
        kind = "tensor<%dxf32>" % HIDDEN
        c = self.op("mllm.tensor.constant dense<[%s]> : %s" % (numbers, kind))
        return self.binary("mul", x, c, [HIDDEN], kind)

    def computed_weight(self, x):
        """A value that is the same for all tokens, computed from parameters."""
        w, kind = self.param(HIDDEN, low=-1, high=1)
        e = self.op("mllm.linalg.exp %s : %s" % (w, kind))
        return self.binary("mul", x, e, [HIDDEN], kind)

    def norm(self, x):
        if self.random.random() < 0.5:
            return self.op("mllm.linalg.rms_norm %s, %s {eps = 1.0e-5 : f64%s} : %s" % (
                x, self.parameter(HIDDEN, low=0.5, high=1.5), self.random.choice(["", ", unit_offset"]),
                self.type(HIDDEN)))
        return self.op("mllm.linalg.layer_norm %s weight %s bias %s {normalized_shape = array<i64: %d>, eps = 1.0e-5 : f64} : %s"
                       % (x, self.parameter(HIDDEN), self.parameter(HIDDEN), HIDDEN, self.type(HIDDEN)))

    def projection(self, x):
        inner = self.random.choice([16, 24, 48])
        return self.linear(self.unary("silu", self.linear(x, HIDDEN, inner), [inner]), inner, HIDDEN)

    def head_norm(self, x):
        heads = self.view(x, [HIDDEN], [HEADS, HEAD_DIM])
        sizes = [HEADS, HEAD_DIM]
        how = self.random.randrange(3)
        if how == 0:
            heads = self.unary("softmax", heads, sizes, " {axis = -1 : i64}")
        elif how == 1:
            heads = self.op("mllm.linalg.rms_norm %s, %s {eps = 1.0e-5 : f64} : %s" % (
                heads, self.parameter(HEAD_DIM, low=0.5, high=1.5), self.type(*sizes)))
        else:
            heads = self.unary("softmax", heads, sizes, " {axis = 1 : i64}")
        return self.view(heads, sizes, [HIDDEN])

    def transposed(self, x):
        """Heads before tokens and back, with a maximum of each head between."""
        heads = self.view(x, [HIDDEN], [HEADS, HEAD_DIM])
        plain, swapped = self.type(HEADS, HEAD_DIM), "tensor<%dx%sx%dxf32>" % (HEADS, self.tokens, HEAD_DIM)
        attributes = " {dim0 = 0 : i64, dim1 = 1 : i64}"
        t = self.op("mllm.linalg.transpose %s%s : %s -> %s" % (heads, attributes, plain, swapped))
        one = swapped.replace("x%dxf32" % HEAD_DIM, "x1xf32")
        m = self.op("mllm.linalg.reduce_max %s {dim = -1 : i64, keep_dim} : %s -> %s" % (t, swapped, one))
        d = self.op("mllm.linalg.sub %s, %s : (%s, %s) -> %s" % (t, m, swapped, one, swapped))
        b = self.op("mllm.linalg.transpose %s%s : %s -> %s" % (d, attributes, swapped, plain))
        return self.view(b, [HEADS, HEAD_DIM], [HIDDEN])

    def columns(self, x):
        """Halves that change places, by a slice each and a concatenation."""
        half = HIDDEN // 2
        parts = [self.op("mllm.linalg.slice %s[:, %d:%d] : %s -> %s" % (
            x, first, first + half, self.type(HIDDEN), self.type(half))) for first in (half, 0)]
        return self.op("mllm.linalg.concat %s {dim = -1 : i64} : (%s, %s) -> %s" % (
            ", ".join(parts), self.type(half), self.type(half), self.type(HIDDEN)))

    def reduction(self, x):
        op = self.random.choice(["reduce_sum", "reduce_max", "reduce_min", "mean"])
        r = self.op("mllm.linalg.%s %s {dim = -1 : i64, keep_dim} : %s -> %s" % (
            op, x, self.type(HIDDEN), self.type(1)))
        s = self.unary("mul", r, [1], " {scalar = 0.125 : f64}")
        return self.binary("add", x, s, [HIDDEN], self.type(1))

    def experts(self, x):
        """Two of four experts, by the shares that a router gives them."""
        shares = self.unary("softmax", self.linear(x, HIDDEN, 4), [4], " {axis = -1 : i64}")
        self.lines.append("%%v%d, %%i%d = mllm.linalg.top_k %s {k = 2 : i64, dim = -1 : i64} : %s -> %s, %s" % (
            len(self.lines), len(self.lines), shares, self.type(4), self.type(2), self.type(2, element="i32")))
        number = len(self.lines) - 1
        zeros = self.unary("fill zeros", shares, [4])
        weights = self.op("mllm.linalg.scatter %s, %%i%d, %%v%d {dim = -1 : i64} : (%s, %s, %s) -> %s" % (
            zeros, number, number, self.type(4), self.type(2, element="i32"), self.type(2), self.type(4)))
        total = None
        for i in range(4):
            part = self.op("mllm.linalg.slice %s[:, %d:%d] : %s -> %s" % (
                weights, i, i + 1, self.type(4), self.type(1)))
            y = self.binary("mul", self.linear(x, HIDDEN, HIDDEN), part, [HIDDEN], self.type(1))
            total = y if total is None else self.binary("add", total, y, [HIDDEN])
        return total

    def table(self, x):
        """The row of a parameter that each token's greatest element of four selects."""
        scores = self.linear(x, HIDDEN, 4)
        sorted_ = self.op("mllm.linalg.argsort %s {dim = -1 : i64, descending = true} : %s -> %s" % (
            scores, self.type(4), self.type(4, element="i32")))
        first = self.op("mllm.linalg.slice %s[:, 0:1] : %s -> %s" % (
            sorted_, self.type(4, element="i32"), self.type(1, element="i32")))
        rows, kind = self.param(4, HIDDEN)
        g = self.op("mllm.linalg.gather %s, %s {dim = 0 : i64} : (%s, %s) -> %s" % (
            rows, first, kind, self.type(1, element="i32"), self.type(1, HIDDEN)))
        return self.binary("add", x, self.view(g, [1, HIDDEN], [HIDDEN]), [HIDDEN])

    def condition(self, x):
        other = self.random.choice(self.values)
        c = self.op("mllm.linalg.compare greater %s, %s : (%s, %s) -> %s" % (
            x, other, self.type(HIDDEN), self.type(HIDDEN), self.type(HIDDEN, element="i1")))
        return self.op("mllm.linalg.where %s, %s, %s : (%s, %s, %s) -> %s" % (
            c, x, other, self.type(HIDDEN, element="i1"), self.type(HIDDEN), self.type(HIDDEN), self.type(HIDDEN)))

    def tables_type(self):
        return "tensor<%dx%sx%dxf32>" % (PLANES, self.tokens, PAIRS)

    def make_tables(self):
        """%sin and %cos: planes of angles that grow by another number with each position."""
        self.kinds.add("tables")
        positions = self.op("mllm.linalg.positions %%ids : %s" % self.type(element="i64"))
        number = self.op("mllm.linalg.cast_type %s to f32 : %s -> %s" % (
            positions, self.type(element="i64"), self.type()))
        column = self.op("mllm.linalg.view %s : %s -> %s" % (number, self.type(), self.type(1)))
        planes = []
        for _ in range(PLANES):
            speed, kind = self.param(PAIRS, low=0.001, high=1)
            planes.append(self.op("mllm.linalg.mul %s, %s : (%s, %s) -> %s" % (
                column, speed, self.type(1), kind, self.type(PAIRS))))
        angles = self.op("mllm.linalg.stack %s {dim = 0 : i64} : (%s) -> %s" % (
            ", ".join(planes), ", ".join([self.type(PAIRS)] * PLANES), self.tables_type()))
        for function in ("sin", "cos"):
            self.lines.append("%%%s = mllm.linalg.%s %s : %s" % (function, function, angles, self.tables_type()))

    def swapped(self, x, heads, back=False):
        """Tokens and heads change places."""
        plain, other = self.type(heads, HEAD_DIM), "tensor<%dx%sx%dxf32>" % (heads, self.tokens, HEAD_DIM)
        return self.op("mllm.linalg.transpose %s {dim0 = 0 : i64, dim1 = 1 : i64} : %s -> %s" % (
            (x, other, plain) if back else (x, plain, other)))

    def rotations(self):
        """A function (value, heads) -> the value rotated by the position of each token."""
        how = self.random.choice(["none", "positions"] + ["tables", "planes", "planes"] * self.has_tables)
        swaps = how in ("tables", "planes") and self.random.random() < 0.5
        if how == "positions":
            rest = "{frequencies = array<f64: 1.0, 0.1, 0.01, 0.001>, scaling = 1.0 : f64}"
            return lambda x, heads: self.op("mllm.linalg.rope %s %s : %s" % (x, rest, self.type(heads, HEAD_DIM)))
        if how == "none":
            return lambda x, heads: x
        layout = "layout = \"bhsd\", " if swaps else ""
        if how == "planes":
            self.kinds.add("planes")
            op, tables, kind = "multimodal_rope", ["%sin", "%cos"], self.tables_type()
            attributes = layout + "mrope_section = array<i64: %s>" % self.random.choice(["2, 1, 1", "1, 0, 1, 2"])
        else:
            plane = self.random.randrange(PLANES)
            kind, one = self.type(PAIRS), "tensor<1x%sx%dxf32>" % (self.tokens, PAIRS)
            tables = [self.op("mllm.linalg.slice %s[%d:%d, :, :] : %s -> %s" % (
                table, plane, plane + 1, self.tables_type(), one)) for table in ("%sin", "%cos")]
            tables = [self.op("mllm.linalg.view %s : %s -> %s" % (table, one, kind)) for table in tables]
            op, attributes = "rope", layout + "scaling = 1.25 : f64"

        def rotated(x, heads):
            shape = "tensor<%dx%sx%dxf32>" % (heads, self.tokens, HEAD_DIM) if swaps else self.type(heads, HEAD_DIM)
            x = self.swapped(x, heads) if swaps else x
            x = self.op("mllm.linalg.%s %s by %s {%s} : %s by %s, %s" % (
                op, x, ", ".join(tables), attributes, shape, kind, kind))
            return self.swapped(x, heads, back=True) if swaps else x
        return rotated

    def attended(self, operands, types):
        """Attention over all keys, or over those in a window, some of it with sinks."""
        op, attributes, clause = "flash_attention2", "causal = true", ""
        if self.random.random() < 0.5:
            self.kinds.add("window")
            op = "flash_attention2_swa_sink"
            attributes = "sliding_window = %d : i64" % self.random.choice([1, 2, 3, 5, 7, 64])
            how = self.random.choice(["none", "parameter", "computed"])
            if how != "none":
                self.kinds.add("sinks")
                sinks, kind = self.param(HEADS, low=-1, high=1)
                if how == "computed":
                    sinks = self.op("mllm.linalg.exp %s : %s" % (sinks, kind))
                clause, types = " sinks " + sinks, types + [kind]
        return self.op("mllm.linalg.%s %s%s {%s, scale = 0.35 : f64} : (%s) -> %s" % (
            op, ", ".join(operands), clause, attributes, ", ".join(types), types[0]))

    def attention(self, x):
        if self.layers == MOST_LAYERS:
            return self.activation(x)
        q = self.view(self.linear(x, HIDDEN, HIDDEN), [HIDDEN], [HEADS, HEAD_DIM])
        k, v = [self.view(self.linear(x, HIDDEN, KV_HEADS * HEAD_DIM), [KV_HEADS * HEAD_DIM], [KV_HEADS, HEAD_DIM])
                for _ in range(2)]
        rotate = self.rotations()
        q, k = rotate(q, HEADS), rotate(k, KV_HEADS)
        a = self.written(q, k, v) if self.random.random() < 0.3 else self.fused(q, k, v)
        return self.linear(self.view(a, [HEADS, HEAD_DIM], [HIDDEN]), HIDDEN, HIDDEN)

    def written(self, q, k, v):
        """Attention that is written out, some of it in a window, which a step fuses."""
        self.kinds.add("written")
        q, k, v = self.swapped(q, HEADS), self.swapped(k, KV_HEADS), self.swapped(v, KV_HEADS)
        heads = "tensor<%dx%sx%dxf32>"
        new, held, own = [heads % (count, tokens, HEAD_DIM) for count, tokens in (
            (KV_HEADS, self.tokens), (HEADS, "?"), (HEADS, self.tokens))]
        scores = "tensor<%dx%sx?xf32>" % (HEADS, self.tokens)
        number = len(self.lines)
        self.lines.append("%%k%d:2 = mllm.linalg.kv_cache %s, %s {layer = %d : i64, layout = \"bhsd\", q_head = %d : i64} : "
                          "(%s, %s) -> (%s, %s)" % (number, k, v, self.layers, HEADS, new, new, held, held))
        self.layers += 1
        s = self.op("mllm.linalg.matmul %s, %%k%d#0 {transpose_b} : (%s, %s) -> %s" % (q, number, own, held, scores))
        s = self.op("mllm.linalg.mul %s {scalar = 0.35 : f64} : %s" % (s, scores))
        s = self.op("mllm.linalg.causal_mask %s {window = %d : i64} : %s" % (
            s, self.random.choice([0, 2, 4, 7]), scores))
        s = self.op("mllm.linalg.softmax %s {axis = -1 : i64} : %s" % (s, scores))
        a = self.op("mllm.linalg.matmul %s, %%k%d#1 : (%s, %s) -> %s" % (s, number, scores, held, own))
        return self.swapped(a, HEADS, back=True)

    def fused(self, q, k, v):
        keys = self.type(KV_HEADS, HEAD_DIM)
        held = "tensor<?x%dx%dxf32>" % (KV_HEADS, HEAD_DIM)
        number = len(self.lines)
        self.lines.append("%%k%d:2 = mllm.linalg.kv_cache %s, %s {layer = %d : i64} : (%s, %s) -> (%s, %s)" % (
            number, k, v, self.layers, keys, keys, held, held))
        self.layers += 1
        return self.attended([q, "%%k%d#0" % number, "%%k%d#1" % number], [self.type(HEADS, HEAD_DIM), held, held])

    def chain(self, count):
        """Appends that many ops and one attention, each of a value that is there."""
        ops = [self.activation, self.arithmetic, self.scalar, self.broadcast, self.constant, self.computed_weight,
               self.norm, self.projection, self.head_norm, self.transposed, self.columns, self.reduction,
               self.experts, self.table, self.condition, self.attention]
        chosen = [self.random.choice(ops) for _ in range(count)] + [self.attention]
        self.random.shuffle(chosen)
        for op in chosen:
            self.kinds.add(op.__name__)
            x = self.values[-1] if self.random.random() < 0.7 else self.random.choice(self.values)
            # A norm now and then keeps numbers from growing out of what f32 tells apart.
            self.values.append(self.op("mllm.linalg.rms_norm %s, %s {eps = 1.0e-5 : f64} : %s" % (
                op(x), self.parameter(HIDDEN, low=0.5, high=1.5), self.type(HIDDEN))))

    def sum_of_unused(self):
        """What is returned: all that is computed has a part in it."""
        used = set(re.findall(r"%\w+", " ".join(line.split(" = ", 1)[1] for line in self.lines)))
        total, *others = [value for value in self.values if value not in used]
        for value in others:
            total = self.binary("add", total, value, [HIDDEN])
        return total

    def call_layer(self, kind):
        """A subgraph with parameters of its own, of the same ops as other layers of the kind, and its call."""
        self.kinds.add("layers")
        outer = self.lines, self.values, self.random
        self.lines, self.values, self.random = [], ["%x"], random.Random("%s %d" % (kind, self.seed))
        self.chain(3)
        result = self.sum_of_unused()
        name, rows = "layers.%d" % self.subgraphs.count("mllm.graph.subgraph"), self.type(HIDDEN)
        extra = [("%sin", self.tables_type()), ("%cos", self.tables_type())] if self.has_tables else []
        self.subgraphs += "  mllm.graph.subgraph @%s(%s) -> %s {\n" % (
            name, ", ".join("%s: %s" % each for each in [("%x", rows)] + extra), rows)
        self.subgraphs += "".join("    %s\n" % line for line in self.lines)
        self.subgraphs += "    mllm.cf.return %s : %s\n  }\n" % (result, rows)
        self.lines, self.values, self.random = outer
        return self.op("mllm.graph.call_graph @%s(%s) : (%s) -> %s" % (
            name, ", ".join([self.values[-1]] + [value for value, _ in extra]),
            ", ".join([rows] + [kind for _, kind in extra]), rows))

    def write(self):
        """-> the text; `parameters` then has the arrays by name."""
        embed = self.parameter(VOCABULARY, HIDDEN, low=-1, high=1)
        ids = self.type(element="i64")
        self.values.append(self.op("mllm.linalg.embedding %%ids, %s : %s -> %s" % (embed, ids, self.type(HIDDEN))))
        if self.has_tables:
            self.make_tables()
        for kind in self.random.choice(["", "AAA", "ABAB", "AABB", "ABA"]):
            self.values.append(self.call_layer(kind))
        self.chain(6 if self.subgraphs else 10)
        logits = self.linear(self.sum_of_unused(), HIDDEN, VOCABULARY)
        if self.random.random() < 0.5:
            logits = self.unary("mul", logits, [VOCABULARY], " {scalar = 0.5 : f64}")
        facts = {"num_layers": self.layers, "num_heads": HEADS, "num_kv_heads": KV_HEADS, "head_dim": HEAD_DIM,
                 "hidden_size": HIDDEN, "intermediate_size": HIDDEN, "vocab_size": VOCABULARY,
                 "context_length": CONTEXT}
        text = "module attributes {mllm.model = {architecture = \"random\", %s}} {\n" % ", ".join(
            "%s = %d : i64" % item for item in sorted(facts.items()))
        for name, values in self.parameters.items():
            text += "  mllm.tensor.register @%s : tensor<%sxf32> {source = \"%s\"}\n" % (
                name, "x".join(map(str, values.shape)), name)
        text += "  mllm.graph.subgraph @model(%%ids: %s) -> %s attributes {entry} {\n" % (ids, self.type(VOCABULARY))
        text += "".join("    %s\n" % line for line in self.lines)
        text += "    mllm.cf.return %s : %s\n  }\n" % (logits, self.type(VOCABULARY))
        return text + self.subgraphs + "}\n"


def write_checkpoint(directory, decoder, text):
    """The decoder's graph, its parameters, and a tokenizer of bytes."""
    fresh_folder(directory)
    with open(os.path.join(directory, "graph.mlir"), "w") as stream:
        stream.write(text)
    safetensors.write_folder(directory, {name: formats.encode("f32", values)
                                         for name, values in decoder.parameters.items()})
    with open(os.path.join(directory, "config.json"), "w") as stream:
        json.dump({"model_type": "random", "vocab_size": VOCABULARY, "max_position_embeddings": CONTEXT}, stream)


def translated(translate, directory, steps, *flags):
    rows = translate(*flags, "--checkpoint", directory, "--ids", ";".join(",".join(map(str, step)) for step in steps),
                     os.path.join(directory, "graph.mlir"))
    return np.array([row.split() for row in rows.splitlines()], dtype=np.float64)


def interpreted(translate, directory, steps):
    """The logits after each id, by the interpreter: float64 [T, vocabulary]."""
    return translated(translate, directory, steps, "--interpret-model")


def function_logits(translate, directory, ids):
    """The same by a function for this number of ids, in float32."""
    logits = translated(translate, directory, [ids], "--execute-model", "--level", quick_level())
    return logits.astype(np.float32).astype(np.float64)


def step_logits(llmir, directory, artifact, ids, *flags):
    path, out = os.path.join(directory, "ids.txt"), os.path.join(directory, "logits.npy")
    with open(path, "w") as stream:
        stream.write(",".join(map(str, ids)) + "\n")
    llmir("perplexity", artifact, "--ids", path, "--ctx", str(len(ids)), "--logits", out, *flags)
    return np.load(out).astype(np.float64)


def compile_decoder(llmir, directory, artifact, *flags):
    """Compiles a checkpoint of write_checkpoint() as a step, with the token budget that BatchInvarianceTest expects."""
    llmir("compile", directory, "--graph", os.path.join(directory, "graph.mlir"), "-o", artifact, "--kv", "f32",
          "--token-budget", "100", *flags)


def in_company(options, name):
    """What differs, if anything, where a text of the artifact NAME.llmir runs in pieces or beside others."""
    answer = Command(options.batch_tests).run(
        "--gtest_brief=1", "--gtest_filter=" + ":".join("Decoders/BatchInvariance.%s/*" % each for each in SCHEDULES),
        LLMIR_BATCH_MODELS=options.work, LLMIR_BATCH_DECODERS=name)
    if answer.code:
        return answer.out + answer.err
    return "" if re.search(r"PASSED.*[1-9]", answer.out) else "no test ran"


def check_decoder(options, checks, seed):
    llmir, translate = Command(options.llmir), Command(options.llmir_translate)
    decoder, name = Decoder(seed), "decoder%d" % seed
    text = decoder.write()
    directory = os.path.join(options.work, name)
    artifact = directory + ".llmir"
    write_checkpoint(directory, decoder, text)
    compile_decoder(llmir, directory, artifact, "--target", quick_level())
    ids = [int(i) for i in np.random.RandomState(seed).randint(0, VOCABULARY, TOKENS)]
    logits = {
        "interpreted": interpreted(translate, directory, [ids[:6], ids[6:8]] + [[i] for i in ids[8:]]),
        "step": step_logits(llmir, directory, artifact, ids),
        "function": function_logits(translate, directory, ids)}
    errors = {"%s, %s" % pair: nmse(logits[pair[1]], logits[pair[0]]) for pair in itertools.combinations(logits, 2)}
    differs = in_company(options, name)
    checks("seed %d" % seed, all(error <= F32_BOUND for error in errors.values()) and not differs, "nmse %s; %s of %s" % (
        "; ".join("%.1e %s" % (error, pair) for pair, error in errors.items()),
        differs or "the same bits in any company", ", ".join(sorted(decoder.kinds))))


def main():
    parser = work_parser(__doc__, "llmir", "llmir-translate", "batch-tests")
    parser.add_argument("--count", type=int, default=12, help="decoders to try (default 12)")
    parser.add_argument("--seed", type=int, default=1, help="that of the first one (default 1)")
    options = parser.parse_args()
    fresh_folder(options.work)
    checks = Checks(shows_all=True)
    for seed in range(options.seed, options.seed + options.count):
        check_decoder(options, checks, seed)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
