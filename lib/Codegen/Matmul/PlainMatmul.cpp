//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The micro-kernel emitter for weights of plain formats: y = x W^T, one 64-byte
// line of each row tile at a time.
//
// f32 and f16 are multiplied as f32, with one fused multiply-add for each value
// of K. bf16 is multiplied by words of two bf16 values (round_rows); of each
// word, the second value is accumulated before the first one, as vdpbf16ps
// does. Levels without it use two fused multiply-adds. vdpbf16ps treats
// denormal inputs and results as zero; otherwise results are equal (measured on
// Zen 5 over all exponents).
//
//===----------------------------------------------------------------------===//

#include "MatmulTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace llmir {
namespace {

/// Lines of each row tile per iteration of the loop over K.
constexpr int64_t kLinesPerIteration = 2;
/// The maximum number of tokens that share a line: with this many, multiplying
/// a line takes longer than reading it.
constexpr int64_t kMaxTokens = 12;
/// Size of the weights that stay in the L2 cache while rows of x are streamed.
constexpr int64_t kGroupBytes = 512 << 10;

class PlainMatmul : public MatmulTiles {
public:
  PlainMatmul(KernelBuilder &kb, const PackedMatrixLayout &layout,
              Value weights, Value x, MatmulOutput output)
      : MatmulTiles(kb, shapesFor(kb.level(), layout), {weights, x},
                    std::move(output)),
        layout(layout) {}

private:
  static TileShapes shapesFor(const CPULevel &level,
                              const PackedMatrixLayout &layout);
  std::string tileKey() const override;
  SmallVector<Value> emitSums(ArrayRef<Value> starts, int64_t tokens) override;
  /// Adds one line of each row tile, at addresses `starts`.
  SmallVector<Value> addLine(ArrayRef<Value> starts, Value line, int64_t tokens,
                             ValueRange accumulators);
  /// Adds value `v` of a line of each row tile times those of the tokens.
  void addValues(ArrayRef<Value> lines, int64_t v, Value column, int64_t tokens,
                 MutableArrayRef<Value> sums);
  /// Adds both values of the words of a bf16 line.
  void addPairs(ArrayRef<Value> lines, Value column, int64_t tokens,
                MutableArrayRef<Value> sums);

  const PackedMatrixLayout &layout;
};

} // namespace

/// Whether lines are operands without conversion: f32, and bf16 on levels with
/// a bf16 dot product.
static bool takesLines(const CPULevel &level, TensorFormat format) {
  return format == TensorFormat::F32 ||
         (format == TensorFormat::BF16 && level.hasBf16Dots());
}

TileShapes PlainMatmul::shapesFor(const CPULevel &level,
                                  const PackedMatrixLayout &layout) {
  bool taken = takesLines(level, layout.format);
  // Registers besides lines and sums: the broadcast word of a row of x; if
  // lines are converted, its two converted halves, the mask for the conversion,
  // and one more without which LLVM spills.
  int64_t others = taken ? 2 : 5;
  int64_t perVector = kLanes * 32 / level.vectorBits;
  auto fits = [&](int64_t rowTiles, int64_t tokens) {
    // With one token, a line is used immediately.
    int64_t lines = tokens > 1 ? rowTiles : 1;
    int64_t vectors = rowTiles * tokens + lines * (taken ? 1 : 2);
    return vectors * perVector + others <= level.vectorRegisters;
  };
  // With many tokens, a group of row tiles stays in the cache.
  int64_t streams = 4 * layout.tileBytes() <= kGroupBytes ? 4 : 2;
  // Rows are words of two bf16 values for bf16 weights, else f32.
  int64_t rowBytes =
      layout.columns * (layout.format == TensorFormat::BF16 ? 2 : 4);
  TileShapes shapes{layout.numTiles(), layout.tileBytes(), rowBytes, {}};
  shapes.prefetches = false; // The hardware does.
  double best = 0;
  for (int64_t tokens = 1; tokens <= kMaxTokens; ++tokens) {
    int64_t rowTiles = streams;
    while (rowTiles > 1 && !fits(rowTiles, tokens))
      rowTiles /= 2;
    if (!fits(rowTiles, tokens))
      break;
    shapes.rowTiles.push_back(rowTiles);
    double products = rowTiles * perVector * tokens,
           loads = rowTiles * perVector + tokens;
    if (products / loads > best) {
      best = products / loads;
      shapes.many = tokens;
    }
  }
  return shapes;
}

std::string PlainMatmul::tileKey() const {
  return "tile_" + std::string(tensorFormatInfo(layout.format).name) + "_" +
         std::to_string(layout.columns);
}

