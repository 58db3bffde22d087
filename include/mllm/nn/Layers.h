//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layers of which modules are made. Shapes in the comments: T new tokens of
// a sequence, S tokens that its cache holds after them, D values in a head, B
// sequences; "…" are any dimensions.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_NN_LAYERS_H
#define MLLM_NN_LAYERS_H

#include "mllm/nn/Functional.h"
#include "mllm/nn/Module.h"

#include <optional>

namespace mllm::nn {

//===----------------------------------------------------------------------===//
// Projections and norms
//===----------------------------------------------------------------------===//

/// Rows of a table, chosen by token id.
class Embedding : public Layer {
public:
  Embedding(int64_t vocabSize, int64_t columns)
      : table(*this, "weight", {vocabSize, columns}) {}

  /// ids […] -> […, columns]
  Tensor operator()(const Tensor &ids) const;
  const Parameter &weight() const { return table; }

private:
  Parameter table;
};

/// y = x W^T, and + b where there is a bias.
class Linear : public Layer {
public:
  /// `rotatedHeads`: see Storage; for the projections of queries and keys.
  Linear(int64_t in, int64_t out, bool bias, int64_t rotatedHeads = 0);
  Linear(int64_t in, int64_t out, bool bias, const Storage &storage);
  /// Without bias, and with a weight that another layer owns.
  explicit Linear(Parameter sharedWeight) : matrix(std::move(sharedWeight)) {}

  /// x […, in] -> […, out]
  Tensor operator()(const Tensor &x) const;
  /// x […, in] -> […, sizes…], whose product is out: heads, for example.
  Tensor operator()(const Tensor &x, const std::vector<int64_t> &sizes) const;
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

  /// x […, columns] -> same shape
  Tensor operator()(const Tensor &x) const;

private:
  Parameter scale;
  double eps;
};

/// (x - mean) / sqrt(variance + eps) * weight + bias, over the last dimensions.
class LayerNorm : public Layer {
public:
  LayerNorm(int64_t columns, double eps)
      : LayerNorm(std::vector<int64_t>{columns}, eps) {}
  explicit LayerNorm(std::vector<int64_t> normalizedShape, double eps = 1e-6,
                     bool affine = true, bool bias = true);

  /// x […, normalizedShape…] -> same shape
  Tensor operator()(const Tensor &x) const;

private:
  std::vector<int64_t> sizes;
  std::optional<Parameter> scale, offset;
  double eps;
};

/// The same over the channels of a picture, for each place.
class LayerNorm2D : public Layer {
public:
  explicit LayerNorm2D(int64_t channels, double eps = 1e-6)
      : scale(*this, "weight", {channels}), offset(*this, "bias", {channels}),
        eps(eps) {}

  /// x [B, channels, height, width] -> same shape
  Tensor operator()(const Tensor &x) const;

private:
  Parameter scale, offset;
  double eps;
};

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// How a convolution goes over its input; empty lists are ones, or zeros for
/// the padding.
struct ConvOptions {
  std::vector<int64_t> stride, padding, dilation;
  int64_t groups = 1;
  bool bias = true;
};

/// What the convolutions share: kernels [out, in / groups, kernel…].
class Convolution : public Layer {
public:
  /// x [B, in, sizes…] -> [B, out, sizes…]
  Tensor operator()(const Tensor &x) const;

protected:
  Convolution(const char *op, int64_t in, int64_t out,
              std::vector<int64_t> kernel, ConvOptions options);

private:
  const char *op;
  int64_t out;
  std::vector<int64_t> kernel;
  ConvOptions options;
  std::optional<Parameter> kernels, offset;
};

class Conv1D : public Convolution {
public:
  Conv1D(int64_t in, int64_t out, int64_t kernel, ConvOptions options = {})
      : Convolution("mllm.linalg.conv1d", in, out, {kernel},
                    std::move(options)) {}
};

class Conv2D : public Convolution {
public:
  Conv2D(int64_t in, int64_t out, std::vector<int64_t> kernel,
         ConvOptions options = {})
      : Convolution("mllm.linalg.conv2d", in, out, std::move(kernel),
                    std::move(options)) {}
};

class Conv3D : public Convolution {
public:
  Conv3D(int64_t in, int64_t out, std::vector<int64_t> kernel,
         ConvOptions options = {})
      : Convolution("mllm.linalg.conv3d", in, out, std::move(kernel),
                    std::move(options)) {}
};

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

/// Which dimension counts what in heads: [(B,) T, heads, D], or
/// [(B,) heads, T, D].
enum class Layout { BSHD, BHSD };

/// The position of each token in its sequence, for learned positions.
class Positions : public Layer {
public:
  /// ids […, T] -> same shape
  Tensor operator()(const Tensor &ids) const;
};

/// Rotary position embedding over halves of a head.
class RoPE : public Layer {
public:
  /// `frequencies`: radians per position, one per rotated pair; `scaling`
  /// multiplies cosine and sine.
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

/// The keys and values of a layer, of the past tokens and the new ones. Outside
/// a trace they are kept by the root of the tree, until its reset().
class KVCache : public Layer {
public:
  /// `queryHeads`: heads of the results, where each key head serves several; 0
  /// for as many as there are key heads.
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

/// Hides the keys after a query among its scores.
class CausalMask : public Layer {
public:
  /// scores […, T, S] -> same shape
  Tensor operator()(const Tensor &scores) const;
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

//===----------------------------------------------------------------------===//
// Functions of each value, and along an axis
//===----------------------------------------------------------------------===//

/// A layer without parameters: one op of one operand.
class UnaryLayer : public Layer {
public:
  Tensor operator()(const Tensor &x) const;

protected:
  explicit UnaryLayer(const char *op) : op(op) {}

private:
  const char *op;
};

/// x * sigmoid(x).
class SiLU : public UnaryLayer {
public:
  SiLU() : UnaryLayer("mllm.linalg.silu") {}
};

/// The tanh form.
class GELU : public UnaryLayer {
public:
  GELU() : UnaryLayer("mllm.linalg.gelu") {}
};

/// x * sigmoid(1.702 x).
class QuickGELU : public UnaryLayer {
public:
  QuickGELU() : UnaryLayer("mllm.linalg.quick_gelu") {}
};

class ReLU : public UnaryLayer {
public:
  ReLU() : UnaryLayer("mllm.linalg.relu") {}
};

class Sigmoid : public UnaryLayer {
public:
  Sigmoid() : UnaryLayer("mllm.linalg.sigmoid") {}
};

class Softmax : public Layer {
public:
  explicit Softmax(int64_t axis) : axis(axis) {}
  Tensor operator()(const Tensor &x) const;

private:
  int64_t axis;
};

} // namespace mllm::nn

#endif // MLLM_NN_LAYERS_H
