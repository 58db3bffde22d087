#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""llmir bench serve against a server whose answers are known: requests, counts, order and failures. Of times, only lower
bounds are checked, which hold on a loaded machine.

    bench_serve.py --work DIR --llmir PROGRAM
"""

import json
import os
import socket
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference"))
from checks import Checks, Command, fresh_folder, work_parser  # noqa: E402
from scripted_server import Script, ScriptedServer  # noqa: E402

check = Checks()


class Bench:
    """`llmir bench serve` for a scripted server."""

    def __init__(self, llmir, server):
        self.llmir, self.server = llmir, server

    def run(self, *flags):
        self.server.reset()
        return self.llmir.run("bench", "serve", "--base-url", self.server.base, *flags, timeout=120)

    def report(self, *flags):
        """The JSON with the numbers of each request, and what is said on standard error."""
        answer = self.run("--json", "--save-detailed", *flags)
        if answer.code:
            raise SystemExit(repr(answer))
        return json.loads(answer.out), answer.err


def check_random(bench):
    server = bench.server
    server.answer = lambda request: Script(cached=3)
    report, _ = bench.report("--num-prompts", 8, "--random-input-len", 20, "--random-output-len", 6, "--ignore-eos")
    first = server.requests[0]
    check("requests", len(server.requests) == 8 and all(
        request["stream"] is True and request["stream_options"] == {"include_usage": True} and request["ignore_eos"] is True
        and request["max_tokens"] == 6 and request["model"] == "scripted" and "temperature" not in request
        for request in server.requests), first)
    check("ids of /tokenize", all(len(request["prompt"]) == 20 and set(request["prompt"]) <= set(server.tokens)
                                  for request in server.requests), first)
    check("prompts differ", len({str(request["prompt"]) for request in server.requests}) == 8)
    check("counts are those of usage", report["completed"] == 8 and report["failed"] == 0
          and report["total_input_tokens"] == 8 * 20 and report["total_output_tokens"] == 8 * 6
          and report["total_cached_tokens"] == 8 * 3, report)
    check("rates", abs(report["output_throughput"] * report["duration"] - 48) < 1e-6
          and abs(report["request_throughput"] * report["duration"] - 8) < 1e-6
          and abs(report["total_token_throughput"] * report["duration"] - 208) < 1e-6, report)
    check("numbers of each request", len(report["ttfts"]) == 8 and all(len(gaps) == 2 for gaps in report["itls"])
          and report["generated_texts"] == ["abc"] * 8, report)
    prompts = sorted(str(request["prompt"]) for request in server.requests)
    bench.report("--num-prompts", 8, "--random-input-len", 20, "--num-warmups", 5)
    check("warm-ups are not counted", len(server.requests) == 13)
    check("nor have the same prompts", not {str(request["prompt"]) for request in server.requests[:5]} & set(prompts))
    check("a seed repeats the prompts", sorted(str(request["prompt"]) for request in server.requests[5:]) == prompts)
    bench.report("--num-prompts", 8, "--random-input-len", 20, "--seed", 1)
    check("another seed does not", not {str(request["prompt"]) for request in server.requests} & set(prompts))


def check_datasets(bench, work):
    server = bench.server
    server.answer = lambda request: Script(cached=None)
    report, _ = bench.report("--num-prompts", 6, "--random-input-len", 4, "--random-prefix-len", 30, "--temperature", 0,
                             "--extra-body", '{"top_k": 1}')
    check("a shared prefix", len({str(request["prompt"][:30]) for request in server.requests}) == 1
          and len({str(request["prompt"][30:]) for request in server.requests}) == 6)
    check("further fields", all(request["temperature"] == 0 and request["top_k"] == 1 for request in server.requests))
    check("a server that tells no cached tokens", report["total_cached_tokens"] is None)
    bench.report("--dataset-name", "prefix_repetition", "--num-prompts", 6, "--prefix-repetition-prefix-len", 12,
                 "--prefix-repetition-suffix-len", 5, "--prefix-repetition-num-prefixes", 2,
                 "--prefix-repetition-output-len", 9)
    check("several prefixes", len({str(request["prompt"][:12]) for request in server.requests}) == 2
          and all(len(request["prompt"]) == 17 and request["max_tokens"] == 9 for request in server.requests))
    path = os.path.join(work, "prompts.jsonl")
    with open(path, "w") as stream:
        stream.write('{"prompt": "one"}\n{"prompt": [1, 2], "output_tokens": 5}\n')
    bench.report("--dataset-name", "custom", "--dataset-path", path, "--num-prompts", 3, "--max-concurrency", 1)
    check("a file", [(request["prompt"], request["max_tokens"]) for request in server.requests]
          == [("one", 256), ([1, 2], 5), ("one", 256)], server.requests)
    check("a file needs no ids", "/tokenize" not in server.paths)
    bench.report("--num-prompts", 2, "--random-input-len", 50, "--vocab-size", 3)
    check("ids below a number", {one for request in server.requests for one in request["prompt"]} == {0, 1, 2}
          and "/tokenize" not in server.paths)


def check_words(bench):
    server, tokens = bench.server, bench.server.tokens
    flags = ["--num-prompts", 2, "--random-input-len", 7]
    server.tokens = None
    _, said = bench.report(*flags)
    check("words without /tokenize", all(len(request["prompt"].split(" ")) == 7 for request in server.requests)
          and "prompts are words" in said, said)
    answer = bench.run("--prompt-form", "ids", *flags)
    check("unless ids are wanted", answer.code == 1 and "/tokenize gives no token ids; give --vocab-size" in answer.err
          and not server.requests, answer)
    server.tokens = tokens
    bench.report("--prompt-form", "text", *flags)
    check("words by choice", all(isinstance(request["prompt"], str) for request in server.requests)
          and "/tokenize" not in server.paths)


def check_conversations(bench):
    server = bench.server
    server.answer = lambda request: Script(["Hello", ", ", "you"])
    chat = ["--endpoint", "/v1/chat/completions", "--random-input-len", 5]
    report, _ = bench.report("--num-prompts", 4, *chat)
    check("chats", report["completed"] == 4 and all(
        [message["role"] for message in request["messages"]] == ["user"] for request in server.requests), report)
    report, _ = bench.report("--dataset-name", "multi-turn", "--num-prompts", 3, "--multi-turn-turns", 3, *chat)
    lengths = [len(request["messages"]) for request in server.requests]
    check("turns of chats", sorted(lengths) == [1, 1, 1, 3, 3, 3, 5, 5, 5] and report["completed"] == 9, lengths)
    by_start = {}
    for request in server.requests:
        by_start.setdefault(request["messages"][0]["content"], []).append(request["messages"])
    check("each has all before it", len(by_start) == 3 and all(
        one == two[:1] and two == three[:3] and three[1] == three[3] == {"role": "assistant", "content": "Hello, you"}
        for one, two, three in by_start.values()), by_start)
    bench.report("--dataset-name", "multi-turn", "--num-prompts", 1, "--multi-turn-turns", 2, "--random-input-len", 5)
    one, two = (request["prompt"] for request in server.requests)
    check("turns of completions", two.startswith(one + "Hello, you ") and len(two.split(" ")) == 11, (one, two))
    server.answer = lambda request: Script(status=500, body="broken")
    answer = bench.run("--dataset-name", "multi-turn", "--num-prompts", 2, "--multi-turn-turns", 3)
    check("a failure ends a conversation", len(server.requests) == 2 and "2 requests failed: status 500: broken"
          in answer.err, answer)


def check_concurrency(bench):
    server = bench.server
    # They can only be answered when all are there.
    barrier = threading.Barrier(24)
    server.answer = lambda request: Script(meets=barrier)
    report, _ = bench.report("--num-prompts", 24, "--random-input-len", 4)
    check("all at once", report["completed"] == 24 and report["max_concurrent_requests"] == 24 == server.peak, report)
    server.answer = lambda request: Script(pause=0.002)
    report, _ = bench.report("--num-prompts", 20, "--random-input-len", 4, "--max-concurrency", 3)
    check("at most three", report["completed"] == 20 and report["max_concurrent_requests"] == 3
          and server.peak <= 3, (report, server.peak))


def check_times(bench):
    server = bench.server
    server.answer = lambda request: Script(first=0.05, pause=0.02)
    report, _ = bench.report("--num-prompts", 3, "--random-input-len", 4, "--metric-percentiles", "50,99")
    check("times", min(report["ttfts"]) >= 0.05 and min(report["latencies"]) >= 0.09
          and all(first <= latest for first, latest in zip(report["ttfts"], report["latencies"])), report)
    check("gaps add up", all(abs(first + sum(gaps) - latest) < 1e-9 for first, gaps, latest in
                             zip(report["ttfts"], report["itls"], report["latencies"])), report)
    tpot = [(latest - first) / 5 for first, latest in zip(report["ttfts"], report["latencies"])]
    check("time per token", abs(report["mean_tpot_ms"] - 1000 * sum(tpot) / 3) < 1e-6
          and abs(report["median_tpot_ms"] - 1000 * sorted(tpot)[1]) < 1e-6
          and report["p50_tpot_ms"] == report["median_tpot_ms"] <= report["p99_tpot_ms"], report)
    server.answer = lambda request: Script()
    report, _ = bench.report("--num-prompts", 20, "--random-input-len", 4, "--request-rate", 100)
    starts = sorted(report["start_times"])
    check("arrivals", starts[-1] >= 0.2 and report["duration"] >= 0.2 and starts[0] < starts[-1], starts)
    answer = bench.run("--num-prompts", 2, "--random-input-len", 4, "--percentile-metrics", "ttft,e2el")
    lines = answer.out.splitlines()
    check("a table", lines[1].split() == ["Successful", "requests:", "2"] and "P99 TTFT (ms):" in answer.out
          and "Mean E2EL (ms):" in answer.out and "TPOT" not in answer.out, answer)


def check_failures(bench, work):
    server = bench.server
    scripts = [Script(), Script(status=429, body={"error": {"message": "the queue is full"}}), Script(cut=1),
               Script(error="out of memory"), Script(usage=False), Script(slow_bytes=True)]
    server.answer = lambda request: scripts[len(request["prompt"]) - 1]
    path, saved = os.path.join(work, "prompts.jsonl"), os.path.join(work, "result.json")
    with open(path, "w") as stream:
        for length in range(1, 7):
            stream.write(json.dumps({"prompt": [7] * length}) + "\n")
    answer = bench.run("--dataset-name", "custom", "--dataset-path", path, "--num-prompts", 6, "--save-result", saved)
    with open(saved) as stream:
        report = json.load(stream)
    check("some fail", answer.code == 0 and report["completed"] == 2 and report["failed"] == 4
          and report["total_input_tokens"] == 1 + 6 and "ttfts" not in report, (answer, report))
    check("each with its reason", sum(report["failures"].values()) == 4 and all(
        any(reason in failure for failure in report["failures"])
        for reason in ("status 429: the queue is full", "an error in the stream: out of memory", "has no usage")), report)
    check("which is said", answer.err.count("1 requests failed: ") == 4, answer.err)
    server.answer = lambda request: Script(status=404, body="no such page")
    answer = bench.run("--num-prompts", 2)
    check("all fail", answer.code == 1 and "no request succeeded" in answer.err
          and "2 requests failed: status 404: no such page" in answer.err, answer)
    answer = bench.run("--num-prompts", 2, "--num-warmups", 1)
    check("a warm-up fails", answer.code == 1 and "a warm-up request failed: status 404" in answer.err
          and len(server.requests) == 1, answer)
    server.answer = lambda request: Script(first=30)
    answer = bench.run("--num-prompts", 1, "--request-timeout", 1)
    check("a timeout", answer.code == 1 and "timed out" in answer.err.lower(), answer)
    server.answer = lambda request: Script()


def check_readiness(bench, llmir):
    server = bench.server
    server.busy = 3
    answer = bench.run("--num-prompts", 1)
    check("not ready", answer.code == 1 and "/v1/models: status 503: the model is being loaded; give a longer "
          "--ready-timeout" in answer.err and not server.requests, answer)
    server.busy = 3
    report, _ = bench.report("--num-prompts", 1, "--ready-timeout", 60)
    check("ready later", report["completed"] == 1 and server.busy == 0 and report["model_id"] == "scripted", report)
    server.key = "secret"
    answer = bench.run("--num-prompts", 1)
    check("no key", answer.code == 1 and "status 401" in answer.err and "--api-key" in answer.err, answer)
    report, _ = bench.report("--num-prompts", 1, "--api-key", "secret", "--model", "mine")
    check("a key", report["completed"] == 1 and server.requests[0]["model"] == "mine", report)
    server.key = None
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # Nothing listens.
        answer = llmir.run("bench", "serve", "--port", unused.getsockname()[1])
    check("no server", answer.code == 1 and "no server answers at http://127.0.0.1:" in answer.err
          and answer.err.count("\n") == 1, answer)


def check_usage(llmir):
    def refused(*flags):
        answer = llmir.run("bench", *flags)
        check("wrong usage: %s" % (flags,), answer.code == 2 and answer.err.count("\n") == 1, answer)
        return answer.err

    check("a missing path", "needs --dataset-path" in refused("serve", "--dataset-name", "custom"))
    check("a path without use", "needs --dataset-name custom" in refused("serve", "--dataset-path", "x"))
    check("another endpoint", "/v1/chat/completions" in refused("serve", "--endpoint", "/generate"))
    check("an address", "is not the address" in refused("serve", "--base-url", "localhost:8080"))
    check("ids in chats", "are texts" in refused("serve", "--endpoint", "/v1/chat/completions", "--vocab-size", "9"))
    check("a body", "--extra-body" in refused("serve", "--extra-body", "[1]"))
    check("details", "--save-result" in refused("serve", "--save-detailed"))
    check("a flag", "`llmir bench serve` has no flag --nothing" in refused("serve", "--nothing"))
    check("no MODEL", "MODEL is required" in refused())
    for flags in (("--request-rate", "0"), ("--burstiness", "0"), ("--num-prompts", "0"), ("--random-range-ratio", "1"),
                  ("--metric-percentiles", "101"), ("--percentile-metrics", "x"), ("--vocab-size", "1"), ("--port", "0")):
        refused("serve", *flags)


def main():
    options = work_parser(__doc__, "llmir").parse_args()
    fresh_folder(options.work)
    llmir = Command(options.llmir, cache=os.path.join(options.work, "cache"))
    check_usage(llmir)
    with ScriptedServer() as server:
        bench = Bench(llmir, server)
        check_random(bench)
        check_datasets(bench, options.work)
        check_words(bench)
        check_conversations(bench)
        check_concurrency(bench)
        check_times(bench)
        check_failures(bench, options.work)
        check_readiness(bench, llmir)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
