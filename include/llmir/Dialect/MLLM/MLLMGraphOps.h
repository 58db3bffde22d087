//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The graph level: modules and calls.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_MLLMGRAPHOPS_H
#define LLMIR_DIALECT_MLLM_MLLMGRAPHOPS_H

#include "llmir/Dialect/MLLM/MLLMDialect.h"

#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/MLLMGraphOps.h.inc"

namespace llmir::mllm {

/// Returns the subgraph marked `entry`, otherwise the callee of the only
/// module-level call; null if there is neither.
SubGraphOp entrySubGraph(mlir::ModuleOp module);

} // namespace llmir::mllm

#endif // LLMIR_DIALECT_MLLM_MLLMGRAPHOPS_H
