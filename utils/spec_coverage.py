#!/usr/bin/env python3
"""The items of the specification, and the test that shows each.

docs/spec-coverage.json holds the items; this checks them and makes
docs/spec-coverage.md from them. A test shows item n with a comment `SPEC: n` (or
`SPEC: 3 5-7`) at the line that would fail.

spec_coverage.py            fails when an item has no test, or none that marks it,
                            or when the page is not what the data says
spec_coverage.py --collect  writes the tests with marks into the data, and the page
spec_coverage.py --holes    lists the items without a test, open ones included

An item is covered (a test shows it), planned (for a reason, in the Roadmap), or
open: nobody has marked a test yet. The page lists open items as such; --collect
makes one covered as soon as a test marks it.
"""

import argparse
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DATA = "docs/spec-coverage.json"
PAGE = "docs/spec-coverage.md"
LAST = 388
MARK = re.compile(r"\bSPEC: *((?:\d+(?:-\d+)?[ ,]*)+)")
TESTS = (".mlir", ".test", ".cpp", ".c", ".py")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as stream:
        return stream.read()


def numbers(text):
    for first, last in re.findall(r"(\d+)(?:-(\d+))?", text):
        yield from range(int(first), int(last or first) + 1)


def marked_items():
    """{item: [test, …]} of all marks under test/ and examples/."""
    found = {}
    for top in ("test", "examples"):
        for folder, _, names in os.walk(os.path.join(ROOT, top)):
            for name in sorted(names):
                path = os.path.relpath(os.path.join(folder, name), ROOT)
                if not name.endswith(TESTS):
                    continue
                for match in MARK.finditer(read(path)):
                    for item in numbers(match.group(1)):
                        if path not in found.setdefault(item, []):
                            found[item].append(path)
    return {item: sorted(paths) for item, paths in found.items()}


def load():
    return json.loads(read(DATA))


def check(data, marks):
    items = [each["item"] for each in data["items"]]
    if items != list(range(1, LAST + 1)):
        missing = sorted(set(range(1, LAST + 1)) - set(items))
        yield f"{DATA}: items are not 1 to {LAST} in order, each once; missing: {missing}"
    for each in data["items"]:
        item, tests = each["item"], each["tests"]
        place = f"item {item} ({each['sentence']})"
        if each["status"] == "planned":
            if not each.get("reason"):
                yield f"{place}: planned, but no reason is given"
            continue
        if each["status"] == "open":
            if marks.get(item):
                yield f"{place}: open, but {marks[item][0]} marks it: run utils/spec_coverage.py --collect"
            continue
        if each["status"] != "covered":
            yield f"{place}: status '{each['status']}' is neither covered, open nor planned"
        elif not tests:
            yield f"{place}: no test"
        for test in tests:
            if not os.path.isfile(os.path.join(ROOT, test)):
                yield f"{place}: {test} is missing"
            elif test not in marks.get(item, []):
                yield f"{place}: {test} has no comment 'SPEC: {item}'"
    for item in sorted(marks):
        if not 1 <= item <= LAST:
            yield f"{marks[item][0]}: SPEC: {item} is no item"


def page(data):
    count = {status: sum(each["status"] == status for each in data["items"])
             for status in ("covered", "open", "planned")}
    lines = [
        "# What of the specification is shown by which test",
        "",
        "<!-- Made by utils/spec_coverage.py from spec-coverage.json; do not edit. -->",
        "",
        f"Items 1 to {LAST}: {count['covered']} are shown by a test that says `SPEC: n` at the line that would fail, "
        f"{count['open']} are open, for no test says so yet, and {count['planned']} belong to work that is still to "
        "come ([Roadmap](Roadmap.md)).",
    ]
    section = None
    for each in data["items"]:
        if each["section"] != section:
            section = each["section"]
            lines += ["", f"## {section}", "", "| item | what it says | shown by |", "|---|---|---|"]
        if each["status"] == "planned":
            shown = f"planned: {each.get('reason')}"
        elif each["status"] == "open":
            shown = "open"
        else:
            shown = ", ".join(f"[{os.path.basename(test)}](../{test})" for test in each["tests"])
        sentence = each["sentence"].replace("|", "\\|")
        lines.append(f"| {each['item']} | {sentence} | {shown} |")
    return "\n".join(lines) + "\n"


def collect(data, marks):
    """At most three tests an item: the ones that were listed first, then by name."""
    for each in data["items"]:
        if each["status"] == "planned":
            continue
        have = marks.get(each["item"], [])
        if each["status"] == "open" and have:
            each["status"] = "covered"
        kept = [test for test in each["tests"] if test in have]
        each["tests"] = (kept + [test for test in have if test not in kept])[:3]


def write(path, text):
    with open(os.path.join(ROOT, path), "w", encoding="utf-8") as stream:
        stream.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collect", action="store_true")
    parser.add_argument("--holes", action="store_true")
    options = parser.parse_args()
    data, marks = load(), marked_items()
    if options.collect:
        collect(data, marks)
        write(DATA, json.dumps(data, indent=1, ensure_ascii=False) + "\n")
        write(PAGE, page(data))
    if options.holes:
        for each in data["items"]:
            if each["status"] != "planned" and not marks.get(each["item"]):
                print(f"{each['item']}: {each['sentence']}")
        return 0

    wrong = list(check(data, marks))
    if not os.path.isfile(os.path.join(ROOT, PAGE)) or read(PAGE) != page(data):
        wrong.append(f"{PAGE} is not what {DATA} says: run utils/spec_coverage.py --collect")
    for each in wrong:
        print(each)
    covered = sum(each["status"] == "covered" and bool(each["tests"]) for each in data["items"])
    count = {status: sum(each["status"] == status for each in data["items"]) for status in ("open", "planned")}
    print(f"{covered} items covered, {count['open']} open, {count['planned']} planned, {len(wrong)} problems")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
