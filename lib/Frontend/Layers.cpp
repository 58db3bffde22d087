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

/// The sizes before the last one, and others in its place.
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
  if (!ids.isValid())
    return {};
  shapes::Shape shape = ids.dims();
  shape.push_back(table.shape()[1]);
  return mllm::Call("mllm.linalg.embedding", {ids}, this)
      .parameter("weight", table)
      .result(std::move(shape), kFp32)
      .one();
}

Linear::Linear(int64_t in, int64_t out, bool bias, int64_t rotatedHeads)
    : Linear(in, out, bias, Storage{rotatedHeads, false, 0, 0}) {}

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
  if (!x.isValid())
    return {};
  mllm::Call call("mllm.linalg.linear", {x}, this);
  call.parameter("weight", matrix);
  if (offset)
    call.parameter("bias", *offset);
  return call.result(withLast(x, sizes)).one();
}

Tensor RMSNorm::operator()(const Tensor &x) const {
  return mllm::Call("mllm.linalg.rms_norm", {x}, this)
      .parameter("weight", scale)
      .f64("eps", eps)
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

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// The list, or one value for each dimension where it is empty.
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
  if (!x.isValid())
    return {};
  const size_t rank = kernel.size();
  const std::vector<int64_t> padding = orAll(options.padding, rank, 0);
  const shapes::Window window = {kernel, orAll(options.stride, rank, 1),
                                 padding, padding,
                                 orAll(options.dilation, rank, 1)};
  Expected<shapes::Shape> shape = shapes::convolution(x.dims(), out, window);
  if (!shape) {
    Engine &engine = engineOf({x});
    return engine.fail(engine.location(this), shape.status().cause());
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
// Attention
//===----------------------------------------------------------------------===//

Tensor Positions::operator()(const Tensor &ids) const {
  return mllm::Call("mllm.linalg.positions", {ids}, this).one();
}

Tensor RoPE::operator()(const Tensor &x) const {
  mllm::Call call("mllm.linalg.rope", {x}, this);
  if (layout == Layout::BHSD)
    call.str("layout", "bhsd");
  return call.f64s("frequencies", frequencies).f64("scaling", scaling).one();
}

std::pair<Tensor, Tensor> KVCache::operator()(const Tensor &k,
                                              const Tensor &v) const {
  if (!k.isValid() || !v.isValid())
    return {};
  const int64_t fromEnd = layout == Layout::BHSD ? 2 : 3;
  auto all = [&](const Tensor &one) {
    shapes::Shape shape = one.dims();
    if (static_cast<int64_t>(shape.size()) < 3)
      return shape; // The verifier says what is wrong.
    const size_t end = shape.size();
    shape[end - static_cast<size_t>(fromEnd)] = DimExpr::unknown();
    if (queryHeads > 0)
      shape[end - static_cast<size_t>(5 - fromEnd)] = queryHeads;
    return shape;
  };
  mllm::Call call("mllm.linalg.kv_cache", {k, v}, this);
  call.i64("layer", layer);
  if (queryHeads > 0)
    call.i64("q_head", queryHeads);
  if (layout == Layout::BHSD)
    call.str("layout", "bhsd");
  std::vector<Tensor> results = call.result(all(k)).result(all(v)).all(2);
  return {results[0], results[1]};
}

Tensor CausalMask::operator()(const Tensor &scores) const {
  return mllm::Call("mllm.linalg.causal_mask", {scores}, this).one();
}

Tensor FlashAttention2::operator()(const Tensor &q, const Tensor &k,
                                   const Tensor &v) const {
  return mllm::Call("mllm.linalg.flash_attention2", {q, k, v}, this)
      .f64("scale", scale)
      .boolean("causal", true)
      .one();
}

//===----------------------------------------------------------------------===//
// Without parameters
//===----------------------------------------------------------------------===//

Tensor UnaryLayer::operator()(const Tensor &x) const {
  return mllm::Call(op, {x}, this).one();
}

Tensor Softmax::operator()(const Tensor &x) const {
  return mllm::Call("mllm.linalg.softmax", {x}, this).i64("axis", axis).one();
}

namespace mllm::nn::F {

static Tensor unary(const char *op, const Tensor &x) {
  return mllm::Call(op, {x}).one();
}

Tensor matmul(const Tensor &a, const Tensor &b, bool transposeA,
              bool transposeB) {
  return mllm::Call("mllm.linalg.matmul", {a, b})
      .flag("transpose_a", transposeA)
      .flag("transpose_b", transposeB)
      .one();
}

Tensor softmax(const Tensor &x, int64_t axis) {
  return mllm::Call("mllm.linalg.softmax", {x}).i64("axis", axis).one();
}

Tensor silu(const Tensor &x) { return unary("mllm.linalg.silu", x); }
Tensor gelu(const Tensor &x) { return unary("mllm.linalg.gelu", x); }
Tensor relu(const Tensor &x) { return unary("mllm.linalg.relu", x); }
Tensor sigmoid(const Tensor &x) { return unary("mllm.linalg.sigmoid", x); }
Tensor exp(const Tensor &x) { return unary("mllm.linalg.exp", x); }
Tensor log(const Tensor &x) { return unary("mllm.linalg.log", x); }
Tensor sin(const Tensor &x) { return unary("mllm.linalg.sin", x); }
Tensor cos(const Tensor &x) { return unary("mllm.linalg.cos", x); }
Tensor abs(const Tensor &x) { return unary("mllm.linalg.abs", x); }

Tensor clip(const Tensor &x, double least, double greatest) {
  return mllm::Call("mllm.linalg.clip", {x})
      .f64("min_val", least)
      .f64("max_val", greatest)
      .one();
}

/// An op of any number of operands, at least one.
static Tensor joined(const char *op, const std::vector<Tensor> &parts,
                     int64_t dim) {
  return parts.empty() ? Tensor() : mllm::Call(op, parts).i64("dim", dim).one();
}

Tensor concat(const std::vector<Tensor> &parts, int64_t dim) {
  return joined("mllm.linalg.concat", parts, dim);
}

Tensor stack(const std::vector<Tensor> &parts, int64_t dim) {
  return joined("mllm.linalg.stack", parts, dim);
}

Tensor gather(const Tensor &table, const Tensor &indices, int64_t dim) {
  return joined("mllm.linalg.gather", {table, indices}, dim);
}

Tensor where(const Tensor &condition, const Tensor &a, const Tensor &b) {
  return mllm::Call("mllm.linalg.where", {condition, a, b}).one();
}

static Tensor reduced(const char *op, const Tensor &x, int64_t dim,
                      bool keepDim) {
  return mllm::Call(op, {x}).i64("dim", dim).flag("keep_dim", keepDim).one();
}

Tensor max(const Tensor &x, int64_t dim, bool keepDim) {
  return reduced("mllm.linalg.reduce_max", x, dim, keepDim);
}
Tensor min(const Tensor &x, int64_t dim, bool keepDim) {
  return reduced("mllm.linalg.reduce_min", x, dim, keepDim);
}
Tensor sum(const Tensor &x, int64_t dim, bool keepDim) {
  return reduced("mllm.linalg.reduce_sum", x, dim, keepDim);
}
Tensor mean(const Tensor &x, int64_t dim, bool keepDim) {
  return reduced("mllm.linalg.mean", x, dim, keepDim);
}

std::pair<Tensor, Tensor> topk(const Tensor &x, int64_t k, int64_t dim) {
  std::vector<Tensor> results =
      mllm::Call("mllm.linalg.top_k", {x}).i64("k", k).i64("dim", dim).all(2);
  return {results[0], results[1]};
}

Tensor interpolate(const Tensor &x, const std::vector<int64_t> &size,
                   const std::string &mode, bool alignCorners) {
  return mllm::Call("mllm.linalg.interpolate", {x})
      .i64s("size", size)
      .str("mode", mode)
      .flag("align_corners", alignCorners)
      .one();
}

} // namespace mllm::nn::F
