//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The micro-kernel emitter for weights of integers: y = x W^T.
//
// Activations of f32 are multiplied by the integers exactly as they are; a
// group's sum, from zero, is scaled and added. Quantized activations are
// multiplied as integers, exactly; a segment's sum is converted, scaled by both
// scales and added. In each case one f32 chain over ascending K results, the
// same for every level.
//
//===----------------------------------------------------------------------===//

#include "IntegerLines.h"
#include "MatmulTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace llmir {
namespace {

/// A stretch of K with one scale in a register tile.
struct GroupPlace {
  SmallVector<Value> offsets; ///< Of its first line, one per row tile.
  Value number;               ///< Of the group in its row.
  int64_t values;
};

/// A stretch of a group whose lines follow each other.
struct SegmentPlace {
  SmallVector<Value> offsets;
  Value number; ///< Of the segment in its row, counted in `segmentValues`.
  Value k;      ///< Of its first value.
  int64_t values;
};

/// What does not depend on how activations are stored.
class IntegerMatmulEmitter : public MatmulTiles {
protected:
  IntegerMatmulEmitter(KernelBuilder &kb, const IntegerMatrixLayout &layout,
                       int64_t segmentValues, RegisterTile gemm, Value weights,
                       Value x, MatmulOutput output)
      : MatmulTiles(kb,
                    TileShapes::of(layout.numTiles(), layout.tileBytes(), gemm,
                                   kb.level().gemvBlocks),
                    output),
        layout(layout), segmentValues(segmentValues), weights(weights), x(x) {}

  /// What the group adds to its accumulators.
  virtual SmallVector<Value> addGroup(const GroupPlace &group, Value token,
                                      int64_t tokens,
                                      ValueRange accumulators) = 0;

  using SegmentBody =
      llvm::function_ref<SmallVector<Value>(const SegmentPlace &, ValueRange)>;
  /// body(segment, values carried) for each segment of the group in order.
  SmallVector<Value> overSegments(const GroupPlace &group, ValueRange initial,
                                  SegmentBody body);
  using LineBody = llvm::function_ref<SmallVector<Value>(ArrayRef<Value>, Value,
                                                         ValueRange)>;
  /// body(offsets, line, values carried) for `lines` lines of the segment.
  SmallVector<Value> overLines(const SegmentPlace &segment, int64_t lines,
                               ValueRange initial, LineBody body);

  Value loadLine(Value offset) {
    return vector::BitCastOp::create(
        kb, kb.i32x16(), kb.loadVector(weights, offset, kLineBytes));
  }
  /// The group's scales for each row tile.
  SmallVector<Value> scalesOf(const GroupPlace &group);
  /// What the stored integers of a row tile count from: their zero point plus
  /// `bias`; null where that is nothing.
  Value storedZero(const GroupPlace &group, size_t rowTile, int64_t bias);

  const IntegerMatrixLayout &layout;
  int64_t segmentValues;
  Value weights, x;

private:
  SmallVector<Value> emitSums(ArrayRef<Value> tiles, Value token,
                              int64_t tokens) final;
};

} // namespace

SmallVector<Value> IntegerMatmulEmitter::emitSums(ArrayRef<Value> tiles,
                                                  Value token, int64_t tokens) {
  SmallVector<Value> starts;
  for (Value tile : tiles)
    starts.push_back(kb.mul(tile, layout.tileBytes()));
  auto groupAt = [&](Value number, int64_t values) {
    GroupPlace group{{}, number, values};
    Value offset = kb.mul(number, layout.blockBytes(layout.group()));
    for (Value start : starts)
      group.offsets.push_back(kb.add(start, offset));
    return group;
  };
  bool lastIsWhole = layout.lastGroup() == layout.group();
  int64_t whole = layout.numGroups() - (lastIsWhole ? 0 : 1);
  SmallVector<Value> sums(tiles.size() * tokens,
                          kb.floatConstant(kb.f32x16(), 0.0));
  if (whole == 1)
    sums = addGroup(groupAt(kb.index(0), layout.group()), token, tokens, sums);
  else if (whole > 1)
    sums = kb.reduce(kb.index(0), kb.index(whole), 1, sums,
                     [&](Value number, ValueRange accumulators) {
                       return addGroup(groupAt(number, layout.group()), token,
                                       tokens, accumulators);
                     });
  if (!lastIsWhole)
    sums = addGroup(groupAt(kb.index(whole), layout.lastGroup()), token, tokens,
                    sums);
  return sums;
}

