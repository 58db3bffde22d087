//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integer weights times quantized activations of two tokens at once, with
// smmla, which adds the product of two rows of 8 bytes and two rows of 8 bytes
// to the four words of a register.
//
// The 8 bytes of a row are its words of two lines, interleaved (zip); the other
// two rows are a pair of tokens. The words of a register are
//
//   row 0, token 0 | row 0, token 1 | row 1, token 0 | row 1, token 1
//
// and the 32 sums of a row tile and a pair of tokens are two vectors of 16
// lanes, one for each half of the rows. Scales are converted to this form, and
// the chains are deinterleaved when they are stored. The integers equal those
// of sdot, and each chain gets the same operations.
//
// A zip costs as much as two of the instructions it saves, so smmla needs many
// tokens per zip. Therefore the two halves of the rows are processed one after
// the other: their integer sums take 12 of 32 registers with six tokens; some
// of the chains, to which a segment is added once, are spilled. (Vector
// instructions per token for a segment of 32 bytes: 38; with four tokens 43;
// sdot with three tokens 44.) An odd number of tokens is processed with sdot.
//
//===----------------------------------------------------------------------===//

#include "ByteActivations.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace llmir {
namespace {

constexpr int64_t kHalfRows = kTileRows / 2;

class BytePairs : public ByteActivations {
public:
  using ByteActivations::ByteActivations;

private:
  static bool arePairs(int64_t tokens) { return tokens % 2 == 0; }

  // Sum r * tokens + 2 * p + h belongs to half h of row tile r and pair p.
  Value inLanes(Value ofRows, int64_t i, int64_t tokens) override {
    return arePairs(tokens) ? twice(ofRows, i % 2) : ofRows;
  }
  void toRows(MutableArrayRef<Value> sums, int64_t tokens) override;
  void addSegment(const Segment &segment, int64_t tokens, Sums &sums) override;

  /// Like dot(), for one half of the rows: sum r * pairs + p.
  SmallVector<Value> dotHalf(const Segment &segment, int64_t pairs,
                             int64_t half);
  SmallVector<Value> startsOfHalf(const Segment &segment, int64_t pairs,
                                  int64_t half);
  SmallVector<Value> addWords(const Words &words, int64_t pairs, int64_t half,
                              ValueRange sums);

  /// Extracts 8 of the 16 lanes.
  Value halfOf(Value ofRows, int64_t half) {
    return vector::ExtractStridedSliceOp::create(
        kb, ofRows, ArrayRef<int64_t>{half * kHalfRows},
        ArrayRef<int64_t>{kHalfRows}, ArrayRef<int64_t>{1});
  }
  /// Word `i` of 8 rows as an operand of smmla.
  Value bytesOfHalf(IntegerLines &lines, int64_t i, int64_t half) {
    Value bytes = products.weightOperands(lines.bytes(i)).front();
    return halfOf(vector::BitCastOp::create(kb, kb.i32x16(), bytes), half);
  }
  /// Repeats each lane of a half twice.
  Value twice(Value ofRows, int64_t half) {
    Value rows = halfOf(ofRows, half);
    return vector::InterleaveOp::create(kb, rows, rows);
  }
  /// A value stored for a segment (scale or sum), alternating between the two
  /// tokens.
  Value numbersOf(const Segment &segment, int64_t pair, int64_t place) {
    Value number = numberOf(segment, 2 * pair, place);
    return alternate(number, numberOf(segment, 2 * pair + 1, place));
  }
  /// Alternates lanes of the splats `a` and `b`.
  Value alternate(Value a, Value b) {
    a = halfOf(a, 0);
    b = halfOf(b, 0);
    return vector::InterleaveOp::create(kb, a, b);
  }
  /// 8 bytes of each token of a pair from word `column` on.
  Value loadPair(int64_t pair, Value column);
};

} // namespace

void BytePairs::toRows(MutableArrayRef<Value> sums, int64_t tokens) {
  if (!arePairs(tokens))
    return;
  auto lanes = [](int64_t first) {
    SmallVector<int64_t> all;
    for (int64_t i = 0; i < kTileRows; ++i)
      all.push_back(first + 2 * i);
    return all;
  };
  for (size_t i = 0; i < sums.size(); i += 2) {
    Value low = sums[i], high = sums[i + 1];
    sums[i] = vector::ShuffleOp::create(kb, low, high, lanes(0));
    sums[i + 1] = vector::ShuffleOp::create(kb, low, high, lanes(1));
  }
}

