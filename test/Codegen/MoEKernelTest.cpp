// RUN: llmir-codegen-tests --gtest_filter='MoEKernels*:MoEExperts*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Mixture of experts: routing, and feed-forward layers on the routed pairs
// only.
//
//===----------------------------------------------------------------------===//

#include "KernelTest.h"

#include "llvm/ADT/Sequence.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

using namespace llmir;
using namespace llmir::test;

namespace {

class MoEKernels : public KernelTest {};

/// Kernels with products of bytes.
class MoEExperts : public KernelTest {
protected:
  void SetUp() override {
    LLMIR_SKIP_UNLESS_COVERED(GetParam(), Products::OfBytes);
  }
};

StepInputs inputsOf(int64_t tokens) {
  StepInputs inputs;
  inputs.numTokens = tokens;
  return inputs;
}

/// The attributes of a moe_route.
struct Route {
  int64_t experts, topK;
  bool sigmoid, normalize;

  void call(KernelProgram &program, unsigned in, unsigned weights,
            unsigned chosen) const {
    program.call<kernel::MoERouteOp>(program[in], program[weights],
                                     program[chosen], experts, topK, sigmoid,
                                     normalize);
  }
};

/// The experts of the greatest logits, the lower of equal ones first.
std::vector<int32_t> bestExperts(const Route &route, const float *logits) {
  std::vector<int32_t> order(route.experts);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
  });
  order.resize(route.topK);
  return order;
}

std::vector<double> routeWeights(const Route &route, const float *logits,
                                 const std::vector<int32_t> &chosen) {
  double most = *std::max_element(logits, logits + route.experts), all = 0;
  for (int64_t e = 0; e < route.experts; ++e)
    all += std::exp(logits[e] - most);
  std::vector<double> weights;
  double sum = 0;
  for (int32_t e : chosen) {
    weights.push_back(route.sigmoid ? 1 / (1 + std::exp(-double(logits[e])))
                                    : std::exp(logits[e] - most) / all);
    sum += weights.back();
  }
  for (double &weight : weights)
    weight /= route.normalize ? sum : 1;
  return weights;
}

} // namespace

TEST_P(MoEKernels, RouteChoosesTheBestExperts) {
  struct Case {
    Route route;
    std::vector<float> logits = {};
    unsigned in = 0, weights = 0, chosen = 0;
  };
  std::vector<Case> cases;
  for (auto [experts, topK] :
       {std::pair(8, 2), std::pair(1, 1), std::pair(60, 4), std::pair(5, 5)})
    for (bool sigmoid : {false, true})
      for (bool normalize : {false, true})
        cases.push_back({{experts, topK, sigmoid, normalize}});
  Random random(61);
  for (Case &c : cases) {
    int64_t experts = c.route.experts;
    c.logits = random.values(kMaxRows * experts, -6.0f, 6.0f);
    // Row 1: all equal. Row 2: pairs of equal scores. Row 3: saturated scores.
    // Row 4: scores of -inf.
    for (int64_t e = 0; e < experts; ++e) {
      c.logits[experts + e] = 0.5f;
      c.logits[2 * experts + e] = static_cast<float>((e / 2 * 7) % 5);
      c.logits[3 * experts + e] = 60 + static_cast<float>((e * 3) % 7);
      if (e >= c.route.topK)
        c.logits[4 * experts + e] = -INFINITY;
    }
    c.in = program.addBuffer(kMaxRows, experts);
    c.weights = program.addBuffer(kMaxRows, c.route.topK);
    c.chosen = program.addIntegers(kMaxRows, c.route.topK);
    c.route.call(program, c.in, c.weights, c.chosen);
  }
  ASSERT_NO_FATAL_FAILURE(load());
  for (const Case &c : cases)
    loaded->setRows(c.in, c.logits);
  for (int64_t tokens : kRowCounts) {
    std::vector<unsigned> outputs;
    for (const Case &c : cases)
      outputs.insert(outputs.end(), {c.weights, c.chosen});
    run(inputsOf(tokens), outputs, tokens);
    for (const Case &c : cases) {
      std::vector<int32_t> chosen;
      std::vector<double> weights;
      for (int64_t t = 0; t < tokens; ++t) {
        const float *logits = c.logits.data() + t * c.route.experts;
        std::vector<int32_t> best = bestExperts(c.route, logits);
        for (double weight : routeWeights(c.route, logits, best))
          weights.push_back(weight);
        chosen.insert(chosen.end(), best.begin(), best.end());
      }
      EXPECT_EQ(loaded->integers(c.chosen, tokens), chosen)
          << c.route.topK << " of " << c.route.experts;
      EXPECT_LE(normalizedError(loaded->rows(c.weights, tokens), weights),
                1e-10)
          << c.route.topK << " of " << c.route.experts;
    }
  }
}

