// RUN: llmir-codegen-tests --gtest_filter='QuantizedMatmul*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matmuls with integer weights, with f32 and with int8 activations, on every
// level: compared with float64 and with the specified order of additions.
//
//===----------------------------------------------------------------------===//

#include "Emulation/TileEmulation.h"
#include "KernelHarness.h"

#include <cmath>
#include <limits>
#include <map>

using namespace llmir;
using namespace llmir::test;

namespace {

constexpr int64_t kBudget = 71;
/// All sizes of register tiles, alone and combined, and none.
const std::vector<int64_t> kTokenCounts = {
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 33, 71};

/// Activations stay f32.
constexpr int64_t kFloat = -1;
/// One scale per row of activations.
constexpr int64_t kWholeRow = 0;

/// One matmul of a program: its weights as integers and as values.
struct QuantCase {
  int64_t rows, columns; // N, K
  const char *format;    // A name of IntegerFormat.
  int64_t activationGroup = kFloat;
  bool hasBias = false;
  RowSpace over = RowSpace::Tokens;

  IntegerMatrixLayout layout = {};
  int64_t segment = 0; // Of both scales.
  std::vector<int16_t> q = {}, zeroPoints = {};
  std::vector<float> scales = {}, mins = {}, bias = {}; // [N, blocks]; [N].
  std::vector<int8_t> subScales = {}, subMins = {};     // [N, groups].
  std::vector<float> inputs = {};                       // [kBudget, K].
  size_t number = 0;                                    // Among all cases.
  unsigned x = 0, quantizedX = 0, y = 0;

