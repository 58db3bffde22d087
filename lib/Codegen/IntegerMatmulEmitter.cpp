//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integers times quantized activations. A segment, the longest stretch of K in
// which one scale of each holds, has an exact integer sum. Converted to f32,
// these sums are multiplied by the activations' scales and added within a group
// of weights, whose sum is then multiplied by its scale and added to the chain.
// Minima are multiplied by the sum of a segment's activations and added to the
// chain before that.
//
//===----------------------------------------------------------------------===//

#include "ByteProducts.h"
#include "IntegerMatmul.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;

namespace llmir {
namespace {

/// A longer segment has a loop, of so many values a turn: what makes lines of
/// any format.
constexpr int64_t kTurnValues = 32;
/// A longer group of weights has a loop over its segments: sums of segments,
/// of groups and of all of K would not fit into registers together.
constexpr int64_t kMostUnrolled = 32;

class ByteActivations : public IntegerMatmul {
public:
  ByteActivations(KernelBuilder &kb, const IntegerWeights &weights, Value x,
                  const QuantizedRowLayout &row, MatmulOutput output)
      : IntegerMatmul(kb, weights, x,
                      TileShapes::of(layoutOf(weights).numTiles(),
                                     layoutOf(weights).tileBytes(),
                                     kb.level().gemmIntegers,
                                     kb.level().gemvBlocks),
                      std::move(output)),
        row(row), products(kb, layout.format) {
    planStretches();
  }

private:
  static const IntegerMatrixLayout &layoutOf(const IntegerWeights &weights) {
    return weights.layout;
  }
  void planStretches();
  int64_t stretchValues() const override { return stretch; }
  bool closesInStretch() const override {
    return stretch % layout.group() == 0;
  }
  void addStretch(const Stretch &stretch, Value token, int64_t tokens,
                  Sums &sums) override;

  /// Part of a stretch.
  struct Segment {
    const Stretch &stretch;
    int64_t first, values; ///< In the stretch.
    Value number;          ///< Of the segment in its row.
  };
  void addSegment(const Segment &segment, Value token, int64_t tokens,
                  Sums &sums);
  /// The integer sums of a segment: (q - zero point) . activations.
  SmallVector<Value> dot(const Segment &segment, Value token, int64_t tokens);
  /// Sums with `count` words of activations from `word` on, which begin at
  /// value `first` of the lines.
  SmallVector<Value> addWords(ArrayRef<Value> lines, int64_t first,
                              int64_t count, Value word, Value token,
                              int64_t tokens, ValueRange sums);
  /// What a sum begins with: minus what the weights are counted from, times the
  /// sum of the activations.
  SmallVector<Value> startsOf(const Segment &segment, Value token,
                              int64_t tokens);
  /// Word `column` of a row, as an i32.
  Value loadWord(Value token, Value column) {
    return arith::BitcastOp::create(kb, kb.getI32Type(),
                                    kb.load(x, {token, column}));
  }
  /// One of the numbers of a segment, in every lane.
  Value numberOf(const Segment &segment, Value token, int64_t place) {
    return kb.broadcast(kb.load(x, {token, kb.add(segment.number, place)}));
  }

