#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""llmir batch: each request gets the answer that it gets alone, and what is wrong is answered with an error.

    batch_command.py --work DIR --llmir PROGRAM --demo DIR
"""

import json
import os
import pty
import subprocess
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


def check_logprobs(llmir, model):
    """The shapes of OpenAI's completions and of vLLM's prompt_logprobs, and the same numbers from both."""
    prompt = "In the beginning"
    plain, both, chosen, sampled, boolean = answers(llmir, model, [
        {"prompt": prompt, "max_tokens": 6}, {"prompt": prompt, "max_tokens": 6, "logprobs": 3, "prompt_logprobs": 2},
        {"prompt": prompt, "max_tokens": 6, "logprobs": 0}, {"prompt": prompt, "max_tokens": 6, "logprobs": 1, "n": 2,
                                                             "temperature": 3, "seed": 5, "prompt_logprobs": 0},
        {"prompt": prompt, "max_tokens": 6, "logprobs": True, "top_logprobs": 3}], "--temp", "0")
    check("nothing unless asked for", "logprobs" not in plain["choices"][0] and "prompt_logprobs" not in plain, plain)
    choice = both["choices"][0]
    given = choice["logprobs"]
    check("the same tokens", choice["ids"] == plain["choices"][0]["ids"], both)
    check("tokens", "".join(given["tokens"]) == choice["text"], both)
    starts = [len("".join(given["tokens"][:i])) for i in range(6)]
    check("text_offset", given["text_offset"] == starts, both)
    check("greedy", all(value == max(top.values()) and len(top) == 3 and top[token] == value for token, value, top in
                        zip(given["tokens"], given["token_logprobs"], given["top_logprobs"])), both)
    check("only the chosen one", [list(top) for top in chosen["choices"][0]["logprobs"]["top_logprobs"]]
          == [[token] for token in given["tokens"]], chosen)
    check("as in conversations", boolean["choices"][0]["logprobs"] == given, boolean)
    for choice in sampled["choices"]:
        check("a sampled token beside the best one", all(
            token in top and top[token] == value and len(top) <= 2 for token, value, top in
            zip(choice["logprobs"]["tokens"], choice["logprobs"]["token_logprobs"],
                choice["logprobs"]["top_logprobs"])), choice)
    prompts = both["prompt_logprobs"]
    check("prompt_logprobs", prompts[0] is None and len(prompts) == both["usage"]["prompt_tokens"] and all(
        2 <= len(entry) <= 3 and {1, 2} <= {value["rank"] for value in entry.values()} for entry in prompts[1:]), both)
    text = "".join(next(iter(entry.values()))["decoded_token"] for entry in sampled["prompt_logprobs"][1:])
    check("decoded_token", prompt.endswith(text) and text, sampled)
    # The continuation as part of a prompt has the same log probabilities.
    ids = [int(key) for entry in sampled["prompt_logprobs"][1:] for key in entry]
    again, = answers(llmir, model, [{"prompt": ids + plain["choices"][0]["ids"], "max_tokens": 1, "prompt_logprobs": 0}])
    later, = answers(llmir, model, [{"prompt": ids, "max_tokens": 6, "logprobs": 0, "allowed_token_ids": [token]}
                                    for token in plain["choices"][0]["ids"][:1]])
    check("the same of the prompt", list(again["prompt_logprobs"][len(ids)].values())[0]["logprob"]
          == later["choices"][0]["logprobs"]["token_logprobs"][0], (again, later))


def check_limits(llmir, model):
    prompt = "In the beginning"
    plain, words, allowed, typical, included, excluded, ended, special = answers(llmir, model, [
        {"prompt": prompt, "max_tokens": 12}, {"prompt": prompt, "max_tokens": 12, "bad_words": ["the", "of"]},
        {"prompt": prompt, "max_tokens": 6, "allowed_token_ids": [300, 301], "temperature": 1},
        {"prompt": prompt, "max_tokens": 6, "typical_p": 0.2, "temperature": 1},
        {"prompt": prompt, "max_tokens": 12, "stop": "the", "include_stop_str_in_output": True},
        {"prompt": prompt, "max_tokens": 12, "stop": "the"},
        {"prompt": prompt, "max_tokens": 12, "allowed_token_ids": [300], "bad_words": ["x"], "stop_token_ids": [300]},
        {"prompt": prompt, "max_tokens": 2, "allowed_token_ids": [0], "ignore_eos": True, "skip_special_tokens": False}],
        "--temp", "0")
    text = plain["choices"][0]["text"]
    check("the plain text has the words", " the" in text and " of" in text, plain)
    check("bad_words", " the " not in words["choices"][0]["text"] and " of " not in words["choices"][0]["text"], words)
    check("allowed_token_ids", set(allowed["choices"][0]["ids"]) <= {300, 301}, allowed)
    check("typical_p", len(typical["choices"][0]["ids"]) == 6, typical)
    check("include_stop_str_in_output", included["choices"][0]["text"] == text[:text.index("the") + 3], included)
    check("without it", excluded["choices"][0]["text"] == text[:text.index("the")], excluded)
    check("an end token is no text", ended["choices"][0]["text"] == "" and ended["choices"][0]["ids"] == [300]
          and ended["choices"][0]["finish_reason"] == "stop", ended)
    check("skip_special_tokens", special["choices"][0]["text"] != "", special)


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
    ({"prompt": "a", "logprobs": 129}, "'logprobs' is 129"), ({"prompt": "a", "logprobs": -1}, "'logprobs' is -1"),
    ({"prompt": "a", "logprobs": "3"}, "'logprobs'"), ({"prompt": "a", "prompt_logprobs": 129}, "'prompt_logprobs'"),
    ({"prompt": "a", "top_logprobs": 2}, "'top_logprobs'"), ({"prompt": "a", "typical_p": 0}, "typical-p"),
    ({"prompt": "a", "logprobs": 1, "top_logprobs": 2}, "'logprobs'"),
    ({"prompt": "a", "logprobs": False, "top_logprobs": 2}, "'top_logprobs'"),
    ({"prompt": "a", "bad_words": "x"}, "'bad_words'"), ({"prompt": "a", "bad_words": [" "]}, "not blank"),
    ({"prompt": "a", "bad_words": [3]}, "'bad_words'"), ({"prompt": "a", "bad_words": ["x"] * 1025}, "1025 elements"),
    ({"prompt": "a", "allowed_token_ids": []}, "'allowed_token_ids'"),
    ({"prompt": "a", "allowed_token_ids": [4096]}, "allowed token 4096"),
    ({"prompt": "a", "allowed_token_ids": [300], "stop_token_ids": [300], "min_tokens": 1}, "no token may follow"),
]


def check_progress(llmir, model):
    """A bar on a terminal, which is gone before anything else is written to it."""
    ours, theirs = pty.openpty()
    requests = b'{"prompt": "a", "max_tokens": 3}\n' * 3
    done = subprocess.run([llmir.program, "batch", model], input=requests, env=llmir.environment, timeout=600,
                          stdout=subprocess.PIPE, stderr=theirs)
    os.close(theirs)
    shown = b""
    try:
        while True:
            shown += os.read(ours, 4096)
    except OSError:  # The end, on Linux.
        os.close(ours)
    check("answers beside a bar", len(done.stdout.splitlines()) == 3 and done.returncode == 0, done)
    check("a bar", b"] 0 of 1+ requests" in shown, shown)
    check("a full bar", b"#] 3 of 3" in shown, shown)
    last = shown[shown.rindex(b"requests\r"):] if b"requests\r" in shown else shown
    check("its end", last.startswith(b"requests\r\x1b[Kllmir: 3 requests answered"), last)


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
    check_logprobs(llmir, model)
    check_limits(llmir, model)
    check_progress(llmir, model)
    check_refusals(llmir, model)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
