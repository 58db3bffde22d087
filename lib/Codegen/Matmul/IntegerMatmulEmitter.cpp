//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integer weights times quantized activations. A segment, the longest range of
// K with one weight scale and one activation scale, has an exact integer sum.
// These sums are converted to f32, multiplied by the activation scales and
// added within a group of weights, whose sum is then multiplied by its scale
// and added to the chain. Minima are multiplied by the sum of a segment's
// activations and added to the chain before that.
//
//===----------------------------------------------------------------------===//

#include "ByteActivations.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;

namespace llmir {

/// Longer segments are processed in a loop with this many values per iteration,
/// which are whole lines in every format.
static constexpr int64_t kIterationValues = 32;
/// Longer groups of weights are processed in a loop over their segments: sums
/// of segments, of groups and of all of K would not fit into registers
/// together.
static constexpr int64_t kMaxUnrolled = 32;

ByteActivations::ByteActivations(KernelBuilder &kb,
                                 const IntegerWeights &weights, Value x,
                                 const QuantizedRowLayout &row,
                                 MatmulOutput output)
    : IntegerMatmul(kb, weights, x,
                    TileShapes::of(weights.layout.numTiles(),
                                   weights.layout.tileBytes(), 4 * row.words(),
                                   kb.level().gemmIntegers,
                                   kb.level().gemvBlocks),
                    std::move(output)),
      row(row), products(kb, layout.format) {
  planStretches();
}

void ByteActivations::planStretches() {
  const int64_t segment = row.segment, group = layout.group();
  // Segments start at a line: at a run, or at a bundle in a run.
  stretch = segment >= layout.run() ? segment
                                    : std::lcm(segment, layout.bundleValues());
  // If lines restart within a group, the stretch ends there.
  bool isSuper = layout.format.superGroup > 0;
  if (isSuper || (layout.run() >= group && group <= kMaxUnrolled))
    stretch = std::lcm(stretch, group);
  if (isSuper) // Super-groups are multiples of 32.
    stretch = std::lcm(stretch, kIterationValues);
  stretch = std::min(stretch, layout.block());
}

void ByteActivations::addStretch(const Stretch &stretch, int64_t tokens,
                                 Sums &sums) {
  int64_t perBlock = ceilDiv(layout.block(), row.segment);
  int64_t perStretch = ceilDiv(this->stretch, row.segment);
  Value number = kb.mul(stretch.block.number, perBlock);
  number = kb.add(number, kb.mul(stretch.number, perStretch));
  for (int64_t first = 0; first < stretch.values; first += row.segment) {
    int64_t values = std::min(row.segment, stretch.values - first);
    addSegment({stretch, first, values, kb.add(number, first / row.segment)},
               tokens, sums);
  }
}

ByteActivations::Ends ByteActivations::endsOf(const Segment &segment) {
  const Stretch &stretch = segment.stretch;
  int64_t end = segment.first + segment.values;
  bool isLast =
      closesInStretch() && (end % layout.group() == 0 || end == stretch.values);
  return {segment.first / layout.group(), isLast};
}

void ByteActivations::addSegment(const Segment &segment, int64_t tokens,
                                 Sums &sums) {
  const Stretch &stretch = segment.stretch;
  SmallVector<Value> dots = dot(segment, tokens);
  bool isFirst = sums.open.empty();
  sums.open.resize(dots.size());
  auto [group, isLast] = endsOf(segment);
  for (size_t r = 0; r < stretch.lines.size(); ++r) {
    Factors factors;
    if (isLast)
      factors.scale = scaleOf(stretch, r, group);
    if (layout.format.minima)
      factors.min = minOf(stretch, r, group);
    for (int64_t t = 0; t < tokens; ++t) {
      factors.activations = numberOf(segment, t, row.scalesAt());
      if (factors.min)
        factors.scaledSums = numberOf(segment, t, row.scaledSumsAt());
      size_t i = r * tokens + t;
      addScaled(sums, i, isFirst, dots[i], factors);
    }
  }
  if (isLast)
    sums.open.clear();
}

void ByteActivations::addScaled(Sums &sums, size_t i, bool isFirst, Value dot,
                                const Factors &factors) {
  Value sum = arith::SIToFPOp::create(kb, kb.f32x16(), dot);
  Value &open = sums.open[i], &total = sums.total[i];
  open = isFirst ? kb.mulf(sum, factors.activations)
                 : kb.fma(sum, factors.activations, open);
  if (factors.min)
    total = kb.fma(factors.min, factors.scaledSums, total);
  if (factors.scale)
    total = kb.fma(open, factors.scale, total);
}

SmallVector<Value> ByteActivations::startsOf(const Segment &segment,
                                             int64_t tokens, int64_t bias) {
  const Stretch &stretch = segment.stretch;
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
    Value minusSum = loadWord(t, kb.add(segment.number, row.sumsAt()));
    Value factor = kb.intConstant(kb.getI32Type(), bias);
    Value sums =
        kb.broadcast(zeros.empty() ? kb.mul(minusSum, factor) : minusSum);
    for (size_t r = 0; r < stretch.lines.size(); ++r)
      starts[r * tokens + t] = zeros.empty() ? sums : kb.mul(zeros[r], sums);
  }
  return starts;
}

