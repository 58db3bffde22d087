//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Positions, the cache and attention in ONNX.
//
//===----------------------------------------------------------------------===//

#include "ONNXOps.h"

#include <cmath>
#include <limits>
#include <numeric>

using namespace llmir;
using namespace llmir::onnx;
using namespace mllm::ir;

static bool isHeadsFirst(const GraphOp &op) {
  return op.text("layout", "bshd") == "bhsd";
}

/// start, start + 1, … for the size of a dimension: [size] of i64.
static Name rangeOf(Builder &b, const Name &x, int64_t dim, const Name &start) {
  Name end = b.node("Add", {start, b.sizeOf(x, dim)});
  return b.node("Range", {start, end, b.integer(1)});
}

static void lowerPositions(Builder &b, const GraphOp &op) {
  const Name ids = b.value(op.operands[0]);
  Name range = rangeOf(b, ids, rankOf(op.operands[0]) - 1, b.pastTokens());
  Name wide = b.node("Expand", {range, b.node("Shape", {ids})});
  const int64_t type = *elementTypeOf(op.results[0]->dtype);
  b.define(op.results[0], b.node("Cast", {wide}, {Attribute("to", type)}));
}

/// A key of the size of a dimension: equal keys mean equal sizes.
static std::string sizeKey(const GraphValue *value, int64_t dim) {
  const shapes::DimExpr &size = value->shape[static_cast<size_t>(dim)];
  return size.isKnown() ? size.str() : "of " + value->name;
}

/// Cosine or sine of each token and pair, shaped to multiply heads.
static Name rotation(Builder &b, const GraphOp &op, const char *function,
                     int64_t tokenDim) {
  const std::vector<double> frequencies = op.reals("frequencies");
  std::string key = function + op.text("layout", "bshd") + ":" +
                    sizeKey(op.operands[0], tokenDim) + ":";
  for (double frequency : frequencies) {
    key.append(reinterpret_cast<const char *>(&frequency), sizeof frequency);
  }
  const double scaling = op.real("scaling", 1);
  key.append(reinterpret_cast<const char *>(&scaling), sizeof scaling);
  if (auto found = b.shared.find(key); found != b.shared.end())
    return found->second;
  Name positions = b.node(
      "Cast", {rangeOf(b, b.value(op.operands[0]), tokenDim, b.pastTokens())},
      {Attribute("to", int64_t(Float))});
  const auto pairs = static_cast<int64_t>(frequencies.size());
  Name angles = b.node("Mul", {b.node("Unsqueeze", {positions, b.ints({1})}),
                               b.reals(frequencies, {1, pairs})});
  Name result = b.node("Mul", {b.node(function, {angles}), b.real(scaling)});
  if (!isHeadsFirst(op)) // [tokens, 1, pairs]: the same for all heads.
    result = b.node("Unsqueeze", {result, b.ints({1})});
  b.shared[key] = result;
  return result;
}

/// x with its first 2 * pairs values of a head rotated.
static void defineRotated(Builder &b, const GraphOp &op, const Name &cosine,
                          const Name &sine, int64_t pairs) {
  const GraphValue *value = op.operands[0];
  const Name x = b.value(value);
  Name low = sliced(b, x, 0, pairs, -1),
       high = sliced(b, x, pairs, 2 * pairs, -1);
  std::vector<Name> parts = {b.node("Sub", {b.node("Mul", {low, cosine}),
                                            b.node("Mul", {high, sine})}),
                             b.node("Add", {b.node("Mul", {high, cosine}),
                                            b.node("Mul", {low, sine})})};
  if (value->shape.back().constant() != 2 * pairs)
    parts.push_back(
        sliced(b, x, 2 * pairs, std::numeric_limits<int64_t>::max(), -1));
  b.define(op.results[0],
           b.node("Concat", parts, {Attribute("axis", int64_t(-1))}));
}

/// A table […, tokens, pairs] shaped to multiply heads.
static Name broadcastToHeads(Builder &b, const GraphOp &op, const Name &table,
                             int64_t rank) {
  if (!isHeadsFirst(op))
    return b.node("Unsqueeze", {table, b.ints({rank - 1})});
  return rank == 3 ? b.node("Unsqueeze", {table, b.ints({1})}) : table;
}

/// By tables of sines and cosines.
static void lowerByTables(Builder &b, const GraphOp &op, double scaling) {
  auto table = [&](size_t operand) {
    const GraphValue *value = op.operands[operand];
    Name factors = broadcastToHeads(b, op, b.value(value), rankOf(value));
    return scaling == 1 ? factors : b.node("Mul", {factors, b.real(scaling)});
  };
  Name sine = table(1), cosine = table(2);
  defineRotated(b, op, cosine, sine, *op.operands[1]->shape.back().constant());
}

/// Fails unless the size is static and positive.
static Status checkSize(const shapes::DimExpr &size) {
  if (!size.isConstant())
    return needsBoundSizes();
  return *size.constant() > 0
             ? Status::ok()
             : cannot("a size of 0 other than the number of tokens");
}

