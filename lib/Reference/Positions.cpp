//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Reference/Positions.h"

#include "llmir/Reference/Elementwise.h"

#include <cmath>

namespace llmir::reference {

static Status invalid(const std::string &cause) {
  return Status(StatusCode::InvalidArgument, cause);
}

RopeTables ropeTables(const Tensor &positions,
                      const std::vector<double> &frequencies, double scaling) {
  Shape shape = positions.shape;
  shape.push_back(static_cast<int64_t>(frequencies.size()));
  RopeTables tables{Tensor(ElementKind::F32, shape),
                    Tensor(ElementKind::F32, shape)};
  int64_t next = 0;
  for (int64_t t = 0; t < positions.size(); ++t)
    for (double frequency : frequencies) {
      tables.cosines[next] = scaling * std::cos(positions[t] * frequency);
      tables.sines[next++] = scaling * std::sin(positions[t] * frequency);
    }
  return tables;
}

Expected<RopeTables> selectPlanes(const RopeTables &tables,
                                  const std::vector<int64_t> &sections) {
  const Tensor &cosines = tables.cosines;
  const int64_t planes = cosines.dim(0), tokens = cosines.dim(1);
  const int64_t pairs = cosines.dim(2);
  if (cosines.shape != tables.sines.shape)
    return invalid("sines are " + typeString(tables.sines) + ", but cosines " +
                   typeString(cosines));
  std::vector<int64_t> planeOf; // [R]
  for (size_t i = 0; i < sections.size(); ++i) {
    const int64_t left = pairs - static_cast<int64_t>(planeOf.size());
    if (planes < 1 || sections[i] < 0 || sections[i] > left)
      return invalid("the sections do not sum to " + std::to_string(pairs) +
                     " pairs in " + std::to_string(planes) + " planes");
    planeOf.insert(planeOf.end(), static_cast<size_t>(sections[i]),
                   static_cast<int64_t>(i) % planes);
  }
  if (static_cast<int64_t>(planeOf.size()) != pairs)
    return invalid("the sections sum to " + std::to_string(planeOf.size()) +
                   " pairs, but the tables have " + std::to_string(pairs));
  RopeTables result{Tensor(cosines.kind, {tokens, pairs}),
                    Tensor(cosines.kind, {tokens, pairs})};
  for (int64_t t = 0; t < tokens; ++t)
    for (int64_t j = 0; j < pairs; ++j) {
      const int64_t plane = planeOf[static_cast<size_t>(j)];
      result.cosines.at({t, j}) = cosines.at({plane, t, j});
      result.sines.at({t, j}) = tables.sines.at({plane, t, j});
    }
  return result;
}

Expected<RopeTables> visionTables(const PatchGrid &grid, int64_t pairs,
                                  double theta) {
  if (grid.times < 0 || grid.rows < 0 || grid.columns < 0 || grid.merge < 1 ||
      grid.rows % grid.merge != 0 || grid.columns % grid.merge != 0)
    return invalid("a grid of " + std::to_string(grid.times) + "x" +
                   std::to_string(grid.rows) + "x" +
                   std::to_string(grid.columns) +
                   " patches is not divisible into blocks of side " +
                   std::to_string(grid.merge));
  LLMIR_RETURN_IF_ERROR(
      checkAffordable({grid.times, grid.rows, grid.columns, pairs}));
  const int64_t patches = grid.times * grid.rows * grid.columns;
  RopeTables result{Tensor(ElementKind::F32, {patches, pairs}),
                    Tensor(ElementKind::F32, {patches, pairs})};
  const int64_t half = pairs / 2, blocks = grid.columns / grid.merge;
  for (int64_t patch = 0; patch < patches; ++patch) {
    // Patch `inner` of block `outer` of its frame.
    const int64_t side = grid.merge;
    const int64_t place = patch % (grid.rows * grid.columns);
    const int64_t outer = place / (side * side), inner = place % (side * side);
    const int64_t row = outer / blocks * side + inner / side;
    const int64_t column = outer % blocks * side + inner % side;
    for (int64_t j = 0; j < 2 * half; ++j) {
      const double frequency =
          std::pow(theta, -2.0 * double(j % half) / double(pairs));
      const double angle = double(j < half ? row : column) * frequency;
      result.cosines.at({patch, j}) = std::cos(angle);
      result.sines.at({patch, j}) = std::sin(angle);
    }
  }
  return result;
}

static Status checkTables(const Tensor &x, const RopeTables &tables,
                          int64_t tokenDim) {
  const Tensor &cosines = tables.cosines;
  const bool areOwn = cosines.rank() == 3;
  if (cosines.shape != tables.sines.shape)
    return invalid("sines are " + typeString(tables.sines) + ", but cosines " +
                   typeString(cosines));
  if (cosines.dim(-2) != x.dim(tokenDim) || 2 * cosines.dim(-1) > x.dim(-1) ||
      (areOwn && cosines.dim(0) != 1 && cosines.dim(0) != x.dim(0)))
    return invalid("tables " + typeString(cosines) + " do not match " +
                   typeString(x) + " with tokens in dimension " +
                   std::to_string(tokenDim));
  return Status::ok();
}

Expected<Tensor> rotate(const Tensor &x, const RopeTables &tables,
                        int64_t tokenDim) {
  LLMIR_RETURN_IF_ERROR(checkTables(x, tables, tokenDim));
  Tensor result = x;
  if (x.size() == 0)
    return result;
  const int64_t pairs = tables.cosines.dim(-1), tokens = x.dim(tokenDim);
  int64_t rowsPerToken = 1; // Rows of heads per token.
  for (int64_t d = tokenDim + 1; d < x.rank() - 1; ++d)
    rowsPerToken *= x.dim(d);
  const bool areOwn = tables.cosines.rank() == 3 && tables.cosines.dim(0) > 1;
  const int64_t rowsPerSequence = areOwn ? x.rows() / x.dim(0) : x.rows();
  for (int64_t row = 0; row < x.rows(); ++row) {
    const int64_t token =
        row / rowsPerSequence * tokens + row / rowsPerToken % tokens;
    for (int64_t j = 0; j < pairs; ++j) {
      const double c = tables.cosines.row(token)[j];
      const double s = tables.sines.row(token)[j];
      const double a = x.row(row)[j], b = x.row(row)[j + pairs];
      result.row(row)[j] = a * c - b * s;
      result.row(row)[j + pairs] = b * c + a * s;
    }
  }
  return result;
}

Tensor causalMask(const Tensor &scores, int64_t window) {
  Tensor result = scores;
  const int64_t queries = scores.dim(-2), keys = scores.dim(-1);
  for (int64_t row = 0; row < scores.rows(); ++row) {
    const int64_t position =
        keys - queries + row % std::max<int64_t>(queries, 1);
    for (int64_t c = 0; c < keys; ++c)
      if (c > position || (window > 0 && c <= position - window))
        result.row(row)[c] = maskedScore;
  }
  return result;
}

} // namespace llmir::reference
