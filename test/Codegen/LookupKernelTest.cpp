// RUN: llmir-codegen-tests --gtest_filter='*LookupKernels*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// lookup_kv gathers exactly the stored values, and zeros.
//
//===----------------------------------------------------------------------===//

#include "AttentionHarness.h"

#include <tuple>

using namespace llmir;
using namespace llmir::test;

namespace {

struct Geometry {
  int64_t kvHeads, headDim, valueDim, blockSize;
};

const Geometry kGeometries[] = {{1, 64, 64, 16},
                                {2, 80, 80, 8},
                                {3, 7, 5, 32},
                                {4, 128, 96, 16},
                                {1, 256, 16, 2}};
const std::vector<SequenceShape> kSequences = {{0, 0},  {1, 0},  {15, 0},
                                               {16, 0}, {17, 0}, {33, 0}};
constexpr int64_t kRows = 35; // Tokens gathered of each sequence.

using Parameters = std::tuple<const CPULevel *, TensorFormat, Geometry>;

class LookupKernels : public testing::TestWithParam<Parameters> {
protected:
  void SetUp() override { LLMIR_SKIP_UNLESS_COVERED(std::get<0>(GetParam())); }
};

/// The cached rows of all sequences, [sequence, kRows, width].
std::vector<float> gathered(const CachedBatch &batch,
                            const std::vector<std::vector<float>> &rows,
                            int64_t width) {
  std::vector<float> result(kSequences.size() * kRows * width);
  for (size_t s = 0; s < kSequences.size(); ++s)
    for (size_t i = 0; i < rows[s].size(); ++i)
      result[s * kRows * width + i] = roundTo(batch.format, rows[s][i]);
  return result;
}

std::string nameOf(const testing::TestParamInfo<Parameters> &info) {
  auto [level, format, shape] = info.param;
  return levelName(level) + "_" + std::string(tensorFormatInfo(format).name) +
         "_" + std::to_string(shape.kvHeads) + "_" +
         std::to_string(shape.headDim) + "_" + std::to_string(shape.valueDim) +
         "_" + std::to_string(shape.blockSize);
}

} // namespace

TEST_P(LookupKernels, GatherWhatIsStoredAndZeros) {
  auto [level, format, shape] = GetParam();
  KVBlockLayout layout{shape.kvHeads, shape.headDim, shape.blockSize,
                       tensorFormatInfo(format).bytesPerBlock, shape.valueDim};
  CachedBatch batch(format, layout, kSequences, 3);
  int64_t rows = static_cast<int64_t>(kSequences.size()) * kRows;
  KernelProgram program;
  unsigned k = program.addBuffer(rows + 1, shape.kvHeads * shape.headDim);
  unsigned v = program.addBuffer(rows + 1, shape.kvHeads * shape.valueDim);
  program.call<kernel::LookupKVOp>(
      program[k], program[v], llvm::StringRef(tensorFormatInfo(format).name),
      shape.kvHeads, shape.headDim, shape.valueDim, shape.blockSize,
      /*values_in_keys=*/false, kRows);
  program.finish();
  Expected<LoadedProgram> loaded = program.load(*level);
  ASSERT_TRUE(loaded) << loaded.status().message();
  StepInputs inputs = batch.place({0, 1, 2, 3, 4, 5});
  for (int64_t workers : {1, 3}) {
    loaded->clearArena();
    loaded->snapshot();
    loaded->run(inputs, workers);
    loaded->expectOnlyWritten({k, v}, rows);
    EXPECT_TRUE(
        sameBits(loaded->rows(k, rows),
                 gathered(batch, batch.keys, shape.kvHeads * shape.headDim)));
    EXPECT_TRUE(sameBits(
        loaded->rows(v, rows),
        gathered(batch, batch.values, shape.kvHeads * shape.valueDim)));
    for (unsigned buffer : {k, v})
      for (float value : loaded->padding(buffer, rows - 1))
        EXPECT_EQ(value, 0.0f) << "padding";
  }
}

INSTANTIATE_TEST_SUITE_P(, LookupKernels,
                         testing::Combine(testing::ValuesIn(allLevels()),
                                          testing::Values(TensorFormat::F32,
                                                          TensorFormat::F16,
                                                          TensorFormat::BF16),
                                          testing::ValuesIn(kGeometries)),
                         nameOf);
