//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The products of attention on register tiles: the scores of four rows against
// a span of 64 keys, and the weighted sums of the span's values for four rows.
// A row is one query head of one token; all rows of a block read the same KV
// head.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CODEGEN_ATTENTIONPRODUCTS_H
#define LLMIR_LIB_CODEGEN_ATTENTIONPRODUCTS_H

#include "CacheKernels.h"
#include "llmir/ABI/AttentionSplit.h"

#include <memory>

namespace llmir {

/// Number of rows that are computed together.
constexpr int64_t kRowBlock = 4;
/// Number of keys of one iteration of the online softmax, which starts at a
/// multiple of it: four tiles of 16.
constexpr int64_t kSpanKeys = kAttentionSpan;
constexpr int64_t kSpanTiles = kSpanKeys / kLanes;

/// Location of the 64 keys of a span: the addresses of each tile's first key
/// and first value.
struct KeySpan {
  llvm::SmallVector<mlir::Value, kSpanTiles> keys, values;
};

/// An array of rows with a fixed stride.
struct RowArea {
  mlir::Value base;
  int64_t stride; ///< In bytes.

  mlir::Value at(KernelBuilder &kb, mlir::Value row) const {
    return kb.advance(base, kb.mul(row, stride));
  }
};

/// Multiplication for one cache format on one level. Every accumulator is one
/// chain over ascending K, or over ascending tokens.
class AttentionProducts {
public:
  static std::unique_ptr<AttentionProducts>
  create(KernelBuilder &kb, const KVBlockLayout &layout, KVFormat format);
  virtual ~AttentionProducts() = default;

  /// Size of a row's prepared query, and of its prepared weights for a span.
  virtual int64_t queryBytes() const = 0;
  virtual int64_t weightBytes() const = 0;
  /// Size of the mask of the tokens of a span that a row sees; 0 if a zero
  /// weight cancels arbitrary cache contents.
  virtual int64_t seenBytes() const { return kSpanKeys * layout.elementBytes; }

  /// Prepares a query, given as a function from the first dimension to 16
  /// elements, which are zero past the head's last dimension.
  virtual void
  prepareQuery(mlir::Value to,
               llvm::function_ref<mlir::Value(mlir::Value)> numbers) = 0;
  /// Prepares a row's weights of a span (four vectors of 16); returns the
  /// weights as rounded for the products.
  virtual llvm::SmallVector<mlir::Value>
  prepareWeights(mlir::Value to, llvm::ArrayRef<mlir::Value> weights,
                 const KeySpan &span) = 0;
  /// Stores which of the 16 tokens of a tile a row sees.
  void prepareSeen(mlir::Value to, int64_t tile, mlir::Value seen);

  /// Computes scores[row][key] = query . key as rows of 64 f32, for a block of
  /// rows. If there is a `next` span, prefetches the values of `span`.
  void multiplyKeys(const KeySpan &span, const KeySpan &next, RowArea queries,
                    RowArea scores);
  /// Computes sums[row] = rescale[row] * sums[row] + sum of weight * value, as
  /// rows of paddedValueDim() f32. Without `seen`, every row sees every token.
  /// Prefetches the keys of `next`.
  void addValues(const KeySpan &span, const KeySpan &next, RowArea weights,
                 const RowArea *seen, RowArea rescale, RowArea sums);

protected:
  using Operands = llvm::SmallVector<mlir::Value, 4>;

  AttentionProducts(KernelBuilder &kb, const KVBlockLayout &layout)
      : kb(kb), layout(layout), cell(layout.cellElements()) {}

  // Hooks that multiply a 64-byte line of the cache, 16 words, by a row.

  /// Number of i32 or f32 chains per accumulator.
  virtual int64_t planes() const { return 1; }
  /// Converts a line to operands of multiply().
  virtual Operands keyOperands(mlir::Value words) { return {words}; }
  virtual Operands valueOperands(mlir::Value words) { return {words}; }
  /// The operands by which a row multiplies a line of keys, and a line of
  /// values.
  virtual Operands queryOperands(mlir::Value query, mlir::Value cell) = 0;
  virtual Operands weightOperands(mlir::Value weights, mlir::Value cell) = 0;
  /// sums + line . row.
  virtual void multiply(llvm::MutableArrayRef<mlir::Value> sums,
                        llvm::ArrayRef<mlir::Value> line,
                        llvm::ArrayRef<mlir::Value> row) = 0;
  /// The initial chains before the first line of keys, and the final scores.
  virtual Operands startScores(mlir::Value query);
  virtual mlir::Value finishScores(llvm::ArrayRef<mlir::Value> sums,
                                   mlir::Value query, mlir::Value tileKeys) {
    return sums.front();
  }
  /// The initial chains before the first line of values, given the earlier
  /// sums, and the final sums.
  virtual Operands startValues(mlir::Value weights, mlir::Value before) {
    return {before};
  }
  virtual mlir::Value finishValues(llvm::ArrayRef<mlir::Value> sums,
                                   mlir::Value weights, mlir::Value before) {
    return sums.front();
  }

  mlir::Value zeros() { return kb.floatConstant(kb.f32x16(), 0.0); }
  /// Loads 16 words at `address` + `bytes`.
  mlir::Value loadWords(mlir::Value address, mlir::Value bytes) {
    return kb.loadAt(kb.i32x16(), address, bytes);
  }
  /// Loads the f32 or i32 at `address` + `bytes` into all lanes.
  mlir::Value broadcastAt(mlir::Type type, mlir::Value address,
                          mlir::Value bytes) {
    return kb.broadcast(kb.loadAt(type, address, bytes));
  }

  KernelBuilder &kb;
  KVBlockLayout layout;
  int64_t cell; ///< Values in a 4-byte word of the cache.

private:
  /// Number of tiles of keys, or vectors of values, that fit into the registers
  /// together.
  int64_t linesAtOnce() const;
  /// Addresses to prefetch, divided among the rows of a block.
  using Lines = llvm::SmallVector<mlir::Value, 8>;
  Lines valueLines(const KeySpan &span, int64_t first, int64_t tiles,
                   mlir::Value number) const;
  Lines keyLines(const KeySpan &span, int64_t tile, mlir::Value column,
                 mlir::Value group) const;
  void prefetchShare(const Lines &lines, int64_t row);
  void multiplyTiles(const KeySpan &span, bool ahead, int64_t first,
                     int64_t tiles, RowArea queries, RowArea scores);
  void addColumns(const KeySpan &span, const KeySpan &next, mlir::Value column,
                  int64_t vectors, RowArea weights, const RowArea *seen,
                  RowArea rescale, RowArea sums);
};

/// The scales of a tile's keys, or of its values, given the address of its
/// keys.
mlir::Value tileScales(KernelBuilder &kb, const KVBlockLayout &layout,
                       mlir::Value tileKeys, bool ofValues);

// Defined in AttentionDots.cpp, for levels with a dot-product instruction.
std::unique_ptr<AttentionProducts>
createBf16Products(KernelBuilder &kb, const KVBlockLayout &layout);
std::unique_ptr<AttentionProducts>
createByteProducts(KernelBuilder &kb, const KVBlockLayout &layout);

} // namespace llmir

#endif // LLMIR_LIB_CODEGEN_ATTENTIONPRODUCTS_H
