"""What the specification says of the repository itself: its name, licence and
layout, how it is configured and built, and the guides that it must have.

repository.py SOURCE_FOLDER BUILD_FOLDER SCRATCH_FOLDER
"""

import os
import re
import shutil
import subprocess
import sys
import unittest

SOURCE, BUILD, SCRATCH = (os.path.abspath(path) for path in sys.argv[1:4])


def read(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as stream:
        return stream.read()


def run(*command, folder=None):
    result = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            universal_newlines=True)
    return result.returncode, result.stdout


class Readme(unittest.TestCase):
    text = read("README.md")

    def test_name_and_purpose(self):
        # SPEC: 1
        self.assertTrue(self.text.startswith("# LLMIR: Large Language Model Intermediate Representation\n"))
        # SPEC: 2
        self.assertRegex(self.text, r"compiler and a runtime for LLM inference, on MLIR")

    def test_requirements(self):
        # SPEC: 41
        self.assertRegex(self.text, r"LLVM, MLIR and lld 22")
        # SPEC: 43
        self.assertRegex(self.text, r"C\+\+17 compiler \(GCC 12 or clang 22\)")
        # SPEC: 46 101
        self.assertRegex(self.text, r"in a clone of this repository")

    def test_build_steps(self):
        # SPEC: 47 102 103 139
        self.assertIn("mkdir build && cd build\ncmake -G Ninja ..\nninja\nninja check-llmir\n", self.text)


class Build(unittest.TestCase):
    def configure(self, name, *arguments):
        folder = os.path.join(SCRATCH, name)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        code, output = run("cmake", *arguments, SOURCE, folder=folder)
        self.assertEqual(code, 0, output)
        return folder

    def test_ninja(self):
        # SPEC: 48 96 102: no further argument, MLIR is found.
        folder = self.configure("ninja", "-G", "Ninja")
        # SPEC: 49 103: everything is planned to be built, from the compiler to the example.
        code, output = run("ninja", "-n", folder=folder)
        self.assertEqual(code, 0, output)
        for product in ("bin/llmir", "bin/llmir-opt", "bin/kv_cache_example", "lib/libLLMIRCompiler.so"):
            self.assertRegex(output, rf"Linking \w+ [a-z ]*{re.escape(product)}\b")
        # SPEC: 50 139
        code, output = run("ninja", "-t", "commands", "check-llmir", folder=folder)
        self.assertEqual(code, 0, output)
        self.assertRegex(output.strip().split("\n")[-1], r"lit -sv .*/test")
        shutil.rmtree(folder)

    def test_make(self):
        # SPEC: 100: Make beside Ninja; `./dev check --all` builds with both.
        folder = self.configure("make", "-G", "Unix Makefiles")
        code, output = run("make", "help", folder=folder)
        self.assertEqual(code, 0, output)
        for target in ("all", "llmir", "llmir-opt", "LLMIRCompiler", "check-llmir"):
            self.assertRegex(output, rf"(?m)^\.\.\. {target}\b")
        shutil.rmtree(folder)

    def test_floor_versions(self):
        # SPEC: 42 98: 3.13.4 or higher; what is asked for is what the README names.
        version = re.search(r"cmake_minimum_required\(VERSION (\d+)\.(\d+)", read("CMakeLists.txt"))
        self.assertGreaterEqual((int(version.group(1)), int(version.group(2)), 9), (3, 13, 4))
        self.assertIn(f"CMake {version.group(1)}.{version.group(2)}", Readme.text)
        # SPEC: 99: 3.7 is enough for every script, which the linter parses as 3.7.
        self.assertIn("sys.version_info < (3, 7)", read("cmake/modules/LLMIRTests.cmake"))
        code, output = run(sys.executable, os.path.join(SOURCE, "utils/lint.py"), "python")
        self.assertEqual(code, 0, output)
        self.assertIn("feature_version=(3, 7)", read("utils/lint.py"))

    def test_compilers(self):
        # SPEC: 43 97: C++17 with either compiler; `./dev check --all` builds with both.
        settings = read("cmake/modules/LLMIRSettings.cmake")
        self.assertIn("set(CMAKE_CXX_STANDARD 17)", settings)
        self.assertIn("set(CMAKE_CXX_EXTENSIONS OFF)", settings)
        self.assertIn("for compiler in gcc clang", read("dev"))
        self.assertIn('for generator in Ninja "Unix Makefiles"', read("dev"))


