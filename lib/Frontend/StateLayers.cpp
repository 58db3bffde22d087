//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mllm/nn/StateLayers.h"

#include "Emit.h"

using namespace llmir;
using namespace mllm;
using namespace mllm::nn;

static Storage storedFactors() {
  Storage storage;
  storage.isConvolution = true;
  return storage;
}

CausalConv::CausalConv(int64_t channels, int64_t taps, bool hasBias,
                       int64_t layer)
    : weight(*this, "weight", {taps, channels}, storedFactors()), layer(layer) {
  if (hasBias)
    bias.emplace(*this, "bias", std::vector<int64_t>{channels});
}

Tensor CausalConv::operator()(const Tensor &x) const {
  auto valueOf = [&](const Parameter &parameter) {
    mllm::Call call("mllm.linalg.param", {}, this);
    call.parameter("weight", parameter);
    const std::vector<int64_t> &shape = parameter.shape();
    return call.result(shapes::Shape(shape.begin(), shape.end()), kFp32).one();
  };
  Tensor factors = valueOf(weight);
  Tensor sums = mllm::Call("mllm.linalg.causal_conv", {x, factors}, this)
                    .i64("layer", layer)
                    .one();
  return bias ? sums + valueOf(*bias) : sums;
}

Tensor LinearAttention::operator()(const Tensor &q, const Tensor &k,
                                   const Tensor &v, const Tensor &decay) const {
  return call({q, k, v, decay});
}

Tensor LinearAttention::operator()(const Tensor &q, const Tensor &k,
                                   const Tensor &v, const Tensor &decay,
                                   const Tensor &beta) const {
  return call({q, k, v, decay, beta});
}

Tensor LinearAttention::call(const std::vector<Tensor> &operands) const {
  mllm::Call call("mllm.linalg.linear_attention", operands, this);
  call.i64("layer", layer);
  return call.flag("interleaved", interleaved).one();
}
