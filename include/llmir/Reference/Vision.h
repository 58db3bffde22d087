//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What ops on pictures mean: convolutions over any number of dimensions, and
// resampling to another size. B pictures, C channels in, O channels out.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_REFERENCE_VISION_H
#define LLMIR_REFERENCE_VISION_H

#include "llmir/Reference/Tensor.h"
#include "llmir/Support/Status.h"

#include <optional>
#include <string_view>

namespace llmir::reference {

/// One entry for each spatial dimension.
struct ConvolutionParams {
  std::vector<int64_t> stride, padding, dilation;
  int64_t groups = 1;
};

/// Outputs along a dimension of `size`:
/// floor((size + 2 · padding − dilation · (kernel − 1) − 1) / stride) + 1, or
/// nothing where the kernel is longer than the padded dimension.
std::optional<int64_t> convolvedSize(int64_t size, int64_t kernel,
                                     int64_t stride, int64_t padding,
                                     int64_t dilation);

/// x [B, C, s…] and weight [O, C / groups, k…] give [B, O, convolvedSize(s)…]:
///   result[b, o, i…] = (bias[o] +) Σ over c and j… of
///     x[b, g·C/groups + c, i·stride + j·dilation − padding…] · weight[o, c,
///     j…]
/// g being o's group; x is 0 outside its sizes. Fails where the kernel is
/// longer than the padded picture, or channels and groups do not fit.
Expected<Tensor> convolution(const Tensor &x, const Tensor &weight,
                             const Tensor *bias,
                             const ConvolutionParams &params);

/// Linear stands for linear, bilinear and trilinear.
enum class InterpolateMode { Nearest, Linear, Cubic };

/// The mode of that name in `mllm.linalg.interpolate`.
InterpolateMode interpolateModeOf(std::string_view name);

struct InterpolateParams {
  InterpolateMode mode = InterpolateMode::Nearest;
  /// The first and the last numbers of both grids lie on each other, instead of
  /// the outer edges of those numbers.
  bool alignCorners = false;
  /// A smaller picture is made with kernels as wide as the step between its
  /// numbers.
  bool antialias = false;
  /// Steps of the source from one result to the next are 1 / factor, instead of
  /// what the sizes say; one for each spatial dimension, or none.
  std::vector<double> factors;
};

/// x [B, C, s…] resampled to [B, C, sizes…], dimension by dimension, by
/// PyTorch's definitions: nearest takes floor(i · step); linear and cubic
/// (Keys, a = −0.75, or −0.5 with antialias) weigh the numbers about
/// (i + 0.5) · step − 0.5, beyond the edge the number at the edge. Fails where
/// a picture of no number is to become one of several.
Expected<Tensor> interpolate(const Tensor &x, const std::vector<int64_t> &sizes,
                             const InterpolateParams &params);

} // namespace llmir::reference

#endif // LLMIR_REFERENCE_VISION_H
