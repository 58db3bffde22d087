#!/usr/bin/env python3
"""Generates the classes of the MLLM node API from the ops as defined in ODS.

make_rtti.py --out DIR FILE.json...

A FILE.json is the output of `llvm-tblgen --dump-json` for a file of ops. Writes to DIR

GeneratedRTTIKind.hpp   the enumeration NodeKind and one macro per kind of op
GeneratedOps.hpp        one class per op, by level: build(), classof()
GeneratedOps.inc        MLLM_OP(name, level, group, Class, regions, minimum and maximum number of operands (-1: any),
                        the same for results, names of required attributes): a row per op, for tables

Files are written only if their text changes, to avoid unnecessary recompilation.
"""

import argparse
import json
import os

HEADER = """//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Made by utils/make_rtti.py from the ops of the mllm dialect.
//
//===----------------------------------------------------------------------===//
"""

DIALECT = "mllm"
ATTRIBUTES = ("IntAttr", "FPAttr", "BoolAttr", "StrAttr", "SymbolAttr", "VectorInt64Attr", "VectorFP64Attr",
              "VectorFP32Attr", "VectorInt16Attr", "TypeAttr", "OtherAttr")

# How MLIR stores an attribute, by its class and its type: the hint for OpRequest,
# and the C++ type of build()'s parameter.
HINTS = {
    ("IntegerAttr", "I64"): ("i64", "int64_t"),
    ("IntegerAttr", "I32"): ("i32", "int64_t"),
    ("FloatAttr", "F64"): ("f64", "double"),
    ("FloatAttr", "F32"): ("f32", "double"),
    ("BoolAttr", None): ("i1", "bool"),
    ("StringAttr", None): ("str", "const std::string &"),
    ("FlatSymbolRefAttr", None): ("sym", "const std::string &"),
    ("SymbolRefAttr", None): ("sym", "const std::string &"),
    ("DenseI64ArrayAttr", None): ("i64s", "const std::vector<int64_t> &"),
    ("DenseI32ArrayAttr", None): ("i32s", "const std::vector<int64_t> &"),
    ("DenseF64ArrayAttr", None): ("f64s", "const std::vector<double> &"),
}
ARRAYS = {"FlatSymbolRefArrayAttr": ("syms", "const std::vector<std::string> &"),
          "StrArrayAttr": ("strs", "const std::vector<std::string> &")}
KEYWORDS = {"default", "register", "operator", "template", "class", "union", "switch", "case", "new", "delete",
            "context", "results", "attributes", "true", "false", "int", "float", "double", "bool", "auto"}


class Op:
    def __init__(self, name, record, data):
        self.level, self.mnemonic = record["opName"].split(".", 1)
        self.name = f"{DIALECT}.{record['opName']}"
        self.summary = record["summary"]
        self.cls = name.split("_", 1)[1]
        rest = self.cls[len(self.level):]
        if self.cls.lower().startswith(self.level) and len(rest) > 2 and rest[0].isupper():
            self.cls = rest
        traits = {data[trait["def"]]["!name"] for trait in record["traits"]}
        self.is_subgraph = "FunctionOpInterface" in traits
        self.regions = len(record["regions"]["args"])
        self.parameters = []  # (C++ type, name, statement)
        self.needed = []  # Names of attributes.
        self.least, self.most = [0, 0], [0, 0]  # Operands, results; -1: any number.
        for value, argument in record["arguments"]["args"]:
            self.add(argument, constraint_of(value["def"], data))
        for value, _ in record["results"]["args"]:
            self.count(1, constraint_of(value["def"], data)["!superclasses"])

    def count(self, part, kinds):
        if "Variadic" in kinds:
            self.most[part] = -1
            return
        self.least[part] += "Optional" not in kinds
        self.most[part] += self.most[part] >= 0

    def add(self, name, constraint):
        kinds = set(constraint["!superclasses"])
        variable = name + "_" if name in KEYWORDS else name
        if "TypeConstraint" in kinds:
            # An optional operand may be null, a variadic one is a list.
            self.count(0, kinds)
            many = "Variadic" in kinds or "Optional" in kinds
            self.parameters.append(("const Values &" if many else "const val_ptr_t &", variable,
                                    f"op.{'operands' if many else 'operand'}({variable});"))
            return
        if "Attr" not in kinds or "OptionalAttr" in kinds or "DefaultValuedAttr" in kinds or constraint.get("isOptional"):
            return
        self.needed.append(name)
        hint, kind = hint_of(constraint)
        self.parameters.append((kind, variable, f'op.attribute("{name}", "{hint}", {variable});'))


