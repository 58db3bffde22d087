//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The attributes of a memory plan, which mllm-plan-memory sets.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_PLANNEDMEMORY_H
#define LLMIR_DIALECT_MLLM_PLANNEDMEMORY_H

#include "mlir/IR/Operation.h"

namespace llmir::mllm {

/// On a call: byte offset (i64) of the callee's frame in the caller's.
constexpr llvm::StringLiteral kFrameAttr = "mllm.frame";
/// On a subgraph with its own frame: size in bytes (i64), including the frames
/// of callees.
constexpr llvm::StringLiteral kFrameBytesAttr = "mllm.frame_bytes";
/// Offsets and sizes are multiples of this.
constexpr int64_t kLineBytes = 64;

/// Returns the operand that the result of a view or reshape aliases; null for
/// other ops.
mlir::Value viewedOperand(mlir::Operation *op);

} // namespace llmir::mllm

#endif // LLMIR_DIALECT_MLLM_PLANNEDMEMORY_H
