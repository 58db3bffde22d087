//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Conversion of MLIR diagnostics to status messages.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_FRONTEND_ERRORS_H
#define LLMIR_LIB_FRONTEND_ERRORS_H

#include "mlir/IR/MLIRContext.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/LogicalResult.h"

#include <string>

namespace mllm {

/// Returns the errors that MLIR reports while `run` runs, separated by "; ";
/// empty on success.
std::string errorsOf(mlir::MLIRContext &context,
                     llvm::function_ref<llvm::LogicalResult()> run);

} // namespace mllm

#endif // LLMIR_LIB_FRONTEND_ERRORS_H