  bool hasBytes() const { return activationGroup != kFloat; }
  int64_t blockOf(int64_t n, int64_t k) const {
    return n * layout.numBlocks() + k / layout.block();
  }
  int64_t groupOf(int64_t n, int64_t k) const {
    return n * layout.numGroups() + k / layout.group();
  }
  float scale(int64_t n, int64_t k) const {
    float d = scales[blockOf(n, k)] * layout.format.unit();
    return subScales.empty() ? d : d * subScales[groupOf(n, k)];
  }
  /// The minimum of a group.
  float min(int64_t n, int64_t k) const {
    if (mins.empty())
      return 0.0f;
    float dmin = mins[blockOf(n, k)];
    return subMins.empty() ? dmin : -dmin * subMins[groupOf(n, k)];
  }
  /// The integer, counted from its zero point.
  int centered(int64_t n, int64_t k) const {
    return q[n * columns + k] -
           (zeroPoints.empty() ? 0 : zeroPoints[blockOf(n, k)]);
  }
  double weight(int64_t n, int64_t k) const {
    return static_cast<double>(scale(n, k)) * centered(n, k) + min(n, k);
  }
};

std::vector<QuantCase> allCases() {
  constexpr RowSpace logits = RowSpace::LogitRows;
  return {
      // Per channel.
      {1, 32, "int8"},
      {15, 40, "int8", 32},
      {172, 64, "int8:asym", kFloat, true},
      {16, 100, "int8:asym", kWholeRow, true},
      {33, 100, "int4:asym", 32},
      {17, 256, "int4", kWholeRow},
      {17, 100, "int16:asym"},
      // In groups.
      {15, 64, "int8:g32", kFloat},
      {172, 256, "int8:g32", 32, true},
      {16, 256, "int8:g64", 32},
      {17, 256, "int8:g128:asym", 32},
      {16, 128, "int8:g32:asym:f16", 64},
      {172, 64, "int4:g32", kFloat, true},
      {172, 256, "int4:g32", 32},
      {33, 256, "int4:g64:asym", 32, true},
      {17, 256, "int4:g128:bf16", 128},
      {15, 256, "int4:g128:asym", kFloat},
      {1, 96, "int16:g32", kFloat, true},
      // The last group is shorter, or not whole lines.
      {17, 100, "int8:g32", 32},
      {16, 100, "int4:g32:asym", kFloat},
      {16, 40, "int4:g32", kWholeRow},
      {17, 100, "int4:g32:asym", 64, true},
      // Groups and activation groups that are not whole lines, or do not match.
      {16, 40, "int4:g10", 10},
      {16, 60, "int8:g30:s10:asym", 10},
      {17, 50, "int4:s10", 10},
      {15, 96, "int8:g48", 32},
      {5, 7, "int8:g1", kFloat},
      // More segments in a group than one register tile unrolls.
      {33, 512, "int4:g256:asym", 32, true},
      {17, 600, "int8", 32},
      {17, 300, "int8", kWholeRow},
      {17, 704, "int4:asym", kWholeRow},
      {16, 260, "int4:g128", 32},
      // Q8_0 and Q4_0, minima, super-groups, lines of high bits.
      {33, 96, "int8:g32:f16", 32},
      {33, 96, "int4:g32:f16", 32, true},
      {33, 96, "int4:g32:min:f16", 32, true},
      {17, 100, "int4:g32:min:f16", 32},
      {17, 96, "int8:g32:min", 32},
      {17, 60, "int8:g12:min", 12},
      {17, 96, "int4:g64:min", 32},
      {33, 512, "int4:g32:k256:min:f16", 32, true},
      {17, 288, "int4:g32:k256:min:f16", 32},
      {33, 512, "int5:g32:k256:min:f16", 32},
      {33, 512, "int6:g16:k256:f16", 32, true},
      {17, 272, "int6:g16:k256:f16", 32},
      {17, 256, "int6:g64:asym", 32},
      // Two and three bits, indexes of codebooks, exponents as scales.
      {33, 512, "int2:g16:k256:sub4:min:f16", 32, true},
      {17, 288, "int2:g16:k256:sub4:min:f16", 32},
      {33, 512, "int3:g16:k256:f16", 32},
      {17, 100, "int2:g32:asym", 32},
      {17, 96, "int3:g32", 32},
      {17, 96, "int5:g32:min:f16", 32},
      {33, 96, "int4:g32:iq4:f16", 32, true},
      {33, 512, "int4:g32:k256:iq4:f16", 32},
      {33, 96, "int4:g32:e2m1:e8m0", 32, true},
      {17, 512, "int2:g256:ternary:f16", 32},
      {17, 512, "int3:g16:k256:iq2:f16", 32, true},
      {17, 256, "int4:g32:k256:iq3:f16", 32},
      {17, 256, "int4:g32:k256:odd:f16", 32},
      {17, 256, "int3:g32:k256:iq1:f16", 32},
      {17, 96, "int5:g32", 32},
      {17, 72, "int5", kWholeRow},
      // Long segments that do not start at a bundle of lines.
      {17, 288, "int6:g288", 72},
      {33, 96, "int8:g32:f16", kFloat},
      {33, 96, "int4:g32:f16", kFloat, true},
      {33, 96, "int4:g32:min:f16", kFloat, true},
      {17, 288, "int4:g32:k256:min:f16", kFloat},
      {17, 256, "int5:g32:k256:min:f16", kFloat},
      {17, 272, "int6:g16:k256:f16", kFloat, true},
      {17, 288, "int2:g16:k256:sub4:min:f16", kFloat},
      {17, 256, "int3:g16:k256:f16", kFloat},
      {33, 96, "int4:g32:iq4:f16", kFloat, true},
      {17, 256, "int4:g32:k256:iq4:f16", kFloat},
      {17, 96, "int4:g32:e2m1:e8m0", kFloat},
      {17, 512, "int2:g256:ternary:f16", kFloat},
      {17, 256, "int3:g16:k256:iq1:f16", kFloat},
      // Rows so long that a panel has only a few of them.
      {1, 32768, "int8:g32:f16", 32},
      {48, 64, "int4:g32", 32, true, logits},
      {48, 64, "int8:g32:asym", kFloat, true, logits},
  };
}

float randomScale(const IntegerFormat &format, Random &random) {
  const float scale =
      random.uniform(0.5f, 1.5f) / static_cast<float>(format.highest());
  switch (format.scales) {
  case ScaleFormat::F32:
    return scale;
  case ScaleFormat::F16:
    return roundTo(TensorFormat::F16, scale);
  case ScaleFormat::BF16:
    return roundTo(TensorFormat::BF16, scale);
  case ScaleFormat::E8M0:
    return std::ldexp(1.0f, std::ilogb(scale));
  }
  return scale;
}

/// Fills a case with random integers, including the ends of their range.
std::vector<uint8_t> makeWeights(QuantCase &c, Random &random) {
  c.layout = {*IntegerFormat::fromName(c.format), c.rows, c.columns};
  c.segment = c.hasBytes() ? commonSegment(c.columns, c.layout.format.group,
                                           c.activationGroup)
                           : 0;
  const IntegerFormat &format = c.layout.format;
  auto integer = [&](int64_t lowest, int64_t highest) {
    uint32_t bits = random.bits();
    if (bits % 8 == 0)
      return lowest;
    if (bits % 8 == 1)
      return highest;
    return lowest + bits % (highest - lowest);
  };
  auto stored = [&] {
    if (const Codebook *codebook = format.codebook)
      return static_cast<int16_t>(
          codebook->entries[random.bits() % codebook->size()]);
    return static_cast<int16_t>(integer(format.lowest(), format.highest()));
  };
  for (int64_t i = 0; i < c.rows * c.columns; ++i)
    c.q.push_back(stored());
  int64_t blocks = c.layout.numBlocks(), groups = c.layout.numGroups();
  for (int64_t i = 0; i < c.rows * blocks; ++i) {
    c.scales.push_back(randomScale(format, random));
    if (format.zeroPoints)
      c.zeroPoints.push_back(stored());
    if (format.minima)
      c.mins.push_back(randomScale(format, random));
  }
  for (int64_t i = 0; format.superGroup && i < c.rows * groups; ++i) {
    const bool isPair = format.pairedSubScales;
    c.subScales.push_back(
        static_cast<int8_t>(isPair ? integer(0, 15) : integer(-128, 127)));
    if (format.minima)
      c.subMins.push_back(static_cast<int8_t>(integer(0, isPair ? 15 : 63)));
  }
  std::vector<uint8_t> packed(c.layout.bytes());
  auto from = [](const auto &all, int64_t first) {
    return all.empty() ? nullptr : all.data() + first;
  };
  for (int64_t n = 0; n < c.rows; ++n)
    packIntegerRow(c.layout, n,
                   {&c.q[n * c.columns], &c.scales[n * blocks],
                    from(c.zeroPoints, n * blocks), from(c.mins, n * blocks),
                    from(c.subScales, n * groups), from(c.subMins, n * groups)},
                   packed.data());
  return packed;
}

/// Random inputs; one group of some rows is all zero.
std::vector<float> makeInputs(const QuantCase &c) {
  Random random(1000 + c.rows);
  std::vector<float> all = random.values(kBudget * c.columns, -2.0f, 2.0f);
  for (int64_t t = 0; t < kBudget; t += 3)
    for (int64_t k = 0; k < std::min<int64_t>(c.columns, 32); ++k)
      all[t * c.columns + k] = 0.0f;
  return all;
}

/// The cases that are covered on a level: all on the best one of this
/// processor, otherwise every other or fourth one, not the same on each level.
std::vector<QuantCase> casesOf(const CPULevel &level) {
  std::vector<QuantCase> all = allCases(), covered;
  const size_t step = isLongTest() || isBestHere(&level) ? 1
                      : coverageOf(&level, Products::OfBytes) == Coverage::Whole
                          ? 2
                          : 4;
  const std::vector<const CPULevel *> levels = allLevels();
  const size_t turn = (llvm::find(levels, &level) - levels.begin()) / 2;
  for (size_t i = 0; i < all.size(); ++i) {
    all[i].number = i;
    if (i % step == turn % step)
      covered.push_back(all[i]);
  }
  return covered;
}

/// The cases of a level as one program.
struct QuantProgram {
  std::vector<QuantCase> cases;
  std::unique_ptr<LoadedProgram> loaded;
  Status failure;

