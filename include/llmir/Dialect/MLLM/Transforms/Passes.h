//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes on the graph, linalg and tensor levels of the `mllm` dialect.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_DIALECT_MLLM_TRANSFORMS_PASSES_H
#define LLMIR_DIALECT_MLLM_TRANSFORMS_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#include <memory>
#include <string>

namespace llmir::mllm {

#define GEN_PASS_DECL
#include "llmir/Dialect/MLLM/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "llmir/Dialect/MLLM/Transforms/Passes.h.inc"

/// Implements `mllm-fuse-attention`; returns the number of attention ops
/// created.
int64_t fuseAttention(mlir::ModuleOp module);

} // namespace llmir::mllm

#endif // LLMIR_DIALECT_MLLM_TRANSFORMS_PASSES_H
