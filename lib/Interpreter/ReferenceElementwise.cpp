//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Interpreter/ReferenceElementwise.h"

#include "llmir/Interpreter/ReferenceNN.h"
#include "llmir/Interpreter/ReferenceRandom.h"

#include <algorithm>
#include <cmath>

namespace llmir::reference {

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static std::string shapeString(const Shape &shape) {
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "[" + text + "]";
}

Status checkAffordable(const Shape &shape) {
  constexpr int64_t most = int64_t(1) << 28;
  // A size of 0 counts as 1: the distances between numbers of an empty tensor
  // are products of its other sizes.
  int64_t count = 1;
  for (int64_t size : shape) {
    if (size < 0)
      return Status(StatusCode::InvalidArgument,
                    "the shape " + shapeString(shape) + " has a negative size");
    const int64_t factor = std::max<int64_t>(size, 1);
    count = count > most / factor ? most + 1 : count * factor;
  }
  if (count > most)
    return Status(StatusCode::ResourceExhausted,
                  "a tensor " + shapeString(shape) +
                      " has more than 2^28 numbers");
  return Status::ok();
}

Expected<Shape> broadcastShape(const Shape &a, const Shape &b) {
  const Shape &longer = a.size() >= b.size() ? a : b;
  const Shape &shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  const size_t offset = longer.size() - shorter.size();
  for (size_t d = 0; d < shorter.size(); ++d) {
    int64_t &size = result[offset + d];
    if (size == 1)
      size = shorter[d];
    else if (shorter[d] != 1 && shorter[d] != size)
      return Status(StatusCode::InvalidArgument,
                    "the shapes " + shapeString(a) + " and " + shapeString(b) +
                        " do not broadcast: " + std::to_string(size) + " and " +
                        std::to_string(shorter[d]) +
                        " are different and none is 1");
  }
  LLMIR_RETURN_IF_ERROR(checkAffordable(result));
  return result;
}

Tensor broadcastTo(const Tensor &x, const Shape &shape) {
  Tensor result(x.kind, shape);
  const size_t offset = shape.size() - x.shape.size();
  for (int64_t i = 0; i < result.size(); ++i) {
    int64_t rest = i, place = 0, factor = 1;
    for (size_t d = shape.size(); d-- > offset;) {
      const int64_t size = x.shape[d - offset];
      place += (size == 1 ? 0 : rest % shape[d]) * factor;
      rest /= shape[d];
      factor *= size;
    }
    result[i] = x[place];
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Expected<Tensor>
broadcastMap(const Tensor &a, const Tensor &b,
             const std::function<double(double, double)> &function) {
  Expected<Shape> shape = broadcastShape(a.shape, b.shape);
  if (!shape)
    return shape.takeStatus();
  return map(broadcastTo(a, *shape), broadcastTo(b, *shape), function);
}

double quotient(ElementKind kind, double a, double b) {
  if (isFloat(kind))
    return a / b;
  return b == 0 ? 0 : std::trunc(a / b);
}

double clip(double x, double least, double greatest) {
  return std::isnan(x) ? x : std::min(std::max(x, least), greatest);
}

double compare(Comparison comparison, double a, double b) {
  switch (comparison) {
  case Comparison::Equal:
    return a == b;
  case Comparison::NotEqual:
    return a != b;
  case Comparison::Less:
    return a < b;
  case Comparison::LessEqual:
    return a <= b;
  case Comparison::Greater:
    return a > b;
  case Comparison::GreaterEqual:
    return a >= b;
  }
  return 0;
}

Expected<Tensor> where(const Tensor &condition, const Tensor &a,
                       const Tensor &b) {
  Expected<Shape> shape = broadcastShape(a.shape, b.shape);
  if (shape)
    shape = broadcastShape(*shape, condition.shape);
  if (!shape)
    return shape.takeStatus();
  const Tensor chosen = broadcastTo(condition, *shape);
  const Tensor other = broadcastTo(b, *shape);
  Tensor result = broadcastTo(a, *shape);
  for (int64_t i = 0; i < result.size(); ++i)
    if (chosen[i] == 0)
      result[i] = other[i];
  return result;
}

/// The integer of type `kind` nearest to a float of which the fraction is cut.
static double toInteger(ElementKind kind, double value) {
  if (std::isnan(value))
    return 0;
  const double half = std::ldexp(1.0, bitWidth(kind) - 1);
  // The greatest i64 is no float64; the one below it stands for it.
  const double greatest =
      kind == ElementKind::I64 ? std::nextafter(half, 0.0) : half - 1;
  return clip(std::trunc(value), -half, greatest);
}

Tensor castTo(const Tensor &x, ElementKind kind) {
  Tensor result = map(x, [&](double value) {
    if (kind == ElementKind::I1)
      return value != 0 ? 1.0 : 0.0;
    return isFloat(x.kind) && !isFloat(kind) ? toInteger(kind, value)
                                             : roundTo(kind, value);
  });
  result.kind = kind;
  return result;
}

//===----------------------------------------------------------------------===//
// Numbers from nothing
//===----------------------------------------------------------------------===//

Tensor filled(ElementKind kind, const Shape &shape, double value) {
  Tensor result(kind, shape);
  std::fill(result.data.begin(), result.data.end(), value);
  return result;
}

Tensor arange(ElementKind kind, const Shape &shape, double start, double step) {
  Tensor result(kind, shape);
  for (int64_t i = 0; i < result.size(); ++i)
    result[i] = start + double(i) * step;
  return result;
}

Tensor randomNumbers(ElementKind kind, const Shape &shape, double start,
                     double end, uint64_t seed) {
  Tensor result(kind, shape);
  Random random(seed);
  for (double &value : result.data)
    value = isFloat(kind)
                ? random.real(start, end)
                : double(random.integer(int64_t(start), int64_t(end)));
  return result;
}

} // namespace llmir::reference