  QuantizedRowLayout row;
  ByteProducts products;
  int64_t stretch = 0;
};

} // namespace

void ByteActivations::planStretches() {
  const int64_t segment = row.segment, group = layout.group();
  // Segments begin with a line: with a run, or with a bundle in a run.
  stretch = segment >= layout.run() ? segment
                                    : std::lcm(segment, layout.bundleValues());
  // Lines that begin anew within a group end a stretch.
  bool isSuper = layout.format.superGroup > 0;
  if (isSuper || (layout.run() >= group && group <= kMostUnrolled))
    stretch = std::lcm(stretch, group);
  stretch = std::min(stretch, layout.block());
}

void ByteActivations::addStretch(const Stretch &stretch, Value token,
                                 int64_t tokens, Sums &sums) {
  int64_t perBlock = ceilDiv(layout.block(), row.segment);
  int64_t perStretch = ceilDiv(this->stretch, row.segment);
  Value number = kb.add(kb.mul(stretch.block.number, perBlock),
                        kb.mul(stretch.number, perStretch));
  for (int64_t first = 0; first < stretch.values; first += row.segment) {
    int64_t values = std::min(row.segment, stretch.values - first);
    addSegment({stretch, first, values, kb.add(number, first / row.segment)},
               token, tokens, sums);
  }
}

void ByteActivations::addSegment(const Segment &segment, Value token,
                                 int64_t tokens, Sums &sums) {
  const Stretch &stretch = segment.stretch;
  SmallVector<Value> dots = dot(segment, token, tokens);
  bool isFirst = sums.open.empty();
  sums.open.resize(dots.size());
  int64_t group = segment.first / layout.group();
  int64_t end = segment.first + segment.values;
  bool isLast =
      closesInStretch() && (end % layout.group() == 0 || end == stretch.values);
  for (size_t r = 0; r < stretch.lines.size(); ++r) {
    Value scale = isLast ? scaleOf(stretch, r, group) : Value();
    Value min = layout.format.minima ? minOf(stretch, r, group) : Value();
    for (int64_t t = 0; t < tokens; ++t) {
      size_t i = r * tokens + t;
      Value rowOfX = kb.add(token, t);
      Value sum = arith::SIToFPOp::create(kb, kb.f32x16(), dots[i]);
      Value activations = numberOf(segment, rowOfX, row.scalesAt());
      Value &open = sums.open[i], &total = sums.total[i];
      open =
          isFirst ? kb.mulf(sum, activations) : kb.fma(sum, activations, open);
      if (min)
        total =
            kb.fma(min, numberOf(segment, rowOfX, row.scaledSumsAt()), total);
      if (isLast)
        total = kb.fma(open, scale, total);
    }
  }
  if (isLast)
    sums.open.clear();
}

SmallVector<Value> ByteActivations::startsOf(const Segment &segment,
                                             Value token, int64_t tokens) {
  const Stretch &stretch = segment.stretch;
  const int64_t bias = products.weightBias();
  SmallVector<Value> starts(stretch.lines.size() * tokens,
                            kb.intConstant(kb.i32x16(), 0));
  if (bias == 0 && !layout.format.zeroPoints)
    return starts;
  SmallVector<Value> zeros;
  if (layout.format.zeroPoints)
    for (size_t r = 0; r < stretch.lines.size(); ++r)
      zeros.push_back(arith::AddIOp::create(kb, zeroPointOf(stretch.block, r),
                                            kb.intConstant(kb.i32x16(), bias)));
  for (int64_t t = 0; t < tokens; ++t) {
    Value minusSum =
        loadWord(kb.add(token, t), kb.add(segment.number, row.sumsAt()));
    Value factor = kb.intConstant(kb.getI32Type(), bias);
    Value sums =
        kb.broadcast(zeros.empty() ? kb.mul(minusSum, factor) : minusSum);
    for (size_t r = 0; r < stretch.lines.size(); ++r)
      starts[r * tokens + t] = zeros.empty() ? sums : kb.mul(zeros[r], sums);
  }
  return starts;
}

SmallVector<Value> ByteActivations::dot(const Segment &segment, Value token,
                                        int64_t tokens) {
  const Stretch &stretch = segment.stretch;
  SmallVector<Value> sums = startsOf(segment, token, tokens);
  Value word = kb.mul(segment.number, row.wordsPerSegment());
  // Segments that share lines are short, or begin between two of them.
  bool isAlone = segment.values == stretch.values;
  if (!isAlone || segment.values <= 2 * kTurnValues) {
    if (segment.first == 0)
      prefetch(stretch.lines, layout.numLines(stretch.values) * kLineBytes);
    return addWords(stretch.lines, segment.first, ceilDiv(segment.values, 4),
                    word, token, tokens, sums);
  }
  int64_t turnBytes =
      kTurnValues / layout.bundleValues() * layout.bundleLines() * kLineBytes;
  int64_t turns = segment.values / kTurnValues;
  auto linesOf = [&](Value turn) {
    SmallVector<Value> lines;
    for (Value line : stretch.lines)
      lines.push_back(kb.add(line, kb.mul(turn, turnBytes)));
    return lines;
  };
  auto wordOf = [&](Value turn) {
    return kb.add(word, kb.mul(turn, kTurnValues / 4));
  };
  sums = kb.reduce(kb.index(0), kb.index(turns), 1, sums,
                   [&](Value turn, ValueRange carried) {
                     SmallVector<Value> lines = linesOf(turn);
                     prefetch(lines, turnBytes);
                     return addWords(lines, 0, kTurnValues / 4, wordOf(turn),
                                     token, tokens, carried);
                   });
  int64_t rest = segment.values % kTurnValues;
  if (rest == 0)
    return sums;
  Value last = kb.index(turns);
  return addWords(linesOf(last), 0, ceilDiv(rest, 4), wordOf(last), token,
                  tokens, sums);
}

SmallVector<Value> ByteActivations::addWords(ArrayRef<Value> lines,
                                             int64_t first, int64_t count,
                                             Value word, Value token,
                                             int64_t tokens, ValueRange sums) {
  SmallVector<IntegerLines> tiles;
  for (Value offset : lines)
    tiles.push_back(linesAt(offset));
  SmallVector<ByteProducts::Sum> dots;
  for (Value sum : sums)
    dots.push_back({sum, {}, 0});
  for (int64_t w = 0; w < count; ++w) {
    SmallVector<ByteProducts::Operands> operands;
    for (IntegerLines &tile : tiles)
      operands.push_back(products.weightOperands(tile.bytes(first / 4 + w)));
    for (int64_t t = 0; t < tokens; ++t) {
      ByteProducts::Operands activations = products.activationOperands(
          loadWord(kb.add(token, t), kb.add(word, w)));
      for (auto [r, operand] : llvm::enumerate(operands))
        products.add(dots[r * tokens + t], operand, activations);
    }
  }
  SmallVector<Value> result;
  for (const ByteProducts::Sum &sum : dots)
    result.push_back(products.finish(sum));
  return result;
}

void emitByteActivations(KernelBuilder &kb, const IntegerWeights &weights,
                         Value x, const QuantizedRowLayout &row,
                         const MatmulOutput &output) {
  ByteActivations(kb, weights, x, row, output).emit();
}

/// With rows of f32, or of bytes where there are segments.
static void emitIntegerMatmul(KernelBuilder &kb, const IntegerWeights &weights,
                              Value x, int64_t segment,
                              const MatmulOutput &output) {
  if (segment == 0)
    return emitFloatActivations(kb, weights, x, output);
  auto row = QuantizedRowLayout::forWeights(weights.layout, segment);
  emitByteActivations(kb, weights, x, row, output);
}

void emitQuantizedLinear(KernelBuilder &kb, const QuantizedLinearSpec &spec,
                         const IntegerMatrixLayout &layout,
                         mlir::Block *epilogue) {
  emitIntegerMatmul(
      kb, {layout, kb.weight(0)}, kb.buffer(0), spec.segment,
      matmulOutput(kb, {spec.bias, spec.over, spec.unit, epilogue}));
}

void emitMoELinear(KernelBuilder &kb, const MoELinearSpec &spec,
                   const IntegerMatrixLayout &layout) {
  overExperts(kb, spec, layout.bytes(), [&](Value matrix, MatmulOutput output) {
    emitIntegerMatmul(kb, {layout, matrix}, kb.buffer(1), spec.segment, output);
  });
}

} // namespace llmir