SmallVector<Value> ByteActivations::dot(const Segment &segment,
                                        int64_t tokens) {
  return overWords(segment, /*prefetches=*/true,
                   startsOf(segment, tokens, products.weightBias()),
                   [&](const Words &words, ValueRange sums) {
                     return addWords(words, tokens, sums);
                   });
}

SmallVector<Value> ByteActivations::overWords(
    const Segment &segment, bool prefetches, ArrayRef<Value> starts,
    llvm::function_ref<SmallVector<Value>(const Words &, ValueRange)> body) {
  const Stretch &stretch = segment.stretch;
  Value word = kb.mul(segment.number, row.wordsPerSegment());
  // Segments that share lines are short, or start between two lines.
  bool isAlone = segment.values == stretch.values;
  if (!isAlone || segment.values <= 2 * kIterationValues) {
    if (prefetches && segment.first == 0)
      prefetch(stretch.lines, layout.numLines(stretch.values) * kLineBytes);
    return body(
        {stretch.lines, segment.first / 4, ceilDiv(segment.values, 4), word},
        starts);
  }
  int64_t iterationBytes = kIterationValues / layout.bundleValues() *
                           layout.bundleLines() * kLineBytes;
  int64_t iterations = segment.values / kIterationValues;
  auto wordsOf = [&](Value iteration, int64_t count) {
    Words words{
        {}, 0, count, kb.add(word, kb.mul(iteration, kIterationValues / 4))};
    for (Value line : stretch.lines)
      words.lines.push_back(kb.add(line, kb.mul(iteration, iterationBytes)));
    return words;
  };
  SmallVector<Value> sums =
      kb.reduce(kb.index(0), kb.index(iterations), 1, starts,
                [&](Value iteration, ValueRange carried) {
                  Words words = wordsOf(iteration, kIterationValues / 4);
                  if (prefetches)
                    prefetch(words.lines, iterationBytes);
                  return body(words, carried);
                });
  int64_t rest = segment.values % kIterationValues;
  if (rest == 0)
    return sums;
  return body(wordsOf(kb.index(iterations), ceilDiv(rest, 4)), sums);
}

SmallVector<Value> ByteActivations::addWords(const Words &words, int64_t tokens,
                                             ValueRange sums) {
  SmallVector<IntegerLines> tiles;
  for (Value offset : words.lines)
    tiles.push_back(linesAt(offset, products.tableBias()));
  SmallVector<ByteProducts::Sum> dots;
  for (Value sum : sums)
    dots.push_back({sum, {}, 0});
  for (int64_t w = 0; w < words.count; ++w) {
    SmallVector<ByteProducts::Operands> operands;
    for (IntegerLines &tile : tiles)
      operands.push_back(products.weightOperands(tile.bytes(words.first + w)));
    for (int64_t t = 0; t < tokens; ++t) {
      ByteProducts::Operands activations =
          products.activationOperands(loadWord(t, kb.add(words.column, w)));
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
  if (kb.level().byteDots == ByteDots::SMMLA)
    return emitBytePairs(kb, weights, x, row, output);
  if (kb.level().byteDots == ByteDots::AMX)
    return emitByteTiles(kb, weights, x, row, output);
  ByteActivations(kb, weights, x, row, output).emit();
}

void emitIntegerMatmul(KernelBuilder &kb, const IntegerWeights &weights,
                       Value x, int64_t segment, const MatmulOutput &output) {
  if (segment == 0)
    return emitFloatActivations(kb, weights, x, output);
  auto row = QuantizedRowLayout::forWeights(weights.layout, segment);
  emitByteActivations(kb, weights, x, row, output);
}

} // namespace llmir
