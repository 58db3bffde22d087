//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The patterns of -llm-fuse-attention.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DIALECT_LLM_TRANSFORMS_FUSIONPATTERNS_H
#define LLMIR_LIB_DIALECT_LLM_TRANSFORMS_FUSIONPATTERNS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::llm {

/// matmul, scale, mask, softmax, matmul => attention; attention over the
/// results of lookup_kv => paged_attention; a causal mask => `causal`.
void populateAttentionFusionPatterns(RewritePatternSet &patterns);

/// Projections of the same rows, norms, residual connections, rotated keys =>
/// the ops of LLMFusedOps.td.
void populateProjectionFusionPatterns(RewritePatternSet &patterns);

} // namespace mlir::llm

#endif // LLMIR_LIB_DIALECT_LLM_TRANSFORMS_FUSIONPATTERNS_H
