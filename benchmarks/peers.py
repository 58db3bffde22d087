# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The engines that compare.py compares: how each is run, and information about its build.

An engine measures a model file with a number of threads and returns samples in tokens per second: of
a prompt of `prompt` tokens and of decoding `gen` tokens, with `depth` tokens already in the context.
If it cannot, it raises EngineFailed.
"""
import glob
import hashlib
import json
import os
import re
import subprocess
import sys
from collections import namedtuple

HERE = os.path.dirname(os.path.abspath(__file__))

# A measurement: numbers of tokens, threads and concurrently decoded sequences; the type of the KV
# cache (KV_TYPES), None for the engine's default.
Test = namedtuple("Test", "prompt gen depth sequences threads kv")

# --kv of llmir, and llama.cpp's name of it.
KV_TYPES = {"f32": "f32", "f16": "f16", "bf16": "bf16", "q8": "q8_0"}


class EngineFailed(SystemExit):
    """A command that exited with an error."""


def output_of(command, **options):
    """Standard output of a command; if it fails, EngineFailed with the end of its messages."""
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False, **options)
    if done.returncode != 0:
        raise EngineFailed("%s ended with %d: %s" % (" ".join(command), done.returncode,
                                                     done.stderr.strip()[-600:]))
    return done.stdout


def rows_of(text):
    """The JSON list in a program's output, which may start with other lines."""
    return json.loads(text[text.index("["):])


def first_line(command):
    try:
        return output_of(command).strip().splitlines()[0]
    except (OSError, SystemExit, IndexError):
        return "unknown"


class Llmir:
    """`llmir bench`; a model file is compiled first."""
    name = "llmir"

    def __init__(self, program, level):
        self.program, self.level = program, level
        self.limits = {}

    def describe(self):
        return {"version": "%s, build %s" % (first_line([self.program, "--version"]),
                                             self.build()),
                "level": self.level or "native"}

    def build(self):
        """Identifies a build: a checksum of the program and its compiler."""
        digest = hashlib.sha256()
        folder = os.path.dirname(os.path.dirname(os.path.realpath(self.program)))
        for path in [self.program] + sorted(glob.glob(os.path.join(folder, "lib",
                                                                   "libLLMIRCompiler.so*"))):
            with open(path, "rb") as stream:
                digest.update(stream.read())
        return digest.hexdigest()[:12]

    def flags(self, quantize, kv):
        """The flags of `llmir compile` besides the model."""
        given = (("--quantize", quantize), ("--kv", kv), ("--target", self.level))
        return [word for flag, value in given if value for word in (flag, value)]

    def compile(self, model, artifact, quantize, kv):
        output_of([self.program, "compile", model, "-o", artifact] + self.flags(quantize, kv))

    def measure(self, artifact, test):
        command = [self.program, "bench", artifact, "-p", str(test.prompt), "-n", str(test.gen),
                   "-d", str(test.depth), "-s", str(test.sequences), "-t", str(test.threads),
                   "-r", "1", "-o", "json"]
        # `test.kv` is the artifact's.
        rows = json.loads(output_of(command))
        return {row["test"][:2]: {
            "samples": row["samples"], "share": row["share_of_limit"], "bound": row["bound"],
            "read_limit": row["read_limit"], "reader": row["reader"],
            "peak": row.get(row["bound"] + "_limit"),
            "source_bytes_per_second": row["source_bytes_per_second"],
            "packed_bytes_per_second": row["packed_bytes_per_second"],
            "operations_per_second": row["operations_per_second"],
            # Bytes of a sequence's keys and values per token.
            "kv_bytes": row["kv_bytes_per_second"] / row["tokens_per_second"]} for row in rows}


