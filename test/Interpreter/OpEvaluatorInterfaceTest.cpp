// RUN: llmir-interpreter-tests --gtest_filter='OpEvaluatorInterfaceTest.*'
//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A dialect that provides evaluators for its ops: MLIR's TOSA, which the
// interpreter does not support.
//
//===----------------------------------------------------------------------===//

#include "llmir/Interpreter/OpEvaluatorInterface.h"
#include "llmir/Interpreter/Interpreter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Parser/Parser.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;
using namespace llmir;
using reference::ElementKind;
using reference::Tensor;

namespace {

struct TosaEvaluator : OpEvaluatorInterface {
  using OpEvaluatorInterface::OpEvaluatorInterface;

  Expected<std::vector<Tensor>>
  evaluate(Operation *op, const std::vector<Tensor> &operands) const override {
    if (isa<tosa::CeilOp>(op)) {
      Tensor y = operands.front();
      for (double &number : y.floats())
        number = std::ceil(number);
      return std::vector<Tensor>{y};
    }
    if (isa<tosa::ExpOp>(op)) // One value too few.
      return std::vector<Tensor>();
    if (isa<tosa::FloorOp>(op)) // A shape that is not the result's.
      return std::vector<Tensor>{Tensor(ElementKind::F32, {2})};
    return Status(StatusCode::InvalidArgument, "nobody has written it");
  }
};

struct OpEvaluatorInterfaceTest : testing::Test {
  OpEvaluatorInterfaceTest() {
    DialectRegistry registry;
    registry.insert<tosa::TosaDialect, func::FuncDialect>();
    registry.addExtension(+[](MLIRContext *, tosa::TosaDialect *dialect) {
      dialect->addInterfaces<TosaEvaluator>();
    });
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// The elements of `op` at 8, -1 and 0.125; empty, with `error`, after a
  /// failure.
  std::vector<double> run(const std::string &op) {
    const std::string type = "tensor<3xf32>";
    module = parseSourceString<ModuleOp>(
        "func.func @f(%x: " + type + ") -> " + type + " {\n%y = " + op +
            " %x : (" + type + ") -> " + type + "\nreturn %y : " + type + "\n}",
        &context);
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      error = diagnostic.str();
      return success();
    });
    auto results =
        Interpreter().run(*module->getOps<func::FuncOp>().begin(),
                          {Tensor(ElementKind::F32, {3}, {8.0, -1.0, 0.125})});
    return succeeded(results)
               ? std::get<Tensor>(results->front().value).toDoubles()
               : std::vector<double>();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string error;
};

} // namespace

// SPEC: 301 302
TEST_F(OpEvaluatorInterfaceTest, GivesOpsAMeaning) {
  EXPECT_EQ(run("tosa.ceil"), (std::vector<double>{8.0, -1.0, 1.0})) << error;
}

TEST_F(OpEvaluatorInterfaceTest, ReportsWhatTheDialectCannotSay) {
  EXPECT_TRUE(run("tosa.log").empty());
  EXPECT_NE(error.find("cannot be evaluated: nobody has written it"),
            std::string::npos)
      << error;
}

TEST_F(OpEvaluatorInterfaceTest, ChecksWhatTheDialectGives) {
  EXPECT_TRUE(run("tosa.exp").empty());
  EXPECT_NE(error.find("its dialect returns 0 values for 1 results"),
            std::string::npos)
      << error;
  EXPECT_TRUE(run("tosa.floor").empty());
  EXPECT_NE(error.find("evaluates to tensor<2xf32>, but has type"),
            std::string::npos)
      << error;
}
