//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Data movement ops in ONNX.
//
//===----------------------------------------------------------------------===//

#include "ONNXOps.h"

#include <limits>
#include <numeric>

using namespace llmir;
using namespace llmir::onnx;
using namespace mllm::ir;

static void lowerReshape(Builder &b, const GraphOp &op) {
  b.define(op.results[0],
           b.reshape(b.value(op.operands[0]), *targetShape(op.results[0])));
}

static void lowerTranspose(Builder &b, const GraphOp &op) {
  const GraphValue *x = op.operands[0];
  const Sizes order =
      exchanged(rankOf(x), dimOf(op, "dim0", x), dimOf(op, "dim1", x));
  b.define(op.results[0],
           b.node("Transpose", {b.value(x)}, {Attribute("perm", order)}));
}

static void lowerPermute(Builder &b, const GraphOp &op) {
  Sizes axes = op.integers("axes");
  for (int64_t &axis : axes)
    axis += axis < 0 ? rankOf(op.operands[0]) : 0;
  b.define(op.results[0], b.node("Transpose", {b.value(op.operands[0])},
                                 {Attribute("perm", axes)}));
}

static void lowerConcat(Builder &b, const GraphOp &op) {
  std::vector<Name> inputs;
  for (const GraphValue *operand : op.operands)
    inputs.push_back(b.value(operand));
  b.define(op.results[0],
           b.node("Concat", inputs, {Attribute("axis", op.integer("dim"))}));
}

static void lowerStack(Builder &b, const GraphOp &op) {
  std::vector<Name> inputs;
  for (const GraphValue *operand : op.operands)
    inputs.push_back(
        b.node("Unsqueeze", {b.value(operand), b.ints({op.integer("dim")})}));
  b.define(op.results[0],
           b.node("Concat", inputs, {Attribute("axis", op.integer("dim"))}));
}

static void lowerSplit(Builder &b, const GraphOp &op) {
  Sizes sizes = op.integers("sections");
  if (sizes.size() == 1)
    sizes.assign(op.results.size(), sizes[0]);
  std::vector<Name> outputs;
  for (const GraphValue *result : op.results)
    outputs.push_back(b.value(result));
  b.node("Split", {b.value(op.operands[0]), b.ints(sizes)}, outputs,
         {Attribute("axis", op.integer("dim"))});
}

static void lowerRepeat(Builder &b, const GraphOp &op) {
  const GraphValue *x = op.operands[0];
  b.define(op.results[0],
           repeated(b, b.value(x), rankOf(x), dimOf(op, "dim", x),
                    op.integer("times"), *targetShape(op.results[0])));
}

static void lowerSlice(Builder &b, const GraphOp &op) {
  b.define(op.results[0], slicedByRanges(b, op));
}

static void lowerConstant(Builder &b, const GraphOp &op) {
  const GraphValue *result = op.results[0];
  const Sizes shape = *targetShape(result);
  const std::vector<double> reals = op.reals("value");
  const Sizes integers = op.integers("value");
  Name values =
      reals.empty() ? b.integers(integers, shape) : b.reals(reals, shape);
  b.define(result, cast(b, values, *elementTypeOf(result->dtype)));
}

static Status checkConstant(const GraphOp &op) {
  const GraphAttribute &value = op.attributes.at("value");
  return std::holds_alternative<std::monostate>(value)
             ? cannot("a constant whose elements are not known")
             : Status::ok();
}

/// The operand with the elements.
static void lowerSame(Builder &b, const GraphOp &op, size_t operand) {
  b.define(op.results[0], b.value(op.operands[operand]));
}

static Lowering same(size_t operand) {
  return {
      [operand](Builder &b, const GraphOp &op) { lowerSame(b, op, operand); }};
}

Lowerings onnx::shapeLowerings() {
  return {
      {"contiguous", same(0)},
      {"clone", same(0)},
      {"copy", same(1)},
      {"x2x", same(0)},
      {"view", {lowerReshape, needsShape}},
      {"reshape", {lowerReshape, needsShape}},
      {"transpose", {lowerTranspose}},
      {"permute", {lowerPermute}},
      {"concat", {lowerConcat}},
      {"stack", {lowerStack}},
      {"split", {lowerSplit}},
      {"repeat", {lowerRepeat, needsShape}},
      {"slice", {lowerSlice}},
      {"tensor.constant", {lowerConstant, checkConstant}},
  };
}
