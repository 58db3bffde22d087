#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Drawings of models: well-formed, without overlaps, every text fits, every module is drawn.

    pictures.py --work DIR --llmir PROGRAM --llmir-opt PROGRAM --llmir-translate PROGRAM --inputs DIR --demo DIR
"""

import glob
import os
import random
import re
import shutil
import struct
import sys
import xml.etree.ElementTree as ET

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "reference"))

import make_tiny  # noqa: E402
from checks import Checks, Command, fresh_folder, work_parser  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"
SIZES = {"h1": 22, "h2": 12.5, "title": 12.5}
SLACK = 0.75  # Tolerance for rounding, in pixels.

check = Checks()


class Font:
    """Advances of a TrueType font's characters, read from its cmap and hmtx tables."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        count = self.u16(4)
        self.tables = {}
        for i in range(count):
            at = 12 + 16 * i
            self.tables[self.data[at:at + 4]] = struct.unpack_from(">I", self.data, at + 8)[0]
        self.unit = self.u16(self.tables[b"head"] + 18)
        self.numAdvances = self.u16(self.tables[b"hhea"] + 34)
        self.glyphs = self.read_cmap()

    def u16(self, at):
        return struct.unpack_from(">H", self.data, at)[0]

    def read_cmap(self):
        start = self.tables[b"cmap"]
        for i in range(self.u16(start + 2)):
            table = start + struct.unpack_from(">I", self.data, start + 8 + 8 * i)[0]
            if self.u16(table) == 4:
                return self.read_segments(table)
        raise ValueError("the font has no table of format 4")

    def read_segments(self, table):
        glyphs = {}
        count = self.u16(table + 6) // 2
        for k in range(count):
            end = self.u16(table + 14 + 2 * k)
            first = self.u16(table + 16 + 2 * count + 2 * k)
            delta = self.u16(table + 16 + 4 * count + 2 * k)
            where = table + 16 + 6 * count + 2 * k
            offset = self.u16(where)
            for code in range(first, end + 1):
                if code == 0xFFFF:
                    continue
                glyph = (code + delta) & 0xFFFF if offset == 0 else self.u16(where + offset + 2 * (code - first))
                glyphs[code] = glyph
        return glyphs

    def width(self, text, size):
        total = 0
        for character in text:
            glyph = min(self.glyphs.get(ord(character), 0), self.numAdvances - 1)
            total += self.u16(self.tables[b"hmtx"] + 4 * glyph)
        return total * size / self.unit


def find_fonts():
    found = {}
    for name in ("DejaVuSans", "DejaVuSans-Bold"):
        paths = glob.glob("/usr/share/fonts/**/%s.ttf" % name, recursive=True)
        if not paths:
            return None
        found[name] = Font(sorted(paths)[0])
    return found["DejaVuSans"], found["DejaVuSans-Bold"]


class Rect:
    def __init__(self, element):
        self.x, self.y = float(element.get("x")), float(element.get("y"))
        self.right = self.x + float(element.get("width"))
        self.bottom = self.y + float(element.get("height"))

    def holds(self, other):
        return (other.x >= self.x - SLACK and other.y >= self.y - SLACK
                and other.right <= self.right + SLACK and other.bottom <= self.bottom + SLACK)

    def overlaps(self, other):
        return (self.x < other.right - SLACK and other.x < self.right - SLACK
                and self.y < other.bottom - SLACK and other.y < self.bottom - SLACK)

    def has_inside(self, x, y):
        return self.x + 1 < x < self.right - 1 and self.y + 1 < y < self.bottom - 1


def own_rect(group):
    for rect in group.findall(SVG + "rect"):
        if rect.get("class") == "box":
            return Rect(rect)
    raise ValueError("a group without a box")


