// RUN: llmir-codegen-tests --gtest_filter='ReductionKernels*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layer norm, RMS norm without a weight, and softmax.
//
//===----------------------------------------------------------------------===//

#include "KernelTest.h"

#include <algorithm>
#include <cmath>

using namespace llmir;
using namespace llmir::test;

namespace {

class ReductionKernels : public KernelTest {};

StepInputs inputsOf(int64_t rows) {
  StepInputs inputs;
  inputs.numTokens = rows;
  inputs.logitRows.resize(rows);
  return inputs;
}

struct Norm {
  int64_t groups, columns;
  double eps;
  RowSpace over = RowSpace::Tokens;
  bool hasWeight = false, hasBias = false, subtractsMean = true;
  std::vector<float> weight = {}, bias = {}, x = {};
  unsigned in = 0, out = 0;

  /// The first rows, in f64.
  std::vector<double> expected(int64_t rows) const {
    std::vector<double> result;
    for (int64_t g = 0; g < rows * groups; ++g) {
      const float *values = x.data() + g * columns;
      double mean = 0, squares = 0;
      for (int64_t i = 0; i < columns && subtractsMean; ++i)
        mean += static_cast<double>(values[i]) / columns;
      for (int64_t i = 0; i < columns; ++i)
        squares += (values[i] - mean) * (values[i] - mean);
      double scale = 1 / std::sqrt(squares / columns + eps);
      for (int64_t i = 0; i < columns; ++i)
        result.push_back((values[i] - mean) * scale *
                             (hasWeight ? weight[i] : 1.0) +
                         (hasBias ? bias[i] : 0.0));
    }
    return result;
  }
};

const std::pair<int64_t, int64_t> kShapes[] = {{1, 64}, {1, 60}, {1, 7}, {1, 1},
                                               {6, 10}, {3, 64}, {5, 33}};

} // namespace

TEST_P(ReductionKernels, LayerNormAgreesWithFloat64) {
  std::vector<Norm> norms;
  for (auto [groups, columns] : kShapes)
    for (auto [weight, bias] : {std::pair(false, false), std::pair(true, false),
                                std::pair(false, true), std::pair(true, true)})
      norms.push_back({groups, columns, 1e-5,
                       weight ? RowSpace::Tokens : RowSpace::LogitRows, weight,
                       bias});
  Random random(7);
  std::vector<unsigned> outputs;
  for (Norm &norm : norms) {
    int64_t width = norm.groups * norm.columns;
    norm.weight = random.values(norm.columns, 0.5f, 1.5f);
    norm.bias = random.values(norm.columns, -1.0f, 1.0f);
    norm.x = random.values(kMaxRows * width, -3.0f, 3.0f);
    // Row 1: zeros, so that only eps remains. Row 2: differences that are small
    // relative to the mean. Row 3: large values.
    for (int64_t i = 0; i < width; ++i) {
      norm.x[width + i] = 0;
      norm.x[2 * width + i] += 5000;
      norm.x[3 * width + i] *= 1e12f;
    }
    norm.in = program.addBuffer(kMaxRows, width);
    norm.out = program.addBuffer(kMaxRows, width);
    program.call<kernel::LayerNormOp>(
        program.weight(norm.hasWeight ? program.addVector(norm.weight) : ""),
        program.weight(norm.hasBias ? program.addVector(norm.bias) : ""),
        program[norm.in], program[norm.out], norm.columns, norm.groups,
        norm.eps, norm.over);
    outputs.push_back(norm.out);
  }
  ASSERT_NO_FATAL_FAILURE(load());
  for (const Norm &norm : norms)
    loaded->setRows(norm.in, norm.x);
  for (int64_t rows : kRowCounts) {
    run(inputsOf(rows), outputs, rows);
    for (const Norm &norm : norms)
      EXPECT_LE(
          normalizedError(loaded->rows(norm.out, rows), norm.expected(rows)),
          1e-10)
          << norm.groups << " x " << norm.columns << ", " << rows << " rows";
  }
}

TEST_P(ReductionKernels, LayerNormKeepsSmallDifferencesFromALargeMean) {
  constexpr int64_t columns = 60;
  Norm norm{1, columns, 1e-6};
  Random random(17);
  for (int64_t i = 0; i < columns; ++i)
    norm.x.push_back(65536 + 0.5f * static_cast<float>(random.bits() % 9));
  norm.in = program.addBuffer(kMaxRows, columns);
  norm.out = program.addBuffer(kMaxRows, columns);
  program.call<kernel::LayerNormOp>(
      /*weight=*/mlir::Value(), /*bias=*/mlir::Value(), program[norm.in],
      program[norm.out], columns, /*groups=*/1, norm.eps);
  ASSERT_NO_FATAL_FAILURE(load());
  loaded->setRows(norm.in, norm.x);
  run(inputsOf(1), {norm.out}, 1);
  EXPECT_LE(normalizedError(loaded->rows(norm.out, 1), norm.expected(1)),
            1e-10);
}

