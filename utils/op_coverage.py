#!/usr/bin/env python3
"""The table docs/Dialects/LLM-coverage.md: each op of the `llm` dialect, and its
verifier, reference, canonicalization, CPU lowering and tests.

All columns are found in the sources; only why an op has no canonicalization is
written down, in docs/Dialects/LLM-coverage.json.

op_coverage.py           fails when a column of an op is empty, or the table stale
op_coverage.py --write   writes the table
"""

import argparse
import json
import os
import re
import sys

import llm_dialect
from llm_dialect import ROOT, files_under, read

PAGE = "docs/Dialects/LLM-coverage.md"
REASONS = "docs/Dialects/LLM-coverage.json"
# Where an op may be lowered, the code that says so, and what the table says.
LOWERINGS = [
    ("lib/Conversion/LLMToProgram", r"\badd\w*<(?:ll::|llm::)?{op}>|_cast<ll::{op}>\(", "kernels"),
    ("lib/Dialect/LLM/Transforms/Lowering", r"OpRewritePattern<{op}>", "`-llm-lowering`"),
    ("lib/Dialect/LLM/Transforms/LowerKVCache", r"OpRewritePattern<{op}>", "`-llm-lower-kv-cache-ops`"),
]
EVALUATOR = r"\({op} op,\s*Evaluation\b"
COLUMNS = ("verifier", "reference", "canonicalization", "CPU lowering", "round trip", "negative tests", "executed by")


def without_comments(text):
    return re.sub(r"//.*", "", text)


def sources_with(pattern, op, folder, texts):
    """The files below a folder whose code has the pattern, `{op}` being its class."""
    found = re.compile(pattern.replace("{op}", op.cpp_class))
    return [path for path, text in texts.items() if path.startswith(folder) and found.search(text)]


class Sources:
    """Everything that the columns are found in."""

    def __init__(self):
        cpp = files_under("lib/Interpreter", ".cpp", ".h") + files_under(
            "lib/Conversion/LLMToProgram", ".cpp", ".h") + files_under("lib/Dialect/LLM/Transforms", ".cpp", ".h")
        self.code = {path: without_comments(read(path)) for path in cpp}
        self.ir_code = "\n".join(without_comments(read(path)) for path in files_under(llm_dialect.IR_FOLDER, ".cpp"))
        self.tests = {path: read(path) + self.made_by_scripts(path)
                      for path in files_under("test", ".mlir", ".test") + files_under("examples/LLM", ".mlir")}
        with open(os.path.join(ROOT, REASONS), encoding="utf-8") as stream:
            self.reasons = json.load(stream)

    @staticmethod
    def made_by_scripts(path):
        """The scripts beside a test that its RUN lines call: they write its IR."""
        folder = os.path.dirname(path)
        return "".join(read(os.path.join(folder, name)) for name in sorted(
            set(re.findall(r"RUN:.*%S/(\w+\.py)", read(path))))) if path.endswith(".test") else ""

    def tests_using(self, mnemonic, run):
        """Tests with the op in their IR and `run` in a RUN line."""
        op = re.compile(rf"^(?!\s*//).*\bllm\.{mnemonic}\b", re.M)
        return [path for path, text in self.tests.items()
                if any(re.search(run, line) for line in text.split("\n") if "RUN:" in line or line.rstrip().endswith("\\"))
                and op.search(text)]


def traits_of(record, data):
    names = set()
    for trait in record["traits"]:
        each = data[trait["def"]]
        names.add(each.get("cppInterfaceName") or each.get("trait") or trait["def"])
    return names


def verifier(op, data):
    count = len(op.labels())
    parts = []
    if count:
        parts.append(f"{count} rule" + ("s" if count != 1 else ""))
    traits = traits_of(op.record, data)
    if op.record["hasVerifier"] and not count:
        return ""  # What it refuses has to be said.
    if "InferTypeOpInterface" in traits:
        parts.append("inferred types")
    elif "SameOperandsAndResultType" in traits:
        parts.append("one type")
    elif not parts:
        parts.append("types of operands")
    return ", ".join(parts)


