#!/usr/bin/env python3
"""Stands for `llmir compile --stop-after artifact` in compile-time.test.

The target's name says what happens: `steady` writes the same bytes each time, `random` others,
`failing` ends with 1. A counter file beside this one makes the third run the slowest.
"""
import os
import sys

target = sys.argv[sys.argv.index("--target") + 1]
output = sys.argv[sys.argv.index("-o") + 1]
if target == "failing":
    print("llmir: error: no such level", file=sys.stderr)
    sys.exit(1)
counter = os.path.abspath(__file__) + "." + target
runs = 1
if os.path.exists(counter):
    with open(counter) as stream:
        runs += int(stream.read())
with open(counter, "w") as stream:
    stream.write(str(runs))
with open(output, "wb") as stream:
    stream.write(os.urandom(16) if target == "random" else b"artifact")
print("checkpoint %9.1f ms  llama, 2 layers" % 1.5)
print("target     %9.1f ms  1 KiB of code for %s" % ((100, 300, 5000)[runs - 1], target))
print("artifact   %9.1f ms  m.llmir" % 20)
