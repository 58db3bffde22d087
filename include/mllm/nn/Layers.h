//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layers of which modules are made; "…" in the shapes of the comments are
// any dimensions, B is a number of sequences or pictures.
//
//===----------------------------------------------------------------------===//

#ifndef MLLM_NN_LAYERS_H
#define MLLM_NN_LAYERS_H

#include "mllm/nn/AttentionLayers.h"
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

/// x / sqrt(mean(x^2) + eps) * weight, over the last dimension; with
/// `unitOffset` times 1 + weight.
class RMSNorm : public Layer {
public:
  RMSNorm(int64_t columns, double eps, bool unitOffset = false)
      : scale(*this, "weight", {columns}), eps(eps), unitOffset(unitOffset) {}

  /// x […, columns] -> same shape
  Tensor operator()(const Tensor &x) const;

private:
  Parameter scale;
  double eps;
  bool unitOffset;
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

/// Numbers of the model's own, as a tensor: the parameter `name`.
class Param : public Layer {
public:
  Param(std::string name, std::vector<int64_t> shape)
      : values(*this, std::move(name), std::move(shape)) {}

  Tensor operator()() const;

private:
  Parameter values;
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

/// The tanh form, or x * Phi(x) itself.
class GELU : public Layer {
public:
  explicit GELU(bool exact = false) : isExact(exact) {}
  Tensor operator()(const Tensor &x) const;

private:
  bool isExact;
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

//===----------------------------------------------------------------------===//
// Signals
//===----------------------------------------------------------------------===//

/// How a signal falls into frames, for STFT and ISTFT.
struct FrameOptions {
  int64_t frameSize = 400; ///< Samples of a frame, N.
  int64_t hop = 0; ///< Samples from one frame to the next; 0: a quarter of N.
  bool onesided = true; ///< Frequencies up to N / 2 only.
  bool center = true;   ///< Frame t stands about sample t * hop.
  /// STFT: what `center` adds at the ends; constant, reflect, replicate or
  /// circular.
  std::string padMode = "reflect";
  bool normalized = false; ///< Sums are divided by the root of N.
};

/// Fourier transforms of the frames of a signal.
class STFT : public Layer {
public:
  explicit STFT(FrameOptions options) : options(std::move(options)) {}

  /// x […, samples], window [N or less] -> […, frequencies, frames, 2]
  Tensor operator()(const Tensor &x, const Tensor &window) const;

private:
  FrameOptions options;
};

/// The signal of such transforms.
class ISTFT : public Layer {
public:
  /// `length`: samples of the result; what the frames give where absent.
  explicit ISTFT(FrameOptions options, std::optional<int64_t> length = {})
      : options(std::move(options)), length(length) {}

  /// x […, frequencies, frames, 2], window [N or less] -> […, samples]
  Tensor operator()(const Tensor &x, const Tensor &window) const;

private:
  FrameOptions options;
  std::optional<int64_t> length;
};

} // namespace mllm::nn

#endif // MLLM_NN_LAYERS_H
