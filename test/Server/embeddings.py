#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""llmir serve with a model that embeds: the numbers of `llmir embed`, and what is refused.

    embeddings.py --work DIR --llmir PROGRAM
"""

import base64
import json
import os
import signal
import struct
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", folder) for folder in ("reference", "EndToEnd")]
from checks import Checks, Command, fresh_folder, quick_level, work_parser  # noqa: E402
from embed import TEXTS, make_decoder  # noqa: E402
from server_process import Server  # noqa: E402

check = Checks()
EMBED = "/v1/embeddings"


def near(a, b):
    return len(a) == len(b) and all(abs(x - y) < 1e-6 for x, y in zip(a, b))


def check_numbers(llmir, model, server, size):
    alone = json.loads(llmir("embed", model, "--json", *TEXTS))
    status, answer = server.post(EMBED, {"input": TEXTS, "model": "e"})
    check("embeddings", status == 200 and [entry["index"] for entry in answer["data"]] == [0, 1, 2, 3]
          and all(near(entry["embedding"], row) for entry, row in zip(answer["data"], alone["embeddings"])), answer)
    check("usage", answer["usage"] == {"prompt_tokens": sum(alone["tokens"]), "total_tokens": sum(alone["tokens"])},
          answer["usage"])
    one = server.post(EMBED, {"input": TEXTS[1]})[1]["data"]
    check("one text", len(one) == 1 and one[0]["embedding"] == answer["data"][1]["embedding"], one)
    text = server.post(EMBED, {"input": TEXTS[1], "encoding_format": "base64", "dimensions": size})[1]
    values = struct.unpack("<%df" % size, base64.b64decode(text["data"][0]["embedding"]))
    check("base64", near(values, one[0]["embedding"]), text)
    ids = [list(word.encode("utf-8")) + [256] for word in TEXTS]
    check("ids", server.post(EMBED, {"input": ids})[1]["data"] == answer["data"])
    many = ["text %d" % i for i in range(200)]
    check("more than a step", len(server.post(EMBED, {"input": many})[1]["data"]) == 200)
    results = [None] * 8

    def ask(index):
        results[index] = server.post(EMBED, {"input": TEXTS})[1]["data"]
    threads = [threading.Thread(target=ask, args=(i,)) for i in range(len(results))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    check("many clients", all(result == answer["data"] for result in results))


def check_refusals(server):
    for path, body, code, words in (
            (EMBED, {}, "invalid_request", "'input'"), (EMBED, {"input": []}, "invalid_request", "without tokens"),
            (EMBED, {"input": [300]}, "out_of_range", "300"), (EMBED, {"input": "a", "dimensions": 3}, "invalid_request",
                                                               "'dimensions'"),
            (EMBED, {"input": "a", "encoding_format": "int8"}, "invalid_request", "'encoding_format'"),
            (EMBED, {"input": "a" * 100}, "context_length_exceeded", "the context is 48"),
            (EMBED, {"input": ["a"] * 2049}, "out_of_range", "2049"),
            (EMBED, {"input": "a", "model": "x"}, "model_not_found", "x"),
            ("/v1/completions", {"prompt": "a"}, "wrong_kind_of_model", "generates no text"),
            ("/v1/chat/completions", {"messages": []}, "wrong_kind_of_model", "generates no text")):
        status, answer = server.post(path, body)
        check("refuses %s %.60s" % (path, body), status in (400, 404) and answer["error"]["code"] == code
              and words in answer["error"]["message"], answer)
    check("other routes", server.get("/v1/models")[0] == 200 and server.request("GET", "/metrics")[0] == 200
          and server.get("/health")[0] == 200 and server.get("/engine")[0] == 400)


# As many texts as a request may have, of nearly the whole context.
MANY = {"input": ["a" * 46] * 2048, "encoding_format": "base64"}


def send(server, body):
    """A socket on which a request was sent."""
    connection, data = server.socket(), json.dumps(body).encode("utf-8")
    connection.sendall(b"POST %s HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % (EMBED.encode(), len(data)) + data)
    return connection


def seconds_of(server, body):
    start = time.time()
    check("embeddings of %d texts" % len(body["input"]), server.post(EMBED, body)[0] == 200)
    return time.time() - start


def check_ends(llmir, model):
    """A request ends when its client leaves, its time is over, or the server shuts down; not when all is computed."""
    with Server(llmir, model, "--threads", "1") as server:
        whole = seconds_of(server, MANY)
        leaving = [send(server, MANY) for _ in range(4)]
        time.sleep(whole / 4)
        for each in leaving:
            each.close()
        small = seconds_of(server, {"input": ["a"]})
        check("nothing is computed for clients that have left", small < whole / 2, (small, whole))
    with Server(llmir, model, "--threads", "1", "--request-timeout", "1") as server:
        if whole < 0.8:
            check.skip("a deadline", "the machine is too fast")
        else:  # Two at once take twice as long.
            connections = [send(server, MANY) for _ in range(2)]
            answers = [each.recv(1000) for each in connections]
            check("a deadline", any(each.startswith(b"HTTP/1.1 504 ") for each in answers), answers)
    with Server(llmir, model, "--threads", "1", "--drain-timeout", "0") as server:
        connections = [send(server, MANY) for _ in range(2)]
        time.sleep(whole / 4)
        server.process.send_signal(signal.SIGTERM)
        answers = [each.recv(1000) for each in connections]
        check("an error at the end of the server", any(each.startswith(b"HTTP/1.1 503 ") and b"shutting_down" in each
                                                       for each in answers), answers)
        check("exit code 0", server.process.wait(30) == 0)


def main():
    options = work_parser(__doc__, "llmir").parse_args()
    fresh_folder(options.work)
    llmir = Command(options.llmir, cache=os.path.join(options.work, "cache"))
    folder = os.path.join(options.work, "decoder")
    config = make_decoder(folder)
    model = os.path.join(options.work, "decoder.llmir")
    llmir("compile", folder, "-o", model, "--target", quick_level())
    with Server(llmir, model, "--served-model-name", "e") as server:
        check_numbers(llmir, model, server, config.hidden)
        check_refusals(server)
    check_ends(llmir, model)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