TEST_P(MoEKernels, RouteOfNaNStaysAmongTheExperts) {
  unsigned in = program.addBuffer(kMaxRows, 4),
           weights = program.addBuffer(kMaxRows, 3),
           chosen = program.addIntegers(kMaxRows, 3);
  Route{4, 3, false, true}.call(program, in, weights, chosen);
  ASSERT_NO_FATAL_FAILURE(load());
  loaded->setRows(in, {NAN, 1, NAN, 2, NAN, NAN, NAN, NAN});
  loaded->run(inputsOf(2), 2);
  std::vector<int32_t> experts = loaded->integers(chosen, 2);
  EXPECT_EQ(experts[0], 3); // NaN ranks below all numbers.
  EXPECT_EQ(experts[1], 1);
  for (int32_t expert : experts)
    EXPECT_TRUE(expert >= 0 && expert < 4) << expert;
}

namespace {

/// The matrices of all experts in one format.
struct Experts {
  std::string name;
  std::vector<std::vector<float>> values;
};

struct FFN {
  TensorFormat format;
  int64_t experts, topK, hidden, inner;
  /// Integer weights with int8 activations, with a scale per 32 elements, as in
  /// a step.
  bool bytes = false;
  std::optional<TensorFormat> biases = {}; ///< Their format.
  double limit = 0;                        ///< Of clamped SwiGLU; 0: SiLU.
  bool gelu = false;                       ///< In place of SiLU.
  Experts gate = {}, up = {}, down = {};
  Experts gateBias = {}, upBias = {}, downBias = {};
  std::vector<float> x = {}, weights = {};
  std::vector<int32_t> chosen = {};
  unsigned xBuffer = 0, weightBuffer = 0, chosenBuffer = 0, out = 0;
  std::vector<WrittenRows> scratch = {}; ///< Rows per token, not rows.
};

class FFNBuilder {
public:
  FFNBuilder(KernelProgram &program, Random &random)
      : program(program), random(random), builder(program.getContext()) {}

  void add(FFN &ffn) {
    ffn.gate = experts(ffn.format, ffn, ffn.inner, ffn.hidden);
    ffn.up = experts(ffn.format, ffn, ffn.inner, ffn.hidden);
    ffn.down = experts(ffn.format, ffn, ffn.hidden, ffn.inner);
    if (ffn.biases) {
      ffn.gateBias = experts(*ffn.biases, ffn, ffn.inner, 1);
      ffn.upBias = experts(*ffn.biases, ffn, ffn.inner, 1);
      ffn.downBias = experts(*ffn.biases, ffn, ffn.hidden, 1);
    }
    ffn.x = random.values(kMaxRows * ffn.hidden);
    ffn.weights = random.values(kMaxRows * ffn.topK, 0.0f, 1.0f);
    for (int64_t t = 0; t < kMaxRows; ++t) {
      // Distinct experts in any order; the last one has no token.
      std::vector<int32_t> order(std::max<int64_t>(ffn.experts - 1, 1));
      std::iota(order.begin(), order.end(), 0);
      for (size_t i = order.size(); i > 1; --i)
        std::swap(order[i - 1], order[random.bits() % i]);
      ffn.chosen.insert(ffn.chosen.end(), order.begin(),
                        order.begin() + ffn.topK);
    }
    // Invalid expert ids are not computed.
    if (ffn.topK > 2) {
      ffn.chosen[0] = -1;
      ffn.chosen[ffn.topK + 1] = static_cast<int32_t>(ffn.experts);
      ffn.chosen[ffn.topK + 2] = INT32_MAX;
    }
    addCalls(ffn);
  }

private:
  Experts experts(TensorFormat format, const FFN &ffn, int64_t rows,
                  int64_t columns) {
    Experts result;
    std::vector<std::vector<uint8_t>> stored;
    for (int64_t e = 0; e < ffn.experts; ++e) {
      stored.push_back(randomMatrix(format, rows, columns, random));
      result.values.push_back(
          decodeMatrix(format, rows, columns, stored.back()));
    }
    result.name = program.addExperts(format, rows, columns, stored);
    return result;
  }

