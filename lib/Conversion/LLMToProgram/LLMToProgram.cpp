//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Conversion/LLMToProgram.h"
#include "StepConversion.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

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
    auto step = module.lookupSymbol<func::FuncOp>("step");
    if (!step) {
      module.emitError("has no function @step to make a program of");
      return signalPassFailure();
    }
    if (failed(
            StepConversion(module, step, tokenBudget, maxLogitRows).convert()))
      return signalPassFailure();
    module.walk([&](Operation *op) {
      numInstructions += isa<InstructionOp>(op);
      numBarriers += isa<BarrierOp>(op);
    });
  }
};
} // namespace

} // namespace llmir
