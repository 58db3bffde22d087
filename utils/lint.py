#!/usr/bin/env python3
"""Checks the project's rules: ./dev lint.

lint.py [--counts FILE.json] [RULE]...    (no RULE: all)

Each rule prints its findings and how to fix them. Exits with 1 if a rule has
findings.
"""

import argparse
import ast
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LLVM_INCLUDE = "/usr/lib/llvm-22/include"
LICENSE_LINE = "SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception"
CPP = (".cpp", ".hpp", ".h", ".c")
WARN_LINES, MOST_LINES, MOST_MAIN_LINES = 600, 1000, 100

# The areas, lowest first: (name, directories and files, areas and single headers that
# its sources and headers may include). docs/Design.md has the same table.
AREAS = (
    ("ABI", ("include/llmir/ABI",), ()),
    ("Support", ("include/llmir/Support", "lib/Support"), ()),
    ("Quantize", ("include/llmir/Quantize", "lib/Quantize"), ("Support",)),
    ("Checkpoint", ("include/llmir/Checkpoint", "lib/Checkpoint"), ("Support",)),
    ("Tokenizer", ("include/llmir/Tokenizer", "lib/Tokenizer"), ("Support",)),
    ("ChatTemplate", ("include/llmir/ChatTemplate", "lib/ChatTemplate"), ("Support",)),
    ("ChatOutput", ("include/llmir/ChatOutput", "lib/ChatOutput"), ("Support",)),
    ("Constraint", ("include/llmir/Constraint", "lib/Constraint"), ("Support", "llmir/ChatTemplate/OrderedJson.h")),
    ("ChatTemplateGGUF", ("include/llmir/ChatTemplate/FromGGUF.h", "lib/ChatTemplate/FromGGUF.cpp"),
     ("Support", "Checkpoint", "ChatTemplate")),
    ("TokenizerGGUF", ("include/llmir/Tokenizer/FromGGUF.h", "include/llmir/Tokenizer/ToGGUF.h",
                       "lib/Tokenizer/FromGGUF.cpp", "lib/Tokenizer/ToGGUF.cpp"),
     ("Support", "Checkpoint", "Tokenizer")),
    ("Artifact", ("include/llmir/Artifact", "lib/Artifact"), ("ABI", "Support")),
    ("Http", ("include/llmir/Http", "lib/Http"), ("Support",)),
    ("Hub", ("include/llmir/Hub", "lib/Hub"), ("Support", "Http")),
    ("LoadGenerator", ("include/llmir/LoadGenerator", "lib/LoadGenerator"), ("Support", "Http")),
    ("RuntimeCache", ("include/mlir/Dialect/LLM/Runtime", "lib/Dialect/LLM/Runtime"), ("ABI", "Support")),
    ("RuntimeBridge", ("lib/Dialect/LLM/Runtime/TypeBridge.cpp",), ("RuntimeCache",)),
    ("Runtime", ("include/llmir/Runtime", "lib/Runtime"), ("ABI", "Support", "Artifact", "RuntimeCache")),
    ("Serving", ("include/llmir/Serving", "lib/Serving"), ("Support", "Constraint", "Runtime")),
    ("Server", ("include/llmir/Server", "lib/Server"),
     ("Support", "Tokenizer", "ChatTemplate", "ChatOutput", "Constraint", "Artifact", "RuntimeCache", "Runtime", "Serving")),
    ("Reference", ("include/llmir/Reference", "lib/Reference"), ("Support", "RuntimeCache")),
    ("Dialect", ("include/llmir/Dialect", "lib/Dialect"), ()),
    ("LLM", ("include/mlir/Dialect/LLM/IR", "lib/Dialect/LLM/IR"), ("Support",)),
    ("MLLM", ("include/llmir/Dialect/MLLM", "lib/Dialect/MLLM"), ("ABI", "Support", "LLM")),
    ("PrecompiledDialects", ("lib/Dialect/PrecompiledDialects.h",), ("Dialect", "LLM", "MLLM")),
    ("Interpreter", ("include/llmir/Interpreter", "lib/Interpreter"),
     ("Support", "Reference", "Dialect", "LLM", "MLLM")),
    ("MLLMTransforms", ("include/llmir/Dialect/MLLM/Transforms", "lib/Dialect/MLLM/Transforms"),
     ("Support", "Dialect", "MLLM", "Interpreter")),
    ("LLMTransforms", ("include/mlir/Dialect/LLM/Transforms", "lib/Dialect/LLM/Transforms"),
     ("ABI", "Support", "Reference", "Dialect", "LLM", "MLLM", "Interpreter")),
    ("CAPI", ("include/llmir-c", "lib/CAPI"), ("Support", "Artifact", "RuntimeCache", "Runtime", "Serving", "LLM")),
    ("MLLMText", ("include/llmir/MLLMText", "lib/MLLMText"),
     ("Support", "Dialect", "LLM", "MLLM", "mllm/Types.h", "mllm/ir/GeneratedOps.inc")),
    ("Frontend", ("include/mllm", "include/llmir/Frontend", "lib/Frontend"),
     ("Support", "Checkpoint", "Reference", "Dialect", "LLM", "MLLM", "Interpreter", "MLLMTransforms", "MLLMText")),
    ("Convert", ("include/llmir/Convert", "lib/Convert"),
     ("Support", "Quantize", "Checkpoint", "Tokenizer", "TokenizerGGUF", "ChatTemplate", "Frontend")),
    ("Export", ("include/llmir/Export", "lib/Export"),
     ("Support", "Checkpoint", "Reference", "Dialect", "LLM", "MLLM", "Interpreter", "MLLMTransforms", "Frontend")),
    ("Conversion", ("include/llmir/Conversion", "lib/Conversion"),
     ("ABI", "Support", "Reference", "Dialect", "LLM", "MLLM", "MLLMTransforms", "LLMTransforms")),
    ("Codegen", ("include/llmir/Codegen", "lib/Codegen"), ("ABI", "Support", "MLLM")),
    ("Target", ("include/llmir/Target", "lib/Target"), ("Support", "Artifact", "Codegen")),
    ("Packing", ("include/llmir/Packing", "lib/Packing"), ("Support", "Checkpoint", "Artifact")),
    ("PackingProgram", ("include/llmir/Packing/FromProgram.h",), ("MLLM", "Packing")),
    ("Pipelines", ("include/llmir/Pipelines", "lib/Pipelines"),
     ("Dialect", "LLM", "MLLM", "MLLMTransforms", "LLMTransforms", "Conversion", "Codegen")),
    ("Driver", ("include/llmir/Driver", "lib/Driver"),
     ("ABI", "Support", "Checkpoint", "Tokenizer", "TokenizerGGUF", "ChatTemplate", "ChatTemplateGGUF", "Artifact",
      "Dialect", "LLM", "MLLM", "MLLMTransforms", "MLLMText", "Frontend", "Convert", "Export", "Codegen", "Target", "Packing",
      "PackingProgram", "Pipelines", "llmir-c/Compiler.h")),
    ("Execution", ("include/llmir/Execution", "include/mllm/ir/Executable.h", "lib/Execution"),
     ("ABI", "Support", "Checkpoint", "Artifact", "Runtime", "Reference", "Dialect", "LLM", "MLLM", "Interpreter",
      "MLLMTransforms", "LLMTransforms", "Frontend", "Conversion", "Codegen", "Target", "Packing", "PackingProgram",
      "Pipelines")),
    ("llmir", ("tools/llmir",),
     ("ABI", "Support", "Checkpoint", "Tokenizer", "TokenizerGGUF", "ChatTemplate", "ChatTemplateGGUF", "ChatOutput",
      "Artifact", "Http", "Hub", "LoadGenerator", "Runtime", "Serving", "Server", "llmir-c/Compiler.h", "llmir/Driver/Stages.def")),
)
# These must not include MLIR or LLVM, so that models run without them.
WITHOUT_IR = ("ABI", "Support", "Quantize", "Checkpoint", "Tokenizer", "ChatTemplate", "ChatTemplateGGUF", "ChatOutput",
              "Constraint", "TokenizerGGUF", "Artifact", "Http", "Hub", "LoadGenerator", "RuntimeCache", "Runtime", "Serving", "Server",
              "Reference", "Packing", "llmir")


