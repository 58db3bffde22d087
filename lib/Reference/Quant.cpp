//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Reference/Quant.h"
#include "llmir/Reference/NN.h"

#include <algorithm>
#include <cmath>

namespace llmir::reference {

//===----------------------------------------------------------------------===//
// Scale indices
//===----------------------------------------------------------------------===//

ElementKind QuantSpec::storedKind() const {
  const int width = storedBits ? storedBits : bits;
  return width == 4   ? ElementKind::I4
         : width == 8 ? ElementKind::I8
                      : ElementKind::I16;
}

ElementKind QuantSpec::zeroPointKind() const {
  return bits == 16 ? ElementKind::I16 : ElementKind::I8;
}

double QuantSpec::least() const {
  return symmetric ? -greatest() : -greatest() - 1;
}

double QuantSpec::greatest() const { return double((1 << (bits - 1)) - 1); }

int64_t QuantSpec::groupedDim(int64_t rank) const {
  return rank > 1 && axis == rank - 1 ? 0 : rank - 1;
}

bool QuantSpec::hasGroups(const Shape &shape) const {
  const auto rank = static_cast<int64_t>(shape.size());
  return groupSize > 0 &&
         groupSize < shape[static_cast<size_t>(groupedDim(rank))];
}

Shape QuantSpec::scaleShape(const Shape &shape) const {
  if (hasGroups(shape)) {
    Shape grid = shape;
    grid[static_cast<size_t>(groupedDim(int64_t(shape.size())))] /= groupSize;
    return grid;
  }
  return {axis >= 0 ? shape[static_cast<size_t>(axis)] : 1};
}

std::vector<int64_t> scaleIndices(const Shape &shape, const QuantSpec &spec) {
  const auto rank = static_cast<int64_t>(shape.size());
  const bool groups = spec.hasGroups(shape);
  std::vector<int64_t> result(static_cast<size_t>(numElements(shape)));
  for (size_t i = 0; i < result.size(); ++i) {
    // Maps the indices of element i, last dimension first, to those of its
    // scale.
    int64_t rest = static_cast<int64_t>(i), stride = 1;
    for (int64_t d = rank - 1; d >= 0; --d) {
      const int64_t size = shape[static_cast<size_t>(d)];
      int64_t place = rest % size, places = size;
      rest /= size;
      if (groups && d == spec.groupedDim(rank)) {
        place /= spec.groupSize;
        places /= spec.groupSize;
      } else if (!groups && d != spec.axis) {
        continue; // Scales do not depend on this dimension.
      }
      result[i] += place * stride;
      stride *= places;
    }
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Quantization and dequantization
//===----------------------------------------------------------------------===//

/// roundeven(x / s) in f32; 0 if s = 0.
static double quotient(double x, double s) {
  const auto scale = static_cast<float>(s);
  return scale == 0 ? 0 : std::nearbyintf(static_cast<float>(x) / scale);
}

/// Clamps q to the range of stored integers; NaN becomes the least one.
static double clamp(double q, const QuantSpec &spec) {
  return q > spec.least() ? std::min(q, spec.greatest()) : spec.least();
}

Tensor quantize(const Tensor &x, const Tensor &scales, const Tensor *zeroPoints,
                const QuantSpec &spec) {
  Tensor result(spec.storedKind(), x.shape);
  const std::vector<int64_t> scaleOf = scaleIndices(x.shape, spec);
  for (int64_t i = 0; i < x.size(); ++i) {
    const int64_t s = scaleOf[static_cast<size_t>(i)];
    const double q =
        quotient(x[i], scales[s]) + (zeroPoints ? (*zeroPoints)[s] : 0.0);
    result[i] = clamp(q, spec);
  }
  return result;
}

Tensor dequantize(const Tensor &q, const Tensor &scales,
                  const Tensor *zeroPoints, const QuantSpec &spec) {
  Tensor result(ElementKind::F32, q.shape);
  const std::vector<int64_t> scaleOf = scaleIndices(q.shape, spec);
  for (int64_t i = 0; i < q.size(); ++i) {
    const int64_t s = scaleOf[static_cast<size_t>(i)];
    result[i] = scales[s] * (q[i] - (zeroPoints ? (*zeroPoints)[s] : 0.0));
  }
  return result;
}

QuantParams quantParams(const Tensor &x, const QuantSpec &spec) {
  const Shape shape = spec.scaleShape(x.shape);
  Tensor low(ElementKind::F32, shape), high(ElementKind::F32, shape);
  const std::vector<int64_t> scaleOf = scaleIndices(x.shape, spec);
  for (int64_t i = 0; i < x.size(); ++i) {
    const int64_t s = scaleOf[static_cast<size_t>(i)];
    low[s] = std::min<double>(low[s], x[i]);
    high[s] = std::max<double>(high[s], x[i]);
  }
  QuantParams result{Tensor(ElementKind::F32, shape), Tensor()};
  if (!spec.symmetric)
    result.zeroPoints = Tensor(spec.zeroPointKind(), shape);
  for (int64_t s = 0; s < low.size(); ++s) {
    const auto lo = static_cast<float>(low[s]),
               hi = static_cast<float>(high[s]);
    if (spec.symmetric) {
      result.scales[s] =
          std::max(hi, -lo) / static_cast<float>(spec.greatest());
      continue;
    }
    result.scales[s] = (hi - lo) / static_cast<float>((1 << spec.bits) - 1);
    if (result.scales[s] != 0)
      result.zeroPoints[s] =
          clamp(spec.least() - quotient(lo, result.scales[s]), spec);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Tensor quantizeActivations(const Tensor &x, int64_t groupSize) {
  Tensor result = x;
  for (int64_t t = 0; t < x.rows(); ++t)
    for (int64_t first = 0; first < x.columns(); first += groupSize) {
      const int64_t end = std::min(first + groupSize, x.columns());
      double *row = result.row(t);
      double most = 0;
      for (int64_t k = first; k < end; ++k)
        most = std::max(most, std::fabs(row[k]));
      const double scale = static_cast<float>(most) / 127.0f;
      for (int64_t k = first; k < end; ++k)
        row[k] = scale * quotient(row[k], scale);
    }
  return result;
}

Tensor quantizedMatmul(const Tensor &x, const Tensor &rhs, const Tensor &scales,
                       const Tensor *zeroPoints, const Tensor *bias,
                       const QuantizedMatmul &options) {
  Tensor weight = dequantize(rhs, scales, zeroPoints, options.spec);
  if (!options.transposeRhs)
    weight = transposed(weight);
  return linear(options.int8Activations
                    ? quantizeActivations(x, options.activationGroup)
                    : x,
                weight, bias);
}

} // namespace llmir::reference
