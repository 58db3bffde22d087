#!/usr/bin/env python3
"""Counts the rules of the dialects `llm` and `mllm`, and checks that they are tested.

A rule is a label (`- c3: …`) in the description of an op, a type or the dialect. It
requires
- a test: a line `// RULE: append_kv.c3` in a section with an expected error. Rules of
  `mllm` are tested below a directory MLLM, with the level unless it is linalg:
  `// RULE: matmul.c1`, `// RULE: graph.subgraph.c2`;
- its clause: a comment `// c3` at the diagnostic in the C++ class's verifier (or
  at the call of a helper that emits it, or `/// Rule c3:` above a helper).
Conversely, a diagnostic of a dialect requires a rule, or, if it is about syntax, an
attribute or a pass, a test that expects its text.

rule_coverage.py [--list]      exits with 1 if something is missing
"""

import argparse
import os
import re
import sys

import llm_dialect
from llm_dialect import IR_FOLDER, read

# The checks of the trait InfersResults, which all ops with inferred results have.
INFERRED = re.compile(
    r"the result(?: type)? (?:is not|differs from)|the result(?: type)?s are not")

# Excludes callbacks without a message: `[&] { return op->emitError(); }`.
DIAGNOSTIC = re.compile(r"\bemit(?:Op)?Error\((?!\w*\);? \})")
LABEL = re.compile(r"//.*?\b(c\d+)\b(?:(?: to|,| and) (c\d+))?")


def numbers(text):
    """The labels in a comment: "c2 to c5", "c1, c3", "c8 and c9"."""
    found = set()
    for first, last in re.findall(r"\bc(\d+) to c(\d+)\b", text):
        found.update(f"c{number}" for number in range(int(first), int(last) + 1))
    found.update(re.findall(r"\bc\d+\b", text))
    return found


class Function:
    """A top-level block of a source: its doc comment, signature and lines."""

    def __init__(self, path, start, doc, lines):
        self.path, self.start, self.doc, self.lines = path, start, doc, lines
        text = "\n".join(lines)
        self.signature = text.split("{", 1)[0]
        names = re.findall(r"(\w+)\s*\(", self.signature)
        self.name = names[0] if names else ""
        self.text = text

    def classes(self):
        """The ops and types that it verifies, by its name or its parameters."""
        return set(re.findall(r"\b(\w+(?:Op|Type|Dialect))\s*(?:::\s*\w+\s*\(|\w+\s*[,)])", self.signature)) | set(
            re.findall(r"\b(\w+(?:Op|Type|Dialect))::", self.signature))

    def labels(self):
        found = set()
        for line in self.lines:
            if "//" in line:
                found |= numbers(line.split("//", 1)[1])
        if re.search(r"\b[Rr]ules? c\d", self.doc):
            found |= numbers(self.doc)
        return found


def functions(path):
    found, doc, lines, start = [], [], [], 0
    for number, line in enumerate(read(path).split("\n"), 1):
        if lines:
            lines.append(line)
            if line.startswith("}"):
                found.append(Function(path, start, "\n".join(doc), lines))
                doc, lines = [], []
            elif line.endswith(";") and len(lines) < 12 and not any("{" in each for each in lines):
                doc, lines = [], []  # A declaration.
        elif line.startswith("//"):
            doc.append(line)
        elif re.match(r"[A-Za-z]", line) and not re.match(r"(using|namespace|#|template <[^>]*>$)", line):
            if line.endswith(";") and "{" not in line:
                doc = []
            else:
                lines, start = [line], number
                if re.search(r"\{.*\}$", line):
                    found.append(Function(path, start, "\n".join(doc), lines))
                    doc, lines = [], []
        elif not line.startswith("template"):
            doc = []
    return found


def statement(lines, index):
    """The statement that contains a line, as one text."""
    text = ""
    for line in lines[index:index + 14]:
        text += line.split("//")[0] + "\n"
        if ";" in re.sub(r'"(?:[^"\\]|\\.)*"', "", line):
            break
    return text


def literals(text):
    """The message of a statement, with adjacent literals joined."""
    joined = re.sub(r'"\s*\n\s*"', "", text)
    return [each.strip() for each in re.findall(r'"((?:[^"\\]|\\.)*)"', joined)]