void BytePairs::addSegment(const Segment &segment, int64_t tokens, Sums &sums) {
  if (!arePairs(tokens))
    return ByteActivations::addSegment(segment, tokens, sums);
  const int64_t pairs = tokens / 2;
  const size_t rowTiles = segment.stretch.lines.size();
  bool isFirst = sums.open.empty();
  sums.open.resize(rowTiles * tokens);
  auto [group, isLast] = endsOf(segment);
  for (int64_t half = 0; half < 2; ++half) {
    SmallVector<Value> dots = dotHalf(segment, pairs, half);
    for (size_t r = 0; r < rowTiles; ++r) {
      Factors factors;
      if (isLast)
        factors.scale = twice(scaleOf(segment.stretch, r, group), half);
      if (layout.format.minima)
        factors.min = twice(minOf(segment.stretch, r, group), half);
      for (int64_t p = 0; p < pairs; ++p) {
        factors.activations = numbersOf(segment, p, row.scalesAt());
        if (factors.min)
          factors.scaledSums = numbersOf(segment, p, row.scaledSumsAt());
        addScaled(sums, r * tokens + 2 * p + half, isFirst, dots[r * pairs + p],
                  factors);
      }
    }
  }
  if (isLast)
    sums.open.clear();
}

SmallVector<Value> BytePairs::startsOfHalf(const Segment &segment,
                                           int64_t pairs, int64_t half) {
  SmallVector<Value> ofRows =
      startsOf(segment, 2 * pairs, products.weightBias());
  SmallVector<Value> starts;
  for (size_t i = 0; i < ofRows.size(); i += 2) {
    Value a = halfOf(ofRows[i], half), b = halfOf(ofRows[i + 1], half);
    starts.push_back(vector::InterleaveOp::create(kb, a, b));
  }
  return starts;
}

SmallVector<Value> BytePairs::dotHalf(const Segment &segment, int64_t pairs,
                                      int64_t half) {
  return overWords(segment, /*prefetches=*/half == 0,
                   startsOfHalf(segment, pairs, half),
                   [&](const Words &words, ValueRange sums) {
                     return addWords(words, pairs, half, sums);
                   });
}

Value BytePairs::loadPair(int64_t pair, Value column) {
  auto load = [&](int64_t t) {
    return loadX(kb.vec(2, kb.getF32Type()), t, column);
  };
  Value first = load(2 * pair), second = load(2 * pair + 1);
  Value words = vector::ShuffleOp::create(kb, first, second,
                                          ArrayRef<int64_t>{0, 1, 2, 3});
  return vector::BitCastOp::create(kb, kb.vec(16, kb.getI8Type()), words);
}

SmallVector<Value> BytePairs::addWords(const Words &words, int64_t pairs,
                                       int64_t half, ValueRange sums) {
  SmallVector<IntegerLines> tiles;
  for (Value offset : words.lines)
    tiles.push_back(linesAt(offset, products.tableBias()));
  SmallVector<Value> result(sums);
  Value none = kb.intConstant(kb.vec(kHalfRows, kb.getI32Type()), 0);
  for (int64_t w = 0; w < words.count; w += 2) {
    // Whatever follows the last word of the activations is multiplied by zero.
    bool isPair = w + 1 < words.count;
    SmallVector<Value> weights;
    for (IntegerLines &tile : tiles) {
      Value low = bytesOfHalf(tile, words.first + w, half);
      Value high = isPair ? bytesOfHalf(tile, words.first + w + 1, half) : none;
      Value both = vector::InterleaveOp::create(kb, low, high);
      weights.push_back(vector::BitCastOp::create(
          kb, kb.vec(kTileRows * 4, kb.getI8Type()), both));
    }
    for (int64_t p = 0; p < pairs; ++p) {
      Value activations = loadPair(p, kb.add(words.column, w));
      for (auto [r, rows] : llvm::enumerate(weights)) {
        Value &sum = result[r * pairs + p];
        sum = callPerRegister(kb, "llvm.aarch64.neon.smmla.v4i32.v16i8",
                              kb.getI32Type(), {sum, rows, activations});
      }
    }
  }
  return result;
}

void emitBytePairs(KernelBuilder &kb, const IntegerWeights &weights, Value x,
                   const QuantizedRowLayout &row, const MatmulOutput &output) {
  BytePairs(kb, weights, x, row, output).emit();
}

} // namespace llmir
