// RUN: llmir-codegen-tests --gtest_filter='CopyKernels*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Copying boxes: reshapes, slices, concatenations and transpositions.
//
//===----------------------------------------------------------------------===//

#include "KernelTest.h"

#include "llvm/ADT/STLExtras.h"

using namespace llmir;
using namespace llmir::test;

namespace {

class CopyKernels : public KernelTest {
protected:
  unsigned addInput(int64_t rows, int64_t columns) {
    inputs.push_back(
        {program.addBuffer(rows, columns), random.values(rows * columns)});
    return inputs.back().first;
  }
  void loadWithInputs() {
    ASSERT_NO_FATAL_FAILURE(load());
    for (const auto &[buffer, values] : inputs)
      loaded->setRows(buffer, values);
  }

  Random random{37};
  std::vector<std::pair<unsigned, std::vector<float>>> inputs;
};

/// The attributes of a copy_box.
struct Box {
  std::vector<int64_t> sizes, fromStrides, toStrides;
  int64_t fromColumns, from, toColumns, to;

  void call(KernelProgram &program, unsigned in, unsigned out) const {
    program.call<kernel::CopyBoxOp>(program[in], program[out], sizes,
                                    fromColumns, from, fromStrides, toColumns,
                                    to, toStrides, kFixedSize);
  }
};

/// The box, element by element, on flat tensors.
void copyBox(const Box &box, const std::vector<float> &x,
             std::vector<float> &out) {
  int64_t count = 1;
  for (int64_t size : box.sizes)
    count *= size;
  for (int64_t number = 0; number < count; ++number) {
    int64_t rest = number, from = box.from, to = box.to;
    for (size_t d = box.sizes.size(); d-- > 0;) {
      from += rest % box.sizes[d] * box.fromStrides[d];
      to += rest % box.sizes[d] * box.toStrides[d];
      rest /= box.sizes[d];
    }
    out[to] = x[from];
  }
}

} // namespace

TEST_P(CopyKernels, EveryElementGoesWhereTheStridesSay) {
  struct Case {
    Box box;
    int64_t fromRows, toRows;
    unsigned in = 0, out = 0;
  };
  std::vector<Case> cases{
      // Reshapes: the flat order is preserved, rows are longer, shorter or odd.
      {{{6 * 40}, {1}, {1}, 40, 0, 60, 0}, 6, 4},
      {{{7 * 33}, {1}, {1}, 33, 0, 7, 0}, 7, 33},
      {{{33 * 16}, {1}, {1}, 16, 0, 48, 0}, 33, 11},
      {{{64}, {1}, {1}, 64, 0, 1, 0}, 1, 64},
      // All of a tensor of one row length.
      {{{33 * 20}, {1}, {1}, 20, 0, 20, 0}, 33, 33},
      // Columns 5 to 17 of 7 rows; rows 2 to 5; every other row.
      {{{7, 13}, {20, 1}, {13, 1}, 20, 5, 13, 0}, 7, 7},
      {{{4, 20}, {20, 1}, {20, 1}, 20, 40, 20, 0}, 7, 4},
      {{{4, 20}, {40, 1}, {20, 1}, 20, 0, 20, 0}, 7, 4},
      // [3, 5, 8] transposed to [5, 3, 8], and [6, 10] to [10, 6].
      {{{5, 3, 8}, {8, 40, 1}, {24, 8, 1}, 40, 0, 24, 0}, 3, 5},
      {{{10, 6}, {1, 10}, {6, 1}, 10, 0, 6, 0}, 6, 10},
      // One row for all.
      {{{5, 18}, {0, 1}, {18, 1}, 18, 0, 18, 0}, 1, 5}};
  std::vector<WrittenRows> outputs;
  for (Case &c : cases) {
    c.in = addInput(c.fromRows, c.box.fromColumns);
    c.out = program.addBuffer(c.toRows + 1, c.box.toColumns);
    c.box.call(program, c.in, c.out);
    outputs.push_back({c.out, c.toRows});
  }
  ASSERT_NO_FATAL_FAILURE(loadWithInputs());
  run(StepInputs(), outputs);
  for (const auto &[c, input] : llvm::zip(cases, inputs)) {
    std::vector<float> expected(c.toRows * c.box.toColumns);
    copyBox(c.box, input.second, expected);
    EXPECT_TRUE(sameBits(loaded->rows(c.out, c.toRows), expected))
        << "case " << &c - cases.data();
  }
}

TEST_P(CopyKernels, BoxesJoinInOneTensor) {
  // [7, 5] | [7, 12] | [7, 16] concatenated by columns, [2, 9] and [5, 9] by
  // rows.
  unsigned beside = program.addBuffer(7, 33), over = program.addBuffer(7, 9);
  std::vector<float> besideExpected(7 * 33), overExpected(7 * 9);
  int64_t at = 0;
  auto copy = [&](Box box, int64_t rows, unsigned out,
                  std::vector<float> &expected) {
    unsigned in = addInput(rows, box.fromColumns);
    box.call(program, in, out);
    copyBox(box, inputs.back().second, expected);
  };
  for (int64_t width : {5, 12, 16}) {
    copy({{7, width}, {width, 1}, {33, 1}, width, 0, 33, at}, 7, beside,
         besideExpected);
    at += width;
  }
  copy({{2 * 9}, {1}, {1}, 9, 0, 9, 0}, 2, over, overExpected);
  copy({{5 * 9}, {1}, {1}, 9, 0, 9, 2 * 9}, 5, over, overExpected);
  ASSERT_NO_FATAL_FAILURE(loadWithInputs());
  run(StepInputs(), {beside, over}, 7);
  EXPECT_TRUE(sameBits(loaded->rows(beside, 7), besideExpected));
  EXPECT_TRUE(sameBits(loaded->rows(over, 7), overExpected));
}

TEST_P(CopyKernels, IntegersAreCopiedWithoutPadding) {
  unsigned in = program.addIntegers(3, 5), out = program.addIntegers(5, 3);
  Box{{15}, {1}, {1}, 5, 0, 3, 0}.call(program, in, out);
  ASSERT_NO_FATAL_FAILURE(load());
  std::vector<int32_t> values{1, -2, 3,  INT32_MAX,  INT32_MIN, 6,  7, 8,
                              9, 10, 11, 0x7fc00001, 13,        14, 15};
  loaded->setIntegers(in, values);
  run(StepInputs(), {out}, 5);
  EXPECT_EQ(loaded->integers(out, 5), values);
}

LLMIR_TEST_ALL_LEVELS(CopyKernels);
