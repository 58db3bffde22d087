#!/usr/bin/env python3
"""Checks that every item of the specification is covered by a test.

test/Spec/coverage.json lists the items; this script checks them and generates
test/Spec/coverage.md. A test covers item n if it has a comment `SPEC: n` (or
`SPEC: 3 5-7`) at the line that would fail.

spec_coverage.py            fails if an item has no test, or none that marks it,
                            or if the page does not match the data
spec_coverage.py --collect  adds marked tests to the data, and writes the page
spec_coverage.py --holes    lists the items without a test, including open ones

An item is
- covered: a test covers all of it;
- planned: all or a part of it is still to come, for a `reason`, which is also in the
  Roadmap. Tests that mark it cover the part that exists;
- decided: LLMIR differs deliberately, for a `reason` that the record `decision` (a
  file under docs/) explains. Tests that mark it check the decision;
- open: no test marks it yet. --collect makes it covered once a test marks it.

A mark counts if lit finds it: in a test, or in a script named by a RUN line.
"""

import argparse
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DATA = "test/Spec/coverage.json"
PAGE = "test/Spec/coverage.md"
LAST = 388
MARK = re.compile(r"\bSPEC: *((?:\d+(?:-\d+)?[ ,]*)+)")
TESTS = (".mlir", ".test", ".cpp", ".c", ".py")
STATUSES = ("covered", "decided", "planned", "open")
LONG = re.compile(r"^\W*REQUIRES:.*\blong-tests\b", re.M)
RUN = re.compile(r"^\W*RUN:(.*)$", re.M)


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8", errors="replace") as stream:
        return stream.read()


def numbers(text):
    for first, last in re.findall(r"(\d+)(?:-(\d+))?", text):
        yield from range(int(first), int(last or first) + 1)


def test_files():
    """{path: text} of the files under test/ and examples/ that can hold a mark."""
    files = {}
    for top in ("test", "examples"):
        for folder, _, names in os.walk(os.path.join(ROOT, top)):
            for name in names:
                if name.endswith(TESTS):
                    path = os.path.relpath(os.path.join(folder, name), ROOT)
                    files[path] = read(path)
    return files


def marked_items(files):
    """{item: [test, …]} of all marks in `files`."""
    found = {}
    for path, text in sorted(files.items()):
        for match in MARK.finditer(text):
            for item in numbers(match.group(1)):
                if path not in found.setdefault(item, []):
                    found[item].append(path)
    return found


def scripts_not_run(files, marks):
    """Scripts with a mark that no RUN line names."""
    commands = "\n".join(line for text in files.values() for line in RUN.findall(text))
    scripts = {path for paths in marks.values() for path in paths if path.endswith(".py")}
    return sorted(path for path in scripts
                  if not re.search(r"(?<![\w.-])" + re.escape(os.path.basename(path)), commands))


def load():
    return json.loads(read(DATA))


def check_item(each, marks):
    """What is wrong with an item's entry."""
    item, status, tests = each["item"], each["status"], each["tests"]
    if status not in STATUSES:
        yield f"status '{status}' is none of {', '.join(STATUSES)}"
    if status in ("planned", "decided") and not each.get("reason"):
        yield f"{status}, but no reason is given"
    if status == "decided" and not os.path.isfile(os.path.join(ROOT, "docs", each.get("decision") or "")):
        yield f"decided, but its record 'docs/{each.get('decision')}' is missing"
    if status == "open" and marks.get(item):
        yield f"open, but {marks[item][0]} marks it: run utils/spec_coverage.py --collect"
    if status == "covered" and not tests:
        yield "no test"
    for test in tests:
        if not os.path.isfile(os.path.join(ROOT, test)):
            yield f"{test} is missing"
        elif test not in marks.get(item, []):
            yield f"{test} has no comment 'SPEC: {item}'"


def check(data, files, marks):
    items = [each["item"] for each in data["items"]]
    if items != list(range(1, LAST + 1)):
        missing = sorted(set(range(1, LAST + 1)) - set(items))
        yield f"{DATA}: items are not 1 to {LAST} in order, each once; missing: {missing}"
    for each in data["items"]:
        for wrong in check_item(each, marks):
            yield f"item {each['item']} ({each['sentence']}): {wrong}"
    for item in sorted(marks):
        if not 1 <= item <= LAST:
            yield f"{marks[item][0]}: SPEC: {item} is no item"
    for script in scripts_not_run(files, marks):
        yield f"{script}: has a mark, but no RUN line names it"


def count_statuses(data):
    return {status: sum(each["status"] == status for each in data["items"]) for status in STATUSES}


def link(path):
    """A path of the project as the page links it."""
    return os.path.relpath(path, os.path.dirname(PAGE))


def shown_by(each, files):
    """The last cell of an item's row."""
    links = [f"[{os.path.basename(test)}]({link(test)})" + (" (long tests)" if LONG.search(files.get(test, "")) else "")
             for test in each["tests"]]
    if each["status"] == "planned":
        return f"planned: {each.get('reason')}" + (f"; so far: {', '.join(links)}" if links else "")
    if each["status"] == "decided":
        return f"by [decision]({link('docs/' + str(each.get('decision')))}): {each.get('reason')}" + \
            (f"; held by {', '.join(links)}" if links else "")
    return ", ".join(links) if each["status"] == "covered" else "open"


def page(data, files):
    count = count_statuses(data)
    lines = [
        "# What of the specification is shown by which test",
        "",
        "<!-- Made by utils/spec_coverage.py from coverage.json; do not edit. -->",
        "",
        f"Items 1 to {LAST}: {count['covered']} are shown by a test that says `SPEC: n` at the line that would fail. "
        f"{count['planned']} are planned: all or a part of them is still to come ([Roadmap]({link('docs/Roadmap.md')})); the tests "
        f"named there show what holds so far. {count['decided']} are otherwise by [decision]({link('docs/decisions/README.md')}). "
        f"{count['open']} are open: no test marks them yet. Tests that take long run with `./dev check --all`.",
    ]
    section = None
    for each in data["items"]:
        if each["section"] != section:
            section = each["section"]
            lines += ["", f"## {section}", "", "| item | what it says | shown by |", "|---|---|---|"]
        sentence = each["sentence"].replace("|", "\\|")
        lines.append(f"| {each['item']} | {sentence} | {shown_by(each, files)} |")
    return "\n".join(lines) + "\n"


def collect(data, marks):
    """At most three tests an item: the ones that were listed first, then by name."""
    for each in data["items"]:
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
    data, files = load(), test_files()
    marks = marked_items(files)
    if options.collect:
        collect(data, marks)
        write(DATA, json.dumps(data, indent=1, ensure_ascii=False) + "\n")
        write(PAGE, page(data, files))
    if options.holes:
        for each in data["items"]:
            if each["status"] in ("covered", "open") and not marks.get(each["item"]):
                print(f"{each['item']}: {each['sentence']}")
        return 0

    wrong = list(check(data, files, marks))
    if not os.path.isfile(os.path.join(ROOT, PAGE)) or read(PAGE) != page(data, files):
        wrong.append(f"{PAGE} is not what {DATA} says: run utils/spec_coverage.py --collect")
    for each in wrong:
        print(each)
    print(", ".join(f"{number} {status}" for status, number in count_statuses(data).items()) + f"; {len(wrong)} problems")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
