// RUN: llmir-interpreter-tests --gtest_filter='InterpreterTest.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Interpreter/Interpreter.h"

#include "llmir/Dialect/Check/Check.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Parser/Parser.h"

#include <algorithm>
#include <gtest/gtest.h>

using namespace mlir;
using namespace llmir;
using reference::Tensor;

namespace {

struct InterpreterTest : testing::Test {
  InterpreterTest() {
    context.loadDialect<llm::LLMDialect, check::CheckDialect,
                        arith::ArithDialect, func::FuncDialect>();
  }
  func::FuncOp parse(const char *text) {
    module = parseSourceString<ModuleOp>(text, &context);
    return module ? *module->getOps<func::FuncOp>().begin() : func::FuncOp();
  }
  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

} // namespace

// Every op must have an evaluator.
TEST_F(InterpreterTest, EveryOpHasAnEvaluator) {
  const std::vector<std::string> evaluated = getEvaluatedOps();
  for (StringRef dialect : {"llm", "check"}) {
    int count = 0;
    for (RegisteredOperationName name : context.getRegisteredOperations()) {
      if (name.getDialectNamespace() != dialect)
        continue;
      EXPECT_TRUE(std::binary_search(evaluated.begin(), evaluated.end(),
                                     name.getStringRef().str()))
          << name.getStringRef().str() << " has no evaluator";
      ++count;
    }
    EXPECT_GE(count, dialect == "llm" ? 37 : 2);
  }
}

TEST_F(InterpreterTest, ArgumentsFollowFromTheSeed) {
  func::FuncOp function =
      parse("func.func @f(%x: tensor<4x4xf32>, %i: tensor<50xi32> "
            "{check.range = array<i64: 3, 6>}, %q: "
            "!llm.quantized_tensor<i4, [8, 4], true, false, -1, -1, 4>) "
            "{ return }");
  ASSERT_TRUE(function);
  auto one = makeArguments(function, 1), again = makeArguments(function, 1);
  auto two = makeArguments(function, 2);
  ASSERT_TRUE(succeeded(one) && succeeded(again) && succeeded(two));
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(sameBits((*one)[i], (*again)[i]));
    EXPECT_FALSE(sameBits((*one)[i], (*two)[i]));
  }
  for (double id : std::get<Tensor>((*one)[1]).toDoubles())
    EXPECT_TRUE(id >= 3 && id < 6);
  for (double q : std::get<QuantizedValue>((*one)[2]).numbers.toDoubles())
    EXPECT_TRUE(q >= -7 && q <= 7); // Symmetric: no -8.
  for (double x : std::get<Tensor>((*one)[0]).toDoubles())
    EXPECT_TRUE(x >= -1 && x <= 1 && x == double(float(x)));
}

TEST_F(InterpreterTest, ResultsKnowTheirNumbersBeforeRounding) {
  func::FuncOp function =
      parse("func.func @f(%x: tensor<1xbf16> {check.values = dense<1.0> : "
            "tensor<1xbf16>}) -> (tensor<1xbf16>, tensor<1xbf16>) {\n"
            "  %y = llm.silu %x : tensor<1xbf16>\n"
            "  return %y, %x : tensor<1xbf16>, tensor<1xbf16>\n}");
  ASSERT_TRUE(function);
  auto results = Interpreter().run(function, *makeArguments(function, 0));
  ASSERT_TRUE(succeeded(results));
  const auto &[value, exact] = (*results)[0];
  EXPECT_EQ(std::get<Tensor>(value)[0], 0.73046875);
  ASSERT_TRUE(exact.has_value());
  EXPECT_NEAR((*exact)[0], 0.7310585786300049, 1e-15);
  EXPECT_EQ(nmse(std::get<Tensor>(value), *exact), 0);
  EXPECT_FALSE((*results)[1].exact.has_value()); // An argument.
}

TEST_F(InterpreterTest, WeightsComeFromTheCaller) {
  func::FuncOp function =
      parse("func.func @f() -> tensor<2xf32> {\n"
            "  %w = llm.weight @w : tensor<2xf32>\n"
            "  return %w : tensor<2xf32>\n}\nfunc.func private @w()");
  ASSERT_TRUE(function);
  InterpreterOptions options;
  options.weight = [](llm::WeightOp op) -> FailureOr<InterpreterValue> {
    EXPECT_EQ(op.getName(), "w");
    return InterpreterValue(Tensor(reference::ElementKind::F32, {2}, {3, 4}));
  };
  auto results = Interpreter(options).run(function, {});
  ASSERT_TRUE(succeeded(results));
  EXPECT_EQ(std::get<Tensor>((*results)[0].value).toDoubles(),
            std::vector<double>({3, 4}));
  ScopedDiagnosticHandler silent(&context, [](Diagnostic &) {});
  EXPECT_TRUE(failed(Interpreter().run(function, {})));
  auto random = Interpreter({makeRandomWeights(3)}).run(function, {});
  ASSERT_TRUE(succeeded(random));
  EXPECT_NE(std::get<Tensor>((*random)[0].value)[0], 0);
}

TEST_F(InterpreterTest, OneOpAlone) {
  func::FuncOp function =
      parse("func.func @f(%x: tensor<2xf32>, %i: tensor<1xi32>) {\n"
            "  %y = llm.add %x, %x : tensor<2xf32>\n  return\n}");
  ASSERT_TRUE(function);
  Operation *add = &function.getBody().front().front();
  const Tensor x(reference::ElementKind::F32, {2}, {1, 2});
  auto sum = evaluateOp(add, {x, x});
  ASSERT_TRUE(sum.has_value());
  EXPECT_EQ((*sum)[0].toDoubles(), std::vector<double>({2, 4}));
}
