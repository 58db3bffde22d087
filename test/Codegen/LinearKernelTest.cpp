// RUN: llmir-codegen-tests --gtest_filter='LinearKernels*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matmuls of every plain format on every level, compared with float64 and with
// the specified order of additions. For bf16 weights, both round rows first.
//
//===----------------------------------------------------------------------===//

#include "Emulation/TileEmulation.h"
#include "KernelHarness.h"

#include "llmir/Support/SmallFloat.h"

#include <cmath>
#include <map>
#include <tuple>

using namespace llmir;
using namespace llmir::test;

namespace {

constexpr int64_t kBudget = 71;
const int64_t kTokenCounts[] = {0, 1, 3, 4, 5, 17, 71};

/// One matmul of a program, and its expected result.
struct LinearCase {
  int64_t rows, columns; // N, K
  bool hasBias = false;
  RowSpace over = RowSpace::Tokens;
  std::vector<uint8_t> stored = {};
  std::vector<float> weights = {}, bias = {};
  std::vector<float> inputs = {}; ///< [kBudget, columns]; row 4 is denormal.
  unsigned x = 0, words = 0, y = 0;
};

std::vector<LinearCase> shapes() {
  return {{1, 1},     {5, 6, true},
          {172, 64},  {64, 172, true},
          {33, 96},   {16, 7, false},
          {80, 33},   {48, 64, true, RowSpace::LogitRows},
          {17, 16384}}; // Two panels of 71 rows of f32.
}

/// All shapes of a format as one program.
struct LinearProgram {
  TensorFormat format;
  std::vector<LinearCase> cases;
  std::unique_ptr<LoadedProgram> loaded;
  Status failure;

  LinearProgram(TensorFormat format, const CPULevel &level)
      : format(format), cases(shapes()) {
    Random random(static_cast<uint64_t>(format) + 1);
    KernelProgram program;
    std::string name(tensorFormatInfo(format).name);
    std::vector<WeightNames> weights;
    for (LinearCase &c : cases) {
      c.stored = randomMatrix(format, c.rows, c.columns, random);
      c.weights = decodeMatrix(format, c.rows, c.columns, c.stored);
      c.inputs = Random(1000 + c.rows).values(kBudget * c.columns, -2.0f, 2.0f);
      for (int64_t k = 0; k < c.columns; ++k)
        c.inputs[4 * c.columns + k] *= 0x1p-127f;
      c.x = program.addBuffer(kBudget, c.columns);
      c.y = program.addBuffer(kBudget, c.rows);
      weights.push_back(
          {program.addMatrix(format, c.rows, c.columns, c.stored), ""});
      if (c.hasBias) {
        c.bias = random.values(c.rows);
        weights.back().bias = program.addVector(c.bias);
      }
      if (!roundsRows())
        continue;
      c.words =
          program.addBuffer(kBudget, kernel::RoundRowsOp::words(c.columns));
      program.call<kernel::RoundRowsOp>(program[c.x], program[c.words],
                                        c.columns, c.over);
    }
    program.barrier();
    for (size_t i = 0; i < cases.size(); ++i) {
      const LinearCase &c = cases[i];
      program.call<kernel::LinearOp>(
          program.weight(weights[i].matrix), program.weight(weights[i].bias),
          program[roundsRows() ? c.words : c.x], mlir::ValueRange(),
          program[c.y], llvm::StringRef(name), c.rows, c.columns,
          /*segment=*/mlir::IntegerAttr(), /*grain=*/1, c.over);
    }
    program.finish();
    Expected<LoadedProgram> result = program.load(level);
    if (result)
      loaded = std::make_unique<LoadedProgram>(std::move(*result));
    else
      failure = result.takeStatus();
  }

