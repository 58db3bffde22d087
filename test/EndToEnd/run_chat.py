#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""llmir run --chat: the template comes from the artifact, or from a file.

    run_chat.py --work DIR --llmir PROGRAM --model DIR
"""

import json
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference"))
from checks import Checks, Command, fresh_folder, quick_level, work_parser  # noqa: E402

TEMPLATE = ("{{ bos_token }}{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}"
            "{% if add_generation_prompt %}assistant:{% endif %}")

check = Checks()


def chat_model(model, folder):
    """The model with a chat template."""
    shutil.copytree(model, folder)
    path = os.path.join(folder, "tokenizer_config.json")
    with open(path, encoding="utf-8") as stream:
        config = json.load(stream)
    config["chat_template"] = TEMPLATE
    with open(path, "w", encoding="utf-8") as stream:
        json.dump(config, stream)
    return folder


def main():
    options = work_parser(__doc__, "llmir", "model").parse_args()
    work = options.work
    fresh_folder(work)
    llmir = Command(options.llmir, cache=os.path.join(work, "cache"))
    model = chat_model(options.model, os.path.join(work, "model"))
    artifact = os.path.join(work, "model.llmir")
    check("a model with a template compiles",
          llmir.run("compile", model, "-o", artifact, "--target", quick_level()).code == 0)
    shutil.rmtree(model)

    def ids_of(text):
        answer = llmir.run("tokenize", artifact, "--jsonl", stdin=json.dumps(
            {"text": text, "add_special_tokens": False}).encode() + b"\n")
        return json.loads(answer.out)["ids"]

    def prompt_of(*arguments, **how):
        result = llmir.run("run", artifact, *arguments, "-n", "4", "--temp", "0", "--json", **how)
        check(f"run {arguments} succeeds", result.code == 0, result)
        return json.loads(result.out)["prompt_ids"] if result.code == 0 else None

    request = json.dumps({"messages": [{"role": "user", "content": "Hi"}], "add_generation_prompt": True}) + "\n"
    answer = json.loads(llmir.run("tokenize", artifact, "--jsonl", stdin=request.encode()).out)
    text = "<|endoftext|>user: Hi\nassistant:"
    check("the artifact carries the template and the tokens", answer.get("rendered") == text, answer)
    check("a question", prompt_of("Hi", "--chat") == ids_of(text))
    check("from a pipe", prompt_of("--chat", stdin=b"Hi\n") == ids_of(text))
    check("with instructions", prompt_of("Hi", "--chat", "--system", "Be brief.")
          == ids_of("<|endoftext|>system: Be brief.\nuser: Hi\nassistant:"))
    own = os.path.join(work, "own.jinja")
    with open(own, "w", encoding="utf-8") as stream:
        stream.write("{{ bos_token }}{{ messages[-1].content|upper }}{{ eos_token }}")
    check("a template of a file", prompt_of("Hi", "--chat", "--template", own, "--bos", "In", "--eos", "!") == ids_of("InHI!"))
    check("without --chat, the text itself", prompt_of("Hi") != ids_of(text))

    with open(own, "w", encoding="utf-8") as stream:
        stream.write("{{ raise_exception('not today') }}")
    for cause, code, arguments in (
        ("own.jinja:1:19: not today", 1, ["Hi", "--chat", "--template", own]),
        ("belong to --chat", 2, ["Hi", "--system", "x"]),
        ("--chat and --prompt-ids", 2, ["--chat", "--prompt-ids", "1"]),
    ):
        result = llmir.run("run", artifact, *arguments)
        check(cause, result.code == code and cause in result.err and not result.out, result)
    plain = os.path.join(work, "plain.llmir")
    llmir.run("compile", options.model, "-o", plain, "--target", quick_level())
    result = llmir.run("run", plain, "Hi", "--chat")
    check("a model without a template", result.code == 1 and "no chat template; give one with --template" in result.err, result)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
