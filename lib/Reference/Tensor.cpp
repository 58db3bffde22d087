//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Reference/Tensor.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <limits>

namespace llmir::reference {

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

const char *elementKindName(ElementKind kind) {
  switch (kind) {
  case ElementKind::F32:
    return "f32";
  case ElementKind::F16:
    return "f16";
  case ElementKind::BF16:
    return "bf16";
  case ElementKind::I1:
    return "i1";
  case ElementKind::I4:
    return "i4";
  case ElementKind::I8:
    return "i8";
  case ElementKind::I16:
    return "i16";
  case ElementKind::I32:
    return "i32";
  case ElementKind::I64:
    return "i64";
  }
  return "unknown";
}

int bitWidth(ElementKind kind) {
  switch (kind) {
  case ElementKind::I1:
    return 1;
  case ElementKind::I4:
    return 4;
  case ElementKind::I8:
    return 8;
  case ElementKind::F16:
  case ElementKind::BF16:
  case ElementKind::I16:
    return 16;
  case ElementKind::F32:
  case ElementKind::I32:
    return 32;
  case ElementKind::I64:
    return 64;
  }
  return 0;
}

namespace {
/// A binary format: ±m · 2^e with m < 2^digits, normal from 2^minExponent on.
struct FloatFormat {
  int digits;
  int minExponent;
  double greatest;
};
} // namespace

static FloatFormat floatFormat(ElementKind kind) {
  switch (kind) {
  case ElementKind::F16:
    return {11, -14, 65504.0};
  case ElementKind::BF16:
    return {8, -126, 0x1.fep127};
  default:
    return {24, -126, 0x1.fffffep127};
  }
}

double ulp(ElementKind kind, double value) {
  FloatFormat format = floatFormat(kind);
  int exponent = value == 0 ? format.minExponent : std::ilogb(std::fabs(value));
  return std::ldexp(1.0, std::max(exponent, format.minExponent) -
                             (format.digits - 1));
}

static double roundToFloat(const FloatFormat &format, double unit,
                           double value) {
  double rounded = std::nearbyint(value / unit) * unit; // Both exact: 2^n.
  if (std::fabs(rounded) > format.greatest)
    return std::copysign(std::numeric_limits<double>::infinity(), value);
  return std::copysign(rounded, value);
}

double roundTo(ElementKind kind, double value) {
  if (isFloat(kind)) {
    if (!std::isfinite(value))
      return value;
    return roundToFloat(floatFormat(kind), ulp(kind, value), value);
  }
  if (kind == ElementKind::I64 || std::isnan(value))
    return value;
  double modulus = std::ldexp(1.0, bitWidth(kind));
  double wrapped = value - std::floor(value / modulus) * modulus;
  bool isNegative = kind != ElementKind::I1 && wrapped >= modulus / 2;
  return isNegative ? wrapped - modulus : wrapped;
}

int64_t Number::toInteger() const {
  if (isWhole)
    return whole;
  if (std::isnan(real))
    return 0;
  if (real >= 0x1p63)
    return std::numeric_limits<int64_t>::max();
  if (real < -0x1p63)
    return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(real);
}

/// A float64 that rounds to narrower floats like the integer itself: lost bits
/// set the lowest one ("round to odd").
static double toOdd(int64_t value) {
  const uint64_t bits = static_cast<uint64_t>(value);
  uint64_t magnitude = value < 0 ? -bits : bits, lost = 0;
  int shift = 0;
  for (; magnitude >> 53 != 0; magnitude >>= 1, ++shift)
    lost |= magnitude & 1;
  const double kept = std::ldexp(static_cast<double>(magnitude | lost), shift);
  return value < 0 ? -kept : kept;
}

/// The low bits of an integer in two's complement.
static int64_t wrapTo(ElementKind kind, int64_t value) {
  const auto bits = static_cast<uint64_t>(value);
  if (kind == ElementKind::I1)
    return static_cast<int64_t>(bits & 1);
  const int unused = 64 - bitWidth(kind);
  return static_cast<int64_t>(bits << unused) >> unused;
}

Number roundTo(ElementKind kind, Number value) {
  if (value.isInteger())
    return isFloat(kind) ? Number(roundTo(kind, toOdd(value.toInteger())))
                         : Number(wrapTo(kind, value.toInteger()));
  const double rounded = roundTo(kind, value.toDouble());
  return isFloat(kind) ? Number(rounded) : Number(Number(rounded).toInteger());
}

//===----------------------------------------------------------------------===//
// Tensor
//===----------------------------------------------------------------------===//

int64_t numElements(const Shape &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

Tensor::Tensor(ElementKind kind, Shape shape)
    : kind(kind), shape(std::move(shape)) {
  const auto count = static_cast<size_t>(numElements(this->shape));
  if (isFloat(kind))
    reals.resize(count);
  else
    wholes.resize(count);
}

Tensor::Tensor(ElementKind kind, Shape shape, std::vector<double> numbers)
    : kind(kind), shape(std::move(shape)) {
  if (isFloat(kind))
    reals = std::move(numbers);
  else
    for (double number : numbers)
      wholes.push_back(Number(number).toInteger());
  assert(size() == numElements(this->shape) &&
         "the number of elements must match the shape");
}

Tensor Tensor::ofIntegers(ElementKind kind, Shape shape,
                          std::vector<int64_t> numbers) {
  Tensor result;
  result.kind = kind;
  result.shape = std::move(shape);
  result.integers() = std::move(numbers);
  assert(result.size() == numElements(result.shape) &&
         "the number of elements must match the shape");
  return result;
}

Cell &Cell::operator=(Number value) {
  const auto place = static_cast<size_t>(i);
  if (!isFloat(tensor.kind))
    tensor.integers()[place] = value.toInteger();
  else
    tensor.floats()[place] =
        value.isInteger() ? toOdd(value.toInteger()) : value.toDouble();
  return *this;
}

std::vector<double> Tensor::toDoubles() const {
  return isFloat(kind) ? reals
                       : std::vector<double>(wholes.begin(), wholes.end());
}

int64_t Tensor::offset(std::initializer_list<int64_t> index) const {
  assert(static_cast<int64_t>(index.size()) == rank() &&
         "one index per dimension");
  int64_t result = 0;
  const int64_t *size = shape.data();
  for (int64_t i : index) {
    assert(i >= 0 && i < *size && "index out of the tensor");
    result = result * *size++ + i;
  }
  return result;
}

Tensor Tensor::reshaped(Shape newShape) const {
  assert(numElements(newShape) == size() &&
         "the number of elements must match the shape");
  Tensor result = *this;
  result.shape = std::move(newShape);
  return result;
}

/// Contiguous elements below dimension `d`.
static int64_t innerSize(const Shape &shape, int64_t d) {
  return numElements(Shape(shape.begin() + d + 1, shape.end()));
}

Tensor Tensor::slice(int64_t d, int64_t first, int64_t count) const {
  assert(first >= 0 && count >= 0 && first + count <= dim(d));
  Shape newShape = shape;
  newShape[static_cast<size_t>(d)] = count;
  Tensor result(kind, newShape);
  const int64_t inner = innerSize(shape, d);
  const int64_t outer = numElements(Shape(shape.begin(), shape.begin() + d));
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < count * inner; ++i)
      result[o * count * inner + i] = number((o * dim(d) + first) * inner + i);
  return result;
}

Tensor concatenate(const std::vector<Tensor> &parts, int64_t d) {
  Shape shape = parts.front().shape;
  int64_t &total = shape[static_cast<size_t>(d)];
  total = 0;
  for (const Tensor &part : parts)
    total += part.dim(d);
  Tensor result(parts.front().kind, shape);
  const int64_t inner = innerSize(shape, d);
  const int64_t outer = numElements(Shape(shape.begin(), shape.begin() + d));
  int64_t next = 0;
  for (int64_t o = 0; o < outer; ++o)
    for (const Tensor &part : parts) {
      const int64_t run = part.dim(d) * inner;
      for (int64_t i = o * run; i < (o + 1) * run; ++i)
        result[next++] = part.number(i);
    }
  return result;
}

Tensor transposed(const Tensor &matrix) {
  Tensor result(matrix.kind, {matrix.dim(1), matrix.dim(0)});
  for (int64_t i = 0; i < matrix.dim(0); ++i)
    for (int64_t j = 0; j < matrix.dim(1); ++j)
      result.at({j, i}) = matrix.number(matrix.offset({i, j}));
  return result;
}

Tensor round(Tensor tensor, ElementKind kind) {
  if (isFloat(kind) && isFloat(tensor.kind)) { // In place, to save memory.
    tensor.kind = kind;
    for (double &value : tensor.floats())
      value = roundTo(kind, value);
    return tensor;
  }
  Tensor result(kind, tensor.shape);
  for (int64_t i = 0; i < tensor.size(); ++i)
    result[i] = roundTo(kind, std::as_const(tensor).number(i));
  return result;
}

bool sameBits(const Tensor &a, const Tensor &b) {
  auto same = [](double x, double y) {
    return (std::isnan(x) && std::isnan(y)) ||
           (x == y && std::signbit(x) == std::signbit(y));
  };
  if (a.kind != b.kind || a.shape != b.shape)
    return false;
  if (!isFloat(a.kind))
    return a.integers() == b.integers();
  return std::equal(a.floats().begin(), a.floats().end(), b.floats().begin(),
                    b.floats().end(), same);
}

/// |actual − expected| of integers, which may not be exact in double.
static double errorOf(int64_t actual, int64_t expected) {
  const auto a = static_cast<uint64_t>(std::max(actual, expected));
  const auto b = static_cast<uint64_t>(std::min(actual, expected));
  return static_cast<double>(a - b);
}

/// The part of |actual − expected| that exceeds rounding.
static double errorOf(ElementKind kind, double actual, double expected) {
  if (actual == expected || (std::isnan(actual) && std::isnan(expected)))
    return 0;
  if (!std::isfinite(actual) || !std::isfinite(expected))
    return std::numeric_limits<double>::infinity();
  const bool isNarrow = kind == ElementKind::F16 || kind == ElementKind::BF16;
  return std::max(0.0, std::fabs(actual - expected) -
                           (isNarrow ? ulp(kind, expected) / 2 : 0.0));
}

double nmse(const Tensor &actual, const Tensor &expected) {
  if (actual.shape != expected.shape)
    return std::numeric_limits<double>::infinity();
  double errors = 0, squares = 0;
  for (int64_t i = 0; i < expected.size(); ++i) {
    const double error = isFloat(actual.kind) || isFloat(expected.kind)
                             ? errorOf(expected.kind, actual[i], expected[i])
                             : errorOf(actual.integer(i), expected.integer(i));
    errors += error * error;
    if (std::isfinite(expected[i]))
      squares += expected[i] * expected[i];
  }
  return errors == 0 ? 0 : errors / squares;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

std::string typeString(const Tensor &tensor) {
  std::string text = "tensor<";
  for (int64_t size : tensor.shape)
    text += std::to_string(size) + "x";
  return text + elementKindName(tensor.kind) + ">";
}

static std::string numberString(ElementKind kind, Number value) {
  if (value.isInteger())
    return std::to_string(value.toInteger());
  char buffer[40];
  // Enough digits to distinguish values of the type.
  const int digits = kind == ElementKind::F32 ? 9 : 5;
  std::snprintf(buffer, sizeof buffer, "%.*g", digits, value.toDouble());
  return buffer;
}

static void appendNumbers(const Tensor &tensor, int64_t d, int64_t &next,
                          std::string &text) {
  if (d == tensor.rank()) {
    text += numberString(tensor.kind, tensor.number(next++));
    return;
  }
  const int64_t most = 16; // Printed elements per dimension.
  const int64_t inner = innerSize(tensor.shape, d);
  text += "[";
  for (int64_t i = 0; i < tensor.dim(d); ++i) {
    if (i == most) {
      text += ", …";
      next += (tensor.dim(d) - most) * inner;
      break;
    }
    if (i > 0)
      text += ", ";
    appendNumbers(tensor, d + 1, next, text);
  }
  text += "]";
}

std::string toString(const Tensor &tensor) {
  std::string text = typeString(tensor) + " ";
  int64_t next = 0;
  appendNumbers(tensor, 0, next, text);
  return text;
}

} // namespace llmir::reference
