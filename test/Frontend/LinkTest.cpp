// RUN: llmir-frontend-tests --gtest_filter='LinkTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// References from the module of one context to that of another. What the linker
// does within one module is tested in Dialect/MLLM/Transforms/link.mlir.
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/MLLM.h"
#include "mllm/ir/MLIR.h"
#include "mllm/mllm.hpp"

#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mllm;

namespace {

/// A context with its own MLIRContext and this module.
ir::IRContext::ptr_t contextOf(const char *source) {
  auto mlirContext = std::make_shared<mlir::MLIRContext>(
      mlir::MLIRContext::Threading::DISABLED);
  mlirContext->loadDialect<llmir::mllm::MLLMDialect, mlir::llm::LLMDialect>();
  auto module =
      mlir::parseSourceString<mlir::ModuleOp>(source, mlirContext.get());
  EXPECT_TRUE(module);
  return ir::adopt(std::move(mlirContext), std::move(module));
}

std::string textOf(ir::IRContext &context) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  ir::getModule(context).print(stream);
  return text;
}

const char *const user = R"mlir(
module {
module @user {
  mllm.tensor.register @w : tensor<4x4xf32>
  mllm.graph.subgraph @main(%x: tensor<2x4xf32>) -> tensor<2x4xf32> attributes {entry} {
    %0 = mllm.graph.call_graph @norm(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %1 = mllm.linalg.linear %0, @w : tensor<2x4xf32> -> tensor<2x4xf32>
    mllm.cf.return %1 : tensor<2x4xf32>
  }
  mllm.graph.subgraph @norm(tensor<2x4xf32>) -> tensor<2x4xf32>
}
}
)mlir";

const char *const library = R"mlir(
mllm.tensor.register @w : tensor<4x4xf32> {source = "w"}
mllm.graph.subgraph @norm(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %0 = mllm.linalg.abs %x : tensor<2x4xf32>
  mllm.cf.return %0 : tensor<2x4xf32>
}
)mlir";

TEST(LinkTest, DeclarationsAreWhatAnotherContextDefines) {
  auto program = contextOf(user), parts = contextOf(library);
  const std::string before = textOf(*parts);
  ASSERT_TRUE(ir::link(*program, {parts})) << program->status().message();
  EXPECT_TRUE(program->verify());
  auto norm = mlir::dyn_cast_or_null<llmir::mllm::SubGraphOp>(
      ir::getModule(*program).lookupSymbol("norm"));
  ASSERT_TRUE(norm);
  ASSERT_FALSE(norm.getBody().empty());
  // It belongs to the context now: the other one may go.
  EXPECT_EQ(norm->getContext(), &ir::getMLIRContext(*program));
  EXPECT_EQ(textOf(*parts), before);
  parts.reset();
  auto weight = mlir::dyn_cast_or_null<llmir::mllm::RegisterOp>(
      ir::getModule(*program).lookupSymbol("w"));
  ASSERT_TRUE(weight);
  EXPECT_EQ(weight.getSource().value_or(""), "w");
  EXPECT_TRUE(program->lookupSymbol("main"));
  EXPECT_TRUE(ir::getModule(*program).getOps<mlir::ModuleOp>().empty());
}

TEST(LinkTest, TracesOfTwoContextsBecomeOneModule) {
  models::QWenConfig config;
  config.vocabSize = 37;
  config.hiddenSize = 16;
  config.intermediateSize = 24;
  config.numLayers = 1;
  config.numHeads = 4;
  config.numKVHeads = 2;
  models::QWenForCausalLM llm(config);
  ASSERT_TRUE(llm.load(emptyParameters(config)));
  auto traced = ir::trace(llm, Tensor::empty({1, 4}, kInt64));
  ASSERT_TRUE(traced->status()) << traced->status().message();
  auto parts = contextOf(library);
  ASSERT_TRUE(ir::link(*parts, {traced})) << parts->status().message();
  EXPECT_TRUE(parts->verify());
  EXPECT_TRUE(parts->lookupSymbol("norm"));
  EXPECT_TRUE(parts->lookupSymbol("model"));
}

TEST(LinkTest, WhatIsDefinedTwiceIsRefusedAndNothingChanges) {
  auto program = contextOf(library), other = contextOf(R"mlir(
mllm.graph.subgraph @norm(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  mllm.cf.return %x : tensor<2x4xf32>
}
)mlir");
  const std::string before = textOf(*program);
  auto norm = program->lookupSymbol("norm");
  EXPECT_FALSE(ir::link(*program, {other}));
  EXPECT_NE(program->status().message().find("@norm is defined twice"),
            std::string::npos)
      << program->status().message();
  EXPECT_EQ(textOf(*program), before);
  EXPECT_EQ(program->lookupSymbol("norm"), norm); // The handle lives.
}

TEST(LinkTest, WhatNobodyDefinesIsNamed) {
  auto program = contextOf(user), empty = contextOf("module {}");
  EXPECT_FALSE(ir::link(*program, {empty}));
  EXPECT_NE(program->status().message().find(
                "is declared, but not defined by any module"),
            std::string::npos)
      << program->status().message();
}

TEST(LinkTest, NamesOfValuesStayUnique) {
  auto a = contextOf(R"mlir(
mllm.graph.subgraph @f(%x: tensor<2xf32> {mllm.symbol = "hidden"}) -> tensor<2xf32> {
  mllm.cf.return %x : tensor<2xf32>
}
)mlir");
  auto b = contextOf(R"mlir(
mllm.graph.subgraph @g(%x: tensor<2xf32> {mllm.symbol = "hidden"}) -> tensor<2xf32> {
  mllm.cf.return %x : tensor<2xf32>
}
)mlir");
  EXPECT_FALSE(ir::link(*a, {b}));
  EXPECT_NE(a->status().message().find("are @hidden"), std::string::npos)
      << a->status().message();
}

TEST(LinkTest, AContextIsNotLinkedWithItself) {
  auto program = contextOf(library);
  EXPECT_FALSE(ir::link(*program, {program}));
  EXPECT_NE(program->status().message().find("not with itself"),
            std::string::npos);
}

} // namespace