def path_points(data):
    """Points along a path of M, L and C commands with absolute coordinates."""
    points, at = [], None
    for command, numbers in re.findall(r"([MLC])([^MLC]*)", data):
        values = [float(n) for n in numbers.split()]
        if command == "C":
            (x1, y1, x2, y2, x, y), (x0, y0) = values, at
            for i in range(1, 11):
                t, u = i / 10, 1 - i / 10
                points.append((u**3 * x0 + 3 * u * u * t * x1 + 3 * u * t * t * x2 + t**3 * x,
                               u**3 * y0 + 3 * u * u * t * y1 + 3 * u * t * t * y2 + t**3 * y))
            at = (x, y)
        else:
            target = tuple(values)
            if command == "L":
                for i in range(1, 11):
                    points.append((at[0] + (target[0] - at[0]) * i / 10, at[1] + (target[1] - at[1]) * i / 10))
            else:
                points.append(target)
            at = target
    return points


def check_group(name, group, fonts, seen):
    rect = own_rect(group)
    seen.append(group)
    texts = group.findall(SVG + "text")
    check(name + ": a box has a text", texts)
    spans = []
    for text in texts:
        style = text.get("class")
        bold = style in ("title", "h1", "count")
        if fonts:
            width = fonts[bold].width(text.text, SIZES.get(style, 10.5))
            left = float(text.get("x")) - (width if text.get("text-anchor") == "end" else 0)
            y = float(text.get("y"))
            fits = rect.x <= left and left + width <= rect.right and rect.y + 8 <= y <= rect.bottom - 2
            check(name + ": text fits", fits, (text.text, left, width, rect.__dict__))
            for other in spans:
                check(name + ": texts apart", abs(other[2] - y) > 9 or left > other[1] or other[0] > left + width,
                      (text.text, other))
            spans.append((left, left + width, y))
    children = [(own_rect(child), child) for child in group.findall(SVG + "g")]
    for i, (one, child) in enumerate(children):
        check(name + ": a box is inside its module", rect.holds(one), (one.__dict__, rect.__dict__))
        for other, _ in children[:i]:
            check(name + ": boxes do not overlap", not one.overlaps(other), (one.__dict__, other.__dict__))
        check_group(name, child, fonts, seen)
    for path in group.findall(SVG + "path"):
        points = path_points(path.get("d"))
        crossed = [(p, r.__dict__) for p in points for r, _ in children if r.has_inside(*p)]
        check(name + ": edges do not cross boxes", not crossed, crossed[:2])
    return rect


def check_svg(name, data, fonts):
    """The boxes by their titles; performs the checks common to all drawings."""
    try:
        root = ET.fromstring(data)
    except ET.ParseError as error:
        check(name + ": XML", False, error)
        return []
    page = (float(root.get("width")), float(root.get("height")))
    check(name + ": no scripts or links", b"<script" not in data.lower() and b"href" not in data)
    seen = []
    outer = [group for group in root.findall(SVG + "g") if "node" in group.get("class", "")]
    check(name + ": one model", len(outer) == 1)
    rect = check_group(name, outer[0], fonts, seen)
    check(name + ": on the page", rect.x >= 0 and rect.right <= page[0] and rect.bottom <= page[1], page)
    for text in root.findall(SVG + "text"):
        if fonts:
            style = text.get("class")
            width = fonts[style == "h1"].width(text.text, SIZES.get(style, 10.5))
            check(name + ": head fits", float(text.get("x")) + width <= page[0], text.text)
    return seen


def titles(groups, only_modules=False):
    return [group.find(SVG + "text").text for group in groups
            if not only_modules or "module" in group.get("class")]


def check_modules(options, name, model, groups):
    """Each subgraph of the traced model is drawn, or one of several equal ones."""
    result = options.llmir.run("compile", model, "--emit", "mllm")
    check(name + ": --emit mllm", result.code == 0, result.err)
    paths = re.findall(r"mllm\.graph\.subgraph @([\w.]+)", result.out)
    drawn = [group.find(SVG + "title").text for group in groups if "module" in group.get("class")]
    layers = [int(m.group(1)) for m in (re.fullmatch(r"model\.layers\.(\d+)", p) for p in paths) if m]
    folded = {"model.layers.%d" % min(layers)} if layers else set()
    for path in paths:
        layer = re.match(r"model\.layers\.(\d+)", path)
        if layer and "model.layers.%d" % min(layers) in folded:
            path = path.replace(layer.group(0), "model.layers.%d" % min(layers), 1)
        check(name + ": module is drawn", path in drawn, (path, drawn))
    check(name + ": drawn once", len(drawn) == len(set(drawn)), drawn)
    counts = [text.text for group in groups for text in group.findall(SVG + "text") if text.get("class") == "count"]
    check(name + ": layers are folded", counts == (["\u00d7 %d" % len(layers)] if len(layers) > 1 else []), counts)


