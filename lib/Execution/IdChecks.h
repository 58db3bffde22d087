//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Arguments of a function that are the ids of an embedding: compiled code takes
// the nearest row for an id that no row has, so whoever runs it asks before.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_EXECUTION_IDCHECKS_H
#define LLMIR_LIB_EXECUTION_IDCHECKS_H

#include "llmir/Interpreter/Values.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace llmir {

/// An argument whose numbers are row numbers of a table.
struct IdCheck {
  mlir::Location loc; ///< Of the embedding.
  unsigned argument;
  int64_t rows; ///< Of the table.

  /// Reports the first id that is not a row's.
  mlir::LogicalResult check(llvm::ArrayRef<InterpreterValue> arguments) const;
};

/// The arguments that embeddings of the function's block look up as they are,
/// in other shapes or as integers of another width. What a branch or a loop has
/// inside may not run, and is left to the code.
std::vector<IdCheck> findIdChecks(mlir::func::FuncOp function);

} // namespace llmir

#endif // LLMIR_LIB_EXECUTION_IDCHECKS_H
