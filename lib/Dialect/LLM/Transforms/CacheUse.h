//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Detection of uses of a cache value after an append to it.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DIALECT_LLM_TRANSFORMS_CACHEUSE_H
#define LLMIR_LIB_DIALECT_LLM_TRANSFORMS_CACHEUSE_H

#include "mlir/IR/Value.h"

namespace mlir::llm {

/// Fails, with an error at the later use, if `cache` is used after an op that
/// consumes it; see `-llm-check-cache-use`.
LogicalResult checkCacheUse(Value cache);

} // namespace mlir::llm

#endif // LLMIR_LIB_DIALECT_LLM_TRANSFORMS_CACHEUSE_H
