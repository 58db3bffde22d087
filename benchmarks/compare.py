#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""llmir, llama.cpp and ik_llama.cpp on the same model files: interleaved runs, ratios, a plot.

    compare.py --llmir build/bin/llmir --work DIR --ik-llama-bench ik/build/bin/llama-bench
               [--llama-bench PATH] [--shape NAME,...] [--type NAME,...] [--threads 1,2]
               [--prompt 512] [--gen 64] [--depth 0,4096] [--sequences 1,4,16] [--kv bf16,f16,q8]
               [--level x86-64-v3] [--plan performance] [--only TEXT]... [--list]
               [--rounds 3] [--minutes 60] [--accuracy-tokens 3072]
               [--markdown OUT.md] [--json OUT.json] [--plot OUT.svg]

Models have the shapes and formats of make_model.py and random weights; they and their artifacts are
created in DIR. A type of llmir's own (int8, int4:g128) quantizes the bf16 file; peers then get
the file with the same number of bits (q8_0, q4_0). Each round runs every engine once, one after the
other, so that other load on the machine affects all equally. Results are saved to
DIR/results.json after each round; another call continues where the first one stopped, and
--minutes stops a call after a complete round.

llama.cpp is the prebuilt one of an npm package, installed by name into DIR, unless --llama-bench
gives a native build. ik_llama.cpp runs with and without -rtr 1 (repacking); the better result
counts. A row without it is marked incomplete. --level compiles for, and compares with, the peers'
code of a lower CPU level: --ik-llama-bench-level must be built for that level.

Each speed is accompanied by the KL divergence and the top-1 agreement of the demo model with its
float64 reference, compiled with the same flags, and llama.cpp's with the same file (see
accuracy.py); the SHA-256 of both artifacts is listed below the table.

If an engine fails where another does not, this is noted, and a later round tries it again.
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

from compare_accuracy import DemoAccuracy, sha256_of
from compare_report import accuracy_key, case_name, write_markdown, write_plot
from peers import EngineFailed, KV_TYPES, LlamaBench, LlamaCppLibrary, Llmir, Test

HERE = os.path.dirname(os.path.abspath(__file__))
SHAPES = ("tinyllama-1.1b", "llama-3.2-1b", "qwen2.5-0.5b", "stories-15m", "qwen3-30b-a3b-8l")
FILE_TYPES = ("bf16", "f16", "q8_0", "q4_0", "q4_1", "q5_0", "q5_1", "q4_k_m", "q2_k", "q3_k", "q4_k",
              "q5_k", "q6_k", "iq4_nl", "iq4_xs", "iq3_s", "iq3_xxs", "iq2_s", "iq2_xs", "iq2_xxs",
              "iq1_m", "iq1_s", "tq1_0", "tq2_0", "mxfp4")

# A model and a way to run it.
Case = namedtuple("Case", "shape type threads prompt gen depth sequences level kv")


def peer_type(model_type):
    """The file type for the peers, and llmir's --quantize value."""
    if model_type in FILE_TYPES:
        return model_type, None
    return ("q8_0" if model_type.startswith("int8") or model_type == "q8" else "q4_0"), model_type


def plan_performance():
    """The rows of docs/Performance.md. Rows of the same shape are adjacent, since its files are
    large, and so are those of the same artifact."""
    def cases(shape, types, threads, kv=(None,), prompt=512, gen=32, depth=(0,), sequences=(1,),
              level=None):
        return [Case(shape, kind, count, prompt, gen, far, many, level, cache)
                for kind, cache, count, far, many in itertools.product(
                    types, kv, threads, depth, sequences)]
    tiny, llama, qwen, stories, mixture = SHAPES
    formats = ("bf16", "q8_0", "q4_0", "q4_k_m", "int8", "int4:g32", "int4:g128")
    # TinyLlama's context is shorter than 4096 tokens.
    deep = dict(prompt=0, depth=(0, 4096), kv=("bf16", "f16", "q8"))
    batch = dict(prompt=0, sequences=(4, 16))
    plan = cases(tiny, formats, (1, 2))
    plan += cases(tiny, ("q4_0",), (1, 2), **batch)
    plan += cases(tiny, ("q8_0", "q4_0"), (1,), level="x86-64-v3")
    plan += cases(tiny, ("iq4_xs", "q5_k", "q2_k", "mxfp4"), (1, 2))
    plan += cases(mixture, ("q4_0", "q4_k_m"), (1, 2), prompt=128)
    plan += cases(stories, ("q8_0",), (1, 2), gen=256)
    plan += cases(llama, formats, (1, 2))
    plan += cases(llama, ("q4_0", "q4_k_m", "int4:g128"), (1,), **batch)
    plan += cases(llama, ("q4_0",), (1, 2), **deep)
    plan += cases(llama, ("q8_0", "q4_0"), (1,), level="x86-64-v3")
    plan += cases(qwen, formats, (1, 2))
    plan += cases(qwen, ("q4_0",), (1,), **deep)
    return plan


