//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Reference/NN.h"

#include "llmir/Reference/Elementwise.h"
#include "llmir/Reference/Shape.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace llmir::reference {

Tensor embedding(const Tensor &ids, const Tensor &table) {
  return selectRows(table, ids);
}

Tensor meanRows(const Tensor &x, const Tensor &offsets) {
  Shape shape = x.shape;
  shape[0] = offsets.size() - 1;
  Tensor result(x.kind, shape);
  const int64_t rowSize =
      numElements(Shape(x.shape.begin() + 1, x.shape.end()));
  for (int64_t s = 0; s < shape[0]; ++s)
    for (int64_t i = 0; i < rowSize; ++i) {
      const int64_t begin = offsets.integer(s), end = offsets.integer(s + 1);
      double sum = 0;
      for (int64_t t = begin; t < end; ++t)
        sum += x[t * rowSize + i];
      result[s * rowSize + i] =
          sum / static_cast<double>(std::max<int64_t>(end - begin, 1));
    }
  return result;
}

Tensor selectRows(const Tensor &x, const Tensor &rows) {
  Shape shape = x.shape;
  shape[0] = rows.size();
  Tensor result(x.kind, shape);
  const int64_t rowSize =
      numElements(Shape(x.shape.begin() + 1, x.shape.end()));
  for (int64_t r = 0; r < rows.size(); ++r)
    for (int64_t i = 0; i < rowSize; ++i)
      result[r * rowSize + i] = x.number(rows.integer(r) * rowSize + i);
  return result;
}

/// Rounds a row for products with weights of that type.
static Tensor roundedFor(ElementKind weight, const Tensor &x) {
  Tensor result = x;
  if (weight == ElementKind::BF16)
    for (double &value : result.floats())
      value = roundTo(ElementKind::BF16, value);
  return result;
}

Tensor linear(const Tensor &given, const Tensor &weight, const Tensor *bias) {
  const Tensor x = roundedFor(weight.kind, given);
  Shape shape = x.shape;
  shape.back() = weight.dim(0);
  Tensor result(x.kind, shape);
  for (int64_t t = 0; t < result.rows(); ++t)
    for (int64_t n = 0; n < weight.dim(0); ++n) {
      double sum = bias ? (*bias)[n] : 0.0;
      for (int64_t k = 0; k < weight.dim(1); ++k)
        sum += x.row(t)[k] * weight.row(n)[k];
      result.row(t)[n] = sum;
    }
  return result;
}

Tensor headLinear(const Tensor &given, const Tensor &weight) {
  const Tensor x = roundedFor(weight.kind, given);
  const int64_t heads = weight.dim(0), outputs = weight.dim(1);
  Shape shape = x.shape;
  shape.back() = outputs;
  Tensor result(x.kind, shape);
  for (int64_t t = 0; t < result.rows(); ++t)
    for (int64_t n = 0; n < outputs; ++n) {
      const double *row = weight.row(t % heads * outputs + n);
      double sum = 0;
      for (int64_t k = 0; k < weight.dim(2); ++k)
        sum += x.row(t)[k] * row[k];
      result.row(t)[n] = sum;
    }
  return result;
}

/// Exchanges dimensions `i` and `j`.
static Tensor swapped(const Tensor &x, int64_t i, int64_t j) {
  std::vector<int64_t> axes;
  for (int64_t d = 0; d < x.rank(); ++d)
    axes.push_back(d == i ? j : d == j ? i : d);
  return permuted(x, axes);
}

Expected<Tensor> matmul(const Tensor &a, const Tensor &b,
                        const MatMulParams &params) {
  // Both operands with K last.
  const Tensor x =
      params.transposeA ? swapped(a, a.rank() - 2, a.rank() - 1) : a;
  const Tensor y =
      params.transposeB ? b : swapped(b, b.rank() - 2, b.rank() - 1);
  const int64_t m = x.dim(-2), n = y.dim(-2), k = x.dim(-1);
  if (k != y.dim(-1))
    return Status(StatusCode::InvalidArgument,
                  "the matrices have " + std::to_string(k) + " columns and " +
                      std::to_string(y.dim(-1)) + " rows");
  auto leading = [](const Shape &s) { return Shape(s.begin(), s.end() - 2); };
  Expected<Shape> shape = broadcastShape(leading(x.shape), leading(y.shape));
  if (!shape)
    return shape.status();
  auto extended = [&](const Shape &last) {
    Shape all = *shape;
    all.insert(all.end(), last.begin(), last.end());
    return all;
  };
  for (const Shape &all : {Shape{m, k}, Shape{n, k}, Shape{m, n}})
    LLMIR_RETURN_IF_ERROR(checkAffordable(extended(all)));
  const Tensor left = broadcastTo(x, extended({m, k}));
  const Tensor right = broadcastTo(y, extended({n, k}));
  *shape = extended({m, n});
  Tensor result(a.kind, *shape);
  for (int64_t i = 0; i < result.size(); ++i) {
    const double *row = left.floats().data() + i / n * k;
    const double *column =
        right.floats().data() + (i / (m * n) * n + i % n) * k;
    double sum = 0;
    for (int64_t j = 0; j < k; ++j)
      sum += row[j] * column[j];
    result[i] = sum;
  }
  return result;
}