class LlamaBench:
    """A native build of llama-bench, of llama.cpp or ik_llama.cpp."""

    def __init__(self, name, program, extra):
        self.name, self.program, self.extra = name, program, list(extra)
        self.commit = None
        self.is_ik = "-rtr" in self.help()

    def help(self):
        done = subprocess.run([self.program, "--help"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        return done.stdout

    def describe(self):
        """The compiler and the flags, from the program's build directory."""
        facts = {"version": "commit %s" % (self.commit or "unknown"),
                 "flags": " ".join(self.extra)}
        cache = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(self.program))),
                             "CMakeCache.txt")
        if os.path.exists(cache):
            with open(cache, encoding="utf-8", errors="replace") as stream:
                entries = dict(re.findall(r"^(\w+):\w+=(.*)$", stream.read(), re.M))
            facts["compiler"] = first_line([entries.get("CMAKE_CXX_COMPILER", "c++"), "--version"])
            facts["build"] = " ".join("%s=%s" % (key, entries[key]) for key in
                                      ("CMAKE_BUILD_TYPE", "CMAKE_CXX_FLAGS", "GGML_NATIVE",
                                       "GGML_OPENMP") if entries.get(key))
        return facts

    def measure(self, model, test):
        if test.sequences > 1:
            return {}
        command = [self.program, "-m", model, "-t", str(test.threads), "-r", "1",
                   "-o", "json"] + self.extra
        if test.kv:  # 8-bit values require flash attention; the default if no type is given.
            command += ["-ctk", KV_TYPES[test.kv], "-ctv", KV_TYPES[test.kv], "-fa", "1"]
        if test.depth and self.is_ik:
            command += ["-p", "0", "-n", "0", "-gp", "%d,%d" % (test.depth, test.gen)]
        else:
            command += ["-p", str(test.prompt), "-n", str(test.gen)]
            command += ["-d", str(test.depth)] if test.depth else []
        result = {}
        for row in rows_of(output_of(command)):
            self.commit = row["build_commit"]
            # A row with both is decoding after a prompt, which is not counted.
            result["tg" if row["n_gen"] else "pp"] = {"samples": row["samples_ts"]}
        return result


class LlamaCppLibrary:
    """The prebuilt libllama of an npm package, driven by llama_cpp_bench.py."""
    name = "llama.cpp"
    PACKAGE = "@node-llama-cpp/linux-x64"
    VERSION = "3.22.1"

    def __init__(self, folder, cpu=None):
        """`cpu`: restricts the processor-specific libraries to this one ("haswell")."""
        self.folder = folder if cpu is None else self.only(folder, cpu)
        self.facts = {}

    @classmethod
    def install(cls, work):
        """Installs the package by name; returns the directory of its libraries."""
        folder = os.path.join(work, "npm")
        libraries = os.path.join(folder, "node_modules", cls.PACKAGE, "bins", "linux-x64")
        if not os.path.isdir(libraries):
            os.makedirs(folder, exist_ok=True)
            output_of(["npm", "install", "--prefix", folder, "--no-save", "--ignore-scripts",
                       "--no-audit", "--no-fund", cls.PACKAGE + "@" + cls.VERSION])
        return libraries

    @staticmethod
    def only(folder, cpu):
        """A directory of links without the other processor-specific libraries."""
        links = folder.rstrip("/") + "-" + cpu
        os.makedirs(links, exist_ok=True)
        for path in glob.glob(os.path.join(os.path.abspath(folder), "*.so*")):
            name = os.path.basename(path)
            if "ggml-cpu-" in name and name != "libggml-cpu-%s.so" % cpu:
                continue
            if not os.path.lexists(os.path.join(links, name)):
                os.symlink(path, os.path.join(links, name))
        return links

    def describe(self):
        return {"version": "%s (npm %s %s)" % (self.facts.get("build_commit", "unknown"),
                                               self.PACKAGE, self.VERSION),
                "build": "prebuilt, " + self.facts.get("cpu_library", "unknown")}

    def measure(self, model, test):
        if test.sequences > 1:
            return {}
        command = [sys.executable, os.path.join(HERE, "llama_cpp_bench.py"),
                   "--libraries", self.folder, "-m", model, "-p", str(test.prompt),
                   "-n", str(test.gen), "-d", str(test.depth), "-s", str(test.sequences),
                   "-t", str(test.threads), "-r", "1"]
        command += ["--kv", test.kv] if test.kv else []
        paths = [self.folder, os.environ.get("LD_LIBRARY_PATH", "")]
        environment = dict(os.environ, LD_LIBRARY_PATH=":".join(path for path in paths if path))
        result = {}
        for row in rows_of(output_of(command, env=environment)):
            self.facts = row
            result["pp" if row["n_prompt"] else "tg"] = {"samples": row["samples_ts"]}
        return result
