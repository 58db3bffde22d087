//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reference quantization: real = scale · (q − zero point).
//
// Quantization to integers is computed in f32, so that generated code yields
// the same integers.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_REFERENCE_QUANT_H
#define LLMIR_REFERENCE_QUANT_H

#include "llmir/Reference/Tensor.h"

namespace llmir::reference {

/// Quantization parameters, those of `!llm.quantized_tensor`.
struct QuantSpec {
  int bits = 8; ///< 2 to 16.
  bool symmetric = true;
  int64_t axis = -1;      ///< Dimension with one scale per index; -1: none.
  int64_t groupSize = -1; ///< Consecutive elements per scale; -1: no groups.
  int storedBits = 0;     ///< Bits per stored element: 4, 8 or 16; 0: `bits`.

  /// The stored element type, also of zero points from quantParams().
  ElementKind storedKind() const;
  ElementKind zeroPointKind() const;
  /// The range of stored elements: from −(2^(b−1) − 1) if symmetric, otherwise
  /// from −2^(b−1), to 2^(b−1) − 1.
  double least() const;
  double greatest() const;
  /// The dimension that groups divide: the last one, or the first if `axis` is
  /// the last.
  int64_t groupedDim(int64_t rank) const;
  /// True if `groupSize` is less than the grouped dimension.
  bool hasGroups(const Shape &shape) const;
  /// The shape of scales and zero points: [1], [shape[axis]], or `shape` with
  /// the grouped dimension divided by `groupSize`.
  Shape scaleShape(const Shape &shape) const;
};

/// The scale index of each element of a tensor.
std::vector<int64_t> scaleIndices(const Shape &shape, const QuantSpec &spec);

/// q = clamp(roundeven(x / s) + z), the quotient in f32; z if s = 0.
/// `zeroPoints` is null if symmetric.
Tensor quantize(const Tensor &x, const Tensor &scales, const Tensor *zeroPoints,
                const QuantSpec &spec);

/// x = s · (q − z).
Tensor dequantize(const Tensor &q, const Tensor &scales,
                  const Tensor *zeroPoints, const QuantSpec &spec);

struct QuantParams {
  Tensor scales;     ///< f32
  Tensor zeroPoints; ///< Empty if symmetric.
};
/// Symmetric: s = max|x| / greatest. Asymmetric, over the range from lo =
/// min(x, 0) to hi = max(x, 0): s = (hi − lo) / (2^b − 1) and z = least −
/// roundeven(lo / s), or 0 if s = 0. In f32.
QuantParams quantParams(const Tensor &x, const QuantSpec &spec);

/// Quantizes each group of `groupSize` consecutive elements of a row (the last
/// group may be shorter) with a = max|x|, s = a / 127, q = roundeven(x / s) in
/// f32, zeros if a = 0, and returns s · q.
Tensor quantizeActivations(const Tensor &x, int64_t groupSize);

struct QuantizedMatmul {
  QuantSpec spec;
  bool transposeRhs = false;    ///< rhs is [N, K], otherwise [K, N].
  bool int8Activations = false; ///< x is quantized in groups first.
  int64_t activationGroup = 32;
};
/// result[…, n] = Σ_k x[…, k] · rhs[k, n] (+ bias[n]) with the dequantized rhs.
Tensor quantizedMatmul(const Tensor &x, const Tensor &rhs, const Tensor &scales,
                       const Tensor *zeroPoints, const Tensor *bias,
                       const QuantizedMatmul &options);

} // namespace llmir::reference

#endif // LLMIR_REFERENCE_QUANT_H
