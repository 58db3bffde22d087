#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""llmir serve and llmir batch: answers match what requests ask for, whatever the model wants.

    structured.py --work DIR --llmir PROGRAM --demo DIR
"""

import json
import os
import random
import re
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference"))
from checks import Checks, Command, fresh_folder, work_parser  # noqa: E402
from json_schemas import is_valid, random_schema  # noqa: E402
from server_process import Server, compile_demo  # noqa: E402

check = Checks()
COMPLETE, CHAT, RESPOND, GENERATE = "/v1/completions", "/v1/chat/completions", "/v1/responses", "/generate"
MESSAGES = [{"role": "user", "content": "In the beginning"}]
# All tokens are about as likely: a random walk through what is allowed.
WALK = {"max_tokens": 450, "temperature": 1e5}
PERSON = {"type": "object", "properties": {"z": {"type": "string", "maxLength": 9}, "a": {"type": "integer", "minimum": 0,
                                                                                          "maximum": 120}},
          "required": ["z", "a"], "additionalProperties": False}
PETS = {"$defs": {"cat": {"properties": {"kind": {"const": "cat"}}, "required": ["kind"]},
                  "dog": {"properties": {"kind": {"enum": ["dog", "wolf"]}, "age": {"type": "integer", "maximum": 30}},
                          "required": ["kind"]}},
        "type": "object", "oneOf": [{"$ref": "#/$defs/cat"}, {"$ref": "#/$defs/dog"}]}
TOOLS = [{"type": "function", "function": {"name": "weather", "parameters": {
    "type": "object", "properties": {"city": {"enum": ["K\u00f6ln", "Rome"]}, "days": {"type": "integer", "minimum": 1,
                                                                                       "maximum": 9}},
    "required": ["city", "days"]}}}, {"type": "function", "function": {"name": "now"}}]


def complete(**more):
    return dict({"prompt": "a"}, **dict(WALK, **more))


def chat(**more):
    return dict({"messages": MESSAGES}, **dict(WALK, **more))


def text_of(answer):
    choice = answer["choices"][0]
    return choice["text"] if "text" in choice else choice["message"]["content"]


def check_fields(server):
    """Each name of each API."""
    wanted = {"type": "json_schema", "json_schema": {"name": "person", "schema": PERSON, "strict": True}}
    telephone = r"\([0-9]{3}\) [0-9]{3}-[0-9]{4}"
    grammar = "root ::= \"<\" [a-c]{3} \">\""

    def is_person(text):
        value = json.loads(text)
        return is_valid(PERSON, value) and list(value) == ["z", "a"]

    def is_number(text):
        return re.fullmatch(telephone, text) is not None

    def is_word(text):
        return re.fullmatch("<[a-c]{3}>", text) is not None

    def is_choice(text):
        return text in ("yes", "no", "maybe so")

    def is_pet(text):
        return is_valid(PETS, json.loads(text))

    choices = ["yes", "no", "maybe so"]
    for fields, matches in (({"response_format": wanted}, is_person),
                            ({"structured_outputs": {"json": PERSON}}, is_person),
                            ({"structured_outputs": {"json": json.dumps(PERSON), "disable_any_whitespace": True}},
                             lambda text: is_person(text) and "\": " not in text and "\n" not in text),
                            ({"guided_json": PETS}, is_pet), ({"guided_json": PERSON}, is_person), ({"json_schema": PERSON}, is_person),
                            ({"response_format": {"type": "json_object", "schema": PERSON}}, is_person),
                            ({"structured_outputs": {"regex": telephone, "json": None}}, is_number),
                            ({"guided_regex": telephone}, is_number),
                            ({"structured_outputs": {"choice": choices}}, is_choice),
                            ({"guided_choice": choices}, is_choice),
                            ({"structured_outputs": {"grammar": grammar}}, is_word),
                            ({"guided_grammar": grammar}, is_word), ({"grammar": grammar}, is_word)):
        for path, body in ((COMPLETE, complete(**fields)), (CHAT, chat(**fields))):
            status, answer = server.post(path, body)
            text = text_of(answer) if status == 200 else ""
            check("%s %.70s" % (path, fields), status == 200 and answer["choices"][0]["finish_reason"] == "stop"
                  and matches(text), answer)
    status, answer = server.post(RESPOND, {"input": "a", "max_output_tokens": 400, "temperature": 100, "text": {
        "format": {"type": "json_schema", "name": "person", "schema": PERSON}}})
    check("text.format", status == 200 and is_person(answer["output"][0]["content"][0]["text"])
          and answer["text"]["format"]["name"] == "person", answer)
    status, answer = server.post(GENERATE, {"text": "a", "sampling_params": {"regex": telephone, "temperature": 100}})
    check("/generate", status == 200 and is_number(answer["text"]), answer)
    status, answer = server.post(GENERATE, {"text": "a", "sampling_params": {
        "json_schema": json.dumps(PERSON), "temperature": 100, "max_new_tokens": 300}})
    check("/generate with a schema", status == 200 and is_person(answer["text"]), answer)
    status, answer = server.post(COMPLETE, complete(response_format={"type": "text"}, max_tokens=5))
    check("no constraint", status == 200, answer)
    status, answer = server.post(COMPLETE, complete(response_format={"type": "json_object"}, max_tokens=30))
    check("an object", status == 200 and text_of(answer).startswith("{"), answer)
    body = complete(guided_regex="[a-z]{20,30}", stop="q", seed=4)
    status, answer = server.post(COMPLETE, body)
    check("with a stop", status == 200 and "q" not in text_of(answer) and answer["choices"][0]["finish_reason"] == "stop",
          answer)


def check_random_schemas(server):
    generator = random.Random(5)
    ended = 0
    for number in range(60):
        schema = random_schema(generator)
        status, answer = server.post(COMPLETE, complete(guided_json=schema, seed=number, n=2))
        check("accepts %.200s" % json.dumps(schema), status == 200, answer)
        for choice in answer.get("choices", []):
            if choice["finish_reason"] != "stop":
                continue
            ended += 1
            try:
                valid = is_valid(schema, json.loads(choice["text"]))
            except ValueError:
                valid = False
            check("an answer is valid", valid, (schema, choice["text"]))
    check("most answers end", ended > 90, ended)


def check_independence(server):
    """The same text alone, as a stream, and with others."""
    body = complete(guided_json=PERSON, seed=9, n=2)
    alone = [choice["text"] for choice in server.post(COMPLETE, body)[1]["choices"]]
    texts = ["", ""]
    for _, event in server.stream(COMPLETE, dict(body, stream=True))[:-1]:
        texts[event["choices"][0]["index"]] += event["choices"][0]["text"]
    check("as a stream", texts == alone and len(set(alone)) == 2, (texts, alone))
    results = [None] * 8

    def post(number):
        mine = body if number % 2 == 0 else complete(guided_regex="[0-9]{5}|x*", seed=number)
        results[number] = [choice["text"] for choice in server.post(COMPLETE, mine)[1]["choices"]]

    threads = [threading.Thread(target=post, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check("with others", all(results[number] == alone for number in (0, 2, 4, 6)), (results, alone))


def check_calls(server):
    def calls_of(**more):
        status, answer = server.post(CHAT, chat(tools=TOOLS, **more))
        if status != 200:
            return answer
        choice = answer["choices"][0]
        check("finish of %s" % more, choice["finish_reason"] in ("tool_calls", "length"), choice)
        return choice["message"].get("tool_calls", [])

    def is_call(call):
        arguments = json.loads(call["function"]["arguments"])
        name = call["function"]["name"]
        return name == "now" and arguments == {} or name == "weather" and is_valid(
            TOOLS[0]["function"]["parameters"], arguments)

    for seed in range(4):
        calls = calls_of(tool_choice="required", seed=seed)
        check("required", calls and all(is_call(call) for call in calls[:-1]) and calls[0]["id"], calls)
        calls = calls_of(tool_choice="required", parallel_tool_calls=False, seed=seed)
        check("one call", len(calls) == 1 and is_call(calls[0]), calls)
        calls = calls_of(tool_choice={"type": "function", "function": {"name": "weather"}}, seed=seed)
        check("a named tool", len(calls) == 1 and is_call(calls[0]) and calls[0]["function"]["name"] == "weather", calls)
    tools = [dict(tool["function"], type="function") for tool in TOOLS]
    status, answer = server.post(RESPOND, {"input": "a", "temperature": 100, "tools": tools, "max_output_tokens": 400,
                                           "tool_choice": {"type": "function", "name": "now"}})
    check("/v1/responses", status == 200 and [item["type"] for item in answer["output"]] == ["function_call"]
          and answer["output"][0]["arguments"] in ("{}", "{ }", "{\n}") or "{" in answer["output"][0]["arguments"], answer)
    events = server.stream(CHAT, chat(tools=TOOLS, tool_choice={"type": "function", "function": {"name": "weather"}},
                                      stream=True, seed=3))
    arguments = "".join(call["function"].get("arguments", "") for _, event in events[:-1]
                        for call in event["choices"][0]["delta"].get("tool_calls", []))
    check("as a stream", is_valid(TOOLS[0]["function"]["parameters"], json.loads(arguments)), events)
    status, answer = server.post(CHAT, chat(tools=TOOLS, response_format={"type": "json_object", "schema": PERSON}, seed=1))
    message = answer["choices"][0]["message"] if status == 200 else {}
    check("content or calls", message.get("tool_calls") or is_valid(PERSON, json.loads(message["content"])), answer)


NESTED = {"type": "object"}
for _ in range(25):
    NESTED = {"items": NESTED}

# Fields, words of the message.
WRONG = [
    ({"response_format": {"type": "grammar"}}, "'response_format'"), ({"response_format": "json"}, "'response_format'"),
    ({"response_format": {"type": "json_schema"}}, "has no schema"),
    ({"response_format": {"type": "json_schema", "json_schema": {"schema": {}, "x": 1}}}, "'x'"),
    ({"guided_json": "{"}, "'guided_json'"), ({"guided_json": 3}, "no schema"),
    ({"guided_json": {"properties": {"a": {"not": {}}}}}, "#/properties/a: 'not' is not supported"),
    ({"guided_json": {"oneOf": [{"type": "integer"}, {"type": "number"}]}}, "'oneOf' has alternatives 0 and 1"),
    ({"guided_json": {"type": "object", "propertyNames": {"type": 5}}}, "'propertyNames'"),
    ({"guided_json": {"type": "integer", "minimum": 10 ** 18}}, "more than 18 digits"),
    ({"guided_json": {"$ref": "#/$defs/a"}}, "does not exist"), ({"guided_json": {"$ref": "#"}}, "no text"),
    ({"guided_json": {"anyOf": [{"$ref": "#"}, {"const": 1}]}}, "refers to itself"),
    ({"guided_json": {"enum": [str(number * 7919) for number in range(30000)]}}, "states"),
    ({"guided_json": {"properties": {str(number): {} for number in range(11000)}}}, "10000 parts"),
    ({"guided_json": {"enum": list(range(150000))}}, "100000 values"),
    ({"guided_json": {"type": "string", "maxLength": 10 ** 9}}, "states"),
    ({"guided_json": {"type": "string", "pattern": "(?=a)b"}}, "lookahead"),
    ({"guided_regex": "(a"}, "'guided_regex'"), ({"guided_regex": 3}, "'guided_regex'"),
    ({"guided_regex": "(a)\\1"}, "references to groups"), ({"guided_regex": "a{1000}{1000}"}, "repetition of a repetition"),
    ({"guided_regex": "a{99999}"}, "states"), ({"guided_regex": "(" * 1000}, "within each other"),
    ({"guided_regex": "((a{0,200}){0,200}){0,200}"}, "too many ways"),
    ({"guided_choice": []}, "'guided_choice'"), ({"guided_choice": ["a", ""]}, "'guided_choice'"),
    ({"guided_choice": ["x" * 40000]}, "states"),
    ({"grammar": "root ::= root \"a\" | \"b\""}, "the rule 'root' refers to itself"),
    ({"grammar": "start: \"a\""}, "line 1"), ({"grammar": "root ::= " + "(" * 5000}, "parentheses"),
    ({"structured_outputs": {}}, "says nothing"), ({"structured_outputs": {"structural_tag": "x"}}, "structural_tag"),
    ({"structured_outputs": {"regex": "a", "choice": ["b"]}}, "stands beside"),
    ({"guided_regex": "a", "guided_choice": ["b"]}, "'guided_choice' stands beside 'guided_regex'"),
]
WRONG_CALLS = [
    ({"tool_choice": "required"}, "there are no tools"), ({"tool_choice": "any", "tools": TOOLS}, "'tool_choice'"),
    ({"tool_choice": {"type": "function", "function": {"name": "x"}}, "tools": TOOLS}, "none of the tools"),
    ({"tool_choice": "required", "tools": [{"type": "function", "function": {"name": "a\"b"}}]}, "no name"),
    ({"tool_choice": "required", "tools": [{"type": "function", "function": {
        "name": "f", "parameters": {"properties": {"a": {"if": {}}}}}}]}, "tools[0]"),
    ({"parallel_tool_calls": False, "tools": TOOLS}, "'parallel_tool_calls'"),
]


def check_refusals(server):
    for path, make, cases in ((COMPLETE, complete, WRONG), (CHAT, chat, WRONG), (CHAT, chat, WRONG_CALLS)):
        for fields, words in cases:
            start = time.time()
            status, answer = server.post(path, make(**fields))
            message = answer.get("error", {}).get("message", "")
            check("%s refuses %.70s" % (path, fields), status == 400 and words in message and time.time() - start < 20,
                  (status, message))
    status, answer = server.post(COMPLETE, complete(guided_json=NESTED, max_tokens=5))
    check("nested schemas", status == 200, answer)
    # Whatever is ambiguous, others are answered.
    for pattern in ("(a*)*b", "(a|aa)+b", "(a?){40}a{40}b", "(.*)*x"):
        status, answer = server.post(COMPLETE, complete(guided_regex=pattern, max_tokens=60))
        check("answers %s" % pattern, status == 200 or "too many ways" in answer["error"]["message"], answer)
    check("the server goes on", server.is_idle())


def check_batch(llmir, model):
    lines = [{"prompt": "a", "guided_choice": ["yes", "no"]},
             {"prompt": "a", "max_tokens": 200, "temperature": 100, "response_format": {
                 "type": "json_schema", "json_schema": {"name": "x", "schema": PERSON}}},
             {"prompt": "a", "guided_regex": "(a"}]
    answers = [json.loads(line) for line in llmir(
        "batch", model, stdin="\n".join(map(json.dumps, lines)).encode("utf-8")).splitlines()]
    answers.sort(key=lambda answer: answer["line"])
    check("batch: a choice", answers[0]["choices"][0]["text"] in ("yes", "no")
          and answers[0]["choices"][0]["finish_reason"] == "stop", answers[0])
    check("batch: a schema", is_valid(PERSON, json.loads(answers[1]["choices"][0]["text"])), answers[1])
    check("batch: refuses", "'guided_regex'" in answers[2]["error"]["message"], answers[2])


def main():
    options = work_parser(__doc__, "llmir", "demo").parse_args()
    fresh_folder(options.work)
    llmir = Command(options.llmir, cache=os.path.join(options.work, "cache"))
    model, template = compile_demo(llmir, options)
    with Server(llmir, model, "--template", template, "--tool-call-parser", "hermes") as server:
        check_fields(server)
        check_random_schemas(server)
        check_independence(server)
        check_calls(server)
        check_refusals(server)
    with Server(llmir, model, "--template", template, "--tool-call-parser", "pythonic") as server:
        status, answer = server.post(CHAT, chat(tools=TOOLS, tool_choice="required"))
        check("a format that cannot be forced", status == 400 and "'pythonic'" in answer["error"]["message"], answer)
    check_batch(llmir, model)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