Tensor rmsNorm(const Tensor &x, const Tensor *weight, double eps) {
  Tensor result = x;
  const int64_t columns = x.columns();
  for (int64_t t = 0; t < x.rows(); ++t) {
    double squares = 0;
    for (int64_t k = 0; k < columns; ++k)
      squares += x.row(t)[k] * x.row(t)[k];
    const double factor = 1 / std::sqrt(squares / double(columns) + eps);
    for (int64_t k = 0; k < columns; ++k)
      result.row(t)[k] *= factor * (weight ? (*weight)[k] : 1.0);
  }
  return result;
}

Tensor layerNorm(const Tensor &x, const Tensor *weight, const Tensor *bias,
                 double eps) {
  Tensor result = x;
  const int64_t columns = x.columns();
  for (int64_t t = 0; t < x.rows(); ++t) {
    double sum = 0, squares = 0;
    for (int64_t k = 0; k < columns; ++k)
      sum += x.row(t)[k];
    const double mean = sum / double(columns);
    for (int64_t k = 0; k < columns; ++k)
      squares += (x.row(t)[k] - mean) * (x.row(t)[k] - mean);
    const double factor = 1 / std::sqrt(squares / double(columns) + eps);
    for (int64_t k = 0; k < columns; ++k)
      result.row(t)[k] =
          (x.row(t)[k] - mean) * factor * (weight ? (*weight)[k] : 1.0) +
          (bias ? (*bias)[k] : 0.0);
  }
  return result;
}

Tensor softmax(const Tensor &x) {
  Tensor result = x;
  const int64_t columns = x.columns();
  for (int64_t t = 0; t < x.rows() && columns > 0; ++t) {
    double *row = result.row(t);
    double most = *std::max_element(row, row + columns);
    if (std::isinf(most) && most < 0)
      most = 0;
    double total = 0;
    for (int64_t k = 0; k < columns; ++k) {
      row[k] = std::exp(row[k] - most);
      total += row[k];
    }
    // If every element is -inf, the result is 0; +inf and NaN make the whole
    // result NaN.
    for (int64_t k = 0; k < columns && total != 0; ++k)
      row[k] /= total;
  }
  return result;
}

Tensor softmax(const Tensor &x, int64_t axis) {
  const int64_t last = x.rank() - 1;
  if (axis == last)
    return softmax(x);
  return swapped(softmax(swapped(x, axis, last)), axis, last);
}

Tensor layerNormOfChannels(const Tensor &x, const Tensor *weight,
                           const Tensor *bias, double eps) {
  const int64_t last = x.rank() - 1;
  return swapped(layerNorm(swapped(x, 1, last), weight, bias, eps), 1, last);
}

Tensor rope(const Tensor &x, const Tensor &positions,
            const std::vector<double> &frequencies, double scaling,
            bool interleaved) {
  Tensor result = x;
  const auto pairs = static_cast<int64_t>(frequencies.size());
  for (int64_t t = 0; t < x.dim(0); ++t)
    for (int64_t h = 0; h < x.dim(1); ++h)
      for (int64_t j = 0; j < pairs; ++j) {
        const double angle = positions[t] * frequencies[static_cast<size_t>(j)];
        const double c = scaling * std::cos(angle);
        const double s = scaling * std::sin(angle);
        const int64_t first = interleaved ? 2 * j : j;
        const int64_t second = interleaved ? 2 * j + 1 : j + pairs;
        const double a = x.at({t, h, first}), b = x.at({t, h, second});
        result.at({t, h, first}) = a * c - b * s;
        result.at({t, h, second}) = b * c + a * s;
      }
  return result;
}

/// exp(x), infinite if it overflows f32.
static double exponential(double x) {
  const double result = std::exp(x);
  return std::isinf(static_cast<float>(result))
             ? std::numeric_limits<double>::infinity()
             : result;
}

double sigmoid(double x) { return 1 / (1 + exponential(-x)); }

double relu(double x) { return x < 0 ? 0 : x; }

double silu(double x) { return x / (1 + exponential(-x)); }

double gelu(double x, GeluApproximation approximation) {
  const double pi = 3.14159265358979323846;
  switch (approximation) {
  case GeluApproximation::None:
    return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
  case GeluApproximation::Tanh:
    return x / (1 + exponential(-2 * std::sqrt(2 / pi) *
                                (x + 0.044715 * x * x * x)));
  case GeluApproximation::Quick:
    return x / (1 + exponential(-1.702 * x));
  }
  return x;
}

Tensor swiglu(const Tensor &gate, const Tensor &up) {
  return map(round(map(gate, silu), gate.kind), up, std::multiplies<double>());
}

Tensor map(const Tensor &x, const UnaryFunction &function) {
  Tensor result = x;
  if (isFloat(x.kind))
    for (double &value : result.floats())
      value = function.ofFloats(value);
  else
    for (int64_t &value : result.integers())
      value = function.ofIntegers(value);
  return result;
}

Tensor map(const Tensor &x, const Tensor &y, const BinaryFunction &function) {
  Tensor result = x;
  for (int64_t i = 0; i < x.size(); ++i)
    if (isFloat(x.kind))
      result[i] = function.ofFloats(x[i], y[i]);
    else
      result[i] = function.ofIntegers(x.integer(i), y.integer(i));
  return result;
}

} // namespace llmir::reference
