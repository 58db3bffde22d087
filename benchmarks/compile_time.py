#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How long compiling a model takes, stage by stage, as a Markdown table.

    compile_time.py --llmir build/bin/llmir [--model MODEL] [--target NAME,…] [--runs 5]
                    [--processors N] [--json OUT] [-- FLAG…]

Compiles MODEL (the demo model without it) for each target in turn, `--runs` times, and prints the
median milliseconds of each stage. Flags after `--` go to `llmir compile` (`-- --quantize q8`).

  start   time outside of the stages: loading MLIR and LLVM, and exiting
  total   wall time of the process, followed by its processor time, which is larger with several
          processors

`--processors N` binds the command to N processors. A target whose artifact differs from one run to
the next is an error: compiling is deterministic.
"""
import argparse
import hashlib
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
DEMO = os.path.join(HERE, "..", "models", "demo")
# A line of the report of `llmir compile --stop-after`: "target   812.3 ms  96 KiB of code …".
REPORT_LINE = re.compile(r"^([a-z]+) +([0-9.]+) ms  (.*)$", re.M)


class Run(object):
    """One compilation: milliseconds per stage and of the process, and its output."""

    def __init__(self, command, artifact, processors):
        def bind():
            if processors:
                os.sched_setaffinity(0, processors)

        if os.path.exists(artifact):
            os.remove(artifact)
        begin = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   universal_newlines=True, preexec_fn=bind)
        text = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = status  # Reaped: Popen need not wait for it.
        process.stdout.close()
        self.total = 1000 * (time.perf_counter() - begin)
        if status != 0:
            raise RuntimeError("%s failed: %s" % (" ".join(command), text.strip()))
        self.cpu = 1000 * (usage.ru_utime + usage.ru_stime)
        self.memory = usage.ru_maxrss / 1024
        self.stages = {name: float(spent) for name, spent, _ in REPORT_LINE.findall(text)}
        if "artifact" not in self.stages:
            raise RuntimeError("%s reported no stages: %r" % (" ".join(command), text))
        self.start = self.total - sum(self.stages.values())
        with open(artifact, "rb") as stream:
            self.digest = hashlib.sha256(stream.read()).hexdigest()


def measure(options, targets, work):
    """{target: its runs}, interleaved, so that slow phases of the machine affect all targets."""
    processors = sorted(os.sched_getaffinity(0))[:options.processors]
    results = {target: [] for target in targets}
    artifact = os.path.join(work, "model.llmir")
    for _ in range(options.runs):
        for target in targets:
            command = [options.llmir, "compile", options.model, "--target", target,
                       "--stop-after", "artifact", "-o", artifact] + options.flags
            results[target].append(Run(command, artifact, processors))
    for target, runs in results.items():
        if len({run.digest for run in runs}) != 1:
            raise RuntimeError("the artifacts for %s differ from run to run" % target)
    return results


def row_of(target, runs):
    """The medians of a target's runs, in milliseconds."""
    def median(value):
        return statistics.median(value(run) for run in runs)
    stages = {name: median(lambda run, name=name: run.stages[name]) for name in runs[0].stages}
    return dict(target=target, start=median(lambda run: run.start), stages=stages,
                total=median(lambda run: run.total), cpu=median(lambda run: run.cpu),
                memory_mib=median(lambda run: run.memory), artifact=runs[0].digest)


def markdown(rows):
    """Milliseconds; the table's columns are the stages that were reported."""
    stages = list(rows[0]["stages"])
    lines = ["| target | start | %s | total | processor time | memory |" % " | ".join(stages),
             "|---|" + "---|" * (len(stages) + 4)]
    for row in rows:
        spent = [row["start"]] + [row["stages"][name] for name in stages]
        lines.append("| %s | %s | **%.0f** | %.0f | %.0f MiB |" % (
            row["target"], " | ".join("%.0f" % value for value in spent), row["total"],
            row["cpu"], row["memory_mib"]))
    return "\n".join(lines)


def processor_name():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as stream:
            found = re.search(r"(?m)^model name\s*: (.*)$", stream.read())
    except OSError:
        found = None
    return found.group(1) if found else platform.machine()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--llmir", required=True)
    parser.add_argument("--model", default=os.path.normpath(DEMO))
    parser.add_argument("--target", default="native,x86-64-v3,x86-64-v4-bf16",
                        help="levels with commas between, one row each")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--processors", type=int, default=None, help="use only so many")
    parser.add_argument("--json", metavar="OUT", help="write the medians there, too")
    parser.add_argument("flags", nargs="*", metavar="FLAG", help="of llmir compile, after --")
    options = parser.parse_args()
    if options.runs < 1 or (options.processors is not None and options.processors < 1):
        parser.error("--runs and --processors are at least 1")
    targets = list(dict.fromkeys(options.target.split(",")))
    try:
        with tempfile.TemporaryDirectory() as work:
            results = measure(options, targets, work)
    except RuntimeError as error:
        print("compile_time.py: %s" % error, file=sys.stderr)
        return 1
    rows = [row_of(target, runs) for target, runs in results.items()]
    used = options.processors or len(os.sched_getaffinity(0))
    print("Milliseconds of `llmir compile %s%s`, medians of %d runs; %s, %d processor%s.\n" % (
        os.path.basename(options.model), "".join(" " + flag for flag in options.flags),
        options.runs, processor_name(), used, "" if used == 1 else "s"))
    print(markdown(rows))
    if options.json:
        with open(options.json, "w", encoding="utf-8") as stream:
            json.dump(rows, stream, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
