#!/usr/bin/env python3
"""The tables docs/Dialects/LLM-coverage.md and MLLM-coverage.md: each op of the
two dialects, and its verifier, reference, canonicalization, lowering and tests.

All columns are derived from the sources; only the reasons for empty columns (an op
without canonicalization, for example) are written by hand, in the .json file of the
same name: {column: {op, or level.*: reason}}.

op_coverage.py           fails if a column of an op is empty, a reason is not needed,
                         or a table is stale
op_coverage.py --write   writes the tables
"""

import argparse
import json
import os
import re
import sys

import llm_dialect
from llm_dialect import ROOT, files_under, read


def without_comments(text):
    return re.sub(r"//.*", "", text)


def plural(count, what):
    return f"{count} {what}" + ("s" if count != 1 else "")


def links(paths, most=2):
    return ", ".join(f"[{os.path.basename(path)}](../../{path})" for path in paths[:most])


def traits_of(record, data):
    names = set()
    for trait in record["traits"]:
        each = data[trait["def"]]
        names.add(each.get("cppInterfaceName") or each.get("trait") or trait["def"])
    return names


def run_lines(text):
    """The commands of a test, with continued lines joined."""
    lines = re.findall(r"RUN:(.*(?:\\\n.*)*)", text)
    return [re.sub(r"\\\n(?://)?\s*(?:RUN:)?", " ", line) for line in lines]


# What fills an empty column, by column.
REMEDIES = {
    "types": "infer them (InferTypeOpInterface)",
    "reference": "evaluate it in lib/Interpreter",
    "bound": "the base class of linalg ops states it",
    "canonicalization": "add a fold or a pattern",
    "lowering": "add a row to the table of lib/Conversion/MLLMToLLM",
    "CPU lowering": "add a row to the table of lib/Conversion/LLMToProgram, or a pattern of -llm-lowering",
    "in a step": "add a rule to lib/Conversion/MLLMToLLM/TokenDimensions.cpp",
    "round trip": "use it in a test with --verify-roundtrip",
    "three syntaxes": "use it in a test with --mlir-print-op-generic and --emit-bytecode, as in test/Dialect/MLLM",
    "notation": "use it in a .mlir file of test/Dialect/MLLM whose name lacks 'invalid'",
    "negative tests": "name its rules in tests, '// RULE: op.c1'",
    "NumPy": "add a case to test/Interpreter/MLLM",
    "executed by": "use it in a test with llmir-translate --compare, as in test/Execution",
}


class Tests:
    """The tests by path, with the IR that scripts generate for them."""

    def __init__(self):
        self.texts = {path: read(path) + self.made_by_scripts(path)
                      for path in files_under("test", ".mlir", ".test") + files_under("examples/LLM", ".mlir")}
        self.runs = {path: run_lines(text) for path, text in self.texts.items()}

    @staticmethod
    def made_by_scripts(path):
        """The scripts next to a test that its RUN lines call to generate IR."""
        folder = os.path.dirname(path)
        return "".join(read(os.path.join(folder, name)) for name in sorted(
            set(re.findall(r"RUN:.*%S/(\w+\.py)", read(path))))) if path.endswith(".test") else ""

    def using(self, name, *runs):
        """Tests with the op in their IR and, for each of `runs`, a RUN line that contains it."""
        op = re.compile(rf"^(?!\s*//).*\b{re.escape(name)}(?![\w.])", re.M)
        return [path for path, text in self.texts.items()
                if all(any(re.search(run, line) for line in self.runs[path]) for run in runs) and op.search(text)]

    def negative(self, rule, folder):
        """The number of times that tests below a directory name a rule of the op."""
        return sum(len(re.findall(rf"RULE:[^\n]*(?<![\w.]){re.escape(rule)}\.c\d+", text))
                   for path, text in self.texts.items() if folder in path)