static Status checkTables(const GraphOp &op) {
  return op.operands.size() == 1 ? Status::ok()
                                 : checkSize(op.operands[1]->shape.back());
}

static void lowerRoPE(Builder &b, const GraphOp &op) {
  if (op.operands.size() > 1)
    return lowerByTables(b, op, op.real("scaling", 1));
  const int64_t tokenDim = rankOf(op.operands[0]) - (isHeadsFirst(op) ? 2 : 3);
  Name cosine = rotation(b, op, "Cos", tokenDim),
       sine = rotation(b, op, "Sin", tokenDim);
  defineRotated(b, op, cosine, sine,
                static_cast<int64_t>(op.reals("frequencies").size()));
}

/// The planes of the tables by sections of pairs.
static void lowerMultimodalRoPE(Builder &b, const GraphOp &op) {
  const Sizes sections = op.integers("mrope_section");
  const int64_t planes = *op.operands[1]->shape[0].constant();
  const int64_t pairs =
      std::accumulate(sections.begin(), sections.end(), int64_t(0));
  auto table = [&](size_t operand) {
    std::vector<Name> parts;
    int64_t first = 0;
    for (size_t i = 0; i < sections.size(); ++i) {
      const int64_t plane = static_cast<int64_t>(i) % planes;
      Name rows =
          b.node("Gather", {b.value(op.operands[operand]), b.integer(plane)});
      parts.push_back(sliced(b, rows, first, first + sections[i], -1));
      first += sections[i];
    }
    Name joined = b.node("Concat", parts, {Attribute("axis", int64_t(-1))});
    return broadcastToHeads(b, op, joined, 2);
  };
  Name sine = table(1), cosine = table(2);
  defineRotated(b, op, cosine, sine, pairs);
}

static Status checkMultimodal(const GraphOp &op) {
  return checkSize(op.operands[1]->shape[0]);
}

/// Angles of the patches of a grid: rows for the first half of the pairs,
/// columns for the other.
static std::vector<double> gridAngles(const GraphOp &op, int64_t headSize) {
  const Sizes grid = op.integers("grid");
  const int64_t merge = op.integer("spatial_merge_size", 2),
                half = headSize / 4;
  std::vector<double> angles;
  for (int64_t frame = 0; frame < grid[0]; ++frame)
    for (int64_t block = 0; block < grid[1] * grid[2]; ++block) {
      // Blocks of merge * merge patches, row by row in each.
      const int64_t inBlock = block % (merge * merge),
                    which = block / (merge * merge), across = grid[2] / merge;
      const double places[] = {
          double(which / across * merge + inBlock / merge),
          double(which % across * merge + inBlock % merge)};
      for (double place : places)
        for (int64_t i = 0; i < half; ++i)
          angles.push_back(place *
                           std::pow(op.real("theta", 1e4),
                                    -4.0 * double(i) / double(headSize)));
    }
  return angles;
}

static void lowerVisionRoPE(Builder &b, const GraphOp &op) {
  if (op.operands.size() > 1)
    return lowerByTables(b, op, 1);
  const int64_t headSize = *op.operands[0]->shape.back().constant(),
                pairs = headSize / 2;
  std::vector<double> angles = gridAngles(op, headSize);
  const auto patches = static_cast<int64_t>(angles.size()) / pairs;
  auto table = [&](double (*function)(double)) {
    std::vector<double> values;
    for (double angle : angles)
      values.push_back(function(angle));
    return b.reals(values, {patches, 1, pairs});
  };
  defineRotated(b, op, table(std::cos), table(std::sin), pairs);
}

static Status checkVision(const GraphOp &op) {
  LLMIR_RETURN_IF_ERROR(checkSize(op.operands[0]->shape.back()));
  if (op.operands.size() > 1)
    return checkTables(op);
  double count =
      static_cast<double>(*op.operands[0]->shape.back().constant()) / 2;
  for (int64_t size : op.integers("grid"))
    count *= static_cast<double>(size);
  return checkTable(count);
}

static void lowerKVCache(Builder &b, const GraphOp &op) {
  const int64_t rank = rankOf(op.operands[0]);
  const int64_t tokenDim = rank - (isHeadsFirst(op) ? 2 : 3);
  const int64_t headDim = rank - (isHeadsFirst(op) ? 3 : 2);
  for (size_t i = 0; i < 2; ++i) {
    const GraphValue *added = op.operands[i];
    const auto tokens = static_cast<size_t>(tokenDim);
    const shapes::DimExpr &now = added->shape[tokens],
                          &then = op.results[i]->shape[tokens];
    Name past = b.addCacheInput(
        cacheName("past", i, op), added, tokenDim,
        then.isConstant() && now.isConstant()
            ? shapes::DimExpr(*then.constant() - *now.constant())
            : shapes::DimExpr::symbol("past"));
    Name all =
        b.node("Concat", {past, b.value(added)}, {Attribute("axis", tokenDim)});
    b.addCacheOutput(
        cacheName("present", i, op), all, added, tokenDim,
        then.isConstant() ? then : shapes::DimExpr::symbol("past_and_tokens"));
    const int64_t heads =
        *added->shape[static_cast<size_t>(headDim)].constant();
    const int64_t wanted = op.integer("q_head", heads);
    Sizes shape;
    for (const shapes::DimExpr &size : added->shape)
      shape.push_back(size.constant().value_or(1));
    shape[static_cast<size_t>(headDim)] = wanted;
    shape[tokens] = -1;
    b.define(op.results[i],
             repeated(b, all, rank, headDim, wanted / heads, shape));
  }
}

