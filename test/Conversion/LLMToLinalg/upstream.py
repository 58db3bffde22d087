# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs functions of `llm` through -convert-llm-to-linalg, then MLIR's own mlir-opt and mlir-runner, and compares the
results with those of `llmir-translate --interpret`.

A case is a function with the values of its arguments. The module for mlir-runner has a @main that calls the functions
and prints the bits of their results.
"""

import re
import zlib

import numpy as np

PIPELINE = ",".join([
    "one-shot-bufferize{bufferize-function-boundaries allow-return-allocs-from-loops}",
    "buffer-deallocation-pipeline",
    "func.func(convert-linalg-to-loops)",
    "convert-bufferization-to-memref",
    "expand-strided-metadata",
    "lower-affine",
    "convert-scf-to-cf",
    "convert-math-to-libm",
    "convert-math-to-llvm",
    "arith-expand{include-bf16}",
    "convert-arith-to-llvm",
    "finalize-memref-to-llvm",
    "convert-func-to-llvm",
    "convert-cf-to-llvm",
    "reconcile-unrealized-casts",
])

# Maximum relative error of the elements of a result: the rounding errors of f32, f16 and bf16.
TOLERANCE = {"f32": 2e-5, "f16": 2e-3, "bf16": 1.6e-2}


def round_bf16(x):
    """Rounds to bf16, as f32."""
    bits = np.asarray(x, np.float32).view(np.uint32).astype(np.uint64)
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16 << 16).astype(np.uint32)
    return np.where(np.isfinite(x), rounded.view(np.float32), x).astype(np.float32)


def rounded(kind, x):
    """The values rounded to that element type."""
    if kind == "f16":
        return np.asarray(x, np.float32).astype(np.float16).astype(np.float32)
    return round_bf16(x) if kind == "bf16" else np.asarray(x, np.float32)


def literal(kind, value):
    if not kind.startswith(("f", "bf")):
        return str(bool(value)).lower() if kind == "i1" else str(int(value))
    if np.isfinite(value):
        return "%.9e" % value
    sign, infinite = (0, 0) if np.isnan(value) or value > 0 else (1, 1)
    digits = {"f32": "7F800000", "f16": "7C00", "bf16": "7F80"}[kind]
    if np.isnan(value):
        digits = {"f32": "7FC00000", "f16": "7E00", "bf16": "7FC0"}[kind]
    return "0x" + ("F" + digits[1:] if sign else digits)


def elements(kind, array):
    if array.ndim == 0:
        return literal(kind, array[()])
    return "[" + ", ".join(elements(kind, each) for each in array) + "]"


def kind_of(tensor_type):
    return re.match(r"tensor<(?:[\d?]+x)*(\w+)>", tensor_type).group(1)


def type_of(kind, array):
    return "tensor<%s%s>" % ("".join("%dx" % size for size in array.shape), kind)


def constant(kind, array):
    if array.size == 0:
        return "dense<> : " + type_of(kind, array)
    return "dense<%s> : %s" % (elements(kind, array), type_of(kind, array))


class Argument:
    """`converted` are the type and the value after the conversion, if they differ; `reference` those for the
    interpreter."""

    def __init__(self, name, of_type, value=None, converted=None, reference=None):
        self.name, self.type = name, of_type
        self.converted = converted or (of_type, value)
        self.reference = reference or (of_type, value)


class Case:
    """A function `name` with the arguments. `body` may refer to %argument; `results` are types."""

    def __init__(self, name, arguments, results, body, prelude="", reference_body=None, converted_results=None,
                 tolerance=None):
        self.name, self.arguments, self.results, self.prelude = name, arguments, results, prelude
        self.body, self.reference_body = body, reference_body or body
        self.converted_results = converted_results or results
        self.tolerance = tolerance

    def function(self, is_reference):
        parameters = []
        for each in self.arguments:
            kind, value = each.reference if is_reference else (each.type, None)
            attribute = " {check.values = %s}" % constant(kind_of(kind), value) if is_reference else ""
            parameters.append("%%%s: %s%s" % (each.name, kind, attribute))
        body = self.reference_body if is_reference else self.body
        return "%s\nfunc.func @%s(%s) -> (%s) {\n%s\n}\n" % (
            self.prelude, self.name, ", ".join(parameters), ", ".join(self.results), body.strip("\n"))

    def seed(self):
        return zlib.crc32(self.name.encode())

    def call(self, references):
        """The ops of @main that print the results, with the shapes of the reference."""
        lines, operands, types = [], [], []
        for each in self.arguments:
            declared, value = each.converted
            kind = kind_of(declared)
            name = "%%%s_%s" % (self.name, each.name)
            lines.append("%s_c = arith.constant %s" % (name, constant(kind, value)))
            lines.append("%s = tensor.cast %s_c : %s to %s" % (name, name, type_of(kind, value), declared))
            operands.append(name)
            types.append(declared)
        lines.append("%%%s:%d = call @%s(%s) : (%s) -> (%s)" % (
            self.name, len(self.results), self.name, ", ".join(operands), ", ".join(types),
            ", ".join(self.converted_results)))
        for i, declared in enumerate(self.converted_results):
            lines += self.printing("%%%s#%d" % (self.name, i), "%%%s_%d" % (self.name, i), declared, references[i])
        return "\n".join("  " + line for line in lines)

    @staticmethod
    def printing(value, name, declared, reference):
        kind, shape = kind_of(declared), reference.shape
        sizes = "".join("%dx" % size for size in shape)
        known, bits = "tensor<%s%s>" % (sizes, kind), "tensor<%si32>" % sizes
        dims = ", ".join("d%d" % d for d in range(len(shape)))
        same = "affine_map<(%s) -> (%s)>" % (dims, dims)
        iterators = ", ".join(['"parallel"'] * len(shape))
        if kind == "f32":
            body = "%b = arith.bitcast %x : f32 to i32"
        elif "f" in kind:
            body = "%%f = arith.extf %%x : %s to f32\n    %%b = arith.bitcast %%f : f32 to i32" % kind
        elif kind == "i32":
            body = "%z = arith.constant 0 : i32\n    %b = arith.addi %x, %z : i32"
        else:
            body = "%%b = arith.extsi %%x : %s to i32" % kind
        return [
            "%s_s = tensor.cast %s : %s to %s" % (name, value, declared, known),
            "%s_e = tensor.empty() : %s" % (name, bits),
            "%s_b = linalg.generic {indexing_maps = [%s, %s], iterator_types = [%s]}" % (name, same, same, iterators),
            "    ins(%s_s : %s) outs(%s_e : %s) {" % (name, known, name, bits),
            "  ^bb0(%%x: %s, %%o: i32):" % kind,
            "    " + body,
            "    linalg.yield %b : i32",
            "} -> " + bits,
            "%s_u = tensor.cast %s_b : %s to tensor<*xi32>" % (name, name, bits),
            "call @printMemrefI32(%s_u) : (tensor<*xi32>) -> ()" % name,
        ]


def read_reference(text):
    """{(function, number of the result): (kind, values)} of the output of the interpreter."""
    results = {}
    for name, number, sizes, kind, values in re.findall(
            r"^@(\w+) result (\d+): (?:quantized )?tensor<((?:\d+x)*)(\w+)> (.*)$", text, re.M):
        shape = [int(size) for size in sizes.split("x") if size]
        assert max(shape + [0]) <= 16, "the interpreter prints 16 elements of a dimension"
        numbers = [float(word) for word in re.findall(r"-?(?:nan|inf|[\d.]+(?:e[-+]?\d+)?)", values)]
        results[name, int(number)] = (kind, np.array(numbers).reshape(shape))
    return results


def read_printed(text):
    """The bits of the results in the order in which they were printed."""
    results = []
    for part in text.split("Unranked Memref")[1:]:
        data = part[part.index("data ="):]
        results.append(np.array([int(word) for word in re.findall(r"-?\d+", data)], np.int64))
    return results


def deviation(kind, expected, bits):
    """The maximum relative error of a result; infinite if an element is NaN or infinite in one of the
    two only."""
    if not kind.startswith(("f", "bf")):
        return 0.0 if np.array_equal(expected.ravel(), bits) else np.inf
    actual = bits.astype(np.int32).view(np.float32).astype(np.float64)
    expected = expected.ravel()
    finite = np.isfinite(expected)
    if not np.array_equal(finite, np.isfinite(actual)) or not np.array_equal(
            expected[~finite], actual[~finite], equal_nan=True):
        return np.inf
    if not finite.any():
        return 0.0
    size = np.sqrt(np.mean(expected[finite] ** 2)) or 1.0
    return float(np.max(np.abs(expected - actual)[finite] / (size + np.abs(expected[finite]))))


class Upstream:
    """The tools, and the directory of intermediate files."""

    def __init__(self, folder, llmir_opt, llmir_translate, mlir_opt, mlir_runner, libraries, flags=()):
        self.folder, self.flags, self.libraries = folder, list(flags), libraries
        self.llmir_opt, self.llmir_translate = llmir_opt, llmir_translate
        self.mlir_opt, self.mlir_runner = mlir_opt, mlir_runner

    def write(self, name, text):
        path = "%s/%s" % (self.folder, name)
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(text)
        return path

    def references(self, name, cases):
        path = self.write(name + ".reference.mlir", "\n".join(each.function(True) for each in cases))
        return read_reference(self.llmir_translate("--interpret", path))

    def run(self, name, cases):
        """{case: {number of a result: (kind, reference, bits)}}."""
        references = self.references(name, cases)
        ofs = {each.name: [references[each.name, i][1] for i in range(len(each.results))] for each in cases}
        path = self.write(name + ".mlir", "\n".join(each.function(False) for each in cases))
        converted = self.llmir_opt(path, "--convert-llm-to-linalg" + self.options())
        module = converted[:converted.rindex("}")]
        assert "llm." not in re.sub(r"@[\w.]+", "", module), "an op or a type of llm is left"
        module += "func.func private @printMemrefI32(tensor<*xi32>)\nfunc.func @main() {\n%s\n  return\n}\n}\n" % (
            "\n".join(each.call(ofs[each.name]) for each in cases))
        path = self.write(name + ".linalg.mlir", module)
        lowered = self.write(name + ".llvm.mlir", self.mlir_opt(path, "--pass-pipeline=builtin.module(%s)" % PIPELINE))
        printed = iter(read_printed(self.mlir_runner(
            lowered, "-e", "main", "-entry-point-result=void", *["--shared-libs=" + each for each in self.libraries])))
        return {each.name: [(references[each.name, i][0], references[each.name, i][1], next(printed))
                            for i in range(len(each.results))] for each in cases}

    def options(self):
        return "=" + " ".join(self.flags) if self.flags else ""
