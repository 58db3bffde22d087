// RUN: llmir-interpreter-tests --gtest_filter='MLLMInterpreterTest.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops of the mllm dialect that depend on more than their operands: what a model
// keeps from step to step, and functions of the user's own.
//
//===----------------------------------------------------------------------===//

#include "llmir/Interpreter/Interpreter.h"
#include "llmir/Reference/CustomOps.h"

#include "llmir/Dialect/MLLM/MLLMLinalgOps.h"
#include "mlir/Parser/Parser.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;
using namespace llmir;
using reference::ElementKind;
using reference::Shape;
using reference::Tensor;

namespace {

struct MLLMInterpreterTest : testing::Test {
  MLLMInterpreterTest() {
    context.loadDialect<::llmir::mllm::MLLMDialect, func::FuncDialect>();
  }
  func::FuncOp parse(const char *text) {
    module = parseSourceString<ModuleOp>(text, &context);
    return module ? *module->getOps<func::FuncOp>().begin() : func::FuncOp();
  }
  /// The elements of the results; empty after a failure.
  std::vector<Tensor> run(func::FuncOp function, ModelState *state,
                          std::vector<InterpreterValue> arguments) {
    InterpreterOptions options;
    options.state = state;
    auto results = Interpreter(options).run(function, std::move(arguments));
    std::vector<Tensor> numbers;
    if (succeeded(results))
      for (const Interpreter::Result &result : *results)
        numbers.push_back(std::get<Tensor>(result.value));
    return numbers;
  }
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

} // namespace

// Every op must have an evaluator.
TEST_F(MLLMInterpreterTest, EveryLinalgOpHasAnEvaluator) {
  const std::vector<std::string> evaluated = getEvaluatedOps();
  int count = 0;
  for (RegisteredOperationName name : context.getRegisteredOperations()) {
    if (!name.getStringRef().starts_with("mllm.linalg.") ||
        !name.hasInterface<::llmir::mllm::LinalgOpInterface>())
      continue;
    EXPECT_TRUE(std::binary_search(evaluated.begin(), evaluated.end(),
                                   name.getStringRef().str()))
        << name.getStringRef().str() << " has no evaluator";
    ++count;
  }
  EXPECT_GE(count, 70);
}

static const char stepText[] = R"(
  func.func @step(%x: tensor<?x1x2xf32>, %ids: tensor<?xi64>)
      -> (tensor<?x1x2xf32>, tensor<?x1x2xf32>, tensor<?xi64>) {
    %r = mllm.linalg.rope %x {frequencies = array<f64: 1.0>, scaling = 1.0 : f64}
        : tensor<?x1x2xf32>
    %k, %v = mllm.linalg.kv_cache %r, %x {layer = 4 : i64}
        : (tensor<?x1x2xf32>, tensor<?x1x2xf32>) -> (tensor<?x1x2xf32>, tensor<?x1x2xf32>)
    %p = call @positions(%ids) : (tensor<?xi64>) -> tensor<?xi64>
    return %k, %v, %p : tensor<?x1x2xf32>, tensor<?x1x2xf32>, tensor<?xi64>
  }
  func.func private @positions(%ids: tensor<?xi64>) -> tensor<?xi64> {
    %p = mllm.linalg.positions %ids : tensor<?xi64>
    return %p : tensor<?xi64>
  })";

/// Rows (1, 0): a rotation by an angle makes them its cosine and sine.
static std::vector<InterpreterValue> ones(int64_t tokens) {
  Tensor x(ElementKind::F32, {tokens, 1, 2});
  for (int64_t t = 0; t < tokens; ++t)
    x[2 * t] = 1;
  return {x, Tensor(ElementKind::I64, {tokens})};
}

