//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelTest.h"

namespace llmir::test {

void KernelTest::load() {
  program.finish();
  Expected<LoadedProgram> result = program.load(*GetParam());
  ASSERT_TRUE(result) << result.status().message();
  loaded = std::make_unique<LoadedProgram>(std::move(*result));
}

void KernelTest::run(const StepInputs &inputs,
                     const std::vector<WrittenRows> &outputs) {
  std::vector<std::vector<float>> first;
  // Emulated runs start an emulator each; native ones test teams of all sizes.
  const std::vector<int64_t> teams = isEmulated(GetParam())
                                         ? std::vector<int64_t>{3}
                                         : std::vector<int64_t>{1, 2, 3, 5};
  for (int64_t workers : teams) {
    for (const WrittenRows &output : outputs)
      loaded->clearBuffer(output.buffer);
    loaded->snapshot();
    loaded->run(inputs, workers);
    loaded->expectOnlyWritten(outputs);
    for (size_t i = 0; i < outputs.size(); ++i) {
      auto [buffer, rows] = outputs[i];
      std::vector<float> values = loaded->rows(buffer, rows);
      expectZeroPadding(buffer, rows);
      if (workers == teams.front())
        first.push_back(values);
      else
        EXPECT_TRUE(sameBits(first[i], values))
            << workers << " workers, output " << i;
    }
  }
}

void KernelTest::run(const StepInputs &inputs,
                     const std::vector<unsigned> &outputs, int64_t rows) {
  std::vector<WrittenRows> written;
  for (unsigned output : outputs)
    written.push_back({output, rows});
  run(inputs, written);
}

void KernelTest::expectZeroPadding(unsigned buffer, int64_t rows) {
  for (int64_t row = 0; row < rows; ++row)
    for (float value : loaded->padding(buffer, row))
      ASSERT_EQ(value, 0.0f) << "buffer " << buffer << ", row " << row;
}

} // namespace llmir::test
