#!/usr/bin/env python3
"""One artifact with code of several CPU levels: the best that runs is chosen, a lower
one can be forced, and all write the same text.

    levels.py --work FOLDER --llmir PROGRAM [--aarch64 FOLDER] MODEL

With --aarch64, the runtime that is built for AArch64 in that folder runs the same
artifact on emulated processors, each of which has exactly one of the levels.
"""

import argparse
import json
import os
import subprocess
import sys

PROMPT = "In the beginning"
TOKENS = "24"
# qemu's processors, and the level that is the best for each.
PROCESSORS = (
    ("cortex-a53", "aarch64"),
    ("neoverse-n1", "aarch64-dotprod"),
    ("max", "aarch64-i8mm"),
)


def fail(what, result):
    sys.exit(f"{what}\n{result.stdout}{result.stderr}")


class Levels:
    def __init__(self, options):
        self.options = options
        self.artifact = os.path.join(options.work, "levels.llmir")

    def call(self, *arguments, program=None):
        command = (program or [self.options.llmir]) + list(arguments)
        return subprocess.run(command, capture_output=True, text=True)

    def compile(self, target):
        result = self.call("compile", self.options.model, "-o", self.artifact, "--target", target)
        if result.returncode != 0:
            fail(f"compiling for {target}", result)

    def levels(self):
        result = self.call("inspect", self.artifact, "--json")
        if result.returncode != 0:
            fail("inspect", result)
        found = json.loads(result.stdout)
        names = [entry["level"] for entry in found["artifact"]["code"]]
        for name in names:
            if found["section_bytes"].get("code " + name, 0) == 0:
                sys.exit(f"inspect names no code section of {name}: {result.stdout}")
        return names

    def text(self, *flags, program=None):
        result = self.call("run", self.artifact, PROMPT, "-n", TOKENS, "--temp", "0", *flags,
                           program=program)
        if result.returncode != 0:
            fail(f"run {flags}", result)
        return result.stdout

    def refuse(self, parts, *arguments, program=None):
        result = self.call(*arguments, program=program)
        if result.returncode != 1 or not all(part in result.stderr for part in parts):
            fail(f"expected one message with {parts} for {arguments}", result)

    def check_native(self):
        self.compile("x86-64-v3,native")
        names = self.levels()
        if "x86-64-v3" not in names or len(names) != len(set(names)):
            sys.exit(f"the artifact has {names}")
        text = self.text()
        for name in names:
            if self.text("--level", name) != text:
                sys.exit(f"{name} writes another text than the best level")
        self.refuse(["no code for level 'x86-64-v4-amx'", "only for x86-64-v3"],
                    "run", self.artifact, PROMPT, "--level", "x86-64-v4-amx")
        return text

    def check_aarch64(self, text):
        self.compile("aarch64+")
        if self.levels() != [level for _, level in PROCESSORS]:
            sys.exit(f"the artifact has {self.levels()}")
        self.refuse(["compiled for aarch64, aarch64-dotprod, aarch64-i8mm",
                     "is no aarch64 machine"], "run", self.artifact, PROMPT)
        runtime = os.path.join(self.options.aarch64, "bin", "llmir")
        for processor, level in PROCESSORS:
            program = ["qemu-aarch64", "-cpu", processor, "-L", "/usr/aarch64-linux-gnu", runtime]
            if self.text(program=program) != text:
                sys.exit(f"{processor} writes another text than x86-64")
            if self.text("--level", level, program=program) != text:
                sys.exit(f"{level} writes another text than x86-64")
        self.refuse(["lacks dotprod"], "run", self.artifact, PROMPT, "--level", "aarch64-dotprod",
                    program=["qemu-aarch64", "-cpu", "cortex-a53", "-L", "/usr/aarch64-linux-gnu",
                             runtime])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--work", required=True)
    parser.add_argument("--llmir", required=True)
    parser.add_argument("--aarch64")
    levels = Levels(parser.parse_args())
    os.makedirs(levels.options.work, exist_ok=True)
    text = levels.check_native()
    if levels.options.aarch64:
        levels.check_aarch64(text)


if __name__ == "__main__":
    main()
