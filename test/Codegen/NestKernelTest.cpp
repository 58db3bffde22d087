// RUN: llmir-codegen-tests --gtest_filter='NestKernels*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels over loop nests, sorts, and packing of computed integers: small cases
// with expected results in a few lines of C++. The tests of functions
// (test/Execution) cover many more shapes.
//
//===----------------------------------------------------------------------===//

#include "KernelTest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace llmir;
using namespace llmir::test;
using namespace mlir;

namespace {

class NestKernels : public KernelTest {
protected:
  AffineExpr dim(unsigned i) { return getAffineDimExpr(i, context()); }
  /// The map of `loops` loops to (row, column).
  AffineMap map(unsigned loops, AffineExpr row, AffineExpr column,
                unsigned symbols = 0) {
    return AffineMap::get(loops, symbols, {row, column}, context());
  }
  AffineExpr constant(int64_t value) {
    return getAffineConstantExpr(value, context());
  }
  ArrayAttr maps(ArrayRef<AffineMap> list) {
    return Builder(context()).getAffineMapArrayAttr(list);
  }
  MLIRContext *context() { return program.getContext(); }

  /// Gives a nest its region: of the loops' indices and elements of f32.
  void setBody(Region &region, size_t loops, size_t elements,
               const KernelProgram::ScalarBody &body) {
    OpBuilder b(context());
    Block &block = region.emplaceBlock();
    for (size_t i = 0; i < loops + elements; ++i)
      block.addArgument(i < loops ? Type(b.getIndexType())
                                  : Type(b.getF32Type()),
                        b.getUnknownLoc());
    b.setInsertionPointToEnd(&block);
    YieldOp::create(b, b.getUnknownLoc(),
                    body(b, b.getUnknownLoc(), block.getArguments()));
  }

  void testSort(bool descending);

  Random random{97};
};

} // namespace

TEST_P(NestKernels, LoopsWriteAnElementAtEachPoint) {
  // out[j, i] = x[i, j] + y[0, j], a transposition with a broadcast.
  constexpr int64_t rows = 7, columns = 19;
  const unsigned x = program.addBuffer(rows, columns);
  const unsigned y = program.addBuffer(1, columns);
  const unsigned out = program.addBuffer(columns, rows);
  auto op = program.call<kernel::LoopsOp>(
      program[std::vector<unsigned>{x, y}], program[out],
      std::vector<int64_t>{columns, rows}, int64_t(2),
      maps({map(2, dim(1), dim(0)), map(2, constant(0), dim(0)),
            map(2, dim(0), dim(1))}),
      rows);
  setBody(op.getBody(), 2, 2,
          [](OpBuilder &b, Location loc, ValueRange args) -> Value {
            return arith::AddFOp::create(b, loc, args[2], args[3]);
          });
  ASSERT_NO_FATAL_FAILURE(load());
  const std::vector<float> xs = random.values(rows * columns);
  const std::vector<float> ys = random.values(columns);
  loaded->setRows(x, xs);
  loaded->setRows(y, ys);
  run(StepInputs(), {out}, columns);
  std::vector<float> expected;
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = 0; i < rows; ++i)
      expected.push_back(xs[i * columns + j] + ys[j]);
  EXPECT_TRUE(sameBits(loaded->rows(out, columns), expected));
}

TEST_P(NestKernels, LoopsReduceInAscendingOrder) {
  // out[i, 0] = initial[i, 0] + x[i, 0] + x[i, 1] + …
  constexpr int64_t rows = 5, columns = 37;
  const unsigned x = program.addBuffer(rows, columns);
  const unsigned initial = program.addBuffer(rows, 1);
  const unsigned out = program.addBuffer(rows, 1);
  auto op = program.call<kernel::LoopsOp>(
      program[std::vector<unsigned>{x, initial}], program[out],
      std::vector<int64_t>{rows, columns}, int64_t(1),
      maps({map(2, dim(0), dim(1)), map(2, dim(0), constant(0)),
            map(2, dim(0), constant(0))}),
      int64_t(1));
  setBody(op.getBody(), 2, 2,
          [](OpBuilder &b, Location loc, ValueRange args) -> Value {
            return arith::AddFOp::create(b, loc, args[3], args[2]);
          });
  ASSERT_NO_FATAL_FAILURE(load());
  const std::vector<float> xs = random.values(rows * columns);
  std::vector<float> expected = random.values(rows);
  loaded->setRows(x, xs);
  loaded->setRows(initial, expected);
  run(StepInputs(), {out}, rows);
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      expected[i] += xs[i * columns + j];
  EXPECT_TRUE(sameBits(loaded->rows(out, rows), expected));
}

TEST_P(NestKernels, GatherTakesRowsAtIndices) {
  constexpr int64_t rows = 6, columns = 21, bound = 5;
  const unsigned indices = program.addIntegers(1, rows);
  const unsigned x = program.addBuffer(bound, columns);
  const unsigned out = program.addBuffer(rows, columns);
  program.call<kernel::GatherOp>(
      program[indices], program[x], program[out],
      std::vector<int64_t>{rows, columns}, bound,
      maps({map(2, constant(0), dim(0)),
            map(2, getAffineSymbolExpr(0, context()), dim(1), 1),
            map(2, dim(0), dim(1))}),
      columns);
  ASSERT_NO_FATAL_FAILURE(load());
  const std::vector<float> xs = random.values(bound * columns);
  loaded->setRows(x, xs);
  // From the end, and out of range on both sides.
  loaded->setIntegers(indices, {0, 4, -1, 9, -9, 2});
  run(StepInputs(), {out}, rows);
  std::vector<float> expected;
  for (int64_t row : {0, 4, 4, 4, 0, 2})
    expected.insert(expected.end(), xs.begin() + row * columns,
                    xs.begin() + (row + 1) * columns);
  EXPECT_TRUE(sameBits(loaded->rows(out, rows), expected));
}

