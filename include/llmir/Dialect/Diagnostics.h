//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The errors that MLIR reports, as values: for callers that return a Status.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_DIAGNOSTICS_H
#define LLMIR_DIALECT_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"

#include <string>
#include <vector>

namespace llmir {

struct ReportedError {
  mlir::Location location;
  std::string message;
};

/// Runs `action`; its diagnostics go nowhere else. Returns the errors of an
/// action that fails: at least one, in the order in which they are reported.
/// Empty on success.
inline std::vector<ReportedError>
collectErrors(mlir::MLIRContext &context,
              llvm::function_ref<llvm::LogicalResult()> action) {
  std::vector<ReportedError> errors;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &each) {
    if (each.getSeverity() == mlir::DiagnosticSeverity::Error)
      errors.push_back({each.getLocation(), each.str()});
    return llvm::success();
  });
  if (llvm::succeeded(action()))
    return {};
  if (errors.empty())
    errors.push_back({mlir::UnknownLoc::get(&context), "it is not valid"});
  return errors;
}

/// The messages of collectErrors(), separated by "; ".
inline std::string errorsOf(mlir::MLIRContext &context,
                            llvm::function_ref<llvm::LogicalResult()> action) {
  std::string text;
  for (const ReportedError &error : collectErrors(context, action))
    text += (text.empty() ? "" : "; ") + error.message;
  return text;
}

} // namespace llmir

#endif // LLMIR_DIALECT_DIAGNOSTICS_H
