#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The normalizers NFC, NFD, NFKC and NFKD against Python's unicodedata.

    unicode_forms.py --work DIR --llmir PROGRAM

Each character that both know, random texts of what normalization is about, and long rows of marks.
"""

import json
import os
import random
import sys
import unicodedata

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference"))
from byte_tokenizer import write_byte_tokenizer  # noqa: E402
from checks import Checks, Command, fresh_folder, work_parser  # noqa: E402

FORMS = ("NFC", "NFD", "NFKC", "NFKD")
RANDOM_TEXTS = 4000
MARKS_IN_A_ROW = 20000

check = Checks(shows_all=True)


def known_characters():
    """All that Python's version of Unicode assigns; texts hold no surrogates."""
    return [chr(c) for c in range(0x110000)
            if not 0xd800 <= c <= 0xdfff and unicodedata.category(chr(c)) != "Cn"]


def texts():
    """Lists of texts by topic."""
    characters = known_characters()
    # A line feed composes with nothing.
    yield "each character", ["\n".join(characters[i:i + 500]) for i in range(0, len(characters), 500)]
    marks = [c for c in characters if unicodedata.combining(c)]
    yield "each mark after a letter", ["\n".join("e" + c for c in marks)]
    changed = [c for c in characters if any(unicodedata.normalize(form, c) != c for form in FORMS)]
    hangul = [chr(c) for c in (*range(0x1100, 0x1113), *range(0x1161, 0x1176), *range(0x11a7, 0x11c3),
                               *range(0xac00, 0xad00))]
    letters = [c for c in "aeiou\u00e9\u0395\u0915\u4e2d" + "".join(random.sample(changed, 300))]
    mixed = []
    for _ in range(RANDOM_TEXTS):
        pools = random.choices((letters, marks, changed, hangul, characters), (3, 6, 2, 2, 1), k=random.randrange(1, 40))
        mixed.append("".join(random.choice(pool) for pool in pools))
    yield "random texts", mixed
    yield "long rows of marks", [
        "e" + "".join(random.choices(marks, k=MARKS_IN_A_ROW)),
        "e" + "\u0301\u0316" * (MARKS_IN_A_ROW // 2),
        "\u0301\u0316" * (MARKS_IN_A_ROW // 2) + "e" + "\u0316\u0301" * (MARKS_IN_A_ROW // 2) + "z"]


def check_form(llmir, form, path, name, given):
    lines = "".join(json.dumps({"text": text}) + "\n" for text in given)
    answers = [json.loads(line) for line in
               llmir("tokenize", path, "--jsonl", stdin=lines.encode("ascii")).splitlines()]
    wrong = [text for text, answer in zip(given, answers)
             if answer.get("decoded") != unicodedata.normalize(form, text)]
    shown = ascii(min(wrong, key=len)[:100]) if wrong else "%d texts" % len(given)
    check("%s: %s" % (form, name), not wrong and len(answers) == len(given), shown)


def main():
    options = work_parser(__doc__, "llmir").parse_args()
    fresh_folder(options.work)
    random.seed(11)
    given = list(texts())
    llmir = Command(options.llmir)
    for form in FORMS:
        path = os.path.join(options.work, form + ".json")
        write_byte_tokenizer(path, {"type": form})
        for name, lines in given:
            check_form(llmir, form, path, name, lines)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