class Dialect:
    """One dialect's table: its columns and how they are derived."""

    name = definition = title = ops_td = reasons_path = page_path = overview_path = None
    # The files whose code evaluates an op, and the pattern for it.
    evaluator = r"\((?:mllm::)?{op} op,\s*Evaluation\b"
    # Where an op may be lowered, the pattern for it, and the entry of the table.
    lowerings = ()
    # What RUN lines of a round-trip test contain together.
    round_trip = ()
    rule_folder = ""
    introduction = ()

    def __init__(self, tests):
        self.tests = tests
        self.data = llm_dialect.records(self.ops_td)
        self.ops = [each for each in llm_dialect.definitions(self.data, self.definition) if each.kind == "op"]
        folders = {"lib/Interpreter"} | {folder for folder, _, _ in self.lowerings}
        self.code = {path: without_comments(read(path)) for folder in folders
                     for path in files_under(folder, ".cpp", ".h") or [folder]}
        with open(os.path.join(ROOT, self.reasons_path), encoding="utf-8") as stream:
            self.reasons = json.load(stream)
        self.used_reasons = set()
        self.columns = self.all_columns()

    def all_columns(self):
        """{column: entry of the table, "" if empty}, in order."""
        raise NotImplementedError

    def full_name(self, op):
        return f"{self.name}.{op.mnemonic}"

    def traits(self, op):
        return traits_of(op.record, self.data)

    def sources_with(self, pattern, op, folder):
        """The files below a directory whose code matches the pattern, `{op}` being its class."""
        found = re.compile(pattern.replace("{op}", op.cpp_class))
        return [path for path, text in self.code.items() if path.startswith(folder) and found.search(text)]

    def verifier(self, op):
        count = len(op.labels())
        parts = [plural(count, "rule")] if count else []
        if op.record["hasVerifier"] and not count:
            return ""  # What it refuses has to be said.
        if "InferTypeOpInterface" in self.traits(op):
            parts.append("inferred types")
        elif "SameOperandsAndResultType" in self.traits(op):
            parts.append("one type")
        elif not parts:
            parts.append("types of operands")
        return ", ".join(parts)

    def canonicalization(self, op):
        parts = []
        if op.record["hasCanonicalizer"] or op.record["hasCanonicalizeMethod"]:
            parts.append("patterns")
        if op.record["hasFolder"]:
            parts.append("fold")
        return ", ".join(parts)

    def reference(self, op):
        return links(self.sources_with(self.evaluator, op, "lib/Interpreter"), 1)

    def lowering(self, op):
        names = [name for folder, pattern, name in self.lowerings_of(op) if self.sources_with(pattern, op, folder)]
        return ", ".join(dict.fromkeys(names))

    def lowerings_of(self, op):
        return self.lowerings

    def round_trips(self, op):
        return links(self.tests.using(self.full_name(op), *self.round_trip), 1)

    def negative_tests(self, op):
        count = self.tests.negative(llm_dialect.rule_name(op), self.rule_folder)
        return str(count) if count else ("" if op.labels() else "no rule")

    def executed_by(self, op):
        executed = self.tests.using(
            self.full_name(op), r"llmir-translate.*--(compare|execute)|mllm_oracle\.py.*--compiled")
        return links(sorted(executed, key=lambda path: (not path.startswith("test/Execution"), path)))

    def reason(self, column, op):
        """Why an op has an empty column, by its name or its level's."""
        given = self.reasons.get(column, {})
        for key in (op.mnemonic, op.mnemonic.split(".")[0] + ".*"):
            if key in given:
                self.used_reasons.add((column, key))
                return f"none: {given[key]}"
        return ""

    def row(self, op):
        return {column: find(op) or self.reason(column, op) for column, find in self.columns.items()}

    def page(self, table):
        lines = [f"# What each op of the `{self.name}` dialect has", "",
                 "<!-- Made by utils/op_coverage.py; do not edit. -->", "", *self.introduction, "",
                 "| op | " + " | ".join(self.columns) + " |", "|---|" + "---|" * len(self.columns)]
        for name, cells in table.items():
            lines.append(f"| `{name}` | " + " | ".join(cells.values()) + " |")
        return "\n".join(lines) + "\n"

    def undocumented(self):
        """Missing descriptions, and ops missing from the overview."""
        overview = read(self.overview_path)
        for op in self.ops:
            name = self.full_name(op)
            if not op.record["summary"] or not op.description.strip():
                yield f"{name}: no summary or no description"
            for value, described in llm_dialect.values_of(op.record, self.data):
                if not described:
                    yield f"{name}: ${value} is not described"
            if not self.is_in_overview(op, overview):
                yield f"{self.overview_path}: {name} is not among the kinds of ops"

    def is_in_overview(self, op, overview):
        return f"`{self.full_name(op)}`" in overview

    def check(self, write):
        """What is missing, one sentence each; writes the table first if requested."""
        table = {self.full_name(op): self.row(op) for op in self.ops}
        text = self.page(table)
        if write:
            with open(os.path.join(ROOT, self.page_path), "w", encoding="utf-8") as stream:
                stream.write(text)
        for name, cells in table.items():
            for column, cell in cells.items():
                if not cell:
                    remedy = REMEDIES.get(column, "describe its rules")
                    given = self.reasons.get(column)
                    instead = f", or give a reason under '{column}' in {self.reasons_path}" if given else ""
                    yield f"{name}: the column '{column}' is empty: {remedy}{instead}"
        yield from self.undocumented()
        for column, given in self.reasons.items():
            for key in given:
                if (column, key) not in self.used_reasons:
                    yield f"{self.reasons_path}: {self.name}.{key} needs no reason under '{column}'"
        if not os.path.isfile(os.path.join(ROOT, self.page_path)) or read(self.page_path) != text:
            yield f"{self.page_path} is stale: run utils/op_coverage.py --write"


