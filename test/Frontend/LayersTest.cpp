// RUN: llmir-layers-tests --gtest_filter='*LayersTest*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each layer and function of the API called at once, traced, and compiled: the
// three agree within the bounds of the ops, and the op has the attributes of
// the call.
//
//===----------------------------------------------------------------------===//

#include "LayerCases.h"

#include "llmir/Conversion/MLLMToLLM.h"
#include "llmir/Execution/FunctionRunner.h"
#include "llmir/MLLMText/Text.h"
#include "llmir/Reference/CustomOps.h"
#include "llmir/Target/CPU/TargetNames.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <gtest/gtest.h>

#include <set>

using namespace ::mllm;
using llmir::test::Function;
using llmir::test::LayerCase;
using llmir::test::layerCases;
using llmir::test::Numbers;

namespace {

/// A traced case, with values for its parameters.
struct Traced {
  explicit Traced(const LayerCase &each)
      : model([&](Function &self, const ir::Tensors &inputs) {
          return each.body(self, inputs);
        }) {
    model.load(emptyParameters());
    ir::Tensors shapes;
    for (const Tensor &input : each.inputs) {
      const llmir::shapes::Shape &dims = input.dims();
      shapes.push_back(Tensor::empty(dims, input.dtype(), input.device()));
    }
    context = ir::trace(model, shapes);
    if (!context->status())
      return;
    numbers = llmir::test::numbersFor(*context);
    model.load(numbers.parameters());
  }

  Function model;
  ir::IRContext::ptr_t context;
  Numbers numbers;
};

/// The greatest error that an op of the trace states.
double boundOf(mlir::ModuleOp module) {
  double bound = 0;
  module.walk([&](llmir::mllm::LinalgOpInterface op) {
    bound = std::max(bound, op.getErrorBound());
  });
  return bound;
}

class LayersTest : public testing::TestWithParam<LayerCase> {};

TEST_P(LayersTest, AtOnceTracedAndCompiledAgree) {
  const LayerCase &each = GetParam();
  clearStatus();
  Traced traced(each);
  ASSERT_TRUE(traced.context->status()) << traced.context->status().message();
  std::string text;
  llvm::raw_string_ostream(text) << ir::getModule(*traced.context);
  for (const std::string &part : each.mentions)
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;

  ir::Tensors results = traced.model.call(each.inputs);
  ASSERT_FALSE(results.empty()) << status().message();
  const auto interpreted = llmir::test::interpretAll(
      *traced.context, traced.numbers.tensors, each.inputs);
  ASSERT_EQ(interpreted.size(), results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    ASSERT_TRUE(results[i].isValid()) << status().message();
    EXPECT_EQ(results[i].shape(), interpreted[i].shape);
    EXPECT_TRUE(sameBits(llmir::test::referenceOf(results[i]), interpreted[i]));
  }

  mlir::ModuleOp module = ir::getModule(*traced.context);
  const double bound = boundOf(module);
  mlir::MLIRContext &context = ir::getMLIRContext(*traced.context);
  context.loadDialect<mlir::func::FuncDialect>();
  ir::forgetOps(*traced.context);
  llmir::makeFunctionsOfSubGraphs(module);
  auto function = module.lookupSymbol<mlir::func::FuncOp>("model");
  ASSERT_TRUE(function);
  std::string errors;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &each) {
    errors += each.str() + "\n";
    return mlir::success();
  });
  llmir::Expected<const llmir::CPULevel *> level = llmir::nativeCPULevel();
  ASSERT_TRUE(bool(level));
  auto runner = llmir::FunctionRunner::compile(
      function, **level, llmir::test::optionsWith(traced.numbers.tensors));
  if (failed(runner) && !each.gap.empty()) {
    EXPECT_NE(errors.find(each.gap), std::string::npos) << errors;
    return;
  }
  ASSERT_TRUE(succeeded(runner)) << errors;
  std::vector<llmir::InterpreterValue> arguments;
  for (const Tensor &input : each.inputs)
    arguments.emplace_back(llmir::test::referenceOf(input));
  auto compiled = runner->run(arguments, /*threads=*/2);
  ASSERT_TRUE(succeeded(compiled)) << errors;
  ASSERT_EQ(compiled->size(), results.size());
  for (size_t i = 0; i < results.size(); ++i) {
    const auto &actual = std::get<llmir::reference::Tensor>(*(*compiled)[i]);
    EXPECT_EQ(actual.shape, interpreted[i].shape);
    if (llmir::reference::isFloat(actual.kind))
      EXPECT_LE(llmir::reference::nmse(actual, interpreted[i]), bound);
    else
      EXPECT_EQ(actual.toDoubles(), interpreted[i].toDoubles());
  }
}

