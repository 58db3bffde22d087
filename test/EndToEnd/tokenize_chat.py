#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""llmir tokenize --jsonl with conversations.

    tokenize_chat.py --work DIR --llmir PROGRAM
"""

import glob
import json
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference"))
from byte_tokenizer import write_byte_tokenizer  # noqa: E402
from checks import Checks, Command, fresh_folder, work_parser  # noqa: E402

EPOCH = {"SOURCE_DATE_EPOCH": "1735787045"}  # Thursday, 2 January 2025, 03:04:05 UTC.
HI = [{"role": "user", "content": "Hi"}]
TEMPLATE = ("{{ bos_token }}{% for m in messages %}<{{ m.role }}>{{ m.content }}{{ eos_token }}{% endfor %}"
            "{% if add_generation_prompt %}<assistant>{% endif %}{{ tools|tojson if tools }}{{ extra }}")

check = Checks()


def write(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(content if isinstance(content, str) else json.dumps(content))


def ask(llmir, model, *requests, flags=(), **variables):
    """The answers to one request each."""
    lines = "".join(json.dumps(request) + "\n" for request in requests)
    result = llmir.run("tokenize", model, "--jsonl", *flags, stdin=lines.encode(), **variables)
    answers = [json.loads(line) for line in result.out.splitlines()]
    check("every conversation has an answer", result.code == 0 and len(answers) == len(requests), result)
    return answers


def rendered(llmir, model, *flags, **request):
    answer = ask(llmir, model, dict({"messages": HI}, **request), flags=flags)[0]
    return answer.get("rendered", answer)


def model_folder(work, name, config, **files):
    folder = os.path.join(work, name)
    os.makedirs(folder)
    write_byte_tokenizer(os.path.join(folder, "tokenizer.json"))
    write(os.path.join(folder, "tokenizer_config.json"), config)
    for path, content in files.items():
        write(os.path.join(folder, path.replace("__", "/") + ".jinja"), content)
    return folder


def check_variables(llmir, work):
    model = model_folder(work, "plain", {"chat_template": TEMPLATE, "bos_token": "<s>", "eos_token": {"content": "</s>"}})
    answer = ask(llmir, model, {"messages": HI, "add_generation_prompt": True, "extra": "é"})[0]
    check("tokens and variables", answer.get("rendered") == "<s><user>Hi</s><assistant>é", answer)
    plain = ask(llmir, model, {"text": answer["rendered"], "add_special_tokens": False})[0]
    check("the ids of the text, without special tokens around it", answer["ids"] == plain["ids"], answer)
    check("no generation prompt by default", rendered(llmir, model) == "<s><user>Hi</s>")
    check("the order of keys and null", rendered(llmir, model, tools=[{"b": None, "a": 1.0}])
          == '<s><user>Hi</s>[{"b": null, "a": 1.0}]')
    check("tokens of the request", rendered(llmir, model, bos_token="B", eos_token=None) == "B<user>HiNone")
    check("tokens of flags", rendered(llmir, model, "--bos", "1", "--eos", "") == "1<user>Hi")
    write(os.path.join(work, "own.jinja"), "{{ messages|length }}{{ bos_token }}{{ strftime_now('%d %b %Y') }}")
    own = os.path.join(work, "own.jinja")
    answer = ask(llmir, model, {"messages": HI}, flags=("--template", own), **EPOCH)[0]
    check("a template of a file, and the clock", answer.get("rendered") == "1<s>02 Jan 2025", answer)


def check_openai_messages(llmir, work):
    """Arguments are text in OpenAI's API; this template, like most, wants an object."""
    template = ("{% for m in messages %}<{{ m.content }}>{% for c in m.tool_calls or [] %}"
                "{% for k, v in c.function.arguments.items() %}[{{ k }}={{ v }}]{% endfor %}{% endfor %}{% endfor %}")
    model = model_folder(work, "calls", {"chat_template": template})

    def messages(arguments):
        return [{"role": "user", "content": [{"type": "text", "text": "Hi"}, {"type": "text", "text": "you"}]},
                {"role": "assistant", "tool_calls": [
                    {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": arguments}}]},
                {"role": "tool", "tool_call_id": "call_1", "content": "ok"}]
    expected = "<Hi\nyou><>[b=1][a=[2]]<ok>"
    check("arguments as JSON text", rendered(llmir, model, messages=messages('{"b": 1, "a": [2]}')) == expected)
    check("arguments as an object", rendered(llmir, model, messages=messages({"b": 1, "a": [2]})) == expected)
    check("a call without arguments", rendered(llmir, model, messages=messages("")) == "<Hi\nyou><><ok>")
    answer = rendered(llmir, model, messages=messages("[1]"))
    check("arguments that are no object", answer["error"]["code"] == "invalid_argument"
          and "messages[1].tool_calls[0].function.arguments" in answer["error"]["message"], answer)


def check_sources(llmir, work):
    named = [{"name": "tool_use", "template": "T"}, {"name": "default", "template": "D"}]
    model = model_folder(work, "named", {"chat_template": named})
    check("the default of several templates", rendered(llmir, model) == "D")
    check("the template for tools", rendered(llmir, model, tools=[]) == "T")
    model = model_folder(work, "file", {"chat_template": "C"}, chat_template="F", additional_chat_templates__tool_use="A")
    check("a file replaces the configuration", rendered(llmir, model) == "F")
    check("an additional file", rendered(llmir, model, tools=[]) == "A")
    model = model_folder(work, "none", {"bos_token": None})
    answer = rendered(llmir, model)
    check("no template", answer["error"]["code"] == "not_found" and "--template FILE" in answer["error"]["message"], answer)
    model = model_folder(work, "nodefault", {"chat_template": [{"name": "a", "template": "A"}, {"name": "b", "template": "B"}]})
    answer = rendered(llmir, model)
    check("no default", "'a', 'b', none of them the default" in answer["error"]["message"], answer)
    model = model_folder(work, "wrong", {"chat_template": {"a": 1}})
    check("a template that is no text", "expected a text or a list" in rendered(llmir, model)["error"]["message"])


def gguf_text(text):
    return struct.pack("<Q", len(text.encode())) + text.encode()


def check_gguf(llmir, work):
    def entry(key, kind, value):
        return gguf_text(key) + struct.pack("<I", kind) + value

    def texts(values):
        return struct.pack("<IQ", 8, len(values)) + b"".join(map(gguf_text, values))

    tokens = ["<unk>", "<s>", "</s>"] + ["<0x%02X>" % byte for byte in range(256)]
    entries = [
        entry("general.architecture", 8, gguf_text("llama")),
        entry("tokenizer.ggml.model", 8, gguf_text("llama")),
        entry("tokenizer.ggml.tokens", 9, texts(tokens)),
        entry("tokenizer.ggml.scores", 9, struct.pack("<IQ", 6, len(tokens)) + bytes(4 * len(tokens))),
        entry("tokenizer.ggml.token_type", 9, struct.pack("<IQ", 5, len(tokens)) + struct.pack(
            "<%di" % len(tokens), 2, 3, 3, *[6] * 256)),
        entry("tokenizer.ggml.bos_token_id", 4, struct.pack("<I", 1)),
        entry("tokenizer.ggml.eos_token_id", 4, struct.pack("<I", 2)),
        entry("tokenizer.chat_template", 8, gguf_text("{{ bos_token }}{{ messages[0].content }}{{ eos_token }}")),
        entry("tokenizer.chat_template.tool_use", 8, gguf_text("tools")),
    ]
    path = os.path.join(work, "vocabulary.gguf")
    with open(path, "wb") as stream:
        stream.write(b"GGUF" + struct.pack("<IQQ", 3, 0, len(entries)) + b"".join(entries))
    check("a template of GGUF", rendered(llmir, path) == "<s>Hi</s>", rendered(llmir, path))
    check("a named one", rendered(llmir, path, tools=[]) == "tools")


def check_failures(llmir, work):
    model = model_folder(work, "failing", {"chat_template": "{{ raise_exception('no ' ~ messages[0].role) }}"})
    failing = {"messages": HI}
    answers = ask(llmir, model, failing, {"text": "a"}, {"messages": 1}, {"messages": HI, "text": "x"})
    message = answers[0].get("error", {}).get("message", "")
    check("a template's failure names its place", "line 1: chat template:1:19: no user" in message, answers[0])
    check("the next line is answered", "ids" in answers[1], answers[1])
    check("messages that are no list", "'messages' is not an array" in answers[2]["error"]["message"], answers[2])
    bad = os.path.join(work, "bad.jinja")
    write(bad, "a\n{% if %}")
    check("a template that does not parse", "bad.jinja:2:7: " in rendered(llmir, model, "--template", bad)["error"]["message"])
    result = llmir.run("tokenize", model, "--jsonl", "--template", os.path.join(work, "absent"), stdin=b"{}\n")
    check("a template that does not exist", result.code == 1 and "--template" in result.err and not result.out, result)


def check_real(llmir, data):
    """Renderings and ids of public models, where they are."""
    files = sorted(glob.glob(os.path.join(data, "tokenizers", "*", "chat.jsonl")))
    if not files:
        check.skip("conversations of public models", f"no tokenizers/*/chat.jsonl in {data}")
    for path in files:
        with open(path, encoding="utf-8") as stream:
            rows = [row for row in map(json.loads, stream) if row["js_agrees"]]
        answers = ask(llmir, os.path.dirname(path), *[dict(row["vars"], messages=row["messages"]) for row in rows], **EPOCH)
        for row, answer in zip(rows, answers):
            if row.get("rendered") is None:
                holds = "error" in answer
            else:
                holds = (answer.get("rendered"), answer.get("ids")) == (row["rendered"], row["ids"])
            check(f"{path}: {row['name']}", holds, answer)


def main():
    options = work_parser(__doc__, "llmir").parse_args()
    fresh_folder(options.work)
    llmir = Command(options.llmir, cache=os.path.join(options.work, "cache"))
    for part in (check_variables, check_openai_messages, check_sources, check_gguf, check_failures):
        part(llmir, options.work)
    check_real(llmir, os.environ.get("LLMIR_TEST_DATA", ""))
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
