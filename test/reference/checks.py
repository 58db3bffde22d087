# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Utilities of test scripts: counted checks, commands, arguments and the work directory.

    check = Checks()

    def main():
        options = work_parser(__doc__, "llmir").parse_args()
        fresh_folder(options.work)
        llmir = Command(options.llmir, cache=os.path.join(options.work, "cache"))
        check("the text is not empty", llmir("run", model, "hello"))
        return check.finish()

    if __name__ == "__main__":
        sys.exit(main())
"""

import argparse
import os
import platform
import shutil
import subprocess

MOST_SHOWN = 2000  # Maximum characters of the details of a failed check.


class Checks:
    """Counts checks, called with a name and a condition; failures are printed.

    With shows_all, checks that pass are printed as well, with their measurements."""

    def __init__(self, shows_all=False):
        self.shows_all = shows_all
        self.passed = 0
        self.failures = []
        self.skipped = []

    def __call__(self, name, holds, shown=""):
        if holds:
            self.passed += 1
            if self.shows_all:
                self.say("ok  ", name, shown)
        else:
            self.failures.append(name)
            self.say("FAIL", name, str(shown)[:MOST_SHOWN])

    def skip(self, name, reason):
        self.skipped.append(name)
        self.say("SKIP", name, reason)

    def say(self, word, name, shown):
        print("%s %s: %s" % (word, name, shown), flush=True)

    def finish(self):
        """Prints the counts and returns the exit code: 1 if a check failed or none was executed."""
        print("%d passed, %d failed%s" % (self.passed, len(self.failures),
                                          ", %d skipped" % len(self.skipped) if self.skipped else ""))
        return 1 if self.failures or not (self.passed or self.skipped) else 0


class Answer:
    """Result of a command: its exit code and output; `data` are the bytes of `out`."""

    def __init__(self, line, result):
        self.line, self.code, self.data = line, result.returncode, result.stdout
        self.out = result.stdout.decode("utf-8", "replace")
        self.err = result.stderr.decode("utf-8", "replace")

    def __repr__(self):
        return "exit code %d of %s: %s%s" % (self.code, " ".join(self.line), self.err, self.out)


def command_environment():
    """The variables for a command. Flags also come from LLMIR_* variables: tests must not depend on the caller's."""
    return {name: value for name, value in os.environ.items()
            if not name.startswith("LLMIR_") or name in ("LLMIR_COMPILER_LIBRARY", "LLMIR_OBJECT_CACHE")}


class Command:
    """A program. `cache` is the directory used as the user's cache."""

    def __init__(self, program, cache=None):
        self.program = program
        self.environment = command_environment()
        if cache:
            self.environment["XDG_CACHE_HOME"] = cache

    def run(self, *arguments, stdin=b"", timeout=600, **variables):
        """Runs the program and returns its result, successful or not."""
        line = [str(word) for word in (self.program,) + arguments]
        return Answer(line, subprocess.run(line, input=stdin, env=dict(self.environment, **variables), timeout=timeout,
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE))

    def __call__(self, *arguments, **how):
        """Returns the output of the program; exits if it fails."""
        answer = self.run(*arguments, **how)
        if answer.code:
            raise SystemExit(repr(answer)[:MOST_SHOWN])
        return answer.out

    def refuse(self, *arguments, **how):
        """Returns the error output of the program; exits if it succeeds."""
        answer = self.run(*arguments, **how)
        if not answer.code:
            raise SystemExit("nothing is refused: " + repr(answer)[:MOST_SHOWN])
        return answer.err


def quick_level():
    """--target for tests that do not depend on the level: the lowest level of this architecture, which compiles in a
    third of the time of code for 512-bit registers."""
    return "x86-64-v3" if platform.machine() == "x86_64" else "native"


def work_parser(description, *names):
    """A parser with the required arguments --work DIR and one flag per name."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("work",) + names:
        parser.add_argument("--" + name, required=True)
    return parser


def fresh_folder(path):
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path)
