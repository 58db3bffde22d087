#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""llmir serve under load: ten times what it can serve, idle streams, clients that leave, and kill -9.

    load.py --work DIR --llmir PROGRAM --demo DIR [--seconds 60] [--only overload|idle|disconnects|kill]...

What is measured is printed with each check.
"""

import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "reference"))
from checks import Checks, Command, fresh_folder, work_parser  # noqa: E402
from limits import ENDLESS, check_random_disconnects, open_stream, read_until  # noqa: E402
from limits import check as limits_check  # noqa: E402
from server_process import Server, compile_demo  # noqa: E402

check = Checks(shows_all=True)
MANY = 1000
IS_BUSY = os.getloadavg()[0] > os.cpu_count()  # With other programs, before this one starts.


def resident_mib(server):
    with open("/proc/%d/status" % server.process.pid) as stream:
        return next(int(line.split()[1]) for line in stream if line.startswith("VmRSS:")) / 1024


def bench(llmir, server, **flags):
    """The report of `llmir bench serve`."""
    words = [llmir.program, "bench", "serve", "--port", str(server.port), "--ignore-eos", "--json", "--vocab-size", "200"]
    for name, value in dict({"random_input_len": 32, "random_output_len": 64}, **flags).items():
        words += ["--" + name.replace("_", "-"), str(value)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=llmir.environment)


def report_of(process):
    out, err = process.communicate()
    try:
        return json.loads(out.decode("utf-8"))
    except ValueError:
        raise SystemExit("llmir bench serve: " + err.decode("utf-8", "replace")[-2000:])


def requests_in(lines):
    """The entries of the log about requests for text."""
    entries = [json.loads(line) for line in lines]
    return [entry for entry in entries if entry.get("path") == "/v1/completions"]


def percentile(values, percent):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))]


def check_overload(llmir, model, seconds):
    """Ten times the requests that can be served: the others are refused at once, and nothing else happens."""
    with Server(llmir, model, "--max-waiting-requests", "32", "--log-format", "json") as server:
        cache = server.engine()["cache"]
        report_of(bench(llmir, server, num_prompts=cache["blocks"] + 64, random_input_len=cache["block_size"] + 1,
                        random_output_len=1, max_concurrency=32, seed=1))  # Fills the cache, whose memory is committed when it is used.
        sustained = report_of(bench(llmir, server, num_prompts=256, max_concurrency=32, seed=2))["request_throughput"]
        before = len(server.lines)
        load = bench(llmir, server, num_prompts=int(10 * sustained * seconds), request_rate=10 * sustained, seed=3)
        time.sleep(min(10, seconds / 6))
        memory = []
        while load.poll() is None and len(memory) < 4 * seconds:
            memory.append(resident_mib(server))
            time.sleep(0.5)
        report = report_of(load)
        check("idle after the overload", server.is_idle(), server.engine()["cache"])
        entries = requests_in(server.lines[before:])
    by_status = {}
    for entry in entries:
        by_status.setdefault(entry["status"], []).append(entry)
    counts = {status: len(list_) for status, list_ in by_status.items()}
    check("requests at ten times the sustainable rate", counts.get(200, 0) > 0 and counts.get(429, 0) > 0,
          "%.0f/s for %.0f s: %s" % (10 * sustained, report["duration"], counts))
    check("only 200, 429, 503", set(counts) <= {200, 429, 503}, counts)
    check("no stream is lost", report["completed"] == counts.get(200) and all(
        entry.get("finish") == "length" for entry in by_status.get(200, [])),
          "%d complete at the client, %d at the server" % (report["completed"], counts.get(200, 0)))
    check("the client has all answers", report["completed"] + report["failed"] == len(entries),
          "%d, %d in the log" % (report["completed"] + report["failed"], len(entries)))
    slow = percentile([entry["ms"] for entry in by_status.get(429, [])] or [1e9], 99)
    if IS_BUSY and slow >= 10:
        check.skip("rejections take less than 10 ms", "other programs use the processors; p99 %.2f ms" % slow)
    else:
        check("rejections take less than 10 ms", slow < 10, "p99 %.2f ms in the server" % slow)
    check("memory is flat within 5 %", max(memory) <= 1.05 * min(memory),
          "%.1f to %.1f MiB" % (min(memory), max(memory)))


def steps_of(server):
    text = server.request("GET", "/metrics")[2].decode("utf-8")
    return int(float(re.search(r"vllm:iteration_tokens_total_count\{.*\} (\S+)", text).group(1)))


def check_disconnects(llmir, model):
    """Clients that leave at random moments; the blocks of the last one are free after the step that runs."""
    with Server(llmir, model) as server:
        check_random_disconnects(server, MANY)
        late = 0
        for _ in range(20):
            stream = open_stream(server, dict(ENDLESS, n=4))
            read_until(stream, b"data: ")
            time.sleep(random.random() * 0.05)
            stream.close()
            while not server.lines or "client_left" not in server.lines[-1]:
                time.sleep(0.001)
            before = steps_of(server)
            while server.engine()["cache"]["used"] > 0:
                time.sleep(0.001)
            late = max(late, steps_of(server) - before)
            server.lines.append("")  # The next client's line is awaited.
        cache = server.engine()["cache"]
        check("blocks are back within a step", late <= 1, "%d steps after the client had left" % late)
        check("free + cached == total", cache["free"] + cache["idle"] == cache["blocks"], cache)
    for failure in limits_check.failures:
        check("clients that leave: " + failure, False)


def check_idle_streams(llmir, model):
    """Streams that wait for their turn: pings keep them, others are answered, and they cost little memory."""
    with Server(llmir, model, "--max-num-seqs", "1", "--max-waiting-requests", str(2 * MANY), "--stream-ping", "1") as server:
        before = resident_mib(server)
        streams = [open_stream(server, ENDLESS) for _ in range(MANY)]
        check("all wait", server.wait_until(lambda engine: engine["requests"]["waiting"] >= MANY - 100, 60),
              server.engine()["requests"])
        time.sleep(5)
        times = []
        for _ in range(50):
            start = time.time()
            check_health = server.get("/health")[0]
            times.append(1000 * (time.time() - start))
            if check_health != 200:
                check("health", False, check_health)
        used = resident_mib(server) - before
        check("%d idle streams" % MANY, used < 64, "%.1f MiB, /health takes %.2f ms in the median, %.2f at most"
              % (used, statistics.median(times), max(times)))
        silent = sum(b"ping" not in read_until(stream, b": ping") for stream in streams[-200:])
        check("streams that wait get pings", silent == 0, "%d of 200 did not" % silent)
        for stream in streams:
            stream.close()
        check("idle after they have left", server.wait_until(
            lambda engine: engine["cache"]["used"] == 0 and engine["requests"]["waiting"] == 0, 60),
              server.engine()["cache"])


def check_kill(llmir, options):
    """kill -9 at any moment of a start: the next one serves, and the one after it compiles nothing."""
    choose = random.Random(5)
    wanted = None
    for attempt in range(10):
        server = Server(llmir, options.demo, wait=False)
        time.sleep(choose.uniform(0, 3))
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()
        server.reader.join(10)
        if attempt % 3 != 2:
            continue
        for start in ("the next start", "the start after it"):
            with Server(llmir, options.demo) as again:
                answer = again.post("/v1/completions", {"prompt": "In the beginning", "max_tokens": 12, "temperature": 0})
                text = answer[1]["choices"][0]["text"] if answer[0] == 200 else answer
                wanted = wanted or text
                compiled = "compiled in" in again.log()
                check("%s after kill -9" % start, text == wanted and not (compiled and start == "the start after it"),
                      "compiled" if compiled else "from the cache")


CHECKS = ("overload", "disconnects", "idle", "kill")


def main():
    parser = work_parser(__doc__, "llmir", "demo")
    parser.add_argument("--seconds", type=float, default=60, help="of the overload")
    parser.add_argument("--only", action="append", choices=CHECKS)
    options = parser.parse_args()
    wanted = options.only or CHECKS
    fresh_folder(options.work)
    llmir = Command(options.llmir, cache=os.path.join(options.work, "cache"))
    model, _ = compile_demo(llmir, options)
    print("load average: %.1f on %d processors" % (os.getloadavg()[0], os.cpu_count()))
    if "overload" in wanted:
        check_overload(llmir, model, options.seconds)
    if "disconnects" in wanted:
        check_disconnects(llmir, model)
    if "idle" in wanted:
        check_idle_streams(llmir, model)
    if "kill" in wanted:
        check_kill(llmir, options)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