class Source:
    """The C++ of the dialect: which labels belong to which class."""

    def __init__(self, paths, more=()):
        self.functions = [each for path in paths for each in functions(path)] + list(more)
        self.by_name = {}
        for each in self.functions:
            if not each.classes() or "static" in each.signature or "inline" in each.signature:
                self.by_name.setdefault(each.name, []).append(each)

    def callees(self, function):
        names = set(re.findall(r"\b([A-Za-z]\w*)(?:<[\w, :]*>)?\(", function.text))
        return [other for name in names for other in self.by_name.get(name, []) if other is not function]

    def labels_by_class(self):
        found = {}
        for function in self.functions:
            own = function.classes()
            for cls in own:
                seen, waiting = set(), [function]
                while waiting:
                    each = waiting.pop()
                    if id(each) in seen:
                        continue
                    seen.add(id(each))
                    found.setdefault(cls, set()).update(each.labels())
                    waiting += self.callees(each)
        return found

    def is_labelled_where_called(self, function, depth=0):
        """True when each call of a helper has a label or is in one that has."""
        calls = 0
        for other in self.functions:
            if other is function:
                continue
            for index, line in enumerate(other.lines):
                if not re.search(rf"\b{re.escape(function.name)}(?:<[\w, :]*>)?\(", line.split("//")[0]):
                    continue
                calls += 1
                if not has_label(other, index) and not (
                        depth < 3 and self.is_labelled_where_called(other, depth + 1)):
                    return False
        return calls > 0


def has_label(function, index):
    """True for a diagnostic, or a call, whose clause has its label."""
    if re.search(r"\b[Rr]ules? c\d", function.doc):
        return True
    end = index + statement(function.lines, index).count("\n")
    first = index
    while first > 0 and index - first < 8 and not re.search(r"[;}]\s*(//.*)?$", function.lines[first - 1]):
        first -= 1
    around = function.lines[first:end] + function.lines[max(0, first - 1):first]
    # A clause that ends with a block: the statement may be several lines below `if (…) { // c2`.
    for above in range(index, max(-1, index - 12), -1):
        line = function.lines[above]
        around.append(line)
        if re.match(r"\s*(?:\} else )?(?:if|for|while) ?\(", line):
            break
    return any(re.search(r"//.*\bc\d+\b", line) for line in around)


def tested_rules():
    """[(rule, path, line, has an expected error)] of the tests."""
    found = []
    for path in llm_dialect.files_under("test", ".mlir", ".test", ".cpp", ".c"):
        text = read(path)
        if "RULE:" not in text:
            continue
        line = 1
        for section in re.split(r"^// -----.*$", text, flags=re.M):
            expects = "expected-error" in section or "expected-warning" in section or not path.endswith(".mlir")
            for match in re.finditer(r"RULE: *((?:[a-z_0-9.]+\.c\d+[, ]*)+)", section):
                at = line + section[:match.start()].count("\n")
                for rule in re.findall(r"[a-z_0-9.]+\.c\d+", match.group(1)):
                    found.append(("mllm/" * ("/MLLM/" in path) + rule, path, at, expects))
            line += section.count("\n")
    return found


def expected_words():
    """All messages that tests expect."""
    words = []
    for path in llm_dialect.files_under("test", ".mlir", ".test", ".cpp"):
        for line in read(path).split("\n"):
            if re.search(r"expected-(error|warning|note|remark)|CHECK|EXPECT|[A-Z]+(-SAME|-NEXT)?:", line):
                words.append(line)
    return "\n".join(words)


def all_definitions(data):
    """Those of `llm`, and those of `check`, with which its tests are written."""
    return llm_dialect.definitions(data) + llm_dialect.definitions(
        llm_dialect.records(llm_dialect.CHECK_TD), "Check_Dialect")


def mllm_definitions():
    return llm_dialect.definitions(llm_dialect.records(llm_dialect.MLLM_OPS_TD), "MLLM_Dialect")


def functions_of_classes(ops):
    """The functions that a class of ops defines for each of them."""
    found = []
    for each in ops:
        text = (each.record.get("extraClassDefinition") or "").replace("$cppClass", each.cpp_class)
        if text.strip():
            found.append(Function("MLLMLinalgBase.td", 0, "", text.strip().split("\n")))
    return found


def mllm_rules(ops):
    """{"mllm/matmul.c3": sentence}, and the C++ class of each."""
    found, classes = {}, {}
    for each in ops:
        for label, sentence in each.labels().items():
            rule = f"mllm/{llm_dialect.rule_name(each)}.{label}"
            found[rule], classes[rule] = sentence, each.cpp_class
    return found, classes


def rules(data):
    """{"append_kv.c3": sentence}, and the C++ class of each."""
    found, classes = {}, {}
    for each in all_definitions(data):
        for label, sentence in each.labels().items():
            found[f"{each.mnemonic}.{label}"] = sentence
            classes[f"{each.mnemonic}.{label}"] = each.cpp_class
    for label, sentence in llm_dialect.dialect_labels(data).items():
        found[f"dialect.{label}"] = sentence
        classes[f"dialect.{label}"] = "LLMDialect"
    return found, classes


