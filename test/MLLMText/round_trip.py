"""Prints every op of the mllm dialect in the MLLM text format and parses it.

round_trip.py TRANSLATE OPT TABLE DIR...

Each section of each .mlir file of the directories that llmir-opt accepts goes MLIR →
text format → MLIR, and must yield the same MLIR. TABLE lists the ops
(GeneratedOps.inc); an op that occurs in no section is an error.
"""

import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference"))
from checks import Checks, Command  # noqa: E402


def main():
    translate, opt, table = Command(sys.argv[1]), Command(sys.argv[2]), sys.argv[3]
    check = Checks()
    with open(table, encoding="utf-8") as stream:
        ops = set(re.findall(r'MLLM_OP\("([\w.]+)"', stream.read()))
    seen, sections = set(), 0
    files = [os.path.join(folder, name) for folder in sys.argv[4:] for name in sorted(os.listdir(folder))]
    for name in files:
        if not name.endswith(".mlir") or "invalid" in name:
            continue
        with open(name, encoding="utf-8") as stream:
            parts = stream.read().split("\n// -----")
        for number, part in enumerate(parts, 1):
            read = opt.run("-", stdin=part.encode())
            text = read.out
            if read.code or "mllm." not in text:
                continue
            sections += 1
            place = f"{name}, section {number}"
            notation = translate.run("--mlir-to-mllm", "-", stdin=read.data)
            check(f"{place}: is printed", notation.code == 0, notation)
            if notation.code:
                continue
            back = translate.run("--mllm-to-mlir", "-", stdin=notation.data)
            if back.code:
                with tempfile.NamedTemporaryFile("wb", suffix=".mllm", delete=False) as kept:
                    kept.write(notation.data)
                check(f"{place}: is read back", False, f"{back} (in {kept.name})")
                continue
            # As printed by llmir-opt, which may have other dialects than llmir-translate.
            back = opt.run("-", stdin=back.data)
            same = back.code == 0 and back.out.split() == text.split()
            check(f"{place}: comes back as the same module", same, f"{back}\ninstead of\n{text}")
            if same:
                seen |= {op for op in ops if re.search(re.escape(op) + r"(?![\w.])", text)}
    for op in sorted(ops):
        check(f"an example of {op}", op in seen)
    print(f"{len(seen)} ops of {len(ops)} in {sections} sections")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
