"""The specification of the repository itself: its name, license and directories, and how to contribute.
Definitions are processed by TableGen, headers are compiled, tests are listed by lit, and rules for contributors are
violated in a copy, which the checks must detect.

repository.py --source DIR --build DIR --llvm-tools DIR --work DIR
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference"))
from checks import Checks, fresh_folder, work_parser  # noqa: E402

check = Checks()
# The words of the Apache license and of LLVM's exceptions, joined by single spaces.
APACHE = "0ffddef9e48f8a09aed5caf2d44f7ba1c1be2d9b8e0a6f693b1635b2d5566645"
EXCEPTIONS = "7e0295ae5b3d98fcb706057590739cb59b412de7c3189cd48254f4477b809069"
DIALECT = "include/mlir/Dialect/LLM"


class Repository:
    def __init__(self, options):
        self.source, self.build = os.path.abspath(options.source), os.path.abspath(options.build)
        self.tools, self.work = options.llvm_tools, os.path.abspath(options.work)
        self.cache = dict(re.findall(r"^(\w+):\w+=(.*)$", self.read("CMakeCache.txt", self.build), re.M))

    def read(self, path, folder=None):
        with open(os.path.join(folder or self.source, path), encoding="utf-8") as stream:
            return stream.read()

    def run(self, *command, folder=None):
        """The exit code and the output of a command."""
        result = subprocess.run(command, cwd=folder or self.source, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                universal_newlines=True, env=dict(os.environ, GIT_CONFIG_GLOBAL=self.git_settings()))
        return result.returncode, result.stdout

    def git_settings(self):
        """Git settings: the source may be owned by another user, and commits require a name."""
        path = os.path.join(self.work, "gitconfig")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write("[safe]\n\tdirectory = *\n[user]\n\tname = A\n\temail = a@example.org\n")
        return path

    def files(self, folder, ending):
        return sorted(name for name in os.listdir(os.path.join(self.source, folder)) if name.endswith(ending))

    def records(self, path):
        """The output of TableGen for a definition file."""
        code, said = self.run(os.path.join(self.tools, "llvm-tblgen"), "--dump-json", path, "-I", "include",
                              "-I", os.path.join(os.path.dirname(self.cache["MLIR_DIR"]), "../../include"))
        check("TableGen reads " + path, code == 0, said[:400])
        return json.loads(said) if code == 0 else {"!instanceof": {}}

    def tests(self, folder):
        """The tests that lit finds in a directory of test/."""
        code, said = self.run(self.cache["LLMIR_PYTHON"], self.cache["LLMIR_LIT"], "--show-tests", "--filter",
                              re.escape(folder) + "/", os.path.join(self.build, "test"))
        check("lit lists " + folder, code == 0, said[:400])
        return re.findall(r"LLMIR :: (\S+)", said)


def check_name(at):
    # SPEC: 1
    title = at.read("README.md").split("\n")[0]
    check("the README's title", title == "# LLMIR: Large Language Model Intermediate Representation", title)
    check("the project's name", at.cache["CMAKE_PROJECT_NAME"] == "LLMIR", at.cache["CMAKE_PROJECT_NAME"])
    code, said = at.run(os.path.join(at.build, "bin/llmir-opt"), "--help")
    check("its optimizer's name", code == 0 and said.startswith("OVERVIEW: LLMIR's optimizer"), said[:100])


def check_definitions(at):
    """The directories of headers: TableGen and the compiler find their contents."""
    # SPEC: 71 72 104
    found = at.records(DIALECT + "/IR/LLMOps.td")
    ops = [found[name] for name in found["!instanceof"].get("Op", ())]
    names = {op["opName"] for op in ops if op["opDialect"]["def"] == "LLM_Dialect"}
    check("ops are defined there", len(ops) == len(names) > 30 and {"append_kv", "paged_attention"} <= names, names)
    types = {found[name]["mnemonic"] for name in found["!instanceof"].get("TypeDef", ())}
    check("types too", types == {"paged_kv_cache", "sharded_tensor", "quantized_tensor"}, types)
    # SPEC: 73 105: with no header but the project's own and the language's.
    headers = at.files(DIALECT + "/Runtime", ".h")
    check("headers of the runtime", "PagedKVCache.h" in headers, headers)
    program = "".join('#include "mlir/Dialect/LLM/Runtime/%s"\n' % name for name in headers)
    path = os.path.join(at.work, "headers.cpp")
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(program)
    code, said = at.run(at.cache["CMAKE_CXX_COMPILER"], "-std=c++17", "-fsyntax-only", "-I", "include", path)
    check("they compile", code == 0, said[:800])
    return {"llm." + name for name in names}


def check_implementation(at):
    """The directories of sources: the libraries built from them have the expected functions."""
    for folder, libraries, function in (
            # SPEC: 74 75 106
            ("IR", ["Dialect"], "mlir::llm::PagedAttentionOp::verify()"),
            # SPEC: 76 107
            ("Runtime", ["RuntimeCache", "RuntimeBridge"], "mlir::llm::runtime::PagedKVCache::appendKV(")):
        paths = [os.path.join(at.build, "lib/libLLMIR%s.a" % name) for name in libraries]
        built = {name for path in paths for name in at.run("ar", "t", path)[1].split()}
        sources = {name + ".o" for name in at.files("lib/Dialect/LLM/" + folder, ".cpp")}
        check(folder + " is built of its directory", sources and sources == built, sources ^ built)
        code, said = at.run("nm", "-C", "--defined-only", paths[0])
        check(folder + " has " + function, code == 0 and " " + function in said)


def check_tests(at, ops):
    """The directories of tests: lit runs each file, and each op is in a test of its dialect's directory."""
    found = at.tests("Dialect/LLM")
    # SPEC: 77
    check("tests of the dialect", len(found) > 40, found)
    for folder, ending in (
            # SPEC: 78 108
            ("Dialect/LLM/IR", ".mlir"),
            # SPEC: 79 109
            ("Dialect/LLM/Runtime", "Test.cpp")):
        files = at.files("test/" + folder, ending)
        missed = [name for name in files if folder + "/" + name not in found]
        check("lit runs " + folder, len(files) > 2 and not missed, missed)
    text = "".join(at.read("test/Dialect/LLM/IR/" + name) for name in at.files("test/Dialect/LLM/IR", ".mlir"))
    untested = sorted(op for op in ops if not re.search(re.escape(op) + r"\b", text))
    check("every op has a test there", ops and not untested, untested)