def tracked_files():
    out = subprocess.run(
        ["git", "-c", "safe.directory=*", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout
    return [f for f in out.splitlines() if os.path.isfile(os.path.join(ROOT, f))]


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as stream:
        return stream.read()


def is_test_input(path):
    return "/Inputs/" in path


def rule_format(files):
    """Sources are formatted by clang-format-22."""
    sources = [f for f in files if f.endswith(CPP) and not is_test_input(f)]
    if not sources:
        return
    try:
        result = subprocess.run(
            ["clang-format-22", "--dry-run", "--style=file"] + sources, cwd=ROOT,
            stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, universal_newlines=True)
    except OSError:
        yield "clang-format-22 is missing: run './dev setup'"
        return
    wrong = sorted(set(re.findall(r"^([^:\s]+):\d+:\d+: warning", result.stderr, re.M)))
    for path in wrong:
        yield f"{path}: not formatted; run './dev format'"


def rule_length(files):
    """Source files have at most 1000 lines (a note is printed from 600 on), mains 100."""
    for path in files:
        if not path.endswith(CPP + (".td", ".def", ".py", ".cmake")) and path != "dev":
            continue
        lines = read(path).count("\n")
        if lines > MOST_LINES:
            yield f"{path}: {lines} lines, the limit is {MOST_LINES}; split it by concern"
        elif lines > WARN_LINES:
            print(f"note: {path}: {lines} lines, more than {WARN_LINES}")
        if re.match(r"tools/[^/]+/main\.cpp$", path) and lines > MOST_MAIN_LINES:
            yield f"{path}: {lines} lines, the limit for a tool's main is {MOST_MAIN_LINES}; move the rest into a library"


def rule_license(files):
    """Every source starts with the license."""
    for path in files:
        if path.endswith(CPP + (".td", ".def")) and not is_test_input(path):
            head = read(path).split("\n")[:12]
            if not any(LICENSE_LINE in line for line in head):
                yield f"{path}: no license header; run './dev format'"


def rule_headers(files):
    """Headers have guards, and none shadows one of MLIR's."""
    guards = {}
    for path in files:
        if not path.endswith((".h", ".hpp")):
            continue
        if path.startswith("include/"):
            inside = path[len("include/"):]
            if inside.startswith("mlir/") and not inside.startswith("mlir/Dialect/LLM/"):
                yield f"{path}: only include/mlir/Dialect/LLM belongs to LLMIR; move it under include/llmir"
            if os.path.exists(os.path.join(LLVM_INCLUDE, inside)):
                yield f"{path}: LLVM has a header of this name; rename it"
        match = re.search(r"^#ifndef (\w+_H(?:PP)?)\n#define (\w+)", read(path), re.M)
        if not match or match.group(1) != match.group(2):
            yield f"{path}: no include guard; add '#ifndef LLMIR_AREA_FILE_H'"
        elif match.group(1) in guards:
            yield f"{path}: its guard {match.group(1)} is also that of {guards[match.group(1)]}; rename it"
        else:
            guards[match.group(1)] = path


def area_of(path):
    """The area of a source or header: that of its longest directory in the table, or ""."""
    fits = [(len(folder), area) for area, folders, _ in AREAS for folder in folders
            if path == folder or path.startswith(folder + "/")]
    return max(fits)[1] if fits else ""


def included_path(path, name, files):
    """The path of a header of ours that `path` includes, or "" for others'."""
    if name.startswith(("llmir/", "llmir-c/", "mllm/", "mlir/Dialect/LLM/")):
        return "include/" + name
    beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
    return beside if beside in files else ""


def rows_of_areas():
    """The rows of the table in docs/Design.md."""
    for area, folders, uses in AREAS:
        yield f"| {area} | {', '.join(f'`{each}`' for each in folders)} | {', '.join(uses) or 'nothing'} |"


def rule_dependencies(files):
    """Areas include only what the table allows; the runtime includes neither MLIR nor LLVM."""
    include = re.compile(r'^\s*#?\s*include\s+["<]([^">]+)[">]', re.M)
    names, tracked = [area for area, _, _ in AREAS], set(files)
    for number, (area, _, uses) in enumerate(AREAS):
        for use in uses:
            if "." not in use and use not in names[:number]:
                yield f"utils/lint.py: {area} may not use {use}, which is not a lower area; fix the table"
    allowed = {area: uses for area, _, uses in AREAS}
    for path in files:
        if not path.endswith(CPP + (".def", ".td")):
            continue
        area = area_of(path)
        if not area:
            if path.startswith(("include/", "lib/")):
                yield f"{path}: belongs to no area; add its directory to AREAS in utils/lint.py and to docs/Design.md"
            continue
        for name in include.findall(read(path)):
            target = included_path(path, name, tracked)
            used = area_of(target)
            if not target and area in WITHOUT_IR and name.startswith(("mlir/", "llvm/", "mlir-c/", "llvm-c/", "lld/")):
                yield f"{path}: includes {name}; {area} uses neither MLIR nor LLVM"
            elif name.startswith("../") and used and used != area:
                yield f"{path}: includes {name}, a private header of {used}; move what {area} needs to a header in include/"
            elif target and used != area and used not in allowed[area] and name not in allowed[area]:
                yield f"{path}: includes {name} of {used or 'no area'}; {area} may use {', '.join(allowed[area]) or 'nothing'}"
    if "docs/Design.md" in tracked:
        page = read("docs/Design.md").split("\n")
        for row in rows_of_areas():
            if row not in page:
                yield f"docs/Design.md: its table of areas lacks the row '{row}'"


def rule_unfinished(files):
    """There is no unfinished code."""
    words = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b|\bst" r"ub(bed|s)?\b|not (yet )?impl" r"emented|\bunimpl" r"emented\b", re.I)
    for path in files:
        if path.endswith(CPP + (".td", ".def", ".py", ".cmake", ".sh", "CMakeLists.txt")) or path == "dev":
            for number, line in enumerate(read(path).split("\n"), 1):
                match = words.search(line)
                if match and path != "utils/lint.py":
                    yield f"{path}:{number}: '{match.group(0)}'; finish it, or describe the gap in docs/Roadmap.md"


def rule_tests(files):
    """Every file with GoogleTest tests is run by lit."""
    for path in files:
        if path.startswith("test/") and path.endswith(".cpp"):
            text = read(path)
            if re.search(r"^(TYPED_)?TEST(_F|_P)?\(", text, re.M) and "RUN:" not in text:
                yield f"{path}: no RUN line; begin it with '// RUN: llmir-<area>-tests --gtest_filter='<Suite>*''"


def rule_python(files):
    """Python sources are valid for Python 3.7."""
    for path in files:
        if path.endswith(".py"):
            try:
                ast.parse(read(path), path, feature_version=(3, 7))
            except SyntaxError as error:
                yield f"{path}:{error.lineno}: {error.msg}; Python 3.7 must read it"


def rule_shell(files):
    """Shell scripts parse and can be executed."""
    for path in files:
        if path.endswith(".sh") or path in ("dev", ".ci/run"):
            full = os.path.join(ROOT, path)
            result = subprocess.run(["bash", "-n", full], stderr=subprocess.PIPE, universal_newlines=True)
            if result.returncode:
                yield f"{path}: {result.stderr.strip().splitlines()[0]}"
            if not os.access(full, os.X_OK):
                yield f"{path}: not executable; run 'chmod +x {path}'"


def rule_links(files):
    """Relative links in the documentation are valid."""
    link = re.compile(r"\[[^\]]*\]\(([^)#\s]+)(?:#[^)]*)?\)")
    for path in files:
        if not path.endswith(".md"):
            continue
        text = re.sub(r"```.*?```", "", read(path), flags=re.S)
        for target in link.findall(text):
            if re.match(r"[a-z]+:", target):
                continue
            if not os.path.exists(os.path.join(ROOT, os.path.dirname(path), target)):
                yield f"{path}: the link to {target} is broken; fix the path"


def main():
    rules = {name[len("rule_"):]: rule for name, rule in globals().items() if name.startswith("rule_")}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--counts", metavar="FILE.json", help="write the number of passed rules and the failed ones")
    parser.add_argument("rules", nargs="*", metavar="RULE", help=", ".join(rules))
    options = parser.parse_args()
    unknown = [name for name in options.rules if name not in rules]
    if unknown:
        parser.error(f"no rule '{unknown[0]}'; there are {', '.join(rules)}")

    files = tracked_files()
    failed = []
    for name in options.rules or rules:
        findings = list(rules[name](files))
        for finding in findings:
            print(f"lint [{name}] {finding}")
        if findings:
            failed.append(name)
    count = len(options.rules or rules)
    if options.counts:
        with open(options.counts, "w", encoding="utf-8") as stream:
            json.dump({"passed": count - len(failed), "failed": failed}, stream)
    print(f"lint: {count - len(failed)} rules hold, {len(failed)} do not")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
