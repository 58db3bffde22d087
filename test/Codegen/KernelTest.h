//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The fixture of tests of single kernels: runs a program on a level with one
// worker and with several, which must give the same bits.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_CODEGEN_KERNELTEST_H
#define LLMIR_TEST_CODEGEN_KERNELTEST_H

#include "KernelHarness.h"

namespace llmir::test {

/// Numbers of rows of the steps for row kernels, and of their buffer.
constexpr int64_t kRowCounts[] = {0, 1, 7, 33};
constexpr int64_t kMaxRows = 34;

/// For nests that do not run over the rows of a step.
inline const mllm::kernel::RowSpaceAttr kFixedSize = {};

class KernelTest : public testing::TestWithParam<const CPULevel *> {
protected:
  void SetUp() override { LLMIR_SKIP_UNLESS_COVERED(GetParam()); }

  /// Compiles the program; call in ASSERT_NO_FATAL_FAILURE.
  void load();
  /// Runs with one worker and with several. The outputs must be equal, and
  /// nothing else may be written; the padding of f32 rows must be zero.
  void run(const StepInputs &inputs, const std::vector<WrittenRows> &outputs);
  void run(const StepInputs &inputs, const std::vector<unsigned> &outputs,
           int64_t rows);
  void expectZeroPadding(unsigned buffer, int64_t rows);

  KernelProgram program;
  std::unique_ptr<LoadedProgram> loaded;
};

/// The tests of a fixture on every level.
#define LLMIR_TEST_ALL_LEVELS(Fixture)                                         \
  INSTANTIATE_TEST_SUITE_P(                                                    \
      , Fixture, testing::ValuesIn(allLevels()),                               \
      [](const auto &info) { return levelName(info.param); })

} // namespace llmir::test

#endif // LLMIR_TEST_CODEGEN_KERNELTEST_H
