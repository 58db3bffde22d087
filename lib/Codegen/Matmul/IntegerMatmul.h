//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What matmuls by integers have in common, however their activations are
// stored: K as blocks, a block as stretches of code without branches.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CODEGEN_INTEGERMATMUL_H
#define LLMIR_LIB_CODEGEN_INTEGERMATMUL_H

#include "IntegerLines.h"
#include "MatmulTiles.h"

namespace llmir {

/// Where a matmul's integers lie.
struct IntegerWeights {
  const IntegerMatrixLayout &layout;
  mlir::Value bytes;
};

class IntegerMatmul : public MatmulTiles {
protected:
  IntegerMatmul(KernelBuilder &kb, const IntegerWeights &weights, mlir::Value x,
                const TileShapes &shapes, MatmulOutput output)
      : MatmulTiles(kb, shapes, {weights.bytes, x}, std::move(output)),
        layout(weights.layout) {}

  /// A block of K in a register tile.
  struct Block {
    llvm::SmallVector<mlir::Value> offsets; ///< In bytes, one per row tile.
    mlir::Value number;                     ///< Of the block in its row.
    int64_t values;
  };
  /// A part of a block whose code is straight. It begins with a line.
  struct Stretch {
    const Block &block;
    llvm::SmallVector<mlir::Value> lines; ///< Offsets of the first one.
    mlir::Value number;                   ///< Of the stretch in its block.
    int64_t values;
  };
  /// The chains of a register tile, and what is yet to be scaled and added to
  /// them: empty where nothing is.
  struct Sums {
    llvm::SmallVector<mlir::Value> total, open;
  };

  /// Values of K in every stretch but a block's last one.
  virtual int64_t stretchValues() const = 0;
  /// True where every stretch leaves nothing open.
  virtual bool closesInStretch() const = 0;
  virtual void addStretch(const Stretch &stretch, int64_t tokens,
                          Sums &sums) = 0;
  /// total += scale * open, with the scales of the block.
  void closeBlock(const Block &block, int64_t tokens, Sums &sums);

  // Lanes of a sum are the 16 rows of its row tile, at one token, unless the
  // emitter has another form of its own for them, of as many sums.
  /// Numbers of 16 rows in the lanes of sum `i` of a row tile.
  virtual mlir::Value inLanes(mlir::Value ofRows, int64_t i, int64_t tokens) {
    return ofRows;
  }
  /// Brings such sums into the form that is stored.
  virtual void toRows(llvm::MutableArrayRef<mlir::Value> sums, int64_t tokens) {
  }

  IntegerLines linesAt(mlir::Value offset) {
    return IntegerLines(kb, layout.format, weights, offset);
  }
  int64_t groupsPerStretch() const { return stretchValues() / layout.group(); }
  /// The scales, or minima, of a row tile in group `group` of the stretch,
  /// f32 x 16.
  mlir::Value scaleOf(const Stretch &stretch, size_t rowTile, int64_t group);
  mlir::Value minOf(const Stretch &stretch, size_t rowTile, int64_t group);
  /// The zero points of a block, i32 x 16.
  mlir::Value zeroPointOf(const Block &block, size_t rowTile);
  /// Prefetches behind `bytes` bytes of each row tile.
  void prefetch(llvm::ArrayRef<mlir::Value> offsets, int64_t bytes);

  llvm::SmallVector<mlir::Value> emitSums(llvm::ArrayRef<mlir::Value> starts,
                                          int64_t tokens) final;
  std::string tileKey() const override {
    return "tile_" + layout.format.name() + "_" +
           std::to_string(layout.columns);
  }

  const IntegerMatrixLayout &layout;

private:
  void addBlock(const Block &block, int64_t tokens, Sums &sums);
  mlir::Value subScaleAt(const Stretch &stretch, size_t rowTile, int64_t group,
                         int64_t offset);
  mlir::Value blockScaleAt(const Block &block, size_t rowTile, int64_t offset);
};

/// y = x W^T with rows of f32, or of bytes where there are segments.
void emitIntegerMatmul(KernelBuilder &kb, const IntegerWeights &weights,
                       mlir::Value x, int64_t segment,
                       const MatmulOutput &output);

/// y = x W^T with rows of f32.
void emitFloatActivations(KernelBuilder &kb, const IntegerWeights &weights,
                          mlir::Value x, const MatmulOutput &output);

/// y = x W^T with rows that quantize_rows has made.
void emitByteActivations(KernelBuilder &kb, const IntegerWeights &weights,
                         mlir::Value x, const QuantizedRowLayout &row,
                         const MatmulOutput &output);

} // namespace llmir

#endif // LLMIR_LIB_CODEGEN_INTEGERMATMUL_H
