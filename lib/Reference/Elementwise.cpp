//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Reference/Elementwise.h"

#include "llmir/Reference/Random.h"

#include <algorithm>
#include <limits>

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
  // Counts sizes of 0 as 1, since the strides of an empty tensor are products
  // of its other sizes.
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
                      " has more than 2^28 elements");
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
                        " differ and neither is 1");
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
    result[i] = x.number(place);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

Expected<Tensor> broadcastMap(const Tensor &a, const Tensor &b,
                              const BinaryFunction &function) {
  Expected<Shape> shape = broadcastShape(a.shape, b.shape);
  if (!shape)
    return shape.takeStatus();
  return map(broadcastTo(a, *shape), broadcastTo(b, *shape), function);
}

// Unsigned, since signed overflow is undefined in C++.
int64_t sum(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) +
                              static_cast<uint64_t>(b));
}

int64_t difference(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) -
                              static_cast<uint64_t>(b));
}

int64_t product(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) *
                              static_cast<uint64_t>(b));
}

int64_t quotient(int64_t a, int64_t b) {
  if (b == 0)
    return 0;
  return b == -1 ? difference(0, a) : a / b;
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
      result[i] = other.number(i);
  return result;
}

/// Truncates and saturates a float.
static int64_t toInteger(ElementKind kind, double value) {
  const int unused = 64 - bitWidth(kind);
  return clip(Number(value).toInteger(),
              std::numeric_limits<int64_t>::min() >> unused,
              std::numeric_limits<int64_t>::max() >> unused);
}

Tensor castTo(const Tensor &x, ElementKind kind) {
  Tensor result(kind, x.shape);
  for (int64_t i = 0; i < x.size(); ++i)
    if (kind == ElementKind::I1)
      result[i] = x[i] != 0;
    else if (isFloat(x.kind) && !isFloat(kind))
      result[i] = toInteger(kind, x[i]);
    else
      result[i] = roundTo(kind, x.number(i));
  return result;
}

//===----------------------------------------------------------------------===//
// Generated elements
//===----------------------------------------------------------------------===//

Tensor filled(ElementKind kind, const Shape &shape, double value) {
  Tensor result(kind, shape);
  for (int64_t i = 0; i < result.size(); ++i)
    result[i] = value;
  return result;
}

Tensor arange(ElementKind kind, const Shape &shape, double start, double step) {
  Tensor result(kind, shape);
  for (int64_t i = 0; i < result.size(); ++i)
    if (isFloat(kind))
      result[i] = start + double(i) * step;
    else
      result[i] =
          sum(Number(start).toInteger(), product(i, Number(step).toInteger()));
  return result;
}

Tensor randomNumbers(ElementKind kind, const Shape &shape, double start,
                     double end, uint64_t seed) {
  Tensor result(kind, shape);
  Random random(seed);
  for (int64_t i = 0; i < result.size(); ++i)
    if (isFloat(kind))
      result[i] = random.real(start, end);
    else
      result[i] =
          random.integer(Number(start).toInteger(), Number(end).toInteger());
  return result;
}

} // namespace llmir::reference
