// RUN: llmir-nodes-tests --gtest_filter='LevelsTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What all levels of the IR have in common: nodes, ops that turn values into
// values, and values that each one op makes or one region takes.
//
//===----------------------------------------------------------------------===//

#include "mllm/ir/MLIR.h"
#include "mllm/mllm.hpp"

#include "llmir/Pipelines/Registration.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace mllm;
using namespace mllm::ir;

namespace {

/// A graph of every level, and a program.
constexpr const char *kLevels = R"(
mllm.tensor.register @w : tensor<16x16xf32> {source = "w"}
mllm.graph.subgraph @layer(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %m = mllm.tensor.alloc : tensor<8x16xf32>
  %0 = mllm.linalg.linear %x, @w : tensor<8x16xf32> -> tensor<8x16xf32>
  %1 = mllm.linalg.copy %m, %0 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  mllm.cf.return %1 : tensor<8x16xf32>
}
mllm.graph.subgraph @model(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = mllm.graph.call_graph @layer(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = mllm.graph.call_graph @layer(%0) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  mllm.cf.return %1 : tensor<8x16xf32>
}
mllm.program.fragment @step code {
  %a = mllm.program.buffer : memref<8x16xf32>
  %b = mllm.program.buffer : memref<8x16xf32>
  mllm.program.entry_point
  mllm.program.instruction {
    mllm.kernel.elementwise ins(%a : memref<8x16xf32>) outs(%b : memref<8x16xf32>) {columns = 16} apply {
    ^bb0(%x: f32):
      %s = arith.addf %x, %x : f32
      mllm.program.yield %s : f32
    }
  }
  mllm.program.label "again"
  mllm.program.instruction {
    mllm.kernel.softmax ins(%b : memref<8x16xf32>) outs(%a : memref<8x16xf32>) {columns = 16}
  }
  mllm.program.exit
})";

class LevelsTest : public testing::Test {
protected:
  /// Parses a module; returns null and sets `diagnostic` if it is invalid.
  IRContext::ptr_t read(const char *text) {
    mlir::DialectRegistry registry;
    llmir::registerAllLLMIRDialects(registry);
    auto mlirContext = std::make_shared<mlir::MLIRContext>(registry);
    mlir::ScopedDiagnosticHandler handler(mlirContext.get(),
                                          [&](mlir::Diagnostic &given) {
                                            diagnostic += given.str();
                                            return mlir::success();
                                          });
    auto module =
        mlir::parseSourceString<mlir::ModuleOp>(text, mlirContext.get());
    return module ? adopt(mlirContext, std::move(module)) : nullptr;
  }

  /// Every op of the module, in the regions of ops as well.
  static std::vector<op_ptr_t> allOps(const IRContext::ptr_t &context) {
    std::vector<op_ptr_t> ops;
    IRWriter(context).walkRecursive<Op>([&](IRWriter &, const op_ptr_t &op) {
      ops.push_back(op);
      return IRWriter::WALK_CONTINUE;
    });
    return ops;
  }

