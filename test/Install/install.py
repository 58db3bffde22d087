"""A relocated installation works, and other projects can use it.

install.py --source DIR --build DIR --llvm-tools DIR --work DIR
"""

import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference"))
from checks import Checks, fresh_folder, quick_level, work_parser  # noqa: E402

check = Checks()
PROMPT = "In the beginning"
# Directories of headers that need neither MLIR nor LLVM (LLMIRInstall.cmake).
RUNTIME_HEADERS = ("llmir/Artifact", "llmir/Checkpoint", "llmir/Constraint", "llmir/Runtime", "llmir/Server", "llmir/Serving",
                   "llmir/Support", "llmir/Tokenizer", "mlir/Dialect/LLM/Runtime")


class Installation:
    def __init__(self, options):
        self.source, self.build, self.work = (os.path.abspath(path) for path in (
            options.source, options.build, options.work))
        self.tools = options.llvm_tools
        with open(os.path.join(self.build, "CMakeCache.txt"), encoding="utf-8") as stream:
            self.cache = dict(re.findall(r"^(\w+):\w+=(.*)$", stream.read(), re.M))
        # The directory has another name and depth than the first one, and a space.
        self.prefix = os.path.join(self.work, "moved", "to here")
        self.artifact = os.path.join(self.work, "demo.llmir")
        self.version = self.cache["CMAKE_PROJECT_VERSION"]

    def run(self, *command, folder=None):
        """The exit code and the output of a command."""
        environment = dict(os.environ, XDG_CACHE_HOME=os.path.join(self.work, "cache"))
        result = subprocess.run(command, cwd=folder or self.work, env=environment, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, universal_newlines=True)
        return result.returncode, result.stdout

    def program(self, name):
        return os.path.join(self.prefix, "bin", name)

    def configure(self, source, folder, *arguments):
        return self.run("cmake", "-G", self.cache["CMAKE_GENERATOR"], "-S", source, "-B", os.path.join(self.work, folder),
                        "-DCMAKE_PREFIX_PATH=" + self.prefix, "-DCMAKE_CXX_COMPILER=" + self.cache["CMAKE_CXX_COMPILER"],
                        "-DCMAKE_C_COMPILER=" + self.cache["CMAKE_C_COMPILER"], *arguments)

    def build_project(self, folder, *arguments):
        """Configures and builds examples/project in a directory."""
        code, said = self.configure(os.path.join(self.source, "examples", "project"), folder, *arguments)
        check(folder + " is configured", code == 0, said[-1500:])
        if code == 0:
            code, said = self.run("cmake", "--build", os.path.join(self.work, folder), "--parallel", "2")
            check(folder + " is built", code == 0, said[-1500:])
        return os.path.join(self.work, folder)


def install(at):
    """Installs everything and moves it."""
    first = os.path.join(at.work, "first")
    code, said = at.run("cmake", "--install", at.build, "--prefix", first)
    check("cmake --install", code == 0, said[-1500:])
    os.makedirs(os.path.dirname(at.prefix))
    os.rename(first, at.prefix)


def check_files(at):
    """No installed file contains the paths of the source, of the build, or of the first prefix."""
    wrong = []
    for folder, _, names in os.walk(at.prefix):
        for name in names:
            path = os.path.join(folder, name)
            if name.endswith(".cmake"):
                with open(path, encoding="utf-8") as stream:
                    text = stream.read()
            elif folder.endswith(("/bin", "/lib")) and not name.endswith(".a"):
                text = at.run(os.path.join(at.tools, "llvm-readelf"), "-d", path)[1]
            else:
                continue
            wrong += [path for place in (at.source, at.build, at.work + "/first") if place in text]
    check("no path of this machine is left", not wrong, wrong)


