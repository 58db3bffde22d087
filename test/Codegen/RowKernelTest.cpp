// RUN: llmir-codegen-tests --gtest_filter='RowKernels*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels that process rows: embedding, row selection, norms and element-wise
// chains.
//
//===----------------------------------------------------------------------===//

#include "KernelTest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <algorithm>
#include <cmath>

using namespace llmir;
using namespace llmir::test;

namespace {

constexpr int64_t kBudget = 12;

class RowKernels : public KernelTest {};

const TensorFormat kFormats[] = {
#define LLMIR_TENSOR_FORMAT(Enum, ...) TensorFormat::Enum,
#include "llmir/Support/TensorFormats.def"
};

} // namespace

TEST_P(RowKernels, EmbeddingDecodesRowsExactly) {
  struct Table {
    TensorFormat format;
    int64_t rows, columns;
    std::vector<float> values;
    unsigned out;
  };
  std::vector<Table> tables;
  std::vector<unsigned> outputs;
  Random random(3);
  for (TensorFormat format : kFormats)
    for (int64_t columns : {7, 32, 96, 512}) {
      if (!tensorRowBytes(format, columns) || format == TensorFormat::F64)
        continue;
      int64_t rows = 37;
      auto stored = randomMatrix(format, rows, columns, random);
      unsigned out = program.addBuffer(kBudget, columns);
      std::string name = packedFormatName(format);
      program.call<kernel::EmbeddingOp>(
          program.weight(program.addMatrix(format, rows, columns, stored)),
          program[out], llvm::StringRef(name), rows, columns);
      tables.push_back({format, rows, columns,
                        decodeMatrix(format, rows, columns, stored), out});
      outputs.push_back(out);
    }
  ASSERT_NO_FATAL_FAILURE(load());

  StepInputs inputs;
  // The last three ids are out of range and clamped.
  inputs.tokenIds = {0, 36, 15, 16, 36, 1, 31, 37, INT32_MAX, -1};
  inputs.numTokens = static_cast<int64_t>(inputs.tokenIds.size());
  run(inputs, outputs, inputs.numTokens);
  for (const Table &table : tables) {
    std::vector<float> expected;
    for (int32_t id : inputs.tokenIds) {
      const float *row =
          &table.values[std::clamp<int64_t>(id, 0, table.rows - 1) *
                        table.columns];
      expected.insert(expected.end(), row, row + table.columns);
    }
    EXPECT_TRUE(sameBits(loaded->rows(table.out, inputs.numTokens), expected))
        << tensorFormatInfo(table.format).name << ", " << table.columns;
  }
}

TEST_P(RowKernels, UnpackWeightGivesAllRows) {
  struct Weight {
    std::vector<float> values;
    int64_t rows, columns;
    unsigned out;
  };
  std::vector<Weight> weights;
  std::vector<WrittenRows> outputs;
  Random random(11);
  for (TensorFormat format : kFormats) {
    if (format == TensorFormat::F64)
      continue; // Packed as f32.
    const int64_t rows = 19, columns = 256;
    auto stored = randomMatrix(format, rows, columns, random);
    const unsigned out = program.addBuffer(rows, columns);
    std::string name = packedFormatName(format);
    program.call<kernel::UnpackWeightOp>(
        program.weight(program.addMatrix(format, rows, columns, stored)),
        program[out], mlir::StringAttr::get(program.getContext(), name), rows,
        columns);
    weights.push_back(
        {decodeMatrix(format, rows, columns, stored), rows, columns, out});
    outputs.push_back({out, rows});
  }
  const std::vector<float> vector = random.values(37);
  const unsigned out = program.addBuffer(1, 37);
  program.call<kernel::UnpackWeightOp>(
      program.weight(program.addVector(vector)), program[out],
      mlir::StringAttr(), int64_t(1), int64_t(37));
  weights.push_back({vector, 1, 37, out});
  outputs.push_back({out, 1});
  ASSERT_NO_FATAL_FAILURE(load());
  run(StepInputs(), outputs);
  for (const Weight &weight : weights)
    EXPECT_TRUE(sameBits(loaded->rows(weight.out, weight.rows), weight.values))
        << weight.columns;
}

