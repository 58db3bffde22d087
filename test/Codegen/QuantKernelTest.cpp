// RUN: llmir-codegen-tests --gtest_filter='QuantKernels*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Quantization, dequantization and the computation of scales.
//
//===----------------------------------------------------------------------===//

#include "KernelTest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <algorithm>
#include <cmath>

using namespace llmir;
using namespace llmir::test;

namespace {

int64_t product(llvm::ArrayRef<int64_t> sizes) {
  int64_t result = 1;
  for (int64_t size : sizes)
    result *= size;
  return result;
}

/// The cells of a tensor that share a scale.
struct Grid {
  std::vector<int64_t> shape, cell;
  int64_t columns, gridColumns;
};

/// A tensor with a grid of scales, and its buffers.
struct QuantTensor {
  Grid grid;
  int64_t bits = 8;
  bool symmetric = true;
  bool i32ZeroPoints = false;
  std::vector<float> x = {}, scales = {}, zeroPoints = {};
  unsigned in = 0, scaleBuffer = 0, zeroPointBuffer = 0, out = 0;

  int64_t size() const { return product(grid.shape); }
  int64_t rows() const { return size() / grid.columns; }
  int64_t cells() const {
    int64_t result = 1;
    for (auto [extent, cell] : llvm::zip(grid.shape, grid.cell))
      result *= ceilDiv(extent, cell);
    return result;
  }
  int64_t gridRows() const { return cells() / grid.gridColumns; }
  float least() const {
    return -std::ldexp(1.0f, static_cast<int>(bits) - 1) + (symmetric ? 1 : 0);
  }
  float greatest() const {
    return std::ldexp(1.0f, static_cast<int>(bits) - 1) - 1;
  }
  /// The cell of element i, index by index.
  int64_t cellOf(int64_t i) const {
    int64_t cell = 0, stride = 1;
    for (size_t d = grid.shape.size(); d-- > 0;) {
      cell += i % grid.shape[d] / grid.cell[d] * stride;
      stride *= ceilDiv(grid.shape[d], grid.cell[d]);
      i /= grid.shape[d];
    }
    return cell;
  }
};

/// All layouts of scales, on tensors of several shapes.
std::vector<QuantTensor> tensors() {
  std::vector<QuantTensor> result;
  auto add = [&](const Grid &grid) {
    for (auto [bits, symmetric] : {std::pair(8, true), std::pair(8, false),
                                   std::pair(4, false), std::pair(16, true)})
      result.push_back({grid, bits, symmetric});
  };
  add({{33, 60}, {33, 60}, 60, 1});     // One scale.
  add({{33, 60}, {1, 60}, 60, 33});     // One for each row,
  add({{7, 60}, {7, 1}, 60, 60});       // for each column,
  add({{7, 64}, {1, 32}, 64, 2});       // for 32 elements of a row,
  add({{7, 60}, {1, 20}, 60, 3});       // for 20,
  add({{64, 37}, {16, 1}, 37, 37});     // for 16 in a column.
  add({{3, 5, 18}, {3, 1, 18}, 90, 5}); // One for a middle dimension.
  add({{3, 5, 18}, {1, 1, 6}, 90, 15}); // Groups of a tensor of rank 3.
  add({{50}, {50}, 50, 1});             // A vector.
  add({{1, 1}, {1, 1}, 1, 1});          // One number.
  return result;
}

/// x / scale as f32 gives it, rounded to an even integer; 0 for the scale 0.
float quotient(float x, float scale) {
  return scale == 0 ? 0 : std::nearbyintf(x / scale);
}

class QuantKernels : public KernelTest {
protected:
  /// Buffers for x and its scales.
  void addOperands(QuantTensor &tensor) {
    tensor.in = program.addBuffer(tensor.rows(), tensor.grid.columns);
    int64_t columns = tensor.grid.gridColumns;
    tensor.scaleBuffer = program.addBuffer(tensor.gridRows(), columns);
    if (tensor.i32ZeroPoints)
      tensor.zeroPointBuffer = program.addIntegers(tensor.gridRows(), columns);
    else if (!tensor.symmetric)
      tensor.zeroPointBuffer = program.addBuffer(tensor.gridRows(), columns);
  }
  mlir::Value zeroPointsOf(const QuantTensor &tensor) {
    return tensor.symmetric ? mlir::Value() : program[tensor.zeroPointBuffer];
  }
  void randomScales(QuantTensor &tensor, Random &random) {
    tensor.scales = random.values(tensor.cells(), 0.01f, 0.05f);
    tensor.scales.back() = 0;
    tensor.i32ZeroPoints = tensor.bits == 4 && !tensor.symmetric;
    for (int64_t i = 0; i < tensor.cells(); ++i)
      tensor.zeroPoints.push_back(
          tensor.symmetric ? 0
                           : std::nearbyintf(random.uniform(
                                 tensor.least(), tensor.greatest())));
  }
  void setOperands(const QuantTensor &tensor) {
    loaded->setRows(tensor.in, tensor.x);
    loaded->setRows(tensor.scaleBuffer, tensor.scales);
    if (tensor.i32ZeroPoints)
      loaded->setIntegers(tensor.zeroPointBuffer,
                          {tensor.zeroPoints.begin(), tensor.zeroPoints.end()});
    else if (!tensor.symmetric)
      loaded->setRows(tensor.zeroPointBuffer, tensor.zeroPoints);
  }
};

std::string describe(const QuantTensor &tensor) {
  std::string text = std::to_string(tensor.bits) + " bits, cells of";
  for (int64_t size : tensor.grid.cell)
    text += " " + std::to_string(size);
  return text + (tensor.symmetric ? ", symmetric" : ", asymmetric");
}

} // namespace

