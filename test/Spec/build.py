"""Configures and builds as specified: with Ninja and Make, with GCC and clang, by the commands of the README.

build.py --source DIR --build DIR --work DIR [--whole]

BUILD is the build directory of the tests, whose configuration is read. In WORK a clone is configured by the commands
of the README, and a program of the runtime is built with GCC and Ninja and with clang and Make. With --whole the clone
is built completely, by the compiler that BUILD was not built by, and runs tests, which takes as long as a full build.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference"))
from checks import Checks, fresh_folder, work_parser  # noqa: E402

check = Checks()
FLOOR = (3, 20)  # The minimum version of CMake: docs/decisions/0002-stock-llvm.md.
LINE_OF_EXAMPLE = "sequence 100: 19 tokens in 2 blocks of 16"
COMPILED = re.compile(r"^build (\S+\.o): CXX_COMPILER\S* (\S+\.cpp).*\n((?:  .*\n)*)", re.M)
LINKED = re.compile(r"^build ((?:bin|lib)/\S+?)(?: .*)?: CXX_(?:EXECUTABLE|SHARED_LIBRARY|MODULE_LIBRARY)_LINKER", re.M)


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as stream:
        return stream.read()


def run(command, folder, **variables):
    """The exit code and the output of a shell command."""
    result = subprocess.run(["bash", "-c", command], cwd=folder, env=dict(os.environ, **variables),
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    return result.returncode, result.stdout


def cache_of(folder):
    """The variables of a configured directory."""
    return dict(re.findall(r"^(\w+):\w+=(.*)$", read(folder, "CMakeCache.txt"), re.M))


def build_commands(source):
    """The commands of the README from creating the build directory to running tests."""
    blocks = [block.strip().split("\n") for block in re.findall(r"```bash\n(.*?)```", read(source, "README.md"), re.S)]
    found = [block for block in blocks if block[0].startswith("mkdir build")]
    check("the README says how to build", len(found) == 1 and len(found[0]) == 4, found)
    return found[0] if found else []


def clone(options):
    """A clone of the source's commits; None if the source is not a clone."""
    if not os.path.exists(os.path.join(options.source, ".git")):
        check.skip("clone", "%s is not a clone" % options.source)
        return None
    settings = os.path.join(options.work, "gitconfig")  # The source may be owned by another user.
    with open(settings, "w", encoding="utf-8") as stream:
        stream.write("[safe]\n\tdirectory = *\n")
    # SPEC: 46 101: a clone contains everything that configuration and build require.
    code, said = run("git clone --quiet '%s' llmir && cd llmir && git status --porcelain" % options.source,
                     options.work, GIT_CONFIG_GLOBAL=settings)
    check("clone", code == 0 and not said, said)
    return os.path.join(options.work, "llmir") if code == 0 else None


def check_products(options):
    """The results of a plain `ninja` or `make` in BUILD: every program and library exists, and tools run."""
    cache = cache_of(options.build)
    listed = []
    if cache["CMAKE_GENERATOR"] == "Ninja":
        listed = LINKED.findall(read(options.build, "build.ninja"))
    # SPEC: 49 103
    for product in ["bin/llmir", "lib/libLLMIRCompiler.so", "lib/LLMIRPlugin.so"] + listed:
        check(product + " is built", os.access(os.path.join(options.build, product), os.X_OK))
    check("programs are listed", cache["CMAKE_GENERATOR"] != "Ninja" or len(listed) > 40, listed)
    for tool in ("llmir", "llmir-opt", "llmir-translate", "llmir-reduce", "llmir-lsp-server"):
        code, said = run("bin/%s --version && bin/%s --help" % (tool, tool), options.build)
        check(tool + " runs", code == 0 and re.search(r"llmir 0\.|LLVM version 22", said) and tool in said, said[:400])


def check_installed_mlir(options):
    """The compiler is linked with the installed LLVM and MLIR."""
    # SPEC: 2 41 96
    cache = cache_of(options.build)
    for package in ("LLVM_DIR", "MLIR_DIR", "LLD_DIR"):
        config = os.path.join(cache[package], package[:-4] + "Config.cmake")
        inside = os.path.realpath(config).startswith((os.path.realpath(options.source), os.path.realpath(options.build)))
        check(package + " is installed", os.path.isfile(config) and not inside, config)
    code, said = run("LC_ALL=C ldd lib/libLLMIRCompiler.so", options.build)
    for library in ("libMLIR", "libLLVM"):
        match = re.search(r"%s\S*\.so\S* => (/\S+)" % library, said)
        check("the compiler is linked with " + library,
              code == 0 and match and not match.group(1).startswith(os.path.realpath(options.build)), said)


def check_language(options):
    """Every source is compiled as C++17 without extensions."""
    cache = cache_of(options.build)
    if cache["CMAKE_GENERATOR"] != "Ninja":
        check.skip("commands of the compiler", "they are read from build.ninja")
        return
    commands = COMPILED.findall(read(options.build, "build.ninja"))
    check("sources are compiled", len(commands) > 300, len(commands))
    # SPEC: 43
    other = [source for _, source, flags in commands if "-std=c++17" not in flags.split()]
    check("all as C++17", not other, other[:5])