def check_examples(at):
    """Every example is a program that is built, or a file that lit runs."""
    tests = at.tests("Examples")
    # SPEC: 80
    for name in at.files("examples", ".cpp"):
        program = os.path.splitext(name)[0]
        check(name + " is built", os.access(os.path.join(at.build, "bin", program), os.X_OK))
        check(name + " is run by a test", "Examples/%s.test" % program in tests, tests)
    # SPEC: 190
    examples = at.files("examples/LLM", ".mlir")
    missed = [name for name in examples if "Examples/LLM/" + name not in tests]
    check("lit runs examples/LLM", len(examples) >= 6 and not missed, missed)


def check_licence(at):
    # SPEC: 93 94
    apache, _, exceptions = at.read("LICENSE.TXT").partition("---- LLVM Exceptions to the Apache 2.0 License ----")
    apache = apache[apache.find(" Apache License\n"):]
    for name, text, known in (("Apache's text", apache, APACHE), ("LLVM's exceptions", exceptions, EXCEPTIONS)):
        found = hashlib.sha256(" ".join(text.split()).encode()).hexdigest()
        check("LICENSE.TXT has %s to the word" % name, found == known, found)
    code, said = at.run(sys.executable, "utils/lint.py", "license")
    check("every source names it", code == 0, said)


# Families whose names in the README have other or more words.
FAMILY_NAMES = {"graniteHybrid": "granite 4 hybrid", "gemmaEmbedding": "EmbeddingGemma"}


