//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The base of matmuls with integer weights, for all formats of activations: K
// is divided into blocks, and a block into stretches of straight-line code.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CODEGEN_INTEGERMATMUL_H
#define LLMIR_LIB_CODEGEN_INTEGERMATMUL_H

#include "IntegerLines.h"
#include "MatmulTiles.h"

namespace llmir {

/// Layout and address of the integer weights of a matmul.
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
    mlir::Value number;                     ///< Index of the block in its row.
    int64_t values;
  };
  /// A part of a block with straight-line code. It starts at a line.
  struct Stretch {
    const Block &block;
    llvm::SmallVector<mlir::Value> lines; ///< Offsets of the first line.
    mlir::Value number; ///< Index of the stretch in its block.
    int64_t values;
  };
  /// The chains of a register tile, and sums that are not scaled and added to
  /// them yet; may be empty.
  struct Sums {
    llvm::SmallVector<mlir::Value> total, open;
  };

  /// Number of values of K per stretch, except for the last one of a block.
  virtual int64_t stretchValues() const = 0;
  /// Returns true if no stretch leaves sums open.
  virtual bool closesInStretch() const = 0;
  virtual void addStretch(const Stretch &stretch, int64_t tokens,
                          Sums &sums) = 0;
  /// total += scale * open, with the scales of the block.
  void closeBlock(const Block &block, int64_t tokens, Sums &sums);

  // The lanes of a sum are the 16 rows of its row tile for one token, unless
  // the emitter overrides this form with another one of as many sums.
  /// Arranges values of 16 rows in the lanes of sum `i` of a row tile.
  virtual mlir::Value inLanes(mlir::Value ofRows, int64_t i, int64_t tokens) {
    return ofRows;
  }
  /// Converts such sums to the form that is stored.
  virtual void toRows(llvm::MutableArrayRef<mlir::Value> sums, int64_t tokens) {
  }

  IntegerLines linesAt(mlir::Value offset, int64_t tableBias = 0) {
    return IntegerLines(kb, layout.format, weights, offset, tableBias);
  }
  int64_t groupsPerStretch() const { return stretchValues() / layout.group(); }
  /// The scales, or minima, of a row tile in group `group` of the stretch,
  /// f32 x 16.
  mlir::Value scaleOf(const Stretch &stretch, size_t rowTile, int64_t group);
  mlir::Value minOf(const Stretch &stretch, size_t rowTile, int64_t group);
  /// The zero points of a block, i32 x 16.
  mlir::Value zeroPointOf(const Block &block, size_t rowTile);
  /// Prefetches after `bytes` bytes of each row tile.
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
  /// Which numbers of a group.
  enum class Kind { Scale, Min };
  mlir::Value subScaleAt(const Stretch &stretch, size_t rowTile, int64_t group,
                         Kind kind);
  /// The scale, or d, of a block; its minimum, or dmin.
  mlir::Value blockScaleAt(const Block &block, size_t rowTile, Kind kind);
};

/// y = x W^T with f32 activations, or with quantized ones if there are
/// segments.
void emitIntegerMatmul(KernelBuilder &kb, const IntegerWeights &weights,
                       mlir::Value x, int64_t segment,
                       const MatmulOutput &output);

/// y = x W^T with f32 activations.
void emitFloatActivations(KernelBuilder &kb, const IntegerWeights &weights,
                          mlir::Value x, const MatmulOutput &output);

/// y = x W^T with activations quantized by quantize_rows.
void emitByteActivations(KernelBuilder &kb, const IntegerWeights &weights,
                         mlir::Value x, const QuantizedRowLayout &row,
                         const MatmulOutput &output);

} // namespace llmir

#endif // LLMIR_LIB_CODEGEN_INTEGERMATMUL_H
