#!/usr/bin/env python3
"""A fake `llmir compile --stop-after artifact` for compile-time.test.

The name of the target selects the behavior: `steady` always writes the same bytes, `random` different
ones, `failing` exits with 1. A counter file next to this one makes the third run the slowest.
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