TEST_P(RowKernels, TokenIdsAreThoseOfTheStep) {
  const unsigned ids = program.addIntegers(kBudget, 1);
  const unsigned positions = program.addIntegers(kBudget, 1);
  program.call<kernel::TokenIdsOp>(program[ids], /*by_position=*/false);
  program.call<kernel::TokenIdsOp>(program[positions], /*by_position=*/true);
  ASSERT_NO_FATAL_FAILURE(load());
  StepInputs inputs;
  inputs.tokenIds = {7, 0, 151935, 3};
  inputs.positions = {11, 12, 0, 4095};
  inputs.numTokens = 4;
  run(inputs, {ids, positions}, 4);
  EXPECT_EQ(loaded->integers(ids, 4), inputs.tokenIds);
  EXPECT_EQ(loaded->integers(positions, 4), inputs.positions);
}

TEST_P(RowKernels, SelectRowsCopiesTheListedRows) {
  unsigned x = program.addBuffer(kBudget, 37);
  unsigned out = program.addBuffer(4, 37);
  program.call<kernel::SelectRowsOp>(program[x], program[out], 37);
  ASSERT_NO_FATAL_FAILURE(load());
  Random random(5);
  std::vector<float> values = random.values(9 * 37);
  loaded->setRows(x, values);
  StepInputs inputs;
  inputs.numTokens = 9;
  inputs.logitRows = {8, 0, 3, 3};
  run(inputs, {out}, 4);
  std::vector<float> expected;
  for (int32_t row : inputs.logitRows)
    expected.insert(expected.end(), &values[row * 37], &values[row * 37] + 37);
  EXPECT_TRUE(sameBits(loaded->rows(out, 4), expected));
}

TEST_P(RowKernels, SelectRowsOfNoneWritesNothing) {
  unsigned x = program.addBuffer(kBudget, 16);
  unsigned out = program.addBuffer(4, 16);
  program.call<kernel::SelectRowsOp>(program[x], program[out], 16);
  ASSERT_NO_FATAL_FAILURE(load());
  StepInputs inputs;
  inputs.numTokens = 9;
  run(inputs, {out}, 0);
}

TEST_P(RowKernels, MeanRowsAddsTheTokensOfEachSequenceInOrder) {
  const std::vector<int32_t> offsets = {0, 4, 4, 5, 12}; // One has no tokens.
  const unsigned x = program.addBuffer(kBudget, 37);
  const unsigned out = program.addBuffer(4, 37);
  program.call<kernel::MeanRowsOp>(program[x], program[out], 37);
  ASSERT_NO_FATAL_FAILURE(load());
  Random random(5);
  const std::vector<float> values = random.values(kBudget * 37);
  loaded->setRows(x, values);
  StepInputs inputs;
  inputs.numTokens = kBudget;
  inputs.queryOffsets = offsets;
  inputs.seqLens = {4, 0, 1, 7};
  inputs.logitRows = {3, 3, 4, 11};
  run(inputs, {out}, 4);
  std::vector<float> expected;
  for (size_t s = 0; s + 1 < offsets.size(); ++s)
    for (int64_t k = 0; k < 37; ++k) {
      float sum = 0;
      for (int32_t t = offsets[s]; t < offsets[s + 1]; ++t)
        sum += values[t * 37 + k];
      expected.push_back(sum / std::max(offsets[s + 1] - offsets[s], 1));
    }
  EXPECT_TRUE(sameBits(loaded->rows(out, 4), expected));
}

