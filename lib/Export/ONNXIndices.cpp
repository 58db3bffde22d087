//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
// Gathers, scatters, sorts and reductions in ONNX.
//
// For duplicate scatter indices, ONNX does not specify which value is written;
// its runtimes write the last one, as LLMIR does.
//
//===----------------------------------------------------------------------===//

#include "ONNXOps.h"

#include <algorithm>
#include <limits>

using namespace llmir;
using namespace llmir::onnx;
using namespace mllm::ir;

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

static void lowerGather(Builder &b, const GraphOp &op) {
  const GraphValue *table = op.operands[0];
  b.define(op.results[0],
           b.node("Gather", {b.value(table), b.value(op.operands[1])},
                  {Attribute("axis", dimOf(op, "dim", table))}));
}

static void lowerScatter(Builder &b, const GraphOp &op) {
  const GraphValue *x = op.operands[0];
  b.define(op.results[0], b.node("ScatterElements",
                                 {b.value(x), b.value(op.operands[1]),
                                  b.value(op.operands[2])},
                                 {Attribute("axis", dimOf(op, "dim", x))}));
}

/// The n-th true element of the mask reads the n-th element of the source.
static void lowerMaskedScatter(Builder &b, const GraphOp &op) {
  const GraphValue *x = op.operands[0], *source = op.operands[2];
  Name shape = b.node("Shape", {b.value(x)});
  Name mask = b.node("Expand", {b.value(op.operands[1]), shape});
  Name flatMask = b.reshape(cast(b, mask, Int64), {-1});
  Name rank = b.node("CumSum", {flatMask, b.integer(0)});
  Name index =
      b.node("Max", {b.node("Sub", {rank, b.integer(1)}), b.integer(0)});
  // Elements before the first true one read an unused element.
  Name spare = b.reshape(b.number(0, x), {1});
  Name values = b.node("Concat", {b.reshape(b.value(source), {-1}), spare},
                       {Attribute("axis", int64_t(0))});
  Name chosen = b.node("Reshape", {b.node("Gather", {values, index}), shape},
                       {Attribute("allowzero", int64_t(1))});
  b.define(op.results[0], b.node("Where", {mask, chosen, b.value(x)}));
}

/// Stacks the index tensors to [their broadcast shape, tensors].
static Name joinedIndices(Builder &b, const GraphOp &op, int64_t rank) {
  std::vector<Name> wide;
  Name zero;
  for (size_t i = 1; i < op.operands.size(); ++i) {
    wide.push_back(cast(b, b.value(op.operands[i]), Int64));
    Name nothing = b.node("Mul", {wide.back(), b.integer(0)});
    zero = zero.empty() ? nothing : b.node("Add", {zero, nothing});
  }
  for (Name &index : wide)
    index = b.node("Unsqueeze", {b.node("Add", {index, zero}), b.ints({rank})});
  return b.node("Concat", wide, {Attribute("axis", rank)});
}

static void lowerIndex(Builder &b, const GraphOp &op) {
  const GraphValue *x = op.operands[0];
  Name values = slicedByRanges(b, op);
  const Sizes dims = op.integers("dims");
  if (dims.empty())
    return b.define(op.results[0], values);
  // The indexed dimensions come first, then the others.
  Sizes order = dims;
  for (int64_t dim = 0; dim < rankOf(x); ++dim)
    if (std::find(dims.begin(), dims.end(), dim) == dims.end())
      order.push_back(dim);
  const int64_t indexRank =
      rankOf(op.results[0]) - rankOf(x) + static_cast<int64_t>(dims.size());
  values = b.node("Transpose", {values}, {Attribute("perm", order)});
  values = b.node("GatherND", {values, joinedIndices(b, op, indexRank)});
  // The indexed dimensions are replaced if adjacent, otherwise moved to the
  // front.
  const auto count = static_cast<int64_t>(dims.size());
  if (dims.back() - dims.front() + 1 == count && dims.front() != 0) {
    Sizes back;
    for (int64_t dim = 0; dim < dims.front(); ++dim)
      back.push_back(indexRank + dim);
    for (int64_t dim = 0; dim < indexRank; ++dim)
      back.push_back(dim);
    for (int64_t dim = indexRank + dims.front(); dim < rankOf(op.results[0]);
         ++dim)
      back.push_back(dim);
    values = b.node("Transpose", {values}, {Attribute("perm", back)});
  }
  b.define(op.results[0], values);
}

