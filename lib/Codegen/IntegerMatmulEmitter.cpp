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
// these sums are
//
//   multiplied by the activations' scales and added within a group of weights,
//   whose sum is then multiplied by its scale and added to the chain;
//
//   or, where a group of activations holds several groups of weights that lie
//   within one super-group, the other way round.
//
// Minima are multiplied by the sum of the segment's activations and added to
// the chain before that.
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
/// A longer group has a loop.
constexpr int64_t kMostUnrolled = 128;

class ByteActivations : public IntegerMatmul {
public:
  ByteActivations(KernelBuilder &kb, const IntegerWeights &weights, Value x,
                  const ActivationRows &rows, MatmulOutput output)
      : IntegerMatmul(kb, weights, x,
                      TileShapes::of(layoutOf(weights).numTiles(),
                                     layoutOf(weights).tileBytes(),
                                     kb.level().gemmIntegers,
                                     kb.level().gemvBlocks),
                      std::move(output)),
        row(rows.layout), products(kb, layout.format) {
    planStretches(rows.group);
  }

private:
  static const IntegerMatrixLayout &layoutOf(const IntegerWeights &weights) {
    return weights.layout;
  }
  void planStretches(int64_t activationGroup);
  int64_t stretchValues() const override { return stretch; }
  bool closesInStretch() const override { return stretch % closed == 0; }
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
  int64_t closed = 0;         ///< Values after which nothing is open.
  bool weightsInside = false; ///< Weights' scales are applied first.
};

} // namespace

void ByteActivations::planStretches(int64_t activationGroup) {
  const int64_t segment = row.segment, group = layout.group();
  const int64_t block = layout.block();
  const bool isSuper = layout.format.superGroup > 0;
  // Segments begin with a line: with a run, or with a bundle in a run.
  stretch = segment >= layout.run() ? segment
                                    : std::lcm(segment, layout.bundleValues());
  weightsInside = isSuper && segment == group && activationGroup > group &&
                  activationGroup % group == 0 && block % activationGroup == 0;
  closed = weightsInside ? activationGroup : group;
  // Lines that begin anew within a group end a stretch.
  if (layout.run() >= closed && (isSuper || group <= kMostUnrolled))
    stretch = std::lcm(stretch, closed);
  stretch = std::min(stretch, block);
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
      end % closed == 0 || (closesInStretch() && end == stretch.values);
  for (size_t r = 0; r < stretch.lines.size(); ++r) {
    Value scale, min;
    if (weightsInside || (isLast && closesInStretch()))
      scale = scaleOf(stretch, r, group);
    if (layout.format.minima)
      min = minOf(stretch, r, group);
    for (int64_t t = 0; t < tokens; ++t) {
      size_t i = r * tokens + t;
      Value row = kb.add(token, t);
      Value activations = numberOf(segment, row, this->row.scalesAt());
      Value inner = weightsInside ? scale : activations;
      Value outer = weightsInside ? activations : scale;
      Value sum = arith::SIToFPOp::create(kb, kb.f32x16(), dots[i]);
      Value &open = sums.open[i], &total = sums.total[i];
      open = isFirst ? kb.mulf(sum, inner) : kb.fma(sum, inner, open);
      if (min)
        total = kb.fma(min, numberOf(segment, row, this->row.scaledSumsAt()),
                       total);
      if (isLast && closesInStretch())
        total = kb.fma(open, outer, total);
    }
  }
  if (isLast && closesInStretch())
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
  if (segment.values <= 2 * kTurnValues) {
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
                         Value x, const ActivationRows &rows,
                         const MatmulOutput &output) {
  ByteActivations(kb, weights, x, rows, output).emit();
}

void emitQuantizedLinear(KernelBuilder &kb, const QuantizedLinearSpec &spec,
                         const IntegerMatrixLayout &layout, Block *epilogue) {
  MatmulOutput output =
      matmulOutput(kb, {spec.bias, spec.over, spec.unit, epilogue});
  IntegerWeights weights{layout, kb.weight(0)};
  if (spec.segment == 0)
    return emitFloatActivations(kb, weights, kb.buffer(0), output);
  auto rows = QuantizedRowLayout::forWeights(layout, spec.segment);
  emitByteActivations(kb, weights, kb.buffer(0), {rows, spec.activationGroup},
                      output);
}

void emitMoELinear(KernelBuilder &kb, const MoELinearSpec &spec,
                   const IntegerMatrixLayout &layout) {
  overExperts(kb, spec, layout.bytes(), [&](Value matrix, MatmulOutput output) {
    IntegerWeights weights{layout, matrix};
    if (spec.segment == 0)
      return emitFloatActivations(kb, weights, kb.buffer(1), output);
    auto rows = QuantizedRowLayout::forWeights(layout, spec.segment);
    emitByteActivations(kb, weights, kb.buffer(1), {rows, spec.activationGroup},
                        output);
  });
}

} // namespace llmir
