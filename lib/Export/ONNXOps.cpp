//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What each op of the dialect is in ONNX: a table of functions.
//
//===----------------------------------------------------------------------===//

#include "ONNXBuilder.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace llmir;
using namespace llmir::onnx;
using namespace mllm::ir;

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

static int64_t rankOf(const GraphValue *value) {
  return static_cast<int64_t>(value->shape.size());
}

/// A dimension counted from the front.
static int64_t dimOf(const GraphOp &op, const char *name,
                     const GraphValue *value) {
  const int64_t dim = op.integer(name);
  return dim < 0 ? dim + rankOf(value) : dim;
}

/// The shape as a Reshape takes it, -1 for what is open; nullopt where two
/// sizes are, or one beside a size of 0.
static std::optional<Sizes> targetShape(const GraphValue *value) {
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

static Status needsBoundSizes() {
  return Status(StatusCode::Unsupported,
                "a shape with several open sizes cannot be written",
                "bind the sizes, for example --export-tokens=128");
}

static Status needsShape(const GraphOp &op) {
  return targetShape(op.results[0]) ? Status::ok() : needsBoundSizes();
}

static Status anything(const GraphOp &) { return Status::ok(); }

static bool isHeadsFirst(const GraphOp &op) {
  return op.text("layout", "bshd") == "bhsd";
}

/// The order of dimensions with two of them exchanged.
static Sizes exchanged(int64_t rank, int64_t a, int64_t b) {
  Sizes order(static_cast<size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[static_cast<size_t>(a)], order[static_cast<size_t>(b)]);
  return order;
}

/// Each slice of a dimension `times` in a row; `shape` is that of the result.
static Name repeated(Builder &b, const Name &x, int64_t rank, int64_t dim,
                     int64_t times, const Sizes &shape) {
  if (times == 1)
    return x;
  Sizes tiles(static_cast<size_t>(rank) + 1, 1);
  tiles[static_cast<size_t>(dim) + 1] = times;
  Name wide = b.node("Unsqueeze", {x, b.ints({dim + 1})});
  return b.reshape(b.node("Tile", {wide, b.ints(tiles)}), shape);
}

//===----------------------------------------------------------------------===//
// Products, tables, norms
//===----------------------------------------------------------------------===//

static void lowerLinear(Builder &b, const GraphOp &op) {
  Name weight = b.node("Transpose", {b.parameter(op.parameter("weight"))},
                       {Attribute("perm", Sizes{1, 0})});
  Name y = b.node("MatMul", {b.value(op.operands[0]), weight});
  if (const GraphParameter *bias = op.parameter("bias"))
    y = b.node("Add", {y, b.parameter(bias)});
  if (rankOf(op.results[0]) != rankOf(op.operands[0]))
    y = b.reshape(y, *targetShape(op.results[0]));
  b.define(op.results[0], y);
}

static Status checkLinear(const GraphOp &op) {
  return rankOf(op.results[0]) == rankOf(op.operands[0]) ? Status::ok()
                                                         : needsShape(op);
}

static void lowerMatMul(Builder &b, const GraphOp &op) {
  auto side = [&](size_t i, const char *flag) {
    const int64_t rank = rankOf(op.operands[i]);
    Name x = b.value(op.operands[i]);
    return op.flag(flag)
               ? b.node(
                     "Transpose", {x},
                     {Attribute("perm", exchanged(rank, rank - 2, rank - 1))})
               : x;
  };
  b.define(op.results[0],
           b.node("MatMul", {side(0, "transpose_a"), side(1, "transpose_b")}));
}

static void lowerEmbedding(Builder &b, const GraphOp &op) {
  b.define(op.results[0], b.node("Gather", {b.parameter(op.parameter("weight")),
                                            b.value(op.operands[0])}));
}

static void lowerParam(Builder &b, const GraphOp &op) {
  b.define(op.results[0], b.parameter(op.parameter("weight")));
}

static void lowerRMSNorm(Builder &b, const GraphOp &op) {
  const Name x = b.value(op.operands[0]);
  Name mean =
      b.node("ReduceMean", {b.node("Mul", {x, x})},
             {Attribute("axes", Sizes{-1}), Attribute("keepdims", int64_t(1))});
  Name root = b.node("Sqrt", {b.node("Add", {mean, b.real(op.real("eps"))})});
  Name weight = b.parameter(op.parameter("weight"));
  if (op.flag("unit_offset"))
    weight = b.node("Add", {weight, b.real(1)});
  b.define(op.results[0], b.node("Mul", {b.node("Div", {x, root}), weight}));
}

static void lowerLayerNorm(Builder &b, const GraphOp &op) {
  const Sizes shape = op.integers("normalized_shape");
  const int64_t count = std::accumulate(shape.begin(), shape.end(), int64_t(1),
                                        std::multiplies<int64_t>());
  std::vector<Name> inputs = {b.value(op.operands[0])};
  const GraphParameter *weight = op.parameter("weight");
  inputs.push_back(
      weight ? b.parameter(weight)
             : b.reals(std::vector<double>(static_cast<size_t>(count), 1.0),
                       shape));
  if (const GraphParameter *bias = op.parameter("bias"))
    inputs.push_back(b.parameter(bias));
  b.define(op.results[0],
           b.node("LayerNormalization", inputs,
                  {Attribute("axis", -static_cast<int64_t>(shape.size())),
                   Attribute("epsilon", op.real("eps"))}));
}

static void lowerLayerNorm2D(Builder &b, const GraphOp &op) {
  const std::vector<Attribute> overChannels = {
      Attribute("axes", Sizes{1}), Attribute("keepdims", int64_t(1))};
  const Name x = b.value(op.operands[0]);
  Name centered = b.node("Sub", {x, b.node("ReduceMean", {x}, overChannels)});
  Name variance =
      b.node("ReduceMean", {b.node("Mul", {centered, centered})}, overChannels);
  Name root =
      b.node("Sqrt", {b.node("Add", {variance, b.real(op.real("eps"))})});
  auto perChannel = [&](const char *role) {
    return b.reshape(b.parameter(op.parameter(role)), {-1, 1, 1});
  };
  Name scaled =
      b.node("Mul", {b.node("Div", {centered, root}), perChannel("weight")});
  b.define(op.results[0], b.node("Add", {scaled, perChannel("bias")}));
}

static void lowerSoftmax(Builder &b, const GraphOp &op) {
  b.define(op.results[0], b.node("Softmax", {b.value(op.operands[0])},
                                 {Attribute("axis", op.integer("axis"))}));
}

static void lowerConv(Builder &b, const GraphOp &op) {
  const Sizes kernel = op.integers("kernel_size");
  auto orAll = [&](const char *name, int64_t fallback) {
    Sizes given = op.integers(name);
    return given.empty() ? Sizes(kernel.size(), fallback) : given;
  };
  Sizes pads = orAll("padding", 0);
  pads.insert(pads.end(), pads.begin(), pads.begin() + kernel.size());
  std::vector<Name> inputs = {b.value(op.operands[0]),
                              b.parameter(op.parameter("weight"))};
  if (const GraphParameter *bias = op.parameter("bias"))
    inputs.push_back(b.parameter(bias));
  b.define(
      op.results[0],
      b.node("Conv", inputs,
             {Attribute("kernel_shape", kernel),
              Attribute("strides", orAll("stride", 1)), Attribute("pads", pads),
              Attribute("dilations", orAll("dilation", 1)),
              Attribute("group", op.integer("groups", 1))}));
}

//===----------------------------------------------------------------------===//
// One value at a time
//===----------------------------------------------------------------------===//

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
                      "division of integers rounds in another way there");
}

