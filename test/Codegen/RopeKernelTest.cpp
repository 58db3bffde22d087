// RUN: llmir-codegen-tests --gtest_filter='RopeKernels*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rotary position embedding: angles accurate to f32 at large positions, and the
// rotation of halves.
//
//===----------------------------------------------------------------------===//

#include "KernelTest.h"

#include <cmath>

using namespace llmir;
using namespace llmir::test;

namespace {

constexpr int64_t kBudget = 16;

class RopeKernels : public KernelTest {};

/// base^(-2i / dimension).
std::vector<double> frequencies(int64_t rotaryDim, double base) {
  std::vector<double> result;
  for (int64_t i = 0; i < rotaryDim / 2; ++i)
    result.push_back(std::pow(base, -2.0 * i / rotaryDim));
  return result;
}

} // namespace

TEST_P(RopeKernels, AnglesAgreeWithFloat64) {
  struct Table {
    std::vector<double> frequencies;
    double scaling;
    unsigned cosines, sines;
  };
  std::vector<Table> tables;
  for (int64_t dim : {2, 6, 10, 64, 128})
    for (double scaling : {1.0, 1.1386}) {
      Table table{frequencies(dim, dim < 64 ? 1e4 : 5e5), scaling,
                  program.addBuffer(kBudget, dim / 2),
                  program.addBuffer(kBudget, dim / 2)};
      program.call<kernel::RopeAnglesOp>(program[table.cosines],
                                         program[table.sines],
                                         table.frequencies, scaling);
      tables.push_back(std::move(table));
    }
  ASSERT_NO_FATAL_FAILURE(load());

  StepInputs inputs;
  inputs.positions = {0,    1,     2,      3,      11,     355,     710,
                      4096, 32767, 131071, 262144, 999999, 1000000, 8388607};
  inputs.numTokens = static_cast<int64_t>(inputs.positions.size());
  loaded->run(inputs, 1);
  for (const Table &table : tables) {
    size_t half = table.frequencies.size();
    std::vector<float> cosines = loaded->rows(table.cosines, inputs.numTokens);
    std::vector<float> sines = loaded->rows(table.sines, inputs.numTokens);
    for (size_t t = 0; t < inputs.positions.size(); ++t)
      for (size_t i = 0; i < half; ++i) {
        double angle = inputs.positions[t] * table.frequencies[i];
        // Rounding to f32 alone is half of 2^-23, near the scaling.
        EXPECT_NEAR(cosines[t * half + i], std::cos(angle) * table.scaling,
                    0x1.01p-24 * 2)
            << "position " << inputs.positions[t] << ", pair " << i;
        EXPECT_NEAR(sines[t * half + i], std::sin(angle) * table.scaling,
                    0x1.01p-24 * 2)
            << "position " << inputs.positions[t] << ", pair " << i;
      }
  }

  std::vector<float> alone = loaded->rows(tables[0].cosines, inputs.numTokens);
  loaded->clearArena();
  loaded->run(inputs, 3);
  EXPECT_TRUE(
      sameBits(alone, loaded->rows(tables[0].cosines, inputs.numTokens)));
}

namespace {
/// The attributes of a rope.
struct Rotation {
  int64_t heads, headDim, rotaryDim;
  bool interleaved = false;
};

struct RopeCase {
  Rotation rotation;
  bool inPlace;
  std::vector<float> x;
  unsigned cosines, sines, in, out;
};

/// The rotation of one row, in f64 on the angles' f32.
std::vector<double> rotate(const Rotation &rotation, const float *x,
                           const float *cosines, const float *sines) {
  std::vector<double> out(x, x + rotation.heads * rotation.headDim);
  int64_t half = rotation.rotaryDim / 2;
  for (int64_t h = 0; h < rotation.heads; ++h)
    for (int64_t i = 0; i < half; ++i) {
      int64_t low = h * rotation.headDim + (rotation.interleaved ? 2 * i : i);
      int64_t high = low + (rotation.interleaved ? 1 : half);
      double c = cosines[i], s = sines[i];
      out[low] = x[low] * c - x[high] * s;
      out[high] = x[high] * c + x[low] * s;
    }
  return out;
}
} // namespace

