//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llmir-reduce: makes an .mlir file smaller for as long as a script calls it
// interesting (ends with a code other than 0). All flags of mlir-reduce hold,
// and -llm-reduction reduces the bodies of functions:
//
//   llmir-reduce failing.mlir -llm-reduction='test=./fails.sh'
//
//===----------------------------------------------------------------------===//

#include "ReduceFunctions.h"

#include "llmir/Pipelines/Registration.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  llmir::registerAllLLMIRDialects(registry);
  mlir::registerAllPasses();
  llmir::registerAllLLMIRPasses();
  llmir::registerReduceFunctions();
  mlir::MLIRContext context(registry);
  return mlir::failed(mlir::mlirReduceMain(argc, argv, context)) ? 1 : 0;
}
