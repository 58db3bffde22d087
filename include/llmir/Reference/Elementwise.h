//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reference element-wise ops on broadcast tensors, and ops that compute
// elements from their index.
//
// Integers wrap around in two's complement when rounded to their type; no
// integer op has undefined behavior. Integers beyond ±2^53 lose low bits where
// the library computes in float64.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_REFERENCE_ELEMENTWISE_H
#define LLMIR_REFERENCE_ELEMENTWISE_H

#include "llmir/Reference/NN.h"
#include "llmir/Support/Status.h"

#include <algorithm>

namespace llmir::reference {

/// Fails if a tensor of that shape exceeds 2^28 elements (2 GiB of float64) or
/// has a negative size.
Status checkAffordable(const Shape &shape);

/// Broadcasts two shapes according to NumPy's rules. Fails if two sizes differ
/// and neither is 1, or if the result is too large.
Expected<Shape> broadcastShape(const Shape &a, const Shape &b);

/// Broadcasts `x` to a compatible shape.
Tensor broadcastTo(const Tensor &x, const Shape &shape);

/// function(a[i], b[i]) of broadcast tensors; the element type is that of `a`.
/// Fails if they cannot be broadcast.
Expected<Tensor> broadcastMap(const Tensor &a, const Tensor &b,
                              const BinaryFunction &function);

/// a + b, a − b and a · b; integers wrap around.
inline double sum(double a, double b) { return a + b; }
inline double difference(double a, double b) { return a - b; }
inline double product(double a, double b) { return a * b; }
int64_t sum(int64_t a, int64_t b);
int64_t difference(int64_t a, int64_t b);
int64_t product(int64_t a, int64_t b);

/// a / b. Integer quotients are rounded toward zero, are 0 if b is 0, and wrap
/// around.
inline double quotient(double a, double b) { return a / b; }
int64_t quotient(int64_t a, int64_t b);

/// min(max(x, least), greatest); NaN is preserved.
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
/// 1 if the comparison holds, otherwise 0. NaN is not equal to, less than or
/// greater than any value.
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

/// condition[i] ? a[i] : b[i] of broadcast tensors. Fails if they cannot be
/// broadcast.
Expected<Tensor> where(const Tensor &condition, const Tensor &a,
                       const Tensor &b);

/// Converts the element type. Floats are truncated and saturated to integers,
/// with NaN becoming 0; integers wrap around; for i1, nonzero values become 1.
Tensor castTo(const Tensor &x, ElementKind kind);

/// result[i] = value.
Tensor filled(ElementKind kind, const Shape &shape, double value);

/// result[i] = start + i · step, where i is the row-major index.
Tensor arange(ElementKind kind, const Shape &shape, double start, double step);

/// Uniform in [start, end), from a seed: element i uses z, the output of step i
/// + 1 of SplitMix64 (Steele, Lea and Flood 2014) with that seed. A float is
/// start + (end − start) · floor(z / 2^11) / 2^53, an integer start + z mod
/// (end − start). Rounding to a narrow type may yield `end`.
Tensor randomNumbers(ElementKind kind, const Shape &shape, double start,
                     double end, uint64_t seed);

} // namespace llmir::reference

#endif // LLMIR_REFERENCE_ELEMENTWISE_H
