//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Counts of pattern applications: `llmir-opt --llm-print-pattern-counts`.
//
//   RewritePatternSet patterns(&getContext());
//   populate…Patterns(patterns);
//   if (failed(applyCountedPatterns(getOperation(), std::move(patterns))))
//     signalPassFailure();
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DIALECT_LLM_TRANSFORMS_PATTERNCOUNTS_H
#define LLMIR_LIB_DIALECT_LLM_TRANSFORMS_PATTERNCOUNTS_H

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::llm {

/// Like applyPatternsGreedily, but counts for the whole process, by name
/// (Pattern::getDebugName), how often each pattern was applied. Sets `changed`
/// if the IR changed. Fails if the patterns do not converge; `config` must not
/// have a listener.
LogicalResult applyCountedPatterns(Operation *op, RewritePatternSet &&patterns,
                                   GreedyRewriteConfig config = {},
                                   bool *changed = nullptr);

} // namespace mlir::llm

#endif // LLMIR_LIB_DIALECT_LLM_TRANSFORMS_PATTERNCOUNTS_H
