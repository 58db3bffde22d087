//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `llmir-translate --interpret`, and the options shared by all translations
// that run functions of a module.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_INTERPRETER_TRANSLATION_H
#define LLMIR_INTERPRETER_TRANSLATION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Support/LLVM.h"

#include <string>

namespace llmir {

/// --function and --seed.
struct RunOptions {
  std::string function; ///< Empty: all public functions with a body, in order.
  uint64_t seed = 0;
  bool checksMemory = false; ///< See InterpreterOptions.
};

/// Returns the command-line options. The first call declares them and must
/// precede command-line parsing.
RunOptions getRunOptions();

/// Returns the functions selected by --function. Reports an error if there is
/// none.
mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>>
getFunctionsToRun(mlir::Operation *module, const RunOptions &options);

/// Prints the number of expectations (ops of the `check` dialect) of a function
/// that has run; all of them hold, since the run would have failed otherwise.
void printExpectations(mlir::FunctionOpInterface function,
                       llvm::raw_ostream &output);

/// Evaluates functions with arguments generated from the seed and prints one
/// line per result, "@f result 0: tensor<2xf32> [1, 2]", and the number of
/// expectations.
mlir::LogicalResult interpret(mlir::Operation *module,
                              const RunOptions &options,
                              llvm::raw_ostream &output);

/// Declares `--interpret` for mlirTranslateMain.
void registerInterpretTranslation();

} // namespace llmir

#endif // LLMIR_INTERPRETER_TRANSLATION_H
