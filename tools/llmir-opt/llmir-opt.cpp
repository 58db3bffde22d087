//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llmir-opt: reads IR, runs passes, prints IR. Accepts all flags of mlir-opt.
//
//===----------------------------------------------------------------------===//

#include "llmir/Pipelines/Registration.h"

#include "mlir/Dialect/LLM/Transforms/Passes.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  llmir::registerAllLLMIRDialects(registry);
  mlir::registerAllPasses();
  llmir::registerAllLLMIRPasses();
  mlir::llm::registerPatternCountsOption();
  llvm::LogicalResult result =
      mlir::MlirOptMain(argc, argv, "LLMIR's optimizer driver\n", registry);
  mlir::llm::printPatternCountsIfAsked(llvm::errs());
  return mlir::asMainReturnCode(result);
}
