#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the interpreter on ops of the `mllm` dialect with NumPy.

mllm_oracle.py CASES GENERATED.mlir [--compiled]

CASES is a file of test/Interpreter/MLLM; its cases become functions of one
module, which one run of `llmir-translate --interpret` evaluates. A case is a
line `case NAME [once]` and the indented lines below it:

    arg %x : tensor<?x4xf32> sizes 3x4, 0x4     an argument, and its sizes per run
    arg %i : tensor<3xi64> in 0 7               random values in [0, 7)
    arg %s : tensor<2xf32> is [1.0, float("inf")]   these values (Python, NumPy as np)
    arg %l : tensor<2xi64> exactly [1 << 62, -1]    these values, as int64 in NumPy
    param @w : tensor<5x4xf32>                  a parameter of the model
    text mllm.tensor.register @t : …            a line of the module, verbatim
    %y = mllm.linalg.linear %x, @w : …          lines of IR, verbatim
    expect %y : tensor<?x5xf32> = nn.linear(x, w)          values from NumPy, in float64
    expect %y : tensor<?x5xf32> within 1e-9 = …            another nmse than 1e-12

A case has one run per entry of `sizes` (arguments have one entry or one per run),
with different values each time. A case with a `?` in a type requires at least
two runs. Its ops are evaluated twice and must be bitwise equal, except in cases
marked `once` (whose ops have state). Integers and bool must be equal.

With `--compiled`, all functions are compiled and run instead, as subgraphs that
`mllm-specialize` specializes for the sizes of the run. Floats must be equal within
1e-10, or the bound of the case if it is larger.