def check_readme(at):
    """The README is short, and its tables list each family, format and level of the sources."""
    text = at.read("README.md")
    check("it has fewer than 150 lines", text.count("\n") < 150, text.count("\n"))
    tables = "\n".join(re.findall(r"^\|.*$", text.partition("## How it works")[0], re.M)).lower()
    families = re.findall(r"&(\w+)Family,", at.read("lib/Frontend/Models/Families.cpp"))
    rows = at.read("include/llmir/Support/TensorFormats.def")
    formats = re.findall(r"^LLMIR_TENSOR_FORMAT\((\w+),(?!.* -1,)", rows, re.M)  # -1: of no file.
    levels = re.findall(r"^LLMIR_CPU_LEVEL\(\"([\w-]+)\"", at.read("include/llmir/Support/CPULevels.def"), re.M)
    check("there are families, formats and levels", families and formats and levels, (families, formats, levels))
    experts = "".join(line for line in tables.splitlines() if "mixtures of experts" in line)
    plain = re.sub(r"[^a-z0-9]", "", tables)
    for family in families:  # "gemma2" is "Gemma 1, 2, 3", "seedOSS" is "Seed-OSS".
        if re.sub(r"[^a-z0-9]", "", FAMILY_NAMES.get(family, family).lower()) in plain:
            check("its tables name " + family, True)
            continue
        base, is_mixture, _ = family.lower().partition("moe")
        letters, number = re.match(r"(\D+)(\d*)$", base).groups()
        if is_mixture:  # "qwen2MoE" is "Qwen2-MoE".
            check("its tables name " + family, re.search(letters + r"[^;|,]*" + number, experts), experts)
            continue
        pattern = letters + (r"[^;|]*\b%s\b" % number if number else "")
        check("its tables name " + family, re.search(pattern, tables.replace("-neo", "neo").replace("d-o", "do")), tables)
    for name in ["`%s`" % level for level in levels] + formats:
        check("its tables name " + name, re.search(r"(?<![\w-])" + re.escape(name.lower()) + r"(?![\w-])", tables), tables)


def check_speeds(at):
    """The speeds in the README are in docs/Performance.md; test/Tools checks the chart."""
    sys.path.insert(0, os.path.join(at.source, "benchmarks"))
    import speed_chart
    text, measured = at.read("README.md"), at.read("docs/Performance.md")
    ratios = [row.ratio for row in speed_chart.rows_of(measured)
              if row.threads == 2 and re.match(r"tg\d+$", row.test) and row.ratio]
    said = re.search(r"decoding is\s+([\d.]+) to ([\d.]+ ×)", text)
    check("the README's range of two threads", said and ratios and said.groups() == (min(ratios)[:-2], max(ratios)),
          (said and said.groups(), ratios))
    for name, pattern in (("the README's processor", r"AMD EPYC \(Zen 5"), ("its version of llama.cpp", r"3\.22\.1"),
                          ("its commit of ik_llama.cpp", r"8337e4cd3")):
        check(name, re.search(pattern, text) and re.search(pattern, measured))


def check_guidance(at):
    """The requirements of CONTRIBUTING.md."""
    text = at.read("CONTRIBUTING.md")
    # SPEC: 92 138
    check("pull requests are welcome", "Contributions are welcome, as pull requests." in text
          and re.search(r"^5\. Open a pull request", text, re.M))
    # SPEC: 131
    check("the plan is in the repository", "(docs/Roadmap.md)" in text and at.read("docs/Roadmap.md"))
    # SPEC: 132
    areas = re.search(r"## Where help counts most\n\n((?:- .*\n(?:  .*\n)*)+)", text)
    check("areas to choose from", areas and areas.group(1).count("\n- ") >= 4, text)
    for path in re.findall(r"`((?:lib|test|include)/[\w./]+)`", areas.group(1) if areas else ""):
        check("%s is there" % path, os.path.exists(os.path.join(at.source, path)))
    # SPEC: 135
    check("a branch for each feature", "Make a branch for your feature; one feature per branch." in text)
    # SPEC: 134 136 137
    check("with tests and documentation", "Change the code with its tests" in text
          and "Change the documentation that the change makes wrong" in text)
    code, said = at.run(sys.executable, "utils/lint.py", "links")
    check("links of the guides lead somewhere", code == 0, said)


def check_plan(at):
    """The development plan has phases, a state for each line, and the numbers of planned and deviating items."""
    # SPEC: 111
    text = at.read("docs/Roadmap.md")
    phases = re.findall(r"^## Phase (\d): .*\n\n\| \| state \|\n\|---\|---\|\n((?:\|.*\n)+)", text, re.M)
    check("three phases", [number for number, _ in phases] == ["1", "2", "3"], text[:200])
    states = [line.rsplit("|", 2)[1].strip() for _, lines in phases for line in lines.strip().split("\n")]
    unknown = [state for state in states if not re.match(r"done|planned", state)]
    check("each line has its state", len(states) > 20 and not unknown, unknown)
    items = json.loads(at.read("test/Spec/coverage.json"))["items"]
    planned = sum(each["status"] == "planned" for each in items)
    check("it counts the %d planned items" % planned, "%d are planned" % planned in text)
    decided = sum(each["status"] == "decided" for each in items)
    check("it counts the %d decided items" % decided, "and %d deviate" % decided in text)