def check_floor(options):
    """The minimum version of CMake is that of LLVM's modules; CMake itself rejects older versions."""
    # SPEC: 42 98
    for path in ("CMakeLists.txt", "CMakePresets.json", "README.md", "docs/DeveloperGuide.md"):
        found = re.findall(r"cmake_minimum_required\(VERSION (\d+)\.(\d+)\)|CMake (\d+)\.(\d+)"
                           r'|"major": (\d+), "minor": (\d+)', read(options.source, path))
        versions = {tuple(int(part) for part in match if part) for match in found}
        check("%s asks for CMake %d.%d" % ((path,) + FLOOR), versions == {FLOOR}, versions)
    # The command is new in CMake 3.20, and generating ops requires this module.
    module = os.path.join(cache_of(options.build)["LLVM_DIR"], "TableGen.cmake")
    check("LLVM's TableGen.cmake calls cmake_path", "cmake_path(" in read(module), module)


def build_example(options, name, generator, compiler):
    """Configures in a new directory and builds and runs the example of the KV cache there."""
    folder = os.path.join(options.work, name)
    os.makedirs(folder)
    # SPEC: 97 100
    code, said = run("cmake -G '%s' %s '%s'" % (generator, "-DCMAKE_CXX_COMPILER=" + compiler, options.source), folder)
    check(name + " is configured", code == 0, said[-1500:])
    if code:
        return
    chosen = cache_of(folder)
    check(name + ": compiler and generator", chosen["CMAKE_GENERATOR"] == generator
          and os.path.basename(chosen["CMAKE_CXX_COMPILER"]) == compiler, chosen["CMAKE_CXX_COMPILER"])
    code, said = run("cmake --build . --parallel 2 --target kv_cache_example && bin/kv_cache_example", folder)
    check(name + " builds a program that runs", code == 0 and LINE_OF_EXAMPLE in said, said[-1500:])


def other_compiler(options):
    """Variables that select clang if BUILD was built by GCC, and GCC if it was built by clang."""
    is_clang = "clang" in os.path.basename(os.path.realpath(cache_of(options.build)["CMAKE_CXX_COMPILER"]))
    cc, cxx = ("gcc", "g++") if is_clang else ("clang-22", "clang++-22")
    if not shutil.which(cxx):
        check.skip("another compiler", cxx + " is not installed")
        return {}
    return {"CC": cc, "CXX": cxx}


def follow_readme(options, source, whole):
    """The README's commands in a clone: the first two alone, or all of them."""
    commands = build_commands(options.source)
    if not commands:
        return
    folder, configure, build, test = commands
    chosen = other_compiler(options) if whole else {}
    # SPEC: 47 48 102: a new directory, without further arguments.
    code, said = run(folder + " && " + configure, source, **chosen)
    check("; ".join([folder, configure]), code == 0 and "Build files have been written" in said, said[-1500:])
    if code or not whole:
        return
    inside = os.path.join(source, "build")
    compiler = os.path.basename(cache_of(inside)["CMAKE_CXX_COMPILER"])
    check("the compiler is " + compiler, compiler == chosen.get("CXX", compiler), compiler)
    # SPEC: 49 97 103
    code, said = run(build, inside)
    check(build + ", from nothing", code == 0, said[-3000:])
    # SPEC: 50 139
    code, said = run(test, inside, LIT_FILTER="Dialect/LLM/IR")
    check(test, code == 0 and re.search(r"Passed *: +\d+", said), said[-3000:])
    check_products(argparse.Namespace(**dict(vars(options), build=inside)))


def check_test_target(options):
    """The command of check-llmir runs lit's tests: here one of them whose programs have been built."""
    if cache_of(options.build)["CMAKE_GENERATOR"] == "Ninja":
        code, said = run("ninja -t commands check-llmir", options.build)
    else:
        code, said = 0, read(options.build, "CMakeFiles/check-llmir.dir/build.make")
    lines = [line.strip() for line in said.split("\n") if re.search(r"\blit -sv ", line)]
    check("check-llmir calls lit", code == 0 and len(lines) == 1, said[-800:])
    if not lines:
        return
    # SPEC: 50 139
    code, said = run(lines[0], options.build, LIT_FILTER="Support/StatusTest", LIT_OPTS="")
    check("its command runs tests", code == 0 and re.search(r"Passed *: +1 ", said), said[-800:])


def main():
    parser = work_parser(__doc__, "source", "build")
    parser.add_argument("--whole", action="store_true")
    options = parser.parse_args()
    for name in ("source", "build", "work"):
        setattr(options, name, os.path.abspath(getattr(options, name)))
    fresh_folder(options.work)
    source = clone(options)
    if source:
        follow_readme(options, source, options.whole)
    if options.whole:
        if source and not check.failures:
            shutil.rmtree(os.path.join(source, "build"))  # Gigabytes.
        return check.finish()
    check_products(options)
    check_installed_mlir(options)
    check_language(options)
    check_floor(options)
    check_test_target(options)
    build_example(options, "gcc-ninja", "Ninja", "g++")
    if shutil.which("clang++-22"):
        build_example(options, "clang-make", "Unix Makefiles", "clang++-22")
    else:
        check.skip("clang with Make", "clang++-22 is not installed")
        build_example(options, "gcc-make", "Unix Makefiles", "g++")
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
