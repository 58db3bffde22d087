//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared by attention from a cache and attention of tensors.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERSION_LLMTOPROGRAM_DENSEATTENTION_H
#define LLMIR_LIB_CONVERSION_LLMTOPROGRAM_DENSEATTENTION_H

#include "ProgramConversion.h"

namespace llmir {

/// Attention from a cache: the operands and attributes of its kernels.
class CacheAttention {
public:
  /// For `op`, any attention op of llm.
  template <typename OpTy>
  CacheAttention(OpTy op, const kernel::CacheGeometry &cache, int64_t heads)
      : cache(cache), heads(heads), causal(op.getCausal()),
        scale(mlir::llm::detail::getScaleOrDefault(op.getScaleAttr(),
                                                   cache.headDim)) {
    if (std::optional<int64_t> keys = op.getWindow())
      window = *keys;
    chunked = op.getChunked();
    if (auto cap = op.getSoftCapAttr())
      softCap = llvm::cast<mlir::FloatAttr>(cap).getValueAsDouble();
    if (auto slopes = op.getAlibiSlopes())
      alibiSlopes =
          mlir::Builder(op.getContext()).getDenseF64ArrayAttr(*slopes);
  }

  int64_t queryColumns() const { return heads * cache.headDim; }
  int64_t outputColumns() const { return heads * cache.valueDim; }
  kernel::AttentionShape shape() const {
    return {heads, cache.kvHeads, cache.headDim, cache.valueDim};
  }

  /// Adds an optional mask and sinks. `perToken`: the mask is [tokens, keys];
  /// otherwise [B, Tq, Tk] or [B, H, Tq, Tk].
  mlir::LogicalResult addMaskAndSinks(ProgramConversion &c, mlir::Operation *op,
                                      mlir::Value mask, mlir::Value sinks,
                                      bool perToken);
  /// Appends the attention kernel. With `partials` it may write partial
  /// results, which `merge` combines.
  void attend(ProgramConversion &c, mlir::Location loc, llvm::StringRef label,
              const RowsValue &query, mlir::Value partials,
              const RowsValue &out) const;
  void merge(ProgramConversion &c, mlir::Location loc, llvm::StringRef label,
             mlir::Value partials, const RowsValue &out) const;

  const kernel::CacheGeometry cache;
  const int64_t heads;

private:
  bool causal;
  double scale;
  int64_t window = 0;
  bool chunked = false;
  double softCap = 0;
  mlir::DenseF64ArrayAttr alibiSlopes;
  mlir::DenseI64ArrayAttr maskStrides;
  mlir::Value mask;
  KernelWeight sinks;
};

/// 0, step, 2 * step, …
llvm::SmallVector<int32_t> makeSteps(int64_t count, int64_t step);

/// Appends the kernel that writes rows to the bound cache.
void appendToCache(ProgramConversion &c, mlir::Location loc,
                   const kernel::CacheGeometry &cache, const RowsValue &keys,
                   const RowsValue &values);

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_LLMTOPROGRAM_DENSEATTENTION_H