TEST_P(RopeKernels, RotateHalvesOrPairsOfEveryHead) {
  constexpr int64_t tokens = 5;
  const Rotation shapes[] = {
      {6, 10, 10},         {3, 6, 6},         {4, 64, 64},
      {2, 128, 128},       {5, 64, 32},       {3, 80, 20},
      {1, 256, 256},       {6, 10, 10, true}, {1, 2, 2, true},
      {4, 64, 64, true},   {5, 64, 32, true}, {3, 80, 20, true},
      {1, 256, 256, true}, {3, 70, 68, true}};
  std::vector<RopeCase> cases;
  std::vector<unsigned> written;
  Random random(13);
  for (const Rotation &rotation : shapes)
    for (bool inPlace : {false, true}) {
      RopeCase c{rotation,
                 inPlace,
                 random.values(tokens * rotation.heads * rotation.headDim),
                 program.addBuffer(kBudget, rotation.rotaryDim / 2),
                 program.addBuffer(kBudget, rotation.rotaryDim / 2),
                 program.addBuffer(kBudget, rotation.heads * rotation.headDim),
                 0};
      c.out = inPlace ? c.in
                      : program.addBuffer(kBudget,
                                          rotation.heads * rotation.headDim);
      program.call<kernel::RopeOp>(program[c.cosines], program[c.sines],
                                   program[c.in], program[c.out],
                                   rotation.heads, rotation.headDim,
                                   rotation.rotaryDim, rotation.interleaved);
      written.push_back(c.out);
      cases.push_back(std::move(c));
    }
  ASSERT_NO_FATAL_FAILURE(load());

  StepInputs inputs;
  inputs.numTokens = tokens;
  std::vector<std::vector<float>> withOneWorker;
  for (int64_t workers : {1, 2, 7}) {
    loaded->clearArena();
    Random angles(17);
    std::vector<std::vector<float>> cosines, sines;
    for (const RopeCase &c : cases) {
      cosines.push_back(angles.values(tokens * c.rotation.rotaryDim / 2));
      sines.push_back(angles.values(tokens * c.rotation.rotaryDim / 2));
      loaded->setRows(c.cosines, cosines.back());
      loaded->setRows(c.sines, sines.back());
      loaded->setRows(c.in, c.x);
    }
    loaded->snapshot();
    loaded->run(inputs, workers);
    loaded->expectOnlyWritten(written, tokens);
    for (size_t i = 0; i < cases.size(); ++i) {
      const RopeCase &c = cases[i];
      std::vector<float> actual = loaded->rows(c.out, tokens);
      for (int64_t t = 0; t < tokens; ++t)
        for (float value : loaded->padding(c.out, t))
          EXPECT_EQ(value, 0.0f) << "padding of token " << t;
      if (workers == 1) {
        std::vector<double> expected;
        int64_t width = c.rotation.heads * c.rotation.headDim;
        for (int64_t t = 0; t < tokens; ++t) {
          auto row = rotate(c.rotation, c.x.data() + t * width,
                            cosines[i].data() + t * c.rotation.rotaryDim / 2,
                            sines[i].data() + t * c.rotation.rotaryDim / 2);
          expected.insert(expected.end(), row.begin(), row.end());
        }
        EXPECT_LE(normalizedError(actual, expected), 1e-10)
            << c.rotation.heads << " heads of " << c.rotation.headDim
            << (c.rotation.interleaved ? ", pairs" : ", halves");
        withOneWorker.push_back(actual);
      } else {
        EXPECT_TRUE(sameBits(actual, withOneWorker[i]))
            << workers << " workers";
      }
    }
  }
}

LLMIR_TEST_ALL_LEVELS(RopeKernels);