  explicit QuantProgram(const CPULevel &level) : cases(casesOf(level)) {
    KernelProgram program;
    std::vector<WeightNames> weights;
    for (QuantCase &c : cases) {
      Random random(5 + c.number); // The same on each level.
      c.inputs = makeInputs(c);
      weights.push_back(
          {program.addPacked(c.layout, makeWeights(c, random)), ""});
      c.x = program.addBuffer(kBudget, c.columns);
      c.y = program.addBuffer(kBudget, c.rows);
      if (c.hasBias) {
        c.bias = random.values(c.rows);
        weights.back().bias = program.addVector(c.bias);
      }
      if (!c.hasBytes())
        continue;
      auto row = QuantizedRowLayout::forWeights(c.layout, c.segment);
      c.quantizedX = program.addBuffer(kBudget, row.words());
      int64_t group = c.activationGroup ? c.activationGroup : c.columns;
      program.call<kernel::QuantizeRowsOp>(
          program[c.x], program[c.quantizedX], c.columns, group, row.segment,
          row.padded, /*choices=*/1, /*parts=*/1, c.over);
    }
    program.barrier();
    for (size_t i = 0; i < cases.size(); ++i) {
      const QuantCase &c = cases[i];
      program.call<kernel::LinearOp>(
          program.weight(weights[i].matrix), program.weight(weights[i].bias),
          program[c.hasBytes() ? c.quantizedX : c.x], mlir::ValueRange(),
          program[c.y], llvm::StringRef(c.format), c.rows, c.columns,
          program.sizeOrNone(c.segment), /*grain=*/1, c.over);
    }
    program.finish();
    Expected<LoadedProgram> result = program.load(level);
    if (result)
      loaded = std::make_unique<LoadedProgram>(std::move(*result));
    else
      failure = result.takeStatus();
  }
};

/// A row of quantized activations: q, and the scale of each.
struct ByteRow {
  std::vector<int> q;
  std::vector<float> scale;
};

ByteRow quantizeActivations(const QuantCase &c, const float *x) {
  ByteRow row{std::vector<int>(c.columns), std::vector<float>(c.columns)};
  int64_t group = c.activationGroup ? c.activationGroup : c.columns;
  for (int64_t first = 0; first < c.columns; first += group) {
    int64_t end = std::min(first + group, c.columns);
    float most = 0;
    for (int64_t k = first; k < end; ++k)
      most = std::max(most, std::fabs(x[k]));
    float scale = most / 127.0f;
    for (int64_t k = first; k < end; ++k) {
      row.scale[k] = scale;
      row.q[k] =
          scale == 0 ? 0 : static_cast<int>(std::nearbyintf(x[k] / scale));
    }
  }
  return row;
}

/// Output `n` in the specified order for f32 activations: each group's chain of
/// fused multiply-adds starts from zero, is scaled and added; with minima, one
/// chain of the rounded weights.
float floatChainOf(const QuantCase &c, int64_t n, const float *x) {
  float sum = 0.0f, groupSum = 0.0f;
  for (int64_t k = 0; k < c.columns; ++k) {
    auto q = static_cast<float>(c.centered(n, k));
    if (!c.mins.empty()) {
      sum = std::fma(std::fma(c.scale(n, k), q, c.min(n, k)), x[k], sum);
      continue;
    }
    groupSum = std::fma(q, x[k], groupSum);
    if ((k + 1) % c.layout.group() == 0 || k + 1 == c.columns) {
      sum = std::fma(groupSum, c.scale(n, k), sum);
      groupSum = 0.0f;
    }
  }
  return sum;
}

/// The same for int8 activations: the exact integer sum of each segment, scaled
/// by the activations' scale and added within a group, whose sum is added
/// scaled; before that a minimum times the scaled sum of the activations.
float byteChainOf(const QuantCase &c, int64_t n, const float *x) {
  ByteRow row = quantizeActivations(c, x);
  float sum = 0.0f, groupSum = 0.0f;
  for (int64_t first = 0; first < c.columns;) {
    int64_t group = c.layout.group();
    int64_t end =
        std::min({c.columns, first + c.segment, first / group * group + group});
    int64_t dot = 0, total = 0;
    for (int64_t k = first; k < end; ++k) {
      dot += c.centered(n, k) * row.q[k];
      total += row.q[k];
    }
    float scale = row.scale[first];
    groupSum = std::fma(static_cast<float>(dot), scale, groupSum);
    if (!c.mins.empty())
      sum = std::fma(c.min(n, first), scale * static_cast<float>(total), sum);
    if (end % group == 0 || end == c.columns) {
      sum = std::fma(groupSum, c.scale(n, first), sum);
      groupSum = 0.0f;
    }
    first = end;
  }
  return sum;
}

float chainOf(const QuantCase &c, int64_t n, const float *x) {
  float sum = c.hasBytes() ? byteChainOf(c, n, x) : floatChainOf(c, n, x);
  return c.hasBias ? sum + c.bias[n] : sum;
}

std::string label(const QuantCase &c, int64_t tokens) {
  return std::to_string(c.rows) + "x" + std::to_string(c.columns) + " " +
         c.format + ", activations " + std::to_string(c.activationGroup) +
         ", " + std::to_string(tokens) + " tokens";
}

/// Compiled once for all tests of the level.
QuantProgram &programFor(const CPULevel *level) {
  static std::map<const CPULevel *, std::unique_ptr<QuantProgram>> programs;
  auto &entry = programs[level];
  if (!entry)
    entry = std::make_unique<QuantProgram>(*level);
  return *entry;
}

/// Rows [first, first + tokens) of the case's inputs.
std::vector<float> input(const QuantCase &c, int64_t first, int64_t tokens) {
  return {c.inputs.begin() + first * c.columns,
          c.inputs.begin() + (first + tokens) * c.columns};
}

/// Writes `tokens` rows of every input, runs, and returns every output.
std::vector<std::vector<float>> run(QuantProgram &program, int64_t tokens,
                                    int64_t workers, int64_t firstInput = 0) {
  LoadedProgram &loaded = *program.loaded;
  loaded.clearArena();
  StepInputs inputs;
  inputs.numTokens = tokens;
  inputs.logitRows.resize(tokens);
  std::vector<unsigned> written;
  for (const QuantCase &c : program.cases) {
    loaded.setRows(c.x, input(c, firstInput, tokens));
    written.push_back(c.y);
    if (c.hasBytes())
      written.push_back(c.quantizedX);
  }
  loaded.snapshot();
  loaded.run(inputs, workers);
  loaded.expectOnlyWritten(written, tokens);
  std::vector<std::vector<float>> results;
  for (const QuantCase &c : program.cases)
    results.push_back(loaded.rows(c.y, tokens));
  return results;
}

class QuantizedMatmul : public testing::TestWithParam<const CPULevel *> {
protected:
  void SetUp() override {
    LLMIR_SKIP_UNLESS_COVERED(GetParam(), Products::OfBytes);
    program = &programFor(GetParam());
    ASSERT_TRUE(program->loaded) << program->failure.message();
  }