def key_of(case, kind):
    return "/".join(str(part) for part in case) + "/" + kind


def in_order(plan, rounds):
    """(number of a round, case): first every case once, so that a call that runs out of time has
    covered all; then the other rounds of each shape, so that its files are created at most twice."""
    yield from ((0, case) for case in plan)
    for shape in dict.fromkeys(case.shape for case in plan):
        for number in range(1, rounds):
            yield from ((number, case) for case in plan if case.shape == shape)


def kinds_of(case):
    """The measurements of a case: pp, the prompt; tg, the tokens after it."""
    return [kind for kind, tokens in (("pp", case.prompt), ("tg", case.gen)) if tokens]


class Models:
    """The files in the work folder, created on demand. Unless they are to be kept, only those of one
    shape exist at a time, and one artifact."""

    def __init__(self, work, build, keep):
        self.work, self.build, self.keep = work, build, keep

    def gguf(self, shape, file_type):
        path = os.path.join(self.work, "%s-%s.gguf" % (shape, file_type))
        if not os.path.exists(path):
            self.drop(lambda name: not name.startswith(shape))
            subprocess.run([sys.executable, os.path.join(HERE, "make_model.py"), "--shape", shape,
                            "--type", file_type, "--out", path], check=True,
                           stdout=subprocess.DEVNULL)
        return path

    def artifact(self, case, llmir):
        """-> (the artifact of a case, compiled by this build of llmir; its SHA-256)."""
        file_type, quantize = peer_type(case.type)
        source = self.gguf(case.shape, "bf16" if quantize else file_type)
        parts = [case.shape, case.type.replace(":", "-"), case.level, case.kv, self.build]
        name = "-".join(part for part in parts if part) + ".llmir"
        path = os.path.join(self.work, name)
        if not os.path.exists(path + ".sha256"):
            self.drop(lambda other: ".llmir" in other)
            llmir.compile(source, path, quantize, case.kv)
            with open(path + ".sha256", "w", encoding="utf-8") as stream:
                stream.write(sha256_of(path))
        with open(path + ".sha256", encoding="utf-8") as stream:
            return path, stream.read()

    def drop(self, condition):
        """Deletes models, unless they are to be kept."""
        for name in os.listdir(self.work):
            if name.endswith((".gguf", ".llmir", ".sha256")) and condition(name) and not self.keep:
                os.remove(os.path.join(self.work, name))


