//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arguments of a function that are ids of an embedding: compiled code clamps
// ids that are out of range, so its callers check them first.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_EXECUTION_IDCHECKS_H
#define LLMIR_LIB_EXECUTION_IDCHECKS_H

#include "llmir/Interpreter/Values.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace llmir {

/// An argument whose elements are row indices of a table.
struct IdCheck {
  mlir::Location loc; ///< Location of the embedding.
  unsigned argument;
  int64_t rows; ///< Number of rows of the table.

  /// Emits an error for the first id that is out of range.
  mlir::LogicalResult check(llvm::ArrayRef<InterpreterValue> arguments) const;
};

/// The arguments that embeddings in the function's block look up, possibly
/// reshaped or converted to another integer type. Embeddings in branches and
/// loops may not be executed and are not included.
std::vector<IdCheck> findIdChecks(mlir::func::FuncOp function);

} // namespace llmir

#endif // LLMIR_LIB_EXECUTION_IDCHECKS_H