  bool roundsRows() const { return format == TensorFormat::BF16; }
};

/// With `flush` denormals are zero.
float flushed(float value, bool flush) {
  return flush && std::fpclassify(value) == FP_SUBNORMAL
             ? std::copysign(0.0f, value)
             : value;
}

/// A fused multiply-add; with `flush`, denormal operands and results are zero.
float multiplyAdd(float a, float b, float c, bool flush) {
  return flushed(
      std::fma(flushed(a, flush), flushed(b, flush), flushed(c, flush)), flush);
}

/// The accumulation order of bf16 tiles: the even and the odd ones of 32 values
/// of K have a chain from zero each, whose sum is added.
float tileSumOf(const float *w, const float *x, int64_t columns) {
  float sum = 0.0f;
  for (int64_t first = 0; first < columns; first += 32) {
    float chains[2] = {0.0f, 0.0f};
    for (int64_t k = first; k < std::min(first + 32, columns); ++k) {
      float rounded = roundTo(TensorFormat::BF16, x[k]);
      chains[k % 2] = multiplyAdd(w[k], rounded, chains[k % 2], true);
    }
    sum = flushed(sum + flushed(chains[0] + chains[1], true), true);
  }
  return sum;
}

/// Output element `row` in the specified order: one chain of fused
/// multiply-adds over ascending K; bf16 in pairs, the second of each first, or
/// in the order of tiles.
float chainOf(TensorFormat format, const LinearCase &c, int64_t row,
              const float *x, Bf16Dots dots) {
  bool flush = dots != Bf16Dots::None;
  float sum = 0.0f;
  if (format == TensorFormat::BF16 && dots == Bf16Dots::AMX) {
    sum = tileSumOf(&c.weights[row * c.columns], x, c.columns);
  } else if (format == TensorFormat::BF16) {
    const float *w = &c.weights[row * c.columns];
    for (int64_t k = 0; k < c.columns; k += 2)
      for (int64_t i : {k + 1, k})
        if (i < c.columns)
          sum = multiplyAdd(w[i], roundTo(format, x[i]), sum, flush);
  } else {
    for (int64_t k = 0; k < c.columns; ++k)
      sum = std::fma(c.weights[row * c.columns + k], x[k], sum);
  }
  return c.hasBias ? sum + c.bias[row] : sum;
}

class LinearKernels : public testing::TestWithParam<
                          std::tuple<const CPULevel *, TensorFormat>> {
protected:
  void SetUp() override {
    auto [level, format] = GetParam();
    LLMIR_SKIP_UNLESS_COVERED(level, format == TensorFormat::BF16
                                         ? Products::OfBf16
                                         : Products::None);
    // Compiled once for all tests of the level and format.
    static std::map<std::pair<const CPULevel *, TensorFormat>,
                    std::unique_ptr<LinearProgram>>
        programs;
    auto &entry = programs[{level, format}];
    if (!entry)
      entry = std::make_unique<LinearProgram>(format, *level);
    program = entry.get();
    ASSERT_TRUE(program->loaded) << program->failure.message();
  }

  /// Writes `tokens` rows of every input, runs, and returns every output.
  std::vector<std::vector<float>> run(int64_t tokens, int64_t workers,
                                      int64_t firstInput = 0) {
    LoadedProgram &loaded = *program->loaded;
    loaded.clearArena();
    StepInputs inputs;
    inputs.numTokens = tokens;
    inputs.logitRows.resize(tokens);
    std::vector<unsigned> written;
    for (const LinearCase &c : program->cases) {
      std::vector<float> x = input(c, firstInput, tokens);
      loaded.setRows(c.x, x);
      written.push_back(c.y);
      if (program->roundsRows())
        written.push_back(c.words);
    }
    loaded.snapshot();
    loaded.run(inputs, workers);
    loaded.expectOnlyWritten(written, tokens);
    std::vector<std::vector<float>> results;
    for (const LinearCase &c : program->cases)
      results.push_back(loaded.rows(c.y, tokens));
    return results;
  }

  /// Rows [first, first + tokens) of the case's input.
  std::vector<float> input(const LinearCase &c, int64_t first,
                           int64_t tokens) const {
    return {c.inputs.begin() + first * c.columns,
            c.inputs.begin() + (first + tokens) * c.columns};
  }

  LinearProgram *program = nullptr;
};

std::string label(const LinearCase &c, int64_t tokens) {
  return std::to_string(c.rows) + "x" + std::to_string(c.columns) + ", " +
         std::to_string(tokens) + " tokens";
}

} // namespace

TEST_P(LinearKernels, AgreeWithFloat64) {
  for (int64_t tokens : kTokenCounts) {
    auto results = run(tokens, 1);
    for (size_t i = 0; i < results.size(); ++i) {
      const LinearCase &c = program->cases[i];
      std::vector<float> x = input(c, 0, tokens);
      if (program->roundsRows())
        for (float &value : x)
          value = roundTo(program->format, value);
      std::vector<double> expected(tokens * c.rows);
      for (int64_t t = 0; t < tokens; ++t)
        for (int64_t n = 0; n < c.rows; ++n) {
          double sum = c.hasBias ? c.bias[n] : 0.0;
          for (int64_t k = 0; k < c.columns; ++k)
            sum += static_cast<double>(c.weights[n * c.columns + k]) *
                   x[t * c.columns + k];
          expected[t * c.rows + n] = sum;
        }
      EXPECT_LE(normalizedError(results[i], expected), 1e-10)
          << label(c, tokens);
    }
  }
}

