#!/usr/bin/env python3
"""One artifact with code of several CPU levels: the best supported one is selected, a
lower one can be forced, and all generate the same text.

    levels.py --work DIR --llmir PROGRAM [--aarch64 DIR] MODEL

With --aarch64, the runtime that is built for AArch64 in that directory runs the same
artifact on emulated processors, each of which has exactly one of the levels.
"""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference"))
from checks import Checks, Command, fresh_folder, work_parser  # noqa: E402

PROMPT = "In the beginning"
TOKENS = "24"
# qemu's processors, and the level that is the best for each.
PROCESSORS = (
    ("cortex-a53", "aarch64"),
    ("neoverse-n1", "aarch64-dotprod"),
    ("max", "aarch64-i8mm"),
)


check = Checks()


class Levels:
    def __init__(self, options):
        self.options = options
        self.artifact = os.path.join(options.work, "levels.llmir")
        self.llmir = Command(options.llmir)

    def compile(self, target):
        self.llmir("compile", self.options.model, "-o", self.artifact, "--target", target)

    def levels(self):
        found = json.loads(self.llmir("inspect", self.artifact, "--json"))
        names = [entry["level"] for entry in found["artifact"]["code"]]
        for name in names:
            check("inspect names a section of code for " + name, found["section_bytes"].get("code " + name), found)
        return names

    def check_text(self, name, expected, *flags, on=None):
        """The text is the expected one, if there is one. `on`: an emulated processor."""
        answer = self.answer(flags, on)
        check(name, answer.code == 0 and expected in (None, answer.out), answer)
        return answer.out

    def check_refused(self, name, parts, *flags, on=None):
        answer = self.answer(flags, on)
        check(name, answer.code == 1 and all(part in answer.err for part in parts), answer)

    def answer(self, flags, processor):
        arguments = ("run", self.artifact, PROMPT, "-n", TOKENS, "--temp", "0") + flags
        if not processor:
            return self.llmir.run(*arguments)
        return Command("qemu-aarch64").run("-cpu", processor, "-L", "/usr/aarch64-linux-gnu",
                                           os.path.join(self.options.aarch64, "bin", "llmir"), *arguments)

    def check_native(self):
        self.compile("x86-64-v3,native")
        names = self.levels()
        check("each level is there once", "x86-64-v3" in names and len(names) == len(set(names)), names)
        text = self.check_text("the best level writes a text", None)
        for name in names:
            self.check_text(name + " writes what the best level writes", text, "--level", name)
        absent = next(name for name in ("x86-64-v4-amx", "x86-64-v4-vnni") if name not in names)
        self.check_refused("a level without code is refused", ["no code for level '%s'" % absent, "only for x86-64-v3"],
                           "--level", absent)
        return text

    def check_aarch64(self, text):
        self.compile("aarch64+")
        names = self.levels()
        check("each level of AArch64 is there", names == [level for _, level in PROCESSORS], names)
        self.check_refused("code of AArch64 is refused here", [
            "compiled for aarch64, aarch64-dotprod, aarch64-i8mm", "is not of the architecture aarch64"])
        for processor, level in PROCESSORS:
            self.check_text(processor + " writes what x86-64 writes", text, on=processor)
            self.check_text(level + " writes what x86-64 writes", text, "--level", level, on=processor)
        self.check_refused("a level that a processor lacks is refused", ["lacks dotprod"], "--level", "aarch64-dotprod",
                           on="cortex-a53")


def main():
    parser = work_parser(__doc__, "llmir")
    parser.add_argument("model")
    parser.add_argument("--aarch64")
    options = parser.parse_args()
    fresh_folder(options.work)
    levels = Levels(options)
    text = levels.check_native()
    if options.aarch64:
        levels.check_aarch64(text)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
