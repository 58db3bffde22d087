#!/usr/bin/env python3
# Part of LLMIR, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints random functions for `llmir-translate --compare`: ops of llm, arith, math and tensor, with branches and loops
of scf around them. `mixed_programs.py COUNT FIRST_SEED [bounded]`; with `bounded` the number of rows is dynamic.

Conditions of branches do not depend on results that rounding may change, only on arguments.
"""

import random
import sys

UNARY = ["math.exp", "math.tanh", "math.sin", "math.cos", "math.absf", "arith.negf", "math.erf", "llm.silu", "llm.gelu"]
BINARY = ["arith.addf", "arith.subf", "arith.mulf", "arith.maximumf", "arith.minimumf", "llm.add", "llm.mul"]
INTEGERS = ["arith.addi", "arith.subi", "arith.muli", "arith.divsi", "arith.remsi", "arith.floordivsi", "arith.maxsi",
            "arith.minui", "arith.xori", "arith.andi"]


class Program:
    def __init__(self, seed, bounded):
        self.random = random.Random(seed)
        self.bounded = bounded
        self.name = "f%d" % seed
        self.rows = self.random.choice([1, 2, 3, 5, 8])
        self.columns = self.random.choice([1, 7, 16, 32, 33])
        self.next = 0
        self.lines = []
        self.depth = 1
        size = "?" if bounded else str(self.rows)
        self.tensor = "tensor<%sx%dxf32>" % (size, self.columns)
        self.ints = "tensor<6xi32>"

    def fresh(self):
        self.next += 1
        return "%%v%d" % self.next

    def put(self, text):
        self.lines.append("  " * self.depth + text)

    def emit(self, text):
        name = self.fresh()
        self.put("%s = %s" % (name, text))
        return name

    # Generators of ops; each returns the values that it creates.

    def compute(self, values):
        x, y = self.random.choice(values["rows"]), self.random.choice(values["rows"])
        kind = self.random.randrange(5)
        if kind == 0:
            made = self.emit("%s %s : %s" % (self.random.choice(UNARY), x, self.tensor))
        elif kind == 1:
            made = self.emit("%s %s, %s : %s" % (self.random.choice(BINARY), x, y, self.tensor))
        elif kind == 2:
            made = self.emit("math.fma %s, %s, %%x : %s" % (x, y, self.tensor))
        elif kind == 3:
            made = self.emit("llm.softmax %s : %s" % (x, self.tensor))
        else:
            made = self.emit("llm.rms_norm %s, %%norm {eps = 1.0e-3 : f64} : %s, tensor<%dxf32>"
                             % (x, self.tensor, self.columns))
        # Keep values in a range in which f32 is accurate enough.
        values["rows"].append(self.emit("math.tanh %s : %s" % (made, self.tensor)))

    def project(self, values):
        x = self.random.choice(values["rows"])
        values["rows"].append(self.emit("llm.linear %s, %%w : %s, tensor<%dx%dxf32> -> %s"
                                        % (x, self.tensor, self.columns, self.columns, self.tensor)))

    def integers(self, values):
        x, y = self.random.choice(values["ints"]), self.random.choice(values["ints"])
        values["ints"].append(self.emit("%s %s, %s : %s" % (self.random.choice(INTEGERS), x, y, self.ints)))

    def choose(self, values):
        x, y = self.random.choice(values["rows"]), self.random.choice(values["rows"])
        less = self.emit("arith.cmpf olt, %%x, %%y : %s" % self.tensor)
        values["rows"].append(self.emit("arith.select %s, %s, %s : tensor<%si1>, %s"
                                        % (less, x, y, self.tensor[7:-4], self.tensor)))

    def element(self, values):
        """Broadcasts the integer element at a (possibly computed) index."""
        x = self.random.choice(values["ints"])
        number = self.emit("tensor.extract %s[%s] : %s" % (x, self.random.choice(values["indices"]), self.ints))
        if self.random.random() < 0.5:
            all_of = self.emit("tensor.splat %s : %s" % (number, self.ints))
        else:
            all_of = self.emit("tensor.insert %s into %s[%s] : %s"
                               % (number, self.random.choice(values["ints"]),
                                  self.random.choice(values["indices"]), self.ints))
        values["ints"].append(all_of)

    def shift(self, values):
        """Inserts some columns of one tensor into another at a computed index."""
        if self.columns < 4 or self.bounded:
            return self.compute(values)
        x, y = self.random.choice(values["rows"]), self.random.choice(values["rows"])
        at, to = self.random.choice(values["indices"]), self.random.choice(values["indices"])
        part = "tensor<%dx2xf32>" % self.rows
        s = self.emit("tensor.extract_slice %s[0, %s] [%d, 2] [1, 1] : %s to %s" % (x, at, self.rows, self.tensor, part))
        values["rows"].append(self.emit("tensor.insert_slice %s into %s[0, %s] [%d, 2] [1, 1] : %s into %s"
                                        % (s, y, to, self.rows, part, self.tensor)))

    def branch(self, values):
        if self.depth > 2:
            return self.compute(values)
        left = self.emit("tensor.extract %s[%%c1] : %s" % (self.random.choice(values["ints"]), self.ints))
        condition = self.emit("arith.cmpi slt, %s, %%zero : i32" % left)
        results = (self.fresh(), self.fresh())
        types = (self.tensor, self.ints)
        self.put("%s, %s = scf.if %s -> (%s, %s) {" % (results + (condition,) + types))
        for last in (False, True):
            self.block(values, "scf.yield")
            self.put("}" if last else "} else {")
        values["rows"].append(results[0])
        values["ints"].append(results[1])

    def loop(self, values):
        if self.depth > 2:
            return self.integers(values)
        inits = (self.random.choice(values["rows"]), self.random.choice(values["ints"]))
        carried, results = (self.fresh(), self.fresh()), (self.fresh(), self.fresh())
        turn = self.fresh()
        first, last = self.random.choice(["%c0", "%c1"]), self.random.choice(["%c2", "%n", "%c1"])
        self.put("%s, %s = scf.for %s = %s to %s step %%c1 iter_args(%s = %s, %s = %s) -> (%s, %s) {"
                 % (results + (turn, first, last, carried[0], inits[0], carried[1], inits[1], self.tensor, self.ints)))
        inner = {key: list(of) for key, of in values.items()}
        inner["rows"] += [carried[0]] * 3
        inner["ints"] += [carried[1]] * 3
        inner["indices"].append(turn)
        self.block(inner, "scf.yield")
        self.put("}")
        values["rows"].append(results[0])
        values["ints"].append(results[1])

    def block(self, values, end):
        self.depth += 1
        inner = {key: list(of) for key, of in values.items()}
        self.pieces(inner, self.random.randint(1, 3))
        self.put("%s %s, %s : %s, %s" % (end, inner["rows"][-1], inner["ints"][-1], self.tensor, self.ints))
        self.depth -= 1

    def pieces(self, values, count):
        every = [self.compute] * 3 + [self.project, self.integers, self.integers, self.choose, self.element, self.shift,
                                      self.branch, self.loop]
        for _ in range(count):
            self.random.choice(every)(values)

    def text(self):
        sizes = ""
        if self.bounded:
            sizes = " {mllm.sizes = #mllm.tensor<dims = (rows, %d)>, check.shape = array<i64: %d, %d>}" % (
                self.columns, self.rows, self.columns)
        values = {"rows": ["%x", "%y"], "ints": ["%i", "%j"], "indices": ["%c0", "%c1", "%n"]}
        for i in range(3):
            self.put("%%c%d = arith.constant %d : index" % (i, i))
        self.put("%zero = arith.constant 0 : i32")
        self.pieces(values, 9)
        self.put("return %s, %s : %s, %s" % (values["rows"][-1], values["ints"][-1], self.tensor, self.ints))
        ranges = " attributes {mllm.dims = {rows = #mllm.range<1, 11>}}" if self.bounded else ""
        arguments = ["%%x: %s%s" % (self.tensor, sizes), "%%y: %s%s" % (self.tensor, sizes),
                     "%%w: tensor<%dx%dxf32>" % (self.columns, self.columns), "%%norm: tensor<%dxf32>" % self.columns,
                     "%%i: %s {check.range = array<i64: -9, 9>}" % self.ints,
                     "%%j: %s {check.range = array<i64: -3, 4>}" % self.ints,
                     "%%n: index {check.values = %d : index}" % self.random.randint(0, 3)]
        return "func.func @%s(%s) -> (%s, %s)%s {\n%s\n}\n" % (
            self.name, ", ".join(arguments), self.tensor, self.ints, ranges, "\n".join(self.lines))


def main():
    count, seed = int(sys.argv[1]), int(sys.argv[2])
    for i in range(count):
        print(Program(seed + i, "bounded" in sys.argv[3:]).text())


if __name__ == "__main__":
    main()
