//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// llmir-reduce: shrinks an .mlir file as long as a script considers it
// interesting (exits with a nonzero code). Accepts all flags of mlir-reduce;
// -llm-reduction reduces the bodies of functions:
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