def check_model(options, name, model, fonts):
    path = os.path.join(options.work, name + ".svg")
    result = options.llmir.run("inspect", model, "--graph", path)
    check(name + ": inspect --graph", result.code == 0 and not result.out, result)
    if result.code:
        return
    with open(path, "rb") as file:
        data = file.read()
    groups = check_svg(name, data, fonts)
    check_modules(options, name, model, groups)
    options.llmir("inspect", model, "--graph", path)
    with open(path, "rb") as file:
        check(name + ": the same bytes again", file.read() == data)
    check_dot(options, name, model, groups)


def check_documented(options):
    """The picture in docs/ equals the output of the command in the README."""
    path = os.path.join(options.work, "documented.svg")
    options.llmir("inspect", options.demo, "--graph", path)
    with open(path, "rb") as made, open(options.documented, "rb") as kept:
        check("docs/demo-graph.svg is stale: llmir inspect models/demo --graph docs/demo-graph.svg",
              made.read() == kept.read())


def check_dot(options, name, model, groups):
    path = os.path.join(options.work, name + ".dot")
    result = options.llmir.run("inspect", model, "--graph", path)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    modules = sum("module" in group.get("class") for group in groups)
    check(name + ": a cluster for each module", result.code == 0 and text.count("subgraph cluster_") == modules)
    bare = re.sub(r'"(\\.|[^"\\])*"', "", text)
    check(name + ": braces match", bare.count("{") == bare.count("}") == modules + 1)
    check(name + ": nodes of edges exist", all(
        re.search(r"^ *%s \[label=" % end, text, re.M) for edge in re.findall(r"(m_\w+) -> (m_\w+);", text)
        for end in edge))
    if shutil.which("dot"):
        drawn = Command("dot").run("-Tsvg", path)
        check(name + ": Graphviz reads it", drawn.code == 0, drawn.err)


def check_random_models(options, fonts):
    seed = int.from_bytes(os.urandom(4), "little")
    draw = random.Random(seed)
    for family in ("qwen2", "llama"):
        layers = draw.randint(1, 9)
        folder = os.path.join(options.work, "random-" + family)
        code = make_tiny.main(["--family", family, "--out", folder, "--seed", str(seed), "--layers", str(layers)])
        check("make_tiny %s seed %d" % (family, seed), not code, code)
        check_model(options, "%s-seed-%d" % (family, seed), folder, fonts)


def check_input(options, name, fonts, *flags):
    path = os.path.join(options.inputs, name + ".mlir")
    result = options.translate.run("--mllm-to-svg", *flags, path)
    check(name + ": --mllm-to-svg", result.code == 0, result.err)
    return check_svg(name, result.data, fonts), result.data


