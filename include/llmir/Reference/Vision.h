//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reference convolutions over any number of dimensions, and resampling. B
// images, C input channels, O output channels.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_REFERENCE_VISION_H
#define LLMIR_REFERENCE_VISION_H

#include "llmir/Reference/Tensor.h"
#include "llmir/Support/Status.h"

#include <optional>
#include <string_view>

namespace llmir::reference {

/// One element per spatial dimension.
struct ConvolutionParams {
  std::vector<int64_t> stride, padding, dilation;
  int64_t groups = 1;
};

/// Outputs along a dimension of `size`: floor((size + 2 · padding − dilation ·
/// (kernel − 1) − 1) / stride) + 1, or nullopt if the kernel is larger than the
/// padded dimension.
std::optional<int64_t> convolvedSize(int64_t size, int64_t kernel,
                                     int64_t stride, int64_t padding,
                                     int64_t dilation);

/// Maps x [B, C, s…] with weight [O, C / groups, k…] to
/// [B, O, convolvedSize(s)…]:
///   result[b, o, i…] = (bias[o] +) Σ over c and j… of
///     x[b, g·C/groups + c, i·stride + j·dilation − padding…] · weight[o, c,
///     j…]
/// where g is the group of o; x is 0 out of bounds. Fails if the kernel is
/// larger than the padded image, or if channels and groups do not match.
Expected<Tensor> convolution(const Tensor &x, const Tensor &weight,
                             const Tensor *bias,
                             const ConvolutionParams &params);

/// Linear covers linear, bilinear and trilinear.
enum class InterpolateMode { Nearest, Linear, Cubic };

/// The mode with that name in `mllm.linalg.interpolate`.
InterpolateMode interpolateModeOf(std::string_view name);

struct InterpolateParams {
  InterpolateMode mode = InterpolateMode::Nearest;
  /// Align the centers of the corner elements of both grids instead of their
  /// outer edges.
  bool alignCorners = false;
  /// Widen the kernel to the step when downsampling.
  bool antialias = false;
  /// If not empty, one factor per spatial dimension: the source step is 1 /
  /// factor instead of the quotient of the sizes.
  std::vector<double> factors;
};

/// x [B, C, s…] resampled to [B, C, sizes…], dimension by dimension, by
/// PyTorch's definitions: nearest takes floor(i · step); linear and cubic
/// (Keys, a = −0.75, or −0.5 with antialias) interpolate around (i + 0.5) ·
/// step − 0.5 and replicate the edge. Fails if an empty dimension would become
/// non-empty.
Expected<Tensor> interpolate(const Tensor &x, const std::vector<int64_t> &sizes,
                             const InterpolateParams &params);

} // namespace llmir::reference

#endif // LLMIR_REFERENCE_VISION_H
