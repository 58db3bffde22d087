//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Interpreter/ReferenceReduce.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace llmir::reference {

/// What the maximum of no numbers of a type is.
static double leastNumber(ElementKind kind) {
  if (isFloat(kind))
    return -std::numeric_limits<double>::infinity();
  return kind == ElementKind::I1 ? 0 : -std::ldexp(1.0, bitWidth(kind) - 1);
}

/// What the minimum of no numbers of a type is.
static double greatestNumber(ElementKind kind) {
  if (isFloat(kind))
    return std::numeric_limits<double>::infinity();
  if (kind == ElementKind::I1)
    return 1;
  const double half = std::ldexp(1.0, bitWidth(kind) - 1);
  // The greatest i64 is no float64; the one below it stands for it.
  return kind == ElementKind::I64 ? std::nextafter(half, 0.0) : half - 1;
}

static double startOf(ReduceKind kind, ElementKind type) {
  switch (kind) {
  case ReduceKind::Max:
    return leastNumber(type);
  case ReduceKind::Min:
    return greatestNumber(type);
  case ReduceKind::Sum:
  case ReduceKind::Mean:
    break;
  }
  return 0;
}

static double combine(ReduceKind kind, double before, double value) {
  if (kind == ReduceKind::Sum || kind == ReduceKind::Mean)
    return before + value;
  if (std::isnan(before) || std::isnan(value))
    return std::numeric_limits<double>::quiet_NaN();
  return kind == ReduceKind::Max ? std::max(before, value)
                                 : std::min(before, value);
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
    double value = startOf(kind, x.kind);
    for (int64_t k = 0; k < count; ++k)
      value = combine(kind, value, x[first + k * inner]);
    result[i] = kind == ReduceKind::Mean ? value / double(count) : value;
  }
  if (!keepDim)
    shape.erase(shape.begin() + *dim);
  return result.reshaped(shape);
}

} // namespace llmir::reference
