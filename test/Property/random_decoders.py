#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random decoders: what a step computes is what the traced graph means.

    random_decoders.py --work DIRECTORY --llmir build/bin/llmir --llmir-translate build/bin/llmir-translate

Each decoder is random text of the mllm dialect over ops whose meaning is per token (element-wise ops with broadcasts,
norms, activations, projections, reshapes and transpositions of what a token has, slices and concatenations of columns,
reductions within a row, softmax, top-k, scatter, gathers from parameters), with attention over caches here and there.
Its parameters are random. Checked is

  step      the logits of the compiled artifact beside those of the interpreter of mllm, which knows no step, for a
            text in one piece and in several
  function  the same graph with a fixed number of tokens, compiled as a function and interpreted (--functions of them)

One line for each decoder, then `N passed, N failed`; exit status 1 if one failed.
"""

import json
import os
import random
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "reference"))

from byte_tokenizer import write_byte_tokenizer  # noqa: E402
from checks import Checks, Command, fresh_folder, quick_level, work_parser  # noqa: E402
from llmref import formats, nmse, safetensors  # noqa: E402

F32_BOUND = 1e-9  # NMSE of logits where nothing is rounded below float32, as compare.py has it

TOKENS = 11
VOCABULARY = 40
CONTEXT = 205
HEADS, KV_HEADS, HEAD_DIM = 4, 2, 8
HIDDEN = HEADS * HEAD_DIM
MOST_LAYERS = 8


class Decoder:
    """Writes a decoder op by op. Values are rows [tokens, columns]; ops that need heads view and unview them."""

    def __init__(self, seed, tokens="?"):
        self.seed, self.random, self.weights = seed, random.Random(seed), np.random.RandomState(seed)
        self.tokens = tokens
        self.parameters, self.lines, self.values, self.subgraphs = {}, [], [], ""
        self.layers = 0
        self.kinds = set()

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

    def attention(self, x):
        if self.layers == MOST_LAYERS:
            return self.activation(x)
        q = self.view(self.linear(x, HIDDEN, HIDDEN), [HIDDEN], [HEADS, HEAD_DIM])
        k, v = [self.view(self.linear(x, HIDDEN, KV_HEADS * HEAD_DIM), [KV_HEADS * HEAD_DIM], [KV_HEADS, HEAD_DIM])
                for _ in range(2)]
        frequencies = "frequencies = array<f64: 1.0, 0.1, 0.01, 0.001>, scaling = 1.0 : f64"
        if self.random.random() < 0.7:
            q = self.op("mllm.linalg.rope %s {%s} : %s" % (q, frequencies, self.type(HEADS, HEAD_DIM)))
            k = self.op("mllm.linalg.rope %s {%s} : %s" % (k, frequencies, self.type(KV_HEADS, HEAD_DIM)))
        keys = self.type(KV_HEADS, HEAD_DIM)
        held = "tensor<?x%dx%dxf32>" % (KV_HEADS, HEAD_DIM)
        number = len(self.lines)
        self.lines.append("%%k%d:2 = mllm.linalg.kv_cache %s, %s {layer = %d : i64} : (%s, %s) -> (%s, %s)" % (
            number, k, v, self.layers, keys, keys, held, held))
        self.layers += 1
        a = self.op("mllm.linalg.flash_attention2 %s, %%k%d#0, %%k%d#1 {causal = true, scale = 0.35 : f64} : "
                    "(%s, %s, %s) -> %s" % (q, number, number, self.type(HEADS, HEAD_DIM), held, held,
                                            self.type(HEADS, HEAD_DIM)))
        return self.linear(self.view(a, [HEADS, HEAD_DIM], [HIDDEN]), HIDDEN, HIDDEN)

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

    def call_layer(self, kind):
        """A subgraph with parameters of its own, of the same ops as other layers of the kind, and its call."""
        self.kinds.add("layers")
        outer = self.lines, self.values, self.random
        self.lines, self.values, self.random = [], ["%x"], random.Random("%s %d" % (kind, self.seed))
        self.chain(3)
        name, rows = "layers.%d" % self.subgraphs.count("mllm.graph.subgraph"), self.type(HIDDEN)
        self.subgraphs += "  mllm.graph.subgraph @%s(%%x: %s) -> %s {\n" % (name, rows, rows)
        self.subgraphs += "".join("    %s\n" % line for line in self.lines)
        self.subgraphs += "    mllm.cf.return %s : %s\n  }\n" % (self.values[-1], rows)
        self.lines, self.values, self.random = outer
        return self.op("mllm.graph.call_graph @%s(%s) : (%s) -> %s" % (name, self.values[-1], rows, rows))

    def write(self):
        """-> the text; `parameters` then has the arrays by name."""
        embed = self.parameter(VOCABULARY, HIDDEN, low=-1, high=1)
        ids = self.type(element="i64")
        self.values.append(self.op("mllm.linalg.embedding %%ids, %s : %s -> %s" % (embed, ids, self.type(HIDDEN))))
        for kind in self.random.choice(["", "AAA", "ABAB", "AABB", "ABA"]):
            self.values.append(self.call_layer(kind))
        self.chain(6 if self.subgraphs else 10)
        logits = self.linear(self.values[-1], HIDDEN, VOCABULARY)
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


def interpreted(translate, directory, steps):
    """The logits after each id, by the interpreter: float64 [T, vocabulary]."""
    rows = translate("--interpret-model", "--checkpoint", directory, "--ids",
                     ";".join(",".join(map(str, step)) for step in steps), os.path.join(directory, "graph.mlir"))
    return np.array([row.split() for row in rows.splitlines()], dtype=np.float64)


def step_logits(llmir, directory, artifact, ids, *flags):
    path, out = os.path.join(directory, "ids.txt"), os.path.join(directory, "logits.npy")
    with open(path, "w") as stream:
        stream.write(",".join(map(str, ids)) + "\n")
    llmir("perplexity", artifact, "--ids", path, "--ctx", str(len(ids)), "--logits", out, *flags)
    return np.load(out).astype(np.float64)


def check_decoder(options, checks, seed):
    llmir, translate = Command(options.llmir), Command(options.llmir_translate)
    decoder = Decoder(seed)
    text = decoder.write()
    directory = os.path.join(options.work, "decoder%d" % seed)
    write_checkpoint(directory, decoder, text)
    artifact = os.path.join(directory, "model.llmir")
    llmir("compile", directory, "--graph", os.path.join(directory, "graph.mlir"), "-o", artifact, "--kv", "f32",
          "--target", quick_level(), "--token-budget", "16")
    ids = [int(i) for i in np.random.RandomState(seed).randint(0, VOCABULARY, TOKENS)]
    exact = interpreted(translate, directory, [ids[:6], ids[6:8]] + [[i] for i in ids[8:]])
    found = step_logits(llmir, directory, artifact, ids)
    error = nmse(found, exact)
    checks("seed %d" % seed, error <= F32_BOUND, "nmse %.1e of %s" % (error, ", ".join(sorted(decoder.kinds))))


def main():
    parser = work_parser(__doc__, "llmir", "llmir-translate")
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
