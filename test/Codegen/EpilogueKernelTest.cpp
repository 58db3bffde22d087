// RUN: llmir-codegen-tests --gtest_filter='*EpilogueKernels*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matmuls with an element-wise epilogue: bit-identical to a matmul followed by
// the chain.
//
//===----------------------------------------------------------------------===//

#include "KernelTest.h"

#include "llmir/Dialect/MLLM/ScalarFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace llmir;
using namespace llmir::test;
using namespace mlir;

namespace {

class EpilogueKernels : public KernelTest {};

/// A matmul twice: with the chain, and followed by it.
struct EpilogueCase {
  const char *name;
  size_t operands; ///< Inputs of the chain other than the sum.
  KernelProgram::ScalarBody body;
  int64_t grain;
  bool bias, inPlace;
};

struct EpilogueBuffers {
  unsigned x, together, sums, apart;
  std::vector<unsigned> operands;
};

/// round(silu(a) * sum)
Value gated(OpBuilder &b, Location loc, ValueRange values) {
  Value product =
      arith::MulFOp::create(b, loc, emitSilu(b, loc, values[1]), values[0]);
  return emitRound(b, loc, product, b.getBF16Type());
}

std::vector<EpilogueCase> cases() {
  return {
      {"add", 1,
       [](OpBuilder &b, Location loc, ValueRange v) -> Value {
         return arith::AddFOp::create(b, loc, v[1], v[0]);
       },
       1, false, true},
      {"gelu", 0,
       [](OpBuilder &b, Location loc, ValueRange v) {
         return emitGelu(b, loc, v[0]);
       },
       2, true, false},
      {"gated", 1, gated, 1, false, false},
      {"sum of products", 2,
       [](OpBuilder &b, Location loc, ValueRange v) -> Value {
         Value square = arith::MulFOp::create(b, loc, v[1], v[1]);
         Value other = arith::MulFOp::create(b, loc, v[0], v[2]);
         return arith::AddFOp::create(b, loc, square, other);
       },
       3, true, true},
  };
}

constexpr int64_t kRows = 75, kColumns = 64;

} // namespace

TEST_P(EpilogueKernels, SameBitsAsOneAfterTheOther) {
  Random random(31);
  std::vector<EpilogueCase> all = cases();
  std::vector<EpilogueBuffers> buffers;
  std::string bias = program.addVector(random.values(kRows));
  IntegerFormat integers = *IntegerFormat::fromName("int8:g32");
  IntegerMatrixLayout layout{integers, kRows, kColumns};
  for (const EpilogueCase &c : all)
    for (bool quantized : {false, true}) {
      std::string matrix;
      if (quantized) {
        std::vector<uint8_t> packed(layout.bytes(), 0);
        for (int64_t row = 0; row < kRows; ++row) {
          std::vector<int16_t> q;
          for (int64_t k = 0; k < kColumns; ++k)
            q.push_back(static_cast<int16_t>(random.bits() % 255) - 127);
          std::vector<float> scales = random.values(layout.numGroups());
          packIntegerRow(layout, row, {q.data(), scales.data()}, packed.data());
        }
        matrix = program.addPacked(layout, packed);
      } else {
        matrix = program.addMatrix(
            TensorFormat::F16, kRows, kColumns,
            randomMatrix(TensorFormat::F16, kRows, kColumns, random));
      }
      EpilogueBuffers b;
      b.x = program.addBuffer(kMaxRows, kColumns);
      for (size_t i = 0; i < c.operands; ++i)
        b.operands.push_back(program.addBuffer(kMaxRows, kRows));
      b.sums = program.addBuffer(kMaxRows, kRows);
      b.apart = program.addBuffer(kMaxRows, kRows);
      b.together =
          c.inPlace ? b.operands.back() : program.addBuffer(kMaxRows, kRows);
      std::string format = quantized ? integers.name() : "f16";
      auto callLinear = [&](const std::vector<unsigned> &operands,
                            unsigned out) {
        return program.call<kernel::LinearOp>(
            program.weight(matrix), program.weight(c.bias ? bias : ""),
            program[b.x], program[operands], program[out], StringRef(format),
            kRows, kColumns, /*segment=*/IntegerAttr(), c.grain);
      };
      callLinear({}, b.sums);
      std::vector<unsigned> chain{b.sums};
      chain.insert(chain.end(), b.operands.begin(), b.operands.end());
      program.callElementwise(chain, b.apart, kRows, c.body, c.grain);
      KernelProgram::setBody(callLinear(b.operands, b.together).getBody(),
                             b.operands.size() + 1, c.body);
      buffers.push_back(b);
    }
  ASSERT_NO_FATAL_FAILURE(load());

  for (int64_t rows : kRowCounts)
    for (int64_t workers : {1, 2, 5}) {
      loaded->clearArena();
      for (const EpilogueBuffers &b : buffers) {
        loaded->setRows(b.x, random.values(rows * kColumns));
        for (unsigned operand : b.operands)
          loaded->setRows(operand, random.values(rows * kRows, -4.0f, 4.0f));
      }
      StepInputs inputs;
      inputs.numTokens = rows;
      loaded->run(inputs, workers);
      for (size_t i = 0; i < buffers.size(); ++i)
        EXPECT_TRUE(sameBits(loaded->rows(buffers[i].together, rows),
                             loaded->rows(buffers[i].apart, rows)))
            << all[i / 2].name << ", " << rows << " rows, " << workers
            << " workers";
    }
}

LLMIR_TEST_ALL_LEVELS(EpilogueKernels);