  std::string diagnostic;
};

template <typename T> size_t count(const std::vector<op_ptr_t> &ops) {
  return static_cast<size_t>(
      std::count_if(ops.begin(), ops.end(),
                    [](const op_ptr_t &op) { return op->isa_<T>(); }));
}

bool contains(const std::list<node_ptr_t> &nodes, const node_ptr_t &node) {
  return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

} // namespace

// SPEC: 201 258 259
TEST_F(LevelsTest, EachHasOpsOfItsOwn) {
  auto context = read(kLevels);
  ASSERT_TRUE(context) << diagnostic;
  std::vector<op_ptr_t> ops = allOps(context);
  EXPECT_EQ(count<graph::GraphIROp>(ops), 4u);
  EXPECT_EQ(count<linalg::LinalgIROp>(ops), 2u);
  EXPECT_EQ(count<tensor::TensorIROp>(ops), 2u);
  EXPECT_EQ(count<cf::CfIROp>(ops), 2u);
  EXPECT_EQ(count<program::ProgramIROp>(ops), 9u);
  EXPECT_EQ(count<kernel::KernelIROp>(ops), 2u);
  for (const op_ptr_t &op : ops) {
    EXPECT_TRUE(op->isa_<Op>());
    EXPECT_FALSE(op->isa_<Val>());
    EXPECT_FALSE(op->isa_<Attr>());
  }
}

// SPEC: 257 258 260-262 318-320
TEST_F(LevelsTest, ValuesFlowFromOpToOp) {
  auto context = read(kLevels);
  ASSERT_TRUE(context) << diagnostic;
  int results = 0, arguments = 0, kernels = 0;
  for (const op_ptr_t &op : allOps(context)) {
    // A result is defined by its op, and read by its users.
    for (const node_ptr_t &output : op->outputs()) {
      auto value = output->cast_<Val>();
      EXPECT_EQ(value->producerOp(), op);
      for (const op_ptr_t &user : value->consumerOps())
        EXPECT_TRUE(contains(user->inputs(), value));
      ++results;
    }
    for (const node_ptr_t &input : op->inputs()) {
      auto users = input->cast_<Val>()->consumerOps();
      EXPECT_NE(std::find(users.begin(), users.end(), op), users.end());
    }
    // Layers and calls of them work on tensors. SPEC: 245 249
    if (op->isa_<linalg::LinalgIROp>() || op->isa_<graph::CallGraphOp>()) {
      EXPECT_FALSE(op->inputs().empty());
      for (const auto &nodes : {op->inputs(), op->outputs()})
        for (const node_ptr_t &node : nodes)
          EXPECT_TRUE(node->isa_<tensor::TensorValue>());
    }
    // Region arguments are not defined by an op, and belong to the op with the
    // region.
    if (auto region = op->isa_<graph::SubGraphOp>()
                          ? op->cast_<graph::SubGraphOp>()->getTopRegion()
                          : nullptr)
      for (const val_ptr_t &argument : region->inputs()) {
        EXPECT_EQ(argument->producerOp(), nullptr);
        EXPECT_EQ(argument->belongsTo(), op);
        ++arguments;
      }
    // Buffers are read and written by the kernels of a program.
    if (op->isa_<kernel::KernelIROp>()) {
      EXPECT_EQ(op->inputs().size(), 2u);
      for (const node_ptr_t &input : op->inputs())
        EXPECT_TRUE(
            input->cast_<Val>()->producerOp()->isa_<program::BufferOp>());
      ++kernels;
    }
  }
  EXPECT_EQ(results, 8); // The sum within the kernel is of another dialect.
  EXPECT_EQ(arguments, 2);
  EXPECT_EQ(kernels, 2);
}

// SPEC: 315: a value is made once, before it is read.
TEST_F(LevelsTest, ValuesAreInStaticSingleAssignmentForm) {
  EXPECT_FALSE(read(R"(
mllm.graph.subgraph @model(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mllm.linalg.neg %x : tensor<4xf32>
  %0 = mllm.linalg.abs %x : tensor<4xf32>
  mllm.cf.return %0 : tensor<4xf32>
})"));
  EXPECT_NE(diagnostic.find("redefinition of SSA value '%0'"),
            std::string::npos)
      << diagnostic;
  diagnostic.clear();
  EXPECT_FALSE(read(R"(
mllm.graph.subgraph @model(%x: tensor<4xf32>) -> tensor<4xf32> {
  %1 = mllm.linalg.abs %0 : tensor<4xf32>
  %0 = mllm.linalg.neg %x : tensor<4xf32>
  mllm.cf.return %1 : tensor<4xf32>
})"));
  EXPECT_NE(diagnostic.find("does not dominate this use"), std::string::npos)
      << diagnostic;
}
