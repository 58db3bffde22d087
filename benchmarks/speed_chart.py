#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A chart of the speeds of LLMIR and other engines, from the table that compare.py writes.

    speed_chart.py docs/Performance.md --model llama-3.2-1b --formats bf16,q8_0,q4_k_m --out docs/speed.svg

Two panels, decoding and prefill; a group for each format, a bar for each engine, and the value on each bar. All
values are taken from the table. --check compares the file with the output.
"""
import argparse
import collections
import re
import sys
from xml.sax.saxutils import escape

Row = collections.namedtuple("Row", "model format threads test rates ratio")
# Columns of the table; for ik_llama.cpp the faster of its two modes is drawn.
ENGINES = (("LLMIR", ("llmir",), "#1f6fb2"), ("ik_llama.cpp", ("ik", "ik +rtr"), "#d9964a"),
           ("llama.cpp", ("llama.cpp",), "#a9a9a9"))
NAMES = {"bf16": "BF16", "q8_0": "Q8_0", "q4_0": "Q4_0", "q4_k_m": "Q4_K_M", "llama-3.2-1b": "Llama-3.2-1B",
         "tinyllama-1.1b": "TinyLlama-1.1B", "qwen2.5-0.5b": "Qwen2.5-0.5B"}
WIDTH, BAR, GAP, GROUP_GAP, TOP = 880, 19, 3, 20, 106
PANEL, LABEL, VALUE = 400, 62, 100  # Width of a panel; space left of its bars and right of them.


def rows_of(text):
    """The rows of the table in a text: plain tests of one sequence, each engine's tokens per second."""
    head = re.search(r"^\| model, format \| threads \| test \| (.*)", text, re.M)
    if not head:
        raise ValueError("there is no table of compare.py's in it")
    columns = [cell.strip() for cell in head.group(1).split("|")]
    rows = []
    for line in re.findall(r"^\| ([\w.-]+) ([\w:]+) \| (\d+) \| ([^|]+) \| (.*)", text, re.M):
        model, kind, threads, test, rest = line
        cells = dict(zip(columns, (cell.strip() for cell in rest.split("|"))))
        rates = {name: cells[name] for _, group, _ in ENGINES for name in group
                 if re.match(r"[\d.]+$", cells.get(name, ""))}
        ratio = re.match(r"\**([\d.]+ ×)", cells.get("to the better peer", ""))
        rows.append(Row(model, kind, int(threads), test, rates, ratio and ratio.group(1)))
    return rows


def machine_of(text):
    match = re.search(r"Machine: (.*?)\.$", text, re.M)
    return re.sub(r", Linux \S+$", "", match.group(1)) if match else ""


def choose(rows, model, formats, threads):
    """For each format, its decoding and its prefill: [(format, row, row)]."""
    model = model or rows[0].model
    formats = formats or list(dict.fromkeys(row.format for row in rows if row.model == model))[:4]
    groups = []
    for kind in formats:
        pair = [next((row for row in rows if (row.model, row.format, row.threads) == (model, kind, threads)
                      and re.match(test + r"\d+( \(incomplete\))?$", row.test) and row.rates.get("llmir")), None) for test in ("tg", "pp")]
        if None in pair:
            raise ValueError("%s %s with %d thread(s) has no row for decoding or none for prefill" % (model, kind, threads))
        groups.append((kind, pair[0], pair[1]))
    return groups


def text(x, y, words, size=13, anchor="start", weight="normal", fill="#24292f"):
    return '<text x="%g" y="%g" font-size="%d" text-anchor="%s" font-weight="%s" fill="%s">%s</text>' % (
        x, y, size, anchor, weight, fill, escape(words))


def bars(row):
    """(engine, color, rate, label) of a group, as in the table."""
    for name, columns, color in ENGINES:
        label = max((row.rates.get(column, "") for column in columns), key=lambda cell: float(cell or 0))
        rate = float(label or 0)
        if name == "LLMIR" and row.ratio:
            label += "  (%s)" % row.ratio
        yield name, color, rate, label or "not measured"


