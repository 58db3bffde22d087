//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table of lowerings of ops to XNNPACK.
//
//===----------------------------------------------------------------------===//

#include "Planner.h"

#include "llmir/Reference/Elementwise.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

using namespace llmir;
using namespace llmir::xnnpack;
using namespace mllm::ir;

/// The operands, in order.
using Operands = const std::vector<Held> &;

static size_t rankOf(const GraphValue *value) { return value->shape.size(); }

/// Normalizes a verified dimension.
static size_t dimOf(int64_t dim, size_t rank) {
  return static_cast<size_t>(dim < 0 ? dim + static_cast<int64_t>(rank) : dim);
}

static Status lacks(std::string what) {
  return Status(StatusCode::Unsupported, std::move(what));
}

//===----------------------------------------------------------------------===//
// Dimension orders
//===----------------------------------------------------------------------===//

/// The order of the first operand, otherwise row-major.
static Order anyOrder(const Planner &planner, const GraphOp &op) {
  return planner.orderOf(op.operands[0])
      .value_or(rowMajor(rankOf(op.operands[0])));
}

/// The same, with `last` as the last dimension.
static Order orderWithLast(const Planner &planner, const GraphOp &op,
                           size_t last) {
  Order order = anyOrder(planner, op);
  return order.back() == last ? order : withLast(order.size(), last);
}

static Order lastStaysLast(const Planner &planner, const GraphOp &op) {
  return orderWithLast(planner, op, rankOf(op.operands[0]) - 1);
}

static Order always(const GraphOp &op) {
  return rowMajor(rankOf(op.operands[0]));
}

/// Several tensors: the same order if their ranks are equal, otherwise
/// row-major.
static std::vector<Order> ordersTogether(const Planner &planner,
                                         const GraphOp &op) {
  const size_t rank = rankOf(op.operands[0]);
  Order order = rowMajor(rank);
  bool areAlike = true;
  for (const GraphValue *operand : op.operands)
    areAlike &= rankOf(operand) == rank;
  if (areAlike) // The order of the first one that has one.
    for (const GraphValue *operand : op.operands)
      if (std::optional<Order> held = planner.orderOf(operand)) {
        order = *held;
        break;
      }
  std::vector<Order> orders;
  for (const GraphValue *operand : op.operands)
    orders.push_back(areAlike ? order : rowMajor(rankOf(operand)));
  return orders;
}

//===----------------------------------------------------------------------===//
// Products and sums
//===----------------------------------------------------------------------===//

static void lowerLinear(Planner &p, const GraphOp &op, Operands x) {
  const GraphParameter *weight = op.parameter("weight");
  Tensor y = p.segment().fullyConnected(x[0].tensor, p.numbers(weight),
                                        static_cast<size_t>(weight->shape[0]),
                                        p.numbersIf(op.parameter("bias")));
  // A result may split its columns, which remain the last dimensions.
  const GraphValue *result = op.results[0];
  const size_t rank = rankOf(op.operands[0]);
  Order order = x[0].order;
  for (size_t dim = rank; dim < rankOf(result); ++dim)
    order.push_back(dim);
  y = p.segment().reshape(y, inOrder(sizesOf(result), order));
  p.define(result, y, order);
}

static void lowerParam(Planner &p, const GraphOp &op, Operands) {
  const Sizes sizes = sizesOf(op.results[0]);
  const Order order = rowMajor(sizes.size());
  p.define(op.results[0],
           p.segment().constant(inOrder(sizes, order),
                                p.numbers(op.parameter("weight"))),
           order);
}

/// Sum or mean along one dimension, which is the last in memory.
static void lowerSum(Planner &p, const GraphOp &op, Operands x, bool isMean) {
  const size_t rank = rankOf(op.operands[0]),
               dim = dimOf(op.integer("dim"), rank);
  const double count = static_cast<double>(x[0].tensor.dims.back());
  Tensor y = p.segment().sumOfLast(x[0].tensor, isMean ? 1 / count : 1);
  Order order = x[0].order;
  if (rankOf(op.results[0]) != rank) { // The dimension is dropped.
    order.pop_back();
    for (size_t &other : order)
      other -= other > dim;
  }
  y = p.segment().reshape(y, inOrder(sizesOf(op.results[0]), order));
  p.define(op.results[0], y, order);
}