  QuantProgram *program = nullptr;
};

} // namespace

// SPEC: 180
TEST_P(QuantizedMatmul, AgreesWithFloat64) {
  const bool isWhole = isLongTest() || !isEmulated(GetParam());
  for (int64_t tokens : isWhole
                            ? kTokenCounts
                            : std::vector<int64_t>{0, 1, 2, 3, 5, 7, 13, 33}) {
    auto results = run(*program, tokens, 1);
    for (size_t i = 0; i < results.size(); ++i) {
      const QuantCase &c = program->cases[i];
      std::vector<float> x = input(c, 0, tokens);
      std::vector<double> expected, weights;
      for (int64_t n = 0; n < c.rows; ++n)
        for (int64_t k = 0; k < c.columns; ++k)
          weights.push_back(c.weight(n, k));
      for (int64_t t = 0; t < tokens; ++t) {
        ByteRow row;
        if (c.hasBytes())
          row = quantizeActivations(c, x.data() + t * c.columns);
        for (int64_t n = 0; n < c.rows; ++n) {
          double sum = c.hasBias ? c.bias[n] : 0.0;
          for (int64_t k = 0; k < c.columns; ++k)
            sum += weights[n * c.columns + k] *
                   (c.hasBytes() ? double(row.scale[k]) * row.q[k]
                                 : x[t * c.columns + k]);
          expected.push_back(sum);
        }
      }
      EXPECT_LE(normalizedError(results[i], expected), 1e-10)
          << label(c, tokens);
    }
  }
}

