"""utils/spec_coverage.py finds each kind of hole: holes.py SOURCE SCRATCH"""

import json
import os
import shutil
import subprocess
import sys

source, scratch = sys.argv[1:3]


def project(change):
    """A project of two tests and changed data; what the check says of it."""
    shutil.rmtree(scratch, ignore_errors=True)
    for folder in ("utils", "docs", "test", "examples"):
        os.makedirs(os.path.join(scratch, folder))
    shutil.copy(os.path.join(source, "utils/spec_coverage.py"), os.path.join(scratch, "utils"))
    with open(os.path.join(scratch, "test/all.mlir"), "w") as stream:
        stream.write("// SP" "EC: 1-387\n")
    with open(os.path.join(scratch, "test/none.mlir"), "w") as stream:
        stream.write("// nothing\n")
    items = [{"item": number, "section": "s", "sentence": "", "status": "covered", "tests": ["test/all.mlir"]}
             for number in range(1, 388)]
    items.append({"item": 388, "section": "s", "sentence": "", "status": "open", "tests": []})
    path = os.path.join(scratch, "docs/spec-coverage.json")
    script = os.path.join(scratch, "utils/spec_coverage.py")
    with open(path, "w") as stream:
        json.dump({"items": items}, stream)
    subprocess.run([sys.executable, script, "--collect"], check=True, stdout=subprocess.DEVNULL)
    change(items)
    with open(path, "w") as stream:
        json.dump({"items": items}, stream)
    result = subprocess.run([sys.executable, script], stdout=subprocess.PIPE, universal_newlines=True)
    return result.returncode, result.stdout


def set_field(item, **fields):
    return lambda items: items[item - 1].update(fields)


assert project(lambda items: None)[0] == 0
for name, change, words in [
        ("no test", set_field(7, tests=[]), "item 7 (): no test"),
        ("missing test", set_field(7, tests=["test/gone.mlir"]), "test/gone.mlir is missing"),
        ("no mark", set_field(7, tests=["test/none.mlir"]), "no comment 'SP" "EC: 7'"),
        ("open but marked", set_field(7, status="open"), "open, but test/all.mlir marks it"),
        ("no reason", set_field(7, status="planned"), "no reason is given"),
        ("stale page", set_field(7, sentence="changed"), "is not what"),
]:
    code, said = project(change)
    assert code == 1 and words in said, said
    print(f"{name}: {code}")