TEST_F(MLLMInterpreterTest, AConversationGoesOn) {
  func::FuncOp step = parse(stepText);
  ASSERT_TRUE(step);
  ModelState state;
  std::vector<Tensor> first = run(step, &state, ones(3));
  std::vector<Tensor> second = run(step, &state, ones(1));
  ASSERT_EQ(first.size(), 3u);
  ASSERT_EQ(second.size(), 3u);
  EXPECT_EQ(first[2].toDoubles(), std::vector<double>({0, 1, 2}));
  EXPECT_EQ(second[2].toDoubles(), std::vector<double>({3}));
  EXPECT_EQ(second[0].shape, Shape({4, 1, 2}));
  for (int64_t t = 0; t < 4; ++t) {
    EXPECT_NEAR(second[0][2 * t], std::cos(double(t)), 1e-7) << t;
    EXPECT_NEAR(second[0][2 * t + 1], std::sin(double(t)), 1e-7) << t;
    EXPECT_EQ(second[1][2 * t], 1) << t;
  }
}

TEST_F(MLLMInterpreterTest, WithoutAStateEachRunBeginsAnew) {
  func::FuncOp step = parse(stepText);
  ASSERT_TRUE(step);
  for (int i = 0; i < 2; ++i) {
    std::vector<Tensor> results = run(step, nullptr, ones(2));
    ASSERT_EQ(results.size(), 3u);
    EXPECT_EQ(results[0].dim(0), 2);
    EXPECT_EQ(results[2].toDoubles(), std::vector<double>({0, 1}));
  }
}

// Folding evaluates an op by itself: it must not take a step for the first.
TEST_F(MLLMInterpreterTest, AnOpAloneDoesNotGuessItsPosition) {
  func::FuncOp function = parse(R"(
    func.func @f(%x: tensor<1x1x2xf32>) {
      %r = mllm.linalg.rope %x {frequencies = array<f64: 1.0>, scaling = 1.0 : f64}
          : tensor<1x1x2xf32>
      %a = mllm.linalg.relu %x : tensor<1x1x2xf32>
      return
    })");
  ASSERT_TRUE(function);
  Operation *rope = &function.getBody().front().front();
  const Tensor x(ElementKind::F32, {1, 1, 2}, {1, 0});
  EXPECT_FALSE(evaluateOp(rope, {x}).has_value());
  EXPECT_TRUE(evaluateOp(rope->getNextNode(), {x}).has_value());
  ModelState state;
  ASSERT_TRUE(state.append(0, x, x, 0));
  state.beginStep();
  InterpreterOptions options;
  options.state = &state;
  auto rotated = evaluateOp(rope, {x}, options);
  ASSERT_TRUE(succeeded(rotated));
  EXPECT_NEAR((*rotated)[0][0], std::cos(1.0), 1e-7);
}

TEST_F(MLLMInterpreterTest, FunctionsOfTheUsersOwn) {
  func::FuncOp function = parse(R"(
    func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
      %y = mllm.linalg.customized "twice" id 4711(%x) : (tensor<2xf32>) -> tensor<2xf32>
      return %y : tensor<2xf32>
    })");
  ASSERT_TRUE(function);
  const Tensor x(ElementKind::F32, {2}, {1, 2});
  ASSERT_TRUE(registerCustomOp(
      4711, [](const std::vector<Tensor> &in) -> Expected<std::vector<Tensor>> {
        Tensor y = in[0];
        for (double &number : y.floats())
          number *= 2;
        return std::vector<Tensor>{y};
      }));
  std::vector<Tensor> results = run(function, nullptr, {x});
  unregisterCustomOp(4711);
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].toDoubles(), std::vector<double>({2, 4}));
  // A function with other results is detected.
  std::string message;
  ScopedDiagnosticHandler handler(
      &context, [&](Diagnostic &diagnostic) { message = diagnostic.str(); });
  ASSERT_TRUE(registerCustomOp(
      4711, [](const std::vector<Tensor> &) -> Expected<std::vector<Tensor>> {
        return std::vector<Tensor>{};
      }));
  EXPECT_TRUE(run(function, nullptr, {x}).empty());
  unregisterCustomOp(4711);
  EXPECT_NE(
      message.find("the function of 'twice' returns 0 results, expected 1"),
      std::string::npos)
      << message;
}