class Layout(unittest.TestCase):
    def assert_holds(self, folder, *endings):
        names = []
        for _, _, files in os.walk(os.path.join(SOURCE, folder)):
            names += files
        for ending in endings:
            self.assertTrue(any(name.endswith(ending) for name in names), f"{folder} holds no {ending}")

    def test_headers(self):
        # SPEC: 71
        self.assert_holds("include/mlir/Dialect/LLM", ".td", ".h")
        # SPEC: 72 104
        self.assert_holds("include/mlir/Dialect/LLM/IR", "LLMOps.td", "LLMTypes.td", "LLM.h")
        # SPEC: 73 105
        self.assert_holds("include/mlir/Dialect/LLM/Runtime", "PagedKVCache.h")

    def test_sources(self):
        # SPEC: 74
        self.assert_holds("lib/Dialect/LLM", ".cpp")
        # SPEC: 75 106
        self.assert_holds("lib/Dialect/LLM/IR", "LLMOps.cpp", "LLMDialect.cpp")
        # SPEC: 76 107
        self.assert_holds("lib/Dialect/LLM/Runtime", "PagedKVCache.cpp")

    def test_tests(self):
        # SPEC: 77
        self.assert_holds("test/Dialect/LLM", ".mlir", ".cpp")
        # SPEC: 78 108
        self.assert_holds("test/Dialect/LLM/IR", ".mlir")
        # SPEC: 79 109
        self.assert_holds("test/Dialect/LLM/Runtime", "Test.cpp")

    def test_examples(self):
        # SPEC: 80
        self.assert_holds("examples", ".cpp", ".mlir")
        # SPEC: 81 110: built here; test/Examples runs it.
        self.assertTrue(os.path.isfile(os.path.join(SOURCE, "examples/kv_cache_example.cpp")))
        self.assertTrue(os.access(os.path.join(BUILD, "bin/kv_cache_example"), os.X_OK))
        # SPEC: 190
        self.assert_holds("examples/LLM", ".mlir", "README.md")


class Licence(unittest.TestCase):
    def test_text(self):
        # SPEC: 93 94
        text = read("LICENSE.TXT")
        self.assertRegex(text, r"Apache License\s+Version 2\.0, January 2004")
        self.assertRegex(text, r"LLVM Exceptions to the Apache 2\.0 License")

    def test_every_source_names_it(self):
        # SPEC: 93
        code, output = run(sys.executable, os.path.join(SOURCE, "utils/lint.py"), "license")
        self.assertEqual(code, 0, output)


class Guides(unittest.TestCase):
    def test_contributing(self):
        text = read("CONTRIBUTING.md")
        # SPEC: 92 134 138
        self.assertRegex(text, r"(?i)pull request")
        # SPEC: 131: the plan is part of the repository.
        self.assertIn("(docs/Roadmap.md)", text)
        # SPEC: 132
        self.assertIn("## Where help counts most", text)
        # SPEC: 133
        self.assertIn("LLVM's coding standards and MLIR's habits", text)
        # SPEC: 135
        self.assertIn("Make a branch for your feature", text)
        # SPEC: 134 136
        self.assertIn("Change the code with its tests", text)
        # SPEC: 137
        self.assertIn("Change the documentation", text)

    def test_developer_guide(self):
        # SPEC: 95
        text = read("docs/DeveloperGuide.md")
        for heading in ("## Build", "## Test", "## Where things are", "## Add something"):
            self.assertIn(heading, text)
        self.assertIn("(docs/DeveloperGuide.md)", Readme.text)

    def test_development_plan(self):
        # SPEC: 111: three phases, each line with its state.
        text = read("docs/Roadmap.md")
        for phase in ("## Phase 1", "## Phase 2", "## Phase 3"):
            self.assertIn(phase, text)
        self.assertGreater(text.count("| holds"), 10)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
