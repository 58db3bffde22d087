#!/usr/bin/env python3
"""Restores the license header of C++, .td and .def files: fix_license.py FILE...

A formatter with another configuration may have broken its long line; a new file may
not have one.
"""

import re
import sys

RULE = "//===----------------------------------------------------------------------===//"
LICENSE = """//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
"""
BROKEN = re.compile(r"//\n// Part of the LLMIR Project, under the Apache License v2\.0 with LLVM\n"
                    r"// Exceptions\. See LICENSE\.TXT for license information\. SPDX-License-Identifier:\n"
                    r"// Apache-2\.0 WITH LLVM-exception\n//\n")


def fixed(text):
    if LICENSE in text:
        return text
    if BROKEN.search(text):
        return BROKEN.sub(LICENSE, text, count=1)
    # lit's RUN lines stay first.
    match = re.match(r"(// RUN:.*\n)*", text)
    head, rest = text[:match.end()], text[match.end():]
    if rest.startswith("//") and not rest.startswith("//==="):
        # A comment that describes the file follows the license.
        comment = re.match(r"(//.*\n)+", rest)
        return "%s%s\n%s%s\n//\n%s//\n%s\n%s" % (
            head, RULE, LICENSE, RULE, comment.group(0), RULE, rest[comment.end():])
    return "%s%s\n%s%s\n\n%s" % (head, RULE, LICENSE, RULE, rest.lstrip("\n"))


def main():
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as stream:
            text = stream.read()
        if fixed(text) != text:
            with open(path, "w", encoding="utf-8") as stream:
                stream.write(fixed(text))
            print(path)


if __name__ == "__main__":
    main()
