//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mllm/nn/Layers.h"

#include "mllm/ir/Trace.h"

using namespace llmir::mllm;
using namespace mlir;

namespace mllm {

/// An f32 tensor [tokens of `like`, sizes…].
static RankedTensorType activationType(const Tensor &like,
                                       ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> shape = {like.size(0)};
  shape.append(sizes.begin(), sizes.end());
  return RankedTensorType::get(shape,
                               Float32Type::get(like.value().getContext()));
}

/// True when `x` has this rank; the trace ends otherwise.
static bool hasRank(const nn::Layer &layer, const Tensor &x, int64_t rank) {
  if (x.rank() == rank)
    return true;
  ir::Tracer &tracer = x.tracer();
  tracer.fail(tracer.location(layer), "the input has rank " + Twine(x.rank()) +
                                          ", want " + Twine(rank));
  return false;
}

//===----------------------------------------------------------------------===//
// Tensor
//===----------------------------------------------------------------------===//

Tensor Tensor::view(const std::vector<int64_t> &shape) const {
  if (!traced)
    return {};
  auto type = RankedTensorType::get(shape, this->type().getElementType());
  return owner->tensor(
      ViewOp::create(owner->builder(), owner->location(), type, traced));
}

template <typename Op>
static Tensor elementwise(const Tensor &a, const Tensor &b) {
  if (!a || !b)
    return {};
  ir::Tracer &tracer = a.tracer();
  if (a.type() != b.type())
    return tracer.fail(tracer.location(), "the operands of " +
                                              Twine(Op::getOperationName()) +
                                              " differ in shape");
  return tracer.tensor(Op::create(tracer.builder(), tracer.location(), a.type(),
                                  a.value(), b.value()));
}

Tensor operator+(const Tensor &a, const Tensor &b) {
  return elementwise<AddOp>(a, b);
}

Tensor operator*(const Tensor &a, const Tensor &b) {
  return elementwise<MulOp>(a, b);
}

//===----------------------------------------------------------------------===//
// Layers with parameters
//===----------------------------------------------------------------------===//

namespace nn {

Tensor Embedding::operator()(const Tensor &ids) const {
  if (!ids || !hasRank(*this, ids, 1))
    return {};
  ir::Tracer &tracer = ids.tracer();
  FlatSymbolRefAttr symbol = tracer.symbol(table);
  if (!symbol)
    return {};
  return tracer.tensor(EmbeddingOp::create(
      tracer.builder(), tracer.location(*this),
      activationType(ids, {table.shape()[1]}), ids.value(), symbol));
}

Linear::Linear(int64_t in, int64_t out, bool bias, const Storage &storage)
    : matrix(*this, "weight", {out, in}, storage) {
  if (bias)
    offset.emplace(*this, "bias", std::vector<int64_t>{out}, storage);
}

static Storage storageOfHeads(int64_t rotatedHeads) {
  Storage storage;
  storage.rotatedHeads = rotatedHeads;
  return storage;
}

Linear::Linear(int64_t in, int64_t out, bool bias, int64_t rotatedHeads)
    : Linear(in, out, bias, storageOfHeads(rotatedHeads)) {}

Tensor Linear::operator()(const Tensor &x) const {
  if (!x || !hasRank(*this, x, 2))
    return {};
  ir::Tracer &tracer = x.tracer();
  FlatSymbolRefAttr weight = tracer.symbol(matrix), bias;
  if (offset)
    bias = tracer.symbol(*offset);
  if (!weight || (offset && !bias))
    return {};
  return tracer.tensor(LinearOp::create(
      tracer.builder(), tracer.location(*this),
      activationType(x, {matrix.shape()[0]}), x.value(), weight, bias));
}

Tensor RMSNorm::operator()(const Tensor &x) const {
  if (!x)
    return {};
  ir::Tracer &tracer = x.tracer();
  FlatSymbolRefAttr weight = tracer.symbol(scale);
  if (!weight)
    return {};
  return tracer.tensor(RMSNormOp::create(
      tracer.builder(), tracer.location(*this), x.type(), x.value(), weight,
      tracer.builder().getF64FloatAttr(eps)));
}

Tensor LayerNorm::operator()(const Tensor &x) const {
  if (!x)
    return {};
  ir::Tracer &tracer = x.tracer();
  OpBuilder &builder = tracer.builder();
  FlatSymbolRefAttr weight = tracer.symbol(scale);
  FlatSymbolRefAttr bias = tracer.symbol(offset);
  if (!weight || !bias)
    return {};
  return tracer.tensor(LayerNormOp::create(
      builder, tracer.location(*this), x.type(), x.value(), weight, bias,
      builder.getDenseI64ArrayAttr(scale.shape()),
      builder.getF64FloatAttr(eps)));
}

//===----------------------------------------------------------------------===//
// Positions and attention
//===----------------------------------------------------------------------===//

Tensor Positions::operator()(const Tensor &ids) const {
  if (!ids || !hasRank(*this, ids, 1))
    return {};
  ir::Tracer &tracer = ids.tracer();
  OpBuilder &builder = tracer.builder();
  auto type =
      RankedTensorType::get(ids.type().getShape(), builder.getI64Type());
  return tracer.tensor(
      PositionsOp::create(builder, tracer.location(*this), type, ids.value()));
}

Tensor RoPE::operator()(const Tensor &x) const {
  if (!x || !hasRank(*this, x, 3))
    return {};
  ir::Tracer &tracer = x.tracer();
  OpBuilder &builder = tracer.builder();
  return tracer.tensor(RoPEOp::create(builder, tracer.location(*this), x.type(),
                                      x.value(),
                                      builder.getDenseF64ArrayAttr(frequencies),
                                      builder.getF64FloatAttr(scaling)));
}

std::pair<Tensor, Tensor> KVCache::operator()(const Tensor &k,
                                              const Tensor &v) const {
  if (!k || !v || !hasRank(*this, k, 3) || !hasRank(*this, v, 3))
    return {};
  ir::Tracer &tracer = k.tracer();
  auto all = [](const Tensor &one) {
    RankedTensorType type = one.type();
    return RankedTensorType::get(
        {kSymbolic, type.getDimSize(1), type.getDimSize(2)},
        type.getElementType());
  };
  auto op = KVCacheOp::create(tracer.builder(), tracer.location(*this), all(k),
                              all(v), k.value(), v.value(),
                              tracer.builder().getI64IntegerAttr(layer));
  return {tracer.tensor(op.getKeys()), tracer.tensor(op.getValues())};
}

Tensor FlashAttention2::operator()(const Tensor &q, const Tensor &k,
                                   const Tensor &v) const {
  if (!q || !k || !v || !hasRank(*this, q, 3) || !hasRank(*this, k, 3) ||
      !hasRank(*this, v, 3))
    return {};
  ir::Tracer &tracer = q.tracer();
  OpBuilder &builder = tracer.builder();
  return tracer.tensor(FlashAttention2Op::create(
      builder, tracer.location(*this),
      activationType(q, {q.size(1), v.size(2)}), q.value(), k.value(),
      v.value(), builder.getF64FloatAttr(scale), builder.getBoolAttr(true)));
}

Tensor SiLU::operator()(const Tensor &x) const {
  if (!x)
    return {};
  ir::Tracer &tracer = x.tracer();
  return tracer.tensor(SiLUOp::create(tracer.builder(), tracer.location(*this),
                                      x.type(), x.value()));
}

Tensor GELU::operator()(const Tensor &x) const {
  if (!x)
    return {};
  ir::Tracer &tracer = x.tracer();
  return tracer.tensor(GELUOp::create(tracer.builder(), tracer.location(*this),
                                      x.type(), x.value(),
                                      tracer.builder().getStringAttr("tanh")));
}

} // namespace nn
} // namespace mllm