SmallVector<Value> PlainMatmul::emitSums(ArrayRef<Value> starts,
                                         int64_t tokens) {
  SmallVector<Value> sums(starts.size() * tokens,
                          kb.floatConstant(kb.f32x16(), 0.0));
  int64_t lines = layout.tileBytes() / kLineBytes;
  int64_t whole = lines / kLinesPerIteration * kLinesPerIteration;
  auto addLines = [&](Value first, int64_t count, SmallVector<Value> carried) {
    for (int64_t i = 0; i < count; ++i)
      carried = addLine(starts, kb.add(first, i), tokens, carried);
    return carried;
  };
  if (whole > 0)
    sums = kb.reduce(kb.index(0), kb.index(whole), kLinesPerIteration, sums,
                     [&](Value line, ValueRange carried) {
                       return addLines(line, kLinesPerIteration,
                                       SmallVector<Value>(carried));
                     });
  return addLines(kb.index(whole), lines - whole, sums);
}

SmallVector<Value> PlainMatmul::addLine(ArrayRef<Value> starts, Value line,
                                        int64_t tokens,
                                        ValueRange accumulators) {
  SmallVector<Value> lines, sums(accumulators);
  for (Value start : starts) {
    Value offset = kb.add(start, kb.mul(line, kLineBytes));
    Value bytes =
        kb.loadAt(kb.vec(kLineBytes, kb.getI8Type()), weights, offset);
    lines.push_back(vector::BitCastOp::create(kb, kb.i32x16(), bytes));
  }
  if (layout.format == TensorFormat::BF16) {
    addPairs(lines, line, tokens, sums);
    return sums;
  }
  Value column = kb.mul(line, layout.valuesPerLine());
  for (int64_t v = 0; v < layout.valuesPerLine(); ++v)
    addValues(lines, v, kb.add(column, v), tokens, sums);
  return sums;
}

void PlainMatmul::addValues(ArrayRef<Value> lines, int64_t v, Value column,
                            int64_t tokens, MutableArrayRef<Value> sums) {
  SmallVector<Value> values;
  for (Value line : lines)
    values.push_back(decodeWords(kb, layout.format, line)[v]);
  for (int64_t t = 0; t < tokens; ++t) {
    Value activation = kb.broadcast(loadX(kb.getF32Type(), t, column));
    for (auto [r, value] : llvm::enumerate(values)) {
      Value &sum = sums[r * tokens + t];
      sum = kb.fma(value, activation, sum);
    }
  }
}

/// accumulator + weights . activations, both pairs of bf16 in 16 words.
static Value addDots(KernelBuilder &kb, Value accumulator, Value weights,
                     Value activations) {
  Type pairs = kb.vec(2 * kLanes, kb.getBF16Type());
  Value w = vector::BitCastOp::create(kb, pairs, weights);
  Value x = vector::BitCastOp::create(kb, pairs, activations);
  return LLVM::CallIntrinsicOp::create(
             kb, accumulator.getType(),
             kb.getStringAttr("llvm.x86.avx512bf16.dpbf16ps.512"),
             ValueRange{accumulator, w, x})
      .getResult(0);
}

void PlainMatmul::addPairs(ArrayRef<Value> lines, Value column, int64_t tokens,
                           MutableArrayRef<Value> sums) {
  bool hasDots = kb.level().hasBf16Dots();
  SmallVector<SmallVector<Value>> values;
  for (Value line : lines)
    if (!hasDots)
      values.push_back(decodeWords(kb, TensorFormat::BF16, line));
  for (int64_t t = 0; t < tokens; ++t) {
    Value words = kb.broadcast(loadX(kb.getI32Type(), t, column));
    SmallVector<Value> numbers;
    if (!hasDots)
      numbers = decodeWords(kb, TensorFormat::BF16, words);
    for (auto [r, line] : llvm::enumerate(lines)) {
      Value &sum = sums[r * tokens + t];
      if (hasDots) {
        sum = addDots(kb, sum, line, words);
        continue;
      }
      sum = kb.fma(values[r][1], numbers[1], sum);
      sum = kb.fma(values[r][0], numbers[0], sum);
    }
  }
}

/// y = x W^T.
void emitPlainMatmul(KernelBuilder &kb, const PackedMatrixLayout &layout,
                     Value weights, Value x, const MatmulOutput &output) {
  if (layout.format == TensorFormat::BF16 &&
      kb.level().bf16Dots == Bf16Dots::AMX)
    return emitPlainTiles(kb, layout, weights, x, output);
  PlainMatmul(kb, layout, weights, x, output).emit();
}

} // namespace llmir
