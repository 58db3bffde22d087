"""Every op of the mllm dialect, printed in the documents' notation and read back.

round_trip.py TRANSLATE OPT TABLE FOLDER...

Each section of each .mlir file of the folders that llmir-opt accepts goes MLIR →
notation → MLIR, and must come back as the same MLIR. TABLE lists the ops
(GeneratedOps.inc); one that no section holds is an error.
"""

import os
import re
import subprocess
import sys
import tempfile


def run(command, text):
    result = subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    return result.stdout if result.returncode == 0 else None, result.stderr


def main():
    translate, opt, table = sys.argv[1:4]
    with open(table, encoding="utf-8") as stream:
        ops = set(re.findall(r'MLLM_OP\("([\w.]+)"', stream.read()))
    seen, sections, failures = set(), 0, []
    files = [os.path.join(folder, name) for folder in sys.argv[4:] for name in sorted(os.listdir(folder))]
    for name in files:
        if not name.endswith(".mlir") or "invalid" in name:
            continue
        with open(name, encoding="utf-8") as stream:
            parts = stream.read().split("\n// -----")
        for number, part in enumerate(parts, 1):
            text, _ = run([opt, "-"], part)
            if text is None or "mllm." not in text:
                continue
            sections += 1
            place = f"{name}, section {number}"
            notation, errors = run([translate, "--mlir-to-mllm", "-"], text)
            if notation is None:
                failures.append(f"{place}: not printed: {errors}")
                continue
            back, errors = run([translate, "--mllm-to-mlir", "-"], notation)
            if back is None:
                with tempfile.NamedTemporaryFile("w", suffix=".mllm", delete=False) as kept:
                    kept.write(notation)
                failures.append(f"{place}: not read back: {errors} (in {kept.name})")
                continue
            # As llmir-opt prints it, which may have other dialects than the translator.
            back, _ = run([opt, "-"], back)
            if back is None or back.split() != text.split():
                failures.append(f"{place}: comes back as another module:\n{back}\ninstead of\n{text}")
                continue
            seen |= {op for op in ops if re.search(re.escape(op) + r"(?![\w.])", text)}
    failures += [f"no example of {op} was found" for op in sorted(ops - seen)]
    for failure in failures:
        print(failure)
    print(f"{len(seen)} ops of {len(ops)} in {sections} sections")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