class LLMDialect(Dialect):
    name, definition = "llm", "LLM_Dialect"
    ops_td = llm_dialect.OPS_TD
    page_path, reasons_path = "docs/Dialects/LLM-coverage.md", "docs/Dialects/LLM-coverage.json"
    overview_path = "docs/Dialects/LLM.md"
    lowerings = (
        ("lib/Conversion/LLMToProgram", r"\badd\w*<(?:ll::|llm::)?{op}>|_cast<ll::{op}>\(", "kernels"),
        ("lib/Dialect/LLM/Transforms/Lowering.cpp", r"OpRewritePattern<{op}>", "`-llm-lowering`"),
        ("lib/Dialect/LLM/Transforms/LowerKVCacheOps.cpp", r"OpRewritePattern<{op}>", "`-llm-lower-kv-cache-ops`"),
    )
    round_trip = ("--verify-roundtrip",)
    introduction = (
        "`verifier`: the labeled rules beyond the constraints of the operands' types. `reference`: where the",
        "interpreter evaluates the op. `CPU lowering`: `kernels`, or the pass that converts the op to others.",
        "`executed by`: tests that compare compiled code with the reference.")

    def all_columns(self):
        return {"verifier": self.verifier, "reference": self.reference, "canonicalization": self.canonicalization,
                "CPU lowering": self.lowering, "round trip": self.round_trips, "negative tests": self.negative_tests,
                "executed by": self.executed_by}


