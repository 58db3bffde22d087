"""compare_report.py on fabricated results, and the plan of compare.py.

    check_report.py table    # the Markdown table, for FileCheck
    check_report.py plan     # every row with a target in docs/Performance.md is in the plan
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "..", "benchmarks"))
from compare import in_order, plan_performance  # noqa: E402
from compare_report import accuracy_key, markdown  # noqa: E402

GB = 1e9


def entry(kind, llmir, peers=(), **changes):
    """An entry of results.json: rates of the engines, and llmir's own output."""
    case = dict(shape="llama-3.2-1b", type="q4_0", threads=1, prompt=512, gen=32, depth=0,
                sequences=1, level=None, kv=None)
    reading = kind == "tg"
    own = dict(samples=llmir, share=[0.9], bound=["reads" if reading else "int8"],
               read_limit=[40 * GB], peak=[1e12], source_bytes_per_second=[36 * GB],
               packed_bytes_per_second=[37 * GB], operations_per_second=[7e11], kv_bytes=[0.0],
               artifact=["0123456789abcdef01234567"])
    own.update({key: changes.pop(key) for key in list(changes) if key in own})
    engines = {name: {"samples": rates} if isinstance(rates, list) else {"failures": [rates]}
               for name, rates in dict(peers).items()}
    return dict(case, kind=kind, engines=dict(engines, llmir=own), **changes)


def table():
    peers = {"llama.cpp": [30.0], "ik": [20.0, 28.0, 24.0], "ik +rtr": [25.0]}
    entries = [
        entry("pp", [300.0], {"llama.cpp": [100.0]}),
        entry("tg", [50.0, 40.0, 60.0], peers),
        entry("tg", [32.0], peers, type="q8_0", share=[0.95]),
        entry("tg", [150.0], sequences=4, prompt=0),
        entry("tg", [230.0], sequences=16, prompt=0),
        entry("tg", [50.0], kv="bf16", prompt=0, kv_bytes=[1e6]),
        # 135 MB more in 4 ms more: 33.5 GB/s of 40.
        entry("tg", [1 / 0.024], peers, kv="bf16", prompt=0, depth=4096, kv_bytes=[135e6]),
        entry("tg", [50.0], kv="q8", prompt=0, kv_bytes=[1e6]),
        entry("tg", [40.0], dict(peers, ik="bench -m x ended with 1: no\nsuch cache"), kv="q8",
              prompt=0, depth=4096, kv_bytes=[71e6]),
        entry("tg", [90.0], peers, threads=2)]
    figures = {"kl_mean": 0.0242, "top1_agreement": 0.877, "kl_llama_cpp": 0.0245, "tokens": 3072,
               "artifact": "fedcba9876543210ffff", "flags": []}
    accuracy = {accuracy_key(entries[0]): figures,
                "q4_0, KV bf16": dict(figures, kl_mean=0.03, flags=["--kv", "bf16"])}
    return markdown({
        "cases": {str(number): value for number, value in enumerate(entries)},
        "accuracy": accuracy, "engines": {"ik": {"version": "commit abc"}},
        "machine": {"cpu": "a CPU", "processors": 2, "memory": 8e9, "system": "Linux"}})


def plan():
    cases = plan_performance()
    assert len(set(cases)) == len(cases), "a case is there twice"
    there = {(c.shape, c.type, c.threads, c.depth, c.sequences, c.level, c.kv) for c in cases}
    wanted = [(shape, kind, threads, 0, 1, None, None)
              for shape in ("qwen2.5-0.5b", "llama-3.2-1b", "tinyllama-1.1b")
              for kind in ("bf16", "q8_0", "int8", "q4_0", "q4_k_m", "int4:g32", "int4:g128")
              for threads in (1, 2)]
    wanted += [("llama-3.2-1b", "q4_0", threads, depth, 1, None, kv) for threads in (1, 2)
               for depth in (0, 4096) for kv in ("bf16", "f16", "q8")]
    wanted += [("tinyllama-1.1b", "q4_0", threads, 0, sequences, None, None)
               for threads in (1, 2) for sequences in (4, 16)]
    wanted += [("tinyllama-1.1b", kind, 1, 0, 1, "x86-64-v3", None) for kind in ("q8_0", "q4_0")]
    wanted += [("stories-15m", "q8_0", threads, 0, 1, None, None) for threads in (1, 2)]
    missing = [case for case in wanted if case not in there]
    assert not missing, missing
    # Each case once per round, the first round before all others; files are created at most twice.
    order = list(in_order(cases, 3))
    assert order[:len(cases)] == [(0, case) for case in cases]
    assert sorted(map(str, order)) == sorted(
        str((number, case)) for number in range(3) for case in cases)
    shapes = [case.shape for _, case in order]
    changes = sum(one != other for one, other in zip(shapes, shapes[1:]))
    assert changes == 2 * len(set(shapes)) - 1, changes
    return "%d cases\n" % len(cases)


if __name__ == "__main__":
    sys.stdout.write({"table": table, "plan": plan}[sys.argv[1]]())
