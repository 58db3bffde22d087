#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models on XNNPACK: equal to the reference interpreter, with the expected share of the work in XNNPACK.

    xnnpack_models.py --work DIR --llmir PROGRAM --llmir-translate PROGRAM --inputs DIR [--seed N]

llmir-translate compares; this script checks the supported ops, and that an error is detected.
"""

import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "reference"))

import make_tiny  # noqa: E402
from checks import Checks, Command, fresh_folder, work_parser  # noqa: E402

check = Checks()

SHARE = re.compile(r"xnnpack, (\d+) tokens after \d+: (\d+) of (\d+) ops, ([0-9.]+) % of (\d+) floating-point operations, "
                   r"in (\d+) parts of (\d+) subgraphs")


def check_run(name, result, least_share, tokens, results):
    """Checks a successful run: a static graph per number of tokens, the share of the work in XNNPACK, the number of results."""
    text = result.out
    check(name + ": runs", result.code == 0, result)
    shares = SHARE.findall(text)
    # SPEC: 273
    check(name + ": sizes are bound", [int(share[0]) for share in shares] == tokens, text)
    check(name + ": share", shares and all(float(share[3]) >= least_share for share in shares), text)
    compared = [float(error) for error in re.findall(r"NMSE (\S+)", text)]
    check(name + ": results", len(compared) == results and max(compared) <= 1e-9, text)
    return text


def check_decoder(options, family, ops_left, least_share):
    """Prefill of 7 tokens, then 1, 1 and 3, with a checkpoint's weights."""
    config, weights = make_tiny.make(family, seed=options.seed)
    folder = os.path.join(options.work, family)
    make_tiny.write_hf(folder, config, weights)
    source = os.path.join(options.work, family + ".mlir")
    traced = options.llmir.run("compile", folder, "--emit", "mllm", "-o", source)
    check(family + ": --emit mllm", traced.code == 0, traced)
    text = check_run(family, options.translate.run("--run-xnnpack", source, "--xnnpack-weights=" + folder, "--xnnpack-steps=7,1,1,3",
                                                   "--seed=%d" % options.seed), least_share, [7, 1, 1, 3], 4)
    left = set(re.findall(r"left to the reference: (\w+):", text))
    check(family + ": what is left", left == set(ops_left), text)
    # The parameters are those of the given checkpoint, independent of the
    # traced one.
    other = os.path.join(options.work, family + "-other")
    make_tiny.write_hf(other, *make_tiny.make(family, seed=options.seed + 1))
    check_run(family + " with other weights", options.translate.run(
        "--run-xnnpack", source, "--xnnpack-weights=" + other, "--xnnpack-steps=5,1",
        "--seed=%d" % options.seed), least_share, [5, 1], 2)
    make_tiny.write_hf(other, *make_tiny.make(family, seed=options.seed, layers=1))
    result = options.translate.run("--run-xnnpack", source, "--xnnpack-weights=" + other, "--xnnpack-steps=5")
    check(family + " with too few weights", result.code != 0 and re.search(r"\b(?:layers|h)\.1\.", result.err), result)
    # A tighter bound fails: rounding of f32 is detected.
    result = options.translate.run("--run-xnnpack", source, "--xnnpack-weights=" + folder, "--xnnpack-steps=7",
                                   "--xnnpack-bound=1e-18")
    check(family + ": the bound", result.code != 0 and "more than 1.0e-18" in result.err, result)


# The parameter is used in a region only: the graph's ops do not have it.
BRANCH = """module {
  mllm.tensor.register @w : tensor<3x2xf32> {source = "w"}
  mllm.graph.subgraph @f(%c: tensor<i1>, %x: tensor<1x2xf32>) -> tensor<1x3xf32> attributes {entry} {
    %0 = mllm.cf.if %c : tensor<i1> -> tensor<1x3xf32> {
      %a = mllm.linalg.linear %x, @w : tensor<1x2xf32> -> tensor<1x3xf32>
      mllm.cf.yield %a : tensor<1x3xf32>
    } else {
      %b = mllm.linalg.linear %x, @w : tensor<1x2xf32> -> tensor<1x3xf32>
      mllm.cf.yield %b : tensor<1x3xf32>
    }
    mllm.cf.return %0 : tensor<1x3xf32>
  }
}
"""


def check_branch(options, folder):
    """Control flow is rejected once, without evaluating the reference."""
    source = os.path.join(options.work, "branch.mlir")
    with open(source, "w", encoding="utf-8") as stream:
        stream.write(BRANCH)
    for flags in ((), ("--xnnpack-weights=" + folder,)):
        result = options.translate.run("--run-xnnpack", source, *flags)
        check("branch %s: refused" % (flags,), result.code == 1 and "a static graph has no control flow" in result.err
              and result.err.count("error:") == 1, result)


def check_failures(options):
    source = os.path.join(options.inputs, "onnx-vision.mlir")
    for flags, words in ((("--xnnpack-threads=0",), "give 1 to 1024"),
                         (("--xnnpack-weights=/nowhere",), "/nowhere"),
                         (("--export-size=seq",), "is not name=number"),
                         (("--xnnpack-steps=-1",), "the number of tokens is -1")):
        result = options.translate.run("--run-xnnpack", source, *flags)
        check("%s fails" % flags, result.code != 0 and words in result.err, result)


def main():
    parser = work_parser(__doc__, "llmir", "llmir-translate", "inputs")
    parser.add_argument("--seed", type=int, help="random unless given")
    options = parser.parse_args()
    if options.seed is None:
        options.seed = int.from_bytes(os.urandom(3), "little")
    print("seed %d" % options.seed)
    fresh_folder(options.work)
    options.llmir, options.translate = Command(options.llmir), Command(options.llmir_translate)
    attention = ("embedding", "rope", "kv_cache", "flash_attention2")
    check_decoder(options, "llama", attention, 95)
    check_decoder(options, "qwen3", attention, 95)
    check_decoder(options, "gpt2", ("embedding", "positions", "kv_cache", "flash_attention2"), 95)
    check_run("vision", options.translate.run("--run-xnnpack", os.path.join(options.inputs, "onnx-vision.mlir")), 40,
              [1], 1)
    check_branch(options, os.path.join(options.work, "llama"))
    check_failures(options)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