def check_version(at):
    """The command, the package and the changelog have the version of CMakeLists.txt."""
    code, said = at.run(at.program("llmir"), "--version")
    check("the command's version", code == 0 and said.strip() == "llmir " + at.version, said)
    with open(os.path.join(at.prefix, "share/doc/llmir/CHANGELOG.md"), encoding="utf-8") as stream:
        versions = re.findall(r"^## (\d+\.\d+\.\d+)", stream.read(), re.M)
    check("the changelog's newest version", versions[:1] == [at.version], versions)
    later = "%s.%d" % (at.version.split(".")[0], int(at.version.split(".")[1]) + 1)
    for wanted, holds in ((at.version, True), (later, False), ("99.0", False)):
        code, said = find_package(at, wanted + " COMPONENTS runtime")
        check("the package for version " + wanted, (code == 0) == holds and (holds or at.version in said), said[-800:])


def find_package(at, arguments, *flags):
    """Configures a project that only finds the package; returns the exit code and the output."""
    folder = os.path.join(at.work, "finder")
    fresh_folder(folder)
    with open(os.path.join(folder, "CMakeLists.txt"), "w", encoding="utf-8") as stream:
        stream.write("cmake_minimum_required(VERSION 3.20)\nproject(Finder C CXX)\nfind_package(LLMIR %s REQUIRED)\n"
                     % arguments)
    code, said = at.configure(folder, "finder/build", *flags)
    return code, " ".join(said.split())


def without_mlir():
    return ["-DCMAKE_DISABLE_FIND_PACKAGE_%s=ON" % name for name in ("MLIR", "LLVM", "LLD")]


def check_refusals(at):
    """The messages of the package if it cannot be used."""
    for arguments, flags, sentence in (
            ("COMPONENTS frontend", (), "LLMIR has the components runtime and compiler, not 'frontend'."),
            ("COMPONENTS compiler", without_mlir(), "LLMIR's compiler needs LLVM, MLIR and lld 22"),
            ("", without_mlir(), "a program that only runs artifacts asks for COMPONENTS runtime")):
        code, said = find_package(at, arguments, *flags)
        check("find_package(LLMIR %s)" % arguments, code and sentence in said, said[-1200:])


def check_build_folder(at):
    """A build directory can be used like a prefix; a runtime-only one requires no LLVM and has no compiler."""
    code, said = find_package(at, "COMPONENTS compiler", "-DCMAKE_PREFIX_PATH=" + at.build)
    check("the package of the build directory", code == 0, said[-800:])
    alone = os.path.join(at.work, "runtime build")
    code, said = at.configure(at.source, alone, "-DLLMIR_RUNTIME_ONLY=ON", *without_mlir())
    check("the runtime alone is configured", code == 0, said[-800:])
    code, said = find_package(at, "COMPONENTS runtime", "-DCMAKE_PREFIX_PATH=" + alone, *without_mlir())
    check("its package has a runtime", code == 0, said[-800:])
    code, said = find_package(at, "COMPONENTS compiler", "-DCMAKE_PREFIX_PATH=" + alone)
    check("and no compiler", code and "this LLMIR was built without its compiler" in said, said[-800:])


def check_command(at):
    """The moved command compiles and runs; without the compiler it runs artifacts and reports what is missing."""
    model = os.path.join(at.source, "models", "demo")
    code, said = at.run(at.program("llmir"), "compile", model, "-o", at.artifact, "--target", quick_level())
    check("llmir compile", code == 0 and os.path.exists(at.artifact), said)
    alone = os.path.join(at.work, "runtime")
    code, said = at.run("cmake", "--install", at.build, "--prefix", alone, "--component", "runtime")
    check("the component runtime", code == 0, said)
    command = os.path.join(alone, "bin", "llmir")
    code, text = at.run(command, "run", at.artifact, PROMPT, "-n", "12", "--temp", "0")
    check("its command runs an artifact", code == 0 and re.search(r"\w+ \w+", text), text)
    code, said = at.run(command, "run", model, PROMPT)
    check("and refuses a checkpoint", code == 1 and "install the package llmir-compiler" in said, said)


