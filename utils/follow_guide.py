#!/usr/bin/env python3
"""Follows guides literally: writes the files that they contain, and runs their commands.

follow_guide.py DIR GUIDE.md...    with $LLMIR and $LLMIR_LIB set

A guide introduces a file by a line "File `name`:" or "Add to `name`:" before a code
block; a block marked `bash` is run line by line in the directory. Fails with the
first command that fails.
"""

import os
import re
import shutil
import subprocess
import sys


def blocks(text):
    """(preceding line, language, code) of each code block."""
    for match in re.finditer(r"([^\n]*)\n\n```(\w+)\n(.*?)^```$", text, re.M | re.S):
        yield match.groups()


def follow(guide, folder):
    with open(guide, encoding="utf-8") as stream:
        text = stream.read()
    files = commands = 0
    for before, language, code in blocks(text):
        shown = re.match(r"(File|Add to) `([\w./-]+)`:$", before)
        if shown:
            with open(os.path.join(folder, shown.group(2)), "a" if shown.group(1) == "Add to" else "w",
                      encoding="utf-8") as stream:
                stream.write(code)
            files += 1
        elif language == "bash":
            for line in code.strip().split("\n"):
                result = subprocess.run(["bash", "-o", "pipefail", "-c", line], cwd=folder, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, universal_newlines=True)
                if result.returncode:
                    print(f"{guide}: this failed with {result.returncode}: {line}\n{result.stdout}")
                    return False
                commands += 1
    print(f"{os.path.basename(guide)}: {files} files, {commands} commands")
    return files > 0 and commands > 0


def main():
    folder = sys.argv[1]
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return 0 if all(follow(guide, folder) for guide in sys.argv[2:]) else 1


if __name__ == "__main__":
    sys.exit(main())
