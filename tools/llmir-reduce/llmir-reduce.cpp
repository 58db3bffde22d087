//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llmir-reduce: makes an .mlir file smaller for as long as a script calls it
// interesting. All flags of mlir-reduce hold.
//
//===----------------------------------------------------------------------===//

#include "llmir/Pipelines/Registration.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  llmir::registerAllLLMIRDialects(registry);
  mlir::registerAllPasses();
  llmir::registerAllLLMIRPasses();
  mlir::MLIRContext context(registry);
  return mlir::failed(mlir::mlirReduceMain(argc, argv, context)) ? 1 : 0;
}
