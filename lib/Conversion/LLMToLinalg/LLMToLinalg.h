//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parts of convert-llm-to-linalg other than its patterns.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERSION_LLMTOLINALG_LLMTOLINALG_H
#define LLMIR_LIB_CONVERSION_LLMTOLINALG_LLMTOLINALG_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace llmir {

/// Handling of ops whose operands are not tensors.
struct LinalgOptions {
  bool weightsAreArguments = false;
  bool callsRuntime = false; ///< Of a cache.
};

/// Returns the reason why the op cannot be converted, and an alternative; empty
/// if it can. Ops of other dialects with `llm` types cannot be converted.
std::string whyRefused(mlir::Operation *op, const LinalgOptions &options);

/// Converts every `llm.weight` to a trailing argument of its function, in order
/// of first use, which callers pass. The argument attribute `llmir.weight` is
/// the name of the parameter. Unused declarations are erased.
void makeWeightsArguments(mlir::ModuleOp module);

/// Destroys every cache created in a block at its end, if the block is the only
/// one of its region and does not forward a cache (CacheOps.cpp).
void destroyCaches(mlir::ModuleOp module);

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_LLMTOLINALG_LLMTOLINALG_H