SmallVector<Value> IntegerMatmulEmitter::overSegments(const GroupPlace &group,
                                                      ValueRange initial,
                                                      SegmentBody body) {
  int64_t perGroup = ceilDiv(layout.group(), segmentValues);
  int64_t lines = ceilDiv(segmentValues, layout.valuesPerLine());
  auto segmentAt = [&](Value inGroup, int64_t values) {
    SegmentPlace segment{{}, {}, {}, values};
    for (Value offset : group.offsets)
      segment.offsets.push_back(
          kb.add(offset, kb.mul(inGroup, lines * kLineBytes)));
    segment.number = kb.add(kb.mul(group.number, perGroup), inGroup);
    segment.k = kb.add(kb.mul(group.number, layout.group()),
                       kb.mul(inGroup, segmentValues));
    return segment;
  };
  int64_t whole = group.values / segmentValues;
  SmallVector<Value> carried(initial);
  if (whole == 1)
    carried = body(segmentAt(kb.index(0), segmentValues), carried);
  else if (whole > 1)
    carried =
        kb.reduce(kb.index(0), kb.index(whole), 1, carried,
                  [&](Value inGroup, ValueRange values) {
                    return body(segmentAt(inGroup, segmentValues), values);
                  });
  if (int64_t rest = group.values % segmentValues)
    carried = body(segmentAt(kb.index(whole), rest), carried);
  return carried;
}

SmallVector<Value> IntegerMatmulEmitter::overLines(const SegmentPlace &segment,
                                                   int64_t lines,
                                                   ValueRange initial,
                                                   LineBody body) {
  return kb.reduce(kb.index(0), kb.index(lines), 1, SmallVector<Value>(initial),
                   [&](Value line, ValueRange carried) {
                     SmallVector<Value> offsets;
                     for (Value offset : segment.offsets)
                       offsets.push_back(
                           kb.add(offset, kb.mul(line, kLineBytes)));
                     return body(offsets, line, carried);
                   });
}

SmallVector<Value> IntegerMatmulEmitter::scalesOf(const GroupPlace &group) {
  int64_t behindLines = layout.numLines(group.values) * kLineBytes;
  SmallVector<Value> scales;
  for (Value offset : group.offsets)
    scales.push_back(loadScales(kb, layout.format.scales, weights,
                                kb.add(offset, behindLines)));
  return scales;
}

Value IntegerMatmulEmitter::storedZero(const GroupPlace &group, size_t rowTile,
                                       int64_t bias) {
  if (!layout.format.zeroPoints)
    return bias ? kb.intConstant(kb.i32x16(), bias) : Value();
  int64_t behindScales =
      layout.numLines(group.values) * kLineBytes + layout.scaleBytes();
  Value bytes =
      kb.loadVector(weights, kb.add(group.offsets[rowTile], behindScales),
                    layout.zeroPointBytes());
  if (layout.format.bits > 8)
    bytes =
        vector::BitCastOp::create(kb, kb.vec(kLanes, kb.getI16Type()), bytes);
  Value zero = arith::ExtSIOp::create(kb, kb.i32x16(), bytes);
  if (bias == 0)
    return zero;
  return arith::AddIOp::create(kb, zero, kb.intConstant(kb.i32x16(), bias));
}

//===----------------------------------------------------------------------===//
// Activations of f32
//===----------------------------------------------------------------------===//

