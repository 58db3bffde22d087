#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Names from files with control characters, or 100,000 letters: errors are one line that is safe for a terminal.

    hostile_names.py --work DIR --llmir PROGRAM --llmir-translate PROGRAM
"""

import json
import os
import re
import shutil
import struct
import subprocess
import sys

from bad_inputs import ArtifactFile, Suite, change_json, compiled, read_bytes, write_bytes
import make_tiny  # bad_inputs adds its directory to the path.
from checks import Command, work_parser

# Sequences that set a terminal's title, color and direction, and text that looks like another message.
EVIL = "\x1b]0;evil\x07\x1b[31m\nllmir: all is well\r\u009b2J\u202e\u2028"
LONG = "x" * 100000
MOST_BYTES = 2100  # The limit of MessageLine.h is 2048, after "llmir: ".
UNSHOWABLE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
TENSOR = "model.layers.0.mlp.up_proj.weight"


def why_not_shown(data):
    """The problem with the bytes of standard error; empty if there is none."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return str(error)
    if UNSHOWABLE.search(text):
        return "holds %r" % UNSHOWABLE.search(text).group()
    longest = max((len(line.encode("utf-8")) for line in text.split("\n")), default=0)
    return "has a line of %d bytes" % longest if longest > MOST_BYTES else ""


class Names(Suite):
    def refuse(self, name, arguments, *needles, code=1):
        super().refuse(name, arguments, *needles, code=code)
        result = subprocess.run([self.llmir.program, *arguments], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                env=self.llmir.environment, check=False)
        wrong = why_not_shown(result.stderr)
        self.check("%s: may be shown" % name, not wrong, "%s: %r" % (wrong, result.stderr[:400]))


def paths(suite):
    for name in (EVIL, LONG):
        suite.refuse("a path of %d letters that is not there" % len(name), ["inspect", suite.path(name)])
        suite.refuse("a flag of %d letters" % len(name), ["inspect", "--x" + name], code=2)
    for name in (EVIL, EVIL + ".gguf", EVIL + ".llmir"):
        path = suite.path(name)
        write_bytes(path, b"GGUF nothing")
        suite.refuse("a file with an evil name", ["inspect", path])


def folders(suite):
    config, weights = make_tiny.make("llama3")
    good = suite.path("sharded")
    make_tiny.write_hf(good, config, weights, shards=3)

    def case(name, file, change):
        folder = suite.path("case")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(good, folder)
        change_json(os.path.join(folder, file), change)
        suite.refuse(name, ["inspect", folder])

    index = "model.safetensors.index.json"
    for evil in (EVIL, LONG):
        case("a shard of %d letters" % len(evil), index, lambda data: data["weight_map"].update({TENSOR: evil}))
        case("a tensor of %d letters" % len(evil), index,
             lambda data: data["weight_map"].update({evil: "model-00001-of-00003.safetensors"}))
        case("a family of %d letters" % len(evil), "config.json", lambda data: data.update({"model_type": evil}))
        case("a type of %d letters" % len(evil), "config.json", lambda data: data.update({"hidden_act": evil}))


def gguf(suite):
    config, weights = make_tiny.make("llama3")
    path = suite.path("good.gguf")
    make_tiny.write_gguf(path, config, weights, "q8_0")
    data = read_bytes(path)
    name = b"token_embd.weight"
    at = data.index(name)
    entry = at + len(name)  # u32 dimensions, u64 sizes, u32 type, u64 offset.
    for evil, needles in ((b"\x1b[31m\n\r\x07", ("\\x1b[31m",)), (EVIL.encode("utf-8"), ()), (LONG.encode("utf-8"), ())):
        # Its type is unknown; the message contains the name of the tensor.
        write_bytes(path, data[:at - 8] + struct.pack("<Q", len(evil)) + evil + data[entry:entry + 20] +
                    struct.pack("<I", 200) + data[entry + 24:])
        suite.refuse("a tensor in GGUF with a name of %d bytes" % len(evil), ["inspect", path], *needles)


def artifacts(suite):
    config, weights = make_tiny.make("llama3")
    model = suite.path("good")
    make_tiny.write_hf(model, config, weights)
    good, path = compiled(suite, model), suite.path("case.llmir")
    whole = json.loads(ArtifactFile(good).section("info").decode("utf-8"))
    room = len(json.dumps(whole["code"][0]["cpuFeatures"], separators=(",", ":")))
    for field, evil in (("cpuFeatures", EVIL), ("level", EVIL), ("triple", EVIL), ("cpuFeatures", "x" * (room - 4))):
        artifact = ArtifactFile(good)
        info = json.loads(json.dumps(whole))
        for target in info["code"]:
            # For another processor; the message reports it.
            target["cpuFeatures"] = ["neon"]
            target[field] = [evil] if field == "cpuFeatures" else evil
        artifact.replace("info", json.dumps(info, separators=(",", ":"), ensure_ascii=False).encode("utf-8"))
        artifact.close(path)
        suite.refuse("%s of an artifact" % field, ["run", path, "--prompt-ids", "1", "-n", "1"])
    return good


def programs(suite, base, translate):
    """The MLLM text format, in the compiler and in the tool."""
    evil = EVIL.replace("\x1b", "\\1b").replace("\n", "\\n").replace("\x07", "\\07").replace("\r", "\\0d")
    fragment = "prog.fragment @\"%s\" <CPU> <text> { } "
    texts = {
        "a symbol": "@main () -> () { %s%s}" % (fragment % evil, fragment % evil),
        "a line with control characters": "@main () -> () { linalg.CPU.Nothing // %s" % EVIL.replace("\n", ""),
        "a line without end": "@main () -> () { %s linalg.CPU.Nothing" % (" " * 100000),
        "a long name": "@main () -> () { linalg.CPU.%s" % LONG,
        "a long attribute": "@main () -> () [sym_name:\"%s\", b:1] { }" % LONG,
    }
    path, output = suite.path("case.mllm"), os.path.join(suite.outputs, "out.llmir")
    for name, text in texts.items():
        write_bytes(path, text.encode("utf-8"))
        suite.refuse("compile: " + name, ["compile", "--program", path, "--weights-of", base, "-o", output])
        result = subprocess.run([translate.program, "--mllm-to-mlir", path], stderr=subprocess.PIPE,
                                stdout=subprocess.DEVNULL, check=False)
        # MLIR prints the op below the error; that text is valid.
        wrong = why_not_shown(result.stderr)
        suite.check("llmir-translate: " + name, result.returncode == 1 and b"case.mllm" in result.stderr and not wrong,
                    "%s: %r" % (wrong, result.stderr[:600]))


def main():
    options = work_parser(__doc__, "llmir", "llmir-translate").parse_args()
    suite = Names(options.llmir, os.path.abspath(options.work))
    paths(suite)
    folders(suite)
    gguf(suite)
    programs(suite, artifacts(suite), Command(options.llmir_translate))
    return suite.check.finish()


if __name__ == "__main__":
    sys.exit(main())
