//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention layers. In shapes: T new tokens of a sequence, S tokens in its
// cache including them, D elements of a head, B sequences; "…" are any
// dimensions.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_NN_ATTENTIONLAYERS_H
#define MLLM_NN_ATTENTIONLAYERS_H

#include "mllm/nn/Module.h"

namespace mllm::nn {

/// Dimension order of heads: [(B,) T, heads, D] or [(B,) heads, T, D].
enum class Layout { BSHD, BHSD };

/// The position of each token in its sequence, for learned positions.
class Positions : public Layer {
public:
  /// ids […, T] -> same shape
  Tensor operator()(const Tensor &ids) const;
};

/// Rotary position embedding that pairs the halves of a head.
class RoPE : public Layer {
public:
  /// `frequencies`: angle per position of each rotated pair in radians;
  /// `scaling` multiplies cosines and sines.
  explicit RoPE(std::vector<double> frequencies, double scaling = 1.0,
                Layout layout = Layout::BSHD)
      : frequencies(std::move(frequencies)), scaling(scaling), layout(layout) {}

  /// x: heads in the layout -> same shape
  Tensor operator()(const Tensor &x) const;

private:
  std::vector<double> frequencies;
  double scaling;
  Layout layout;
};

/// The same with tables of cosines and sines.
class TableRoPE : public Layer {
public:
  explicit TableRoPE(double scaling = 1.0, Layout layout = Layout::BSHD)
      : scaling(scaling), layout(layout) {}

  /// x: heads in the layout; sin, cos [(B,) T, pairs] -> shape of x
  Tensor operator()(const Tensor &x, const Tensor &sin,
                    const Tensor &cos) const;

private:
  double scaling;
  Layout layout;
};

/// The same with tables that have one plane per kind of position (time, height
/// and width in Qwen2-VL): section i of the pairs uses plane i mod planes.
class MultimodalRoPE : public Layer {
public:
  explicit MultimodalRoPE(std::vector<int64_t> sections,
                          Layout layout = Layout::BSHD)
      : sections(std::move(sections)), layout(layout) {}

  /// x: heads in the layout; sin, cos [planes, T, pairs] -> shape of x
  Tensor operator()(const Tensor &x, const Tensor &sin,
                    const Tensor &cos) const;

private:
  std::vector<int64_t> sections;
  Layout layout;
};

/// Rotary embedding by a patch's row and column, half of the pairs each.
class VisionRoPE : public Layer {
public:
  /// `grid`: frames, rows and columns of patches, which are ordered in blocks
  /// of mergeSize squared.
  explicit VisionRoPE(std::vector<int64_t> grid, int64_t mergeSize = 2,
                      double theta = 1e4)
      : grid(std::move(grid)), mergeSize(mergeSize), theta(theta) {}

  /// x [(B,) patches, heads, D] -> same shape
  Tensor operator()(const Tensor &x) const;

private:
  std::vector<int64_t> grid;
  int64_t mergeSize;
  double theta;
};

/// The KV cache of a layer. Outside a trace, the root of the module tree holds
/// its contents until reset().
class KVCache : public Layer {
public:
  /// `queryHeads`: number of heads of the results, which repeat KV heads; 0:
  /// the number of KV heads.
  explicit KVCache(int64_t layer, Layout layout = Layout::BSHD,
                   int64_t queryHeads = 0)
      : layer(layer), layout(layout), queryHeads(queryHeads) {}

  /// k, v [T, heads, D] -> all keys, all values [S, heads, D]
  std::pair<Tensor, Tensor> operator()(const Tensor &k, const Tensor &v) const;

private:
  int64_t layer;
  Layout layout;
  int64_t queryHeads;
};

/// Applies a causal mask to scores; with a window, also hides keys that are
/// `window` or more before the query.
class CausalMask : public Layer {
public:
  explicit CausalMask(int64_t window = 0) : window(window) {}

