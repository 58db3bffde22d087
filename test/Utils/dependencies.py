"""Tests that utils/lint.py reports violations of the table of areas: dependencies.py SOURCE SCRATCH"""

import os
import shutil
import subprocess
import sys

source, scratch = sys.argv[1:3]
LINT = os.path.join(scratch, "utils/lint.py")


def write(path, text):
    path = os.path.join(scratch, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as stream:
        stream.write(text)


def findings(*files):
    """The findings of the rule for a project with these files, (path, included headers)."""
    shutil.rmtree(scratch, ignore_errors=True)
    os.makedirs(os.path.join(scratch, "utils"))
    shutil.copy(os.path.join(source, "utils/lint.py"), LINT)
    subprocess.run(["git", "init", "--quiet", scratch], check=True)
    for path, headers in files:
        write(path, "".join('#include "%s"\n' % header for header in headers))
    return run()


def run():
    result = subprocess.run([sys.executable, LINT, "dependencies"], stdout=subprocess.PIPE, universal_newlines=True)
    lines = result.stdout.splitlines()
    assert result.returncode == (1 if len(lines) > 1 else 0), result.stdout
    return [line.replace("lint [dependencies] ", "") for line in lines[:-1]] or ["nothing"]


def show(name, *files):
    print("\n  ".join([name + ":"] + findings(*files)))


show("allowed", ("lib/Codegen/A.cpp", ["llmir/ABI/A.h", "llmir/Dialect/MLLM/A.h", "mlir/IR/A.h", "B.h"]),
     ("lib/Runtime/A.cpp", ["llmir/Artifact/A.h", "mlir/Dialect/LLM/Runtime/A.h", "../Runtime/B.h"]),
     ("lib/MLLMText/A.cpp", ["mllm/Types.h"]), ("test/Codegen/A.cpp", ["llmir/Serving/A.h"]))
show("upwards", ("lib/Codegen/A.cpp", ["llmir/Pipelines/A.h"]), ("lib/Codegen/A.h", ["llmir/Serving/A.h"]))
show("sideways", ("lib/Dialect/LLM/IR/A.cpp", ["llmir/Dialect/MLLM/A.h"]), ("lib/MLLMText/A.cpp", ["mllm/Tensor.h"]))
show("below everything", ("include/llmir/ABI/A.def", ["llmir/Support/A.h"]))
show("tables of ODS", ("include/llmir/Codegen/A.td", ["llmir/Frontend/A.td"]))
show("sources of another area", ("lib/Export/A.cpp", ["../Frontend/A.h"]), ("lib/Codegen/A.cpp", ["../Frontend/A.h"]),
     ("lib/Frontend/A.h", []))
show("the runtime includes MLIR", ("lib/Runtime/A.cpp", ["mlir/IR/A.h"]), ("tools/llmir/A.cpp", ["llvm/A.h"]))
show("a directory of no area", ("lib/Other/A.cpp", []), ("lib/Codegen/A.cpp", ["llmir/Other/A.h"]))

# The table itself: areas depend on lower ones only, and the page has the same rows.
findings()
with open(LINT) as stream:
    text = stream.read()
write("utils/lint.py", text.replace('("ABI", ("include/llmir/ABI",), ()),', '("ABI", ("include/llmir/ABI",), ("Support",)),'))
print("\n  ".join(["an upward row:"] + run()))
write("utils/lint.py", text)
with open(os.path.join(source, "docs/Design.md")) as stream:
    page = stream.read()
write("docs/Design.md", page)
print("\n  ".join(["the page:"] + run()))
write("docs/Design.md", page.replace("| ABI | `include/llmir/ABI` | nothing |", "| ABI | `include/llmir/ABI` | all |"))
print("\n  ".join(["a stale page:"] + run()))
