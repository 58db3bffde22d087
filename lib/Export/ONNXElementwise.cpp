//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Element-wise ops in ONNX.
//
//===----------------------------------------------------------------------===//

#include "ONNXOps.h"

#include <cmath>

using namespace llmir;
using namespace llmir::onnx;
using namespace mllm::ir;

static void lowerArithmetic(Builder &b, const GraphOp &op, const char *type) {
  Name right = op.operands.size() > 1
                   ? b.value(op.operands[1])
                   : b.number(op.real("scalar"), op.operands[0]);
  b.define(op.results[0], b.node(type, {b.value(op.operands[0]), right}));
}

static Status checkDivision(const GraphOp &op) {
  return op.operands[0]->dtype == mllm::kFp32
             ? Status::ok()
             : Status(StatusCode::Unsupported,
                      "integer division rounds differently in ONNX");
}

/// x * sigmoid(factor * x).
static void lowerGate(Builder &b, const GraphOp &op, double factor) {
  const Name x = b.value(op.operands[0]);
  Name inner = factor == 1 ? x : b.node("Mul", {x, b.real(factor)});
  b.define(op.results[0], b.node("Mul", {x, b.node("Sigmoid", {inner})}));
}

static void lowerGELU(Builder &b, const GraphOp &op) {
  const Name x = b.value(op.operands[0]);
  Name part;
  if (op.text("approximate", "tanh") == "none") {
    part = b.node("Erf", {b.node("Mul", {x, b.real(std::sqrt(0.5))})});
  } else {
    Name cube = b.node("Mul", {b.node("Mul", {x, x}), x});
    Name sum = b.node("Add", {x, b.node("Mul", {cube, b.real(0.044715)})});
    const double factor = std::sqrt(2 / 3.14159265358979323846);
    part = b.node("Tanh", {b.node("Mul", {sum, b.real(factor)})});
  }
  Name half = b.node("Mul", {x, b.real(0.5)});
  b.define(op.results[0],
           b.node("Mul", {half, b.node("Add", {part, b.real(1)})}));
}

static void lowerClip(Builder &b, const GraphOp &op) {
  const GraphValue *x = op.operands[0];
  b.define(op.results[0],
           b.node("Clip", {b.value(x), b.number(op.real("min_val", -1), x),
                           b.number(op.real("max_val", 1), x)}));
}

static void lowerCompare(Builder &b, const GraphOp &op) {
  const std::string word = op.text("comparison");
  const Name left = b.value(op.operands[0]), right = b.value(op.operands[1]);
  if (word == "not_equal")
    return b.define(op.results[0],
                    b.node("Not", {b.node("Equal", {left, right})}));
  const char *type = word == "less"         ? "Less"
                     : word == "less_equal" ? "LessOrEqual"
                     : word == "greater"    ? "Greater"
                                            : "GreaterOrEqual";
  b.define(op.results[0], b.node(type, {left, right}));
}

/// A tensor with the shape and element type of x, filled with `value`.
static Name filled(Builder &b, const GraphValue *x, double value) {
  return b.node("Expand", {b.number(value, x), b.node("Shape", {b.value(x)})});
}

static void lowerFill(Builder &b, const GraphOp &op) {
  const GraphValue *x = op.operands[0];
  const std::string kind = op.text("kind");
  if (kind != "arange")
    return b.define(op.results[0],
                    filled(b, x,
                           kind == "ones"       ? 1
                           : kind == "specific" ? op.real("value")
                                                : 0));
  // Computed in f64, so that sums are rounded once.
  Name count = b.node("Size", {b.value(x)});
  Name index =
      cast(b, b.node("Range", {b.integer(0), count, b.integer(1)}), Double);
  Name values =
      b.node("Add", {b.node("Mul", {index, b.real64(op.real("step"))}),
                     b.real64(op.real("start"))});
  b.define(op.results[0], b.node("Reshape",
                                 {cast(b, values, *elementTypeOf(x->dtype)),
                                  b.node("Shape", {b.value(x)})},
                                 {Attribute("allowzero", int64_t(1))}));
}

static Status checkFill(const GraphOp &op) {
  return op.text("kind") == "random"
             ? cannot("the random generator is specific to LLMIR",
                      "make them an input")
             : Status::ok();
}

/// Float to integer saturates and NaN becomes 0; an ONNX cast is undefined in
/// these cases.
static void lowerCast(Builder &b, const GraphOp &op) {
  const GraphValue *x = op.operands[0];
  const ElementType type = *elementTypeOf(op.results[0]->dtype);
  Name value = b.value(x);
  if (x->dtype == mllm::kFp32 && (type == Int32 || type == Int64)) {
    const double limit = type == Int32 ? 0x1p31 : 0x1p63;
    Name tooSmall = b.node("Less", {value, b.real(-limit)}),
         tooGreat = b.node("GreaterOrEqual", {value, b.real(limit)}),
         isNaN = b.node("IsNaN", {value});
    Name outside = b.node("Or", {b.node("Or", {tooSmall, tooGreat}), isNaN});
    Name inside = cast(b, b.node("Where", {outside, b.real(0), value}), type);
    Name capped = b.node("Where", {tooGreat, b.greatest(type), inside});
    value = b.node("Where", {tooSmall, b.least(type), capped});
    return b.define(op.results[0], value);
  }
  if (type == Bool) // NaN, too, is not 0.
    return b.define(op.results[0],
                    b.node("Not", {b.node("Equal", {value, b.number(0, x)})}));
  b.define(op.results[0], cast(b, value, type));
}

static Lowering arithmetic(const char *type,
                           Status (*check)(const GraphOp &) = nullptr) {
  Lowering lowering = {
      [type](Builder &b, const GraphOp &op) { lowerArithmetic(b, op, type); }};
  if (check)
    lowering.check = check;
  return lowering;
}

static Lowering gate(double factor) {
  return {
      [factor](Builder &b, const GraphOp &op) { lowerGate(b, op, factor); }};
}

Lowerings onnx::elementwiseLowerings() {
  return {
      {"add", arithmetic("Add")},  {"sub", arithmetic("Sub")},
      {"mul", arithmetic("Mul")},  {"div", arithmetic("Div", checkDivision)},
      {"neg", as("Neg")},          {"abs", as("Abs")},
      {"exp", as("Exp")},          {"log", as("Log")},
      {"sin", as("Sin")},          {"cos", as("Cos")},
      {"relu", as("Relu")},        {"sigmoid", as("Sigmoid")},
      {"logical_and", as("And")},  {"logical_or", as("Or")},
      {"logical_not", as("Not")},  {"equal", as("Equal")},
      {"compare", {lowerCompare}}, {"where", as("Where")},
      {"clip", {lowerClip}},       {"fill", {lowerFill, checkFill}},
      {"cast_type", {lowerCast}},  {"silu", gate(1)},
      {"quick_gelu", gate(1.702)}, {"gelu", {lowerGELU}},
  };
}
