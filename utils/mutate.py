#!/usr/bin/env python3
"""Mutation testing: disables verifier clauses, patterns, folds and conversions, one
at a time, and runs the .mlir tests after each.

    utils/mutate.py --build build [--dialect llm|mllm] [--count 20] [--seed 1] [--only REGEX] [--list]

Candidates are in the files of both dialects, or of the one given by --dialect, and
their conversions.

Works on a copy of the project and of an up-to-date build folder, both in --work (a
temporary directory). With `unshare` (Linux, root) the copies are mounted over the
originals, visible only to this program, so that paths, object files and ccache stay
valid; otherwise the copy is configured and built from scratch, which takes minutes.
The originals are never written.

Prints each mutation as caught (with the test that failed) or SURVIVED, and exits
with 1 if one survived.
"""

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TARGETS = ["llmir-opt", "llmir-translate"]
# The tests that can detect a mutation; all but those of test/Interpreter/MLLM are .mlir files.
TESTS = {
    "clause": ["Dialect"],
    "pattern": ["Dialect", "Conversion", "Execution", "Interpreter", "Examples", "Pipelines"],
    "fold": ["Dialect", "Execution", "Interpreter"],
    "conversion": ["Conversion", "Execution", "Examples", "Pipelines", "Interpreter/MLLM"],
}


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as stream:
        return stream.read()


def write(path, text):
    with open(os.path.join(ROOT, path), "w", encoding="utf-8") as stream:
        stream.write(text)


#===--- Candidates --------------------------------------------------------===#


class Mutation:
    """Replaces text[begin:end] of a file."""

    def __init__(self, kind, path, text, begin, end, replacement):
        self.kind, self.path = kind, path
        self.begin, self.end, self.replacement = begin, end, replacement
        self.line = text.count("\n", 0, begin) + 1
        self.what = " ".join(text.split("\n")[self.line - 1].split())[:70]
        self.original = text

    def name(self):
        return f"{self.kind} {self.path}:{self.line} `{self.what}`"

    def mutated(self):
        return self.original[:self.begin] + self.replacement + self.original[self.end:]


def closing(text, begin):
    """The position after the parenthesis that closes the one at `begin`."""
    depth = 0
    for index in range(begin, len(text)):
        depth += {"(": 1, ")": -1}.get(text[index], 0)
        if depth == 0:
            return index + 1
    return len(text)


def clauses(path, text):
    """`if (…) // c3` and `if (…) return emitOpError…` (or shapeError) become `if (false && (…))`."""
    for match in re.finditer(r"\bif \(", text):
        end = closing(text, match.end() - 1)
        behind = text[end:end + 120]
        labelled = re.match(r"\s*\{?\s*// .*?\bc\d+\b", behind)
        refuses = re.match(r"\s*\{?\s*(//[^\n]*)?\s*return \(*((\w+[.-]>?)?emit(Op)?Error|(shapes::)?shapeError)\(",
                           behind)
        condition = text[match.end():end - 1]
        declares = re.search(r"[^=!<>]=[^=]", condition)
        if (labelled or refuses) and not declares:
            yield Mutation("clause", path, text, match.end(), end - 1, f"false && ({condition})")
    for match in re.finditer(r"return (verify\w+\([^;]*\));(?= // c\d+)", text):
        yield Mutation("clause", path, text, match.start(1), match.end(1), "success()")


def patterns(path, text):
    """Makes a pattern never match."""
    for match in re.finditer(r"\bmatchAndRewrite\(|\b\w+Op::canonicalize\(", text):
        end = closing(text, match.end() - 1)
        body = re.match(r"[\s\w]*\{", text[end:])
        if body:
            at = end + body.end()
            mutation = Mutation("pattern", path, text, at, at, " return failure();")
            names = re.findall(r"^(?:template <[^>]*>\s+)?(?:struct|class) (\w+)", text[:at], re.M)
            mutation.what = names[-1] if names else mutation.what
            yield mutation


def folds(path, text):
    for match in re.finditer(r"\bOpFoldResult (\w+::)?fold\(", text):
        end = closing(text, match.end() - 1)
        body = re.match(r"[\s\w]*\{", text[end:])
        if body:
            at = end + body.end()
            yield Mutation("fold", path, text, at, at, " return {};")