  /// scores […, T, S] -> same shape
  Tensor operator()(const Tensor &scores) const;

private:
  int64_t window;
};

/// Grouped-query attention, where the queries are the last tokens of the keys.
class FlashAttention2 : public Layer {
public:
  /// `scale` multiplies the scores s, which `softCap` then limits to
  /// softCap * tanh(s / softCap); 0: not.
  explicit FlashAttention2(double scale, bool causal = true, double softCap = 0)
      : scale(scale), isCausal(causal), softCap(softCap) {}

  /// q [(B,) T, heads, D], k, v [(B,) S, key heads, D] -> [(B,) T, heads, D]
  Tensor operator()(const Tensor &q, const Tensor &k, const Tensor &v) const;

private:
  double scale;
  bool isCausal;
  double softCap;
};

/// Attention in which a token attends to itself and the window - 1 tokens
/// before it, and unless causal to as many after it; if the window is 0, to all
/// of them. A sink is a score of a head without a key.
class FlashAttention2SwaSink : public Layer {
public:
  /// The soft cap is that of FlashAttention2. `chunked`: windows begin at
  /// multiples of their size.
  FlashAttention2SwaSink(double scale, int64_t window, double softCap = 0,
                         bool chunked = false, bool causal = true)
      : scale(scale), window(window), softCap(softCap), chunked(chunked),
        isCausal(causal) {}

  /// q [(B,) T, heads, D], k, v [(B,) S, key heads, D] -> [(B,) T, heads, D]
  Tensor operator()(const Tensor &q, const Tensor &k, const Tensor &v) const;
  /// The same with sinks [heads].
  Tensor operator()(const Tensor &q, const Tensor &k, const Tensor &v,
                    const Tensor &sinks) const;

private:
  Tensor call(const std::vector<Tensor> &operands) const;

  double scale;
  int64_t window;
  double softCap;
  bool chunked;
  bool isCausal;
};

/// Causal attention over indexed tokens of a cache.
class PagedAttention : public Layer {
public:
  explicit PagedAttention(double scale) : scale(scale) {}

  /// q [B, T, heads, D], k, v [B, cached, key heads, D], index [S]
  /// -> [B, T, heads, D]
  Tensor operator()(const Tensor &q, const Tensor &k, const Tensor &v,
                    const Tensor &index) const;
  /// Also returns the softmax weights [B, heads, T, S].
  std::pair<Tensor, Tensor> withWeights(const Tensor &q, const Tensor &k,
                                        const Tensor &v,
                                        const Tensor &index) const;

private:
  std::vector<Tensor> call(const std::vector<Tensor> &operands,
                           bool wantsWeights) const;

  double scale;
};

/// Causal attention over pool rows given by two index lists, oldest first.
class RadixAttention : public Layer {
public:
  explicit RadixAttention(double scale) : scale(scale) {}

  /// q [(1,) T, heads, D], pools [rows, key heads, D], lists [S]
  /// -> [(1,) T, heads, D]
  Tensor operator()(const Tensor &q, const Tensor &keyPool,
                    const Tensor &valuePool, const Tensor &keyRows,
                    const Tensor &valueRows) const;

private:
  double scale;
};

/// The same within a window and with sinks (see FlashAttention2SwaSink).
class RadixAttentionSwaSink : public Layer {
public:
  /// `pattern`: the new tokens: all ("prefill"), one ("decode") or the last
  /// ones ("append").
  RadixAttentionSwaSink(double scale, int64_t window,
                        std::string pattern = "append")
      : scale(scale), window(window), pattern(std::move(pattern)) {}

  /// Shapes as in RadixAttention.
  Tensor operator()(const Tensor &q, const Tensor &keyPool,
                    const Tensor &valuePool, const Tensor &keyRows,
                    const Tensor &valueRows) const;
  /// The same with sinks [heads].
  Tensor operator()(const Tensor &q, const Tensor &keyPool,
                    const Tensor &valuePool, const Tensor &keyRows,
                    const Tensor &valueRows, const Tensor &sinks) const;

private:
  Tensor call(const std::vector<Tensor> &operands) const;

  double scale;
  int64_t window;
  std::string pattern;
};

} // namespace mllm::nn

#endif // MLLM_NN_ATTENTIONLAYERS_H
