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
#include <functional>
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
      rows, kFixedSize);
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
      int64_t(1), kFixedSize);
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
      columns, kFixedSize);
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
            map(2, getAffineSymbolExpr(0, context()), dim(1), 1)}),
      kFixedSize);
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

//===----------------------------------------------------------------------===//
// Over the rows of a step
//===----------------------------------------------------------------------===//

namespace {

/// Nests whose first loop runs over the rows of a step, of which buffers have
/// kMaxRows.
class StepNestKernels : public NestKernels {
protected:
  kernel::RowSpaceAttr overTokens() {
    return kernel::RowSpaceAttr::get(context(), RowSpace::Tokens);
  }
  /// Runs with each number of rows, and holds the columns of `out` against
  /// those that `expected` has for a row.
  void runAll(unsigned out, int64_t columns,
              const std::function<void(int64_t, float *)> &expected);
};

} // namespace

void StepNestKernels::runAll(
    unsigned out, int64_t columns,
    const std::function<void(int64_t, float *)> &expected) {
  for (int64_t rows : kRowCounts) {
    StepInputs inputs;
    inputs.numTokens = rows;
    run(inputs, {out}, rows);
    std::vector<float> all(rows * columns);
    for (int64_t row = 0; row < rows; ++row)
      expected(row, all.data() + row * columns);
    EXPECT_TRUE(sameBits(loaded->rows(out, rows), all)) << rows << " rows";
  }
}

TEST_P(StepNestKernels, LoopsReduceWithinRows) {
  constexpr int64_t columns = 21;
  const unsigned x = program.addBuffer(kMaxRows, columns);
  const unsigned y = program.addBuffer(1, columns); // The same for all rows.
  const unsigned initial = program.addBuffer(kMaxRows, 1);
  const unsigned out = program.addBuffer(kMaxRows, 1);
  auto op = program.call<kernel::LoopsOp>(
      program[std::vector<unsigned>{x, y, initial}], program[out],
      std::vector<int64_t>{kMaxRows, columns}, int64_t(1),
      maps({map(2, dim(0), dim(1)), map(2, constant(0), dim(1)),
            map(2, dim(0), constant(0)), map(2, dim(0), constant(0))}),
      int64_t(1), overTokens());
  setBody(op.getBody(), 2, 3,
          [](OpBuilder &b, Location loc, ValueRange args) -> Value {
            Value product = arith::MulFOp::create(b, loc, args[2], args[3]);
            return arith::AddFOp::create(b, loc, args[4], product);
          });
  ASSERT_NO_FATAL_FAILURE(load());
  const std::vector<float> xs = random.values(kMaxRows * columns);
  const std::vector<float> ys = random.values(columns);
  const std::vector<float> initials = random.values(kMaxRows);
  loaded->setRows(x, xs);
  loaded->setRows(y, ys);
  loaded->setRows(initial, initials);
  runAll(out, 1, [&](int64_t row, float *sum) {
    *sum = initials[row];
    for (int64_t k = 0; k < columns; ++k) {
      const float product = xs[row * columns + k] * ys[k];
      *sum += product;
    }
  });
}

TEST_P(StepNestKernels, CopyBoxJoinsRows) {
  constexpr int64_t columns = 24, first = 8;
  const unsigned x = program.addBuffer(kMaxRows, first);
  const unsigned y = program.addBuffer(kMaxRows, columns - first);
  const unsigned out = program.addBuffer(kMaxRows, columns);
  int64_t at = 0;
  for (auto [from, size] :
       {std::pair(x, first), std::pair(y, columns - first)}) {
    program.call<kernel::CopyBoxOp>(
        program[from], program[out], std::vector<int64_t>{kMaxRows, size}, size,
        int64_t(0), std::vector<int64_t>{size, 1}, columns, at,
        std::vector<int64_t>{columns, 1}, overTokens());
    at += size;
  }
  ASSERT_NO_FATAL_FAILURE(load());
  const std::vector<float> xs = random.values(kMaxRows * first);
  const std::vector<float> ys = random.values(kMaxRows * (columns - first));
  loaded->setRows(x, xs);
  loaded->setRows(y, ys);
  runAll(out, columns, [&](int64_t row, float *joined) {
    std::copy_n(xs.data() + row * first, first, joined);
    std::copy_n(ys.data() + row * (columns - first), columns - first,
                joined + first);
  });
}