def conversions(path, text):
    """Removes a row of the table of conversions."""
    for match in re.finditer(r"\btable\.add\w*<[^;]*;", text):
        yield Mutation("conversion", path, text, match.start(), match.end(), "(void)table;")


# What to look for in which directories, by dialect.
POINTS = {
    "llm": ((clauses, ("lib/Dialect/LLM/IR",)),
            (patterns, ("lib/Dialect/LLM", "lib/Conversion/LLMToProgram")),
            (folds, ("lib/Dialect/LLM",)),
            (conversions, ("lib/Conversion/LLMToProgram",))),
    "mllm": ((clauses, ("lib/Dialect/MLLM",)),
             (patterns, ("lib/Dialect/MLLM",)),
             (folds, ("lib/Dialect/MLLM",)),
             (conversions, ("lib/Conversion/MLLMToLLM",))),
}


def all_mutations(dialects):
    found = []
    for find, folders in (point for dialect in dialects for point in POINTS[dialect]):
        for folder in folders:
            for here, _, names in sorted(os.walk(os.path.join(ROOT, folder))):
                for name in sorted(names):
                    if name.endswith(".cpp"):
                        path = os.path.relpath(os.path.join(here, name), ROOT)
                        found += find(path, read(path))
    return found


def choose(mutations, count, seed):
    """`count` of them, with every kind represented."""
    chance = random.Random(seed)
    kinds = {}
    for each in mutations:
        kinds.setdefault(each.kind, []).append(each)
    for each in kinds.values():
        chance.shuffle(each)
    chosen = []
    while len(chosen) < min(count, len(mutations)):
        for kind in sorted(kinds):
            if kinds[kind] and len(chosen) < count:
                chosen.append(kinds[kind].pop())
    # Adjacent ones share object files.
    return sorted(chosen, key=lambda each: (each.path, each.line))


#===--- Building and testing the copy ------------------------------------===#


class Workshop:
    """The copy as seen from inside: its paths are those of the originals."""

    def __init__(self, build):
        self.build = build
        self.lit = [sys.executable, os.path.join(os.environ.get("LLVM_TOOLS", "/usr/lib/llvm-22/bin"), "lit")]
        self.failing = set()

    def make(self):
        result = subprocess.run(["ninja", "-C", self.build] + TARGETS, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, universal_newlines=True)
        return result.returncode == 0, result.stdout

    def tests(self, folders):
        """Tests that need only the two programs that are built: .mlir files, and cases against NumPy."""
        found = []
        for folder in folders:
            for here, _, names in sorted(os.walk(os.path.join(ROOT, "test", folder))):
                for name in sorted(names):
                    path = os.path.join(here, name)
                    is_case = name.endswith(".test") and os.sep + os.path.join("Interpreter", "MLLM") + os.sep in path
                    if not (name.endswith(".mlir") or is_case) or "Inputs" in path:
                        continue
                    inside = os.path.relpath(path, os.path.join(ROOT, "test"))
                    if inside not in self.failing:
                        found.append(inside)
        return found

    def failed(self, tests, stop):
        """Names of the tests that fail."""
        command = self.lit + ["-q", "--order=lexical"] + (["--max-failures=1"] if stop else []) + [
            os.path.join(self.build, "test", each) for each in tests]
        result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
        return re.findall(r"^(?:FAIL|TIMEOUT|UNRESOLVED): LLMIR :: (\S+)|^  LLMIR :: (\S+)", result.stdout, re.M), result

    def failing_tests(self, folders, stop=True):
        names, result = self.failed(self.tests(folders), stop)
        return sorted({a or b for a, b in names}) or (["(lit failed)"] if result.returncode else [])

    def judge(self, mutation):
        write(mutation.path, mutation.mutated())
        try:
            built, output = self.make()
            if not built:
                errors = re.findall(r"error: .*", output)
                return "does not build", errors[0] if errors else "ninja failed"
            failing = self.failing_tests(TESTS[mutation.kind])
            return ("caught", failing[0]) if failing else ("SURVIVED", "")
        finally:
            write(mutation.path, mutation.original)


