#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the interpreter on ops of the `mllm` dialect with NumPy.

mllm_oracle.py CASES GENERATED.mlir [--compiled LEAST]

CASES is a file of test/Interpreter/MLLM; its cases become functions of one
module, which one run of `llmir-translate --interpret` evaluates. A case is a
line `case NAME [once]` and the indented lines below it:

    arg %x : tensor<?x4xf32> sizes 3x4, 0x4     an argument, and its sizes per run
    arg %i : tensor<3xi64> in 0 7               random numbers from 0 to below 7
    arg %s : tensor<2xf32> is [1.0, float("inf")]   these numbers (Python, NumPy as np)
    param @w : tensor<5x4xf32>                  a parameter of the model
    text mllm.tensor.register @t : …            a line of the module, as it is
    %y = mllm.linalg.linear %x, @w : …          lines of IR, as they are
    expect %y : tensor<?x5xf32> = nn.linear(x, w)          values by NumPy, in float64
    expect %y : tensor<?x5xf32> within 1e-9 = …            another nmse than 1e-12

A case is run as often as its `sizes` has entries (all of its arguments have one
or as many), with other numbers each time. A `?` in a type asks for two runs or
more. Its ops are evaluated twice and must give the same bits, except in a case
marked `once` (whose ops keep state). Integers and bool must be equal.

With `--compiled`, the functions are compiled and run instead: those whose types
are static, once each `?` is the size that the run has. LEAST runs or more must
be so; the others are named. Floats agree within 1e-10, or what the case says
where that is more.

