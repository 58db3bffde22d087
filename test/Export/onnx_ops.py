#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every op of level linalg in ONNX: exported with results equal to NumPy, or rejected with a specific error.

    onnx_ops.py --work DIR --llmir-translate PROGRAM [--onnxruntime DIR]

The cases are those of the interpreter (test/Interpreter/MLLM, see mllm_oracle.py) and Inputs/onnx.cases. Each becomes a model with
dynamic sizes, which ONNX's checker must accept; one file is used for all runs of the case. With --onnxruntime (the
directory of the npm package onnxruntime-web) the files are also run by onnxruntime.
"""

import glob
import os
import re
import sys

import numpy as np
import onnx

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "test", "reference"))
sys.path.insert(0, os.path.join(ROOT, "utils"))

import llm_dialect  # noqa: E402
import mllm_oracle  # noqa: E402
import onnx_node  # noqa: E402
import onnx_numpy  # noqa: E402
from checks import Checks, Command, fresh_folder, work_parser  # noqa: E402

NMSE = 1e-9  # Bound relative to float64: constants are float32.

# Ops without an equivalent in opset 17, or without a computation: a model with one, and the error.
REFUSED = {
    "istft": ("%s: tensor<3x4x2xf32>, %w: tensor<4xf32>", "%s, %w {n_fft = 4 : i64, hop_length = 2 : i64}",
              "(tensor<3x4x2xf32>, tensor<4xf32>) -> tensor<6xf32>", "opset 17 has no inverse transform"),
    "customized": ("%x: tensor<2xf32>", "\"f\" id 4097(%x)", "(tensor<2xf32>) -> tensor<2xf32>",
                   "custom ops have no ONNX equivalent"),
}
# Ops whose forms are in the cases: only the error.
REFUSED_CASES = {
    "paged_attn": "a paged cache is not a tensor",
    "radix_attn_swa_sink": "a paged cache is not a tensor",
    "radix_attn_relax": "a paged cache is not a tensor",
    "flash_attention2_swa_sink": "sinks are not supported",
    "istft": "opset 17 has no inverse transform",
    "head_linear": "the op has no lowering to ONNX",
    "causal_conv": "the op has no lowering to ONNX",
    "linear_attention": "the op has no lowering to ONNX",
    "experts": "experts that are chosen for each row have no ONNX equivalent",
}
# Unsupported forms of supported ops: the arguments, the op that produces %0, the result type, and the error.
REFUSED_FORMS = (
    ("%k: tensor<3x?x4xf32>", "%0, %1 = mllm.linalg.kv_cache %k, %k {layer = 0 : i64} : "
     "(tensor<3x?x4xf32>, tensor<3x?x4xf32>) -> (tensor<?x?x4xf32>, tensor<?x?x4xf32>)", "tensor<?x?x4xf32>",
     "kv_cache: a shape with several dynamic sizes is not supported"),
    ("%k: tensor<3x0x4xf32>", "%0, %1 = mllm.linalg.kv_cache %k, %k {layer = 0 : i64} : "
     "(tensor<3x0x4xf32>, tensor<3x0x4xf32>) -> (tensor<?x0x4xf32>, tensor<?x0x4xf32>)", "tensor<?x0x4xf32>",
     "kv_cache: a size of 0 other than the number of tokens"),
    ("%q: tensor<3x2x0xf32>", "%0 = mllm.linalg.flash_attention2 %q, %q, %q {causal = true, scale = 1.0 : f64} : "
     "(tensor<3x2x0xf32>, tensor<3x2x0xf32>, tensor<3x2x0xf32>) -> tensor<3x2x0xf32>", "tensor<3x2x0xf32>",
     "flash_attention2: a size of 0 other than the number of tokens"),
    ("%x: tensor<4x1x0xf32>", "%0 = mllm.linalg.vision_rope %x {grid = array<i64: 1, 2, 2>} : tensor<4x1x0xf32>",
     "tensor<4x1x0xf32>", "vision_rope: a size of 0 other than the number of tokens"),
    ("%x: tensor<1048576x1x64xf32>", "%0 = mllm.linalg.vision_rope %x {grid = array<i64: 1, 1024, 1024>} : "
     "tensor<1048576x1x64xf32>", "tensor<1048576x1x64xf32>", "vision_rope: a table of more than 16777216 elements would be materialized"),
    ("%x: tensor<8192xf32>", "%0 = mllm.linalg.stft %x, %x {n_fft = 8192 : i64} : "
     "(tensor<8192xf32>, tensor<8192xf32>) -> tensor<4097x5x2xf32>", "tensor<4097x5x2xf32>",
     "stft: a table of more than 16777216 elements would be materialized"),
    ("%x: tensor<1x33554432xf32>", "%0 = mllm.linalg.layer_norm %x {normalized_shape = array<i64: 33554432>, "
     "eps = 1.0e-5 : f64} : tensor<1x33554432xf32>", "tensor<1x33554432xf32>",
     "layer_norm: a table of more than 16777216 elements would be materialized"),
)
# Some forms of a supported op.
PARTLY = ("only f32, i64, i32 and bool on the CPU are exported", "integer division rounds differently in ONNX",
          "the random generator is specific to LLMIR", "opset 17 has no antialiasing",
          "a factor that is not the quotient of the sizes", "a shape with several dynamic sizes is not supported",
          "is written twice in a step", "cannot be exported")
# ONNX leaves these unspecified for empty sets.
NO_VALUES = {"reduce_max", "reduce_min", "mean"}
# Registers a layer and has no result: not in graphs.
NOT_IN_GRAPHS = {"register"}

check = Checks()


def kinds_of_dialect():
    """The names of the ops of level linalg."""
    ops = llm_dialect.definitions(llm_dialect.records("include/llmir/Dialect/MLLM/MLLMOps.td"), "MLLM_Dialect")
    names = [op.mnemonic for op in ops if op.mnemonic.startswith("linalg.")]
    return {name[len("linalg."):] for name in names}


def kinds_of(case):
    return set(re.findall(r"mllm\.linalg\.(\w+)", "\n".join(case.body)))


def module_of(case):
    """The case as a traced model: its body is a module `model.layers.0`."""
    arguments = [i for i in case.inputs if i.symbol.startswith("%")]
    values = [v for e in case.expectations for v in e.values]
    types = [t.text for e in case.expectations for t in e.types]
    lines = ["module {"] + ["  " + text for text in case.text]
    lines += ["  mllm.tensor.register %s : %s {source = \"%s\"}" % (i.symbol, i.type.text, i.python_name)
              for i in case.inputs if i.symbol.startswith("@")]
    lines.append("  mllm.graph.subgraph @case(%s) -> (%s) attributes {entry} {" % (
        ", ".join("%s: %s" % (a.symbol, a.type.text) for a in arguments), ", ".join(types)))
    lines += ["    " + line + located(line) for line in case.body]
    lines.append("    mllm.cf.return %s : %s" % (", ".join(values), ", ".join(types)))
    return "\n".join(lines + ["  }", "}"]) + "\n"


def located(line):
    """Locations are at the end of an op of one line."""
    return ' loc("model.layers.0")' if line.startswith("%") and balanced(line) else ""


def balanced(line):
    plain = line.replace("->", "")
    return all(plain.count(left) == plain.count(right) for left, right in ("()", "<>", "[]", "{}")) \
        and not line.rstrip().endswith(("=", ":", ","))


def export(options, source, text, tokens=0):
    with open(source, "w", encoding="utf-8") as stream:
        stream.write(text)
    path = source[:-len(".mlir")] + ".onnx"
    done = options.translate.run("--mllm-to-onnx", "--export-tokens=%d" % tokens, source, "-o", path)
    return path, done.code, done.err


def agrees(kind, actual, expected, bound):
    """The same shape; integers and bools equal, floats near, with the same infinities and NaN."""
    actual, expected = np.asarray(actual, np.float64), np.asarray(kind.rounded(expected))
    if actual.shape != expected.shape:
        return False
    if not kind.is_float:
        return bool(np.array_equal(actual, expected))
    finite = np.isfinite(expected)
    with np.errstate(over="ignore"):
        rounded = actual.astype(np.float32)  # Values beyond the range of float32 are infinite there.
    if not np.array_equal(rounded[~finite], expected[~finite].astype(np.float32), equal_nan=True):
        return False
    error = np.sum(np.square(actual[finite] - expected[finite]))
    return bool(error <= bound * (np.sum(np.square(expected[finite])) or 1.0))


def check_checker(case, path):
    try:
        onnx.checker.check_model(path, full_check=True)
        check(case.name + ": checker", True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        check(case.name + ": checker", False, error)


def check_runs(options, case, path, names, jobs):
    model = onnx.load(path)
    inputs = [entry.name for entry in model.graph.input]
    arguments = [i for i in case.inputs if i.symbol.startswith("%")]
    given = inputs[:len(arguments)]
    for run in range(case.runs()):
        if kinds_of(case) & NO_VALUES and any(0 in i.shape(run) for i in case.inputs):
            continue
        numbers = {i.symbol: i.numbers(case.name, run) for i in case.inputs}
        feeds = {name: argument.type.stored(numbers[argument.symbol]) for name, argument in zip(given, arguments)}
        feeds.update({i.symbol[1:]: numbers[i.symbol].astype(np.float32) for i in case.inputs
                      if i.symbol.startswith("@")})
        known = dict(names, np=np, run=run, **{i.python_name: numbers[i.symbol] for i in case.inputs})
        expected = [(kind, result, e.bound) for e in case.expectations
                    for kind, result in zip(e.types, e.compute(known))]
        outputs = onnx_numpy.evaluate(model, feeds)
        order = [entry.name for entry in model.graph.output]
        # SPEC: 273
        check("%s.%d: results" % (case.name, run), len(order) == len(expected), order)
        # LLMIR rounds activations for bf16 weights, and documents that this is
        # not exported.
        least = 1e-4 if any(i.type.kind == "bf16" and i.symbol.startswith("@") for i in case.inputs) else NMSE
        if options.onnxruntime and all(array.size for array in feeds.values()):  # Divides by the size of some.
            name = "%s.%d" % (case.name, run)
            jobs.append((name, onnx_node.write_job(options.work, name, path, feeds), expected, least))
        for name, (kind, result, bound) in zip(order, expected):
            check("%s.%d: %s" % (case.name, run, name), agrees(kind, outputs[name], result, max(bound, least)),
                  (outputs[name], result))


def check_in_node(options, jobs):
    """The same runs in float32, by onnxruntime."""
    answers = onnx_node.run_jobs(options.onnxruntime, [job for _, job, _, _ in jobs])
    for (name, _, expected, least), (outputs, error) in zip(jobs, answers):
        if outputs is None:
            check(name + ": onnxruntime-web runs it", False, error)
            continue
        for (key, array), (kind, result, _) in zip(outputs.items(), expected):
            check("%s: %s in onnxruntime-web" % (name, key), agrees(kind, array, result, least), (array, result))


def check_case(options, case, names, exported, refused, jobs):
    """Exported with dynamic sizes, else with static ones if all runs have the same, or rejected with one error."""
    source = os.path.join(options.work, case.name + ".mlir")
    path, code, errors = export(options, source, module_of(case))
    if code == 0:
        check_checker(case, path)
        exported |= kinds_of(case)
        if not case.once:  # Caches are inputs and outputs; onnx_models.py runs steps of whole decoders.
            check_runs(options, case, path, names, jobs)
        return
    lines = [line for line in errors.split("\n") if "error:" in line]
    check(case.name + ": one sentence", len(lines) == 1, errors)
    sentences = [(kind, words) for kind, words in REFUSED_CASES.items() if kind in kinds_of(case)]
    sentences += [(kind, words) for kind in kinds_of(case) for words in PARTLY]
    found = [kind for kind, words in sentences if words in errors and (kind + ": " in errors or words == PARTLY[-1])]
    check(case.name + ": the sentence names op and reason", found, errors)
    check(case.name + ": and the module's path", "model.layers.0: " in errors or PARTLY[-1] in errors
          or not any(located(line) for line in case.body), errors)
    refused.update(kind for kind in found if kind in REFUSED_CASES)


def check_refused_form(options, form):
    arguments, line, result, words = form
    text = ("module {\n  mllm.graph.subgraph @f(%s) -> %s attributes {entry} {\n"
            "    %s loc(\"model.layers.3.mlp\")\n    mllm.cf.return %%0 : %s\n  }\n}\n"
            % (arguments, result, line, result))
    _, code, errors = export(options, os.path.join(options.work, "refused.mlir"), text)
    check(words + ": refused", code == 1 and "model.layers.3.mlp: " + words in errors, (code, errors))


def check_refused(options, kind, row, refused):
    arguments, operands, types, words = row
    check_refused_form(options, (arguments, "%%0 = mllm.linalg.%s %s : %s" % (kind, operands, types),
                                 types.split(" -> ")[1], "%s: %s" % (kind, words)))
    refused.add(kind)


def main():
    parser = work_parser(__doc__, "llmir-translate")
    parser.add_argument("--onnxruntime", help="node_modules/onnxruntime-web")
    parser.add_argument("--only", help="the name of a case")
    options = parser.parse_args()
    fresh_folder(options.work)
    options.translate = Command(options.llmir_translate)
    names = mllm_oracle.modules()
    exported, refused, jobs = set(), set(), []
    files = sorted(glob.glob(os.path.join(ROOT, "test", "Interpreter", "MLLM", "*.test")))
    for path in files + [os.path.join(HERE, "Inputs", "onnx.cases")]:
        for case in mllm_oracle.read_cases(path):
            if options.only in (None, case.name):
                check_case(options, case, names, exported, refused, jobs)
    if options.onnxruntime:
        check_in_node(options, jobs)
    for kind, row in REFUSED.items():
        check_refused(options, kind, row, refused)
    for form in REFUSED_FORMS:
        check_refused_form(options, form)
    missing = kinds_of_dialect() - exported - refused - NOT_IN_GRAPHS
    check("every op is exported or refused", options.only or not missing, sorted(missing))
    check("none is both", not exported & refused, sorted(exported & refused))
    print("%d ops exported, %d refused" % (len(exported), len(refused)))
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
