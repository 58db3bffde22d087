//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Reference/Reduce.h"

#include "llmir/Reference/Elementwise.h"

#include <algorithm>
#include <limits>

namespace llmir::reference {

/// The initial value of a maximum (the least integer) or a minimum (the
/// greatest).
static int64_t extreme(ReduceKind kind, ElementKind type) {
  if (type == ElementKind::I1)
    return kind == ReduceKind::Min;
  const int unused = 64 - bitWidth(type);
  return kind == ReduceKind::Max
             ? std::numeric_limits<int64_t>::min() >> unused
             : std::numeric_limits<int64_t>::max() >> unused;
}

/// The reduction of no elements.
static Number startOf(ReduceKind kind, ElementKind type) {
  if (kind == ReduceKind::Sum || kind == ReduceKind::Mean)
    return isFloat(type) ? Number(0.0) : Number(0);
  if (!isFloat(type))
    return extreme(kind, type);
  constexpr double infinity = std::numeric_limits<double>::infinity();
  return kind == ReduceKind::Max ? -infinity : infinity;
}

template <typename T> static T combine(ReduceKind kind, T before, T value) {
  if (kind == ReduceKind::Sum || kind == ReduceKind::Mean)
    return sum(before, value);
  if (before != before || value != value) // NaN
    return std::numeric_limits<T>::quiet_NaN();
  return kind == ReduceKind::Max ? std::max(before, value)
                                 : std::min(before, value);
}

static Number combine(ReduceKind kind, Number before, Number value) {
  return value.isInteger()
             ? Number(combine(kind, before.toInteger(), value.toInteger()))
             : Number(combine(kind, before.toDouble(), value.toDouble()));
}

Tensor reduce(const Tensor &x, std::optional<int64_t> dim, bool keepDim,
              ReduceKind kind) {
  if (!dim) {
    Shape shape(keepDim ? x.shape.size() : 0, 1);
    return reduce(x.reshaped({x.size()}), 0, true, kind).reshaped(shape);
  }
  const int64_t count = x.dim(*dim);
  int64_t inner = 1;
  for (int64_t d = *dim + 1; d < x.rank(); ++d)
    inner *= x.dim(d);
  Shape shape = x.shape;
  shape[static_cast<size_t>(*dim)] = 1;
  Tensor result(x.kind, shape);
  for (int64_t i = 0; i < result.size(); ++i) {
    const int64_t first = i / inner * inner * count + i % inner;
    Number value = startOf(kind, x.kind);
    for (int64_t k = 0; k < count; ++k)
      value = combine(kind, value, x.number(first + k * inner));
    result[i] =
        kind == ReduceKind::Mean ? value.toDouble() / double(count) : value;
  }
  if (!keepDim)
    shape.erase(shape.begin() + *dim);
  return result.reshaped(shape);
}

} // namespace llmir::reference