namespace {
class FloatActivations : public IntegerMatmulEmitter {
public:
  FloatActivations(KernelBuilder &kb, const IntegerMatrixLayout &layout,
                   Value weights, Value x, MatmulOutput output)
      : IntegerMatmulEmitter(kb, layout, layout.segment(),
                             kb.level().gemmBlocks, weights, x, output) {}

private:
  SmallVector<Value> addGroup(const GroupPlace &group, Value token,
                              int64_t tokens, ValueRange accumulators) override;
  /// Adds the first `count` values of a line at position k.
  SmallVector<Value> addLine(ArrayRef<Value> offsets, ArrayRef<Value> zeros,
                             Value k, int64_t count, Value token,
                             int64_t tokens, ValueRange sums);
};
} // namespace

SmallVector<Value> FloatActivations::addGroup(const GroupPlace &group,
                                              Value token, int64_t tokens,
                                              ValueRange accumulators) {
  SmallVector<Value> zeros;
  for (size_t r = 0; r < group.offsets.size(); ++r)
    zeros.push_back(storedZero(group, r, storedBias(layout.format.bits)));
  int64_t perLine = layout.valuesPerLine();
  SmallVector<Value> sums(accumulators.size(),
                          kb.floatConstant(kb.f32x16(), 0.0));
  sums = overSegments(
      group, sums, [&](const SegmentPlace &segment, ValueRange carried) {
        int64_t whole = segment.values / perLine;
        SmallVector<Value> result = overLines(
            segment, whole, carried,
            [&](ArrayRef<Value> offsets, Value line, ValueRange inner) {
              Value k = kb.add(segment.k, kb.mul(line, perLine));
              return addLine(offsets, zeros, k, perLine, token, tokens, inner);
            });
        int64_t rest = segment.values % perLine;
        if (rest == 0)
          return result;
        SmallVector<Value> offsets;
        for (Value offset : segment.offsets)
          offsets.push_back(kb.add(offset, whole * kLineBytes));
        return addLine(offsets, zeros, kb.add(segment.k, whole * perLine), rest,
                       token, tokens, result);
      });
  SmallVector<Value> scales = scalesOf(group), result;
  for (auto [i, sum] : llvm::enumerate(sums))
    result.push_back(kb.fma(scales[i / tokens], sum, accumulators[i]));
  return result;
}

