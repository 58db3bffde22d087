// RUN: llmir-codegen-tests --gtest_filter='ScalarFunctions*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions of scalar regions, as element-wise kernels.
//
//===----------------------------------------------------------------------===//

#include "KernelTest.h"

#include "llmir/Dialect/MLLM/ScalarFunctions.h"
#include "llmir/Support/SmallFloat.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <algorithm>
#include <cmath>

using namespace llmir;
using namespace llmir::test;

namespace {

using Emit = mlir::Value (*)(mlir::OpBuilder &, mlir::Location, mlir::Value);

class ScalarFunctions : public KernelTest {
protected:
  using ScalarBody = KernelProgram::ScalarBody;

  /// The results of kernels with these bodies for the values, in order.
  std::vector<std::vector<float>>
  apply(const std::vector<ScalarBody> &bodies,
        const std::vector<std::vector<float>> &arguments) {
    constexpr int64_t columns = 33;
    int64_t count = static_cast<int64_t>(arguments.front().size());
    int64_t rows = (count + columns - 1) / columns;
    std::vector<unsigned> operands, outputs;
    for (size_t i = 0; i < arguments.size(); ++i)
      operands.push_back(program.addBuffer(rows, columns));
    for (const ScalarBody &body : bodies) {
      outputs.push_back(program.addBuffer(rows, columns));
      program.callElementwise(operands, outputs.back(), columns, body);
    }
    load();
    if (HasFatalFailure())
      return {};
    for (size_t i = 0; i < arguments.size(); ++i) {
      std::vector<float> padded = arguments[i];
      padded.resize(rows * columns);
      loaded->setRows(operands[i], padded);
    }
    StepInputs inputs;
    inputs.numTokens = rows;
    run(inputs, outputs, rows);
    std::vector<std::vector<float>> results;
    for (unsigned output : outputs) {
      results.push_back(loaded->rows(output, rows));
      results.back().resize(count);
    }
    return results;
  }
  std::vector<float> apply(Emit emit, const std::vector<float> &x) {
    ScalarBody body = [emit](mlir::OpBuilder &b, mlir::Location loc,
                             mlir::ValueRange in) {
      return emit(b, loc, in[0]);
    };
    auto results = apply({body}, {x});
    return results.empty() ? std::vector<float>() : results.front();
  }
};

/// Values of all magnitudes between -12 and 12, and some large ones.
std::vector<float> everySize() {
  std::vector<float> x{0.0f,   -0.0f, 1e-30f, -1e-30f, 20.0f,  -20.0f, 88.0f,
                       -88.0f, 1e4f,  -1e4f,  1e30f,   -1e30f, 3e38f,  -3e38f};
  for (int64_t i = -3000; i <= 3000; ++i)
    x.push_back(static_cast<float>(i) * 0.004f);
  Random random(41);
  for (int64_t i = 0; i < 2000; ++i)
    x.push_back(std::ldexp(random.uniform(), -static_cast<int>(i % 24)));
  return x;
}

/// The distance in units in the last place (f32) of the expected value.
double ulps(float actual, double expected) {
  if (std::isnan(actual))
    return INFINITY;
  double least = 0x1p-126, size = std::max(std::fabs(expected), least);
  return std::fabs(actual - expected) / std::ldexp(1.0, std::ilogb(size) - 23);
}

/// Checks the distance unless the result is tiny, and the magnitude of the
/// error everywhere.
void expectClose(const std::vector<float> &x, const std::vector<float> &actual,
                 double (*reference)(double), double mostUlps) {
  ASSERT_EQ(x.size(), actual.size());
  double worst = 0;
  float worstAt = 0;
  std::vector<double> expected;
  for (size_t i = 0; i < x.size(); ++i) {
    expected.push_back(reference(x[i]));
    EXPECT_NEAR(actual[i], expected[i], 1e-6 * std::fabs(expected[i]) + 1e-34)
        << x[i];
    // Below, exp(-x) exceeds the normal numbers.
    double distance = ulps(actual[i], expected[i]);
    if (std::fabs(expected[i]) > 1e-34 && distance > worst) {
      worst = distance;
      worstAt = x[i];
    }
  }
  EXPECT_LE(worst, mostUlps) << "at " << worstAt;
}

} // namespace

TEST_P(ScalarFunctions, GeluIsExactToAFewUlps) {
  std::vector<float> x = everySize();
  std::vector<float> y;
  ASSERT_NO_FATAL_FAILURE(y = apply(emitGelu, x));
  expectClose(
      x, y, [](double x) { return x * std::erfc(-x / std::sqrt(2.0)) / 2; },
      2.5);
}

