#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""llmir, llama.cpp and ik_llama.cpp on the same model files: interleaved runs, ratios, a plot.

    compare.py --llmir build/bin/llmir --work FOLDER --ik-llama-bench ik/build/bin/llama-bench
               [--llama-bench PATH] [--shape NAME,...] [--type NAME,...] [--threads 1,2]
               [--prompt 512] [--gen 64] [--depth 0,4096] [--sequences 1,4,16] [--level x86-64-v3]
               [--plan performance] [--rounds 3] [--minutes 20]
               [--markdown OUT.md] [--json OUT.json] [--plot OUT.png]

Models have the shapes and formats of make_model.py and random weights; they are made in FOLDER, as
is what llmir compiles of them. A type of llmir's own (int8, int4:g128) quantizes the bf16 file;
peers get the file of as many bits (q8_0, q4_0) then. Each round runs every engine once, one after
the other, so that what else the machine does meets all alike. What was measured is kept in
FOLDER/results.json after each round; a second call goes on where the first one stopped, and
--minutes stops one in good order.

llama.cpp is the prebuilt one of an npm package, installed by name into FOLDER, unless --llama-bench
names a native build. ik_llama.cpp runs with and without -rtr 1 (repacking); the better of the two
counts. A row without it is marked incomplete. --level compiles for, and compares with, the peers'
code of a lower level of processors: --ik-llama-bench must be built for that level.
"""
import argparse
import itertools
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections import namedtuple

from compare_report import write_markdown, write_plot
from peers import LlamaBench, LlamaCppLibrary, Llmir, Test

HERE = os.path.dirname(os.path.abspath(__file__))
SHAPES = ("tinyllama-1.1b", "llama-3.2-1b", "qwen2.5-0.5b", "stories-15m")
FILE_TYPES = ("bf16", "f16", "q8_0", "q4_0", "q4_1", "q4_k_m", "q4_k", "q5_k", "q6_k")

# A model and one way to run it; `kind` is what Test makes of it: pp or tg.
Case = namedtuple("Case", "shape type threads prompt gen depth sequences level")


def peer_type(model_type):
    """The type of the file that peers get, and how llmir quantizes it."""
    if model_type in FILE_TYPES:
        return model_type, None
    return ("q8_0" if model_type.startswith("int8") or model_type == "q8" else "q4_0"), model_type


def plan_performance():
    """The rows of docs/Performance.md, the most telling first."""
    def cases(shapes, types, threads, prompt=512, gen=32, depth=0, sequences=1, level=None):
        return [Case(*values) for values in itertools.product(
            shapes, types, threads, [prompt], [gen], [depth], [sequences], [level])]
    tiny, llama, qwen, stories = ((shape,) for shape in SHAPES)
    plan = cases(tiny, ("q8_0", "q4_0", "bf16", "q4_k_m"), (1,))
    plan += cases(stories, ("q8_0",), (1,), gen=256)
    plan += cases(llama, ("bf16", "q4_0", "q8_0"), (1,))
    plan += [case for sequences in (1, 4, 16) for case in
             cases(tiny, ("q4_0",), (2,), prompt=0, sequences=sequences)]
    plan += cases(tiny, ("q8_0", "q4_0", "bf16"), (2,))
    plan += cases(tiny, ("int8", "int4:g128"), (1,))
    plan += cases(tiny, ("q8_0", "q4_0"), (1,), level="x86-64-v3")
    plan += cases(llama, ("q4_0",), (1,), prompt=0, depth=4096)
    plan += cases(qwen, ("q8_0", "q4_0", "bf16"), (1,))
    plan += cases(llama, ("q4_k_m",), (1,)) + cases(llama + qwen, ("q8_0", "q4_0"), (2,))
    return plan


def key_of(case, kind):
    return "/".join(str(part) for part in case) + "/" + kind


class Models:
    """The files in the work folder, made when they are first needed."""

    def __init__(self, work, llmir, keep):
        self.work, self.llmir, self.keep = work, llmir, keep
        self.made = []

    def gguf(self, shape, file_type):
        path = os.path.join(self.work, "%s-%s.gguf" % (shape, file_type))
        if not os.path.exists(path):
            self.drop_others(shape)
            subprocess.run([sys.executable, os.path.join(HERE, "make_model.py"), "--shape", shape,
                            "--type", file_type, "--out", path], check=True,
                           stdout=subprocess.DEVNULL)
        self.made.append(path)
        return path

    def artifact(self, case):
        """Compiled anew when llmir is newer."""
        file_type, quantize = peer_type(case.type)
        source = self.gguf(case.shape, "bf16" if quantize else file_type)
        level = "-" + case.level if case.level else ""
        name = "%s-%s%s.llmir" % (case.shape, case.type.replace(":", "-"), level)
        path = os.path.join(self.work, name)
        if not os.path.exists(path) or os.path.getmtime(path) < os.path.getmtime(
                self.llmir.program):
            self.llmir.compile(source, path, quantize)
        self.made.append(path)
        return path

    def drop_others(self, shape):
        """Frees the disk of models of other shapes, unless they are to be kept."""
        if self.keep:
            return
        for name in os.listdir(self.work):
            if name.endswith((".gguf", ".llmir")) and not name.startswith(shape):
                os.remove(os.path.join(self.work, name))


class Comparison:
    def __init__(self, options):
        self.options = options
        self.path = os.path.join(options.work, "results.json")
        self.results = {"engines": {}, "cases": {}}
        if os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as stream:
                self.results = json.load(stream)
        self.results["machine"] = machine()
        # What another build has measured does not belong into the same row.
        version = Llmir(options.llmir, None).describe()["version"]
        if self.results.setdefault("llmir", version) != version and not options.report:
            print("llmir was built anew: what was measured is dropped", file=sys.stderr)
            self.results.update(llmir=version, engines={}, cases={})
        self.deadline = time.monotonic() + 60 * options.minutes
        self.engines = {}

    def engines_of(self, level):
        """What can run code of the level (None: the machine's)."""
        if level in self.engines:
            return self.engines[level]
        options = self.options
        engines = [Llmir(options.llmir, level)]
        if options.llama_bench and not level:
            engines.append(LlamaBench("llama.cpp", options.llama_bench, []))
        else:
            folder = options.llama_cpp or LlamaCppLibrary.install(options.work)
            engines.append(LlamaCppLibrary(folder, "haswell" if level else None))
        ik = options.ik_llama_bench_level if level else options.ik_llama_bench
        if ik:
            engines.append(LlamaBench("ik", ik, []))
            engines.append(LlamaBench("ik +rtr", ik, ["-rtr", "1"]))
        self.engines[level] = engines
        return engines

    def run(self, plan):
        models = Models(self.options.work, Llmir(self.options.llmir, None), self.options.keep)
        # Every case once, then every case twice: who runs out of time has seen all.
        for number, case in itertools.product(range(self.options.rounds), plan):
            if self.rounds_of(case) > number:
                continue
            if time.monotonic() > self.deadline:
                print("out of time; call again to go on", file=sys.stderr)
                return
            models.llmir.level = case.level
            self.round(case, models)

    def rounds_of(self, case):
        """Rounds that all engines have been through."""
        kinds = [kind for kind, tokens in (("pp", case.prompt), ("tg", case.gen)) if tokens]
        counts = []
        for kind in kinds:
            row = self.results["cases"].get(key_of(case, kind), {}).get("engines", {})
            counts.append(len(row.get("llmir", {}).get("samples", [])))
        return min(counts)

    def round(self, case, models):
        test = Test(case.prompt, case.gen, case.depth, case.sequences, case.threads)
        label = " ".join(str(part) for part in case if part is not None)
        artifact, model = models.artifact(case), models.gguf(case.shape, peer_type(case.type)[0])
        engines = self.engines_of(case.level)
        # The engine whose row counts rounds comes last: a round is whole or not there.
        for engine in engines[1:] + engines[:1]:
            print("%s: %s" % (label, engine.name), file=sys.stderr)
            rows = engine.measure(artifact if engine.name == "llmir" else model, test)
            for kind, row in rows.items():
                self.add(case, kind, engine.name, row)
            name = engine.name + (" " + case.level if case.level else "")
            self.results["engines"][name] = engine.describe()
        self.save()

    def add(self, case, kind, engine, row):
        entry = self.results["cases"].setdefault(
            key_of(case, kind), dict(case._asdict(), kind=kind, engines={}))
        kept = entry["engines"].setdefault(engine, {})
        for name, value in row.items():
            values = value if isinstance(value, list) else [value]
            kept.setdefault(name, []).extend(values)

    def save(self):
        with open(self.path + ".new", "w", encoding="utf-8") as stream:
            json.dump(self.results, stream, indent=1)
        os.replace(self.path + ".new", self.path)


def machine():
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as stream:
        names = [line.split(":", 1)[1].strip() for line in stream if line.startswith("model name")]
    with open("/proc/meminfo", encoding="utf-8") as stream:
        memory = int(stream.readline().split()[1]) * 1024
    return {"cpu": names[0] if names else platform.processor(), "processors": os.cpu_count(),
            "memory": memory, "system": "%s %s" % (platform.system(), platform.release())}


def list_of(kind):
    return lambda text: [kind(word) for word in text.split(",")]


def parse_arguments():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--llmir", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--ik-llama-bench")
    parser.add_argument("--ik-llama-bench-level", help="the same, built for the lower --level")
    parser.add_argument("--llama-bench")
    parser.add_argument("--llama-cpp", help="a folder of libllama instead of the npm package's")
    parser.add_argument("--shape", type=list_of(str), default=["tinyllama-1.1b"])
    parser.add_argument("--type", type=list_of(str), default=["q8_0", "q4_0", "bf16"])
    parser.add_argument("--threads", type=list_of(int), default=[1])
    parser.add_argument("--prompt", type=int, default=512)
    parser.add_argument("--gen", type=int, default=64)
    parser.add_argument("--depth", type=list_of(int), default=[0])
    parser.add_argument("--sequences", type=list_of(int), default=[1])
    parser.add_argument("--level", help="code for this level of processors, not the machine's own")
    parser.add_argument("--plan", choices=["performance"], help="the rows of docs/Performance.md")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--keep", action="store_true", help="keep models of all shapes")
    parser.add_argument("--report", action="store_true", help="measure nothing more")
    for form in ("markdown", "json", "plot"):
        parser.add_argument("--" + form)
    options = parser.parse_args()
    for program in (options.llmir, options.ik_llama_bench, options.llama_bench):
        if program and not shutil.which(program):
            parser.error("%s is not a program" % program)
    return options


def main():
    options = parse_arguments()
    os.makedirs(options.work, exist_ok=True)
    if options.plan:
        plan = plan_performance()
    else:
        plan = [Case(*values) for values in itertools.product(
            options.shape, options.type, options.threads, [options.prompt], [options.gen],
            options.depth, options.sequences, [options.level])]
    comparison = Comparison(options)
    if not options.report:
        comparison.run(plan)
    results = comparison.results
    if options.json:
        with open(options.json, "w", encoding="utf-8") as stream:
            json.dump(results, stream, indent=1)
    write_markdown(results, options.markdown)
    if options.plot:
        write_plot(results, options.plot)


if __name__ == "__main__":
    main()
