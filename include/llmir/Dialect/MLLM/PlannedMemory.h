//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What mllm-plan-memory writes, and who follows it reads.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_PLANNEDMEMORY_H
#define LLMIR_DIALECT_MLLM_PLANNEDMEMORY_H

#include "mlir/IR/Operation.h"

namespace llmir::mllm {

/// On a call: where the callee's frame begins in the caller's (i64, bytes).
constexpr llvm::StringLiteral kFrameAttr = "mllm.frame";
/// On a subgraph with a frame of its own: its bytes, those of frames of calls
/// included (i64).
constexpr llvm::StringLiteral kFrameBytesAttr = "mllm.frame_bytes";
/// Offsets and sizes are multiples of this.
constexpr int64_t kLineBytes = 64;

/// The operand in whose memory the result lies as it is: of a view or a
/// reshape; null for other ops.
mlir::Value viewedOperand(mlir::Operation *op);

} // namespace llmir::mllm

#endif // LLMIR_DIALECT_MLLM_PLANNEDMEMORY_H
