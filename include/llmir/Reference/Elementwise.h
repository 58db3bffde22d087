//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What ops mean that compute each number by itself: from tensors that broadcast
// to one shape, or from nothing but the place of the number.
//
// Integers wrap as two's complement once they are rounded to their type; no op
// of integers has an undefined case. Integers beyond ±2^53 lose low bits, as
// the numbers of the library are float64.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_REFERENCE_ELEMENTWISE_H
#define LLMIR_REFERENCE_ELEMENTWISE_H

#include "llmir/Reference/NN.h"
#include "llmir/Support/Status.h"

#include <algorithm>

namespace llmir::reference {

/// Fails where a tensor of that shape is more than a machine is asked for:
/// 2^28 numbers (2 GiB of float64), or a negative size.
Status checkAffordable(const Shape &shape);

/// The shape that two shapes broadcast to: aligned at their last dimensions,
/// equal sizes stay and a size of 1 becomes the other one. Fails where two
/// sizes are different and none is 1, or the result is not affordable.
Expected<Shape> broadcastShape(const Shape &a, const Shape &b);

/// The numbers repeated to a shape that x's shape broadcasts to.
Tensor broadcastTo(const Tensor &x, const Shape &shape);

/// function(a[i], b[i]) of tensors that broadcast to one shape; the element
/// type is a's. Fails where they do not.
Expected<Tensor> broadcastMap(const Tensor &a, const Tensor &b,
                              const BinaryFunction &function);

/// a + b, a − b and a · b; integers wrap.
inline double sum(double a, double b) { return a + b; }
inline double difference(double a, double b) { return a - b; }
inline double product(double a, double b) { return a * b; }
int64_t sum(int64_t a, int64_t b);
int64_t difference(int64_t a, int64_t b);
int64_t product(int64_t a, int64_t b);

/// a / b. Of integers the quotient toward zero, 0 where b is 0; it wraps.
inline double quotient(double a, double b) { return a / b; }
int64_t quotient(int64_t a, int64_t b);

/// min(max(x, least), greatest); NaN stays NaN.
template <typename T> T clip(T x, T least, T greatest) {
  return x != x ? x : std::min(std::max(x, least), greatest);
}

enum class Comparison {
  Equal,
  NotEqual,
  Less,
  LessEqual,
  Greater,
  GreaterEqual
};
/// 1 where it holds, else 0. NaN is unequal to all and neither less nor
/// greater.
template <typename T> T compare(Comparison comparison, T a, T b) {
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

/// a[i] where condition[i] is true, else b[i]; all three broadcast. Fails where
/// they do not.
Expected<Tensor> where(const Tensor &condition, const Tensor &a,
                       const Tensor &b);

/// The numbers as those of another type. A float becomes an integer toward
/// zero, kept within the integer's range, NaN becoming 0; an integer wraps;
/// whatever is not 0 becomes true (i1 = 1).
Tensor castTo(const Tensor &x, ElementKind kind);

/// result[i] = value.
Tensor filled(ElementKind kind, const Shape &shape, double value);

/// result[i] = start + i · step, i counting in row-major order.
Tensor arange(ElementKind kind, const Shape &shape, double start, double step);

/// Even in [start, end), made from a seed: number i is what SplitMix64 (Steele,
/// Lea and Flood 2014) with that seed gives in its (i + 1)-th step, z. A float
/// is start + (end − start) · floor(z / 2^11) / 2^53, an integer
/// start + z mod (end − start). Rounding to a short type may give `end`.
Tensor randomNumbers(ElementKind kind, const Shape &shape, double start,
                     double end, uint64_t seed);

} // namespace llmir::reference

#endif // LLMIR_REFERENCE_ELEMENTWISE_H
