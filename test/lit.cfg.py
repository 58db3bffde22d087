"""lit's configuration: which files are tests, and what their RUN lines can use.

Run through `ninja check-llmir`, or one test with
`LIT_FILTER=<part of its name> ninja check-llmir`.
"""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(config.llmir_src_root, "utils"))
from llmir_lit import LLMIRTest  # noqa: E402

config.name = "LLMIR"
config.test_format = LLMIRTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".c", ".cpp"]
config.excludes = ["Inputs", "CMakeLists.txt", "lit.cfg.py", "lit.site.cfg.py"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.llmir_obj_root, "test")

# --level for runs that need no particular one: code for 512-bit registers takes longer to compile.
is_long = bool(os.environ.get("LLMIR_LONG_TESTS"))
sys.path.insert(0, os.path.join(config.llmir_src_root, "test", "reference"))
from checks import quick_level as lowest_level  # noqa: E402

quick_level = "native" if is_long else lowest_level()
config.substitutions.append(("%quick_level", quick_level))

# Programs: the project's own, then LLVM's (FileCheck, not, count, split-file,
# llvm-readelf, mlir-opt). A missing one is a failed test, never a skipped one.
own_tools = os.path.join(config.llmir_obj_root, "bin")
own_tests = os.path.join(own_tools, "tests")
config.environment["PATH"] = os.pathsep.join(
    [own_tools, own_tests, config.llvm_tools_dir, config.environment["PATH"]]
)
config.substitutions.append(("%python", config.python))
config.substitutions.append(("%llmir_src", config.llmir_src_root))
config.substitutions.append(("%llmir_bin", own_tools))
config.substitutions.append(("%llvm_tools", config.llvm_tools_dir))
config.substitutions.append(("%llmir_lib", os.path.join(config.llmir_obj_root, "lib")))

# GoogleTest programs run through a wrapper that fails when the filter matched
# no test and notes what was skipped and why.
wrapper = os.path.join(config.llmir_src_root, "utils", "run_gtest.py")
config.substitutions.append(
    (
        r"(?<![\w/.-])(?=llmir-[\w-]+-tests\b)",
        f"{config.python} {wrapper} %t.gtest.xml {own_tests}/",
    )
)

# Trained models, tokenizers and vocabularies, which are not part of the project.
test_data = os.environ.get("LLMIR_TEST_DATA") or os.path.join(
    os.path.dirname(os.path.abspath(config.llmir_src_root)), "shared", "data"
)
config.substitutions.append(("%test_data", test_data))
config.environment["LLMIR_TEST_DATA"] = test_data
if os.path.isdir(test_data):
    config.available_features.add("test-data")

# A library built with a sanitizer cannot be loaded by MLIR's own tools.
if getattr(config, "llmir_sanitize", ""):
    config.available_features.add("sanitizer")

# What this machine's processor can run.
try:
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as cpuinfo:
        flags = set()
        for line in cpuinfo:
            if line.startswith(("flags", "Features")):
                flags.update(line.split(":", 1)[1].split())
    if {"avx2", "fma", "f16c"} <= flags:
        config.available_features.add("avx2")
    if {"avx512f", "avx512bw", "avx512vl", "avx512dq"} <= flags:
        config.available_features.add("avx512")
    for flag in ("avx_vnni", "avx512_vnni", "avx512_bf16"):
        if flag in flags:
            config.available_features.add(flag.replace("_", ""))
except OSError:
    pass

# What it can emulate: the runtime for AArch64 is built where its compiler is.
if shutil.which("qemu-aarch64") and os.path.exists(
    os.path.join(config.llmir_obj_root, "aarch64", "bin", "llmir")
):
    config.available_features.add("aarch64-emulator")

# What reads exported models: ONNX's checker, and the npm package onnxruntime-web
# where LLMIR_ONNXRUNTIME_WEB names its folder (nothing is fetched by a test).
if subprocess.run([config.python, "-c", "import onnx"], stderr=subprocess.DEVNULL).returncode == 0:
    config.available_features.add("python-onnx")
if subprocess.run([config.python, "-c", "import jinja2"], stderr=subprocess.DEVNULL).returncode == 0:
    config.available_features.add("python-jinja2")
# Clients of the server, which `npm ci` installs there.
clients = os.path.join(config.llmir_src_root, "test", "Server", "clients", "node_modules")
if shutil.which("node") and all(os.path.exists(os.path.join(clients, name, "package.json"))
                                for name in ("ai", "eventsource-parser", "openai")):
    config.available_features.add("server-clients")
onnxruntime = os.environ.get("LLMIR_ONNXRUNTIME_WEB", "")
config.substitutions.append(("%onnxruntime_web", onnxruntime))
if shutil.which("node") and os.path.exists(os.path.join(onnxruntime, "package.json")):
    config.available_features.add("onnxruntime-web")

# What rebuilds and tests the server's page: npm's packages, which `./dev web` installs, and Chromium.
if shutil.which("node") and os.path.isdir(os.path.join(config.llmir_src_root, "web", "node_modules", "esbuild")):
    config.available_features.add("web-packages")
chromium = os.environ.get("LLMIR_CHROMIUM", "/usr/bin/chromium")
config.environment["LLMIR_CHROMIUM"] = chromium
if os.path.exists(chromium):
    config.available_features.add("chromium")

# What runs them: XNNPACK, where this build found it.
if getattr(config, "llmir_has_xnnpack", ""):
    config.available_features.add("xnnpack")

# Kernels that several tests need are compiled once in a run.
objects = tempfile.mkdtemp(prefix="objects-", dir=config.test_exec_root)
atexit.register(shutil.rmtree, objects, ignore_errors=True)
config.environment["LLMIR_OBJECT_CACHE"] = objects

# Tests neither read nor fill the user's cache, and no LLMIR_* variable of the
# user changes what a command does.
config.environment["XDG_CACHE_HOME"] = os.path.join(config.test_exec_root, "cache")
config.environment["HF_HUB_CACHE"] = os.path.join(config.test_exec_root, "hub")
config.environment["HF_HUB_OFFLINE"] = "1"
config.environment["LC_ALL"] = "C.UTF-8"
config.environment["PYTHONDONTWRITEBYTECODE"] = "1"
for variable in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LLMIR_LONG_TESTS"):
    if variable in os.environ:
        config.environment[variable] = os.environ[variable]
if is_long:
    config.available_features.add("long-tests")