  /// Quantized rows for a matrix [rows, columns].
  static QuantizedRowLayout quantizedRow(const FFN &ffn, int64_t rows,
                                         int64_t columns) {
    if (!ffn.bytes)
      return {};
    IntegerFormat format = *IntegerFormat::ofBlocks(ffn.format);
    return QuantizedRowLayout::forWeights(
        {format, rows, columns}, commonSegment(columns, format.group, 32));
  }
  void callQuantizeRows(const QuantizedRowLayout &row, unsigned x, unsigned out,
                        int64_t choices) {
    program.call<kernel::QuantizeRowsOp>(program[x], program[out], row.columns,
                                         /*group=*/32, row.segment, row.padded,
                                         choices);
  }
  void callLinear(const FFN &ffn, const Experts &experts, const Experts &biases,
                  int64_t rows, int64_t columns, const QuantizedRowLayout &row,
                  unsigned offsets, unsigned x, unsigned out) {
    std::string format = packedFormatName(ffn.format);
    mlir::Value bias;
    mlir::StringAttr biasFormat;
    if (ffn.biases) {
      bias = program.weight(biases.name);
      biasFormat = builder.getStringAttr(packedFormatName(*ffn.biases));
    }
    program.call<kernel::MoELinearOp>(
        program.weight(experts.name), bias, program[offsets], program[x],
        program[out], llvm::StringRef(format), ffn.experts, rows, columns,
        program.sizeOrNone(ffn.bytes ? row.segment : 0), biasFormat);
  }

  /// The kernels in the order in which a program calls them.
  void addCalls(FFN &ffn) {
    int64_t places = kMaxRows * ffn.topK;
    ffn.xBuffer = program.addBuffer(kMaxRows, ffn.hidden);
    ffn.weightBuffer = program.addBuffer(kMaxRows, ffn.topK);
    ffn.chosenBuffer = program.addIntegers(kMaxRows, ffn.topK);
    unsigned offsets = program.addIntegers(1, ffn.experts + 1);
    unsigned pairs = program.addIntegers(1, places);
    unsigned placesOf = program.addIntegers(1, places);
    // Rows are words of two bf16 values for bf16 weights, of bytes for
    // integers.
    bool inWords = ffn.format == TensorFormat::BF16;
    QuantizedRowLayout forGate = quantizedRow(ffn, ffn.inner, ffn.hidden);
    QuantizedRowLayout forDown = quantizedRow(ffn, ffn.hidden, ffn.inner);
    auto width = [&](int64_t columns) {
      if (ffn.bytes)
        return (columns == ffn.hidden ? forGate : forDown).words();
      return inWords ? kernel::RoundRowsOp::words(columns) : columns;
    };
    unsigned x = ffn.xBuffer;
    if (ffn.bytes) {
      x = program.addBuffer(kMaxRows, width(ffn.hidden));
      callQuantizeRows(forGate, ffn.xBuffer, x, /*choices=*/1);
      ffn.scratch.push_back({x, 1});
    }
    if (inWords) {
      x = program.addBuffer(kMaxRows, width(ffn.hidden));
      program.call<kernel::RoundRowsOp>(program[ffn.xBuffer], program[x],
                                        ffn.hidden);
      ffn.scratch.push_back({x, 1});
    }
    unsigned rows = program.addBuffer(places, width(ffn.hidden));
    unsigned gate = program.addBuffer(places, ffn.inner);
    unsigned up = program.addBuffer(places, ffn.inner);
    unsigned gated =
        inWords ? program.addBuffer(places, width(ffn.inner)) : gate;
    unsigned down = program.addBuffer(places, ffn.hidden);
    ffn.out = program.addBuffer(kMaxRows, ffn.hidden);
    program.call<kernel::MoESortOp>(program[ffn.chosenBuffer], program[offsets],
                                    program[pairs], program[placesOf],
                                    ffn.experts, ffn.topK);
    program.barrier();
    program.call<kernel::MoEGatherOp>(program[pairs], program[x], program[rows],
                                      width(ffn.hidden), ffn.topK);
    program.barrier();
    callLinear(ffn, ffn.gate, ffn.gateBias, ffn.inner, ffn.hidden, forGate,
               offsets, rows, gate);
    callLinear(ffn, ffn.up, ffn.upBias, ffn.inner, ffn.hidden, forGate, offsets,
               rows, up);
    program.call<kernel::MoEGateOp>(
        program[gate], program[up], program[gated], ffn.inner, ffn.topK,
        inWords,
        ffn.limit ? builder.getF64FloatAttr(ffn.limit) : mlir::FloatAttr(),
        ffn.gelu);
    program.barrier();
    if (ffn.bytes) {
      unsigned quantized = program.addBuffer(places, width(ffn.inner));
      callQuantizeRows(forDown, gated, quantized, ffn.topK);
      program.barrier();
      ffn.scratch.push_back({quantized, ffn.topK});
      gated = quantized;
    }
    callLinear(ffn, ffn.down, ffn.downBias, ffn.hidden, ffn.inner, forDown,
               offsets, gated, down);
    program.barrier();
    program.call<kernel::MoECombineOp>(program[placesOf],
                                       program[ffn.weightBuffer], program[down],
                                       program[ffn.out], ffn.hidden, ffn.topK);
    for (unsigned buffer : {rows, gate, up, gated, down})
      ffn.scratch.push_back({buffer, ffn.topK});
    for (unsigned buffer : {offsets, pairs, placesOf})
      ffn.scratch.push_back({buffer, 0});
  }

