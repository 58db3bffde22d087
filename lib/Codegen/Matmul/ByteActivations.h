//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The matmul of integer weights and quantized activations
// (IntegerMatmulEmitter.cpp). Levels with instructions for several tokens at
// once derive a class from it that overrides how a segment is accumulated.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CODEGEN_BYTEACTIVATIONS_H
#define LLMIR_LIB_CODEGEN_BYTEACTIVATIONS_H

#include "ByteProducts.h"
#include "IntegerMatmul.h"

namespace llmir {

class ByteActivations : public IntegerMatmul {
public:
  ByteActivations(KernelBuilder &kb, const IntegerWeights &weights,
                  mlir::Value x, const QuantizedRowLayout &row,
                  MatmulOutput output);

protected:
  /// A part of a stretch.
  struct Segment {
    const Stretch &stretch;
    int64_t first, values; ///< Range in the stretch.
    mlir::Value number;    ///< Index of the segment in its row.
  };
  /// Adds a segment to the chains.
  virtual void addSegment(const Segment &segment, int64_t tokens, Sums &sums);
  /// The integer sums of a segment: (q - zero point) . activations.
  virtual llvm::SmallVector<mlir::Value> dot(const Segment &segment,
                                             int64_t tokens);

  /// The initial value of a sum: the negated offset of the weights (zero point
  /// plus `bias`) times the sum of the activations.
  llvm::SmallVector<mlir::Value> startsOf(const Segment &segment,
                                          int64_t tokens, int64_t bias);

  /// The group of weights in the stretch that a segment belongs to, and whether
  /// it is the group's last one.
  struct Ends {
    int64_t group;
    bool isLast;
  };
  Ends endsOf(const Segment &segment);
  /// Factors of the integer sums of one segment when they are added to sum `i`;
  /// the scale and the minimum of the weights are null if they are not applied
  /// yet.
  struct Factors {
    mlir::Value activations, scale = {}, min = {}, scaledSums = {};
  };
  void addScaled(Sums &sums, size_t i, bool isFirst, mlir::Value dot,
                 const Factors &factors);

  /// A range of words of K: words of the activations from `column` on, and
  /// words of the weight lines at `lines` from `first` on.
  struct Words {
    llvm::SmallVector<mlir::Value> lines; ///< Offsets, one per row tile.
    int64_t first, count;
    mlir::Value column;
  };
  /// Calls body(words, sums), which returns the updated sums, for all words of
  /// a segment.
  llvm::SmallVector<mlir::Value>
  overWords(const Segment &segment, bool prefetches,
            llvm::ArrayRef<mlir::Value> starts,
            llvm::function_ref<llvm::SmallVector<mlir::Value>(const Words &,
                                                              mlir::ValueRange)>
                body);

  /// Loads word `column` of row `t` of the register tile as an i32.
  mlir::Value loadWord(int64_t t, mlir::Value column) {
    return loadX(kb.getI32Type(), t, column);
  }
  /// A value stored for a segment (scale or sum), in every lane.
  mlir::Value numberOf(const Segment &segment, int64_t t, int64_t place) {
    return kb.broadcast(
        loadX(kb.getF32Type(), t, kb.add(segment.number, place)));
  }
  std::string tileKey() const override {
    return IntegerMatmul::tileKey() + "_s" + std::to_string(row.segment);
  }

  QuantizedRowLayout row;
  ByteProducts products;

private:
  void planStretches();
  int64_t stretchValues() const override { return stretch; }
  bool closesInStretch() const override {
    return stretch % layout.group() == 0;
  }
  void addStretch(const Stretch &stretch, int64_t tokens, Sums &sums) override;
  llvm::SmallVector<mlir::Value> addWords(const Words &words, int64_t tokens,
                                          mlir::ValueRange sums);

  int64_t stretch = 0;
};

/// Two tokens at once, by smmla (IntegerPairs.cpp).
void emitBytePairs(KernelBuilder &kb, const IntegerWeights &weights,
                   mlir::Value x, const QuantizedRowLayout &row,
                   const MatmulOutput &output);

/// 16 tokens at once, by tiles (IntegerTiles.cpp).
void emitByteTiles(KernelBuilder &kb, const IntegerWeights &weights,
                   mlir::Value x, const QuantizedRowLayout &row,
                   const MatmulOutput &output);

} // namespace llmir

#endif // LLMIR_LIB_CODEGEN_BYTEACTIVATIONS_H
