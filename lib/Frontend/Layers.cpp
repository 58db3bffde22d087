//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mllm/nn/Layers.h"

#include "Emit.h"

#include "llmir/Dialect/MLLM/ShapeRules.h"

using namespace llmir;
using namespace mllm;
using namespace mllm::nn;
using shapes::DimExpr;

/// Replaces the last dimension by others.
static shapes::Shape withLast(const Tensor &x,
                              const std::vector<int64_t> &sizes) {
  shapes::Shape result = x.dims();
  if (!result.empty())
    result.pop_back();
  result.insert(result.end(), sizes.begin(), sizes.end());
  return result;
}

//===----------------------------------------------------------------------===//
// Projections and norms
//===----------------------------------------------------------------------===//

Tensor Embedding::operator()(const Tensor &ids) const {
  shapes::Shape shape = ids.dims();
  shape.push_back(table.shape()[1]);
  return mllm::Call("mllm.linalg.embedding", {ids}, this)
      .parameter("weight", table)
      .result(std::move(shape), kFp32)
      .one();
}

Linear::Linear(int64_t in, int64_t out, bool bias, int64_t rotatedHeads)
    : Linear(in, out, bias, Storage{rotatedHeads, false, {}, {}}) {}

Linear::Linear(int64_t in, int64_t out, bool bias, const Storage &storage)
    : matrix(*this, "weight", {out, in}, storage) {
  if (bias)
    offset.emplace(*this, "bias", std::vector<int64_t>{out}, storage);
}

Tensor Linear::operator()(const Tensor &x) const {
  return (*this)(x, {matrix.shape()[0]});
}

Tensor Linear::operator()(const Tensor &x,
                          const std::vector<int64_t> &sizes) const {
  mllm::Call call("mllm.linalg.linear", {x}, this);
  call.parameter("weight", matrix);
  if (offset)
    call.parameter("bias", *offset);
  return call.result(withLast(x, sizes)).one();
}

Tensor HeadLinear::operator()(const Tensor &x) const {
  return mllm::Call("mllm.linalg.head_linear", {x}, this)
      .parameter("weight", matrices)
      .result(withLast(x, {matrices.shape()[1]}))
      .one();
}

ExpertMatrices::ExpertMatrices(int64_t experts, int64_t in, int64_t out,
                               const Storage &storage, const std::string &name,
                               bool bias)
    : matrices(*this, name, {experts, out, in}, storage) {
  if (!bias)
    return;
  Storage ofBias = storage;
  ofBias.isTransposed = false;
  offsets.emplace(*this, name + "_bias", std::vector<int64_t>{experts, out, 1},
                  ofBias);
}

Tensor Experts::operator()(const Tensor &x, const Tensor &chosen,
                           const Tensor &weights) const {
  mllm::Call call("mllm.linalg.experts", {x, chosen, weights}, this);
  call.parameter("gate", gate.weight())
      .parameter("up", up.weight())
      .parameter("down", down.weight());
  if (gate.bias())
    call.parameter("gate_bias", *gate.bias())
        .parameter("up_bias", *up.bias())
        .parameter("down_bias", *down.bias());
  if (swigluLimit > 0)
    call.f64("swiglu_limit", swigluLimit);
  return call.flag("gelu", usesGELU).one();
}

Tensor RMSNorm::operator()(const Tensor &x) const {
  return mllm::Call("mllm.linalg.rms_norm", {x}, this)
      .parameter("weight", scale)
      .f64("eps", eps)
      .flag("unit_offset", unitOffset)
      .one();
}

LayerNorm::LayerNorm(std::vector<int64_t> normalizedShape, double eps,
                     bool affine, bool bias)
    : sizes(std::move(normalizedShape)), eps(eps) {
  if (affine)
    scale.emplace(*this, "weight", sizes);
  if (affine && bias)
    offset.emplace(*this, "bias", sizes);
}

Tensor LayerNorm::operator()(const Tensor &x) const {
  mllm::Call call("mllm.linalg.layer_norm", {x}, this);
  if (scale)
    call.parameter("weight", *scale);
  if (offset)
    call.parameter("bias", *offset);
  return call.i64s("normalized_shape", sizes).f64("eps", eps).one();
}

Tensor LayerNorm2D::operator()(const Tensor &x) const {
  return mllm::Call("mllm.linalg.layer_norm_2d", {x}, this)
      .parameter("weight", scale)
      .parameter("bias", offset)
      .f64("eps", eps)
      .one();
}

Tensor Param::operator()() const {
  mllm::Call call("mllm.linalg.param", {}, this);
  call.parameter("weight", values);
  const std::vector<int64_t> &shape = values.shape();
  return call.result(shapes::Shape(shape.begin(), shape.end()), kFp32).one();
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// The list, or, if it is empty, a default value per dimension.
static std::vector<int64_t> orAll(const std::vector<int64_t> &list, size_t rank,
                                  int64_t value) {
  return list.empty() ? std::vector<int64_t>(rank, value) : list;
}

Convolution::Convolution(const char *op, int64_t in, int64_t out,
                         std::vector<int64_t> kernel, ConvOptions options)
    : op(op), out(out), kernel(std::move(kernel)), options(std::move(options)) {
  const int64_t groups = this->options.groups;
  std::vector<int64_t> shape = {out, groups > 0 ? in / groups : in};
  shape.insert(shape.end(), this->kernel.begin(), this->kernel.end());
  kernels.emplace(*this, "weight", std::move(shape));
  if (this->options.bias)
    offset.emplace(*this, "bias", std::vector<int64_t>{out});
}

Tensor Convolution::operator()(const Tensor &x) const {
  if (hasNull({x}, op, this))
    return {};
  const size_t rank = kernel.size();
  const std::vector<int64_t> padding = orAll(options.padding, rank, 0);
  const shapes::Window window = {kernel, orAll(options.stride, rank, 1),
                                 padding, padding,
                                 orAll(options.dilation, rank, 1)};
  Expected<shapes::Shape> shape = shapes::convolution(x.dims(), out, window);
  if (!shape) {
    Engine &engine = engineOf({x});
    return engine.fail(engine.location(this), shape.status().cause(),
                       fitAdvice);
  }
  mllm::Call call(op, {x}, this);
  call.parameter("weight", *kernels);
  if (offset)
    call.parameter("bias", *offset);
  call.i64s("kernel_size", kernel);
  if (!options.stride.empty())
    call.i64s("stride", options.stride);
  if (!options.padding.empty())
    call.i64s("padding", options.padding);
  if (!options.dilation.empty())
    call.i64s("dilation", options.dilation);
  if (options.groups != 1)
    call.i64("groups", options.groups);
  return call.result(*shape).one();
}

//===----------------------------------------------------------------------===//
// Without parameters
//===----------------------------------------------------------------------===//

Tensor UnaryLayer::operator()(const Tensor &x) const {
  return mllm::Call(op, {x}, this).one();
}

Tensor GELU::operator()(const Tensor &x) const {
  mllm::Call call("mllm.linalg.gelu", {x}, this);
  if (isExact)
    call.str("approximate", "none");
  return call.one();
}

Tensor Softmax::operator()(const Tensor &x) const {
  return mllm::Call("mllm.linalg.softmax", {x}, this).i64("axis", axis).one();
}
