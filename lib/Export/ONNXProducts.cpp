//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products, embeddings, norms and convolutions in ONNX.
//
//===----------------------------------------------------------------------===//

#include "ONNXOps.h"

#include <limits>
#include <numeric>

using namespace llmir;
using namespace llmir::onnx;
using namespace mllm::ir;

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

/// The weight defaults to ones.
static Status checkLayerNorm(const GraphOp &op) {
  double count = 1;
  for (int64_t size : op.integers("normalized_shape"))
    count *= static_cast<double>(size);
  return op.parameter("weight") ? Status::ok() : checkTable(count);
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

Name onnx::softmax(Builder &b, const Name &x, int64_t axis) {
  Name greatest = b.node(
      "ReduceMax", {x},
      {Attribute("axes", Sizes{axis}), Attribute("keepdims", int64_t(1))});
  Name isHidden = b.node(
      "Equal", {greatest, b.real(-std::numeric_limits<double>::infinity())});
  Name shares = b.node("Softmax", {x}, {Attribute("axis", axis)});
  return b.node("Where", {isHidden, b.real(0), shares});
}

static void lowerSoftmax(Builder &b, const GraphOp &op) {
  b.define(op.results[0], softmax(b, b.value(op.operands[0]),
                                  dimOf(op, "axis", op.operands[0])));
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

Lowerings onnx::productLowerings() {
  return {
      {"linear", {lowerLinear, checkLinear}},
      {"matmul", {lowerMatMul}},
      {"embedding", {lowerEmbedding}},
      {"param", {lowerParam}},
      {"rms_norm", {lowerRMSNorm}},
      {"layer_norm", {lowerLayerNorm, checkLayerNorm}},
      {"layer_norm_2d", {lowerLayerNorm2D}},
      {"softmax", {lowerSoftmax}},
      {"conv1d", {lowerConv}},
      {"conv2d", {lowerConv}},
      {"conv3d", {lowerConv}},
  };
}