def panel(left, title, rows):
    """A panel of groups, one below the other; bars of all groups have the same scale."""
    parts = [text(left, TOP - 16, title, 14, weight="bold")]
    longest = max(rate for _, row in rows for _, _, rate, _ in bars(row))
    y = TOP
    for kind, row in rows:
        height = len(ENGINES) * (BAR + GAP) - GAP
        parts.append(text(left + LABEL - 8, y + height / 2 + 5, NAMES.get(kind, kind), anchor="end", weight="bold"))
        for name, color, rate, label in bars(row):
            width = (PANEL - LABEL - VALUE) * rate / longest
            parts.append('<rect x="%g" y="%g" width="%.1f" height="%d" rx="2" fill="%s"/>' % (
                left + LABEL, y, width, BAR, color))
            parts.append(text(left + LABEL + width + 5, y + BAR - 5, label, 12,
                              weight="bold" if name == "LLMIR" else "normal"))
            y += BAR + GAP
        y += GROUP_GAP - GAP
    return parts


def draw(table, model=None, formats=None, threads=1):
    """The chart as SVG."""
    groups = choose(rows_of(table), model, formats, threads)
    first = groups[0][1]
    height = TOP + len(groups) * (len(ENGINES) * (BAR + GAP) - GAP + GROUP_GAP) + 22
    on = "%s on %s thread%s: %s" % (NAMES.get(first.model, first.model), threads if threads > 1 else "one",
                                    "s" if threads > 1 else "", machine_of(table))
    parts = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" '
             'font-family="Helvetica, Arial, DejaVu Sans, sans-serif" role="img">' % (WIDTH, height, WIDTH, height),
             "<title>Tokens per second: %s</title>" % escape(on),
             '<rect width="%d" height="%d" rx="6" fill="#ffffff"/>' % (WIDTH, height),
             text(24, 32, "Tokens per second, longer is faster", 17, weight="bold"),
             text(24, 54, on, 13, fill="#57606a")]
    x = 500
    for name, _, color in ENGINES:
        parts.append('<rect x="%d" y="21" width="13" height="13" rx="2" fill="%s"/>' % (x, color))
        parts.append(text(x + 19, 32, name, 13))
        x += 40 + 8 * len(name)
    decoded, prompt = (re.match(r"..(\d+)", row.test).group(1) for row in groups[0][1:])
    parts += panel(24, "Writing (decode, %s tokens)" % decoded, [(kind, row) for kind, row, _ in groups])
    parts += panel(456, "Reading a prompt (prefill, %s tokens)" % prompt, [(kind, row) for kind, _, row in groups])
    parts.append(text(24, height - 14, "In brackets: how many times as fast as the faster one of the others. ik_llama.cpp "
                      "with or without run-time repacking, whichever is faster.", 11, fill="#57606a"))
    return "\n".join(parts + ["</svg>"]) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", help="a text with the table, such as docs/Performance.md")
    parser.add_argument("--model", help="its name in the table (default: the first one)")
    parser.add_argument("--formats", help="comma-separated (default: the first four)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", required=True)
    parser.add_argument("--check", action="store_true", help="fail if the file differs")
    options = parser.parse_args()
    with open(options.table, encoding="utf-8") as stream:
        table = stream.read()
    try:
        picture = draw(table, options.model, options.formats and options.formats.split(","), options.threads)
    except ValueError as error:
        sys.exit("speed_chart.py: %s: %s" % (options.table, error))
    if options.check:
        with open(options.out, encoding="utf-8") as stream:
            if stream.read() != picture:
                sys.exit("speed_chart.py: %s is not what %s has; write it again" % (options.out, options.table))
        return
    with open(options.out, "w", encoding="utf-8") as stream:
        stream.write(picture)


if __name__ == "__main__":
    main()