/// Sizes other than the number of tokens must be static.
static Status checkHeads(const GraphOp &op) {
  for (const GraphValue *value : op.operands) {
    const int64_t tokenDim = rankOf(value) - (isHeadsFirst(op) ? 2 : 3);
    for (int64_t dim = 0; dim < rankOf(value); ++dim)
      if (dim != tokenDim)
        LLMIR_RETURN_IF_ERROR(
            checkSize(value->shape[static_cast<size_t>(dim)]));
  }
  return Status::ok();
}

/// The mask of the keys of `scores` […, queries, keys] that a query sees, as
/// booleans: those up to `offset` keys after its own one.
static Name visibleKeys(Builder &b, const Name &scores, int64_t rank,
                        int64_t offset) {
  Name shape = b.node("Shape", {scores});
  Name last = b.node("Slice", {shape, b.ints({-2}), b.ints({rank})});
  Name ones = b.node("Expand", {b.real(1), last});
  Name diagonal =
      b.node("Sub", {b.sizeOf(scores, rank - 1), b.sizeOf(scores, rank - 2)});
  if (offset)
    diagonal = b.node("Sub", {diagonal, b.integer(offset)});
  Name kept =
      b.node("Trilu", {ones, diagonal}, {Attribute("upper", int64_t(0))});
  return b.node("Cast", {kept}, {Attribute("to", int64_t(Bool))});
}

static void lowerCausalMask(Builder &b, const GraphOp &op) {
  const Name x = b.value(op.operands[0]);
  const int64_t rank = rankOf(op.operands[0]);
  Name visible = visibleKeys(b, x, rank, 0);
  if (const int64_t window = op.integer("window")) {
    Name tooOld = visibleKeys(b, x, rank, window);
    visible = b.node("And", {visible, b.node("Not", {tooOld})});
  }
  b.define(op.results[0], b.node("Where", {visible, x, b.real(-1e10)}));
}

static void lowerAttention(Builder &b, const GraphOp &op) {
  const GraphValue *q = op.operands[0], *k = op.operands[1],
                   *v = op.operands[2];
  const int64_t rank = rankOf(q);
  const auto size = [](const GraphValue *value, int64_t dim) {
    return *value->shape[static_cast<size_t>(dim)].constant();
  };
  const int64_t heads = size(q, rank - 2), groups = size(k, rank - 2);
  // Heads before tokens, and one key head for each query head.
  const Sizes headsFirst = exchanged(rank, rank - 3, rank - 2);
  auto prepared = [&](const GraphValue *value) {
    Name x =
        b.node("Transpose", {b.value(value)}, {Attribute("perm", headsFirst)});
    Sizes shape = {heads, -1, size(value, rank - 1)};
    if (rank == 4)
      shape.insert(shape.begin(), size(value, 0));
    return value == q ? x
                      : repeated(b, x, rank, rank - 3, heads / groups, shape);
  };
  Name keys = b.node("Transpose", {prepared(k)},
                     {Attribute("perm", exchanged(rank, rank - 2, rank - 1))});
  Name scores = b.node(
      "Mul", {b.node("MatMul", {prepared(q), keys}), b.real(op.real("scale"))});
  if (const double cap = op.real("soft_cap", 0); cap != 0)
    scores = b.node("Mul",
                    {b.node("Tanh", {b.node("Mul", {scores, b.real(1 / cap)})}),
                     b.real(cap)});
  if (op.flag("causal"))
    scores =
        b.node("Where", {visibleKeys(b, scores, rank, 0), scores,
                         b.real(-std::numeric_limits<double>::infinity())});
  Name mixed = b.node("MatMul", {softmax(b, scores, rank - 1), prepared(v)});
  b.define(op.results[0],
           b.node("Transpose", {mixed}, {Attribute("perm", headsFirst)}));
}

Lowerings onnx::attentionLowerings() {
  return {
      {"positions", {lowerPositions}},
      {"rope", {lowerRoPE, checkTables}},
      {"multimodal_rope", {lowerMultimodalRoPE, checkMultimodal}},
      {"vision_rope", {lowerVisionRoPE, checkVision}},
      {"kv_cache", {lowerKVCache, checkHeads}},
      {"causal_mask", {lowerCausalMask}},
      {"flash_attention2", {lowerAttention, checkHeads}},
  };
}
