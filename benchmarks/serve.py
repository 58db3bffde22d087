#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Servers under load: `llmir serve` and others, measured by `llmir bench serve` in interleaved rounds.

    serve.py --llmir build/bin/llmir --work DIR [--shape qwen2.5-0.5b] [--type q4_0] [--threads 2]
             [--peer 'NAME=COMMAND']... [--measure throughput,prefix,arrivals] [--rounds 3] [--json OUT.json]

COMMAND starts a server with OpenAI's API; {model}, {port} and {threads} in it are replaced:

    --peer 'llama.cpp=llama-server -m {model} --port {port} -t {threads} -np 16 -c 32768'

Models have published shapes and random weights (make_model.py). In each round each server is started anew, measured, and
stopped, so that nothing is in its cache and other load on the machine affects all equally; prompts differ between rounds.

  throughput  16 requests at once, and one after the other: output tokens per second, and their ratio
  prefix      64 requests at once that share 1,000 tokens, and 64 of the same length that share none: time to the first token
  arrivals    the 99th percentile of the time between chunks of 8 streams, while prompts of 512 tokens arrive, and without

The load of the machine before each measurement is part of the results: figures of a busy machine are not worth much.
"""
import argparse
import json
import os
import shlex
import signal
import socket
import statistics
import subprocess
import sys

from peers import Llmir, output_of

HERE = os.path.dirname(os.path.abspath(__file__))
STARTUP_SECONDS = 300


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A process that serves, from `with` on; its messages go to a file."""

    def __init__(self, command, log, values):
        self.port = free_port()
        self.line = [word.format(port=self.port, **values) for word in shlex.split(command)]
        self.log = log

    def __enter__(self):
        self.stream = open(self.log, "w", encoding="utf-8")
        self.process = subprocess.Popen(self.line, stdout=self.stream, stderr=subprocess.STDOUT)
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.stream.close()