def check_tests(known):
    """Each rule has a test."""
    tested = set()
    for rule, path, line, expects in tested_rules():
        if rule not in known:
            yield f"{path}:{line}: RULE: {rule}, but no description has this rule"
        elif not expects:
            yield f"{path}:{line}: RULE: {rule} in a section that expects no error"
        else:
            tested.add(rule)
    for rule in known:
        if rule not in tested:
            written = rule[len("mllm/"):] if rule.startswith("mllm/") else rule
            folder = " below a directory MLLM" if rule.startswith("mllm/") else ""
            yield f"{rule} ({known[rule].rstrip(';.')}): no test{folder} says '// RULE: {written}'"


def check_clauses(known, classes, source):
    have = source.labels_by_class()
    for rule in known:
        if rule.startswith("mllm/") and INFERRED.match(known[rule]):
            continue
        if rule.rsplit(".", 1)[1] not in have.get(classes[rule], set()):
            yield f"{rule} ({known[rule]}): no '// {rule.split('.')[1]}' in the verifier of {classes[rule]}"


def check_numbering(data):
    for each in all_definitions(data):
        labels = list(each.labels())
        if labels != [f"c{number}" for number in range(1, len(labels) + 1)]:
            yield f"{each.mnemonic}: its rules are numbered {', '.join(labels)}"


def is_expected(text, words):
    """True if a test expects the message of a diagnostic's statement."""
    said = [each for each in literals(text) if len(each) >= 4]
    return bool(said) and max(said, key=len).replace('\\"', '"') in words


def says_words(text):
    """False for a diagnostic that forwards the message of a Status, whose rule is where
    the Status is created."""
    return not (re.search(r"\.message\(\)\)?;\s*$", text) and not literals(text))


def check_diagnostics(source, is_verifier, transforms, words, counts):
    for function in source.functions:
        for index, line in enumerate(function.lines):
            code = line.split("//")[0]
            if not DIAGNOSTIC.search(code) or "function_ref<" in code:
                continue
            if not says_words(statement(function.lines, index)):
                continue
            counts["diagnostics"] += 1
            place = f"{function.path}:{function.start + index}"
            needs_rule = "parser.emitError" not in code and is_verifier(function.path)
            if has_label(function, index) or source.is_labelled_where_called(function):
                continue
            if needs_rule:
                yield f"{place}: a diagnostic without the label of its rule"
            elif not is_expected(statement(function.lines, index), words):
                yield f"{place}: no test expects what this says"
    for path in llm_dialect.files_under(transforms, ".cpp", ".h"):
        lines = read(path).split("\n")
        for index, line in enumerate(lines):
            if (DIAGNOSTIC.search(line.split("//")[0]) and "function_ref<" not in line
                    and says_words(statement(lines, index))):
                counts["diagnostics"] += 1
                if not is_expected(statement(lines, index), words):
                    yield f"{path}:{index + 1}: no test expects what this says"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--list", action="store_true", help="print each rule with its tests")
    options = parser.parse_args()

    data = llm_dialect.records()
    known, classes = rules(data)
    source = Source([path for folder in (IR_FOLDER, llm_dialect.CHECK_FOLDER)
                     for path in llm_dialect.files_under(folder, ".cpp", ".h")])
    mllm_ops = mllm_definitions()
    mllm, mllm_classes = mllm_rules(mllm_ops)
    mllm_transforms = os.path.join(llm_dialect.MLLM_FOLDER, "Transforms")
    mllm_source = Source([path for path in llm_dialect.files_under(llm_dialect.MLLM_FOLDER, ".cpp", ".h")
                          if not path.startswith(mllm_transforms)], functions_of_classes(mllm_ops))
    if options.list:
        places = {}
        for rule, path, line, _ in tested_rules():
            places.setdefault(rule, []).append(f"{path}:{line}")
        for rule, sentence in {**known, **mllm}.items():
            print(f"{rule}: {sentence}\n    {', '.join(places.get(rule, ['no test']))}")

    counts, words = {"diagnostics": 0}, expected_words()
    missing = list(check_numbering(data)) + list(check_tests({**known, **mllm})) + list(
        check_clauses(known, classes, source)) + list(
        check_clauses(mllm, mllm_classes, mllm_source)) + list(
        check_diagnostics(source, lambda path: path.startswith(IR_FOLDER), "lib/Dialect/LLM/Transforms", words,
                          counts)) + list(
        check_diagnostics(mllm_source, lambda path: path.endswith("Ops.cpp"), mllm_transforms, words, counts))
    for each in missing:
        print(each)
    print(f"{len(known) + len(mllm)} rules, {len(tested_rules())} tests of them, "
          f"{counts['diagnostics']} diagnostics, {len(missing)} missing")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