SmallVector<Value> FloatActivations::addLine(ArrayRef<Value> offsets,
                                             ArrayRef<Value> zeros, Value k,
                                             int64_t count, Value token,
                                             int64_t tokens, ValueRange sums) {
  SmallVector<Value> lines, result(sums);
  for (Value offset : offsets)
    lines.push_back(loadLine(offset));
  // One value after the other: few are held at once.
  for (int64_t v = 0; v < count; ++v) {
    SmallVector<Value> weights;
    for (auto [line, zero] : llvm::zip(lines, zeros)) {
      Value q = valueOfLine(kb, layout.format.bits, line, v);
      if (zero)
        q = arith::SubIOp::create(kb, q, zero);
      weights.push_back(arith::SIToFPOp::create(kb, kb.f32x16(), q));
    }
    for (int64_t t = 0; t < tokens; ++t) {
      Value activation =
          kb.broadcast(kb.load(x, {kb.add(token, t), kb.add(k, v)}));
      for (auto [r, weight] : llvm::enumerate(weights)) {
        Value &sum = result[r * tokens + t];
        sum = kb.fma(weight, activation, sum);
      }
    }
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Activations of int8
//===----------------------------------------------------------------------===//

namespace {
class ByteActivations : public IntegerMatmulEmitter {
public:
  ByteActivations(KernelBuilder &kb, const IntegerMatrixLayout &layout,
                  const QuantizedRowLayout &row, Value weights, Value x,
                  MatmulOutput output)
      : IntegerMatmulEmitter(kb, layout, row.segment, kb.level().gemmIntegers,
                             weights, x, output),
        row(row), products(kb, layout.format.bits) {}

private:
  SmallVector<Value> addGroup(const GroupPlace &group, Value token,
                              int64_t tokens, ValueRange accumulators) override;
  /// The integer sums of a segment: (q - zero point) . activations.
  SmallVector<Value> dotSegment(const SegmentPlace &segment,
                                ArrayRef<Value> zeros, Value token,
                                int64_t tokens);
  /// Word `column` of a quantized row, as an i32 in every lane.
  Value loadWord(Value token, Value column) {
    return arith::BitcastOp::create(kb, kb.getI32Type(),
                                    kb.load(x, {token, column}));
  }

  QuantizedRowLayout row;
  ByteProducts products;
};
} // namespace

SmallVector<Value> ByteActivations::addGroup(const GroupPlace &group,
                                             Value token, int64_t tokens,
                                             ValueRange accumulators) {
  SmallVector<Value> zeros;
  for (size_t r = 0; r < group.offsets.size(); ++r)
    zeros.push_back(storedZero(group, r, products.weightBias()));
  return overSegments(
      group, accumulators, [&](const SegmentPlace &segment, ValueRange sums) {
        SmallVector<Value> dots = dotSegment(segment, zeros, token, tokens);
        SmallVector<Value> scales = scalesOf(group), result;
        for (auto [i, dot] : llvm::enumerate(dots)) {
          Value scale = kb.broadcast(
              kb.load(x, {kb.add(token, static_cast<int64_t>(i) % tokens),
                          kb.add(segment.number, row.scalesAt())}));
          Value both = kb.mulf(scales[i / tokens], scale);
          Value sum = arith::SIToFPOp::create(kb, kb.f32x16(), dot);
          result.push_back(kb.fma(sum, both, sums[i]));
        }
        return result;
      });
}

SmallVector<Value> ByteActivations::dotSegment(const SegmentPlace &segment,
                                               ArrayRef<Value> zeros,
                                               Value token, int64_t tokens) {
  // Weights count from their zero: what that adds is taken off before.
  SmallVector<Value> starts;
  for (Value zero : zeros)
    for (int64_t t = 0; t < tokens; ++t) {
      Value start = kb.intConstant(kb.i32x16(), 0);
      if (zero) {
        Value minusSum = kb.broadcast(
            loadWord(kb.add(token, t), kb.add(segment.number, row.sumsAt())));
        start = arith::MulIOp::create(kb, zero, minusSum);
      }
      starts.push_back(start);
    }
  int64_t perLine = products.wordsPerLine();
  Value firstWord = kb.mul(segment.number, row.wordsPerSegment());
  return overLines(
      segment, ceilDiv(segment.values, layout.valuesPerLine()), starts,
      [&](ArrayRef<Value> offsets, Value line, ValueRange dots) {
        SmallVector<SmallVector<ByteProducts::Operands, 2>> lines;
        for (Value offset : offsets)
          lines.push_back(products.weightOperands(loadLine(offset)));
        SmallVector<Value> result(dots);
        Value word = kb.add(firstWord, kb.mul(line, perLine));
        for (int64_t w = 0; w < perLine; ++w)
          for (int64_t t = 0; t < tokens; ++t) {
            ByteProducts::Operands activation = products.activationOperands(
                loadWord(kb.add(token, t), kb.add(word, w)));
            for (size_t r = 0; r < offsets.size(); ++r) {
              Value &dot = result[r * tokens + t];
              dot = products.add(dot, lines[r][w], activation);
            }
          }
        return result;
      });
}

void emitQuantizedLinear(KernelBuilder &kb, const QuantizedLinearSpec &spec,
                         const IntegerMatrixLayout &weights) {
  MatmulOutput output{kb.buffer(1), spec.bias ? kb.weight(1) : Value(),
                      kb.index(0), kb.rowCount(spec.over)};
  if (spec.segment == 0)
    FloatActivations(kb, weights, kb.weight(0), kb.buffer(0), output).emit();
  else
    ByteActivations(kb, weights,
                    QuantizedRowLayout::forWeights(weights, spec.segment),
                    kb.weight(0), kb.buffer(0), output)
        .emit();
}

void emitMoELinear(KernelBuilder &kb, const MoELinearSpec &spec,
                   const IntegerMatrixLayout &weights) {
  overExperts(kb, spec, weights.bytes(), [&](Value matrix, MatmulOutput output) {
    FloatActivations(kb, weights, matrix, kb.buffer(1), output).emit();
  });
}

} // namespace llmir