TEST_P(LinearKernels, AddAlongAscendingColumns) {
  Bf16Dots dots = std::get<0>(GetParam())->bf16Dots;
  // Every size of register tile, alone or combined with another, and a step
  // with enough tokens that smaller ones are chosen.
  for (int64_t tokens :
       {1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 17, 27, 32, 64, 65, 71}) {
    int64_t tileDots = tileCounts().bf16Dots;
    auto results = run(tokens, 1);
    bool hasTiles = program->roundsRows() &&
                    canEmulateTiles(std::get<0>(GetParam())->name.str());
    EXPECT_EQ(tileCounts().bf16Dots > tileDots, hasTiles) << tokens;
    for (size_t i = 0; i < results.size(); ++i) {
      const LinearCase &c = program->cases[i];
      std::vector<float> x = input(c, 0, tokens), expected;
      for (int64_t t = 0; t < tokens; ++t)
        for (int64_t n = 0; n < c.rows; ++n)
          expected.push_back(
              chainOf(program->format, c, n, x.data() + t * c.columns, dots));
      EXPECT_TRUE(sameBits(results[i], expected)) << label(c, tokens);
    }
  }
}

TEST_P(LinearKernels, GiveTheSameBitsAloneAndInABatch) {
  auto batch = run(17, 1);
  for (int64_t t = 0; t < 17; ++t) {
    auto alone = run(1, 1, t);
    for (size_t i = 0; i < batch.size(); ++i) {
      const LinearCase &c = program->cases[i];
      std::vector<float> row(batch[i].begin() + t * c.rows,
                             batch[i].begin() + (t + 1) * c.rows);
      EXPECT_TRUE(sameBits(row, alone[i])) << label(c, 17) << ", token " << t;
    }
  }
}

TEST_P(LinearKernels, GiveTheSameBitsWithAnyNumberOfWorkers) {
  for (int64_t tokens : {1, 6}) {
    auto one = run(tokens, 1);
    for (int64_t workers : {2, 3, 16}) {
      auto several = run(tokens, workers);
      for (size_t i = 0; i < one.size(); ++i)
        EXPECT_TRUE(sameBits(one[i], several[i]))
            << label(program->cases[i], tokens) << ", " << workers
            << " workers";
    }
  }
}

TEST_P(LinearKernels, RoundRowsToNearestEven) {
  if (!program->roundsRows())
    GTEST_SKIP() << "rows are not rounded";
  // Ties on both sides of an even value, the greatest values, NaN.
  const float strange[] = {0x1.01p0f,   0x1.03p0f,   -0x1.01p0f, 0x1.010002p0f,
                           0x1.fep127f, 0x1.ffp127f, INFINITY,   -INFINITY,
                           NAN,         -0.0f,       0x1p-149f,  0x1.8p-134f};
  LoadedProgram &loaded = *program->loaded;
  for (const LinearCase &c : program->cases) {
    loaded.clearArena();
    std::vector<float> x = input(c, 0, 5);
    for (size_t i = 0; i < std::size(strange) && i < x.size(); ++i)
      x[(i * 7 + 1) % x.size()] = strange[i];
    loaded.setRows(c.x, x);
    StepInputs inputs;
    inputs.numTokens = 5;
    inputs.logitRows.resize(5);
    loaded.run(inputs, 2);
    std::vector<float> words = loaded.rows(c.words, 5);
    const auto *halves = reinterpret_cast<const uint16_t *>(words.data());
    int64_t stride = 2 * kernel::RoundRowsOp::words(c.columns);
    for (int64_t t = 0; t < 5; ++t) {
      for (int64_t k = 0; k < c.columns; ++k)
        EXPECT_EQ(halves[t * stride + k], floatToBf16(x[t * c.columns + k]))
            << label(c, 5) << " " << x[t * c.columns + k];
      if (c.columns % 2 != 0) {
        EXPECT_EQ(halves[t * stride + c.columns], 0) << label(c, 5);
      }
      for (float value : loaded.padding(c.words, t))
        EXPECT_EQ(value, 0.0f) << label(c, 5);
    }
  }
}

TEST_P(LinearKernels, WriteZeroBehindTheirColumns) {
  run(5, 2);
  for (const LinearCase &c : program->cases)
    for (float value : program->loaded->padding(c.y, 4))
      EXPECT_EQ(value, 0.0f) << label(c, 5);
}

INSTANTIATE_TEST_SUITE_P(
    , LinearKernels,
    testing::Combine(testing::ValuesIn(allLevels()),
                     testing::Values(TensorFormat::F32, TensorFormat::F16,
                                     TensorFormat::BF16)),
    [](const auto &info) {
      return levelName(std::get<0>(info.param)) + "_" +
             std::string(tensorFormatInfo(std::get<1>(info.param)).name);
    });
