//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The products of attention, on register tiles: scores of four rows against a
// span of 64 keys, and the sum of the span's values that four rows' weights
// make. A row is one query head of one token; all rows of a block read the same
// KV head.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CODEGEN_ATTENTIONPRODUCTS_H
#define LLMIR_LIB_CODEGEN_ATTENTIONPRODUCTS_H

#include "CacheKernels.h"

#include <memory>

namespace llmir {

/// Rows that are computed together.
constexpr int64_t kRowBlock = 4;
/// Keys of one step of the online softmax, at positions that this divides: four
/// tiles of 16.
constexpr int64_t kSpanKeys = 64;
constexpr int64_t kSpanTiles = kSpanKeys / kLanes;

/// Where the 64 keys of a span lie: the addresses of each tile's first key and
/// first value.
struct KeySpan {
  llvm::SmallVector<mlir::Value, kSpanTiles> keys, values;
};

/// Rows of one size in memory.
struct RowArea {
  mlir::Value base;
  int64_t stride; ///< Bytes.

  mlir::Value at(KernelBuilder &kb, mlir::Value row) const {
    return kb.advance(base, kb.mul(row, stride));
  }
};

/// How one format of the cache is multiplied at one level. Every accumulator is
/// one chain over ascending K, or over ascending tokens.
class AttentionProducts {
public:
  static std::unique_ptr<AttentionProducts>
  create(KernelBuilder &kb, const KVBlockLayout &layout, KVFormat format);
  virtual ~AttentionProducts() = default;

  /// Bytes of a row's query, and of its weights for a span, as products take
  /// them.
  virtual int64_t queryBytes() const = 0;
  virtual int64_t weightBytes() const = 0;
  /// Bytes that say which of a span's tokens a row sees; 0 where the cache
  /// holds nothing that a weight of zero does not hide.
  virtual int64_t seenBytes() const { return kSpanKeys * layout.elementBytes; }

  /// Prepares a query, given as a function from the first dimension to 16
  /// numbers, zero behind the head's last.
  virtual void
  prepareQuery(mlir::Value to,
               llvm::function_ref<mlir::Value(mlir::Value)> numbers) = 0;
  /// Prepares a row's weights of a span (four vectors of 16); gives them as the
  /// products see them.
  virtual llvm::SmallVector<mlir::Value>
  prepareWeights(mlir::Value to, llvm::ArrayRef<mlir::Value> weights,
                 const KeySpan &span) = 0;
  /// Notes which of the 16 tokens of a tile a row sees.
  void prepareSeen(mlir::Value to, int64_t tile, mlir::Value seen);

  /// scores[row][key] = query . key as rows of 64 f32, for a block of rows.
  /// Where there is a `next`, the span's values are asked for meanwhile.
  void multiplyKeys(const KeySpan &span, const KeySpan &next, RowArea queries,
                    RowArea scores);
  /// sums[row] = rescale[row] * sums[row] + sum of weight * value, as rows of
  /// paddedValueDim() f32. Without `seen`, every row sees every token. The keys
  /// of `next` are asked for meanwhile.
  void addValues(const KeySpan &span, const KeySpan &next, RowArea weights,
                 const RowArea *seen, RowArea rescale, RowArea sums);

protected:
  using Operands = llvm::SmallVector<mlir::Value, 4>;

  AttentionProducts(KernelBuilder &kb, const KVBlockLayout &layout)
      : kb(kb), layout(layout), cell(layout.cellElements()) {}

  // Hooks: how a 64-byte line of the cache, 16 words, meets a row.

  /// i32 or f32 chains that one accumulator takes.
  virtual int64_t planes() const { return 1; }
  /// The line as multiply() takes it.
  virtual Operands keyOperands(mlir::Value words) { return {words}; }
  virtual Operands valueOperands(mlir::Value words) { return {words}; }
  /// What a row multiplies the line of a cell of dimensions by, and that of a
  /// cell of tokens.
  virtual Operands queryOperands(mlir::Value query, mlir::Value cell) = 0;
  virtual Operands weightOperands(mlir::Value weights, mlir::Value cell) = 0;
  /// sums + line . row.
  virtual void multiply(llvm::MutableArrayRef<mlir::Value> sums,
                        llvm::ArrayRef<mlir::Value> line,
                        llvm::ArrayRef<mlir::Value> row) = 0;
  /// The chains before the first line of keys, and their end as scores.
  virtual Operands startScores(mlir::Value query);
  virtual mlir::Value finishScores(llvm::ArrayRef<mlir::Value> sums,
                                   mlir::Value query, mlir::Value tileKeys) {
    return sums.front();
  }
  /// The chains before the first line of values, given what there is already,
  /// and their end.
  virtual Operands startValues(mlir::Value weights, mlir::Value before) {
    return {before};
  }
  virtual mlir::Value finishValues(llvm::ArrayRef<mlir::Value> sums,
                                   mlir::Value weights, mlir::Value before) {
    return sums.front();
  }

  mlir::Value zeros() { return kb.floatConstant(kb.f32x16(), 0.0); }
  /// 16 words of `address`, `bytes` behind it.
  mlir::Value loadWords(mlir::Value address, mlir::Value bytes) {
    return kb.loadAt(kb.i32x16(), address, bytes);
  }
  /// The f32 or i32 number at `address`, in all lanes.
  mlir::Value broadcastAt(mlir::Type type, mlir::Value address,
                          mlir::Value bytes) {
    return kb.broadcast(kb.loadAt(type, address, bytes));
  }

  KernelBuilder &kb;
  KVBlockLayout layout;
  int64_t cell; ///< Values in a 4-byte word of the cache.

private:
  /// Tiles of keys, or vectors of values, that fit into the registers beside
  /// each other.
  int64_t linesAtOnce() const;
  /// Addresses of which each row of a block asks for its share.
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

/// The scales of a tile's keys, or of its values, given where its keys lie.
mlir::Value tileScales(KernelBuilder &kb, const KVBlockLayout &layout,
                       mlir::Value tileKeys, bool ofValues);

// AttentionDots.cpp: where the level has an instruction for sums of products.
std::unique_ptr<AttentionProducts>
createBf16Products(KernelBuilder &kb, const KVBlockLayout &layout);
std::unique_ptr<AttentionProducts>
createByteProducts(KernelBuilder &kb, const KVBlockLayout &layout);

} // namespace llmir

#endif // LLMIR_LIB_CODEGEN_ATTENTIONPRODUCTS_H