  KernelProgram &program;
  Random &random;
  mlir::Builder builder;
};

/// Each 32 adjacent elements as multiples of a scale, max|x| / 127.
void quantizeValues(std::vector<double> &x) {
  for (size_t first = 0; first < x.size(); first += 32) {
    size_t end = std::min(first + 32, x.size());
    float most = 0;
    for (size_t k = first; k < end; ++k)
      most = std::max(most, std::fabs(static_cast<float>(x[k])));
    float scale = most / 127.0f;
    for (size_t k = first; k < end && scale > 0; ++k)
      x[k] = std::nearbyintf(static_cast<float>(x[k]) / scale) * double(scale);
  }
}

std::vector<double> multiply(const FFN &ffn, const Experts &experts,
                             const Experts &biases, int32_t e,
                             std::vector<double> x) {
  const std::vector<float> &matrix = experts.values[e];
  std::vector<double> y(matrix.size() / x.size());
  if (ffn.biases)
    y.assign(biases.values[e].begin(), biases.values[e].end());
  if (ffn.format == TensorFormat::BF16)
    for (double &value : x)
      value = roundTo(ffn.format, static_cast<float>(value));
  if (ffn.bytes)
    quantizeValues(x);
  for (size_t n = 0; n < y.size(); ++n)
    for (size_t k = 0; k < x.size(); ++k)
      y[n] += matrix[n * x.size() + k] * x[k];
  return y;
}

double gated(const FFN &ffn, double gate, double up) {
  if (ffn.gelu) {
    const double inner =
        0.7978845608028654 * (gate + 0.044715 * gate * gate * gate);
    return 0.5 * gate * (1 + std::tanh(inner)) * up;
  }
  if (ffn.limit == 0)
    return gate / (1 + std::exp(-gate)) * up;
  gate = std::min(gate, ffn.limit);
  up = std::clamp(up, -ffn.limit, ffn.limit);
  return gate / (1 + std::exp(-1.702 * gate)) * (up + 1);
}

std::vector<double> expected(const FFN &ffn, int64_t token) {
  const float *row = ffn.x.data() + token * ffn.hidden;
  std::vector<double> x(row, row + ffn.hidden), sum(ffn.hidden);
  for (int64_t i = token * ffn.topK; i < (token + 1) * ffn.topK; ++i) {
    int32_t e = ffn.chosen[i];
    if (e < 0 || e >= ffn.experts)
      continue;
    std::vector<double> inner = multiply(ffn, ffn.gate, ffn.gateBias, e, x);
    std::vector<double> up = multiply(ffn, ffn.up, ffn.upBias, e, x);
    for (size_t n = 0; n < inner.size(); ++n)
      inner[n] = gated(ffn, inner[n], up[n]);
    std::vector<double> y = multiply(ffn, ffn.down, ffn.downBias, e, inner);
    for (int64_t k = 0; k < ffn.hidden; ++k)
      sum[k] += ffn.weights[i] * y[k];
  }
  return sum;
}

} // namespace

