#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""llmir tokenize --jsonl with untrusted input and tokenizers.

    tokenize_lines.py --work DIR --llmir PROGRAM [memory]

`memory` limits the address space, which is not possible in builds with sanitizers.
"""

import json
import os
import resource
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference"))
from byte_tokenizer import write_byte_tokenizer  # noqa: E402
from checks import Checks, Command, fresh_folder, work_parser  # noqa: E402

MOST_SECONDS = 20  # For commands that take a fraction of a second on an idle machine.
LINE_BYTES = 64 << 20
LIMITS = (256 << 20, 96 << 20)  # Limits of the address space: enough for the longest line, and not enough.
DOUBLE = {"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}

check = Checks()


def answers(result):
    return [json.loads(line) for line in result.out.splitlines()]


def run_on(llmir, path, opened):
    """tokenize --jsonl of an opened file: exit code, answers, standard error."""
    result = subprocess.run([llmir.program, "tokenize", path, "--jsonl"], stdin=opened, timeout=MOST_SECONDS,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=llmir.environment)
    return result.returncode, result.stdout.decode("ascii").splitlines(), result.stderr.decode("utf-8")


def check_input(llmir, work, path):
    folder = os.open(work, os.O_RDONLY)
    code, lines, err = run_on(llmir, path, folder)
    os.close(folder)
    check("a directory as input", code == 1 and not lines and "standard input cannot be read: Is a directory; " in err,
          (code, lines, err))
    with open("/dev/zero", "rb") as endless:
        code, lines, err = run_on(llmir, path, endless)
    check("a line without end", code == 1 and not lines and err.count("\n") == 1
          and "standard input: line 1 has more than %d bytes; " % LINE_BYTES in err, (code, lines, err))
    result = llmir.run("tokenize", path, "--jsonl", stdin=b'{"text": "a"}\n' + b"x" * (LINE_BYTES + 1) + b"\n")
    check("a line that is too long after another", result.code == 1 and answers(result)[0]["ids"] == [97]
          and len(answers(result)) == 1 and "line 2 has more than" in result.err, result)
    long = b'{"text": "' + b"ab" * (1 << 20) + b'"}'
    result = llmir.run("tokenize", path, "--jsonl", stdin=long + b'\n{"text": "b"}')
    check("long lines, the last one without an end", result.code == 0
          and [len(a["ids"]) for a in answers(result)] == [2 << 20, 1], result.err)
    result = llmir.run("tokenize", path, "--jsonl", stdin=b"\n\n{}\n")
    check("every line has an answer", result.code == 0 and len(answers(result)) == 3
          and all("error" in answer for answer in answers(result)), result)


def check_waits_for_nobody(llmir, path):
    """Lines are answered one by one."""
    process = subprocess.Popen([llmir.program, "tokenize", path, "--jsonl"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, env=llmir.environment)
    for text in ("a", "b"):
        process.stdin.write(json.dumps({"text": text}).encode("ascii") + b"\n")
        process.stdin.flush()
        check("answered at once: " + text, json.loads(process.stdout.readline())["ids"] == [ord(text)])
    process.stdin.close()
    check("and ends", process.wait(MOST_SECONDS) == 0)
    process.stdout.close()


def check_ids(llmir, path):
    lines = b'{"ids": [97, 98]}\n{"ids": [97, 256]}\n{"ids": [2147483647]}\n{"ids": [99]}\n'
    result = llmir.run("tokenize", path, "--jsonl", stdin=lines)
    got = answers(result)
    message = "line 2: token id 256 is not in the vocabulary of 256; use ids from 0 to 255"
    check("ids outside the vocabulary", result.code == 0 and [a.get("decoded") for a in got] == ["ab", None, None, "c"]
          and got[1]["error"] == {"code": "out_of_range", "message": message}, result)
    both = llmir.run("tokenize", path, "--jsonl", stdin=b'{"text": "a", "ids": [98]}\n')
    check("a text and ids", answers(both)[0].get("error", {}).get("message")
          == "line 1: the object has both 'text' and 'ids'; give one of them", both)
    for line, keys in (('{"text": "a", "addSpecialTokens": false}', "'text', 'add_special_tokens'"),
                       ('{"ids": [97], "add_special_tokens": true}', "'ids', 'skip_special_tokens'")):
        unknown = llmir.run("tokenize", path, "--jsonl", stdin=line.encode("ascii") + b"\n")
        key = list(json.loads(line))[1]
        check("an unknown key " + key, answers(unknown)[0].get("error") == {"code": "invalid_argument",
              "message": "line 1: unknown key '%s'; the keys are %s" % (key, keys)}, unknown)
    single = llmir.run("tokenize", path, "--decode", "97,256")
    check("as --decode says", single.code == 1 and message[len("line 2: "):] in single.err, single)


def check_growth(llmir, work):
    """A file of 2.6 KB with 32 doubling rules must not exhaust memory."""
    path = os.path.join(work, "doubling.json")
    write_byte_tokenizer(path, [DOUBLE] * 32)
    start = time.time()
    result = llmir.run("tokenize", path, "--jsonl", stdin=b'{"text": "a"}\n{"text": "b"}\n', timeout=MOST_SECONDS)
    got = answers(result)
    check("a normalizer that doubles", result.code == 0 and got[0]["error"]["code"] == "out_of_range"
          and "line 1: normalizer Replace: a text of 1 bytes grows to " in got[0]["error"]["message"]
          and got[1]["ids"] == [98] and time.time() - start < MOST_SECONDS, result)
    result = llmir.run("tokenize", path, "a" * 1000, timeout=MOST_SECONDS)
    check("in a text on the command line", result.code == 1 and "grows to" in result.err, result)
    write_byte_tokenizer(path, None, [DOUBLE] * 32 + [{"type": "ByteLevel"}])
    result = llmir.run("tokenize", path, "--jsonl", stdin=b'{"ids": [97]}\n', timeout=MOST_SECONDS)
    check("a decoder that doubles", result.code == 1 and not result.out
          and "times as long; the limit is 64; " in result.err, result)


def check_memory(llmir, path, limit):
    """A line that exceeds the memory gets an error; the next one is processed."""
    lines = b'{"text": "a"}\n{"text": "' + b"a " * (8 << 20) + b'"}\n{"text": "b"}\n'
    lines += b'{"text": "' + b"a " * (31 << 20) + b'"}\n{"text": "c"}'
    result = subprocess.run([llmir.program, "tokenize", path, "--jsonl"], input=lines, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env=llmir.environment,
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
    got = [json.loads(line) for line in result.stdout.decode("ascii").splitlines()]
    check("lines without memory", result.returncode == 0 and not result.stderr
          and [answer.get("ids") for answer in got] == [[97], None, [98], None, [99]]
          and all(got[i]["error"]["code"] == "resource_exhausted"
                  and got[i]["error"]["message"].startswith("line %d: " % (i + 1))
                  and "not enough memory" in got[i]["error"]["message"] for i in (1, 3)),
          (limit, result.returncode, result.stderr, str(got)[:300]))


def main():
    parser = work_parser(__doc__, "llmir")
    parser.add_argument("part", nargs="?")
    options = parser.parse_args()
    fresh_folder(options.work)
    path = os.path.join(options.work, "bytes.json")
    write_byte_tokenizer(path)
    llmir = Command(options.llmir)
    if options.part == "memory":
        for limit in LIMITS:
            check_memory(llmir, path, limit)
        return check.finish()
    check_input(llmir, options.work, path)
    check_waits_for_nobody(llmir, path)
    check_ids(llmir, path)
    check_growth(llmir, options.work)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
