#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A picture of some layers of a step, from a trace written by llmir.

    trace_picture.py TRACE.json --out PICTURE.png [--step -1] [--layers 1,2]

A row for each worker; a bar for each kernel, colored by its kind, with waiting at barriers in red.
For more, open the trace itself in ui.perfetto.dev.
"""
import argparse
import collections
import json

import matplotlib
matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402
from matplotlib.patches import Patch  # noqa: E402

KINDS = (("barrier", "waiting", "#d62728"), ("quantized_linear", "matmul", "#1b6ca8"),
         ("linear", "matmul", "#1b6ca8"), ("paged_attention", "attention", "#e3a857"),
         ("merge_attention", "attention", "#e3a857"), ("rms_norm", "norm", "#2e8b57"),
         ("quantize_rows", "rounding", "#9467bd"), ("round_rows", "rounding", "#9467bd"),
         ("", "other", "#8c8c8c"))


def kind_of(name):
    return next((label, color) for prefix, label, color in KINDS if name.startswith(prefix))


def steps_of(events):
    """For each worker, its steps: lists of (begin, end, name, layer) in microseconds."""
    steps = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "B" and event["name"].startswith("step"):
            steps[event["tid"]].append([])
        elif event["ph"] == "X" and "layer" in event.get("args", {}):
            steps[event["tid"]][-1].append((event["ts"], event["ts"] + event["dur"],
                                            event["name"], event["args"]["layer"]))
    return steps


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trace")
    parser.add_argument("--out", required=True)
    parser.add_argument("--step", type=int, default=-1, help="its number; negative: from the end")
    parser.add_argument("--layers", default="1,2", help="the first layer, and the number of layers")
    options = parser.parse_args()
    first, count = (int(word) for word in options.layers.split(","))
    with open(options.trace, encoding="utf-8") as stream:
        steps = steps_of(json.load(stream)["traceEvents"])
    figure, axes = pyplot.subplots(figsize=(12, 1.2 + 0.8 * len(steps)), constrained_layout=True)
    shown = {worker: [piece for piece in runs[options.step] if first <= piece[3] < first + count]
             for worker, runs in steps.items()}
    start = min(piece[0] for pieces in shown.values() for piece in pieces)
    used = {}
    for worker, pieces in shown.items():
        for begin, end, name, _ in pieces:
            label, color = kind_of(name)
            used[label] = color
            axes.barh(worker - 1, end - begin, left=begin - start, color=color, height=0.7,
                      edgecolor="white", linewidth=0.3)
    axes.set_yticks([worker - 1 for worker in shown])
    axes.set_yticklabels(["worker %d" % (worker - 1) for worker in shown])
    axes.invert_yaxis()
    axes.set_xlabel("microseconds from the beginning of layer %d" % first)
    axes.legend(handles=[Patch(color=color, label=label) for label, color in used.items()],
                ncol=len(used), fontsize=8, loc="upper center", bbox_to_anchor=(0.5, 1.35))
    figure.savefig(options.out, dpi=100)


if __name__ == "__main__":
    main()
