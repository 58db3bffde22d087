//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layers. In shapes, "…" are any dimensions and B is the number of sequences or
// images.
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

/// Embedding lookup.
class Embedding : public Layer {
public:
  Embedding(int64_t vocabSize, int64_t columns, Storage storage = {})
      : table(*this, "weight", {vocabSize, columns}, storage) {}

  /// ids […] -> […, columns]
  Tensor operator()(const Tensor &ids) const;
  const Parameter &weight() const { return table; }

private:
  Parameter table;
};

/// y = x W^T, plus b if there is a bias.
class Linear : public Layer {
public:
  /// `rotatedHeads`: see Storage; for query and key projections.
  Linear(int64_t in, int64_t out, bool bias, int64_t rotatedHeads = 0);
  Linear(int64_t in, int64_t out, bool bias, const Storage &storage);
  /// Without bias, with a weight owned by another layer.
  explicit Linear(Parameter sharedWeight) : matrix(std::move(sharedWeight)) {}

  /// x […, in] -> […, out]
  Tensor operator()(const Tensor &x) const;
  /// x […, in] -> […, sizes…], where the product of sizes is out; for example
  /// heads.
  Tensor operator()(const Tensor &x, const std::vector<int64_t> &sizes) const;
  const Parameter &weight() const { return matrix; }

private:
  Parameter matrix;
  std::optional<Parameter> offset;
};

/// Multiplies each head by a matrix of its own.
class HeadLinear : public Layer {
public:
  HeadLinear(int64_t heads, int64_t in, int64_t out,
             const Storage &storage = {})
      : matrices(*this, "weight", {heads, out, in}, storage) {}

  /// x […, heads, in] -> […, heads, out]
  Tensor operator()(const Tensor &x) const;

private:
  Parameter matrices;
};

/// The matrices of a mixture's experts, and possibly their biases.
class ExpertMatrices : public Layer {
public:
  /// `name`: of the parameter with the matrices; that of the biases is
  /// name + "_bias".
  ExpertMatrices(int64_t experts, int64_t in, int64_t out,
                 const Storage &storage, const std::string &name = "weight",
                 bool bias = false);

  const Parameter &weight() const { return matrices; }
  const std::optional<Parameter> &bias() const { return offsets; }

private:
  Parameter matrices;
  std::optional<Parameter> offsets;
};

/// The weighted sum of down(silu(gate x) * up x) over the chosen experts; each
/// product may have a bias.
class Experts : public Layer {
public:
  /// All matrices or none have biases. `swigluLimit`: of the clamped SwiGLU in
  /// place of silu(gate x) * up x (see mllm.linalg.experts); 0: none.
  /// `usesGELU`: the tanh form of GELU is in the place of silu.
  Experts(ExpertMatrices gate, ExpertMatrices up, ExpertMatrices down,
          double swigluLimit = 0, bool usesGELU = false)
      : gate(std::move(gate)), up(std::move(up)), down(std::move(down)),
        swigluLimit(swigluLimit), usesGELU(usesGELU) {}

  /// x […, hidden], the experts of each row […, k] and their weights […, k]
  /// -> shape of x
  Tensor operator()(const Tensor &x, const Tensor &chosen,
                    const Tensor &weights) const;

private:
  ExpertMatrices gate, up, down;
  double swigluLimit;
  bool usesGELU;
};

/// x / sqrt(mean(x^2) + eps) * weight, over the last dimension; with
/// `unitOffset`, the scale is 1 + weight.
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

/// The same over the channels of an image, for each pixel.
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

/// The parameter `name` as a tensor.
class Param : public Layer {
public:
  Param(std::string name, std::vector<int64_t> shape, Storage storage = {})
      : values(*this, std::move(name), std::move(shape), storage) {}
  /// The parameter of `owner`, a module that has parameters of its own.
  Param(const Component &owner, std::string name, std::vector<int64_t> shape)
      : values(owner, std::move(name), std::move(shape)) {}

  Tensor operator()() const;

private:
  Parameter values;
};

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// Options of convolutions; empty lists are ones, or zeros for the padding.
struct ConvOptions {
  std::vector<int64_t> stride, padding, dilation;
  int64_t groups = 1;
  bool bias = true;
};

/// Base class of convolutions with kernels [out, in / groups, kernel…].
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
// Element-wise functions and softmax
//===----------------------------------------------------------------------===//

/// A layer without parameters: one unary op.
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

/// Framing options of STFT and ISTFT.
struct FrameOptions {
  int64_t frameSize = 400; ///< Samples per frame, N.
  int64_t hop = 0;         ///< Samples between frames; 0: a quarter of N.
  bool onesided = true;    ///< Frequencies up to N / 2 only.
  bool center = true;      ///< Frame t is centered at sample t * hop.
  /// STFT: padding mode of `center`; constant, reflect, replicate or circular.
  std::string padMode = "reflect";
  bool normalized = false; ///< Divide by the square root of N.
};

/// Short-time Fourier transform.
class STFT : public Layer {
public:
  explicit STFT(FrameOptions options) : options(std::move(options)) {}

  /// x […, samples], window [N or less] -> […, frequencies, frames, 2]
  Tensor operator()(const Tensor &x, const Tensor &window) const;

private:
  FrameOptions options;
};

/// Inverse short-time Fourier transform.
class ISTFT : public Layer {
public:
  /// `length`: samples of the result; determined by the frames if absent.
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
