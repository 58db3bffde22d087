#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The source of the prompt of llmir run, and its warning about weights that are not finite.

    run_input.py --work DIR --llmir PROGRAM --model DIR
"""

import json
import os
import pty
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference"))
import make_tiny  # noqa: E402
from checks import Checks, Command, fresh_folder, quick_level, work_parser  # noqa: E402

PROMPT = "In the beginning"
FLAGS = ("-n", "12", "--temp", "0", "--json")

check = Checks()


def run_with(llmir, opened, *arguments):
    result = subprocess.run([llmir.program, "run", *arguments], stdin=opened, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env=llmir.environment, timeout=120)
    return result.returncode, result.stdout.decode("utf-8", "replace"), result.stderr.decode("utf-8", "replace")


def check_pipe(llmir, artifact, work):
    def piped(text, *arguments):
        return json.loads(llmir("run", artifact, *arguments, *FLAGS, stdin=text.encode("utf-8")))
    given = json.loads(llmir("run", artifact, PROMPT, *FLAGS))
    for text in (PROMPT + "\n", PROMPT):
        got = piped(text)
        check("a prompt through a pipe: %r" % text, got["prompt_ids"] == given["prompt_ids"]
              and got["ids"] == given["ids"], got)
    two = piped(PROMPT + "\n\n")
    check("only one trailing newline is dropped", two["prompt_ids"] == piped("", PROMPT + "\n")["prompt_ids"]
          != given["prompt_ids"], two)
    path = os.path.join(work, "prompt.txt")
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(PROMPT + "\n")
    with open(path, "rb") as stream:
        code, out, err = run_with(llmir, stream, artifact, *FLAGS)
    check("a prompt from a file", code == 0 and json.loads(out)["ids"] == given["ids"], err)
    check("PROMPT wins", piped("something else", PROMPT)["ids"] == given["ids"])
    ids = ",".join(map(str, given["prompt_ids"]))
    check("--prompt-ids wins", piped("something else", "--prompt-ids", ids)["ids"] == given["ids"])
    check("an empty pipe is no prompt", len(piped("")["prompt_ids"]) == 1)
    check("text that is not UTF-8", "the prompt: the text is not UTF-8 at byte 1; "
          in llmir.refuse("run", artifact, *FLAGS, stdin=b"a\xff"))


def check_what_is_not_read(llmir, artifact, work):
    """A pipe that is not closed, a terminal, a directory, no input."""
    reader, writer = os.pipe()
    code, out, err = run_with(llmir, reader, artifact, PROMPT, *FLAGS)
    check("a pipe is not waited for where there is a prompt", code == 0, err)
    os.close(reader)
    os.close(writer)
    master, terminal = pty.openpty()
    code, out, err = run_with(llmir, terminal, artifact, *FLAGS)
    check("a terminal is not read", code == 0 and len(json.loads(out)["prompt_ids"]) == 1, err)
    os.close(master)
    os.close(terminal)
    folder = os.open(work, os.O_RDONLY)
    code, out, err = run_with(llmir, folder, artifact, *FLAGS)
    os.close(folder)
    check("a directory cannot be read", code == 1 and not out and "standard input cannot be read: Is a directory; " in err,
          err)
    with open("/dev/zero", "rb") as endless:
        code, out, err = run_with(llmir, endless, artifact, *FLAGS)
    check("input without end", code == 1 and not out and "standard input has more than " in err, err)
    closed = subprocess.run(["sh", "-c", 'exec "$0" "$@" <&-', llmir.program, "run", artifact, *FLAGS],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=llmir.environment)
    check("no standard input is no prompt", closed.returncode == 0
          and len(json.loads(closed.stdout.decode("utf-8"))["prompt_ids"]) == 1, closed.stderr)


def check_before_compiling(llmir, work):
    """An invalid text is rejected before the compiler is loaded."""
    config, weights = make_tiny.make("qwen2")
    folder = os.path.join(work, "model")
    make_tiny.write_hf(folder, config, weights)
    answer = llmir.run("run", folder, stdin=b"text", LLMIR_COMPILER_LIBRARY="/nowhere")
    check("a piped text without a tokenizer", answer.code == 1 and "has no tokenizer; give the prompt as ids"
          in answer.err, answer)


def check_nan(llmir, work):
    """Once, on standard error; the run continues."""
    config, weights = make_tiny.make("qwen2")
    weights["model.norm.weight"][0] = np.nan
    folder = os.path.join(work, "nan")
    make_tiny.write_hf(folder, config, weights)
    artifact = os.path.join(work, "nan.llmir")
    llmir("compile", folder, "-o", artifact, "--target", quick_level())
    answer = llmir.run("run", artifact, "--prompt-ids", "1", "-n", "5", "--temp", "0")
    check("weights that are no numbers", answer.code == 0 and answer.err.count("NaN, so the text from token 1 on is "
          "meaningless: ") == 1, answer)
    answer = llmir.run("perplexity", artifact, "--ids", "1,2,3")
    check("and of a perplexity", answer.code == 0 and answer.err.count("NaN, so the perplexity is meaningless: ") == 1,
          answer)


def check_full_context(llmir, artifact):
    """On standard error, if the context ends before the requested tokens."""
    ids = ["run", artifact, "--prompt-ids", "1,2,3", "--temp", "0"]
    text = "generated 14 of 20 tokens: the context of 16 tokens is full; --ctx can be up to 512"
    for flags in ([], ["--json"]):
        answer = llmir.run(*ids, "--ctx", "16", "-n", "20", *flags)
        check("more tokens than the context has %s" % flags, answer.code == 0 and text in answer.err, answer)
    for flags in (["-n", "14"], []):
        answer = llmir.run(*ids, "--ctx", "16", *flags)
        check("until the context's end %s" % flags, answer.code == 0 and "is full" not in answer.err, answer)
    answer = llmir.run(*ids, "-n", "600")
    check("the model's own context", answer.code == 0 and "generated 510 of 600 tokens: the context of 512 tokens is full"
          in answer.err and "--ctx" not in answer.err, answer.err)


def main():
    options = work_parser(__doc__, "llmir", "model").parse_args()
    fresh_folder(options.work)
    llmir = Command(options.llmir, cache=os.path.join(options.work, "cache"))
    artifact = os.path.join(options.work, "demo.llmir")
    llmir("compile", options.model, "-o", artifact, "--target", quick_level())
    check_pipe(llmir, artifact, options.work)
    check_what_is_not_read(llmir, artifact, options.work)
    check_before_compiling(llmir, options.work)
    check_nan(llmir, options.work)
    check_full_context(llmir, artifact)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
