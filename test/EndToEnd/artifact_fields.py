#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs artifacts with a modified info section or length of weights, with correct checksums.

    artifact_fields.py --work DIR --llmir PROGRAM

Every number of the info is replaced by 0, -1, one more, one less, its double and a huge value. The artifact is
rejected with one line, or runs with the same results; it never crashes. Changes of constants of the code are always
rejected.
"""

import copy
import json
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "reference")]

import make_tiny  # noqa: E402
from bad_inputs import HEADER_BYTES, SECTIONS, checksum, read_bytes, write_bytes  # noqa: E402
from checks import Checks, Command, fresh_folder, quick_level, work_parser  # noqa: E402

# The code was generated for these: CodeNote.cpp has the same list.
CONSTANTS = ("vocabSize", "logitsRowStride", "tokenBudget", "maxLogitRows", "arenaBytes", "workerBytes",
             "contextLength", "embeddingSize", "numLayers", "numKVHeads", "headDim", "valuesInKeys", "kvBlockSize")
# Parameters of sampling, and end tokens.
OF_THE_RUN = ("bosToken", "eosTokens", "generation")

check = Checks()


def rewrite(source, target, changes):
    """Writes a copy of an artifact with different contents of some sections (ArtifactFormat.h)."""
    data = read_bytes(source)
    (count,) = struct.unpack_from("<I", data, 16)
    out = bytearray(HEADER_BYTES)
    out[:64] = data[:64]
    names = {number: name for name, number in SECTIONS.items()}
    for i in range(count):
        section, number, offset, size, alignment, _ = struct.unpack_from("<IIQQQQ", data, 64 + 40 * i)
        content = data[offset:offset + size]
        if names[section] in changes:
            content = changes[names[section]](content)
        out += bytes(-len(out) % alignment)
        struct.pack_into("<IIQQQQ", out, 64 + 40 * i, section, number, len(out), len(content), alignment,
                         checksum(content))
        out += content
    struct.pack_into("<Q", out, 24, len(out))
    out[32:40] = bytes(8)
    struct.pack_into("<Q", out, 32, checksum(bytes(out[:HEADER_BYTES])))
    write_bytes(target, bytes(out))


def numbers_below(value, path=()):
    """The paths of all numbers; for a list, those of its first and last element."""
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return
    if isinstance(value, dict):
        for key, element in value.items():
            yield from numbers_below(element, path + (key,))
    elif isinstance(value, list):
        for i in sorted({0, len(value) - 1} if value else ()):
            yield from numbers_below(value[i], path + (i,))
    else:
        yield path


def with_number(info, path, value):
    changed = copy.deepcopy(info)
    place = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return changed


def number_at(info, path):
    for key in path:
        info = info[key]
    return info


class Artifacts:
    def __init__(self, llmir, work):
        self.llmir, self.good, self.case = llmir, os.path.join(work, "good.llmir"), os.path.join(work, "case.llmir")
        config, weights = make_tiny.make("llama3")
        model = os.path.join(work, "model")
        make_tiny.write_hf(model, config, weights)
        llmir("compile", model, "-o", self.good, "--target", quick_level())
        self.arguments = ["--prompt-ids", "1,2,3", "-n", "4", "--temp", "0", "--json", "-t", "2"]
        self.ids = json.loads(llmir("run", self.good, *self.arguments))["ids"]
        sections = {}

        def note(name):
            return lambda content: sections.setdefault(name, content)
        rewrite(self.good, self.case, {"info": note("info"), "weights": note("weights")})
        check("written again, it is the same", read_bytes(self.case) == read_bytes(self.good))
        self.info = json.loads(sections["info"].decode("utf-8"))
        self.weight_bytes = len(sections["weights"])

    def run(self, name, must_fail, same_ids, *more):
        answer = self.llmir.run("run", self.case, *self.arguments, *more, timeout=60)
        if answer.code == 0:
            same = not same_ids or json.loads(answer.out)["ids"] == self.ids
            check(name, same and not must_fail, answer)
        else:  # Wrong usage if the prompt exceeds the limits in the artifact.
            check(name, answer.code in (1, 2) and not answer.out and answer.err.startswith("llmir: ")
                  and answer.err.count("\n") == 1 and "; " in answer.err, answer)
        return answer

    def check_number(self, path):
        value = number_at(self.info, path)
        name = ".".join(map(str, path))
        for other in sorted({0, -1, value + 1, value - 1, value * 2, 1 << 31, 1 << 62} - {value}):
            changed = json.dumps(with_number(self.info, path, other)).encode("utf-8")
            rewrite(self.good, self.case, {"info": lambda _, text=changed: text})
            answer = self.run("%s = %s" % (name, other), path[0] in CONSTANTS, path[0] not in OF_THE_RUN)
            if path[0] in CONSTANTS:
                # Or another field that it bounds, with the value.
                check("%s = %s: the field is named" % (name, other), "'%s'" % path[0] in answer.err
                      or " %d " % other in answer.err, answer)
        if path[0] == "sites":
            self.run("%s = %s in a profile" % (name, other), False, True, "--profile", self.case + ".json")

    def check_weights(self):
        size = self.weight_bytes
        for bytes_left in (0, 1, 1000, size // 2, size - 64, size - 1):
            rewrite(self.good, self.case, {"weights": lambda content, end=bytes_left: content[:end]})
            answer = self.run("%d bytes of weights" % bytes_left, True, True)
            check("%d bytes of weights: both sizes are named" % bytes_left,
                  "case.llmir: damaged artifact: " in answer.err and str(bytes_left) in answer.err
                  and "weights" in answer.err, answer)


def main():
    options = work_parser(__doc__, "llmir").parse_args()
    fresh_folder(options.work)
    artifacts = Artifacts(Command(options.llmir, os.path.join(options.work, "cache")), options.work)
    paths = list(numbers_below(artifacts.info))
    check("the constants are in the info", {path[0] for path in paths} >= set(CONSTANTS), paths)
    for path in paths:
        artifacts.check_number(path)
    artifacts.check_weights()
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
