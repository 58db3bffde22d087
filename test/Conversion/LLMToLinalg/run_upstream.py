#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares functions that are converted by -convert-llm-to-linalg, then lowered and run by MLIR's own tools, with the
interpreter: run_upstream.py GROUP, a group of cases of linalg_cases.py, expert_cases.py or cache_cases.py. With
--cache-library FILE cache ops call that library."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "reference"))

from checks import Checks, Command, fresh_folder, work_parser  # noqa: E402
from upstream import TOLERANCE, Upstream, deviation  # noqa: E402

import cache_cases  # noqa: E402
import expert_cases  # noqa: E402
import linalg_cases  # noqa: E402

check = Checks()


def main():
    parser = work_parser(__doc__, "bin", "mlir-bin")
    parser.add_argument("--cache-library")
    parser.add_argument("group")
    options = parser.parse_args()
    fresh_folder(options.work)
    tool = lambda folder, name: Command(os.path.join(folder, name))
    libraries = [os.path.join(options.mlir_bin, "..", "lib", "libmlir_%s.so" % name)
                 for name in ("runner_utils", "c_runner_utils", "float16_utils")]
    flags = []
    if options.cache_library:
        libraries.append(options.cache_library)
        flags.append("cache=runtime")
    upstream = Upstream(options.work, tool(options.bin, "llmir-opt"), tool(options.bin, "llmir-translate"),
                        tool(options.mlir_bin, "mlir-opt"), tool(options.mlir_bin, "mlir-runner"), libraries,
                        flags)
    groups = dict(vars(linalg_cases), **dict(vars(cache_cases), **vars(expert_cases)))
    cases = list(groups[options.group]())
    for name, results in upstream.run(options.group, cases).items():
        limit = next(case.tolerance for case in cases if case.name == name)
        for number, (kind, expected, bits) in enumerate(results):
            error = deviation(kind, expected, bits)
            check("@%s result %d" % (name, number), error <= (limit or TOLERANCE.get(kind, 0)),
                  "error %g\nexpected %s\nactual %s" % (error, expected.ravel(), bits))
    print("%d cases" % len(cases))
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
