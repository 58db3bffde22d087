#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The behavior of the llmir command: exit codes, help, environment variables, output streams.

    usage.py --llmir PROGRAM --work DIR

Requires neither the compiler nor a trained model.
"""

import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "reference"))

import make_tiny  # noqa: E402
from checks import Checks, Command, fresh_folder, work_parser  # noqa: E402

COMMANDS = ("pull", "run", "chat", "compile", "tokenize", "inspect", "export", "convert",
            "doctor", "perplexity", "bench", "cache")

# Wrong usage: the arguments, and a text that the line on stderr must contain.
WRONG = [
    ([], "subcommand"),
    (["walk"], "walk"),
    (["pull"], "MODEL"),
    (["pull", "a b"], "no name of a repository"),
    (["pull", "org/name@"], "no name of a revision"),
    (["pull", "org/name", "--connections", "0"], "--connections"),
    (["run"], "MODEL"),
    (["run", "m", "--walk"], "--walk"),
    (["run", "m", "-n", "-1"], "-1"),
    (["run", "m", "-n", "many"], "many"),
    (["run", "m", "--temp", "hot"], "hot"),
    (["run", "m", "--temp", "-0.5"], "-0.5"),
    (["run", "m", "--temp", "inf"], "inf"),
    (["run", "m", "--top-p", "2"], "top-p is 2"),
    (["run", "m", "--seed", "-1"], "-1"),
    (["run", "m", "--seed", "99999999999999999999"], "64 bits"),
    (["run", "m", "-n", "1.5"], "1.5"),
    (["run", "m", "--prompt-ids", "1,x"], "'x'"),
    (["run", "m", "-t", "-1"], "-1"),
    (["run", "m", "--prompt-ids", ""], "--prompt-ids: the value is empty"),
    (["compile", "m", "-o", "x", "--recipe", ""], "--recipe: the value is empty"),
    (["inspect", "m", "--graph", ""], "--graph: the value is empty"),
    (["bench", "m", "--json=maybe"], "'maybe' is neither true nor false"),
    (["run", "m", "--kv", "f99"], "f99"),
    (["run", "m", "a", "b"], "b"),
    (["run", "m", "hello", "--prompt-ids", "1"], "--prompt-ids"),
    (["compile", "m"], "-o"),
    (["compile", "m", "-o", "-"], "-o"),
    (["compile", "m", "--stop-after", "artifact"], "-o"),
    (["compile", "m", "--emit", "poem"], "poem"),
    (["compile", "m", "--stop-after", "lunch"], "lunch"),
    (["compile", "m", "--emit", "llm", "--stop-after", "llm"], "--stop-after"),
    (["tokenize", "m"], "TEXT"),
    (["tokenize", "m", "text", "--jsonl"], "--jsonl"),
    (["tokenize", "m", "text", "--template", "t.jinja"], "belong to --jsonl"),
    (["perplexity", "m"], "--ids"),
    (["perplexity", "m", "-f", "x", "--ids", "1"], "--ids"),
    (["bench", "m", "-p", "0", "-n", "0"], "-n"),
    (["bench", "m", "-o", "xml"], "xml"),
    (["bench", "m", "-p", "1,x"], "x"),
    (["cache"], "subcommand"),
    (["cache", "eat"], "eat"),
]

# Each variable is equivalent to its flag: an invalid value shows that it is
# read.
VARIABLES = [
    ("LLMIR_TEMP", ["run", "m"]), ("LLMIR_TOP_K", ["run", "m"]), ("LLMIR_N", ["run", "m"]),
    ("LLMIR_MAX_TOKENS", ["run", "m"]), ("LLMIR_SEED", ["run", "m"]), ("LLMIR_T", ["run", "m"]),
    ("LLMIR_THREADS", ["run", "m"]), ("LLMIR_CTX", ["run", "m"]), ("LLMIR_KV", ["run", "m"]),
    ("LLMIR_EMIT", ["compile", "m"]), ("LLMIR_STOP_AFTER", ["compile", "m"]),
    ("LLMIR_BENCH_PROMPT", ["bench", "m"]), ("LLMIR_BENCH_OUTPUT", ["bench", "m"]),
    ("LLMIR_R", ["bench", "m"]), ("LLMIR_CACHE_LIMIT", ["cache", "list"]),
    ("LLMIR_PIN", ["run", "m"]),
]

# Variables of flags of other commands, or unknown ones, are not read.
OTHERS = [("LLMIR_OUTPUT", ["bench"]), ("LLMIR_PROMPT", ["bench"]), ("LLMIR_P", ["bench"])]


check = Checks()


class Usage:
    def __init__(self, llmir, work):
        self.work, self.llmir = work, Command(llmir, cache=os.path.join(work, "xdg"))

    def run(self, arguments, **variables):
        answer = self.llmir.run(*arguments, **variables)
        return answer.code, answer.out, answer.err


def check_help(usage):
    code, out, err = usage.run(["--help"])
    check("help", code == 0 and not err and all(c in out for c in COMMANDS), out + err)
    code, out, _ = usage.run(["--version"])
    check("version", code == 0 and re.match(r"llmir \d+\.\d+\.\d+\n$", out), out)
    for command in COMMANDS:
        code, out, err = usage.run([command, "--help"])
        check("%s --help" % command, code == 0 and not err and "Example:" in out, out + err)
        for flag in re.findall(r"^  (-\S+)(.*)", out, re.M):
            if "--help" not in flag[0]:
                check("%s: %s names its variable" % (command, flag[0]),
                      "Env:LLMIR_" in flag[1], flag)


def check_wrong_usage(usage):
    for arguments, needle in WRONG:
        code, out, err = usage.run(arguments)
        check(" ".join(["llmir"] + arguments),
              code == 2 and not out and err.startswith("llmir: ") and err.count("\n") == 1
              and needle in err, (code, out, err))
    for variable, arguments in VARIABLES:
        code, _, err = usage.run(arguments, **{variable: "@@"})
        check(variable, code == 2 and "@@" in err, (code, err))
    for variable, arguments in OTHERS:
        code, _, err = usage.run(arguments + [os.path.join(usage.work, "no")], **{variable: "@@"})
        check(variable + " of " + arguments[0], code == 1 and "@@" not in err, (code, err))
    for value, wrong in (("yes", False), ("0", False), ("False", False), ("maybe", True)):
        code, _, err = usage.run(["run", os.path.join(usage.work, "no")], LLMIR_PIN=value)
        check("LLMIR_PIN=" + value, code == (2 if wrong else 1)
              and ("--pin: 'maybe' is neither true nor false" in err) == wrong, (code, err))
    # The flag takes precedence over its variable.
    code, _, err = usage.run(["run", os.path.join(usage.work, "no"), "--temp", "0"], LLMIR_TEMP="@@")
    check("the flag wins", code == 1 and "no" in err, (code, err))


def check_inspect(usage):
    config, weights = make_tiny.make("qwen2")
    folder = os.path.join(usage.work, "model")
    make_tiny.write_hf(folder, config, weights)
    gguf = os.path.join(usage.work, "model.gguf")
    make_tiny.write_gguf(gguf, config, weights, "q8_0")
    for model in (folder, gguf):
        code, out, err = usage.run(["inspect", model, "--json"])
        data = json.loads(out) if code == 0 else {}
        check("inspect --json", code == 0 and not err
              and data["model"]["hidden_size"] == config.hidden
              and data["model"]["architecture"] == "qwen2"
              and len(data["tensors"]) == len(weights), out + err)
        code, out, err = usage.run(["inspect", model, "--tensors"])
        check("inspect --tensors", code == 0 and out.count("\n") > len(weights), out + err)
        # Keys and values of every layer, in bf16; no head of this model is padded.
        cached = 2 * 2 * config.layers * config.kv_heads * config.head_dim
        check("inspect's memory", data["memory"]["kv_bytes_per_1000_tokens"] == 1000 * cached
              and data["memory"]["weight_bytes"] == sum(tensor["bytes"] for tensor in data["tensors"]), data["memory"])
        code, out, err = usage.run(["inspect", model])
        check("inspect's summary", code == 0 and "KV cache" in out and "cannot be used: " in out, out + err)
    code, _, err = usage.run(["tokenize", folder, "text"])
    check("no tokenizer", code == 1 and "tokenizer" in err, err)
    # Reported before the compiler is loaded.
    for model in (folder, gguf):
        code, out, err = usage.run(["run", model, "text"], LLMIR_COMPILER_LIBRARY="/nowhere")
        check("a text without a tokenizer", code == 1 and not out and err.count("\n") == 1
              and "'%s' has no tokenizer; give the prompt as ids" % model in err, err)
    for arguments in (["inspect", folder], ["--help"], ["run", "--help"], ["--version"]):
        with open("/dev/full", "wb") as full:
            failed = subprocess.run([usage.llmir.program] + arguments, stdout=full, stderr=subprocess.PIPE)
        check("a full disk: %s" % " ".join(arguments), failed.returncode == 1 and b"standard output" in failed.stderr,
              failed.stderr)


def check_cache(usage):
    folder = os.path.join(usage.work, "xdg", "llmir")
    code, out, _ = usage.run(["cache", "list"])
    check("cache list", code == 0 and out.startswith("0 artifacts"), out)
    check("cache directory is private", os.stat(folder).st_mode & 0o777 == 0o700)
    os.chmod(folder, 0o777)
    code, out, err = usage.run(["cache", "list"])
    check("open cache directory", code == 1 and "chmod 700" in err, err)
    os.chmod(folder, 0o700)
    other = os.path.join(usage.work, "other", "cache")
    code, out, _ = usage.run(["cache", "list", "--cache-dir", other])
    check("--cache-dir", code == 0 and other in out, out)
    code, out, _ = usage.run(["cache", "list"], LLMIR_CACHE_DIR=other)
    check("LLMIR_CACHE_DIR", code == 0 and other in out, out)
    code, _, err = usage.run(["cache", "list"], XDG_CACHE_HOME="", HOME="")
    check("no directory at all", code == 1 and "--cache-dir" in err, err)
    code, out, _ = usage.run(["cache", "clear"])
    check("cache clear", code == 0 and "removed" in out, out)


def check_doctor(usage):
    code, out, err = usage.run(["doctor", "--json"])
    data = json.loads(out)
    names = ("version", "processor", "level", "memory", "memory reads", "compiler", "cache")
    check("doctor", all(name in data for name in names), out)
    good = all(finding["ok"] for finding in data.values())
    check("doctor's exit code", code == (0 if good else 1) and bool(err) != good, (code, err))
    config, weights = make_tiny.make("qwen2")
    folder = os.path.join(usage.work, "doctored")
    make_tiny.write_hf(folder, config, weights)
    code, out, err = usage.run(["doctor", folder, "--json"])
    data = json.loads(out)
    check("doctor MODEL", data["model memory"]["ok"] and "available" in data["model memory"]["value"]
          and "tokens/s" in data["model speed"]["value"], out)
    code, out, err = usage.run(["doctor", usage.work])
    check("doctor of no model", code == 1 and "BAD  model" in out and "model" in err, out + err)


def main():
    options = work_parser(__doc__, "llmir").parse_args()
    fresh_folder(options.work)
    usage = Usage(options.llmir, os.path.abspath(options.work))
    for part in (check_help, check_wrong_usage, check_inspect, check_cache, check_doctor):
        part(usage)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
