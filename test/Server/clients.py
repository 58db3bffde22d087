#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""llmir serve with clients of other projects for Node, whose packages test/Server/clients/package-lock.json pins.

    clients.py --work DIR --llmir PROGRAM --demo DIR [--client openai|ai-sdk|event-source]...

`openai` also asks the demo model; all ask a model whose answers are known (scripted_model.py).
"""

import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "reference"))
from checks import Checks, Command, fresh_folder, work_parser  # noqa: E402
from scripted_model import compile_scripted  # noqa: E402
from server_process import Server, compile_demo  # noqa: E402

check = Checks()

# Characters of one to four bytes, a combining mark, a family of joined emoji.
TEXT = "Grüße, 世界! Ve\u0301ry 👩\u200d👧 \"quoted\" \\ 𝄞."
ARGUMENTS = {"city": "Zürich \"Süd\" \\ 東京 👍", "days": 3, "units": {"temp": "°C", "list": [1, None, True]}}
MORE = {"city": "Oslo", "days": 1}


def call(arguments):
    # Written as a model may write it: with escapes of its own, and spaces.
    text = json.dumps({"name": "weather", "arguments": arguments}, ensure_ascii=arguments is MORE)
    return "<tool_call>\n" + text + "\n</tool_call>"


ANSWERS = {
    "text": TEXT,
    "thought": "<think>\nHm, 考えます…\n</think>\n\n" + TEXT[:20],
    "call": call(ARGUMENTS),
    "calls": "I look: " + call(ARGUMENTS) + "\n" + call(MORE),
    "tool": "It is 21 °C.",
}


def ask(client, server, expected=None):
    """Runs a client, each of whose lines is a check."""
    line = ["node", os.path.join(HERE, "clients", client + ".mjs"), "http://127.0.0.1:%d/v1" % server.port, "k"]
    result = subprocess.run(line + ([json.dumps(expected)] if expected else []), stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, universal_newlines=True)
    for each in result.stdout.splitlines():
        check(client + ": " + each[5:], each.startswith("ok  "))
    check(client + " ends well", result.returncode == 0 and "ok  " in result.stdout, result.stdout[-2000:])


def main():
    parser = work_parser(__doc__, "llmir", "demo")
    parser.add_argument("--client", action="append", choices=("openai", "ai-sdk", "event-source"))
    options = parser.parse_args()
    clients = options.client or ["openai", "ai-sdk", "event-source"]
    fresh_folder(options.work)
    llmir = Command(options.llmir, cache=os.path.join(options.work, "cache"))
    if "openai" in clients:
        model, template = compile_demo(llmir, options)
        with Server(llmir, model, "--template", template, "--served-model-name", "demo", "--api-key", "k") as server:
            ask("openai", server)
    model, template = compile_scripted(llmir, options.work, ANSWERS)
    expected = {"text": TEXT, "arguments": ARGUMENTS, "more": MORE, "after": ANSWERS["tool"], "reasoning": "Hm, 考えます…"}
    with Server(llmir, model, "--template", template, "--served-model-name", "scripted", "--api-key", "k",
                "--tool-call-parser", "hermes", "--reasoning-parser", "qwen3") as server:
        for client in clients:
            ask("openai-tools" if client == "openai" else client, server, expected)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
