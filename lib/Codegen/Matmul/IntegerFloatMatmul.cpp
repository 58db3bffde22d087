//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integer weights times f32 activations, decoded exactly: the sum of a group
// starts from zero, is scaled and added to the chain. Formats with minima
// multiply the rounded values scale * q + minimum instead.
//
//===----------------------------------------------------------------------===//

#include "IntegerMatmul.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <numeric>

using namespace mlir;

namespace llmir {
namespace {

class FloatActivations : public IntegerMatmul {
public:
  FloatActivations(KernelBuilder &kb, const IntegerWeights &weights, Value x,
                   MatmulOutput output)
      : IntegerMatmul(kb, weights, x, shapesOf(kb, weights.layout),
                      std::move(output)) {
    int64_t run = layout.run();
    stretch = run < layout.group() ? run : layout.bundleValues();
    if (layout.format.superGroup > 0)
      stretch = std::lcm(stretch, layout.group());
    stretch = std::min(stretch, layout.block());
  }

private:
  /// Small tiles: decoding dominates the time, and long straight-line code
  /// takes long to compile.
  static TileShapes shapesOf(KernelBuilder &kb,
                             const IntegerMatrixLayout &layout) {
    int64_t rowTiles = kb.level().gemmBlocks.rowTiles;
    return TileShapes::of(layout.numTiles(), layout.tileBytes(),
                          4 * layout.columns, {rowTiles, 2}, {rowTiles, 1});
  }
  int64_t stretchValues() const override { return stretch; }
  bool closesInStretch() const override {
    return layout.format.minima || layout.format.superGroup > 0 ||
           stretch % layout.group() == 0;
  }
  void addStretch(const Stretch &stretch, int64_t tokens, Sums &sums) override;
  /// Value `i` of each row tile's lines minus its zero point, f32 x 16.
  SmallVector<Value> numbersAt(const Stretch &stretch,
                               MutableArrayRef<IntegerLines> tiles, int64_t i);

  int64_t stretch = 0;
};

} // namespace

SmallVector<Value>
FloatActivations::numbersAt(const Stretch &stretch,
                            MutableArrayRef<IntegerLines> tiles, int64_t i) {
  SmallVector<Value> numbers;
  int64_t bias = layout.format.storedBias();
  for (auto [r, tile] : llvm::enumerate(tiles)) {
    Value q = tile.value(i);
    if (bias != 0)
      q = arith::SubIOp::create(kb, q, kb.intConstant(kb.i32x16(), bias));
    if (layout.format.zeroPoints)
      q = arith::SubIOp::create(kb, q, zeroPointOf(stretch.block, r));
    numbers.push_back(arith::SIToFPOp::create(kb, kb.f32x16(), q));
  }
  return numbers;
}

void FloatActivations::addStretch(const Stretch &stretch, int64_t tokens,
                                  Sums &sums) {
  SmallVector<IntegerLines> tiles;
  for (Value offset : stretch.lines)
    tiles.push_back(linesAt(offset));
  prefetch(stretch.lines, layout.numLines(stretch.values) * kLineBytes);
  Value k = kb.mul(stretch.block.number, layout.block());
  k = kb.add(k, kb.mul(stretch.number, this->stretch));
  const int64_t groupSize = layout.group();
  const bool minima = layout.format.minima;
  Value zero = kb.floatConstant(kb.f32x16(), 0.0);
  // One value at a time, to keep register pressure low.
  for (int64_t i = 0; i < stretch.values; ++i) {
    SmallVector<Value> numbers = numbersAt(stretch, tiles, i);
    if (minima)
      for (auto [r, number] : llvm::enumerate(numbers)) {
        Value scale = scaleOf(stretch, r, i / groupSize);
        number = kb.fma(scale, number, minOf(stretch, r, i / groupSize));
      }
    else if (sums.open.empty())
      sums.open.assign(sums.total.size(), zero);
    SmallVector<Value> &chains = minima ? sums.total : sums.open;
    for (int64_t t = 0; t < tokens; ++t) {
      Value activation = kb.broadcast(loadX(kb.getF32Type(), t, kb.add(k, i)));
      for (auto [r, number] : llvm::enumerate(numbers)) {
        Value &sum = chains[r * tokens + t];
        sum = kb.fma(number, activation, sum);
      }
    }
    bool isLast = (i + 1) % groupSize == 0 || i + 1 == stretch.values;
    if (minima || !isLast || !closesInStretch())
      continue;
    for (size_t r = 0; r < numbers.size(); ++r) {
      Value scale = scaleOf(stretch, r, i / groupSize);
      for (int64_t t = 0; t < tokens; ++t) {
        Value &total = sums.total[r * tokens + t];
        total = kb.fma(sums.open[r * tokens + t], scale, total);
      }
    }
    sums.open.clear();
  }
}

void emitFloatActivations(KernelBuilder &kb, const IntegerWeights &weights,
                          Value x, const MatmulOutput &output) {
  FloatActivations(kb, weights, x, output).emit();
}

} // namespace llmir
