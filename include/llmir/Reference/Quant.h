//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What quantization means: real = scale · (q − zero point).
//
// Where a number is rounded on its way to an integer, the arithmetic is that of
// f32, so that generated code gives the same integers.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_REFERENCE_QUANT_H
#define LLMIR_REFERENCE_QUANT_H

#include "llmir/Reference/Tensor.h"

namespace llmir::reference {

/// How a tensor is quantized; the parameters of `!llm.quantized_tensor`.
struct QuantSpec {
  int bits = 8; ///< 2 to 16.
  bool symmetric = true;
  int64_t axis = -1;      ///< Dimension with scales of its own; -1 = none.
  int64_t groupSize = -1; ///< Neighbours that share a scale; -1 = no groups.
  int storedBits = 0;     ///< Of an element: 4, 8 or 16; 0 = `bits`.

  /// The type of a stored number, and of a zero point made by quantParams.
  ElementKind storedKind() const;
  ElementKind zeroPointKind() const;
  /// The range of a stored number: from −(2^(b−1) − 1) where symmetric, from
  /// −2^(b−1) otherwise, to 2^(b−1) − 1.
  double least() const;
  double greatest() const;
  /// The dimension in which groups lie: the last one, or the first where `axis`
  /// is the last.
  int64_t groupedDim(int64_t rank) const;
  /// True where `groupSize` is less than the grouped dimension.
  bool hasGroups(const Shape &shape) const;
  /// The shape of scales and zero points: [1], [shape[axis]], or `shape` with
  /// the grouped dimension divided by `groupSize`.
  Shape scaleShape(const Shape &shape) const;
};

/// For each number of a tensor, which scale it has.
std::vector<int64_t> scaleIndices(const Shape &shape, const QuantSpec &spec);

/// q = clamp(roundeven(x / s) + z), the quotient in f32; z where s = 0.
/// `zeroPoints` is null where symmetric.
Tensor quantize(const Tensor &x, const Tensor &scales, const Tensor *zeroPoints,
                const QuantSpec &spec);

/// x = s · (q − z).
Tensor dequantize(const Tensor &q, const Tensor &scales,
                  const Tensor *zeroPoints, const QuantSpec &spec);

struct QuantParams {
  Tensor scales;     ///< f32
  Tensor zeroPoints; ///< Empty where symmetric.
};
/// Symmetric: s = max|x| / greatest. Asymmetric, over the range from
/// lo = min(x, 0) to hi = max(x, 0): s = (hi − lo) / (2^b − 1) and
/// z = least − roundeven(lo / s), or 0 where s = 0. In f32.
QuantParams quantParams(const Tensor &x, const QuantSpec &spec);

/// Each group of `groupSize` neighbours of a row (the last one may be shorter)
/// as s · q with a = max|x|, s = a / 127, q = roundeven(x / s) in f32; zeros
/// where a = 0. What is returned is s · q.
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