TEST_P(RowKernels, RmsNormAgreesWithFloat64) {
  struct Norm {
    int64_t groups, columns;
    double eps;
    RowSpace over;
    std::vector<float> weight, x;
    unsigned in, out;
  };
  std::vector<Norm> norms{{1, 64, 1e-5, RowSpace::Tokens, {}, {}, 0, 0},
                          {1, 60, 1e-6, RowSpace::LogitRows, {}, {}, 0, 0},
                          {1, 7, 1e-5, RowSpace::Tokens, {}, {}, 0, 0},
                          {1, 1, 1e-5, RowSpace::Tokens, {}, {}, 0, 0},
                          {6, 10, 1e-6, RowSpace::Tokens, {}, {}, 0, 0},
                          {3, 64, 1e-6, RowSpace::Tokens, {}, {}, 0, 0},
                          {5, 33, 1e-5, RowSpace::Tokens, {}, {}, 0, 0}};
  constexpr int64_t rows = 5;
  Random random(7);
  std::vector<unsigned> outputs;
  for (Norm &norm : norms) {
    int64_t width = norm.groups * norm.columns;
    norm.weight = random.values(norm.columns, 0.5f, 1.5f);
    norm.x = random.values(rows * width, -3.0f, 3.0f);
    // In a row of zeros only eps remains; a row of large values does not
    // overflow.
    std::fill_n(norm.x.begin() + width, width, 0.0f);
    for (int64_t i = 0; i < width; ++i)
      norm.x[2 * width + i] *= 1e12f;
    norm.in = program.addBuffer(kBudget, width);
    norm.out = program.addBuffer(kBudget, width);
    program.call<kernel::RmsNormOp>(
        program.weight(program.addVector(norm.weight)), program[norm.in],
        program[norm.out], norm.columns, norm.groups, norm.eps, norm.over);
    outputs.push_back(norm.out);
  }
  ASSERT_NO_FATAL_FAILURE(load());
  for (const Norm &norm : norms)
    loaded->setRows(norm.in, norm.x);
  StepInputs inputs;
  inputs.numTokens = rows;
  inputs.logitRows.resize(rows);
  run(inputs, outputs, rows);

  for (const Norm &norm : norms) {
    std::vector<double> expected;
    for (int64_t g = 0; g < rows * norm.groups; ++g) {
      const float *x = norm.x.data() + g * norm.columns;
      double squares = 0;
      for (int64_t i = 0; i < norm.columns; ++i)
        squares += static_cast<double>(x[i]) * x[i];
      double scale = 1 / std::sqrt(squares / norm.columns + norm.eps);
      for (int64_t i = 0; i < norm.columns; ++i)
        expected.push_back(x[i] * scale * norm.weight[i]);
    }
    EXPECT_LE(normalizedError(loaded->rows(norm.out, rows), expected), 1e-10)
        << norm.groups << " x " << norm.columns;
  }
}

TEST_P(RowKernels, RmsNormWorksInPlace) {
  unsigned x = program.addBuffer(kBudget, 60),
           copy = program.addBuffer(kBudget, 60);
  unsigned out = program.addBuffer(kBudget, 60);
  Random random(8);
  std::vector<float> weight = random.values(10), values = random.values(4 * 60);
  std::string name = program.addVector(weight);
  for (auto [from, to] : {std::pair(x, out), std::pair(copy, copy)})
    program.call<kernel::RmsNormOp>(program.weight(name), program[from],
                                    program[to], 10, 6, 1e-5);
  ASSERT_NO_FATAL_FAILURE(load());
  loaded->setRows(x, values);
  loaded->setRows(copy, values);
  StepInputs inputs;
  inputs.numTokens = 4;
  loaded->run(inputs, 1);
  EXPECT_TRUE(sameBits(loaded->rows(out, 4), loaded->rows(copy, 4)));
}

namespace {
mlir::Value silu(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x) {
  mlir::Value one =
      mlir::arith::ConstantOp::create(b, loc, b.getF32FloatAttr(1.0f));
  mlir::Value negative = mlir::arith::NegFOp::create(b, loc, x);
  mlir::Value e = mlir::math::ExpOp::create(b, loc, negative);
  mlir::Value sum = mlir::arith::AddFOp::create(b, loc, one, e);
  return mlir::arith::DivFOp::create(b, loc, x, sum);
}
} // namespace