def write(folder, files):
    for path, text in files.items():
        os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
        with open(os.path.join(folder, path), "w", encoding="utf-8") as stream:
            stream.write(text)


def check_style(at):
    """`./dev lint` detects violations of LLVM's style and of the project's rules, in a repository of a few files."""
    # SPEC: 99 133
    folder = os.path.join(at.work, "style")
    header = "\n".join(at.read("lib/Support/Status.cpp").split("\n")[:7]) + "\n\n"
    write(folder, {"good.cpp": header + "int twice(int x) { return 2 * x; }\n", "good.py": "print(1)\n",
                   "good.h": header + "#ifndef LLMIR_GOOD_H\n#define LLMIR_GOOD_H\n\n#endif\n",
                   "utils/lint.py": at.read("utils/lint.py"), ".clang-format": at.read(".clang-format")})
    at.run("git", "init", "--quiet", folder=folder)
    lint = (sys.executable, "utils/lint.py", "format", "license", "headers", "python", "unfinished", "links")
    code, said = at.run(*lint, folder=folder)
    check("lint accepts what is right", code == 0, said)
    write(folder, {"bad.cpp": "int  twice (int x)\n{return 2*x;}\n// TO" "DO\n", "bad.h": header + "int a;\n",
                   "bad.py": "if (n := 1):\n    pass\n", "bad.md": "[gone](gone.md)\n"})
    code, said = at.run(*lint, folder=folder)
    for rule, path in (("format", "bad.cpp"), ("license", "bad.cpp"), ("headers", "bad.h"), ("python", "bad.py"),
                       ("unfinished", "bad.cpp"), ("links", "bad.md")):
        check("lint notices %s in %s" % (rule, path), code == 1 and "lint [%s] %s" % (rule, path) in said, said)
    code, said = at.run(sys.executable, "utils/lint.py", "python")
    check("every script is one of Python 3.7", code == 0, said)


def check_changes(at):
    """In a clone, on a branch: detects a rule of an op without a test, and an outdated generated page."""
    if not os.path.exists(os.path.join(at.source, ".git")):
        check.skip("changes", "%s is not a clone" % at.source)
        return
    folder = os.path.join(at.work, "clone")
    code, said = at.run("git", "clone", "--quiet", at.source, folder)
    check("clone", code == 0, said)
    # SPEC: 135
    code, said = at.run("git", "checkout", "--quiet", "-b", "a-feature", folder=folder)
    check("a branch", code == 0, said)
    code, said = at.run(sys.executable, "utils/rule_coverage.py", folder=folder)
    check("rules have tests before", code == 0, said)
    path = DIALECT + "/IR/LLMOps.td"
    text = at.read(path, folder)
    write(folder, {path: re.sub(r"\n( +)- c1: ", r"\n\1- c77: it is unlike itself;\n\1- c1: ", text, count=1)})
    # SPEC: 134 136
    code, said = at.run(sys.executable, "utils/rule_coverage.py", folder=folder)
    check("a rule without a test is noticed", code != 0 and "c77" in said, said)
    # SPEC: 137
    pages = os.path.join(at.work, "pages")
    code, said = at.run("env", "PYTHON=" + sys.executable, "LLVM_TOOLS=" + at.tools, "bash", "utils/make_docs.sh", pages,
                        folder=folder)
    check("pages are made", code == 0, said[:800])
    code, said = at.run("diff", "-r", "docs/Reference", pages, folder=folder)
    check("a page that is stale is noticed", code == 1 and "it is unlike itself" in said, said[:800])
    shutil.rmtree(folder)


def main():
    options = work_parser(__doc__, "source", "build", "llvm-tools").parse_args()
    fresh_folder(options.work)
    at = Repository(options)
    check_name(at)
    check_readme(at)
    check_speeds(at)
    check_tests(at, check_definitions(at))
    check_implementation(at)
    check_examples(at)
    check_licence(at)
    check_guidance(at)
    check_plan(at)
    check_style(at)
    check_changes(at)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