class Load:
    """`llmir bench serve` for a server."""

    def __init__(self, options, server, seed):
        self.options, self.server, self.seed = options, server, seed

    def line(self, **flags):
        self.seed += 1  # No prompt is measured twice.
        values = dict({"port": self.server.port, "vocab_size": self.options.vocab_size, "seed": self.seed}, **flags)
        words = [self.options.llmir, "bench", "serve", "--ignore-eos", "--json"]
        for name, value in values.items():
            words += ["--" + name.replace("_", "-"), str(value)]
        return words

    def __call__(self, **flags):
        return self.checked(output_of(self.line(**flags)))

    def checked(self, text):
        report = json.loads(text)
        if report["failed"]:
            raise SystemExit("requests failed: %s; see %s" % (report["failures"], self.server.log))
        return report

    def start(self, **flags):
        return subprocess.Popen(self.line(**flags), stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def measure_throughput(load, options):
    lengths = {"random_input_len": options.prompt, "random_output_len": options.gen}
    one = load(num_prompts=2, max_concurrency=1, **lengths)
    many = load(num_prompts=16, **lengths)
    return {"one": one["output_throughput"], "sixteen": many["output_throughput"],
            "ratio": many["output_throughput"] / one["output_throughput"]}


def measure_prefix(load, options):
    lengths = {"num_prompts": options.prefix_requests, "random_output_len": 4}
    apart = load(random_input_len=options.prefix + 16, **lengths)
    shared = load(random_input_len=16, random_prefix_len=options.prefix, **lengths)
    return {"apart_ms": apart["mean_ttft_ms"], "shared_ms": shared["mean_ttft_ms"],
            "ratio": apart["mean_ttft_ms"] / shared["mean_ttft_ms"],
            "cached_tokens": shared["total_cached_tokens"]}


def measure_arrivals(load, options):
    streams = {"num_prompts": 8, "random_input_len": 32, "random_output_len": options.stream}
    alone = load(**streams)
    # They are stopped when the streams end, which may take far longer than without them.
    seconds = 50 * max(alone["duration"], 1)
    arriving = load.start(num_prompts=max(2, round(seconds * options.arrival_rate)), random_input_len=options.arrival_len,
                          random_output_len=1, request_rate=options.arrival_rate)
    disturbed = load(**streams)
    lasted = arriving.poll() is None
    arriving.send_signal(signal.SIGTERM)
    said = arriving.communicate()[1].decode("utf-8", "replace")
    if not lasted:
        raise SystemExit("the arrivals ended before the streams: " + said)
    return {"alone_ms": alone["p99_itl_ms"], "arrivals_ms": disturbed["p99_itl_ms"],
            "ratio": disturbed["p99_itl_ms"] / alone["p99_itl_ms"]}


MEASURES = {"throughput": measure_throughput, "prefix": measure_prefix, "arrivals": measure_arrivals}


def prepare_model(options):
    """-> (the GGUF file, created if it does not exist, and the artifact, compiled by the build that is measured)."""
    model = os.path.join(options.work, "%s-%s.gguf" % (options.shape, options.type))
    artifact = model[:-len(".gguf")] + ".llmir"
    if not os.path.exists(model):
        output_of([sys.executable, os.path.join(HERE, "make_model.py"), "--shape", options.shape, "--type", options.type,
                   "--out", model])
    Llmir(options.compiler or options.llmir, options.level).compile(model, artifact, None, None)
    return model, artifact


def list_servers(options):
    """-> {name: (command, model)}"""
    model, artifact = prepare_model(options)
    ours = "%s serve {model} --port {port} -t {threads}" % shlex.quote(options.llmir)
    servers = {"llmir": (" ".join([ours] + options.serve_flags), artifact)}
    for peer in options.peer:
        name, found, command = peer.partition("=")
        if not found or name in servers:
            raise SystemExit("--peer %r is not NAME=COMMAND with another name" % peer)
        servers[name] = (command, model)
    return servers


def run_round(options, number, servers, results):
    for name, (command, model) in servers.items():
        log = os.path.join(options.work, "serve-%s.log" % name)
        with Server(command, log, {"model": model, "threads": options.threads}) as server:
            load = Load(options, server, seed=1000 * (number + 1))
            load(num_prompts=1, random_input_len=16, random_output_len=2, ready_timeout=STARTUP_SECONDS)
            for measure in options.measure:
                busy = os.getloadavg()[0]
                values = dict(MEASURES[measure](load, options), load_average=busy)
                results.setdefault(measure, {}).setdefault(name, []).append(values)
                print("round %d, %s, %s: %s" % (number + 1, name, measure, ", ".join(
                    "%s %.2f" % (key, value) for key, value in values.items() if value is not None)), flush=True)


def print_medians(results):
    for measure, servers in results.items():
        for name, rounds in servers.items():
            keys = [key for key in rounds[0] if all(values[key] is not None for values in rounds)]
            print("%s, %s, medians of %d: %s" % (measure, name, len(rounds), ", ".join(
                "%s %.2f" % (key, statistics.median(values[key] for values in rounds)) for key in keys)))
        ours = results[measure]["llmir"]
        for name, rounds in servers.items():
            if measure == "throughput" and name != "llmir":
                shares = [a["sixteen"] / b["sixteen"] for a, b in zip(ours, rounds)]
                print("throughput, llmir / %s at 16 requests: %.2f" % (name, statistics.median(shares)))


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--llmir", required=True, help="measures, and serves")
    parser.add_argument("--compiler", help="another llmir, which compiles")
    parser.add_argument("--work", required=True, help="directory of models and messages")
    parser.add_argument("--shape", default="qwen2.5-0.5b")
    parser.add_argument("--type", default="q4_0")
    parser.add_argument("--level", help="CPU level of the code (default: this machine's)")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--serve-flags", type=shlex.split, default=[], help="further flags of llmir serve, in one text")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=COMMAND")
    parser.add_argument("--measure", type=lambda text: text.split(","), default=list(MEASURES))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--vocab-size", type=int, default=30000, help="random token ids are below this")
    parser.add_argument("--prompt", type=int, default=128, help="tokens of a prompt of throughput")
    parser.add_argument("--gen", type=int, default=64, help="tokens of its answer")
    parser.add_argument("--prefix", type=int, default=1000)
    parser.add_argument("--prefix-requests", type=int, default=64)
    parser.add_argument("--stream", type=int, default=128, help="tokens of each stream of arrivals")
    parser.add_argument("--arrival-len", type=int, default=512, help="tokens of the prompts that arrive meanwhile")
    parser.add_argument("--arrival-rate", type=float, default=0.5, help="of these, per second")
    parser.add_argument("--json", metavar="OUT.json")
    options = parser.parse_args()
    unknown = set(options.measure) - set(MEASURES)
    if unknown:
        parser.error("--measure knows %s, not %s" % (", ".join(MEASURES), ", ".join(sorted(unknown))))
    return options


def main():
    options = parse_options()
    os.makedirs(options.work, exist_ok=True)
    servers = list_servers(options)
    results = {}
    for number in range(options.rounds):
        run_round(options, number, servers, results)
        if options.json:
            with open(options.json, "w", encoding="utf-8") as stream:
                json.dump({"shape": options.shape, "type": options.type, "threads": options.threads,
                           "servers": {name: command for name, (command, _) in servers.items()},
                           "results": results}, stream, indent=1)
    print_medians(results)
    return 0


if __name__ == "__main__":
    sys.exit(main())
