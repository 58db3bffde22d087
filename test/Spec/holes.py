"""Tests that utils/spec_coverage.py detects each kind of missing coverage: holes.py SOURCE SCRATCH"""

import json
import os
import shutil
import subprocess
import sys

source, scratch = sys.argv[1:3]


def write(path, text):
    with open(os.path.join(scratch, path), "w") as stream:
        stream.write(text)


def coverage(*arguments):
    result = subprocess.run([sys.executable, os.path.join(scratch, "utils/spec_coverage.py")] + list(arguments),
                            stdout=subprocess.PIPE, universal_newlines=True)
    return result.returncode, result.stdout


def project(change):
    """A project of two tests and a script, with changed data; returns the output of the check."""
    shutil.rmtree(scratch, ignore_errors=True)
    for folder in ("utils", "docs", "test/Spec", "examples"):
        os.makedirs(os.path.join(scratch, folder))
    shutil.copy(os.path.join(source, "utils/spec_coverage.py"), os.path.join(scratch, "utils"))
    write("test/all.mlir", "// SP" "EC: 1-387\n// RUN: python3 script.py\n")
    write("test/none.mlir", "// nothing\n")
    write("test/script.py", "# SP" "EC: 1\n")
    write("docs/record.md", "why\n")
    items = [{"item": number, "section": "s", "sentence": "", "status": "covered", "tests": ["test/all.mlir"]}
             for number in range(1, 388)]
    items[0]["tests"].append("test/script.py")
    items.append({"item": 388, "section": "s", "sentence": "", "status": "open", "tests": []})
    write("test/Spec/coverage.json", json.dumps({"items": items}))
    assert coverage("--collect")[0] == 0
    change(items)
    write("test/Spec/coverage.json", json.dumps({"items": items}))
    return coverage()


def set_field(item, **fields):
    return lambda items: items[item - 1].update(fields)


def check(name, change, words):
    code, said = project(change)
    assert code == 1 and words in said, said
    print(f"{name}: {code}")


assert project(lambda items: None)[0] == 0
check("no test", set_field(7, tests=[]), "item 7 (): no test")
check("missing test", set_field(7, tests=["test/gone.mlir"]), "test/gone.mlir is missing")
check("no mark", set_field(7, tests=["test/none.mlir"]), "no comment 'SP" "EC: 7'")
check("open but marked", set_field(7, status="open"), "open, but test/all.mlir marks it")
check("unknown status", set_field(7, status="done"), "status 'done' is none of covered, decided, planned, open")
check("planned without a reason", set_field(7, status="planned"), "planned, but no reason is given")
check("decided without a reason", set_field(7, status="decided", decision="record.md"), "decided, but no reason is given")
check("decided without a record", set_field(7, status="decided", reason="r"), "its record 'docs/None' is missing")
check("missing record", set_field(7, status="decided", reason="r", decision="gone.md"), "'docs/gone.md' is missing")
check("stale page", set_field(7, sentence="changed"), "is not what")
check("script that nothing runs", lambda items: write("test/all.mlir", "// SP" "EC: 1-387\n"),
      "test/script.py: has a mark, but no RUN line names it")


def classify(items):
    items[6].update(status="planned", reason="next")
    items[7].update(status="decided", reason="better so", decision="record.md", tests=[])


# With a page that states it, both classes hold; one of them with a test for the
# implemented part.
project(classify)
code, said = coverage("--collect")
assert code == 0, said
print(said, end="")
with open(os.path.join(scratch, "test/Spec/coverage.md")) as stream:
    print("".join(line for line in stream if line.startswith(("| 7 |", "| 8 |"))), end="")
