//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pipeline parallelism: splitting a step into stages of consecutive layers.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DIALECT_LLM_TRANSFORMS_SHARDSTAGES_H
#define LLMIR_LIB_DIALECT_LLM_TRANSFORMS_SHARDSTAGES_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::llm {

/// Moves the body of each public function that uses several layers of a cache
/// into `numStages` private functions `@name.stage0`, …, which it calls in
/// order. A stage has a contiguous range of layers; ops before the first layer
/// belong to the first stage and ops after the last layer to the last one.
/// Fails if a function has fewer layers than stages or does not use its layers
/// in ascending order.
LogicalResult splitIntoStages(ModuleOp module, int64_t numStages);

} // namespace mlir::llm

#endif // LLMIR_LIB_DIALECT_LLM_TRANSFORMS_SHARDSTAGES_H
