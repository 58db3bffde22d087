#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""llmir serve: what is wrong is refused, with the right status, code and message, and the server goes on.

    refusals.py --work DIR --llmir PROGRAM --demo DIR
"""

import json
import os
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference"))
from checks import Checks, Command, fresh_folder, work_parser  # noqa: E402
from server_process import Server, compile_demo  # noqa: E402

check = Checks()
COMPLETE, CHAT, RESPOND = "/v1/completions", "/v1/chat/completions", "/v1/responses"
GENERATE, TOKENIZE, DETOKENIZE = "/generate", "/tokenize", "/detokenize"
MESSAGES = [{"role": "user", "content": "a"}]


def complete(**more):
    return dict({"prompt": "a", "max_tokens": 1}, **more)


def chat(**more):
    return dict({"messages": MESSAGES, "max_tokens": 1}, **more)


# The most likely wrong requests: path, body (an object or bytes), status, code, words of the message.
WRONG = [
    (COMPLETE, b"", 400, "invalid_json", "parse error"),
    (COMPLETE, b"{\"prompt\": \"a\"", 400, "invalid_json", "parse error"),
    (COMPLETE, b"prompt=a", 400, "invalid_json", "parse error"),
    (COMPLETE, b"[]", 400, "invalid_json", "expected an object"),
    (COMPLETE, b"{\"prompt\": \"\xff\"}", 400, "invalid_json", "UTF-8"),
    (COMPLETE, b"{\"prompt\": \"a\", \"prompt\": \"b\"}", 400, "invalid_json", "prompt"),
    (COMPLETE, b"[" * 100 + b"]" * 100, 400, "invalid_json", "nesting is deeper"),
    (COMPLETE, b"{\"a\":" * 70 + b"1" + b"}" * 70, 400, "invalid_json", "nesting is deeper"),
    (COMPLETE, {}, 400, "invalid_request", "'prompt'"),
    (COMPLETE, complete(prompt=None), 400, "invalid_request", "'prompt'"),
    (COMPLETE, complete(prompt=3), 400, "invalid_request", "'prompt'"),
    (COMPLETE, complete(prompt=[]), 400, "invalid_request", "no tokens"),
    (COMPLETE, complete(prompt=["a", 3]), 400, "invalid_request", "'prompt'"),
    (COMPLETE, complete(prompt=[1.5]), 400, "invalid_request", "not a token id"),
    (COMPLETE, complete(prompt=[4096]), 400, "invalid_request", "not in the vocabulary"),
    (COMPLETE, complete(prompt="word " * 1000), 400, "context_length_exceeded", "the context is 512"),
    # Refused before it is encoded.
    (COMPLETE, complete(prompt="word " * 3000), 400, "context_length_exceeded", "15000 bytes"),
    (COMPLETE, complete(prompt=["a"] * 129), 400, "out_of_range", "129 continuations"),
    (COMPLETE, complete(model="gpt-4"), 404, "model_not_found", "gpt-4"),
    (COMPLETE, complete(model=3), 400, "invalid_request", "'model'"),
    (COMPLETE, complete(max_tokens=0), 400, "invalid_request", "'max_tokens'"),
    (COMPLETE, complete(max_tokens=-1), 400, "invalid_request", "'max_tokens'"),
    (COMPLETE, complete(max_tokens="5"), 400, "invalid_request", "'max_tokens'"),
    (COMPLETE, complete(max_tokens=1e30), 400, "invalid_request", "'max_tokens'"),
    (COMPLETE, complete(n=0), 400, "invalid_request", "'n'"),
    (COMPLETE, complete(n=129), 400, "invalid_request", "'n'"),
    (COMPLETE, complete(n=2 ** 63), 400, "invalid_request", "'n'"),
    (COMPLETE, complete(best_of=3), 400, "invalid_request", "'best_of'"),
    (COMPLETE, complete(echo="yes"), 400, "invalid_request", "'echo'"),
    (COMPLETE, complete(echo=True, stream=True), 400, "invalid_request", "'echo'"),
    (COMPLETE, complete(echo=True, prompt_logprobs=1), 400, "invalid_request", "'prompt_logprobs'"),
    (COMPLETE, complete(echo=True, prompt=[5, 4096]), 400, "invalid_request", "4096"),
    (COMPLETE, complete(echo=True, max_tokens=0, min_tokens=1), 400, "invalid_request", "minTokens"),
    (COMPLETE, complete(prompt=[[5] * 400] * 2, echo=True, logprobs=20, max_tokens=0, n=64), 400, "out_of_range", "log probabilities"),
    (COMPLETE, complete(max_completion_tokens=0), 400, "invalid_request", "'max_tokens'"),
    (CHAT, chat(echo=True), 400, "invalid_request", "'echo'"),
    (COMPLETE, complete(suffix="b"), 400, "invalid_request", "'suffix'"),
    (COMPLETE, complete(temperature=-1), 400, "invalid_request", "temperature"),
    (COMPLETE, complete(temperature="hot"), 400, "invalid_request", "'temperature'"),
    (COMPLETE, b"{\"prompt\": \"a\", \"temperature\": 1e999}", 400, "invalid_json", "overflow"),
    (COMPLETE, complete(top_p=-0.5), 400, "invalid_request", "top-p"),
    (COMPLETE, complete(top_p=1.5), 400, "invalid_request", "top-p"),
    (COMPLETE, complete(top_k=-2), 400, "invalid_request", "'top_k'"),
    (COMPLETE, complete(seed="x"), 400, "invalid_request", "'seed'"),
    (COMPLETE, complete(stop=[""]), 400, "invalid_request", "'stop'"),
    (COMPLETE, complete(stop=["x"] * 65), 400, "out_of_range", "65 elements"),
    (COMPLETE, complete(logit_bias={"a": 1}), 400, "invalid_request", "'logit_bias'"),
    (COMPLETE, complete(stop=["x" * 5000]), 400, "out_of_range", "bytes altogether"),
    (COMPLETE, complete(bad_words=["x" * 20000]), 400, "out_of_range", "bytes altogether"),
    (COMPLETE, complete(logprobs=21), 400, "invalid_request", "'logprobs'"),
    (COMPLETE, complete(prompt=["a"] * 128, max_tokens=500, logprobs=20), 400, "out_of_range", "log probabilities"),
    (COMPLETE, complete(allowed_token_ids=[4096]), 400, "invalid_request", "not in the vocabulary"),
    (COMPLETE, complete(allowed_token_ids=[5], stop_token_ids=[5], min_tokens=1), 400, "invalid_request",
     "no token may follow"),
    (COMPLETE, complete(priority=-1), 400, "invalid_request", "'priority'"),
    (COMPLETE, complete(cache_salt=""), 400, "invalid_request", "'cache_salt'"),
    (COMPLETE, complete(stream=True, stream_options={"continuous_usage_stats": True}), 400, "invalid_request",
     "continuous_usage_stats"),
    (COMPLETE, complete(return_tokens_as_token_ids=True), 400, "invalid_request", "'return_tokens_as_token_ids'"),
    (COMPLETE, complete(stream="yes"), 400, "invalid_request", "'stream'"),
    (COMPLETE, complete(stream_options={"include_usage": True}), 400, "invalid_request", "'stream_options'"),
    (COMPLETE, complete(guided_json=1), 400, "invalid_request", "'guided_json'"),
    (COMPLETE, complete(temprature=1), 400, "invalid_request", "'temprature'"),
    (COMPLETE, complete(prompt_embeds="AAAA"), 400, "invalid_request", "'prompt_embeds'"),
    (CHAT, {}, 400, "invalid_request", "'messages' is not an array"),
    (CHAT, chat(messages="a"), 400, "invalid_request", "'messages' is not an array"),
    (CHAT, chat(messages=["a"]), 400, "invalid_request", "'role'"),
    (CHAT, chat(messages=[{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://x"}}]}]),
     400, "invalid_request", "only texts"),
    (CHAT, chat(response_format={"type": "grammar"}), 400, "invalid_request", "'response_format'"),
    (CHAT, chat(tools={}), 400, "invalid_request", "'tools'"),
    (CHAT, chat(tools=[{"type": "function", "function": {"name": "f"}}], tool_choice="required"), 400,
     "unsupported", "'tool_choice'"),
    (CHAT, chat(tool_choice="required"), 400, "invalid_request", "there are no tools"),
    (CHAT, chat(chat_template="{{ 1 }}"), 400, "invalid_request", "'chat_template'"),
    (CHAT, chat(chat_template_kwargs=[]), 400, "invalid_request", "'chat_template_kwargs'"),
    (CHAT, chat(top_logprobs=3), 400, "invalid_request", "'top_logprobs'"),
    (CHAT, chat(parallel_tool_calls=False, tools=[{"type": "function", "function": {"name": "f"}}]), 400,
     "invalid_request", "'parallel_tool_calls'"),
    (CHAT, chat(modalities=["audio"]), 400, "invalid_request", "'modalities'"),
    (CHAT, chat(functions=[]), 400, "invalid_request", "'functions'"),
    (CHAT, chat(messages=[{"role": "user", "content": "word " * 1000}]), 400, "context_length_exceeded",
     "the context is 512"),
    (RESPOND, {}, 400, "invalid_request", "'input'"),
    (RESPOND, {"input": [{"type": "input_file"}]}, 400, "invalid_request", "'input'"),
    (RESPOND, {"input": "a", "previous_response_id": "resp_1"}, 400, "invalid_request", "'previous_response_id'"),
    (RESPOND, {"input": "a", "background": True}, 400, "invalid_request", "'background'"),
    (RESPOND, {"input": "a", "tools": [{"type": "web_search"}]}, 400, "invalid_request", "'tools'"),
    (GENERATE, {}, 400, "invalid_request", "'text'"),
    (GENERATE, {"text": "a", "input_ids": [1]}, 400, "invalid_request", "'input_ids'"),
    (GENERATE, {"text": "a", "sampling_params": 1}, 400, "invalid_request", "'sampling_params'"),
    (GENERATE, {"text": "a", "sampling_params": {"regex": "("}}, 400, "invalid_request", "regular expression"),
    (GENERATE, {"text": "a", "lora_path": "x"}, 400, "invalid_request", "'lora_path'"),
    (TOKENIZE, {}, 400, "invalid_request", "'prompt'"),
    (TOKENIZE, {"prompt": 3}, 400, "invalid_request", "'prompt'"),
    (DETOKENIZE, {"tokens": [-1]}, 400, "invalid_request", "not a token id"),
    (DETOKENIZE, {"tokens": [999999]}, 400, "out_of_range", "999999"),
    ("/v1/embeddings", {"input": "a"}, 400, "wrong_kind_of_model", "no embeddings"),
    ("/v1/engines", {}, 404, "not_found", "no such path"),
]

ROUTES = [("GET", path) for path in ("/health", "/ping", "/version", "/metrics", "/engine", "/v1/models")] + [
    ("POST", path) for path in (COMPLETE, CHAT, RESPOND, "/v1/embeddings", GENERATE, TOKENIZE, DETOKENIZE,
                                "/apply-template")]
WITHOUT_KEY = ("/health", "/")


def check_wrong_requests(server):
    for path, body, status, code, words in WRONG:
        given, heads, data = server.request("POST", path, body)
        error = json.loads(data.decode("utf-8")).get("error", {})
        check("refuses %s %.70s" % (path, body), given == status and error.get("code") == code
              and words in error.get("message", "") and "type" in error and "param" in error
              and heads["Content-Type"] == "application/json", (given, data[:300]))
    status, answer = server.post(COMPLETE, complete(user="me", best_of=1, echo=False, response_format={"type": "text"},
                                                    metadata={"a": 1}, stop=None))
    check("what means nothing is accepted", status == 200, answer)


def check_keys(llmir, model):
    keys = ["secret-one", "secret-two"]
    paths = sorted({path for _, path in ROUTES} | {"/", "/v1/nothing", "/../health", "//health", "/health/"})
    with Server(llmir, model, "--api-key", keys[0], "--api-key", keys[1]) as server:
        headers = [None, {"Authorization": ""}, {"Authorization": "Bearer "}, {"Authorization": "Bearer wrong"},
                   {"Authorization": "Bearer secret-on"}, {"Authorization": "Bearer secret-one1"},
                   {"Authorization": "Basic secret-one"}, {"Authorization": "secret-one"},
                   {"Authorization": "Bearer secret-one secret-two"}, {"X-Api-Key": "secret-one"},
                   {"Authorization": "Bearer \xff"}]
        for path in paths:
            for method in ("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"):
                for header in headers if method in ("GET", "POST") else headers[:1]:
                    status, _, data = server.request(method, path, b"{}" if method == "POST" else None, header)
                    known = method in ("GET", "HEAD") and path in WITHOUT_KEY
                    check("%s %s with %s" % (method, path, header), status == 401 or known and status in (200, 404),
                          (status, data[:200]))
        for key in keys:
            for method, path in ROUTES:
                status = server.request(method, path, b"{}" if method == "POST" else None,
                                        {"Authorization": "Bearer " + key})[0]
                check("%s %s with a key" % (method, path), status in (200, 400) and (method == "POST" or status == 200),
                      status)
        check("keys are not in the log", not any(key in server.log() for key in keys), server.log()[-500:])
    with Server(llmir, model) as server:
        for path in paths:
            for method in ("GET", "POST", "PUT", "DELETE"):
                status = server.request(method, path, b"{}")[0]
                wanted = {200, 400} if (method, path) in ROUTES else {405} if path in dict(
                    (p, m) for m, p in ROUTES) or path == "/" else {404}
                check("%s %s" % (method, path), status in wanted or (method, path) == ("GET", "/"), status)


def raw(server, text, wait=5):
    """What the server answers to bytes, until it closes or nothing comes."""
    with server.socket(timeout=wait) as connection:
        try:
            connection.sendall(text)
        except OSError:
            pass
        data = b""
        try:
            while True:
                part = connection.recv(65536)
                if not part:
                    break
                data += part
        except (socket.timeout, OSError):
            pass
        return data


def post_text(path, body, *headers):
    lines = ["POST %s HTTP/1.1" % path, "Host: a"] + list(headers)
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def check_hostile_http(server):
    end = ["Connection: close"]
    cases = [
        ("not HTTP", b"\x16\x03\x01\x02\x00hello\r\n\r\n", b" 400 "),
        ("no version", b"GET /health\r\n\r\n", b" 400 "),
        ("a control character", b"GET /he\x01alth HTTP/1.1\r\n\r\n", b" 400 "),
        ("a header without a colon", b"GET /health HTTP/1.1\r\nHost a\r\n\r\n", b" 400 "),
        ("large headers", b"GET /health HTTP/1.1\r\nX: " + b"a" * 20000 + b"\r\n\r\n", b" 431 "),
        ("many headers", b"GET /health HTTP/1.1\r\n" + b"X: a\r\n" * 5000 + b"\r\n", b" 431 "),
        ("a long path", b"GET /" + b"a" * 20000 + b" HTTP/1.1\r\n\r\n", b" 4"),
        ("a length that is no number", post_text(COMPLETE, b"{}", "Content-Length: x"), b" 400 "),
        ("a negative length", post_text(COMPLETE, b"{}", "Content-Length: -1"), b" 400 "),
        ("two lengths", post_text(COMPLETE, b"{}", "Content-Length: 2", "Content-Length: 3"), b" 400 "),
        ("a huge length", post_text(COMPLETE, b"{}", "Content-Length: 99999999999"), b" 413 "),
        ("a length over 64 bits", post_text(COMPLETE, b"{}", "Content-Length: 99999999999999999999999"), b" 400 "),
        ("a length and chunks", post_text(COMPLETE, b"0\r\n\r\n", "Content-Length: 5", "Transfer-Encoding: chunked"),
         b" 400 "),
        ("a bad chunk", post_text(COMPLETE, b"zz\r\n", "Transfer-Encoding: chunked"), b" 400 "),
        ("a huge chunk", post_text(COMPLETE, b"ffffffff\r\n", "Transfer-Encoding: chunked"), b" 413 "),
    ]
    for name, text, wanted in cases:
        data = raw(server, text)
        check(name, wanted in data[:20] and b"\r\nConnection: close\r\n" in data, data[:300])
    body = json.dumps(complete()).encode("utf-8")
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(body[i:i + 3]), body[i:i + 3]) for i in range(0, len(body), 3))
    data = raw(server, post_text(COMPLETE, chunks + b"0\r\n\r\n", "Transfer-Encoding: chunked", *end))
    check("a body in chunks", b" 200 " in data[:20], data[:300])
    one = post_text(COMPLETE, body, "Content-Length: %d" % len(body))
    last = post_text(COMPLETE, body, "Content-Length: %d" % len(body), *end)
    data = raw(server, one * 5 + b"GET /health HTTP/1.1\r\nHost: a\r\n\r\n" + last)
    check("pipelined requests", data.count(b"HTTP/1.1 200 OK") == 7 and data.count(b"text_completion") == 6, data[:600])
    data = raw(server, post_text(COMPLETE, body, "Content-Length: %d" % len(body), "Expect: 100-continue", *end))
    check("Expect", data.startswith(b"HTTP/1.1 100 Continue\r\n\r\n") or b" 200 " in data[:20], data[:300])
    data = raw(server, post_text(COMPLETE, json.dumps(complete(stream=True)).encode("utf-8")).replace(
        b"HTTP/1.1\r\n", b"HTTP/1.0\r\nContent-Length: %d\r\n" % len(json.dumps(complete(stream=True)))))
    check("a stream of HTTP/1.0", b"chunked" not in data and data.rstrip().endswith(b"data: [DONE]"), data[:300])
    large = b"{\"prompt\": \"" + b"a" * (3 << 20) + b"\"}"
    status, _, data = server.request("POST", COMPLETE, large)
    check("a large body", status == 413 and b"body_too_large" in data, (status, data[:300]))
    data = raw(server, post_text(COMPLETE, b"{\"pro", "Content-Length: 100"), wait=10)
    check("a slow sender", b" 408 " in data[:20] and b"request_timeout" in data, data[:300])
    start = time.time()
    data = raw(server, b"", wait=10)
    check("a silent client", data == b"" and 1 < time.time() - start < 9, data)
    check("the server goes on", server.get("/health")[0] == 200 and server.is_idle())


def check_flags(llmir, model):
    for flags, words in ((["--port", "65536"], "65536"), (["--port", "-1"], "port"), (["--host", "nowhere.invalid"], "host"),
                         (["--tls-cert", "a.pem"], "belong together"),
                         (["--tls-cert", "a.pem", "--tls-key", "b.pem"], "a.pem"),
                         (["--api-key", ""], "empty"), (["--log-format", "xml"], "log-format"),
                         (["--max-num-seqs", "-1"], "max-num-seqs"),
                         (["--tool-call-parser", "nothing"], "nothing")):
        said = llmir.refuse("serve", model, *(["--port", "0"] if "--port" not in flags else []), *flags, timeout=60)
        check("refuses %s" % flags, words in said, said)
    with Server(llmir, model) as server:
        said = llmir.refuse("serve", model, "--port", str(server.port))
        check("a port in use", "cannot listen" in said, said)


def main():
    options = work_parser(__doc__, "llmir", "demo").parse_args()
    fresh_folder(options.work)
    llmir = Command(options.llmir, cache=os.path.join(options.work, "cache"))
    model, template = compile_demo(llmir, options)
    with Server(llmir, model, "--template", template, "--max-body", "2", "--read-timeout", "2") as server:
        check_wrong_requests(server)
        check_hostile_http(server)
    check_keys(llmir, model)
    check_flags(llmir, model)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