def check_runtime_project(at):
    """A program that runs an artifact is built without MLIR, and has the results of llmir."""
    folder = at.build_project("runtime project", "-DONLY_RUNTIME=ON", *without_mlir())
    program = os.path.join(folder, "run_artifact")
    code, text = at.run(program, at.artifact, PROMPT, "12")
    _, wanted = at.run(at.program("llmir"), "run", at.artifact, PROMPT, "-n", "12", "--temp", "0")
    check("run_artifact", code == 0 and text.strip() and text.strip() in wanted, text + wanted)
    _, said = at.run(os.path.join(at.tools, "llvm-readelf"), "--needed-libs", program)
    check("it needs neither MLIR nor LLVM", "libstdc++" in said and not re.search("MLIR|LLVM|lld", said), said)
    code, said = at.run(program, os.path.join(at.source, "README.md"), PROMPT, "1")
    check("it refuses another file in one line", code == 1 and said.count("\n") == 1, said)


def check_whole_project(at):
    """A program that traces a model, and a plugin for both optimizers."""
    folder = at.build_project("whole project")
    code, text = at.run(os.path.join(folder, "mllm_trace"))
    _, wanted = at.run(os.path.join(at.build, "bin", "mllm_trace"))
    check("mllm_trace", code == 0 and "graph.CallGraphOp @model.layers.27 " in text and text == wanted, text[:800])
    module = os.path.join(at.source, "examples", "LLM", "attention.mlir")
    passes = ["--load-pass-plugin=" + os.path.join(folder, "CountOps.so"),
              "--pass-pipeline=builtin.module(count-ops)", module, "-o", os.devnull]
    own = os.path.join(at.prefix, "lib", "LLMIRPlugin.so")
    for tool, more in ((at.program("llmir-opt"), []),
                       (os.path.join(at.tools, "mlir-opt"), ["--load-dialect-plugin=" + own])):
        code, said = at.run(tool, *(more + passes))
        check("the plugin in " + os.path.basename(tool), code == 0 and re.search(r"(?m)^llm\.attention: \d+$", said), said)


def check_headers(at):
    """Every installed header compiles; those of the runtime without MLIR's headers."""
    include = os.path.join(at.prefix, "include")
    found = sorted(os.path.relpath(os.path.join(folder, name), include) for folder, _, names in os.walk(include)
                   for name in names if name.endswith((".h", ".hpp")))
    runtime = [path for path in found if path.startswith(tuple(folder + "/" for folder in RUNTIME_HEADERS))]
    check("headers are installed", len(runtime) > 30 and len(found) > 120, (len(runtime), len(found)))
    mlir = ["-isystem", mlir_headers(at), "-include",
            os.path.join(include, "llmir", "Dialect", "TraitTypeIDs.h")]
    for name, headers, flags in (("runtime", runtime, []), ("compiler", found, mlir)):
        path = os.path.join(at.work, name + ".cpp")
        with open(path, "w", encoding="utf-8") as stream:
            stream.write("".join('#include "%s"\n' % header for header in headers))
        code, said = at.run(at.cache["CMAKE_CXX_COMPILER"], "-std=c++17", "-fsyntax-only", "-I", include, *(flags + [path]))
        check("headers of the " + name, code == 0, said[:1500])


def mlir_headers(at):
    """The directory of MLIR's headers."""
    return os.path.normpath(os.path.join(at.cache["MLIR_DIR"], "..", "..", "..", "include"))


def main():
    at = Installation(work_parser(__doc__, "source", "build", "llvm-tools").parse_args())
    fresh_folder(at.work)
    install(at)
    check_files(at)
    check_version(at)
    check_refusals(at)
    check_build_folder(at)
    check_command(at)
    check_runtime_project(at)
    check_whole_project(at)
    check_headers(at)
    if not check.failures:
        shutil.rmtree(at.prefix)  # It is as large as the programs and libraries of the build.
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