TEST_P(ScalarFunctions, GeluTanhIsExactToAFewUlps) {
  std::vector<float> x = everySize();
  std::vector<float> y;
  ASSERT_NO_FATAL_FAILURE(y = apply(emitGeluTanh, x));
  expectClose(
      x, y,
      [](double x) {
        double a = std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x);
        return x / (1 + std::exp(-2 * a));
      },
      2.5);
}

TEST_P(ScalarFunctions, GeluQuickIsExactToAFewUlps) {
  std::vector<float> x = everySize();
  std::vector<float> y;
  ASSERT_NO_FATAL_FAILURE(y = apply(emitGeluQuick, x));
  expectClose(
      x, y, [](double x) { return x / (1 + std::exp(-1.702 * x)); }, 2.5);
}

TEST_P(ScalarFunctions, SiluIsExactToAFewUlps) {
  std::vector<float> x = everySize();
  std::vector<float> y;
  ASSERT_NO_FATAL_FAILURE(y = apply(emitSilu, x));
  expectClose(x, y, [](double x) { return x / (1 + std::exp(-x)); }, 2.5);
}

namespace {
/// Edge cases of bf16 and f16: ties, close to ties, subnormal, overflowing,
/// infinite, NaN.
std::vector<float> roundingEdges() {
  std::vector<float> x = everySize();
  for (uint32_t bits :
       {0x3f808000u, 0x3f808001u, 0x3f807fffu, 0x3f818000u, 0x3f817fffu,
        0x7f7fffffu, 0x7f7f8000u, 0x7f7f7fffu, 0xff7fffffu, 0x7f800000u,
        0xff800000u, 0x00000001u, 0x00008000u, 0x00018000u, 0x80018000u,
        0x477fe000u, 0x477ff000u, 0x477fefffu, 0x33800000u, 0x33000000u,
        0x33000001u, 0x38800000u, 0x387fffffu, 0x3f801000u, 0x3f803000u,
        0x7f800001u, 0x7fc00000u, 0xffffffffu}) {
    float value;
    std::memcpy(&value, &bits, 4);
    x.push_back(value);
  }
  return x;
}
} // namespace

TEST_P(ScalarFunctions, RoundingToNarrowFormatsIsExact) {
  std::vector<float> x = roundingEdges();
  const TensorFormat formats[] = {TensorFormat::BF16, TensorFormat::F16,
                                  TensorFormat::F32};
  std::vector<ScalarBody> bodies;
  for (TensorFormat format : formats)
    bodies.push_back(
        [format](mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange in) {
          mlir::Type element = b.getF32Type();
          if (format != TensorFormat::F32)
            element = format == TensorFormat::F16 ? mlir::Type(b.getF16Type())
                                                  : mlir::Type(b.getBF16Type());
          return emitRound(b, loc, in[0], element);
        });
  std::vector<std::vector<float>> results;
  ASSERT_NO_FATAL_FAILURE(results = apply(bodies, {x}));
  for (size_t f = 0; f < std::size(formats); ++f)
    for (size_t i = 0; i < x.size(); ++i) {
      float y = results[f][i];
      if (std::isnan(x[i]))
        EXPECT_TRUE(std::isnan(y)) << "element " << i;
      else
        EXPECT_TRUE(sameBits({y}, {roundTo(formats[f], x[i])}))
            << x[i] << " became " << y;
    }
}

namespace {
/// Values of all magnitudes, and those at boundaries of the argument reduction.
std::vector<float> angles() {
  std::vector<float> x = everySize();
  for (float size : {100.0f, 1000.0f, 4096.0f, 131072.0f, 1e7f, 1e8f, 1e9f,
                     0x1.fffffep30f, 0x1p31f, 0x1.000002p31f, 0x1.47d0fep34f,
                     0x1p88f, 0x1p89f, 0x1.fffffep127f})
    x.insert(x.end(), {size, -size});
  Random random(47);
  for (int i = 0; i < 4000; ++i)
    x.push_back(std::ldexp(random.uniform() + 1.5f, i % 127));
  return x;
}

/// The op's result; 0 for 0, since padding must be 0.
template <typename MathOp>
mlir::Value emitMath(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x) {
  mlir::Value zero =
      mlir::arith::ConstantOp::create(b, loc, b.getZeroAttr(x.getType()));
  mlir::Value isZero = mlir::arith::CmpFOp::create(
      b, loc, mlir::arith::CmpFPredicate::OEQ, x, zero);
  return mlir::arith::SelectOp::create(b, loc, isZero, zero,
                                       MathOp::create(b, loc, x));
}
} // namespace