TEST_P(MoEExperts, AgreeWithFloat64) {
  std::vector<FFN> cases;
  for (TensorFormat format :
       {TensorFormat::F32, TensorFormat::F16, TensorFormat::BF16,
        TensorFormat::Q8_0, TensorFormat::Q4_0})
    cases.push_back({format, 8, 2, 64, 96});
  // As in a step: formats with minima, and of groups smaller than 32.
  for (TensorFormat format :
       {TensorFormat::Q8_0, TensorFormat::Q4_0, TensorFormat::Q4_1})
    cases.push_back({format, 8, 2, 64, 96, /*bytes=*/true});
  cases.push_back({TensorFormat::MXFP4, 3, 2, 64, 96, /*bytes=*/true});
  for (TensorFormat format :
       {TensorFormat::Q4_K, TensorFormat::Q6_K, TensorFormat::IQ4_XS})
    cases.push_back({format, 3, 2, 256, 256, /*bytes=*/true});
  cases.push_back({TensorFormat::BF16, 5, 3, 37, 20});
  cases.push_back({TensorFormat::F32, 1, 1, 16, 7});
  cases.push_back({TensorFormat::F32, 9, 8, 5, 33});
  // As in gpt-oss. The limit is in the middle of the values, and the last lines
  // of biases are not full.
  cases.push_back({TensorFormat::MXFP4, 3, 2, 64, 96, /*bytes=*/true,
                   TensorFormat::F32, /*limit=*/1});
  cases.push_back({TensorFormat::BF16, 5, 3, 37, 20, /*bytes=*/false,
                   TensorFormat::BF16, /*limit=*/2});
  cases.push_back(
      {TensorFormat::F32, 9, 8, 5, 33, /*bytes=*/false, TensorFormat::F16});
  // As in Gemma 4.
  for (TensorFormat format : {TensorFormat::F32, TensorFormat::BF16})
    cases.push_back({format, 5, 3, 37, 20, /*bytes=*/false, /*biases=*/{},
                     /*limit=*/0, /*gelu=*/true});
  if (coverageOf(GetParam(), Products::OfBytes) == Coverage::Sample)
    llvm::erase_if(cases, [](const FFN &ffn) { return !ffn.bytes; });
  Random random(67);
  FFNBuilder builder(program, random);
  for (FFN &ffn : cases)
    builder.add(ffn);
  ASSERT_NO_FATAL_FAILURE(load());
  for (int64_t tokens : kRowCounts) {
    loaded->clearArena();
    std::vector<WrittenRows> written;
    for (const FFN &ffn : cases) {
      loaded->setRows(ffn.xBuffer, ffn.x);
      loaded->setRows(ffn.weightBuffer, ffn.weights);
      loaded->setIntegers(ffn.chosenBuffer, ffn.chosen);
      written.push_back({ffn.out, tokens});
      // Tables of integers are one row.
      for (auto [buffer, perToken] : ffn.scratch)
        written.push_back({buffer, perToken ? perToken * tokens : 1});
    }
    std::vector<std::vector<float>> first;
    for (int64_t workers : {1, 2, 3}) {
      for (const WrittenRows &rows : written)
        loaded->clearBuffer(rows.buffer);
      loaded->snapshot();
      loaded->run(inputsOf(tokens), workers);
      loaded->expectOnlyWritten(written);
      for (size_t i = 0; i < cases.size(); ++i) {
        std::vector<float> actual = loaded->rows(cases[i].out, tokens);
        expectZeroPadding(cases[i].out, tokens);
        if (workers == 1)
          first.push_back(actual);
        EXPECT_TRUE(sameBits(first[i], actual)) << workers << " workers";
      }
    }
    for (size_t i = 0; i < cases.size(); ++i) {
      std::vector<double> all;
      for (int64_t t = 0; t < tokens; ++t)
        for (double value : expected(cases[i], t))
          all.push_back(value);
      // A gated value on the other side of a tie is rounded to another byte:
      // with unquantized activations, the error would be 1e-5 and more.
      EXPECT_LE(normalizedError(first[i], all), cases[i].bytes ? 3e-7 : 1e-10)
          << "case " << i << ", " << tokens << " tokens";
    }
  }
}

LLMIR_TEST_ALL_LEVELS(MoEKernels);
LLMIR_TEST_ALL_LEVELS(MoEExperts);