TEST_P(QuantKernels, QuantizeIsExact) {
  Random random(51);
  std::vector<QuantTensor> cases = tensors();
  std::vector<WrittenRows> outputs;
  for (QuantTensor &tensor : cases) {
    randomScales(tensor, random);
    tensor.x = random.values(tensor.size(), -9.0f, 9.0f);
    addOperands(tensor);
    tensor.out = program.addBuffer(tensor.rows(), tensor.grid.columns);
    const Grid &grid = tensor.grid;
    program.call<kernel::QuantizeOp>(
        program[tensor.in], program[tensor.scaleBuffer], zeroPointsOf(tensor),
        program[tensor.out], tensor.bits, grid.shape, grid.cell, grid.columns,
        grid.gridColumns);
    outputs.push_back({tensor.out, tensor.rows()});
  }
  ASSERT_NO_FATAL_FAILURE(load());
  for (const QuantTensor &tensor : cases)
    setOperands(tensor);
  run(StepInputs(), outputs);
  for (const QuantTensor &tensor : cases) {
    std::vector<float> expected;
    for (int64_t i = 0; i < tensor.size(); ++i) {
      int64_t cell = tensor.cellOf(i);
      float q =
          quotient(tensor.x[i], tensor.scales[cell]) + tensor.zeroPoints[cell];
      expected.push_back(std::clamp(q, tensor.least(), tensor.greatest()));
    }
    EXPECT_TRUE(sameBits(loaded->rows(tensor.out, tensor.rows()), expected))
        << describe(tensor);
  }
}

TEST_P(QuantKernels, DequantizeIsExact) {
  Random random(53);
  std::vector<QuantTensor> cases = tensors();
  std::vector<WrittenRows> outputs;
  for (QuantTensor &tensor : cases) {
    randomScales(tensor, random);
    for (int64_t i = 0; i < tensor.size(); ++i)
      tensor.x.push_back(
          std::nearbyintf(random.uniform(tensor.least(), tensor.greatest())));
    addOperands(tensor);
    tensor.out = program.addBuffer(tensor.rows(), tensor.grid.columns);
    const Grid &grid = tensor.grid;
    program.call<kernel::DequantizeOp>(
        program[tensor.in], program[tensor.scaleBuffer], zeroPointsOf(tensor),
        program[tensor.out], grid.shape, grid.cell, grid.columns,
        grid.gridColumns);
    outputs.push_back({tensor.out, tensor.rows()});
  }
  ASSERT_NO_FATAL_FAILURE(load());
  for (const QuantTensor &tensor : cases)
    setOperands(tensor);
  run(StepInputs(), outputs);
  for (const QuantTensor &tensor : cases) {
    std::vector<float> expected;
    for (int64_t i = 0; i < tensor.size(); ++i) {
      int64_t cell = tensor.cellOf(i);
      expected.push_back(tensor.scales[cell] *
                         (tensor.x[i] - tensor.zeroPoints[cell]));
    }
    EXPECT_EQ(loaded->rows(tensor.out, tensor.rows()), expected)
        << describe(tensor);
  }
}

TEST_P(QuantKernels, ScalesAndZeroPointsUseTheRange) {
  Random random(57);
  std::vector<QuantTensor> cases = tensors();
  std::vector<WrittenRows> outputs;
  for (QuantTensor &tensor : cases) {
    tensor.x = random.values(tensor.size(), -3.0f, 5.0f);
    // A cell of zeros, and one of positive numbers, whose least is 0.
    for (int64_t i = 0; i < tensor.size(); ++i) {
      int64_t cell = tensor.cellOf(i);
      if (cell == 1)
        tensor.x[i] = 0;
      if (cell == 2)
        tensor.x[i] = std::fabs(tensor.x[i]) + 1;
    }
    addOperands(tensor);
    const Grid &grid = tensor.grid;
    program.call<kernel::QuantParamsOp>(
        program[tensor.in], program[tensor.scaleBuffer], zeroPointsOf(tensor),
        tensor.bits, grid.shape, grid.cell, grid.columns, grid.gridColumns);
    outputs.push_back({tensor.scaleBuffer, tensor.gridRows()});
    if (!tensor.symmetric)
      outputs.push_back({tensor.zeroPointBuffer, tensor.gridRows()});
  }
  ASSERT_NO_FATAL_FAILURE(load());
  for (const QuantTensor &tensor : cases)
    loaded->setRows(tensor.in, tensor.x);
  run(StepInputs(), outputs);
  for (const QuantTensor &tensor : cases) {
    std::vector<float> low(tensor.cells()), high(tensor.cells());
    for (int64_t i = 0; i < tensor.size(); ++i) {
      int64_t cell = tensor.cellOf(i);
      low[cell] = std::min(low[cell], tensor.x[i]);
      high[cell] = std::max(high[cell], tensor.x[i]);
    }
    std::vector<float> scales, zeroPoints;
    for (int64_t cell = 0; cell < tensor.cells(); ++cell) {
      float lo = low[cell], hi = high[cell];
      float range = tensor.greatest() - tensor.least();
      float scale = tensor.symmetric ? std::max(-lo, hi) / tensor.greatest()
                                     : (hi - lo) / range;
      scales.push_back(scale);
      zeroPoints.push_back(
          scale == 0 ? 0
                     : std::clamp(tensor.least() - quotient(lo, scale),
                                  tensor.least(), tensor.greatest()));
    }
    EXPECT_EQ(loaded->rows(tensor.scaleBuffer, tensor.gridRows()), scales)
        << describe(tensor);
    if (!tensor.symmetric) {
      EXPECT_EQ(loaded->rows(tensor.zeroPointBuffer, tensor.gridRows()),
                zeroPoints)
          << describe(tensor);
    }
  }
}

LLMIR_TEST_ALL_LEVELS(QuantKernels);