TEST_P(ReductionKernels, RmsNormWithoutWeightAgreesWithFloat64) {
  std::vector<Norm> norms;
  std::vector<unsigned> outputs;
  Random random(23);
  for (auto [groups, columns] : kShapes) {
    Norm norm{groups, columns, 1e-6};
    norm.subtractsMean = false;
    norm.x = random.values(kMaxRows * groups * columns, -3.0f, 3.0f);
    norm.in = program.addBuffer(kMaxRows, groups * columns);
    norm.out = program.addBuffer(kMaxRows, groups * columns);
    program.call<kernel::RmsNormOp>(/*weight=*/mlir::Value(), program[norm.in],
                                    program[norm.out], columns, groups,
                                    norm.eps);
    outputs.push_back(norm.out);
    norms.push_back(std::move(norm));
  }
  ASSERT_NO_FATAL_FAILURE(load());
  for (const Norm &norm : norms)
    loaded->setRows(norm.in, norm.x);
  for (int64_t rows : kRowCounts) {
    run(inputsOf(rows), outputs, rows);
    for (const Norm &norm : norms)
      EXPECT_LE(
          normalizedError(loaded->rows(norm.out, rows), norm.expected(rows)),
          1e-10)
          << norm.groups << " x " << norm.columns << ", " << rows << " rows";
  }
}

namespace {
struct Softmax {
  int64_t groups, columns;
  std::vector<float> x;
  unsigned in = 0, out = 0;

  std::vector<double> expected(int64_t rows) const {
    std::vector<double> result;
    for (int64_t g = 0; g < rows * groups; ++g) {
      const float *values = x.data() + g * columns;
      double most = *std::max_element(values, values + columns), sum = 0;
      for (int64_t i = 0; i < columns; ++i)
        sum += std::exp(values[i] - most);
      for (int64_t i = 0; i < columns; ++i)
        // A group of all -inf yields zeros.
        result.push_back(std::isinf(most) ? 0
                                          : std::exp(values[i] - most) / sum);
    }
    return result;
  }
};
} // namespace

TEST_P(ReductionKernels, SoftmaxAgreesWithFloat64) {
  std::vector<Softmax> cases;
  std::vector<unsigned> outputs;
  Random random(29);
  for (auto [groups, columns] : kShapes) {
    Softmax c{groups, columns,
              random.values(kMaxRows * groups * columns, -8.0f, 8.0f)};
    int64_t width = groups * columns;
    for (int64_t i = 0; i < width; ++i) {
      c.x[width + i] *= 1e30f;        // Row 1: one stands out.
      c.x[2 * width + i] += 1e4f;     // Row 2: far from zero.
      c.x[3 * width + i] = -INFINITY; // Row 3: nothing.
      if (i % 3 == 1)
        c.x[4 * width + i] = -INFINITY; // Row 4: in part.
    }
    c.in = program.addBuffer(kMaxRows, width);
    c.out = program.addBuffer(kMaxRows, width);
    program.call<kernel::SoftmaxOp>(program[c.in], program[c.out], columns,
                                    groups);
    outputs.push_back(c.out);
    cases.push_back(std::move(c));
  }
  ASSERT_NO_FATAL_FAILURE(load());
  for (const Softmax &c : cases)
    loaded->setRows(c.in, c.x);
  for (int64_t rows : kRowCounts) {
    run(inputsOf(rows), outputs, rows);
    for (const Softmax &c : cases)
      EXPECT_LE(normalizedError(loaded->rows(c.out, rows), c.expected(rows)),
                1e-10)
          << c.groups << " x " << c.columns << ", " << rows << " rows";
  }
}

TEST_P(ReductionKernels, WorkInPlace) {
  constexpr int64_t rows = 4;
  unsigned x = program.addBuffer(kMaxRows, 60),
           out = program.addBuffer(kMaxRows, 60);
  unsigned norm = program.addBuffer(kMaxRows, 60),
           normOut = program.addBuffer(kMaxRows, 60);
  auto callSoftmax = [&](unsigned in, unsigned to) {
    program.call<kernel::SoftmaxOp>(program[in], program[to], 10, 6);
  };
  auto callLayerNorm = [&](unsigned in, unsigned to) {
    program.call<kernel::LayerNormOp>(
        /*weight=*/mlir::Value(), /*bias=*/mlir::Value(), program[in],
        program[to], 10, 6, 1e-5);
  };
  callSoftmax(x, out);
  program.barrier();
  callSoftmax(x, x);
  callLayerNorm(norm, normOut);
  program.barrier();
  callLayerNorm(norm, norm);
  ASSERT_NO_FATAL_FAILURE(load());
  Random random(31);
  loaded->setRows(x, random.values(rows * 60));
  loaded->setRows(norm, random.values(rows * 60));
  loaded->run(inputsOf(rows), 2);
  EXPECT_TRUE(sameBits(loaded->rows(out, rows), loaded->rows(x, rows)));
  EXPECT_TRUE(sameBits(loaded->rows(normOut, rows), loaded->rows(norm, rows)));
}

LLMIR_TEST_ALL_LEVELS(ReductionKernels);