static void lowerSame(Builder &b, const GraphOp &op, const char *type) {
  std::vector<Name> inputs;
  for (const GraphValue *operand : op.operands)
    inputs.push_back(b.value(operand));
  b.define(op.results[0], b.node(type, inputs));
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

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

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
  Sizes ends = op.integers("ends"), axes(ends.size());
  for (int64_t &end : ends) // An absent end is the least number.
    if (end == std::numeric_limits<int64_t>::min())
      end = std::numeric_limits<int64_t>::max();
  std::iota(axes.begin(), axes.end(), 0);
  b.define(op.results[0],
           b.node("Slice",
                  {b.value(op.operands[0]), b.ints(op.integers("starts")),
                   b.ints(ends), b.ints(axes), b.ints(op.integers("steps"))}));
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Numbers from `start`, as many as the dimension is long: [size] of i64.
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

/// Cosine or sine of each token and pair, shaped to multiply heads.
static Name rotation(Builder &b, const GraphOp &op, const char *function,
                     int64_t tokenDim) {
  const std::vector<double> frequencies = op.reals("frequencies");
  std::string key = function + op.text("layout", "bshd");
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

static void lowerRoPE(Builder &b, const GraphOp &op) {
  const GraphValue *value = op.operands[0];
  const int64_t rank = rankOf(value);
  const int64_t tokenDim = rank - (isHeadsFirst(op) ? 2 : 3);
  Name x = b.value(value);
  Name cosine = rotation(b, op, "Cos", tokenDim),
       sine = rotation(b, op, "Sin", tokenDim);
  const auto pairs = static_cast<int64_t>(op.reals("frequencies").size());
  auto part = [&](int64_t from, int64_t to) {
    return b.node("Slice", {x, b.ints({from}), b.ints({to}), b.ints({-1})});
  };
  Name low = part(0, pairs), high = part(pairs, 2 * pairs);
  std::vector<Name> parts = {b.node("Sub", {b.node("Mul", {low, cosine}),
                                            b.node("Mul", {high, sine})}),
                             b.node("Add", {b.node("Mul", {high, cosine}),
                                            b.node("Mul", {low, sine})})};
  if (value->shape.back().constant() != 2 * pairs)
    parts.push_back(part(2 * pairs, std::numeric_limits<int64_t>::max()));
  b.define(op.results[0],
           b.node("Concat", parts, {Attribute("axis", int64_t(-1))}));
}

static Status checkRoPE(const GraphOp &op) {
  if (op.operands.size() == 1)
    return Status::ok();
  return Status(StatusCode::Unsupported, "angles from tables are not exported",
                "give the op its frequencies");
}

static void lowerKVCache(Builder &b, const GraphOp &op) {
  const int64_t rank = rankOf(op.operands[0]);
  const int64_t tokenDim = rank - (isHeadsFirst(op) ? 2 : 3);
  const int64_t headDim = rank - (isHeadsFirst(op) ? 3 : 2);
  const std::string layer = std::to_string(op.integer("layer"));
  for (size_t i = 0; i < 2; ++i) {
    const GraphValue *added = op.operands[i];
    const std::string role = i ? "value_" : "key_";
    Name past = b.addCacheInput("past_" + role + layer, added, tokenDim);
    Name all =
        b.node("Concat", {past, b.value(added)}, {Attribute("axis", tokenDim)});
    b.addCacheOutput("present_" + role + layer, all, added, tokenDim);
    const int64_t heads =
        *added->shape[static_cast<size_t>(headDim)].constant();
    const int64_t wanted = op.integer("q_head", heads);
    Sizes shape;
    for (const shapes::DimExpr &size : added->shape)
      shape.push_back(size.constant().value_or(1));
    shape[static_cast<size_t>(headDim)] = wanted;
    shape[static_cast<size_t>(tokenDim)] = -1;
    b.define(op.results[i],
             repeated(b, all, rank, headDim, wanted / heads, shape));
  }
}

/// Sizes other than that of the tokens must be numbers.
static Status checkHeads(const GraphOp &op) {
  for (const GraphValue *value : op.operands) {
    int64_t open = 0;
    for (const shapes::DimExpr &size : value->shape)
      open += !size.constant();
    if (open > 1 || (rankOf(value) == 4 && !value->shape[0].constant()))
      return needsBoundSizes();
  }
  return Status::ok();
}

/// Which keys of `scores` […, queries, keys] a query sees, as booleans: those
/// up to `offset` behind the last one that belongs to it.
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
  if (op.flag("causal"))
    scores =
        b.node("Where", {visibleKeys(b, scores, rank, 0), scores,
                         b.real(-std::numeric_limits<double>::infinity())});
  Name shares = b.node("Softmax", {scores}, {Attribute("axis", int64_t(-1))});
  Name mixed = b.node("MatMul", {shares, prepared(v)});
  b.define(op.results[0],
           b.node("Transpose", {mixed}, {Attribute("perm", headsFirst)}));
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {
struct Lowering {
  std::function<void(Builder &, const GraphOp &)> lower;
  std::function<Status(const GraphOp &)> check;
};
} // namespace

static Lowering as(const char *type) {
  return {[type](Builder &b, const GraphOp &op) { lowerSame(b, op, type); },
          anything};
}

static Lowering arithmetic(const char *type,
                           Status (*check)(const GraphOp &) = anything) {
  return {
      [type](Builder &b, const GraphOp &op) { lowerArithmetic(b, op, type); },
      check};
}

static Lowering gate(double factor) {
  return {[factor](Builder &b, const GraphOp &op) { lowerGate(b, op, factor); },
          anything};
}

static const std::map<std::string, Lowering> &lowerings() {
  static const std::map<std::string, Lowering> table = {
      {"linear", {lowerLinear, checkLinear}},
      {"matmul", {lowerMatMul, anything}},
      {"embedding", {lowerEmbedding, anything}},
      {"param", {lowerParam, anything}},
      {"rms_norm", {lowerRMSNorm, anything}},
      {"layer_norm", {lowerLayerNorm, anything}},
      {"layer_norm_2d", {lowerLayerNorm2D, anything}},
      {"softmax", {lowerSoftmax, anything}},
      {"conv1d", {lowerConv, anything}},
      {"conv2d", {lowerConv, anything}},
      {"conv3d", {lowerConv, anything}},
      {"add", arithmetic("Add")},
      {"sub", arithmetic("Sub")},
      {"mul", arithmetic("Mul")},
      {"div", arithmetic("Div", checkDivision)},
      {"neg", as("Neg")},
      {"abs", as("Abs")},
      {"exp", as("Exp")},
      {"log", as("Log")},
      {"sin", as("Sin")},
      {"cos", as("Cos")},
      {"relu", as("Relu")},
      {"sigmoid", as("Sigmoid")},
      {"logical_and", as("And")},
      {"logical_or", as("Or")},
      {"logical_not", as("Not")},
      {"equal", as("Equal")},
      {"where", as("Where")},
      {"contiguous", as("Identity")},
      {"clone", as("Identity")},
      {"silu", gate(1)},
      {"quick_gelu", gate(1.702)},
      {"gelu", {lowerGELU, anything}},
      {"view", {lowerReshape, needsShape}},
      {"reshape", {lowerReshape, needsShape}},
      {"transpose", {lowerTranspose, anything}},
      {"permute", {lowerPermute, anything}},
      {"concat", {lowerConcat, anything}},
      {"stack", {lowerStack, anything}},
      {"split", {lowerSplit, anything}},
      {"repeat", {lowerRepeat, needsShape}},
      {"slice", {lowerSlice, anything}},
      {"positions", {lowerPositions, anything}},
      {"rope", {lowerRoPE, checkRoPE}},
      {"kv_cache", {lowerKVCache, checkHeads}},
      {"causal_mask", {lowerCausalMask, anything}},
      {"flash_attention2", {lowerAttention, checkHeads}},
  };
  return table;
}

Status onnx::canLower(const GraphOp &op) {
  auto found = lowerings().find(op.kind);
  if (found == lowerings().end())
    return Status(StatusCode::Unsupported, "no ONNX for this op is known",
                  "export the parts around it (mllm::ir::partition)");
  for (const std::vector<const GraphValue *> &values :
       {op.operands, op.results})
    for (const GraphValue *value : values)
      if (!elementTypeOf(value->dtype) || value->device != mllm::kCPU)
        return Status(StatusCode::Unsupported,
                      "only f32, i64, i32 and bool on the CPU are exported",
                      "cast the value, or export the parts around it");
  return found->second.check(op);
}

Status onnx::lowerOp(Builder &builder, const GraphOp &op) {
  LLMIR_RETURN_IF_ERROR(canLower(op));
  lowerings().at(op.kind).lower(builder, op);
  return Status::ok();
}