INSTANTIATE_TEST_SUITE_P(All, LayersTest, testing::ValuesIn(layerCases()),
                         [](const auto &info) { return info.param.name; });

// Every op of the level must be callable.
TEST(LayersTest, EveryOpOfLinalgIsALayerOrAFunction) {
  std::set<std::string> seen;
  std::vector<LayerCase> cases = layerCases();
  // Only the user's program can compute it.
  cases.push_back({"customized",
                   [](Function &, const ir::Tensors &in) {
                     return nn::F::customized("twice", 5001, in,
                                              {{{2}, kFp32}});
                   },
                   {Tensor::full({2}, 1)},
                   {},
                   {}});
  for (const LayerCase &each : cases) {
    Traced traced(each);
    ir::getModule(*traced.context).walk([&](mlir::Operation *op) {
      seen.insert(op->getName().getStringRef().str());
    });
  }
  // Declares a model's layers, without computation.
  seen.insert("mllm.linalg.register");
  // Only steps have states of layers; the models' tests trace these.
  seen.insert("mllm.linalg.causal_conv");
  seen.insert("mllm.linalg.linear_attention");
  for (const llmir::mllm::OpTextName &op : llmir::mllm::opTextNames()) {
    const std::string name = op.name;
    if (name.rfind("mllm.linalg.", 0) == 0) {
      EXPECT_TRUE(seen.count(name)) << name;
    }
  }
}

TEST(LayersTest, AFunctionOfTheUsersOwn) {
  ASSERT_TRUE(llmir::registerCustomOp(
      5001,
      [](const std::vector<llmir::reference::Tensor> &inputs)
          -> llmir::Expected<std::vector<llmir::reference::Tensor>> {
        llmir::reference::Tensor twice = inputs[0];
        for (double &number : twice.floats())
          number *= 2;
        return std::vector<llmir::reference::Tensor>{twice};
      }));
  Tensor x = Tensor::fromVector({2}, {1, 2});
  ir::Tensors doubled = nn::F::customized("twice", 5001, {x}, {{{2}, kFp32}});
  llmir::unregisterCustomOp(5001);
  EXPECT_EQ(doubled[0].toVector(), (std::vector<double>{2, 4}));
  clearStatus();
  EXPECT_FALSE(
      nn::F::customized("twice", 5001, {x}, {{{2}, kFp32}})[0].isValid());
  EXPECT_FALSE(status());
  clearStatus();
}

TEST(LayersTest, WrongCallsSayWhy) {
  auto expect = [](const Tensor &result, const std::string &part) {
    EXPECT_FALSE(result.isValid());
    EXPECT_NE(status().message().find(part), std::string::npos)
        << status().message();
    clearStatus();
  };
  clearStatus();
  Tensor x = Tensor::full({2, 3}, 1);
  Tensor i = Tensor::full({2}, 7, kInt32);
  expect(nn::F::pad(x, {0, 0}, {0, 0}, "mirror"),
         "'mirror' is not a padding mode");
  expect(nn::F::slice(x, {{0, 1, 0}}), "step");
  expect(nn::F::slice(x, {{}, {}, {}}), "range");
  expect(nn::F::index(x, {i}), "index");
  expect(nn::F::argsort(x, 5), "'dim' 5");
  expect(nn::F::scatter(x, i, x, 0), "rank");
  expect(nn::F::randomLike(x, 1, 0, 3), "draws from");
  expect(nn::PagedAttention(1.0)(x, x, x, i), "rank 4");
  expect(nn::VisionRoPE({1, 3, 2})(Tensor::full({6, 1, 4}, 1)),
         "rows and columns divisible by 2");
}

} // namespace
