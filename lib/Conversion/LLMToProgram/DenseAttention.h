//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What attention from a cache and attention of tensors share.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERSION_LLMTOPROGRAM_DENSEATTENTION_H
#define LLMIR_LIB_CONVERSION_LLMTOPROGRAM_DENSEATTENTION_H

#include "ProgramConversion.h"

namespace llmir {

/// Window, soft cap and slopes of an attention op, as its kernel wants them.
template <typename OpTy> PagedAttentionSpec attentionSpec(OpTy op) {
  PagedAttentionSpec spec;
  if (std::optional<int64_t> window = op.getWindow())
    spec.window = *window;
  if (auto softCap = op.getSoftCapAttr())
    spec.softCap = llvm::cast<mlir::FloatAttr>(softCap).getValueAsDouble();
  if (auto slopes = op.getAlibiSlopes())
    spec.alibiSlopes.assign(slopes->begin(), slopes->end());
  return spec;
}

/// 0, step, 2 * step, …
llvm::SmallVector<int32_t> makeSteps(int64_t count, int64_t step);

/// What append_kv reads of its rows.
llvm::SmallVector<BufferAccess> appendAccesses(const AppendKVSpec &spec,
                                               const RowsValue &keys,
                                               const RowsValue &values);

/// PagedAttentionSpec::maskStrides of a mask of that shape, whose last
/// dimension is a row of its buffer. `perToken`: [tokens, keys]; otherwise [B,
/// Tq, Tk] or [B, H, Tq, Tk], with 1 where all share a size.
llvm::SmallVector<int64_t> maskStrides(llvm::ArrayRef<int64_t> mask,
                                       bool perToken);

/// Adds what the kernel needs for a mask and for sinks, where they are given.
mlir::LogicalResult
addMaskAndSinks(ProgramConversion &c, mlir::Operation *op, mlir::Value mask,
                mlir::Value sinks, bool perToken, PagedAttentionSpec &spec,
                KernelWeights &weights,
                llvm::SmallVectorImpl<BufferAccess> &accesses);

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_LLMTOPROGRAM_DENSEATTENTION_H