TEST_P(QuantizedMatmul, AddsAlongAscendingColumns) {
  for (int64_t tokens : {1, 3, 6, 7, 16, 33, 65, 70}) {
    int64_t dots = tileCounts().byteDots;
    auto results = run(*program, tokens, 1);
    // Sixteen tokens are multiplied with tiles on levels that have them.
    bool hasTiles = canEmulateTiles(GetParam()->name.str()) && tokens >= 16;
    EXPECT_EQ(tileCounts().byteDots > dots, hasTiles) << tokens << " tokens";
    for (size_t i = 0; i < results.size(); ++i) {
      const QuantCase &c = program->cases[i];
      std::vector<float> x = input(c, 0, tokens), expected;
      for (int64_t t = 0; t < tokens; ++t)
        for (int64_t n = 0; n < c.rows; ++n)
          expected.push_back(chainOf(c, n, x.data() + t * c.columns));
      EXPECT_TRUE(sameBits(results[i], expected)) << label(c, tokens);
    }
  }
}

TEST_P(QuantizedMatmul, GivesTheSameBitsAloneAndInABatch) {
  auto batch = run(*program, kBudget, 1);
  for (int64_t t = 0; t < kBudget; t += 2) {
    auto alone = run(*program, 1, 1, t);
    for (size_t i = 0; i < batch.size(); ++i) {
      const QuantCase &c = program->cases[i];
      std::vector<float> row(batch[i].begin() + t * c.rows,
                             batch[i].begin() + (t + 1) * c.rows);
      EXPECT_TRUE(sameBits(row, alone[i]))
          << label(c, kBudget) << ", token " << t;
    }
  }
}