def constraint_of(name, data):
    """The constraint of an argument, without the wrapper that describes it."""
    record = data[name]
    return data[record["constraint"]["def"]] if "constraint" in record else record


def hint_of(constraint):
    if constraint["!name"] in ARRAYS:
        return ARRAYS[constraint["!name"]]
    storage = (constraint.get("storageType") or "").strip().split("::")[-1]
    value_type = (constraint.get("valueType") or {}).get("def")
    for key in ((storage, value_type), (storage, None)):
        if key in HINTS:
            return HINTS[key]
    if storage == "TypeAttr":
        return "type", "const TensorType &"
    if "I32EnumAttr" in constraint["!superclasses"]:
        return "i32", "int64_t"
    return "any", "const AttrValue &"


def group(level):
    return level.capitalize() + "IROp"


def by_level(ops):
    levels = {}
    for op in ops:
        levels.setdefault(op.level, []).append(op)
    return sorted(levels.items())


def kinds_text(ops):
    lines = [HEADER, "#ifndef MLLM_IR_GENERATEDRTTIKIND_HPP", "#define MLLM_IR_GENERATEDRTTIKIND_HPP", "",
             "#include <cstdint>", "", "namespace mllm::ir {", "",
             "/// What a node is. Kinds nest: a group reaches from its name to its name + _Last.",
             "enum NodeKind : uint32_t {", "  RK_None, ///< Nothing, or no longer anything.", "  RK_Op,"]

    def add_group(name, members):
        lines.append(f"  {name},")
        lines.extend(f"  {name}_{member}," for member in members)
        lines.append(f"  {name}_Last,")

    add_group("RK_Op_BuiltinIROp", ["ModuleOp"])
    for level, members in by_level(ops):
        add_group("RK_Op_" + group(level), [op.cls for op in members])
    lines += ["  RK_Op_OtherIROp, ///< An op of another dialect.", "  RK_Op_Last,", "  RK_Val,"]
    add_group("RK_Val_TensorIRVal", ["TensorVal"])
    lines += ["  RK_Val_OtherIRVal, ///< A value that is no ranked tensor.", "  RK_Val_Last,", "  RK_Attr,"]
    add_group("RK_Attr_BuiltinIRAttr", ATTRIBUTES)
    lines += ["  RK_Attr_Last,", "};", "", "} // namespace mllm::ir", "",
              "// Bodies of classof(): true for one kind of op, or for the ops of a level."]
    for level, members in by_level(ops):
        name = group(level)
        lines.append(f"#define RTTI_RK_OP_{name.upper()}_IMPL(node) RTTI_RK_GROUP_IMPL(node, RK_Op_{name})")
        for op in members:
            lines.append(f"#define RTTI_RK_OP_{name.upper()}_{op.cls.upper()}_IMPL(node) "
                         f"RTTI_RK_KIND_IMPL(node, ::mllm::ir::RK_Op_{name}_{op.cls})")
    lines += ["", "#endif // MLLM_IR_GENERATEDRTTIKIND_HPP", ""]
    return "\n".join(lines)