TEST_P(RowKernels, ElementwiseChainAgreesWithFloat64) {
  struct Chain {
    int64_t columns;
    unsigned a, b, out;
    std::vector<float> x, y;
  };
  constexpr int64_t rows = 3;
  Random random(9);
  std::vector<Chain> chains;
  std::vector<unsigned> outputs;
  for (int64_t columns : {1, 16, 172, 65}) {
    Chain chain{columns,
                program.addBuffer(kBudget, columns),
                program.addBuffer(kBudget, columns),
                program.addBuffer(kBudget, columns),
                random.values(rows * columns, -12.0f, 12.0f),
                random.values(rows * columns, -3.0f, 3.0f)};
    program.callElementwise(
        {chain.a, chain.b}, chain.out, columns,
        [](mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange in) {
          return mlir::Value(
              mlir::arith::MulFOp::create(b, loc, silu(b, loc, in[0]), in[1]));
        });
    outputs.push_back(chain.out);
    chains.push_back(std::move(chain));
  }
  ASSERT_NO_FATAL_FAILURE(load());
  for (const Chain &chain : chains) {
    loaded->setRows(chain.a, chain.x);
    loaded->setRows(chain.b, chain.y);
  }
  StepInputs inputs;
  inputs.numTokens = rows;
  run(inputs, outputs, rows);
  for (const Chain &chain : chains) {
    std::vector<double> expected;
    for (size_t i = 0; i < chain.x.size(); ++i)
      expected.push_back(chain.x[i] / (1 + std::exp(-double(chain.x[i]))) *
                         chain.y[i]);
    EXPECT_LE(normalizedError(loaded->rows(chain.out, rows), expected), 1e-10)
        << chain.columns << " columns";
  }
}

TEST_P(RowKernels, SiluHoldsAtTheEnds) {
  std::vector<float> x{-1e30f, -1000.0f, -104.0f, -89.0f, -88.0f, -87.0f,
                       -20.0f, -1e-30f,  0.0f,    1e-30f, 20.0f,  87.0f,
                       88.0f,  104.0f,   1000.0f, 1e30f};
  unsigned in = program.addBuffer(kBudget, 16);
  unsigned out = program.addBuffer(kBudget, 16);
  program.callElementwise(
      {in}, out, 16,
      [](mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange values) {
        return silu(b, loc, values[0]);
      },
      /*grain=*/1, RowSpace::LogitRows);
  ASSERT_NO_FATAL_FAILURE(load());
  loaded->setRows(in, x);
  StepInputs inputs;
  inputs.logitRows = {0};
  run(inputs, {out}, 1);
  std::vector<float> result = loaded->rows(out, 1);
  for (size_t i = 0; i < x.size(); ++i) {
    double expected = x[i] / (1 + std::exp(-double(x[i])));
    EXPECT_NEAR(result[i], expected, 1e-6 * std::fabs(expected) + 1e-30)
        << x[i];
  }
}

TEST_P(RowKernels, ElementwiseWritesOverItsInput) {
  unsigned a = program.addBuffer(kBudget, 33),
           b = program.addBuffer(kBudget, 33);
  program.callElementwise(
      {a, b}, a, 33,
      [](mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange in) {
        return mlir::Value(
            mlir::arith::AddFOp::create(builder, loc, in[0], in[1]));
      });
  ASSERT_NO_FATAL_FAILURE(load());
  Random random(11);
  std::vector<float> x = random.values(7 * 33), y = random.values(7 * 33);
  loaded->setRows(a, x);
  loaded->setRows(b, y);
  StepInputs inputs;
  inputs.numTokens = 7;
  loaded->run(inputs, 2);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] += y[i];
  EXPECT_TRUE(sameBits(loaded->rows(a, 7), x));
}

LLMIR_TEST_ALL_LEVELS(RowKernels);
