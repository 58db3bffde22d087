//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Conversion/LLMToProgram.h"
#include "FunctionConversion.h"
#include "StepConversion.h"

#include "llmir/Dialect/CheckOption.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace llmir {

#define GEN_PASS_DEF_CONVERTLLMTOPROGRAM
#include "llmir/Conversion/Passes.h.inc"

namespace {
struct ConvertLLMToProgramPass
    : impl::ConvertLLMToProgramBase<ConvertLLMToProgramPass> {
  using ConvertLLMToProgramBase::ConvertLLMToProgramBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(convert(module)))
      return signalPassFailure();
    module.walk([&](InstructionOp) { ++numInstructions; });
  }

private:
  LogicalResult convert(ModuleOp module) {
    Location loc = module.getLoc();
    if (failed(checkOption(loc, tokenBudget, 1)) ||
        failed(checkOption(loc, maxLogitRows, 1)))
      return failure();
    if (auto step = module.lookupSymbol<func::FuncOp>("step"))
      return StepConversion(module, step, tokenBudget, maxLogitRows).convert();
    func::FuncOp only;
    for (auto function : module.getOps<func::FuncOp>()) {
      if (only)
        return function.emitOpError("is a second function in addition to @")
               << only.getSymName()
               << "; a program is converted from @step or the only function";
      only = function;
    }
    if (!only)
      return module.emitError("has no function to convert to a program");
    auto ranks = only->getAttrOfType<IntegerAttr>(
        mlir::llm::LLMDialect::getNumRanksAttrName());
    prepareFunction(only);
    if (failed(FunctionConversion::check(only)))
      return failure();
    return FunctionConversion(module, only, ranks ? ranks.getInt() : 1)
        .convert();
  }
};
} // namespace

} // namespace llmir
