//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A small graph, and the errors that changes of it report.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_TEST_FRONTEND_NODES_NODESFIXTURE_H
#define LLMIR_TEST_FRONTEND_NODES_NODESFIXTURE_H

#include "mllm/ir/MLIR.h"
#include "mllm/mllm.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace mllm::ir {

class NodesTest : public testing::Test {
protected:
  void SetUp() override {
    before = setErrorHandler(
        [this](const std::string &sentence) { errors.push_back(sentence); });
    model = context->create<graph::SubGraphOp>("model", type, type);
    writer = std::make_unique<IRWriter>(context, model->getTopRegion());
    x = model->getTopRegion()->inputs().front();
    // y = -x, z = y + x
    neg = writer->create<linalg::NegOp>(x);
    add = writer->create<linalg::AddOp>(neg->result(), x);
    ret = writer->create<cf::ReturnOp>(add->result());
    ASSERT_TRUE(context->verify());
  }
  void TearDown() override { setErrorHandler(before); }

  std::string text(IRPrinter::Style style = IRPrinter::FULL) {
    std::ostringstream stream;
    IRPrinter printer(stream, style);
    context->topLevelOp()->dump(printer);
    return stream.str();
  }
  /// Checks the single error since the last call; prints it if it does not
  /// contain the text.
  void expectError(const std::string &part) {
    ASSERT_EQ(errors.size(), 1u) << "want: " << part;
    EXPECT_NE(errors[0].find(part), std::string::npos) << errors[0];
    errors.clear();
  }

  IRContext::ptr_t context = IRContext::make();
  TensorType type{{2, 4}, kFp32, kCPU};
  graph::SubGraphOp::ptr_t model;
  std::unique_ptr<IRWriter> writer;
  val_ptr_t x;
  linalg::NegOp::ptr_t neg;
  linalg::AddOp::ptr_t add;
  cf::ReturnOp::ptr_t ret;
  ErrorHandler before;
  std::vector<std::string> errors;
};

} // namespace mllm::ir

#endif // LLMIR_TEST_FRONTEND_NODES_NODESFIXTURE_H