def run(options):
    mutations = [each for each in all_mutations([options.dialect] if options.dialect else POINTS) if re.search(options.only, each.name())]
    chosen = choose(mutations, options.count, options.seed)
    counts = {kind: sum(each.kind == kind for each in mutations) for kind in TESTS}
    print("points: " + ", ".join(f"{count} {kind}s" for kind, count in counts.items()) +
          f"; seed {options.seed}, {len(chosen)} chosen", flush=True)
    if options.list:
        for each in chosen:
            print(each.name())
        return 0

    shop = Workshop(options.build)
    built, output = shop.make()
    if not built:
        print(output[-2000:] + "\nthe project does not build before any mutation")
        return 2
    folders = sorted({folder for each in chosen for folder in TESTS[each.kind]})
    shop.failing = set(shop.failing_tests(folders, stop=False))
    for each in sorted(shop.failing):
        print(f"left out, fails before any mutation: {each}", flush=True)

    results = {}
    for each in chosen:
        start = time.time()
        verdict, detail = shop.judge(each)
        results.setdefault(verdict, []).append(each)
        print(f"{verdict}: {each.name()}{' by ' + detail if detail else ''} ({time.time() - start:.0f} s)", flush=True)
    print(", ".join(f"{len(found)} {verdict}" for verdict, found in sorted(results.items())))
    return 0 if set(results) <= {"caught"} else 1


#===--- The copy ----------------------------------------------------------===#


def project_files():
    out = subprocess.run(["git", "-c", "safe.directory=*", "ls-files", "--cached", "--others", "--exclude-standard"],
                         cwd=ROOT, check=True, stdout=subprocess.PIPE, universal_newlines=True).stdout
    return [each for each in out.splitlines() if os.path.isfile(os.path.join(ROOT, each))]


def copy_project(work):
    for path in project_files():
        target = os.path.join(work, "source", path)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy2(os.path.join(ROOT, path), target)


def can_mount():
    return subprocess.run(["unshare", "-m", "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
                          ).returncode == 0 if shutil.which("unshare") else False


def run_on_copy(options):
    """Runs this program again with the copies mounted; returns its exit code."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # So that the copies are removed.
    work = options.work or tempfile.mkdtemp(prefix="llmir-mutate-")
    source, build = os.path.join(work, "source"), os.path.join(work, "build")
    arguments = ["--count", str(options.count), "--seed", str(options.seed), "--only", options.only] + (
        ["--dialect", options.dialect] if options.dialect else [])
    try:
        copy_project(work)
        if can_mount():
            shutil.rmtree(build, ignore_errors=True)
            if os.path.commonpath([ROOT, options.build]) == ROOT:  # The mount point must exist in the copy.
                os.makedirs(os.path.join(source, os.path.relpath(options.build, ROOT)), exist_ok=True)
            subprocess.run(["cp", "-a", options.build, build], check=True)
            # The mounts are private to this child and disappear with it.
            script = ('mount --make-rprivate / && mount --bind "$1" "$2" && mount --bind "$3" "$4" && '
                      'cd "$2" && shift 4 && exec "$@"')
            command = ["unshare", "-m", "sh", "-c", script, "sh", source, ROOT, build, options.build,
                       sys.executable, os.path.join(ROOT, "utils/mutate.py"), "--inside", "--build", options.build]
        else:
            subprocess.run(["cmake", "-G", "Ninja", "-S", source, "-B", build], check=True, stdout=subprocess.DEVNULL)
            command = [sys.executable, os.path.join(source, "utils/mutate.py"), "--inside", "--build", build]
        return subprocess.run(command + arguments).returncode
    finally:
        if not options.work:
            shutil.rmtree(work, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), help="an up-to-date build directory")
    parser.add_argument("--dialect", choices=sorted(POINTS), help="only this dialect (default: both)")
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", metavar="REGEX", help="only mutations whose line matches")
    parser.add_argument("--work", help="directory for the copies, which is kept; otherwise they are removed")
    parser.add_argument("--list", action="store_true", help="print what would be disabled")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.build = os.path.abspath(options.build)
    if options.inside or options.list:
        return run(options)
    return run_on_copy(options)


if __name__ == "__main__":
    sys.exit(main())
