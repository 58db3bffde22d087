#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""llmir batch: each request gets the answer that it gets alone, and what is wrong is answered with an error.

    batch_command.py --work DIR --llmir PROGRAM --demo DIR
"""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference"))
from checks import Checks, Command, fresh_folder, quick_level, work_parser  # noqa: E402

check = Checks()
TEMPLATE = "{{ bos_token }}{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}{{ extra }}"


def answers(llmir, model, requests, *flags):
    """The answers in the order of the requests, which are objects or raw lines."""
    text = "".join((request if isinstance(request, str) else json.dumps(request)) + "\n" for request in requests)
    lines = [json.loads(line) for line in
             llmir("batch", model, *flags, stdin=text.encode("utf-8")).splitlines()]
    return sorted(lines, key=lambda line: line["line"])


def check_against_run(llmir, model):
    """Prompts with a common beginning, greedy and sampled, beside `llmir run`."""
    common = "In the beginning God created the heaven and the earth. " * 12
    prompts = ["In the beginning", common + "And the earth was without form", common + "And the earth was void",
               "And it came to pass"]
    requests = [{"prompt": prompts[i % 4], "max_tokens": 6 + 5 * (i % 7), "temperature": (0, 0.9)[i % 2], "seed": i,
                 "top_k": (0, 40)[i % 3 == 0], "top_p": 1, "min_p": 0,
                 "custom_id": {"number": i}} for i in range(24)]
    given = answers(llmir, model, requests)
    again = answers(llmir, model, requests, "-t", "1", "--ctx", "240")
    check("an answer for each request", [a["line"] for a in given] == list(range(1, 25)), given)
    check("custom_id", [a["custom_id"] for a in given] == [r["custom_id"] for r in requests])
    check("the same in other company", [a["choices"] for a in again] == [a["choices"] for a in given])
    check("a prefix is found", any(a["usage"]["prompt_tokens_details"]["cached_tokens"] for a in given))
    for request, answer in list(zip(requests, given))[:8]:
        alone = json.loads(llmir("run", model, request["prompt"], "-n", str(request["max_tokens"]), "--temp",
                                 str(request["temperature"]), "--top-k", str(request["top_k"]), "--top-p", "1",
                                 "--min-p", "0", "--seed", str(request["seed"]), "--json"))
        choice = answer["choices"][0]
        check("as run: %s" % request, all(choice[key] == alone[key] for key in ("ids", "text", "finish_reason")),
              (choice, alone))
        check("usage", answer["usage"]["prompt_tokens"] == len(alone["prompt_ids"])
              and answer["usage"]["completion_tokens"] == len(choice["ids"]), answer)


def check_forms(llmir, model, work):
    plain, stopped, forked, ids, banned, biased, halted = answers(llmir, model, [
        {"prompt": "In the beginning", "max_tokens": 20},
        {"prompt": "In the beginning", "max_tokens": 20, "stop": ["nothing", "the"]},
        {"prompt": "In the beginning", "max_completion_tokens": 8, "n": 3, "temperature": 1.5, "seed": 2},
        {"prompt": [1, 2, 3], "max_tokens": 2},
        {"prompt": "In the beginning", "max_tokens": 3, "logit_bias": {"300": -100}},
        {"prompt": "In the beginning", "max_tokens": 3, "logit_bias": {"300": 100}},
        {"prompt": "In the beginning", "max_tokens": 200, "n": 3, "temperature": 1.5, "seed": 2, "stop": " "}],
        "--temp", "0")
    text = plain["choices"][0]["text"]
    check("length", plain["choices"][0]["finish_reason"] == "length" and "the" in text, plain)
    check("stop", stopped["choices"][0]["text"] == text[:text.index("the")]
          and stopped["choices"][0]["finish_reason"] == "stop", stopped)
    texts = [choice["text"] for choice in forked["choices"]]
    check("n", [choice["index"] for choice in forked["choices"]] == [0, 1, 2] and len(set(texts)) == 3, forked)
    check("n tokens", forked["usage"]["completion_tokens"] == 24, forked)
    check("ids", ids["usage"]["prompt_tokens"] == 3 and len(ids["choices"][0]["ids"]) == 2, ids)
    check("no bias", 300 not in banned["choices"][0]["ids"], banned)
    check("bias", biased["choices"][0]["ids"] == [300] * 3, biased)
    check("n with a stop", all(choice["finish_reason"] == "stop" and " " not in choice["text"]
                               for choice in halted["choices"]) and halted["usage"]["completion_tokens"] ==
          sum(len(choice["ids"]) for choice in halted["choices"]), halted)
    template = os.path.join(work, "template.jinja")
    with open(template, "w") as stream:
        stream.write(TEMPLATE)
    messages = [{"role": "user", "content": "Hello"}]
    chat, same = answers(llmir, model, [
        {"messages": messages, "max_tokens": 5, "chat_template_kwargs": {"extra": "assistant:"}},
        {"prompt": "user: Hello\nassistant:", "max_tokens": 5}], "--template", template, "--temp", "0")
    check("messages", chat["choices"] == same["choices"], (chat, same))
    empty = llmir("batch", model, stdin=b"\n  \n")
    check("no requests", empty == "", empty)


REFUSED = [
    ("not json", "line 1: parse error"), ("[1]", "expected an object"), ({}, "neither 'prompt' nor 'messages'"),
    ({"prompt": "a", "messages": []}, "both 'prompt' and 'messages'"), ({"prompt": 3}, "'prompt'"),
    ({"prompt": [1.5]}, "not a token id"), ({"prompt": [-1]}, "not a token id"),
    ({"prompt": [4096]}, "not in the vocabulary"), ({"prompt": []}, "no tokens"),
    ({"prompt": "a", "max_tokens": 0}, "'max_tokens'"), ({"prompt": "a", "max_tokens": "3"}, "'max_tokens'"),
    ({"prompt": "a", "max_tokens": 3, "min_tokens": 4}, "minTokens is 4"), ({"prompt": "a", "n": 0}, "'n'"),
    ({"prompt": "a", "n": 100000}, "'n'"), ({"prompt": "a", "stop": ""}, "'stop'"),
    ({"prompt": "a", "stop": [1]}, "'stop'"), ({"prompt": "a", "stop_token_ids": [None]}, "not a token id"),
    ({"prompt": "a", "temperature": -1}, "temperature"), ({"prompt": "a", "top_p": 2}, "top-p"),
    ({"prompt": "a", "top_k": -2}, "'top_k'"), ({"prompt": "a", "seed": 1.5}, "'seed'"),
    ({"prompt": "a", "logit_bias": []}, "'logit_bias'"), ({"prompt": "a", "logit_bias": {"x": 1}}, "'logit_bias'"),
    ({"prompt": "a", "logit_bias": {"1": 101}}, "logit bias"), ({"prompt": "a", "frequency_penalty": 3}, "penalty"),
    ({"prompt": "a", "repetition_penalty": 0}, "penalty"), ({"prompt": "a", "ignore_eos": 1}, "'ignore_eos'"),
    ({"prompt": "a", "best_of": 2}, "'best_of'"), ({"messages": 1}, "'messages' is not an array"),
    ({"prompt": "word " * 3000}, "the context is"),
    ({"prompt": "a", "stop": ["x"] * 65}, "65 elements"), ({"prompt": "a", "stop_token_ids": [4096]}, "stop token 4096"),
    ({"messages": [], "chat_template_kwargs": 1}, "'chat_template_kwargs'"),
]


def check_refusals(llmir, model):
    given = answers(llmir, model, [request for request, _ in REFUSED] + [{"prompt": "a", "max_tokens": 2}])
    check("a request after those that were refused", len(given[-1]["choices"][0]["ids"]) == 2, given[-1])
    for (request, words), answer in zip(REFUSED, given):
        error = answer.get("error", {})
        check("refuses %.60s" % request, words in error.get("message", "") and "code" in error, answer)


def main():
    options = work_parser(__doc__, "llmir", "demo").parse_args()
    fresh_folder(options.work)
    llmir = Command(options.llmir, cache=os.path.join(options.work, "cache"))
    model = os.path.join(options.work, "demo.llmir")
    llmir("compile", options.demo, "-o", model, "--target", quick_level())
    check_against_run(llmir, model)
    check_forms(llmir, model, options.work)
    check_refusals(llmir, model)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
