//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What convert-llm-to-linalg does before and around its patterns.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERSION_LLMTOLINALG_LLMTOLINALG_H
#define LLMIR_LIB_CONVERSION_LLMTOLINALG_LLMTOLINALG_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace llmir {

/// What to do with ops whose operand is not a tensor.
struct LinalgOptions {
  bool weightsAreArguments = false;
  bool callsRuntime = false; ///< Of a cache.
};

/// Why the op cannot be converted, and what to do about it; empty where it can
/// be. Ops of other dialects cannot be where they use types of `llm`.
std::string whyRefused(mlir::Operation *op, const LinalgOptions &options);

/// Every `llm.weight` becomes an argument of its function, after the others, in
/// the order of first use; callers pass on theirs. The argument's attribute
/// `llmir.weight` is the parameter's name. Declarations that nothing names any
/// more are erased.
void makeWeightsArguments(mlir::ModuleOp module);

/// Ends every cache that a block makes, at its end, where the block is its
/// region's only one and passes on no cache. (CacheOps.cpp)
void destroyCaches(mlir::ModuleOp module);

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_LLMTOLINALG_LLMTOLINALG_H