TEST_P(StepNestKernels, GatherTakesElementsOfEachRow) {
  constexpr int64_t columns = 19, chosen = 3;
  const unsigned indices = program.addIntegers(kMaxRows, chosen);
  const unsigned table = program.addBuffer(columns, 2);
  const unsigned out = program.addBuffer(kMaxRows, 2 * chosen);
  // out[row, 2 i + c] = table[indices[row, i], c]
  program.call<kernel::GatherOp>(
      program[indices], program[table], program[out],
      std::vector<int64_t>{kMaxRows, chosen, 2}, columns,
      maps({map(3, dim(0), dim(1)),
            map(3, getAffineSymbolExpr(0, context()), dim(2), 1),
            map(3, dim(0), dim(1) * 2 + dim(2))}),
      2 * chosen, overTokens());
  ASSERT_NO_FATAL_FAILURE(load());
  const std::vector<float> rows = random.values(columns * 2);
  std::vector<int32_t> places;
  for (int64_t i = 0; i < kMaxRows * chosen; ++i)
    places.push_back(static_cast<int32_t>((7 * i) % columns));
  loaded->setRows(table, rows);
  loaded->setIntegers(indices, places);
  runAll(out, 2 * chosen, [&](int64_t row, float *elements) {
    for (int64_t i = 0; i < chosen; ++i)
      std::copy_n(rows.data() + 2 * places[row * chosen + i], 2,
                  elements + 2 * i);
  });
}

TEST_P(StepNestKernels, ScatterWritesWithinRows) {
  constexpr int64_t columns = 16, sources = 3;
  const unsigned indices = program.addIntegers(kMaxRows, sources);
  const unsigned x = program.addBuffer(kMaxRows, sources);
  const unsigned out = program.addBuffer(kMaxRows, columns);
  program.call<kernel::ScatterOp>(
      program[indices], program[x], program[out],
      std::vector<int64_t>{kMaxRows, sources}, int64_t(2), columns,
      maps({map(2, dim(0), dim(1)), map(2, dim(0), dim(1)),
            map(2, dim(0), getAffineSymbolExpr(0, context()), 1)}),
      overTokens());
  ASSERT_NO_FATAL_FAILURE(load());
  const std::vector<float> xs = random.values(kMaxRows * sources);
  std::vector<int32_t> places;
  for (int64_t i = 0; i < kMaxRows * sources; ++i)
    places.push_back(static_cast<int32_t>((5 * i) % (columns + 2)) - 1);
  loaded->setRows(x, xs);
  loaded->setIntegers(indices, places);
  const std::vector<float> kept = random.values(kMaxRows * columns);
  for (int64_t rows : kRowCounts)
    for (int64_t workers : {1, 2, 3}) {
      StepInputs inputs;
      inputs.numTokens = rows;
      loaded->setRows(out, kept);
      loaded->run(inputs, workers);
      std::vector<float> expected = kept;
      for (int64_t row = 0; row < rows; ++row)
        for (int64_t i = 0; i < sources; ++i) {
          int32_t place = places[row * sources + i];
          place += place < 0 ? columns : 0;
          if (place < columns)
            expected[row * columns + place] = xs[row * sources + i];
        }
      EXPECT_TRUE(sameBits(loaded->rows(out, kMaxRows), expected))
          << rows << " rows, " << workers << " workers";
    }
}

TEST_P(StepNestKernels, SortOrdersEachRow) {
  constexpr int64_t columns = 11, count = 4;
  const unsigned x = program.addBuffer(kMaxRows, columns);
  const unsigned values = program.addBuffer(kMaxRows, count);
  const unsigned indices = program.addIntegers(kMaxRows, count);
  const unsigned a = program.addIntegers(kMaxRows, columns);
  const unsigned b = program.addIntegers(kMaxRows, columns);
  program.call<kernel::SortOp>(program[x], program[values], program[indices],
                               program[a], program[b], kMaxRows, columns, count,
                               /*descending=*/true, overTokens());
  ASSERT_NO_FATAL_FAILURE(load());
  const std::vector<float> xs = random.values(kMaxRows * columns);
  loaded->setRows(x, xs);
  for (int64_t rows : kRowCounts) {
    StepInputs inputs;
    inputs.numTokens = rows;
    run(inputs, {{values, rows}, {indices, rows}, {a, rows}, {b, rows}});
    std::vector<float> expected;
    for (int64_t row = 0; row < rows; ++row) {
      std::vector<float> sorted(xs.begin() + row * columns,
                                xs.begin() + (row + 1) * columns);
      std::sort(sorted.rbegin(), sorted.rend());
      expected.insert(expected.end(), sorted.begin(), sorted.begin() + count);
    }
    EXPECT_TRUE(sameBits(loaded->rows(values, rows), expected))
        << rows << " rows";
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
                               descending, kFixedSize);
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
LLMIR_TEST_ALL_LEVELS(StepNestKernels);
