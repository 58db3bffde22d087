//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A copy of a function for the stages of the compiler: with its callees
// inlined, without checks, and with parameters as arguments.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_EXECUTION_PREPAREDFUNCTION_H
#define LLMIR_LIB_EXECUTION_PREPAREDFUNCTION_H

#include "IdChecks.h"

#include "llmir/Conversion/BoundSizes.h"
#include "llmir/Interpreter/Interpreter.h"

#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/PassManager.h"

namespace llmir {

/// Runs the passes that `build` adds over a module.
mlir::LogicalResult
runPasses(mlir::ModuleOp module,
          llvm::function_ref<void(mlir::PassManager &)> build);

/// An expectation of the function (the `check` dialect), whose operands are
/// results of the copy.
struct Expectation {
  mlir::Location loc;
  unsigned actual, expected;
  std::optional<double> nmse; ///< Absent for bitwise equality.
};

struct PreparedFunction {
  explicit PreparedFunction(mlir::func::FuncOp function) : function(function) {}

  /// Creates the copy. Unsupported ops are reported as errors.
  mlir::LogicalResult prepare(const InterpreterOptions &options);

  mlir::func::FuncOp function; ///< The caller's function.
  mlir::OwningOpRef<mlir::ModuleOp> module;
  llvm::SmallVector<mlir::Type> resultTypes; ///< Result types of the copy.
  std::vector<Expectation> expectations;
  std::vector<IdCheck> idChecks;
  std::vector<InterpreterValue> parameters; ///< Arguments after the caller's.
  int64_t numRanks = 1;
  /// Present if sizes are read at run time.
  std::optional<BoundedSizes> bounded;

private:
  mlir::FailureOr<mlir::func::FuncOp> copyFunction();
  mlir::LogicalResult boundSizesOf(mlir::func::FuncOp copy);
};

} // namespace llmir

#endif // LLMIR_LIB_EXECUTION_PREPAREDFUNCTION_H
