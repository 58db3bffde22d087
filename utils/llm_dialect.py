"""The dialects as defined by their .td files: ops, types, and their rules.

Read with llvm-tblgen, so that definitions of classes and multiclasses are included.
"""

import json
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOOLS = os.environ.get("LLVM_TOOLS", "/usr/lib/llvm-22/bin")
OPS_TD = "include/mlir/Dialect/LLM/IR/LLMOps.td"
IR_FOLDER = "lib/Dialect/LLM/IR"
DIALECT_CPP = "lib/Dialect/LLM/IR/LLMDialect.cpp"
CHECK_TD = "include/llmir/Dialect/Check/CheckOps.td"
CHECK_FOLDER = "lib/Dialect/Check"
MLLM_OPS_TD = "include/llmir/Dialect/MLLM/MLLMOps.td"
MLLM_FOLDER = "lib/Dialect/MLLM"


class Definition:
    """An op or a type: its mnemonic, its C++ class and its record."""

    def __init__(self, record, kind, mnemonic, cpp_class):
        self.record = record
        self.kind = kind
        self.mnemonic = mnemonic
        self.cpp_class = cpp_class
        self.description = record.get("description") or ""

    def labels(self):
        """{"c1": sentence, …} of "Fails verification when"."""
        return labels_of(self.description)


def labels_of(description):
    found = {}
    for match in re.finditer(r"^ *- (c\d+): *(.*(?:\n(?! *- c\d+:)(?! *\n).*)*)", description, re.M):
        found[match.group(1)] = " ".join(match.group(2).split())
    return found


def records(td=OPS_TD):
    """The records of a .td file as llvm-tblgen prints them."""
    include = subprocess.run(
        [os.path.join(TOOLS, "llvm-config"), "--includedir"], check=True,
        stdout=subprocess.PIPE, universal_newlines=True).stdout.strip()
    result = subprocess.run(
        [os.path.join(TOOLS, "llvm-tblgen"), "--dump-json", os.path.join(ROOT, td),
         "-I", os.path.join(ROOT, "include"), "-I", include],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True)
    if result.returncode:
        raise SystemExit(f"{td} does not parse:\n{result.stderr}")
    return json.loads(result.stdout)


def definitions(data, dialect="LLM_Dialect"):
    """A dialect's ops and types, by kind and mnemonic."""
    found = []
    for name in data["!instanceof"]["Op"]:
        record = data[name]
        if record["opDialect"]["def"] == dialect:
            found.append(Definition(record, "op", record["opName"], name.split("_", 1)[1]))
    for name in data["!instanceof"].get("TypeDef", []):
        record = data[name]
        if record["dialect"]["def"] == dialect:
            found.append(Definition(record, "type", record["mnemonic"], record["cppClassName"]))
    return sorted(found, key=lambda each: (each.kind, each.mnemonic))


def rule_name(definition):
    """The name of an op in `RULE: …`: without its level if that is linalg."""
    return definition.mnemonic[len("linalg."):] if definition.mnemonic.startswith("linalg.") else definition.mnemonic


def file_of(definition):
    """The name of the .td file that defines an op or a type."""
    return os.path.basename(definition.record["!locs"][0].split(":")[0])


def values_of(record, data):
    """[(name, description)] of an op's operands, attributes and results; the
    description is empty if the definition has none."""
    return [(name, data[value["def"]]["summary"] if "constraint" in data[value["def"]] else "")
            for part in ("arguments", "results") for value, name in record[part]["args"]]


def dialect_labels(data):
    """The rules of the dialect's attributes, which are documented at their verifiers."""
    comments = "\n".join(line.lstrip("/") for line in read(DIALECT_CPP).split("\n") if line.startswith("///"))
    return labels_of(comments)


def files_under(folder, *endings):
    """Paths below a directory of the project, relative to the project, sorted."""
    found = []
    for here, _, names in os.walk(os.path.join(ROOT, folder)):
        for name in names:
            if name.endswith(endings):
                found.append(os.path.relpath(os.path.join(here, name), ROOT))
    return sorted(found)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as stream:
        return stream.read()