def canonicalization(op, sources):
    parts = []
    if op.record["hasCanonicalizer"] or op.record["hasCanonicalizeMethod"]:
        parts.append("patterns")
    if op.record["hasFolder"]:
        parts.append("fold")
    reason = sources.reasons["canonicalization"].get(op.mnemonic)
    if not parts:
        return f"none: {reason}" if reason else ""
    return ", ".join(parts)


def lowering(op, sources):
    return ", ".join(name for folder, pattern, name in LOWERINGS
                     if sources_with(pattern, op, folder, sources.code))


def links(paths, most=2):
    return ", ".join(f"[{os.path.basename(path)}](../../{path})" for path in paths[:most])


def negative_tests(op, sources):
    count = sum(len(re.findall(rf"RULE:[^\n]*\b{op.mnemonic}\.c\d+", text)) for text in sources.tests.values())
    return str(count) if count else ("" if op.labels() else "no rule")


def row(op, data, sources):
    reference = sources_with(EVALUATOR, op, "lib/Interpreter", sources.code)
    executed = sources.tests_using(op.mnemonic, r"llmir-translate.*--(compare|execute)")
    return {
        "verifier": verifier(op, data),
        "reference": links(reference, 1),
        "canonicalization": canonicalization(op, sources),
        "CPU lowering": lowering(op, sources),
        "round trip": links(sources.tests_using(op.mnemonic, "--verify-roundtrip"), 1),
        "negative tests": negative_tests(op, sources),
        "executed by": links(sorted(executed, key=lambda path: (not path.startswith("test/Execution"), path))),
    }


def page(table):
    lines = [
        "# What each op of the `llm` dialect has",
        "",
        "<!-- Made by utils/op_coverage.py; do not edit. -->",
        "",
        "`verifier`: the labelled rules beyond the constraints of the operands' types. `reference`: where the",
        "interpreter evaluates the op. `CPU lowering`: `kernels` is code of its own, a pass makes others of it.",
        "`executed by`: tests that compare compiled code with the reference.",
        "",
        "| op | " + " | ".join(COLUMNS) + " |",
        "|---|" + "---|" * len(COLUMNS),
    ]
    for mnemonic, cells in table.items():
        lines.append(f"| `llm.{mnemonic}` | " + " | ".join(cells[column] for column in COLUMNS) + " |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    data, sources = llm_dialect.records(), Sources()
    ops = [each for each in llm_dialect.definitions(data) if each.kind == "op"]
    table = {op.mnemonic: row(op, data, sources) for op in ops}
    if options.write:
        with open(os.path.join(ROOT, PAGE), "w", encoding="utf-8") as stream:
            stream.write(page(table))

    wrong = [f"llm.{mnemonic}: no {column}" for mnemonic, cells in table.items()
             for column in COLUMNS if not cells[column]]
    wrong += [f"llm.{op.mnemonic}: ${name} is not described" for op in ops
              for name, described in llm_dialect.values_of(op.record, data) if not described]
    overview = read("docs/Dialects/LLM.md")
    wrong += [f"docs/Dialects/LLM.md: llm.{op.mnemonic} is not among the kinds of ops" for op in ops
              if f"`llm.{op.mnemonic}`" not in overview]
    has = {op.mnemonic for op in ops if canonicalization(op, sources).startswith("none")}
    wrong += [f"{REASONS}: llm.{mnemonic} needs no reason" for mnemonic in sources.reasons["canonicalization"]
              if mnemonic not in has]
    if not os.path.isfile(os.path.join(ROOT, PAGE)) or read(PAGE) != page(table):
        wrong.append(f"{PAGE} is stale: run utils/op_coverage.py --write")
    for each in wrong:
        print(each)
    print(f"{len(ops)} ops, {len(wrong)} holes")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
