#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""llmir serve: clients that leave, that read slowly, that are too many, and the end of the server.

    limits.py --work DIR --llmir PROGRAM --demo DIR [--long]
"""

import http.client
import json
import os
import random
import signal
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference"))
from checks import Checks, Command, fresh_folder, work_parser  # noqa: E402
from server_process import Server, certificate_flags, compile_demo, insecure_tls  # noqa: E402

check = Checks()
# Goes on until the context of the demo model is full.
ENDLESS = {"prompt": "In the beginning", "max_tokens": 500, "ignore_eos": True, "stream": True}


def open_stream(server, body, receive_buffer=None):
    """A socket on which a request was sent."""
    text = json.dumps(body).encode("utf-8")
    connection = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if receive_buffer:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
    connection.settimeout(60)
    connection.connect(("127.0.0.1", server.port))
    connection.sendall(b"POST /v1/completions HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % len(text) + text)
    return connection


def read_until(connection, text):
    data = b""
    while text not in data:
        part = connection.recv(65536)
        if not part:
            break
        data += part
    return data


def check_disconnect(server):
    """The blocks of a client that leaves are free soon: long before its request would have ended."""
    for whole in (False, True):
        connection = open_stream(server, dict(ENDLESS, stream=not whole))
        if not whole:
            read_until(connection, b"data: ")
        check("it runs", server.wait_until(lambda engine: engine["requests"]["running"] == 1))
        before = server.engine()
        connection.close()
        check("blocks are free after the client has left", server.is_idle(), server.engine())
        after = server.engine()
        check("it was cancelled", after["tokens"]["generated"] - before["tokens"]["generated"] < 400
              and after["requests"]["finished"] == before["requests"]["finished"] + 1, (before, after))
    check("the log says so", server.wait_until(lambda _: "client_left" in server.log()), server.log()[-500:])


def check_random_disconnects(server, count):
    """Many clients that leave at random moments; those that stay get all."""
    choose = random.Random(7)
    failures = []

    def visit(seed):
        own = random.Random(seed)
        try:
            streams = own.random() < 0.8
            connection = open_stream(server, dict(ENDLESS, max_tokens=own.randint(1, 40), n=own.choice((1, 1, 2)),
                                                  stream=streams))
            if own.random() < 0.2:
                data = read_until(connection, b"[DONE]" if streams else b"\"usage\"")
                if b" 200 " not in data[:20] and b" 429 " not in data[:20]:
                    failures.append(data[:200])
            else:
                time.sleep(own.random() * 0.2)
            if own.random() < 0.5:  # Without a farewell.
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
            connection.close()
        except socket.timeout as error:
            failures.append(error)
        except OSError:
            pass
    waiting = [choose.random() for _ in range(count)]
    while waiting:
        threads = [threading.Thread(target=visit, args=(waiting.pop(),)) for _ in range(min(20, len(waiting)))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    check("clients that stay are served", not failures, failures[:3])
    check("after %d clients all blocks are free" % count, server.is_idle(), server.engine())
    answer = server.post("/v1/completions", {"prompt": "a", "max_tokens": 3, "ignore_eos": True})
    check("then a request is answered", answer[0] == 200 and answer[1]["usage"]["completion_tokens"] == 3, answer)


def check_full(llmir, model):
    with Server(llmir, model, "--max-num-seqs", "1", "--max-waiting-requests", "2") as server:
        streams = [open_stream(server, ENDLESS)]
        check("one runs", server.wait_until(lambda engine: engine["requests"]["running"] == 1))
        streams += [open_stream(server, ENDLESS) for _ in range(2)]
        check("two wait", server.wait_until(lambda engine: engine["requests"]["waiting"] == 2), server.engine())
        start = time.time()
        status, heads, data = server.request("POST", "/v1/completions", {"prompt": "a"})
        check("429 if the queue is full", status == 429 and heads.get("Retry-After") == "1"
              and b"queue_full" in data, (status, heads, data))
        check("at once", time.time() - start < 5)
        check("other routes answer", server.get("/health")[0] == 200 and server.get("/v1/models")[0] == 200)
        check("streams are complete", all(b"[DONE]" in read_until(stream, b"[DONE]") for stream in streams))
        check("then there is room", server.post("/v1/completions", {"prompt": "a", "max_tokens": 1})[0] == 200)
        # n counts, too.
        check("more continuations than run at once", server.post("/v1/completions", {"prompt": "a", "n": 2})[0] == 400)


def check_slow_reader(llmir, model):
    with Server(llmir, model, "--stream-buffer", "64") as server:
        body = dict(ENDLESS, logprobs=20, n=16)
        connection = open_stream(server, body, receive_buffer=2048)
        check("it runs", server.wait_until(lambda engine: engine["requests"]["running"] > 0))
        check("a slow reader is cut off", server.wait_until(
            lambda engine: engine["requests"]["running"] == 0 and engine["cache"]["used"] == 0, 60), server.engine())
        tokens = server.engine()["tokens"]["generated"]
        check("before the end", tokens < 16 * 490, tokens)
        connection.close()
        fast = open_stream(server, dict(body, n=1, max_tokens=30))
        check("a fast one gets all", b"[DONE]" in read_until(fast, b"[DONE]"))


def check_memory(llmir, model, template):
    """What a request has is kept once, not for each of its continuations."""
    # Builds with sanitizers do not reuse the last freed memory, 256 MB by default.
    llmir.environment["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=16"
    with Server(llmir, model, "--template", template) as server:
        def peak():
            with open("/proc/%d/status" % server.process.pid) as stream:
                return next(int(line.split()[1]) for line in stream if line.startswith("VmHWM:")) / 1024
        many = server.engine()["max_running"]
        properties = {"p%d" % i: {"type": "string", "description": "a description of this one"} for i in range(20000)}
        tools = [{"type": "function", "function": {"name": "f", "parameters": {"properties": properties}}}]
        for path, body in (
                ("/v1/completions", {"prompt": ["a"] * 128, "max_tokens": 8, "allowed_token_ids": [5] * 2000000,
                                     "ignore_eos": True}),
                ("/v1/chat/completions", {"messages": [{"role": "user", "content": "a"}], "max_tokens": 1, "tools": tools,
                                          "n": many})):
            before = peak()
            status, answer = server.post(path, body)
            check("memory of " + path, status == 200 and peak() - before < 300, (status, peak() - before, many))


def check_drain(llmir, model):
    with Server(llmir, model) as server:
        stream = open_stream(server, dict(ENDLESS, max_tokens=300))
        read_until(stream, b"data: ")
        idle = server.connect()
        idle.request("GET", "/health")
        idle.getresponse().read()
        server.process.send_signal(signal.SIGTERM)
        check("the log says so", wait_for(lambda: "shutting down" in server.log()))
        idle.request("POST", "/v1/completions", b"{\"prompt\": \"a\"}")
        answer = idle.getresponse()
        data = answer.read()
        check("503 while draining", answer.status == 503 and b"shutting_down" in data
              and answer.getheader("Retry-After"), (answer.status, data))
        check("a stream is completed", b"[DONE]" in read_until(stream, b"[DONE]"))
        check("exit code 0", server.process.wait(20) == 0 and "all requests were answered" in server.log(),
              server.log()[-500:])
    for how in ("limit", "second signal"):
        # On a slow machine, an answer may be complete before the signal comes.
        cut = any(check_cut_off(llmir, model, how) for _ in range(5))
        check("answers were cut off (%s)" % how, cut)


def check_cut_off(llmir, model, how):
    """False if the answers were complete before the server was to end."""
    with Server(llmir, model, "--drain-timeout", "0" if how == "limit" else "60") as server:
        stream = open_stream(server, dict(ENDLESS, n=8))
        waiting = open_stream(server, dict(ENDLESS, n=8, stream=False))
        read_until(stream, b"data: ")
        start = time.time()
        server.process.send_signal(signal.SIGTERM)
        if how != "limit":
            wait_for(lambda: "shutting down" in server.log())
            server.process.send_signal(signal.SIGTERM)
        streamed, whole = read_until(stream, b"[DONE]"), read_until(waiting, b"}}")
        code = server.process.wait(20)
        if streamed.count(b"\"finish_reason\":\"length\"") == 8 or b" 200 " in whole[:20]:
            return False
        check("a stream ends with an error (%s)" % how, b"shutting_down" in streamed and b"[DONE]" in streamed,
              streamed[-300:])
        check("an answer is an error (%s)" % how, b" 503 " in whole[:20] and b"shutting_down" in whole, whole[:300])
        check("exit code 0 (%s)" % how, code == 0 and time.time() - start < 15, server.log()[-500:])
    return True


def wait_for(condition, seconds=10):
    end = time.time() + seconds
    while time.time() < end:
        if condition():
            return True
        time.sleep(0.02)
    return False


def check_timeout(llmir, model):
    with Server(llmir, model, "--request-timeout", "1", "--max-num-seqs", "1", "--log-format", "json") as server:
        streams = [open_stream(server, dict(ENDLESS, stream=False)) for _ in range(12)]
        answers = [read_until(stream, b"}}") for stream in streams]
        check("a deadline", any(b" 504 " in answer[:20] and b"\"timeout\"" in answer for answer in answers),
              answers[-1][:300])
        check("then it is idle", server.is_idle())
        server.request("GET", "/no\"thing%0a")
        lines = [json.loads(line) for line in server.log().splitlines()]
        requests = [line for line in lines if line.get("path") == "/v1/completions"]
        check("JSON in the log", len(requests) == 12 and all("ms" in line and line["generated_tokens"].isdigit()
                                                            for line in requests), lines[-3:])


def check_many_connections(llmir, model, count):
    with Server(llmir, model, "--max-connections", str(count)) as server:
        sockets = [server.socket() for _ in range(count)]
        time.sleep(0.2)
        refused = server.socket(timeout=5)
        refused.sendall(b"GET /health HTTP/1.1\r\n\r\n")
        try:
            data = refused.recv(1000)
        except OSError:
            data = b" 503 "
        check("one connection too many", b" 503 " in data, data)
        for each in sockets:
            each.close()
        check("then there is room", wait_for(lambda: server.request("GET", "/health")[0] == 200))


def check_tls(llmir, model, work):
    flags = certificate_flags(work)
    if not flags:
        check.skip("TLS", "there is no openssl program")
        return
    with Server(llmir, model, *flags, tls=insecure_tls()) as server:
        events = server.stream("/v1/completions", dict(ENDLESS, max_tokens=20))
        check("a stream over TLS", events[-1][1] == "[DONE]" and len(events) > 5, events[-2:])
        with server.socket(timeout=5) as plain:
            plain.sendall(b"GET /health HTTP/1.1\r\n\r\n")
            try:
                data = plain.recv(1000)
            except OSError:
                data = b""
            check("no plain HTTP on that port", b"200" not in data, data)
        connection = server.connect()
        connection.request("POST", "/v1/completions", json.dumps(ENDLESS))
        connection.getresponse().read(100)
        connection.close()
        check("a client over TLS that leaves", server.is_idle(), server.engine())


def check_loading(llmir, model):
    """The port answers while the model is loaded."""
    server = Server(llmir, model, wait=False)
    with server:
        wait_for(lambda: server.port)
        statuses = []
        while not server.ready.is_set():
            try:
                status, _, data = server.request("GET", "/health")
                statuses.append((status, b"loading_model" in data))
            except (OSError, http.client.HTTPException):
                pass
        check("503 while loading", all(each in ((503, True), (200, False)) for each in statuses), statuses)
        check("then 200", server.get("/health")[0] == 200)


def check_cors(llmir, model):
    with Server(llmir, model, "--cors-origin", "https://a.example", "--api-key", "k") as server:
        origin = {"Origin": "https://a.example"}
        status, heads, _ = server.request("OPTIONS", "/v1/completions", None, origin)
        check("preflight", status == 204 and heads["Access-Control-Allow-Origin"] == "https://a.example", heads)
        status, heads, _ = server.request("GET", "/v1/models", None, dict(origin, Authorization="Bearer k"))
        check("an origin", status == 200 and heads["Access-Control-Allow-Origin"] == "https://a.example", heads)
        status, heads, _ = server.request("OPTIONS", "/v1/completions", None, {"Origin": "https://b.example"})
        check("another origin", "Access-Control-Allow-Origin" not in heads, heads)


def main():
    parser = work_parser(__doc__, "llmir", "demo")
    parser.add_argument("--long", action="store_true", help="1,000 disconnects")
    options = parser.parse_args()
    fresh_folder(options.work)
    llmir = Command(options.llmir, cache=os.path.join(options.work, "cache"))
    model, template = compile_demo(llmir, options)
    with Server(llmir, model) as server:
        check_disconnect(server)
        check_random_disconnects(server, 1000 if options.long else 200)
    check_full(llmir, model)
    check_slow_reader(llmir, model)
    check_memory(llmir, model, template)
    check_drain(llmir, model)
    check_timeout(llmir, model)
    check_many_connections(llmir, model, 50)
    check_tls(llmir, model, options.work)
    check_loading(llmir, model)
    check_cors(llmir, model)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