class MLLMDialect(Dialect):
    name, definition = "mllm", "MLLM_Dialect"
    ops_td = llm_dialect.MLLM_OPS_TD
    page_path, reasons_path = "docs/Dialects/MLLM-coverage.md", "docs/Dialects/MLLM-coverage.json"
    overview_path = "docs/Dialects/MLLM.md"
    evaluator = (r"\((?:mllm::)?{op}(?: op)?,\s*Evaluation\b|\btable\.add\(\w+<mllm::{op}\b"
                 r"|\bRunner::run\w*\(mllm::{op} op\)|_cast<mllm::{op}>\(")
    lowerings = (
        ("lib/Conversion/MLLMToLLM", r"\btable\.add<mllm::{op}>", "function"),
        ("lib/Conversion/MLLMToLLM/FunctionForm.cpp", r"_cast<mllm::{op}>\(|getOps<mllm::{op}>", "function"),
        ("lib/Conversion/LLMToProgram", r"\btable\.add\w*<mllm::{op}>|lookupSymbol<mllm::{op}>", "function"),
        ("lib/Conversion/LLMToProgram/FunctionControlFlow.cpp",
         r"LogicalResult \w+::convert\w+\(mllm::{op} op\)|\.Case\(\[&\]\(mllm::{op} \w+\)", "function"),
        ("lib/Conversion/ProgramToLLVM", r"\b{op}\b", "machine code"),
        ("lib/Codegen", r"\bprogram::{op}\b|\b{op} op\b|getOps<{op}>", "machine code"),
        ("lib/Codegen", r"LogicalResult emit\w+\(KernelBuilder &kb,\s*kernel::{op} op\)", "emitter"),
    )
    round_trip = ("--mlir-print-op-generic", "--emit-bytecode")
    rule_folder = "/MLLM/"
    introduction = (
        "`verifier`: the labeled rules beyond the constraints of the operands' types. `types`: whether the types of",
        "results follow from operands and attributes. `reference`: where the interpreter evaluates the op. `bound`: the",
        "NMSE of compiled code to it, 0 where it is exact. `lowering`: `function` to functions and steps by the table of",
        "lowerings, `machine code` from a program, `emitter` from a kernel. `in a step`: in a model that is served,",
        "whose batch is ragged; what combines tokens other than through the cache is refused by name. `three syntaxes`: MLIR's pretty and generic text and its",
        "bytecode. `notation`: the MLLM text format. `NumPy`: cases against an independent computation. `executed by`:",
        "tests that compare compiled code with the reference.")

    def all_columns(self):
        return {"verifier": self.verifier, "types": self.types, "reference": self.reference, "bound": self.bound,
                "canonicalization": self.canonicalization, "lowering": self.lowering, "in a step": self.step,
                "three syntaxes": self.round_trips, "notation": self.notation, "negative tests": self.negative_tests,
                "NumPy": self.oracle, "executed by": self.executed_by}

    def lowerings_of(self, op):
        """Classes of other levels may have the same names as those of programs and kernels."""
        own = {"program": ("machine code",), "kernel": ("emitter",)}.get(op.mnemonic.split(".")[0], ("function",))
        return [each for each in self.lowerings if each[2] in own]

    def step(self, op):
        """Whether a step may have the op: a rule follows the tokens through it."""
        if op.mnemonic.startswith(("program.", "kernel.")):
            return "in its program"
        rules = without_comments(read("lib/Conversion/MLLMToLLM/TokenDimensions.cpp"))
        if re.search(rf"\.Case(?:<[^>]*\b{op.cpp_class}\b[^>]*>|\(\s*\[&\]\({op.cpp_class}\b)"
                     rf"|visit\({op.cpp_class} |dyn_cast<{op.cpp_class}>|isa<[^>]*\b(?:FreeOp|ReturnOp)[^>]*\b{op.cpp_class}\b|isa<{op.cpp_class}\b",
                     rules):
            return "per token"
        return ""

    def reference(self, op):
        """The same holds for what is interpreted."""
        return "" if op.mnemonic.startswith(("program.", "kernel.")) else super().reference(op)

    def executed_by(self, op):
        """Kernels are run by tests that also check what each worker touches."""
        if not op.mnemonic.startswith("kernel."):
            return super().executed_by(op)
        calls = re.compile(rf"\bcall<kernel::{op.cpp_class}>\(")
        return links([path for path in files_under("test/Codegen", ".cpp") if calls.search(read(path))
                      and path.endswith("Test.cpp") or f"call{op.cpp_class[:-2]}(" in read(path)])

    def types(self, op):
        if "InferTypeOpInterface" in self.traits(op):
            return "inferred"
        return "" if op.record["results"]["args"] else "no result"

    @staticmethod
    def bound(op):
        return op.record.get("errorBound", "")

    def notation(self, op):
        """The inputs of test/MLLMText/round_trip.py: files of two directories without `invalid` in their name."""
        using = self.tests.using(self.full_name(op))
        return links([path for path in using if path.endswith(".mlir") and "invalid" not in path and
                      os.path.dirname(path) in ("test/Dialect/MLLM", "test/MLLMText")], 1)

    def oracle(self, op):
        count = 0
        for path in self.tests.using(self.full_name(op), "mllm_oracle.py"):
            count += sum(bool(re.search(rf"\b{re.escape(self.full_name(op))}(?![\w.])", case))
                         for case in re.split(r"^case ", self.tests.texts[path], flags=re.M)[1:])
        return plural(count, "case") if count else ""

    def is_in_overview(self, op, overview):
        """The overview names files; they name their ops."""
        return f"`{llm_dialect.file_of(op)}`" in overview


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    tests, holes = Tests(), 0
    for each in (LLMDialect(tests), MLLMDialect(tests)):
        wrong = list(each.check(options.write))
        for sentence in wrong:
            print(sentence)
        print(f"{each.name}: {len(each.ops)} ops, {len(wrong)} holes")
        holes += len(wrong)
    return 1 if holes else 0


if __name__ == "__main__":
    sys.exit(main())
