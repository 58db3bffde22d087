//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layers of which modules are made. Shapes in the comments: T new tokens of
// a sequence, S tokens that its cache holds after them, D values in a head.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_NN_LAYERS_H
#define MLLM_NN_LAYERS_H

#include "mllm/nn/Module.h"

#include <optional>

namespace mllm::nn {

/// Rows of a table, chosen by token id.
class Embedding : public Layer {
public:
  Embedding(int64_t vocabSize, int64_t columns)
      : table(*this, "weight", {vocabSize, columns}) {}

  /// ids [T] -> [T, columns]
  Tensor operator()(const Tensor &ids) const;
  const Parameter &weight() const { return table; }

private:
  Parameter table;
};

/// y = x W^T, and + b where there is a bias.
class Linear : public Layer {
public:
  Linear(int64_t in, int64_t out, bool bias, const Storage &storage = {});
  /// For projections of queries and keys: see Storage::rotatedHeads.
  Linear(int64_t in, int64_t out, bool bias, int64_t rotatedHeads);
  /// Without bias, and with a weight that another layer owns.
  explicit Linear(Parameter sharedWeight) : matrix(std::move(sharedWeight)) {}

  /// x [T, in] -> [T, out]
  Tensor operator()(const Tensor &x) const;
  const Parameter &weight() const { return matrix; }

private:
  Parameter matrix;
  std::optional<Parameter> offset;
};

/// x / sqrt(mean(x^2) + eps) * weight, over the last dimension.
class RMSNorm : public Layer {
public:
  RMSNorm(int64_t columns, double eps)
      : scale(*this, "weight", {columns}), eps(eps) {}

  /// x [T, columns] or [T, heads, D = columns] -> same shape
  Tensor operator()(const Tensor &x) const;

private:
  Parameter scale;
  double eps;
};

/// (x - mean) / sqrt(variance + eps) * weight + bias, over the last dimension.
class LayerNorm : public Layer {
public:
  LayerNorm(int64_t columns, double eps)
      : scale(*this, "weight", {columns}), offset(*this, "bias", {columns}),
        eps(eps) {}

  /// x [T, columns] -> same shape
  Tensor operator()(const Tensor &x) const;

private:
  Parameter scale, offset;
  double eps;
};

/// The position of each token in its sequence.
class Positions : public Layer {
public:
  /// ids [T] -> [T]
  Tensor operator()(const Tensor &ids) const;
};

/// Rotary position embedding over halves of a head.
class RoPE : public Layer {
public:
  /// `frequencies`: radians per position, one per rotated pair; `scaling`
  /// multiplies cosine and sine.
  explicit RoPE(std::vector<double> frequencies, double scaling = 1.0)
      : frequencies(std::move(frequencies)), scaling(scaling) {}

  /// x [T, heads, D] -> same shape
  Tensor operator()(const Tensor &x) const;

private:
  std::vector<double> frequencies;
  double scaling;
};

/// The keys and values of a layer, of the past tokens and the new ones.
class KVCache : public Layer {
public:
  explicit KVCache(int64_t layer) : layer(layer) {}

  /// k, v [T, heads, D] -> all keys, all values [S, heads, D]
  std::pair<Tensor, Tensor> operator()(const Tensor &k, const Tensor &v) const;

private:
  int64_t layer;
};

/// Causal attention with grouped queries.
class FlashAttention2 : public Layer {
public:
  /// `scale` multiplies the scores.
  explicit FlashAttention2(double scale) : scale(scale) {}

  /// q [T, heads, D], k, v [S, key heads, D] -> [T, heads, D]
  Tensor operator()(const Tensor &q, const Tensor &k, const Tensor &v) const;

private:
  double scale;
};

/// x * sigmoid(x).
class SiLU : public Layer {
public:
  Tensor operator()(const Tensor &x) const;
};

/// x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))): GELU as GPT-2 has
/// it (Hendrycks and Gimpel 2016, arXiv:1606.08415).
class GELU : public Layer {
public:
  Tensor operator()(const Tensor &x) const;
};

} // namespace mllm::nn

#endif // MLLM_NN_LAYERS_H