static Status checkSum(const GraphOp &op) {
  if (!op.attributes.count("dim"))
    return lacks("it sums one dimension, not all");
  return rankOf(op.results[0]) ? Status::ok() : lacks("a scalar result");
}

static Order sumOrder(const Planner &planner, const GraphOp &op) {
  return orderWithLast(planner, op,
                       dimOf(op.integer("dim"), rankOf(op.operands[0])));
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

static Tensor times(Segment &s, const Tensor &x, std::vector<float> factors) {
  const size_t count = factors.size();
  return s.binary(xnn_define_multiply2, x,
                  s.constant({count}, std::move(factors)));
}

static Tensor plus(Segment &s, const Tensor &x, std::vector<float> terms) {
  const size_t count = terms.size();
  return s.binary(xnn_define_add2, x, s.constant({count}, std::move(terms)));
}

static Tensor plusNumber(Segment &s, const Tensor &x, double number) {
  return s.binary(xnn_define_add2, x, s.number(number));
}

static Tensor timesNumber(Segment &s, const Tensor &x, double number) {
  return s.binary(xnn_define_multiply2, x, s.number(number));
}

/// x / sqrt(mean(x^2) + eps), over the last dimension.
static Tensor dividedByRoot(Segment &s, const Tensor &x, double eps) {
  Tensor squares = s.unary(xnn_define_square, x);
  Tensor mean = s.sumOfLast(squares, 1 / static_cast<double>(x.dims.back()));
  Tensor root = s.unary(xnn_define_square_root, plusNumber(s, mean, eps));
  return s.binary(xnn_define_divide, x, root);
}

static void lowerRMSNorm(Planner &p, const GraphOp &op, Operands x) {
  std::vector<float> weight = p.numbers(op.parameter("weight"));
  if (op.flag("unit_offset"))
    for (float &value : weight)
      value += 1;
  Segment &s = p.segment();
  Tensor y = dividedByRoot(s, x[0].tensor, op.real("eps"));
  p.define(op.results[0], times(s, y, std::move(weight)), x[0].order);
}

/// Over the last dimension of memory.
static Tensor normalized(Planner &p, const GraphOp &op, const Tensor &x) {
  Segment &s = p.segment();
  Tensor mean = s.sumOfLast(x, 1 / static_cast<double>(x.dims.back()));
  Tensor y =
      dividedByRoot(s, s.binary(xnn_define_subtract, x, mean), op.real("eps"));
  if (const GraphParameter *weight = op.parameter("weight"))
    y = times(s, y, p.numbers(weight));
  if (const GraphParameter *bias = op.parameter("bias"))
    y = plus(s, y, p.numbers(bias));
  return y;
}

static void lowerLayerNorm(Planner &p, const GraphOp &op, Operands x) {
  const size_t together = op.integers("normalized_shape").size();
  Segment &s = p.segment();
  Dims dims = x[0].tensor.dims, merged = dims;
  while (merged.size() > dims.size() - together + 1) {
    const size_t last = merged.back();
    merged.pop_back();
    merged.back() *= last;
  }
  Tensor y = normalized(p, op, s.reshape(x[0].tensor, merged));
  p.define(op.results[0], s.reshape(y, dims), x[0].order);
}

static Order layerNormOrder(const Planner &planner, const GraphOp &op) {
  return op.integers("normalized_shape").size() == 1
             ? lastStaysLast(planner, op)
             : always(op);
}

static void lowerLayerNorm2D(Planner &p, const GraphOp &op, Operands x) {
  p.define(op.results[0], normalized(p, op, x[0].tensor), x[0].order);
}

static Order channelsLast(const Planner &, const GraphOp &op) {
  return withLast(rankOf(op.operands[0]), 1);
}

static void lowerSoftmax(Planner &p, const GraphOp &op, Operands x) {
  p.define(op.results[0], p.segment().unary(xnn_define_softmax, x[0].tensor),
           x[0].order);
}

static Order softmaxOrder(const Planner &planner, const GraphOp &op) {
  return orderWithLast(planner, op,
                       dimOf(op.integer("axis"), rankOf(op.operands[0])));
}

//===----------------------------------------------------------------------===//
// Images
//===----------------------------------------------------------------------===//

/// A list of one or two sizes, for height and width; 1-D inputs have height 1.
static void twoNumbers(const GraphOp &op, const char *name, int64_t fallback,
                       uint32_t (&numbers)[2]) {
  const Sizes given = op.integers(name);
  const bool isRow = op.kind == "conv1d";
  for (size_t i = 0; i < 2; ++i)
    numbers[i] = static_cast<uint32_t>(isRow && i == 0 ? fallback
                                       : given.empty() ? fallback
                                                       : given[isRow ? 0 : i]);
}

static void lowerConv(Planner &p, const GraphOp &op, Operands x) {
  Segment::Convolution shape;
  twoNumbers(op, "kernel_size", 1, shape.kernel);
  twoNumbers(op, "stride", 1, shape.stride);
  twoNumbers(op, "dilation", 1, shape.dilation);
  twoNumbers(op, "padding", 0, shape.padding);
  shape.groups = static_cast<uint32_t>(op.integer("groups", 1));
  const GraphParameter *weight = op.parameter("weight");
  shape.outputs = static_cast<size_t>(weight->shape[0]);

  // Kernels are channels-last, too.
  const std::vector<float> stored = p.numbers(weight);
  std::vector<float> kernels(stored.size());
  putInOrder(stored.data(), weight->shape, withLast(weight->shape.size(), 1),
             kernels.data());

  Dims dims = x[0].tensor.dims;
  if (dims.size() == 3)
    dims.insert(dims.begin() + 1, 1);
  Segment &s = p.segment();
  Tensor y =
      s.convolution(s.reshape(x[0].tensor, dims), shape, std::move(kernels),
                    p.numbersIf(op.parameter("bias")));
  const GraphValue *result = op.results[0];
  y = s.reshape(y, inOrder(sizesOf(result), x[0].order));
  p.define(result, y, x[0].order);
}

static void lowerInterpolate(Planner &p, const GraphOp &op, Operands x) {
  const Sizes sizes = sizesOf(op.results[0]);
  p.define(op.results[0],
           p.segment().resizeBilinear(
               x[0].tensor, static_cast<size_t>(sizes[2]),
               static_cast<size_t>(sizes[3]), op.flag("align_corners")),
           x[0].order);
}

static Status checkInterpolate(const GraphOp &op) {
  if (op.text("mode", "nearest") != "bilinear")
    return lacks("it supports only bilinear interpolation");
  if (op.flag("antialias"))
    return lacks("no antialiasing");
  // A given factor determines the step; the library uses the quotient of sizes.
  const Sizes from = sizesOf(op.operands[0]), to = sizesOf(op.results[0]);
  const std::vector<double> factors = op.reals("scale_factor");
  for (size_t i = 0; i < factors.size(); ++i)
    if (!op.flag("align_corners") &&
        factors[i] * static_cast<double>(from[i + 2]) !=
            static_cast<double>(to[i + 2]))
      return lacks("a factor that is not the quotient of the sizes");
  return Status::ok();
}

static void lowerPad(Planner &p, const GraphOp &op, Operands x) {
  const Dims before = inOrder(op.integers("low"), x[0].order),
             after = inOrder(op.integers("high"), x[0].order);
  p.define(op.results[0],
           p.segment().pad(x[0].tensor, before, after, op.real("value")),
           x[0].order);
}

static Status checkPad(const GraphOp &op) {
  return op.text("mode", "constant") == "constant"
             ? Status::ok()
             : lacks("it supports only constant padding");
}

//===----------------------------------------------------------------------===//
// Element-wise ops
//===----------------------------------------------------------------------===//

static void lowerArithmetic(Planner &p, const GraphOp &op, Operands x,
                            Segment::BinaryFn function) {
  Segment &s = p.segment();
  const Tensor right = x.size() > 1 ? x[1].tensor : s.number(op.real("scalar"));
  Tensor y = s.binary(function, x[0].tensor, right);
  // Ranks that differ are row-major.
  p.define(op.results[0], y,
           x[0].order.size() == y.dims.size() ? x[0].order
                                              : rowMajor(y.dims.size()));
}

/// x * sigmoid(inner).
static void defineGate(Planner &p, const GraphOp &op, const Held &x,
                       const Tensor &inner) {
  Segment &s = p.segment();
  p.define(op.results[0],
           s.binary(xnn_define_multiply2, x.tensor,
                    s.unary(xnn_define_sigmoid, inner)),
           x.order);
}

static void lowerGate(Planner &p, const GraphOp &op, Operands x,
                      double factor) {
  defineGate(p, op, x[0],
             factor == 1 ? x[0].tensor
                         : timesNumber(p.segment(), x[0].tensor, factor));
}

/// x / 2 * (1 + tanh(u)) is x * sigmoid(2 u).
static void lowerGELU(Planner &p, const GraphOp &op, Operands x) {
  Segment &s = p.segment();
  const Tensor &value = x[0].tensor;
  const double factor = 2 * std::sqrt(2 / 3.14159265358979323846);
  Tensor square = s.unary(xnn_define_square, value);
  Tensor inner =
      plusNumber(s, timesNumber(s, square, 0.044715 * factor), factor);
  defineGate(p, op, x[0], s.binary(xnn_define_multiply2, value, inner));
}

static Status checkGELU(const GraphOp &op) {
  return op.text("approximate", "tanh") == "tanh" ? Status::ok()
                                                  : lacks("no error function");
}

static void lowerClip(Planner &p, const GraphOp &op, Operands x) {
  p.define(op.results[0],
           p.segment().clamp(x[0].tensor, op.real("min_val", -1),
                             op.real("max_val", 1)),
           x[0].order);
}

static Status checkClip(const GraphOp &op) {
  return static_cast<float>(op.real("min_val", -1)) <
                 static_cast<float>(op.real("max_val", 1))
             ? Status::ok()
             : lacks("a range of one number");
}

static void lowerReLU(Planner &p, const GraphOp &op, Operands x) {
  p.define(op.results[0],
           p.segment().clamp(x[0].tensor, 0,
                             std::numeric_limits<double>::infinity()),
           x[0].order);
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static void lowerSame(Planner &p, const GraphOp &op, Operands x) {
  p.define(op.results[0], x[0].tensor, x[0].order);
}

static Order reshapeOrder(const Planner &planner, const GraphOp &op) {
  const Order order = anyOrder(planner, op);
  return reshaped(order, sizesOf(op.operands[0]), sizesOf(op.results[0]))
             ? order
             : always(op);
}

static void lowerReshape(Planner &p, const GraphOp &op, Operands x) {
  const Sizes to = sizesOf(op.results[0]);
  const Order order = *reshaped(x[0].order, sizesOf(op.operands[0]), to);
  p.define(op.results[0], p.segment().reshape(x[0].tensor, inOrder(to, order)),
           order);
}

static void lowerTranspose(Planner &p, const GraphOp &op, Operands x) {
  const size_t rank = rankOf(op.operands[0]);
  Order axes = rowMajor(rank);
  std::swap(axes[dimOf(op.integer("dim0"), rank)],
            axes[dimOf(op.integer("dim1"), rank)]);
  p.define(op.results[0], x[0].tensor, permuted(x[0].order, axes));
}

static void lowerPermute(Planner &p, const GraphOp &op, Operands x) {
  Order axes;
  for (int64_t axis : op.integers("axes"))
    axes.push_back(dimOf(axis, rankOf(op.operands[0])));
  p.define(op.results[0], x[0].tensor, permuted(x[0].order, axes));
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

namespace {
struct Lowering {
  std::function<void(Planner &, const GraphOp &, Operands)> lower;
  /// Unary ops; other ops handle all operands together.
  std::function<Order(const Planner &, const GraphOp &)> order = anyOrder;
  std::function<Status(const GraphOp &)> check = {};
};
} // namespace

static Lowering function(Segment::UnaryFn node) {
  return {[node](Planner &p, const GraphOp &op, Operands x) {
    p.define(op.results[0], p.segment().unary(node, x[0].tensor), x[0].order);
  }};
}

static Lowering arithmetic(Segment::BinaryFn node) {
  return {[node](Planner &p, const GraphOp &op, Operands x) {
    lowerArithmetic(p, op, x, node);
  }};
}

static Lowering gate(double factor) {
  return {[factor](Planner &p, const GraphOp &op, Operands x) {
    lowerGate(p, op, x, factor);
  }};
}

static Lowering sum(bool isMean) {
  return {[isMean](Planner &p, const GraphOp &op, Operands x) {
            lowerSum(p, op, x, isMean);
          },
          sumOrder, checkSum};
}

static const std::map<std::string, Lowering> &lowerings() {
  static const std::map<std::string, Lowering> table = {
      {"linear", {lowerLinear, lastStaysLast}},
      {"param", {lowerParam}},
      {"reduce_sum", sum(false)},
      {"mean", sum(true)},
      {"rms_norm", {lowerRMSNorm, lastStaysLast}},
      {"layer_norm", {lowerLayerNorm, layerNormOrder}},
      {"layer_norm_2d", {lowerLayerNorm2D, channelsLast}},
      {"softmax", {lowerSoftmax, softmaxOrder}},
      {"conv1d", {lowerConv, channelsLast}},
      {"conv2d", {lowerConv, channelsLast}},
      {"interpolate", {lowerInterpolate, channelsLast, checkInterpolate}},
      {"pad", {lowerPad, anyOrder, checkPad}},
      {"add", arithmetic(xnn_define_add2)},
      {"sub", arithmetic(xnn_define_subtract)},
      {"mul", arithmetic(xnn_define_multiply2)},
      {"div", arithmetic(xnn_define_divide)},
      {"neg", function(xnn_define_negate)},
      {"abs", function(xnn_define_abs)},
      {"sigmoid", function(xnn_define_sigmoid)},
      {"silu", gate(1)},
      {"quick_gelu", gate(1.702)},
      {"gelu", {lowerGELU, anyOrder, checkGELU}},
      {"clip", {lowerClip, anyOrder, checkClip}},
      {"relu", {lowerReLU}},
      {"contiguous", {lowerSame}},
      {"clone", {lowerSame}},
      {"view", {lowerReshape, reshapeOrder}},
      {"reshape", {lowerReshape, reshapeOrder}},
      {"transpose", {lowerTranspose}},
      {"permute", {lowerPermute}},
  };
  return table;
}

/// Requirements on all tensors: f32 on the CPU, 1 to 6 dimensions, not empty,
/// and not larger than the reference supports.
static Status checkTensor(const GraphValue *value) {
  if (value->dtype != mllm::kFp32 || value->device != mllm::kCPU)
    return lacks("a tensor that is not f32 on the CPU");
  if (value->shape.empty() || value->shape.size() > XNN_MAX_TENSOR_DIMS)
    return lacks("a tensor that does not have 1 to " +
                 std::to_string(XNN_MAX_TENSOR_DIMS) + " dimensions");
  reference::Shape sizes;
  for (const shapes::DimExpr &size : value->shape) {
    if (size.constant().value_or(0) < 1)
      return lacks(size.isConstant() ? "an empty tensor" : "a dynamic size");
    sizes.push_back(*size.constant());
  }
  return reference::checkAffordable(sizes);
}

Status xnnpack::checkOp(const GraphOp &op) {
  auto found = lowerings().find(op.kind);
  if (found == lowerings().end())
    return lacks("no such op");
  for (const GraphValue *value : op.operands)
    LLMIR_RETURN_IF_ERROR(checkTensor(value));
  for (const GraphValue *value : op.results)
    LLMIR_RETURN_IF_ERROR(checkTensor(value));
  return found->second.check ? found->second.check(op) : Status::ok();
}

std::vector<Order> xnnpack::wantedOrders(const Planner &planner,
                                         const GraphOp &op) {
  if (op.operands.size() != 1)
    return op.operands.empty() ? std::vector<Order>()
                               : ordersTogether(planner, op);
  return {lowerings().at(op.kind).order(planner, op)};
}

void xnnpack::lowerOp(Planner &planner, const GraphOp &op, Operands operands) {
  lowerings().at(op.kind).lower(planner, op, operands);
}