def op_class(op):
    kind = group(op.level)
    lines = [f"/// {op.summary} (`{op.name}`).", f"class {op.cls} : public {kind} {{", "public:",
             f"  DEFINE_SPECIFIC_IR_CLASS({op.cls});", f"  explicit {op.cls}(NodeKind kind) : {kind}(kind) {{}}",
             "  static inline bool classof(const Node *node) {",
             f"    RTTI_RK_OP_{kind.upper()}_{op.cls.upper()}_IMPL(node);", "  }"]
    if op.is_subgraph:
        lines += ["  /// With an empty body, whose arguments are `arguments`: end it with",
                  "  /// cf::ReturnOp.",
                  "  static ptr_t build(IRContext *context, const std::string &name,",
                  "                     const Types &arguments, const Types &results) {",
                  "    return cast<" + op.cls + ">(",
                  "        detail::buildSubGraph(context, name, arguments, results));", "  }"]
    else:
        declared = ["IRContext *context"]
        declared += [kind + ("" if kind.endswith("&") else " ") + name for kind, name, _ in op.parameters]
        declared += ["const Types &results = {}", "const NamedAttributes &attributes = {}"]
        lines.append("  static ptr_t build(" + ",\n                     ".join(declared) + ") {")
        lines.append(f'    detail::Request op("{op.name}", results, attributes);')
        lines += ["    " + statement for _, _, statement in op.parameters]
        lines.append(f"    return cast<{op.cls}>(op.build(context));")
        lines.append("  }")
    lines.append("};")
    return "\n".join(lines)


def ops_text(ops):
    lines = [HEADER, "#ifndef MLLM_IR_GENERATEDOPS_HPP", "#define MLLM_IR_GENERATEDOPS_HPP", "",
             '#include "mllm/ir/OpRequest.h"', "", "namespace mllm::ir {", ""]
    for level, members in by_level(ops):
        name = group(level)
        lines += [f"namespace {level} {{", "", f"/// Any op of the {level} level.", f"class {name} : public Op {{", "public:",
                  f"  DEFINE_SPECIFIC_IR_CLASS({name});", f"  explicit {name}(NodeKind kind) : Op(kind) {{}}",
                  f"  static inline bool classof(const Node *node) {{ RTTI_RK_OP_{name.upper()}_IMPL(node); }}", "};", ""]
        for op in members:
            lines += [op_class(op), ""]
        lines += [f"}} // namespace {level}", ""]
    lines += ["} // namespace mllm::ir", "", "#endif // MLLM_IR_GENERATEDOPS_HPP", ""]
    return "\n".join(lines)


def table_text(ops):
    rows = [f'MLLM_OP("{op.name}", {op.level}, {group(op.level)}, {op.cls}, {op.regions}, '
            f'{op.least[0]}, {op.most[0]}, {op.least[1]}, {op.most[1]}, "{" ".join(op.needed)}")' for op in ops]
    return "\n".join([HEADER, "// MLLM_OP(name, level, group, class, regions, least and most operands, least and\n"
                      "// most results, needed attributes), in the order of the names.", ""] + rows + [""])


def write(folder, name, text):
    path = os.path.join(folder, name)
    if os.path.exists(path):
        with open(path, encoding="utf-8") as stream:
            if stream.read() == text:
                return
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("records", nargs="+", help="what llvm-tblgen --dump-json prints of a file of ops")
    parser.add_argument("--out", required=True, help="directory of the generated files")
    arguments = parser.parse_args()
    ops = {}
    for path in arguments.records:
        with open(path, encoding="utf-8") as stream:
            data = json.load(stream)
        for name in data["!instanceof"].get("Op", []):
            if data[data[name]["opDialect"]["def"]]["name"] == DIALECT:
                op = Op(name, data[name], data)
                ops[op.name] = op
    ops = [ops[name] for name in sorted(ops)]
    os.makedirs(arguments.out, exist_ok=True)
    write(arguments.out, "GeneratedRTTIKind.hpp", kinds_text(ops))
    write(arguments.out, "GeneratedOps.hpp", ops_text(ops))
    write(arguments.out, "GeneratedOps.inc", table_text(ops))


if __name__ == "__main__":
    main()