TEST_P(QuantizedMatmul, GivesTheSameBitsWithAnyNumberOfWorkers) {
  for (int64_t tokens : {1, 7}) {
    auto one = run(*program, tokens, 1);
    for (int64_t workers : {2, 3}) {
      auto several = run(*program, tokens, workers);
      for (size_t i = 0; i < one.size(); ++i)
        EXPECT_TRUE(sameBits(one[i], several[i]))
            << label(program->cases[i], tokens) << ", " << workers
            << " workers";
    }
  }
}

TEST_P(QuantizedMatmul, WritesZeroBehindItsColumns) {
  run(*program, 7, 2);
  for (const QuantCase &c : program->cases)
    for (float value : program->loaded->padding(c.y, 6))
      EXPECT_EQ(value, 0.0f) << label(c, 7);
}

TEST_P(QuantizedMatmul, WhatIsNotANumberStaysInItsRow) {
  auto expected = run(*program, 3, 1);
  for (float strange : {std::numeric_limits<float>::quiet_NaN(),
                        std::numeric_limits<float>::infinity()}) {
    LoadedProgram &loaded = *program->loaded;
    StepInputs inputs;
    inputs.numTokens = 3;
    inputs.logitRows.resize(3);
    for (const QuantCase &c : program->cases) {
      std::vector<float> x = input(c, 0, 3);
      x[c.columns + c.columns - 1] = strange;
      loaded.setRows(c.x, x);
    }
    loaded.run(inputs, 1);
    for (size_t i = 0; i < expected.size(); ++i) {
      const QuantCase &c = program->cases[i];
      std::vector<float> rows = loaded.rows(c.y, 3);
      for (int64_t n = 0; n < c.rows; ++n) {
        EXPECT_EQ(rows[n], expected[i][n]) << label(c, 3);
        EXPECT_FALSE(std::isfinite(rows[c.rows + n])) << label(c, 3);
        EXPECT_EQ(rows[2 * c.rows + n], expected[i][2 * c.rows + n])
            << label(c, 3);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(, QuantizedMatmul, testing::ValuesIn(allLevels()),
                         [](const auto &info) {
                           return levelName(info.param);
                         });

// Byte dot products, pairs of 16-bit products and 256-bit registers.
TEST(QuantizedMatmulLevels, GiveTheSameBits) {
  std::map<size_t, std::vector<float>> first; // By the case's number.
  for (const CPULevel *level : allLevels()) {
    if (coverageOf(level, Products::OfBytes) == Coverage::None)
      continue;
    QuantProgram &program = programFor(level);
    ASSERT_TRUE(program.loaded) << program.failure.message();
    auto results = run(program, 7, 2);
    for (size_t i = 0; i < results.size(); ++i) {
      const QuantCase &c = program.cases[i];
      auto known = first.try_emplace(c.number, results[i]).first;
      EXPECT_TRUE(sameBits(results[i], known->second))
          << label(c, 7) << " at " << levelName(level);
    }
  }
}
