//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Names of the attributes with which passes annotate a program.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_PROGRAMATTRS_H
#define LLMIR_DIALECT_MLLM_PROGRAMATTRS_H

#include "llvm/ADT/StringRef.h"

namespace llmir::mllm::program {

/// On a code fragment: size of the arena in bytes (i64).
constexpr llvm::StringLiteral kArenaBytesAttr = "arena_bytes";
/// On a code fragment: the maximum number of tokens of a decode-sized step, in
/// which every worker executes replicated instructions completely (i64); absent
/// if no instruction is replicated.
constexpr llvm::StringLiteral kDecodeTokensAttr = "decode_tokens";
/// On a code fragment: bytes of each worker's own memory (i64).
constexpr llvm::StringLiteral kWorkerBytesAttr = "worker_bytes";
/// On a data fragment: bytes of the weight section (i64).
constexpr llvm::StringLiteral kWeightBytesAttr = "weight_bytes";

/// On a weight of a step: its source is a constant of the fragment, not a
/// tensor of the checkpoint (unit).
constexpr llvm::StringLiteral kFromConstantAttr = "from_constant";

/// On a code fragment: the type of its KV cache …
constexpr llvm::StringLiteral kCacheAttr = "kv_cache";
/// … and the number of ranks for which the pool has layers (i64).
constexpr llvm::StringLiteral kNumRanksAttr = "num_ranks";

} // namespace llmir::mllm::program

#endif // LLMIR_DIALECT_MLLM_PROGRAMATTRS_H
