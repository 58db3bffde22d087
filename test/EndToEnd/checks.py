# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counted checks of the scripts of this folder."""


class Checks:
    """Called with a name and what must hold; says what does not and goes on.

        check = Checks()
        check("the text is not empty", text, text)
        sys.exit(check.finish())

    With shows_all, what holds is printed too, with what was measured."""

    def __init__(self, shows_all=False):
        self.shows_all = shows_all
        self.passed = 0
        self.failures = []

    def __call__(self, name, holds, shown=""):
        if holds:
            self.passed += 1
            if self.shows_all:
                print("ok   %s: %s" % (name, shown))
        else:
            self.failures.append(name)
            print("FAIL %s: %s" % (name, shown))

    def finish(self):
        """Prints the counts; the exit code, which is 1 where nothing was checked."""
        print("%d passed, %d failed" % (self.passed, len(self.failures)))
        return 1 if self.failures or not self.passed else 0
