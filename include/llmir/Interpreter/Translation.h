//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `llmir-translate --interpret`, and the options that it shares with other ways
// to run functions of a module.
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
  bool checksMemory = false; ///< As InterpreterOptions has it.
};

/// The options as the command line has them. The first call declares them: make
/// it before the command line is parsed.
RunOptions getRunOptions();

/// The functions that --function names. Reports an error where there is none.
mlir::FailureOr<llvm::SmallVector<mlir::func::FuncOp>>
getFunctionsToRun(mlir::Operation *module, const RunOptions &options);

/// Says of a function that has run how many of its expectations (ops of the
/// `check` dialect) hold: all, or the run would have failed.
void printExpectations(mlir::FunctionOpInterface function,
                       llvm::raw_ostream &output);

/// Evaluates functions with arguments made from the seed and prints results, a
/// line each: "@f result 0: tensor<2xf32> [1, 2]", and how many expectations
/// held.
mlir::LogicalResult interpret(mlir::Operation *module,
                              const RunOptions &options,
                              llvm::raw_ostream &output);

/// Declares `--interpret` for mlirTranslateMain.
void registerInterpretTranslation();

} // namespace llmir

#endif // LLMIR_INTERPRETER_TRANSLATION_H
