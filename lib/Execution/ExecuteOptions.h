//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//
// The options of translations that run compiled code.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_EXECUTION_EXECUTEOPTIONS_H
#define LLMIR_LIB_EXECUTION_EXECUTEOPTIONS_H

#include "llmir/Codegen/CPULevel.h"
#include "llmir/Interpreter/Translation.h"

namespace llmir {

/// The options, read before compilation: lld, as a library, resets all options
/// of the process.
struct ExecuteOptions {
  RunOptions run = getRunOptions();
  std::string level;
  int64_t workers;
  double maxNmse;
};

/// The values of the command line; the first call registers the options.
ExecuteOptions executeOptions();

/// The level to compile for; fails, with a diagnostic at the module, if no code
/// is generated for it.
mlir::FailureOr<const CPULevel *> levelOf(mlir::Operation *module,
                                          const ExecuteOptions &options);

/// The dialects of compiled functions.
void registerExecuteDialects(mlir::DialectRegistry &registry);

} // namespace llmir

#endif // LLMIR_LIB_EXECUTION_EXECUTEOPTIONS_H