TEST_P(NestKernels, ScatterLetsTheLastWriterWin) {
  constexpr int64_t rows = 5, columns = 16, bound = 4;
  const unsigned indices = program.addIntegers(1, rows);
  const unsigned x = program.addBuffer(rows, columns);
  const unsigned out = program.addBuffer(bound, columns);
  program.call<kernel::ScatterOp>(
      program[indices], program[x], program[out],
      std::vector<int64_t>{rows, columns}, int64_t(1), bound,
      maps({map(2, constant(0), dim(0)), map(2, dim(0), dim(1)),
            map(2, getAffineSymbolExpr(0, context()), dim(1), 1)}));
  ASSERT_NO_FATAL_FAILURE(load());
  const std::vector<float> xs = random.values(rows * columns);
  const std::vector<float> kept = random.values(bound * columns);
  loaded->setRows(x, xs);
  loaded->setIntegers(indices, {1, -1, 1, 7, 0});
  std::vector<float> expected = kept;
  for (auto [from, to] : {std::pair(2, 1), std::pair(1, 3), std::pair(4, 0)})
    std::copy_n(xs.begin() + from * columns, columns,
                expected.begin() + to * columns);
  for (int64_t workers : {1, 2, 3}) {
    loaded->setRows(out, kept);
    loaded->run(StepInputs(), workers);
    EXPECT_TRUE(sameBits(loaded->rows(out, bound), expected)) << workers;
  }
}

void NestKernels::testSort(bool descending) {
  constexpr int64_t rows = 3, columns = 45, count = 20;
  const unsigned x = program.addBuffer(rows, columns);
  const unsigned values = program.addBuffer(rows, count);
  const unsigned indices = program.addIntegers(rows, count);
  const unsigned a = program.addIntegers(rows, columns);
  const unsigned b = program.addIntegers(rows, columns);
  program.call<kernel::SortOp>(program[x], program[values], program[indices],
                               program[a], program[b], rows, columns, count,
                               descending);
  ASSERT_NO_FATAL_FAILURE(load());
  std::vector<float> xs = random.values(rows * columns, -9.0f, 9.0f);
  for (float &value : xs)
    value = std::nearbyintf(value);
  loaded->setRows(x, xs);
  run(StepInputs(), {{values, rows}, {indices, rows}, {a, rows}, {b, rows}});
  std::vector<float> expected;
  std::vector<int32_t> places;
  for (int64_t row = 0; row < rows; ++row) {
    const float *elements = xs.data() + row * columns;
    std::vector<int32_t> order(columns);
    std::iota(order.begin(), order.end(), 0);
    // Equal elements keep their order.
    std::sort(order.begin(), order.end(), [&](int32_t i, int32_t j) {
      if (elements[i] == elements[j])
        return i < j;
      return (elements[i] > elements[j]) == descending;
    });
    for (int64_t i = 0; i < count; ++i) {
      expected.push_back(elements[order[i]]);
      places.push_back(order[i]);
    }
  }
  EXPECT_TRUE(sameBits(loaded->rows(values, rows), expected));
  EXPECT_EQ(loaded->integers(indices, rows), places);
}

TEST_P(NestKernels, AscendingSortKeepsTheOrderOfEqualElements) {
  testSort(/*descending=*/false);
}
TEST_P(NestKernels, DescendingSortKeepsTheOrderOfEqualElements) {
  testSort(/*descending=*/true);
}

TEST_P(NestKernels, PackedIntegersAreThoseOfTheTensor) {
  // A matrix of 20 rows, of which two share their scales.
  constexpr int64_t rows = 20, columns = 64, groups = 2;
  const std::string name = "int4:g32:asym";
  IntegerMatrixLayout layout{*IntegerFormat::fromName(name), rows, columns};
  const int64_t words = layout.bytes() / 4;
  const unsigned q = program.addBuffer(rows, columns);
  const unsigned scales = program.addBuffer(rows / 2, groups);
  const unsigned zeroPoints = program.addBuffer(rows / 2, groups);
  const unsigned out = program.addBuffer(ceilDiv(words, 16), 16);
  program.call<kernel::PackIntegersOp>(
      program[q], program[scales], program[zeroPoints], program[out], name,
      rows, columns, columns, columns, int64_t(1), groups, groups, int64_t(1),
      int64_t(2));
  ASSERT_NO_FATAL_FAILURE(load());
  std::vector<float> qs = random.values(rows * columns, -8.49f, 7.49f);
  std::vector<float> zs = random.values(rows / 2 * groups, -8.49f, 7.49f);
  for (std::vector<float> *list : {&qs, &zs})
    for (float &value : *list)
      value = std::nearbyintf(value);
  const std::vector<float> ss = random.values(rows / 2 * groups, 0.1f, 2.0f);
  loaded->setRows(q, qs);
  loaded->setRows(scales, ss);
  loaded->setRows(zeroPoints, zs);
  run(StepInputs(), {out}, ceilDiv(words, 16));
  const std::vector<float> packed = loaded->rows(out, ceilDiv(words, 16));
  for (int64_t n = 0; n < rows; ++n) {
    std::vector<float> row(columns), expected;
    unpackIntegerRow(layout, n,
                     reinterpret_cast<const uint8_t *>(packed.data()),
                     row.data());
    for (int64_t k = 0; k < columns; ++k) {
      const int64_t cell = n / 2 * groups + k / 32;
      expected.push_back(ss[cell] * (qs[n * columns + k] - zs[cell]));
    }
    EXPECT_TRUE(sameBits(row, expected)) << "row " << n;
  }
}

LLMIR_TEST_ALL_LEVELS(NestKernels);
