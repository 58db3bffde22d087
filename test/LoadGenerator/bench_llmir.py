#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""llmir bench serve against llmir serve: exact counts, shared prefixes, conversations, refusals and TLS.

    bench_llmir.py --work DIR --llmir PROGRAM (--demo DIR | --artifact FILE.llmir)
"""

import json
import os
import sys

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", folder) for folder in ("reference", "Server")]
from checks import Checks, Command, fresh_folder, work_parser  # noqa: E402
from server_process import TEMPLATE, Server, certificate_flags, compile_demo  # noqa: E402

check = Checks()


def report(llmir, server, *flags):
    return json.loads(llmir("bench", "serve", "--port", server.port, "--json", "--save-detailed", "--ready-timeout", 60,
                            *flags))


def check_counts(llmir, server):
    counts = report(llmir, server, "--num-prompts", 12, "--random-input-len", 150, "--random-output-len", 9, "--ignore-eos",
                    "--max-concurrency", 4)
    check("counts", counts["completed"] == 12 and counts["failed"] == 0 and counts["input_lens"] == [150] * 12
          and counts["output_lens"] == [9] * 12 and counts["total_cached_tokens"] == 0
          and counts["max_concurrent_requests"] == 4, counts)
    check("the model's name", counts["model_id"] == "demo", counts)
    again = report(llmir, server, "--num-prompts", 12, "--random-input-len", 150, "--random-output-len", 9, "--ignore-eos")
    check("a repeated run finds its prompts", again["total_cached_tokens"] >= 12 * 128, again)
    check("and gives a greedy model the same texts",
          sorted(report(llmir, server, "--num-prompts", 3, "--random-input-len", 20, "--temperature", 0)["generated_texts"])
          == sorted(report(llmir, server, "--num-prompts", 3, "--random-input-len", 20, "--temperature", 0,
                           "--max-concurrency", 1)["generated_texts"]))


def check_prefixes(llmir, server):
    flags = ["--num-prompts", 10, "--random-input-len", 8, "--random-output-len", 2, "--max-concurrency", 1, "--seed", 5]
    shared = report(llmir, server, "--random-prefix-len", 128, *flags)
    check("a shared prefix is computed once", shared["cached_lens"][0] == 0 and all(
        cached >= 128 for cached in shared["cached_lens"][1:]), shared["cached_lens"])


def check_chats(llmir, server):
    counts = report(llmir, server, "--endpoint", "/v1/chat/completions", "--dataset-name", "multi-turn", "--num-prompts", 2,
                    "--multi-turn-turns", 3, "--random-input-len", 70, "--random-output-len", 6, "--ignore-eos")
    check("conversations", counts["completed"] == 6 and counts["output_lens"] == [6] * 6
          and counts["total_cached_tokens"] > 0, counts)


def check_refusals(llmir, server):
    answer = llmir.run("bench", "serve", "--port", server.port, "--num-prompts", 3, "--random-input-len", 5000)
    check("prompts that are too long", answer.code == 1 and "3 requests failed: status 400: " in answer.err, answer)


def check_tls(llmir, model, work):
    certificate = certificate_flags(work)
    if not certificate:
        return check.skip("TLS", "there is no openssl program")
    with Server(llmir, model, *certificate) as server:
        flags = ["--base-url", "https://127.0.0.1:%d/v1" % server.port, "--num-prompts", 2, "--random-input-len", 8]
        answer = llmir.run("bench", "serve", *flags)
        check("a certificate of its own", answer.code == 1 and "certificate" in answer.err, answer)
        answer = llmir.run("bench", "serve", "--insecure", *flags)
        check("any certificate", answer.code == 0 and "Successful requests:                     2\n" in answer.out, answer)


def main():
    parser = work_parser(__doc__, "llmir")
    parser.add_argument("--demo")
    parser.add_argument("--artifact", help="the compiled demo model, instead of compiling it")
    options = parser.parse_args()
    fresh_folder(options.work)
    llmir = Command(options.llmir, cache=os.path.join(options.work, "cache"))
    model, template = options.artifact, os.path.join(options.work, "template.jinja")
    if model:
        with open(template, "w") as stream:
            stream.write(TEMPLATE)
    else:
        model, template = compile_demo(llmir, options)
    with Server(llmir, model, "--template", template, "--served-model-name", "demo") as server:
        check_counts(llmir, server)
        check_prefixes(llmir, server)
        check_chats(llmir, server)
        check_refusals(llmir, server)
    check_tls(llmir, model, options.work)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
