// RUN: llmir-nodes-tests --gtest_filter='NodesPropertyTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random changes of a graph.
//
//===----------------------------------------------------------------------===//

#include "NodesFixture.h"

#include "mlir/IR/Verifier.h"

#include <random>

using namespace mllm;
using namespace mllm::ir;

namespace {

class NodesPropertyTest : public NodesTest {};

TEST_F(NodesPropertyTest, AThousandChangesKeepTheModuleValid) {
  std::mt19937 random(5);
  auto below = [&](size_t count) {
    return std::uniform_int_distribution<size_t>(0, count - 1)(random);
  };
  // Handles of every op that ever was, dead ones included.
  std::vector<op_ptr_t> all{neg, add, ret};
  auto any = [&] { return all[below(all.size())]; };
  auto anyValue = [&]() -> val_ptr_t {
    op_ptr_t op = any();
    return op->isAlive() && op->numResults() ? op->result() : x;
  };
  int done = 0, refused = 0;
  for (int i = 0; i < 1000; ++i) {
    bool worked = false;
    switch (below(6)) {
    case 0:
      if (auto op = writer->create<linalg::AddOp>(anyValue(), anyValue()))
        all.push_back(op), worked = true;
      break;
    case 1:
      if (auto op = writer->createAtPos<linalg::NegOp>(
              any(), below(2) ? IRWriter::AFTER : IRWriter::BEFORE, anyValue()))
        all.push_back(op), worked = true;
      break;
    case 2:
      worked = writer->removeOp(any());
      break;
    case 3:
      worked = writer->replaceOp(any(), any());
      break;
    case 4:
      worked = writer->insertOpAtPos(any(), IRWriter::BEFORE, any());
      break;
    case 5:
      worked = writer->replaceValue(anyValue(), anyValue());
      break;
    }
    ++(worked ? done : refused);
    // The terminator may be missing, or not be the last op; nothing else.
    std::string wrong;
    {
      mlir::ScopedDiagnosticHandler handler(&getMLIRContext(*context),
                                            [&](mlir::Diagnostic &diagnostic) {
                                              wrong += diagnostic.str();
                                              return mlir::success();
                                            });
      if (mlir::succeeded(mlir::verify(getModule(*context))))
        continue;
    }
    ASSERT_EQ(wrong.find("dominate"), std::string::npos) << wrong;
    ASSERT_TRUE(wrong.find("terminat") != std::string::npos ||
                wrong.find("last op") != std::string::npos ||
                wrong.find("ends in") != std::string::npos ||
                wrong.find("empty block") != std::string::npos)
        << wrong;
    // Start again.
    auto fresh = writer->walk<cf::ReturnOp>(
        [](IRWriter &inner, const cf::ReturnOp::ptr_t &op) {
          inner.removeOp(op);
          return IRWriter::WALK_CONTINUE;
        });
    EXPECT_TRUE(fresh);
    all.push_back(writer->create<cf::ReturnOp>(x));
    ASSERT_TRUE(context->verify());
  }
  EXPECT_GT(done, 100);
  EXPECT_GT(refused, 100);
  errors.clear();
}

} // namespace