def check_inputs(options, fonts):
    groups, data = check_input(options, "hostile-names", fonts)
    check("hostile names: no markup gets through", b"<b>" not in data and b"onload" not in data.split(b"<title>")[0])
    check("hostile names: are shown", any("<b>" in title for title in titles(groups)), titles(groups))
    check("hostile names: long ones are cut", all(len(title) <= 160 for title in titles(groups)))
    dot = options.translate.run("--mllm-to-dot", os.path.join(options.inputs, "hostile-names.mlir"))
    bare = re.sub(r'"(\\.|[^"\\])*"', "", dot.out)
    check("hostile names: quoted in DOT", dot.code == 0 and '"' not in bare and "evil" not in bare, bare)

    groups, data = check_input(options, "branches", fonts)
    found = titles(groups)
    check("branches: different modules are not folded", b"class=\"count\"" not in data)
    check("branches: every op is drawn", found.count("relu") == 2 and "conv2d" in found, found)
    groups, data = check_input(options, "row", fonts)
    check("row: equal modules are folded", b">\xc3\x97 3<" in data, titles(groups))
    groups, data = check_input(options, "row", fonts, "--picture-unfolded")
    check("row: or not", b"class=\"count\"" not in data and len(titles(groups, True)) == 4, titles(groups, True))
    _, data = check_input(options, "onnx-vision", fonts)
    check("vision: 20 ops in 1 module", b"20 ops in 1 module<" in data)
    groups, data = check_input(options, "control", fonts)
    found = titles(groups, True)
    check("control: branches and loops are boxes", [found.count(title) for title in
          ("cf.if", "then", "else", "cf.while", "condition", "cf.for", "body", "half")]
          == [2, 2, 2, 1, 1, 1, 2, 1], found)
    check("control: their ops are drawn", titles(groups).count("linear") == 2, titles(groups))
    check("control: tooltips name the op", data.count(b">mllm.cf.if") == 2 and b"mllm.linalg.cf" not in data
          and b">mllm.tensor.constant" in data)
    counted = options.opt("--mllm-print-statistics", "-o", os.devnull, os.path.join(options.inputs, "control.mlir"))
    ops = re.search(r"^whole model +(\d+) ", counted, re.M).group(1)
    check("control: as many ops as the statistics have", b"\xc2\xb7 %s ops in 2 modules<" % ops.encode() in data, ops)
    check("control: parameters of bodies count", b">32 parameters \xc2\xb7 128 B stored" in data, data[:2000])
    dot = options.translate.run("--mllm-to-dot", os.path.join(options.inputs, "control.mlir"))
    check("control: nodes of edges exist", dot.code == 0 and all(
        re.search(r"^ *%s \[label=" % end, dot.out, re.M)
        for edge in re.findall(r"(m_\w+) -> (m_\w+);", dot.out) for end in edge), dot)
    # Unknown sizes are not shown as zero.
    _, data = check_input(options, "vast", fonts)
    check("vast: unknown sums", b"? B stored" in data and b"? FLOP" in data, data[:2000])
    # 2 * 8 * 8 multiply-adds for each of 5 tokens in each of 3 layers.
    _, data = check_input(options, "row", fonts, "--export-tokens=5")
    check("row: sizes are bound", b"5 \xc3\x97 8" in data and b">n \xc3\x97" not in data)


def check_refusals(options, model):
    for arguments, words in (((model, "--graph", "a.png"), "ends in neither"),
                             ((model, "--graph", "a.svg", "--json"), "excludes"),
                             (("/nowhere", "--graph", "a.svg"), "/nowhere"),
                             ((model, "--graph", "/nowhere/a.svg"), "/nowhere/a.svg")):
        result = options.llmir.run("inspect", *arguments)
        check("refused: %s" % (arguments[1:],), result.code != 0 and words in result.err, result)
    for flags, words in ((("--export-tokens=-1",), "number of tokens"),
                         (("--export-size=seq",), "name=number"),
                         (("--export-size=seq=0",), "size 'seq' is 0")):
        result = options.translate.run("--mllm-to-svg", *flags, os.path.join(options.inputs, "row.mlir"))
        check("refused: %s" % (flags,), result.code != 0 and words in result.err, result)


def main():
    options = work_parser(__doc__, "llmir", "llmir-opt", "llmir-translate", "inputs", "demo", "documented").parse_args()
    fresh_folder(options.work)
    options.llmir, options.translate = Command(options.llmir), Command(options.llmir_translate)
    options.opt = Command(options.llmir_opt)
    fonts = find_fonts()
    if not fonts:
        print("NOTE: DejaVu Sans was not found (apt-get install fonts-dejavu-core): widths of texts are not checked")
    check_model(options, "demo", options.demo, fonts)
    check_documented(options)
    check_random_models(options, fonts)
    check_inputs(options, fonts)
    check_refusals(options, options.demo)
    return check.finish()


if __name__ == "__main__":
    sys.exit(main())