In the Python expression an argument or parameter is a float64 array of its
elements, rounded to the type (int64 with `exactly`), `run` is the number of the
run, from 0, and the modules of mllmref are names. For several results, use
`expect %a, %b : T, U = …` with a tuple.
"""

import importlib
import os
import re
import subprocess
import sys
import zlib

import numpy as np

DIR = os.path.dirname(os.path.abspath(__file__))
# Ops that define, call and terminate functions: for the interpreter, and for specialization.
FUNCTIONS = ("func.func", "func.call", "return")
SUBGRAPHS = ("mllm.graph.subgraph", "mllm.graph.call_graph", "mllm.cf.return")
TENSOR = re.compile(r"tensor<(?P<dims>(?:(?:\d+|\?)x)*)(?P<kind>\w+)(?:,.*)?>$")
INTEGERS = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}


class CaseError(Exception):
    """An error in a file of cases."""


def modules():
    """The modules of mllmref by name."""
    sys.path.insert(0, DIR)
    names = sorted(name[:-3] for name in os.listdir(os.path.join(DIR, "mllmref"))
                   if name.endswith(".py") and name != "__init__.py")
    return {name: importlib.import_module("mllmref." + name) for name in names}


def split_top(text):
    """Splits a list at its outermost commas."""
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        if char in "<([{":
            depth += 1
        elif char in "])}" or (char == ">" and text[at - 1] != "-"):
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return parts + [text[start:].strip()]


def bf16_bits(values):
    """The bits of float32 values rounded to bf16, to nearest even."""
    bits = np.asarray(values, np.float32).view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(values), 0x7FC0, rounded).astype(np.uint16)


class TensorType:
    """A tensor type as text, its sizes (None for `?`) and its element type."""

    def __init__(self, text):
        match = TENSOR.match(text)
        if not match:
            raise CaseError(f"{text} is not a tensor type")
        self.text, self.kind = text, match["kind"]
        self.dims = [None if d == "?" else int(d) for d in match["dims"].split("x")[:-1]]
        self.is_float = self.kind in ("f32", "f16", "bf16")
        if not self.is_float and self.kind != "i1" and self.kind not in INTEGERS:
            raise CaseError(f"numbers of type {self.kind} are not known")

    def stored(self, values):
        """The values rounded to the type, as stored."""
        if self.kind == "bf16":
            return bf16_bits(values)
        kind = {"f32": np.float32, "f16": np.float16, "i1": np.bool_, **INTEGERS}[self.kind]
        with np.errstate(over="ignore"):
            return np.asarray(values).astype(kind)

    def rounded(self, values):
        """The values rounded to the type, in float64."""
        stored = self.stored(values)
        if self.kind == "bf16":
            stored = (stored.astype(np.uint32) << 16).view(np.float32)
        return stored.astype(np.float64)

    def dense(self, values):
        """The attribute with these values."""
        stored = self.stored(values)
        kind = "x".join([str(d) for d in stored.shape] + [self.kind])
        if stored.size == 0:
            text = ""
        elif self.kind == "i1":
            text = str(stored.tolist()).lower()
        else:
            text = '"0x' + np.ascontiguousarray(stored).tobytes().hex().upper() + '"'
        return f"dense<{text}> : tensor<{kind}>"

    def static_text(self, shape):
        """The type with these sizes, without dimension names."""
        return f"tensor<{''.join(f'{size}x' for size in shape)}{self.kind}>"

    def fits(self, shape):
        return len(shape) == len(self.dims) and all(
            want is None or want == have for want, have in zip(self.dims, shape))


class Input:
    """An `arg` or a `param` line."""

    PATTERN = re.compile(r"([%@][\w.]+) : (tensor<.*?>)(?: sizes ([\dx, ]+))?"
                         r"(?: in (\S+) (\S+))?(?: (is|exactly) (.+))?$")

    def __init__(self, line):
        match = self.PATTERN.match(line)
        if not match:
            raise CaseError(f"cannot read '{line}'")
        name, kind, sizes, least, end, how, values = match.groups()
        self.symbol, self.type = name, TensorType(kind)
        self.python_name = name[1:].replace(".", "_")
        self.range = (float(least), float(end)) if least else None
        self.values, self.is_exact = values, how == "exactly"
        self.sizes = [[int(size) for size in part.split("x")] for part in sizes.split(",")] if sizes else None
        for shape in self.sizes or []:
            if not self.type.fits(shape):
                raise CaseError(f"{name}: sizes {shape} do not fit {kind}")

    def shape(self, run):
        if self.sizes:
            return self.sizes[run if len(self.sizes) > 1 else 0]
        if None in self.type.dims:
            raise CaseError(f"{self.symbol} needs sizes")
        return self.type.dims

    def numbers(self, case, run):
        if self.is_exact:
            return np.array(eval(self.values, {"np": np, "run": run}), np.int64)
        if self.values:
            return self.type.rounded(eval(self.values, {"np": np, "run": run}))
        shape = self.shape(run)
        random = np.random.default_rng(zlib.crc32(f"{case}/{self.symbol}/{run}".encode()))
        if self.type.is_float:
            values = random.uniform(*(self.range or (-1.5, 1.5)), shape)
        elif self.type.kind == "i1":
            values = random.integers(0, 2, shape)
        else:
            values = random.integers(*[int(bound) for bound in self.range or (-100, 100)], shape)
        return self.type.rounded(values)


class Expectation:
    """An `expect` line."""

    PATTERN = re.compile(r"(%[\w#%, ]+) : (tensor<.*>)(?: within (\S+))? = (.+)$")

    def __init__(self, line):
        match = self.PATTERN.match(line)
        if not match:
            raise CaseError(f"cannot read 'expect {line}'")
        values, types, bound, self.expression = match.groups()
        self.values = split_top(values)
        self.types = [TensorType(text) for text in split_top(types)]
        self.bound = float(bound or 1e-12)
        if len(self.values) != len(self.types):
            raise CaseError(f"'expect {line}' needs a type per value")

    def compute(self, names):
        results = eval(self.expression, dict(names))
        results = results if isinstance(results, tuple) else (results,)
        if len(results) != len(self.values):
            raise CaseError(f"{self.expression} gives {len(results)} values for {len(self.values)}")
        for kind, result in zip(self.types, results):
            if not kind.fits(np.shape(result)):
                raise CaseError(f"{self.expression} has shape {np.shape(result)}, but {kind.text} is expected")
        return results


class Case:
    """One `case`, and its functions."""

    def __init__(self, name, once):
        self.name, self.once = name, once
        self.inputs, self.body, self.expectations, self.text = [], [], [], []

    def add(self, line):
        word, _, rest = line.partition(" ")
        if word in ("arg", "param"):
            self.inputs.append(Input(rest))
        elif word == "expect":
            self.expectations.append(Expectation(rest))
        elif word == "text":
            self.text.append(rest)
        else:
            self.body.append(line)

    def runs(self):
        counts = {len(i.sizes) for i in self.inputs if i.sizes and len(i.sizes) > 1}
        if len(counts) > 1:
            raise CaseError("arguments differ in their number of sizes")
        count = counts.pop() if counts else 1
        if count < 2 and any(None in i.type.dims for i in self.inputs):
            raise CaseError("a '?' is not tested by one run; give two sizes")
        if not self.expectations:
            raise CaseError("nothing is expected")
        return count

    def write(self, run, names, compiled=False):
        """The functions of one run as text: one with the ops and the types of the
        case, the other with the values. For compilation, the latter has static
        sizes, with casts before the ops."""
        function = f"{self.name}.{run}"
        numbers = {i.symbol: i.numbers(self.name, run) for i in self.inputs}
        names = {**names, "np": np, "run": run, **{i.python_name: numbers[i.symbol] for i in self.inputs}}
        arguments = [i for i in self.inputs if i.symbol.startswith("%")]
        values = [v for e in self.expectations for v in e.values]
        types = [t for e in self.expectations for t in e.types]
        bounds = [max(e.bound, 1e-10) if compiled else e.bound for e in self.expectations for _ in e.values]
        computed = [r for e in self.expectations for r in e.compute(names)]
        define, call, end = SUBGRAPHS if compiled else FUNCTIONS

        given, opened, known, checks = [], [], [], []
        for symbol, kind, value in [(a.symbol, a.type, numbers[a.symbol]) for a in arguments] + \
                [(f"%expected{n}", kind, value) for n, (kind, value) in enumerate(zip(types, computed))]:
            text = kind.static_text(np.shape(value)) if compiled else kind.text
            given.append(f"{symbol}: {text} {{check.values = {kind.dense(value)}}}")
            known.append(symbol)
            if text != kind.text:
                known[-1] = "%open." + symbol[1:]
                opened.append(f"  {known[-1]} = mllm.linalg.cast_type {symbol} to {kind.kind} : {text} -> {kind.text}")
        for n, (kind, bound, expected) in enumerate(zip(types, bounds, known[len(arguments):])):
            how = f"expect_close %first#{n}, {expected} {{nmse = {bound:.6e} : f64}}" if kind.is_float \
                else f"expect_equal %first#{n}, {expected}"
            checks.append(f"  check.{how} : {kind.text}")
            if not self.once:
                checks.append(f"  check.expect_equal %first#{n}, %again#{n} : {kind.text}")
        results = ", ".join(t.text for t in types)
        signature = f"({', '.join(a.type.text for a in arguments)}) -> ({results})"
        calls = [f'  %{name}:{len(types)} = {call} @"{function}.ops"({", ".join(known[:len(arguments)])}) : {signature}'
                 for name in (["first"] if self.once else ["first", "again"])]
        lines = [f"// {function}"] + (self.text if run == 0 else [])
        lines += [f'mllm.tensor.register {i.symbol}.{run} : {i.type.text} '
                  f'{{source = "{i.python_name}", check.values = {i.type.dense(numbers[i.symbol])}}}'
                  for i in self.inputs if i.symbol.startswith("@")]
        body = "\n".join("  " + line for line in self.body)
        for parameter in (i for i in self.inputs if i.symbol.startswith("@")):
            body = re.sub(re.escape(parameter.symbol) + r"(?![\w.])", f"{parameter.symbol}.{run}", body)
        lines += [f'{define} private @"{function}.ops"('
                  + ", ".join(f"{a.symbol}: {a.type.text}" for a in arguments)
                  + f") -> ({results}) {{", body, f"  {end} {', '.join(values)} : {results}", "}"]
        lines += [f'{define} @"{function}"({", ".join(given)}) -> () {{'] + opened + calls + checks + [f"  {end}", "}"]
        return "\n".join(lines) + "\n"


def read_cases(path):
    cases = []
    with open(path, encoding="utf-8") as stream:
        for number, line in enumerate(stream, 1):
            text = line.strip()
            if not text or text.startswith("//"):
                continue
            try:
                if not line[0].isspace():
                    match = re.match(r"case ([\w.]+)( once)?$", text)
                    if not match:
                        raise CaseError(f"'{text}' is not a case")
                    cases.append(Case(match[1], bool(match[2])))
                else:
                    cases[-1].add(text)
            except CaseError as error:
                sys.exit(f"{path}:{number}: {error}")
    if not cases:
        sys.exit(f"{path}: has no case")
    return cases


def check_unique(cases, path):
    names = [case.name for case in cases]
    symbols = [i.symbol for case in cases for i in case.inputs if i.symbol.startswith("@")]
    for name in sorted({n for n in names + symbols if (names + symbols).count(n) > 1}):
        sys.exit(f"{path}: {name} is defined twice")


def run_cases(flag, generated, functions, path):
    """Runs the functions; exits if a result is not as expected."""
    done = subprocess.run(["llmir-translate", flag, generated], capture_output=True,
                          text=True, timeout=600, check=False)
    held = set(re.findall(r'^@"?([\w.]+?)"?: \d+ expectations? holds?$', done.stdout, re.M))
    wrong = [name for name in functions if name not in held]
    if done.returncode or wrong:
        sys.exit(f"{done.stderr[:8000]}\n{path}: {len(wrong)} of {len(functions)} runs fail: {', '.join(wrong[:40])}")


def specialize(generated):
    """Specializes the functions of the file for the sizes of their runs; returns
    the name of the resulting file."""
    made = generated + ".specialized"
    with open(generated, encoding="utf-8") as stream:
        sizes = "=sizes=past=0" if "mllm.linalg.kv_cache" in stream.read() else ""
    done = subprocess.run(["llmir-opt", generated, "--mllm-specialize" + sizes, "-o", made],
                          capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        sys.exit(f"{done.stderr[:8000]}\n{generated}: is not specialized")
    return made


def main():
    compiled = len(sys.argv) == 4 and sys.argv[3] == "--compiled"
    if len(sys.argv) != 3 and not compiled:
        sys.exit(__doc__)
    path, generated = sys.argv[1:3]
    cases, names, functions = read_cases(path), modules(), []
    check_unique(cases, path)
    with open(generated, "w", encoding="utf-8") as stream:
        for case in cases:
            try:
                for run in range(case.runs()):
                    functions.append(f"{case.name}.{run}")
                    stream.write(case.write(run, names, compiled))
            except CaseError as error:
                sys.exit(f"{path}: case {case.name}: {error}")
    if compiled:
        run_cases("--execute", specialize(generated), functions, path)
    else:
        run_cases("--interpret", generated, functions, path)
    print(f"{len(cases)} cases, {len(functions)} runs{' compiled' if compiled else ''}: all agree with NumPy")


if __name__ == "__main__":
    main()