In the Python expression an argument or parameter is a float64 array of its
numbers, after their rounding to the type, `run` counts the runs from 0, and
the modules of mllmref are names. Several results: `expect %a, %b : T, U = …`
with a tuple.
"""

import importlib
import os
import re
import subprocess
import sys
import zlib

import numpy as np

FOLDER = os.path.dirname(os.path.abspath(__file__))
TENSOR = re.compile(r"tensor<(?P<dims>(?:(?:\d+|\?)x)*)(?P<kind>\w+)(?:,.*)?>$")
INTEGERS = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}


class CaseError(Exception):
    """What is wrong with a file of cases."""


def modules():
    """The modules of mllmref by name."""
    sys.path.insert(0, FOLDER)
    names = sorted(name[:-3] for name in os.listdir(os.path.join(FOLDER, "mllmref"))
                   if name.endswith(".py") and name != "__init__.py")
    return {name: importlib.import_module("mllmref." + name) for name in names}


def split_top(text):
    """The parts of a list at its outermost commas."""
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
    """The bits of float32 numbers rounded to bf16, to nearest even."""
    bits = np.asarray(values, np.float32).view(np.uint32).astype(np.uint64)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(values), 0x7FC0, rounded).astype(np.uint16)


class TensorType:
    """A tensor type as text, its sizes (None for `?`) and its kind of numbers."""

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
        """The numbers rounded to the type, as they are stored."""
        if self.kind == "bf16":
            return bf16_bits(values)
        kind = {"f32": np.float32, "f16": np.float16, "i1": np.bool_, **INTEGERS}[self.kind]
        with np.errstate(over="ignore"):
            return np.asarray(values).astype(kind)

    def rounded(self, values):
        """The numbers rounded to the type, in float64."""
        stored = self.stored(values)
        if self.kind == "bf16":
            stored = (stored.astype(np.uint32) << 16).view(np.float32)
        return stored.astype(np.float64)

    def dense(self, values):
        """The attribute with these numbers."""
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
        """The type with these sizes, without names of sizes."""
        return f"tensor<{''.join(f'{size}x' for size in shape)}{self.kind}>"

    def fits(self, shape):
        return len(shape) == len(self.dims) and all(
            want is None or want == have for want, have in zip(self.dims, shape))


class Input:
    """An `arg` or a `param` line."""

    PATTERN = re.compile(r"([%@][\w.]+) : (tensor<.*?>)(?: sizes ([\dx, ]+))?"
                         r"(?: in (\S+) (\S+))?(?: is (.+))?$")

    def __init__(self, line):
        match = self.PATTERN.match(line)
        if not match:
            raise CaseError(f"cannot read '{line}'")
        name, kind, sizes, least, end, values = match.groups()
        self.symbol, self.type = name, TensorType(kind)
        self.python_name = name[1:].replace(".", "_")
        self.range = (float(least), float(end)) if least else None
        self.values = values
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
    """One `case`, and the functions that it becomes."""

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
        """The functions of one run as text, or None where they cannot be
        compiled; `names` are the modules."""
        function = f"{self.name}.{run}"
        numbers = {i.symbol: i.numbers(self.name, run) for i in self.inputs}
        names = {**names, "np": np, "run": run, **{i.python_name: numbers[i.symbol] for i in self.inputs}}
        arguments = [i for i in self.inputs if i.symbol.startswith("%")]
        expected, checks, calls = [], [], []
        values = [v for e in self.expectations for v in e.values]
        types = [t for e in self.expectations for t in e.types]
        bounds = [e.bound for e in self.expectations for _ in e.values]
        computed = [r for e in self.expectations for r in e.compute(names)]
        argument_types, result_types, body = [a.type.text for a in arguments], [t.text for t in types], self.body
        if compiled:
            known = {a.symbol: (a.type.text, a.type.static_text(np.shape(numbers[a.symbol]))) for a in arguments}
            known.update({v: (t.text, t.static_text(np.shape(r))) for v, t, r in zip(values, types, computed)})
            argument_types = [known[a.symbol][1] for a in arguments]
            result_types = [known[v][1] for v in values]
            body = [static_types(line, known) for line in body]
            if None in body:
                return None
            bounds = [max(bound, 1e-10) for bound in bounds]
        for n, (kind, text, result, bound) in enumerate(zip(types, result_types, computed, bounds)):
            expected.append(f"%expected{n}: {text} {{check.values = {kind.dense(result)}}}")
            how = f"expect_close %first#{n}, %expected{n} {{nmse = {bound:.6e} : f64}}" if kind.is_float \
                else f"expect_equal %first#{n}, %expected{n}"
            checks.append(f"  check.{how} : {text}")
            if not self.once:
                checks.append(f"  check.expect_equal %first#{n}, %again#{n} : {text}")
        operands = ", ".join(a.symbol for a in arguments)
        signature = f"({', '.join(argument_types)}) -> ({', '.join(result_types)})"
        for name in ["first"] if self.once else ["first", "again"]:
            calls.append(f'  %{name}:{len(types)} = func.call @"{function}.ops"({operands}) : {signature}')
        lines = [f"// {function}"] + (self.text if run == 0 else [])
        lines += [f'mllm.tensor.register {i.symbol}.{run} : {i.type.text} '
                  f'{{source = "{i.python_name}", check.values = {i.type.dense(numbers[i.symbol])}}}'
                  for i in self.inputs if i.symbol.startswith("@")]
        body = "\n".join("  " + line for line in body)
        for parameter in (i for i in self.inputs if i.symbol.startswith("@")):
            body = re.sub(re.escape(parameter.symbol) + r"(?![\w.])", f"{parameter.symbol}.{run}", body)
        lines += [f'func.func private @"{function}.ops"('
                  + ", ".join(f"{a.symbol}: {text}" for a, text in zip(arguments, argument_types))
                  + f") -> ({', '.join(result_types)}) {{", body,
                  f"  return {', '.join(values)} : {', '.join(result_types)}", "}"]
        lines += [f'func.func @"{function}"(' + ", ".join(
            [f"{a.symbol}: {text} {{check.values = {a.type.dense(numbers[a.symbol])}}}"
             for a, text in zip(arguments, argument_types)]
            + expected) + ") {"] + calls + checks + ["  return", "}"]
        return "\n".join(lines) + "\n"


DYNAMIC = re.compile(r"tensor<[^<>]*(?:<[^<>]*>)?[^<>]*>")


def static_types(line, known):
    """A line of IR with the types that its values have in a run; `known` has
    both types of values by name. None where they are not known, or not plain."""
    before, arrow, behind = line.rpartition("->")
    if not arrow:
        before, behind = line, ""
    results, _, op = before.partition("=") if before.lstrip().startswith("%") else ("", "", before)
    operands = re.findall(r"%[\w.]+(?:#\d+)?", op)
    results = re.findall(r"%[\w.]+", results)

    def replaced(text, names):
        types = DYNAMIC.findall(text)
        static = []
        for place, kind in enumerate(types):
            choices = {to for source, to in known.values() if source == kind}
            if len(types) == len(names) and known.get(names[place], ("",))[0] == kind:
                choices = {known[names[place]][1]}
            if "?" not in kind and "#" not in kind:
                choices = {kind}
            if len(choices) != 1 or "<k" in kind:
                return None
            static.append(choices.pop())
        for name, kind, to in zip(names, types, static) if len(types) == len(names) else []:
            known.setdefault(name, (kind, to))
        parts = iter(static)
        return DYNAMIC.sub(lambda _: next(parts), text)

    if not arrow and len(DYNAMIC.findall(op)) == 1 and results:
        operands = results  # One type for all.
    op, behind = replaced(op, operands), replaced(behind, results)
    if op is None or behind is None:
        return None
    return (", ".join(results) + " = " if results else "") + op.strip() + (f" -> {behind.strip()}" if arrow else "")


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
        sys.exit(f"{path}: {name} stands twice")


def run_cases(flag, generated, functions, path):
    """Runs the functions; ends the program where one does not give what it should."""
    done = subprocess.run(["llmir-translate", flag, generated], capture_output=True,
                          text=True, timeout=600, check=False)
    held = set(re.findall(r'^@"?([\w.]+?)"?: \d+ expectations? holds?$', done.stdout, re.M))
    wrong = [name for name in functions if name not in held]
    if done.returncode or wrong:
        sys.exit(f"{done.stderr[:8000]}\n{path}: {len(wrong)} of {len(functions)} runs fail: {', '.join(wrong[:40])}")


def main():
    compiled = len(sys.argv) == 5 and sys.argv[3] == "--compiled"
    if len(sys.argv) != 3 and not compiled:
        sys.exit(__doc__)
    path, generated = sys.argv[1:3]
    cases, names, functions, left = read_cases(path), modules(), [], []
    check_unique(cases, path)
    with open(generated, "w", encoding="utf-8") as stream:
        for case in cases:
            try:
                for run in range(case.runs()):
                    text = case.write(run, names, compiled)
                    (left if text is None else functions).append(f"{case.name}.{run}")
                    stream.write(text or "")
            except CaseError as error:
                sys.exit(f"{path}: case {case.name}: {error}")
    run_cases("--execute" if compiled else "--interpret", generated, functions, path)
    if compiled:
        print(f"{len(functions)} runs compiled, all agree with NumPy; without static types: {', '.join(left) or 'none'}")
        if len(functions) < int(sys.argv[4]):
            sys.exit(f"{path}: {len(functions)} runs were compiled, want {sys.argv[4]} or more")
    else:
        print(f"{len(cases)} cases, {len(functions)} runs: all agree with NumPy")


if __name__ == "__main__":
    main()
