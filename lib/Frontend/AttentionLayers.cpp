//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mllm/nn/Layers.h"

#include "Emit.h"

using namespace llmir;
using namespace mllm;
using namespace mllm::nn;
using shapes::DimExpr;

//===----------------------------------------------------------------------===//
// Positions and the cache
//===----------------------------------------------------------------------===//

Tensor Positions::operator()(const Tensor &ids) const {
  return mllm::Call("mllm.linalg.positions", {ids}, this).one();
}

/// Heads before tokens; the op has the opposite order.
static mllm::Call &withLayout(mllm::Call &call, Layout layout) {
  return layout == Layout::BHSD ? call.str("layout", "bhsd") : call;
}

Tensor RoPE::operator()(const Tensor &x) const {
  mllm::Call call("mllm.linalg.rope", {x}, this);
  return withLayout(call, layout)
      .f64s("frequencies", frequencies)
      .f64("scaling", scaling)
      .one();
}

Tensor TableRoPE::operator()(const Tensor &x, const Tensor &sin,
                             const Tensor &cos) const {
  mllm::Call call("mllm.linalg.rope", {x, sin, cos}, this);
  return withLayout(call, layout).f64("scaling", scaling).one();
}

Tensor MultimodalRoPE::operator()(const Tensor &x, const Tensor &sin,
                                  const Tensor &cos) const {
  mllm::Call call("mllm.linalg.multimodal_rope", {x, sin, cos}, this);
  return withLayout(call, layout).i64s("mrope_section", sections).one();
}

Tensor VisionRoPE::operator()(const Tensor &x) const {
  return mllm::Call("mllm.linalg.vision_rope", {x}, this)
      .i64s("grid", grid)
      .i64("spatial_merge_size", mergeSize)
      .f64("theta", theta)
      .one();
}

std::pair<Tensor, Tensor> KVCache::operator()(const Tensor &k,
                                              const Tensor &v) const {
  const int64_t fromEnd = layout == Layout::BHSD ? 2 : 3;
  auto all = [&](const Tensor &one) {
    shapes::Shape shape = one.dims();
    if (static_cast<int64_t>(shape.size()) < 3)
      return shape; // The verifier reports the error.
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
  withLayout(call, layout);
  std::vector<Tensor> results = call.result(all(k)).result(all(v)).all(2);
  return {results[0], results[1]};
}

Tensor CausalMask::operator()(const Tensor &scores) const {
  mllm::Call call("mllm.linalg.causal_mask", {scores}, this);
  if (window != 0)
    call.i64("window", window);
  return call.one();
}

Tensor FlashAttention2::operator()(const Tensor &q, const Tensor &k,
                                   const Tensor &v) const {
  mllm::Call call("mllm.linalg.flash_attention2", {q, k, v}, this);
  call.f64("scale", scale).boolean("causal", isCausal);
  if (softCap != 0)
    call.f64("soft_cap", softCap);
  return call.one();
}

Tensor FlashAttention2SwaSink::operator()(const Tensor &q, const Tensor &k,
                                          const Tensor &v) const {
  return call({q, k, v});
}

Tensor FlashAttention2SwaSink::operator()(const Tensor &q, const Tensor &k,
                                          const Tensor &v,
                                          const Tensor &sinks) const {
  return call({q, k, v, sinks});
}

Tensor FlashAttention2SwaSink::call(const std::vector<Tensor> &operands) const {
  mllm::Call call("mllm.linalg.flash_attention2_swa_sink", operands, this);
  call.f64("scale", scale)
      .i64("sliding_window", window)
      .flag("chunked", chunked);
  if (softCap != 0)
    call.f64("soft_cap", softCap);
  if (!isCausal)
    call.boolean("causal", false);
  return call.one();
}

Tensor PagedAttention::operator()(const Tensor &q, const Tensor &k,
                                  const Tensor &v, const Tensor &index) const {
  return call({q, k, v, index}, /*wantsWeights=*/false)[0];
}

std::pair<Tensor, Tensor>
PagedAttention::withWeights(const Tensor &q, const Tensor &k, const Tensor &v,
                            const Tensor &index) const {
  std::vector<Tensor> results = call({q, k, v, index}, /*wantsWeights=*/true);
  return {results[0], results[1]};
}

std::vector<Tensor> PagedAttention::call(const std::vector<Tensor> &operands,
                                         bool wantsWeights) const {
  const size_t count = wantsWeights ? 2 : 1;
  if (hasNull(operands, "mllm.linalg.paged_attn", this))
    return std::vector<Tensor>(count);
  const shapes::Shape &q = operands[0].dims(), &v = operands[2].dims(),
                      &index = operands[3].dims();
  mllm::Call call("mllm.linalg.paged_attn", operands, this);
  call.f64("scale", scale);
  if (q.size() != 4 || v.size() != 4 || index.size() != 1) {
    Engine &engine = engineOf(operands);
    engine.fail(engine.location(this),
                "paged attention takes heads of rank 4 and a list of indices",
                fitAdvice);
    return std::vector<Tensor>(count);
  }
  call.result({q[0], q[1], q[2], v[3]});
  if (wantsWeights)
    call.result({q[0], q[2], q[1], index[0]});
  return call.all(count);
}

Tensor RadixAttention::operator()(const Tensor &q, const Tensor &keyPool,
                                  const Tensor &valuePool,
                                  const Tensor &keyRows,
                                  const Tensor &valueRows) const {
  return mllm::Call("mllm.linalg.radix_attn_relax",
                    {q, keyPool, valuePool, keyRows, valueRows}, this)
      .f64("scale", scale)
      .one();
}

Tensor RadixAttentionSwaSink::operator()(const Tensor &q, const Tensor &keyPool,
                                         const Tensor &valuePool,
                                         const Tensor &keyRows,
                                         const Tensor &valueRows) const {
  return call({q, keyPool, valuePool, keyRows, valueRows});
}

Tensor RadixAttentionSwaSink::operator()(const Tensor &q, const Tensor &keyPool,
                                         const Tensor &valuePool,
                                         const Tensor &keyRows,
                                         const Tensor &valueRows,
                                         const Tensor &sinks) const {
  return call({q, keyPool, valuePool, keyRows, valueRows, sinks});
}

Tensor RadixAttentionSwaSink::call(const std::vector<Tensor> &operands) const {
  return mllm::Call("mllm.linalg.radix_attn_swa_sink", operands, this)
      .f64("scale", scale)
      .i64("sliding_window", window)
      .str("pattern", pattern)
      .one();
}

//===----------------------------------------------------------------------===//
// Signals
//===----------------------------------------------------------------------===//

Tensor STFT::operator()(const Tensor &x, const Tensor &window) const {
  return mllm::Call("mllm.linalg.stft", {x, window}, this)
      .i64("n_fft", options.frameSize)
      .i64("hop_length", options.hop)
      .boolean("onesided", options.onesided)
      .boolean("center", options.center)
      .str("pad_mode", options.padMode)
      .flag("normalized", options.normalized)
      .one();
}

Tensor ISTFT::operator()(const Tensor &x, const Tensor &window) const {
  mllm::Call call("mllm.linalg.istft", {x, window}, this);
  if (length)
    call.i64("length", *length);
  return call.i64("n_fft", options.frameSize)
      .i64("hop_length", options.hop)
      .boolean("onesided", options.onesided)
      .boolean("center", options.center)
      .flag("normalized", options.normalized)
      .one();
}
