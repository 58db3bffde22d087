#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""llmir serve: what HTTP itself demands, with requests that no client library would send.

    http_layer.py --work DIR --llmir PROGRAM --demo DIR
"""

import json
import os
import resource
import signal
import socket
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference"))
from checks import Checks, Command, fresh_folder, work_parser  # noqa: E402
from server_process import Server, certificate_flags, compile_demo, insecure_tls  # noqa: E402

check = Checks()
COMPLETE = "/v1/completions"
# Goes on until the context of the demo model is full.
ENDLESS = {"prompt": "In the beginning", "max_tokens": 500, "ignore_eos": True}
KEY = "Authorization: Bearer k\r\n"


def message(method, path, body=None, heads=""):
    data = b"" if body is None else json.dumps(body).encode("utf-8")
    return ("%s %s HTTP/1.1\r\nHost: a\r\n%sContent-Length: %d\r\n\r\n" % (method, path, heads, len(data))).encode() + data


def receive(connection, seconds=20):
    """Everything until the end of the connection."""
    connection.settimeout(seconds)
    data = b""
    try:
        while True:
            part = connection.recv(65536)
            if not part:
                return data
            data += part
    except OSError as error:
        return data + b"<%s>" % type(error).__name__.encode()


def answers(connection, count, seconds=30):
    """The statuses and bodies of so many answers with a length."""
    connection.settimeout(seconds)
    data, result = b"", []
    while len(result) < count:
        head, end, rest = data.partition(b"\r\n\r\n")
        length = [int(line[len(b"Content-Length: "):]) for line in head.split(b"\r\n")
                  if line.startswith(b"Content-Length: ")]
        if end and len(rest) >= (length or [0])[0]:
            size = (length or [0])[0]
            result.append((int(head.split()[1]), rest[:size]))
            data = rest[size:]
            continue
        try:
            part = connection.recv(65536)
        except OSError as error:
            return result + [(0, type(error).__name__.encode())]
        if not part:
            return result + [(0, b"the end")]
        data += part
    return result


def check_pipelining(server):
    """Requests that come while earlier ones are answered, in pieces of any size."""
    for size in (1, 7, 20, 10000):
        with server.socket() as connection:
            connection.sendall(message("POST", COMPLETE, dict(ENDLESS, max_tokens=60)))
            time.sleep(0.05)
            for _ in range(3):
                data = message("GET", "/version") + message("GET", "/v1/models") + message("GET", "/nothing")
                for start in range(0, len(data), size):
                    connection.sendall(data[start:start + size])
            got = answers(connection, 10)
            check("requests in advance, in pieces of %d" % size, [status for status, _ in got] == [200] + 3 * [200, 200, 404]
                  and b"version" in got[1][1] and b"max_model_len" in got[2][1], got)
            connection.sendall(message("GET", "/v1/models"))
            check("and one afterwards (%d)" % size, b"max_model_len" in answers(connection, 1)[0][1])
    # An answer ends while the next request has come in part.
    with server.socket() as connection:
        for _ in range(5):
            connection.sendall(message("POST", COMPLETE, dict(ENDLESS, max_tokens=40)) + b"GET /version HT")
            first = answers(connection, 1)
            connection.sendall(b"TP/1.1\r\nHost: a\r\n\r\n")
            second = answers(connection, 1)
            check("a request in two parts", first[0][0] == 200 and second[0][0] == 200 and b"version" in second[0][1],
                  (first, second))


def check_read_ahead(server):
    """A client that sends much in advance is cut off, and its request ends with it."""
    finished = server.engine()["requests"]["finished"]
    with server.socket() as connection:
        connection.sendall(message("POST", COMPLETE, dict(ENDLESS, n=4)))
        check("it runs", server.wait_until(lambda engine: engine["requests"]["running"] > 0))
        try:
            for _ in range(50):
                connection.sendall(b"x" * 10000)
        except OSError:
            pass
        receive(connection)
    check("its request has ended", server.is_idle() and server.engine()["requests"]["finished"] > finished)
    # One that closes its connection announces that it sends no more.
    with server.socket() as connection:
        body = json.dumps(dict(ENDLESS, max_tokens=5)).encode()
        connection.sendall(b"POST %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
                           % (COMPLETE.encode(), len(body)) + body + b"x" * 200000)
        check("a last request with more behind it", receive(connection).startswith(b"HTTP/1.1 200 "))


def check_early_refusals(llmir, model):
    """Without a key, or a route, no body is received."""
    with Server(llmir, model, "--api-key", "k") as server:
        for name, path, heads, status in (("no key", COMPLETE, "", b"401"), ("wrong key", COMPLETE,
                                                                         "Authorization: Bearer x\r\n", b"401"),
                                          ("no route", "/nothing", KEY, b"404"),
                                          ("other methods", "/v1/models", KEY, b"405")):
            with server.socket() as connection:
                connection.sendall(("POST %s HTTP/1.1\r\nHost: a\r\n%sExpect: 100-continue\r\n"
                                    "Content-Length: 10000000\r\n\r\n" % (path, heads)).encode())
                start = time.time()
                data = receive(connection)
                check("refused before the body: " + name, data.startswith(b"HTTP/1.1 %s " % status)
                      and b"Connection: close" in data and b"100 Continue" not in data and time.time() - start < 10, data)
                check("WWW-Authenticate: " + name, (b"WWW-Authenticate: Bearer" in data) == (status == b"401"), data)
        with server.socket() as connection:  # The body is on its way.
            connection.sendall(("POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n" % COMPLETE).encode())
            connection.sendall(b" " * 1000000)
            check("the answer reaches a client that sends", receive(connection).startswith(b"HTTP/1.1 401 "))
        with server.socket() as connection:
            body = json.dumps({"prompt": "a", "max_tokens": 1}).encode()
            connection.sendall(("POST %s HTTP/1.1\r\nHost: a\r\n%sExpect: 100-continue\r\nContent-Length: %d\r\n\r\n"
                                % (COMPLETE, KEY, len(body))).encode())
            connection.settimeout(20)
            first = connection.recv(1000)
            connection.sendall(body)
            check("100, then 200", first == b"HTTP/1.1 100 Continue\r\n\r\n" and answers(connection, 1)[0][0] == 200, first)
        # A body that is announced needs no memory.
        waiting = [server.socket() for _ in range(80)]
        for each in waiting:
            each.sendall(("POST %s HTTP/1.1\r\nHost: a\r\n%sContent-Length: 16000000\r\n\r\n{" % (COMPLETE, KEY)).encode())
        time.sleep(0.3)
        answer = server.post(COMPLETE, {"prompt": "a", "max_tokens": 1}, {"Authorization": "Bearer k"})
        check("announced bodies do not count", answer[0] == 200, answer)
        for each in waiting:
            each.close()
        with server.socket() as connection:
            connection.sendall(b"POST /generate?secret=s HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n"
                               + KEY.encode() + b"\r\n")
            check("413", receive(connection).startswith(b"HTTP/1.1 413 "))
        check("the log has the path only", server.wait_until_log("POST /generate 413") and "secret" not in server.log(),
              server.log()[-300:])


def check_targets(server):
    for path in ("http://a/version", "HTTP://a:80/version?x=1", "/version?"):
        with server.socket() as connection:
            connection.sendall(message("GET", path))
            got = answers(connection, 1)
            check("target " + path, got[0][0] == 200 and b"version" in got[0][1], got)
    name = server.get("/v1/models")[1]["data"][0]["id"]
    status, answer = server.get("/v1/models/" + "".join("%%%02x" % byte for byte in name.encode()))
    check("a model", status == 200 and answer["id"] == name and answer["object"] == "model", answer)
    status, answer = server.get("/v1/models/org%2Fnothing")
    check("no model", status == 404 and answer["error"]["code"] == "model_not_found"
          and "org/nothing" in answer["error"]["message"], answer)


def check_origins(llmir, model):
    """Pages of other origins."""
    body, own = {"prompt": "a", "max_tokens": 1}, None
    with Server(llmir, model, "--cors-origin", "https://a.example") as server:
        own = "127.0.0.1:%d" % server.port
        for origin, status in (("https://a.example", 200), ("http://" + own, 200), ("https://b.example", 403),
                               ("http://127.0.0.1:1", 403), ("null", 403), ("http://" + own + ".example", 403)):
            got = server.post(COMPLETE, body, {"Origin": origin, "Content-Type": "text/plain"})
            check("a page of %s" % origin, got[0] == status, got)
        check("the code", got[1]["error"]["code"] == "forbidden_origin", got)
        check("GET is harmless", server.get("/v1/models", {"Origin": "https://b.example"})[0] == 200)
        asked = {"Origin": "https://a.example", "Access-Control-Request-Headers": "authorization,x-stainless-os"}
        status, heads, _ = server.request("OPTIONS", COMPLETE, None, asked)
        check("headers that a page may send", status == 204
              and heads["Access-Control-Allow-Headers"] == "authorization,x-stainless-os", heads)
        status, heads, _ = server.request("OPTIONS", COMPLETE, None, dict(asked, Origin="https://b.example"))
        check("another page may send none", "Access-Control-Allow-Headers" not in heads, heads)
    with Server(llmir, model, "--api-key", "k") as server:
        heads = {"Origin": "https://b.example", "Authorization": "Bearer k"}
        check("a page that has a key", server.post(COMPLETE, body, heads)[0] == 200)
        del heads["Authorization"]
        check("a page that has none", server.post(COMPLETE, body, heads)[0] == 401)


def check_ping(llmir, model):
    """A stream that waits says so."""
    with Server(llmir, model, "--max-num-seqs", "1", "--stream-ping", "1") as server:
        before = [server.socket() for _ in range(12)]
        for each in before:
            each.sendall(message("POST", COMPLETE, ENDLESS))
        check("one runs", server.wait_until(lambda engine: engine["requests"]["running"] == 1))
        check("others wait", server.wait_until(lambda engine: engine["requests"]["waiting"] >= 3))
        start = time.time()
        stream = server.stream(COMPLETE, dict(ENDLESS, max_tokens=3, stream=True))
        took = time.time() - start
        check("the stream is complete", stream[-1][1] == "[DONE]", stream)
        if took < 2:
            check.skip("pings", "the machine is too fast")
        else:
            check("pings, in %.1f s" % took, 1 <= server.pings <= took + 1, server.pings)
        for each in before:
            each.close()
        check("idle", server.is_idle())


def check_large_write(llmir, model, template):
    """A write that is larger than the buffer of a stream is no sign of a slow client."""
    with Server(llmir, model, "--template", template, "--stream-buffer", "1") as server:
        body = {"input": "a", "instructions": "word " * 200, "max_output_tokens": 4, "stream": True}
        events = server.stream("/v1/responses", body)
        check("a large first event", len(json.dumps(events[0][1])) > 1024
              and events[-1][0] in ("response.completed", "response.incomplete"), events[-1])


def check_files(llmir, model):
    """As many connections as the system allows files."""
    with Server(llmir, model, "--max-connections", "300", files=(128, 1024)) as server:
        sockets = [server.socket() for _ in range(299)]
        check("the soft limit is raised", server.get("/health")[0] == 200)
        for each in sockets:
            each.close()
    with Server(llmir, model, "--max-connections", "300", files=(200, 200)) as server:
        check("the log has the hard limit", "at most 136 connections" in server.log(), server.log())
        sockets = [server.socket() for _ in range(136)]
        time.sleep(0.3)
        with server.socket(timeout=10) as refused:
            data = receive(refused, 10)
            check("503 beyond it", b" 503 " in data, data)
        for each in sockets:
            each.close()
        check("then there is room", server.wait_until(lambda _: True))


def check_tls_end(llmir, model, work):
    flags = certificate_flags(work)
    if not flags:
        check.skip("TLS", "there is no openssl program")
        return
    with Server(llmir, model, *flags, tls=insecure_tls()) as server:
        for request in (b"GET /version HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", b"GET /version HTTP/1.0\r\n\r\n",
                        message("POST", COMPLETE, dict(ENDLESS, stream=True)).replace(b"HTTP/1.1", b"HTTP/1.0")):
            # Without close_notify, the client would see an error: the answer may have been cut.
            with insecure_tls().wrap_socket(server.socket(), suppress_ragged_eofs=False) as connection:
                connection.sendall(request)
                data = receive(connection)
                check("the end over TLS", data.startswith(b"HTTP/1.1 200") and b"Error>" not in data, data[-200:])


def check_shutdown(llmir, model):
    """A client that sends in advance does not delay the end."""
    with Server(llmir, model, "--drain-timeout", "20") as server:
        with server.socket() as connection:
            connection.sendall(message("POST", COMPLETE, ENDLESS))
            check("it runs", server.wait_until(lambda engine: engine["requests"]["running"] > 0))
            try:
                connection.sendall(b"x" * 500000)
            except OSError:
                pass
            start = time.time()
            server.process.send_signal(signal.SIGTERM)
            check("exit code 0", server.process.wait(30) == 0 and time.time() - start < 15, server.log()[-300:])


def main():
    options = work_parser(__doc__, "llmir", "demo").parse_args()
    fresh_folder(options.work)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    llmir = Command(options.llmir, cache=os.path.join(options.work, "cache"))
    model, template = compile_demo(llmir, options)
    with Server(llmir, model) as server:
        check_pipelining(server)
        check_read_ahead(server)
        check_targets(server)
    check_early_refusals(llmir, model)
    check_origins(llmir, model)
    check_ping(llmir, model)
    check_large_write(llmir, model, template)
    check_files(llmir, model)
    check_tls_end(llmir, model, options.work)
    check_shutdown(llmir, model)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