//===----------------------------------------------------------------------===//
// Sorting
//===----------------------------------------------------------------------===//

/// Indices (i64) of the first `count` ([1] of i64). NaN is replaced by
/// infinity, since TopK does not specify its order.
static Name ordered(Builder &b, const GraphOp &op, const Name &count,
                    int64_t dim, bool largest) {
  const GraphValue *x = op.operands[0];
  Name keys = b.value(x);
  if (x->dtype == mllm::kFp32)
    keys = b.node("Where",
                  {b.node("IsNaN", {keys}),
                   b.real(std::numeric_limits<double>::infinity()), keys});
  const std::vector<Name> outputs = {b.newName(), b.newName()};
  b.node("TopK", {keys, count}, outputs,
         {Attribute("axis", dim), Attribute("largest", int64_t(largest)),
          Attribute("sorted", int64_t(1))});
  return outputs[1];
}

/// `dim`, by default the last one.
static int64_t orderedDim(const GraphOp &op) {
  const int64_t dim = op.integer("dim", -1);
  return dim < 0 ? dim + rankOf(op.operands[0]) : dim;
}

static void lowerTopK(Builder &b, const GraphOp &op) {
  const int64_t dim = orderedDim(op);
  const bool largest = !op.attributes.count("largest") || op.flag("largest");
  Name indices = ordered(b, op, b.ints({op.integer("k")}), dim, largest);
  b.define(op.results[0],
           b.node("GatherElements", {b.value(op.operands[0]), indices},
                  {Attribute("axis", dim)}));
  b.define(op.results[1],
           cast(b, indices, *elementTypeOf(op.results[1]->dtype)));
}

static void lowerArgsort(Builder &b, const GraphOp &op) {
  const int64_t dim = orderedDim(op);
  Name count = b.reshape(b.sizeOf(b.value(op.operands[0]), dim), {1});
  Name indices = ordered(b, op, count, dim, op.flag("descending"));
  b.define(op.results[0],
           cast(b, indices, *elementTypeOf(op.results[0]->dtype)));
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

static std::vector<Attribute> reduced(const GraphOp &op, bool withAxes) {
  std::vector<Attribute> attributes = {
      Attribute("keepdims", int64_t(op.flag("keep_dim")))};
  if (withAxes && op.attributes.count("dim"))
    attributes.push_back(
        Attribute("axes", Sizes{dimOf(op, "dim", op.operands[0])}));
  return attributes;
}

/// Reduces bools as integers.
static void lowerReduce(Builder &b, const GraphOp &op, const char *type) {
  const GraphValue *x = op.operands[0];
  const bool isBool = x->dtype == mllm::kBool;
  Name y = b.node(type, {isBool ? cast(b, b.value(x), Int32) : b.value(x)},
                  reduced(op, /*withAxes=*/true));
  b.define(op.results[0], isBool ? cast(b, y, Bool) : y);
}

/// The reduced dimensions are an operand since opset 13.
static void lowerReduceSum(Builder &b, const GraphOp &op) {
  std::vector<Name> inputs = {b.value(op.operands[0])};
  if (op.attributes.count("dim"))
    inputs.push_back(b.ints({dimOf(op, "dim", op.operands[0])}));
  b.define(op.results[0],
           b.node("ReduceSum", inputs, reduced(op, /*withAxes=*/false)));
}

static Lowering reduce(const char *type) {
  return {[type](Builder &b, const GraphOp &op) { lowerReduce(b, op, type); }};
}

Lowerings onnx::indexLowerings() {
  return {
      {"gather", {lowerGather}},
      {"scatter", {lowerScatter}},
      {"masked_scatter", {lowerMaskedScatter}},
      {"index", {lowerIndex}},
      {"top_k", {lowerTopK}},
      {"argsort", {lowerArgsort}},
      {"reduce_max", reduce("ReduceMax")},
      {"reduce_min", reduce("ReduceMin")},
      {"reduce_sum", {lowerReduceSum}},
      {"mean", reduce("ReduceMean")},
  };
}
