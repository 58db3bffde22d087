//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tables of lowerings of ops to ONNX, and shared helpers.
//
//===----------------------------------------------------------------------===//

#include "ONNXOps.h"

#include "Limits.h"

#include <limits>
#include <numeric>

using namespace llmir;
using namespace llmir::onnx;
using namespace mllm::ir;

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

int64_t onnx::rankOf(const GraphValue *value) {
  return static_cast<int64_t>(value->shape.size());
}

int64_t onnx::dimOf(const GraphOp &op, const char *name,
                    const GraphValue *value) {
  const int64_t dim = op.integer(name);
  return dim < 0 ? dim + rankOf(value) : dim;
}

std::optional<Sizes> onnx::targetShape(const GraphValue *value) {
  Sizes shape;
  int64_t open = 0, empty = 0;
  for (const shapes::DimExpr &size : value->shape) {
    std::optional<int64_t> number = size.constant();
    open += !number;
    empty += number == 0;
    shape.push_back(number.value_or(-1));
  }
  if (open > 1 || (open && empty))
    return std::nullopt;
  return shape;
}

Status onnx::needsBoundSizes() {
  return Status(StatusCode::Unsupported,
                "a shape with several dynamic sizes is not supported",
                "bind the sizes, for example --export-tokens=128");
}

Status onnx::needsShape(const GraphOp &op) {
  return targetShape(op.results[0]) ? Status::ok() : needsBoundSizes();
}

Sizes onnx::exchanged(int64_t rank, int64_t a, int64_t b) {
  Sizes order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<size_t>(a)], order[static_cast<size_t>(b)]);
  return order;
}

Name onnx::repeated(Builder &b, const Name &x, int64_t rank, int64_t dim,
                    int64_t times, const Sizes &shape) {
  if (times == 1)
    return x;
  Sizes tiles(static_cast<size_t>(rank) + 1, 1);
  tiles[static_cast<size_t>(dim) + 1] = times;
  Name wide = b.node("Unsqueeze", {x, b.ints({dim + 1})});
  return b.reshape(b.node("Tile", {wide, b.ints(tiles)}), shape);
}

Status onnx::cannot(std::string cause, std::string advice) {
  return Status(StatusCode::Unsupported, std::move(cause), std::move(advice));
}

Status onnx::checkTable(double count) {
  return count <= static_cast<double>(maxConstant)
             ? Status::ok()
             : cannot("a table of more than " + std::to_string(maxConstant) +
                      " elements would be materialized");
}

Name onnx::sliced(Builder &b, const Name &x, int64_t from, int64_t to,
                  int64_t dim) {
  return b.node("Slice", {x, b.ints({from}), b.ints({to}), b.ints({dim})});
}

Name onnx::slicedByRanges(Builder &b, const GraphOp &op) {
  Sizes ends = op.integers("ends"), axes(ends.size());
  for (int64_t &end : ends) // An absent end is the minimum i64.
    if (end == std::numeric_limits<int64_t>::min())
      end = std::numeric_limits<int64_t>::max();
  std::iota(axes.begin(), axes.end(), 0);
  return b.node("Slice",
                {b.value(op.operands[0]), b.ints(op.integers("starts")),
                 b.ints(ends), b.ints(axes), b.ints(op.integers("steps"))});
}

Name onnx::cast(Builder &b, const Name &x, ElementType type) {
  return b.node("Cast", {x}, {Attribute("to", static_cast<int64_t>(type))});
}

Lowering onnx::as(const char *type) {
  return {[type](Builder &b, const GraphOp &op) {
    std::vector<Name> inputs;
    for (const GraphValue *operand : op.operands)
      inputs.push_back(b.value(operand));
    b.define(op.results[0], b.node(type, inputs));
  }};
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

static const Lowerings &lowerings() {
  static const Lowerings table = [] {
    Lowerings all;
    for (Lowerings part :
         {productLowerings(), elementwiseLowerings(), shapeLowerings(),
          indexLowerings(), signalLowerings(), attentionLowerings()})
      all.merge(part);
    return all;
  }();
  return table;
}

/// Reasons why ops have no lowering.
static Status refusal(const std::string &kind) {
  static const std::map<std::string, const char *> reasons = {
      {"customized", "custom ops have no ONNX equivalent"},
      {"istft", "opset 17 has no inverse transform"},
      {"paged_attn", "a paged cache is not a tensor"},
      {"radix_attn_swa_sink", "a paged cache is not a tensor"},
      {"radix_attn_relax", "a paged cache is not a tensor"},
      {"flash_attention2_swa_sink", "sinks are not supported"},
      {"experts",
       "experts that are chosen for each row have no ONNX equivalent"},
      {"tensor.alloc", "memory is not a value"},
      {"tensor.free", "memory is not a value"},
  };
  auto found = reasons.find(kind);
  return cannot(found == reasons.end() ? "the op has no lowering to ONNX"
                                       : found->second,
                "export the parts around it (mllm::ir::partition)");
}

Status onnx::canLower(const GraphOp &op) {
  auto found = lowerings().find(op.kind);
  if (found == lowerings().end())
    return refusal(op.kind);
  for (const std::vector<const GraphValue *> &values :
       {op.operands, op.results})
    for (const GraphValue *value : values)
      if (!elementTypeOf(value->dtype) || value->device != mllm::kCPU)
        return cannot("only f32, i64, i32 and bool on the CPU are exported",
                      "cast the value, or export the parts around it");
  return found->second.check ? found->second.check(op) : Status::ok();
}

Status onnx::lowerOp(Builder &builder, const GraphOp &op) {
  LLMIR_RETURN_IF_ERROR(canLower(op));
  lowerings().at(op.kind).lower(builder, op);
  return Status::ok();
}