TEST_P(ScalarFunctions, SineAndCosineOfAnySize) {
  std::vector<float> x = angles();
  x.insert(x.end(), {INFINITY, -INFINITY, NAN});
  const Emit functions[] = {emitMath<mlir::math::SinOp>,
                            emitMath<mlir::math::CosOp>};
  double (*const references[])(double) = {std::sin, std::cos};
  std::vector<ScalarBody> bodies;
  for (Emit function : functions)
    bodies.push_back(
        [function](mlir::OpBuilder &b, mlir::Location loc,
                   mlir::ValueRange in) { return function(b, loc, in[0]); });
  std::vector<std::vector<float>> results;
  ASSERT_NO_FATAL_FAILURE(results = apply(bodies, {x}));
  for (size_t f = 0; f < std::size(functions); ++f)
    for (size_t i = 0; i < x.size(); ++i) {
      float y = results[f][i];
      if (x[i] == 0)
        continue;
      if (std::isfinite(x[i]))
        EXPECT_NEAR(y, references[f](x[i]), 5e-8) << "of " << x[i];
      else
        EXPECT_TRUE(std::isnan(y)) << "of " << x[i];
      EXPECT_FALSE(std::fabs(y) > 1) << "of " << x[i];
    }
}

TEST_P(ScalarFunctions, LogarithmsOfDenormalNumbers) {
  std::vector<float> x{1e-38f,    0x1p-126f, 0x1.fffffcp-127f,
                       1e-40f,    1e-44f,    0x1p-149f,
                       0x1p-140f, 1.0f,      3e38f};
  for (float number : everySize())
    if (number > 0)
      x.push_back(number);
  const size_t positive = x.size();
  x.insert(x.end(), {INFINITY, -1e-40f, -1.0f, NAN});
  std::vector<float> y;
  ASSERT_NO_FATAL_FAILURE(y = apply(emitMath<mlir::math::LogOp>, x));
  for (size_t i = 0; i < positive; ++i) {
    const double expected = std::log(static_cast<double>(x[i]));
    EXPECT_NEAR(y[i], expected, 2e-7 * std::fabs(expected) + 1e-7)
        << "of " << x[i];
  }
  EXPECT_EQ(y[positive], INFINITY);
  for (size_t i = positive + 1; i < x.size(); ++i)
    EXPECT_TRUE(std::isnan(y[i])) << "of " << x[i];
}

namespace {
float combined(Combination how, const std::vector<std::vector<float>> &ranks,
               size_t i) {
  float result = ranks[0][i];
  for (size_t r = 1; r < ranks.size(); ++r) {
    float value = ranks[r][i];
    if (how == Combination::Max)
      result = std::isnan(value) ? value : std::max(result, value);
    else if (how == Combination::Min)
      result = std::isnan(value) ? value : std::min(result, value);
    else
      result += value;
  }
  return how == Combination::Mean ? result / static_cast<float>(ranks.size())
                                  : result;
}
} // namespace

TEST_P(ScalarFunctions, CombinationsGoFromFirstToLast) {
  Random random(43);
  std::vector<std::vector<float>> ranks;
  for (int i = 0; i < 4; ++i)
    ranks.push_back(random.values(200, -1e6f, 1e6f));
  ranks[2][5] = NAN;
  ranks[0][6] = INFINITY;
  const Combination ways[] = {Combination::Sum, Combination::Mean,
                              Combination::Max, Combination::Min};
  std::vector<ScalarBody> bodies;
  for (Combination how : ways)
    bodies.push_back(
        [how](mlir::OpBuilder &b, mlir::Location loc, mlir::ValueRange in) {
          return emitCombination(b, loc, how, in);
        });
  std::vector<std::vector<float>> results;
  ASSERT_NO_FATAL_FAILURE(results = apply(bodies, ranks));
  for (size_t w = 0; w < std::size(ways); ++w)
    for (size_t i = 0; i < ranks[0].size(); ++i) {
      float expected = combined(ways[w], ranks, i), actual = results[w][i];
      if (std::isnan(expected))
        EXPECT_TRUE(std::isnan(actual)) << "element " << i;
      else
        EXPECT_TRUE(sameBits({actual}, {expected})) << "element " << i;
    }
}

LLMIR_TEST_ALL_LEVELS(ScalarFunctions);