class Comparison:
    def __init__(self, options):
        self.options = options
        self.path = os.path.join(options.work, "results.json")
        self.results = {"engines": {}, "cases": {}, "accuracy": {}}
        if os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as stream:
                self.results = json.load(stream)
        self.results["machine"] = machine()
        # Results of another build must not be mixed with those of this one.
        self.llmir = Llmir(options.llmir, None)
        version = self.llmir.describe()["version"]
        if self.results.setdefault("llmir", version) != version and not options.report:
            print("llmir was rebuilt: earlier results are discarded", file=sys.stderr)
            self.results.update(llmir=version, engines={}, cases={}, accuracy={})
        self.deadline = time.monotonic() + 60 * options.minutes
        self.engines = {}
        self.models = Models(options.work, self.llmir.build(), options.keep)
        self.accuracy = DemoAccuracy(options.llmir, options.work, options.accuracy_tokens)

    def engines_of(self, level):
        """The engines that have code of the level (None: the machine's)."""
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
        for number, case in in_order(plan, self.options.rounds):
            if self.rounds_of(case) > number:
                continue
            if time.monotonic() > self.deadline:
                print("out of time; call again to continue", file=sys.stderr)
                return
            self.round(case)
            self.save()
            self.look_at_accuracy(case)
            self.save()

    def rounds_of(self, case):
        """Rounds completed by all engines."""
        counts = []
        for kind in kinds_of(case):
            row = self.results["cases"].get(key_of(case, kind), {}).get("engines", {})
            counts.append(len(row.get("llmir", {}).get("samples", [])))
        return min(counts)

    def round(self, case):
        test = Test(case.prompt, case.gen, case.depth, case.sequences, case.threads, case.kv)
        engines = self.engines_of(case.level)
        artifact, checksum = self.models.artifact(case, engines[0])
        model = self.models.gguf(case.shape, peer_type(case.type)[0])
        # The engine whose row counts rounds runs last, so that rounds are complete or absent.
        for engine in engines[1:] + engines[:1]:
            print("%s: %s" % (case_name(case._asdict()), engine.name), file=sys.stderr)
            own = engine is engines[0]
            try:
                rows = engine.measure(artifact if own else model, test)
            except EngineFailed as failure:
                if own:
                    raise
                print(failure, file=sys.stderr)
                rows = {kind: {"failures": str(failure)} for kind in kinds_of(case)}
            for kind, row in rows.items():
                self.add(case, kind, engine.name, dict(row, artifact=checksum) if own else row)
            name = engine.name + (" " + case.level if case.level else "")
            self.results["engines"][name] = engine.describe()

    def look_at_accuracy(self, case):
        """Computed once for all cases whose artifacts are compiled with the same flags."""
        key = accuracy_key(case._asdict())
        if not self.options.accuracy_tokens or key in self.results["accuracy"]:
            return
        print("%s: accuracy" % key, file=sys.stderr)
        file_type, quantize = peer_type(case.type)
        llmir, llama_cpp = self.engines_of(case.level)[:2]
        libraries = llama_cpp.folder if isinstance(llama_cpp, LlamaCppLibrary) else None
        figures = self.accuracy.row(llmir, file_type, quantize, case.kv, libraries)
        self.results["accuracy"][key] = dict(figures, flags=llmir.flags(quantize, case.kv))

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
    parser.add_argument("--llama-cpp", help="a directory of libllama instead of the npm package's")
    parser.add_argument("--shape", type=list_of(str), default=["tinyllama-1.1b"])
    parser.add_argument("--type", type=list_of(str), default=["q8_0", "q4_0", "bf16"])
    parser.add_argument("--threads", type=list_of(int), default=[1])
    parser.add_argument("--prompt", type=int, default=512)
    parser.add_argument("--gen", type=int, default=64)
    parser.add_argument("--depth", type=list_of(int), default=[0])
    parser.add_argument("--sequences", type=list_of(int), default=[1])
    parser.add_argument("--level", help="CPU level of the code, instead of the machine's own")
    parser.add_argument("--kv", type=list_of(str), default=[None],
                        help="types of the KV cache, of all engines: " + ", ".join(KV_TYPES))
    parser.add_argument("--plan", choices=["performance"], help="the rows of docs/Performance.md")
    parser.add_argument("--only", action="append", help="cases whose line of --list contains this")
    parser.add_argument("--list", action="store_true", help="list the cases and measure nothing")
    parser.add_argument("--accuracy-tokens", type=int, default=3072,
                        help="tokens of held-out text; 0: no accuracy")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--keep", action="store_true", help="keep models of all shapes")
    parser.add_argument("--report", action="store_true", help="measure nothing more")
    for form in ("markdown", "json", "plot"):
        parser.add_argument("--" + form)
    options = parser.parse_args()
    for program in (options.llmir, options.ik_llama_bench, options.ik_llama_bench_level,
                    options.llama_bench):
        if program and not shutil.which(program):
            parser.error("%s is not a program" % program)
    for kv in options.kv:
        if kv not in KV_TYPES and kv is not None:
            parser.error("--kv %s is none of %s" % (kv, ", ".join(KV_TYPES)))
    return options


def plan_of(options):
    if options.plan:
        plan = plan_performance()
    else:
        plan = [Case(*values) for values in itertools.product(
            options.shape, options.type, options.threads, [options.prompt], [options.gen],
            options.depth, options.sequences, [options.level], options.kv)]
    return [case for case in plan if not options.only or any(
        text in case_name(case._asdict()) for text in options.only)]


def main():
    options = parse_arguments()
    plan = plan_of(options)
    if options.list:
        print("\n".join(case_name(case._asdict()) for case in plan))
        return
    os.makedirs(options.work, exist_ok=True)
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
