// RUN: llmir-attention-forms-tests
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One model, written in two ways: with attention as one op, as families of the
// product have it, and written out (explicit attention). Both are one
// step.
//
//===----------------------------------------------------------------------===//

#include "Checkpoint/TestFiles.h"
#include "Frontend/TinyModel.h"

#include "llmir/Conversion/MLLMToLLM.h"
#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/Dialect/MLLM/ModelFacts.h"
#include "llmir/Dialect/MLLM/Transforms/Passes.h"
#include "llmir/Frontend/Frontend.h"
#include "llmir/Interpreter/Interpreter.h"
#include "mllm/ir/MLIR.h"
#include "mllm/ir/Trace.h"
#include "mllm/mllm.hpp"
#include "mllm/models/QWen.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

using namespace llmir;
using mlir::ModuleOp;

namespace {

/// The step of a model, or an error message. The product has a module around
/// the model, which is taken away.
std::string textAfter(ModuleOp module) {
  mlir::PassManager manager(module.getContext());
  std::string text;
  llvm::raw_string_ostream stream(text);
  mlir::ScopedDiagnosticHandler handler(module.getContext(),
                                        [&](mlir::Diagnostic &diagnostic) {
                                          stream << diagnostic.str() << "\n";
                                          return mlir::success();
                                        });
  manager.addPass(llmir::mllm::createInlineSubGraphs({/*only=*/"model"}));
  manager.addPass(createConvertMLLMToLLM());
  if (mlir::failed(manager.run(module)))
    return "failed: " + text;
  module.print(stream);
  return text;
}

class AttentionFormsTest : public testing::TestWithParam<bool> {
protected:
  void SetUp() override {
    tiny.family = "qwen2";
    tiny.dtype = "F32";
    tiny.tied = GetParam();
    tiny.complete();
    Expected<Checkpoint> opened = tiny.open(folder);
    ASSERT_TRUE(opened) << opened.status().message();
    auto module = traceCheckpoint(context, *opened, FrontendOptions());
    ASSERT_TRUE(module) << module.status().message();
    facts = *llmir::mllm::ModelFacts::read(**module);
    fused = textAfter(**module);
  }

  /// The step of the form that is written out, traced for ids of this shape.
  std::string explicitForm(const ::mllm::Tensor &ids) {
    auto config = ::mllm::models::QWenConfig::fromFile(folder.path());
    if (!config)
      return config.status().message();
    ::mllm::models::QWenForCausalLM model(*config);
    model.load(::mllm::load(folder.path()));
    auto traced = ::mllm::ir::trace(model, ids);
    if (!traced->status())
      return traced->status().message();
    ModuleOp module = ::mllm::ir::getModule(*traced);
    facts.write(module);
    return textAfter(module);
  }

  test::TempFolder folder;
  test::TinyModel tiny;
  mlir::MLIRContext context;
  llmir::mllm::ModelFacts facts;
  std::string fused;
};

TEST_P(AttentionFormsTest, GiveTheSameStep) {
  using ::mllm::Tensor;
  EXPECT_NE(fused.find("llm.paged_attention"), std::string::npos) << fused;
  // Nothing is normalized: names, weights, order and numbers are the same.
  EXPECT_EQ(
      explicitForm(Tensor::empty({1, ::mllm::dim("seq")}, ::mllm::kInt64)),
      fused);
  // A trace of one length is a step of every length.
  EXPECT_EQ(explicitForm(Tensor::empty({1, 128}, ::mllm::kInt64)), fused);
}

TEST_P(AttentionFormsTest, SeveralSequencesAreRefused) {
  using ::mllm::Tensor;
  for (const Tensor &ids :
       {Tensor::empty({2, ::mllm::dim("seq")}, ::mllm::kInt64),
        Tensor::empty({::mllm::dim("batch"), 8}, ::mllm::kInt64)}) {
    const std::string text = explicitForm(ids);
    EXPECT_NE(text.find("a step requires a trace of one sequence"),
              std::string::npos)
        << text;
  }
}

/// The logits of a prompt and of two tokens after it, with random weights.
std::vector<double> evaluate(ModuleOp module) {
  ModelState state;
  InterpreterOptions options;
  options.parameter = makeRandomParameters(/*seed=*/7);
  options.state = &state;
  Interpreter interpreter(options);
  std::vector<double> all;
  for (std::vector<double> ids :
       {std::vector<double>{3, 1, 4, 1, 5}, std::vector<double>{9}, {2}}) {
    const reference::Shape shape = {1, int64_t(ids.size())};
    std::vector<InterpreterValue> arguments;
    arguments.emplace_back(
        reference::Tensor(reference::ElementKind::I64, shape, ids));
    auto results =
        interpreter.run(llmir::mllm::entrySubGraph(module), arguments);
    if (mlir::failed(results))
      return {};
    const auto &logits = std::get<reference::Tensor>(results->front().value);
    all.insert(all.end(), logits.floats().begin(), logits.floats().end());
  }
  return all;
}

TEST_P(AttentionFormsTest, FusionKeepsWhatIsComputed) {
  auto config = ::mllm::models::QWenConfig::fromFile(folder.path());
  ASSERT_TRUE(config) << config.status().message();
  ::mllm::models::QWenForCausalLM model(*config);
  ASSERT_TRUE(model.load(::mllm::load(folder.path())));
  auto traced = ::mllm::ir::trace(
      model, ::mllm::Tensor::empty({1, ::mllm::dim("seq")}, ::mllm::kInt64));
  ASSERT_TRUE(traced->status()) << traced->status().message();
  ModuleOp module = ::mllm::ir::getModule(*traced);
  const std::vector<double> before = evaluate(module);
  ASSERT_EQ(before.size(), size_t(7 * config->vocabSize));
  EXPECT_EQ(llmir::mllm::fuseAttention(module), config->numLayers);
  ASSERT_TRUE(mlir::succeeded(mlir::verify(module)));
  const std::vector<double> after = evaluate(module);
  ASSERT_EQ(after.size(), before.size());
  double error = 0, square = 0;
  for (size_t i = 0; i < before.size(); ++i) {
    error += (after[i] - before[i]) * (after[i] - before[i]);
    square += before[i] * before[i];
  }
  // Scores and probabilities are rounded to f32 if they are values of the
  // graph.
  EXPECT_GT(square, 0);
  EXPECT_LE(error, 1e-10 * square);
}

INSTANTIATE_TEST_SUITE_P(Embeddings, AttentionFormsTest, testing::Bool());

} // namespace
