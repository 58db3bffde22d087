//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The micro-kernel emitter, generic FMA row: y = x W^T from the packed layout.
// A block format sums a block first and then adds it, scaled.
//
//===----------------------------------------------------------------------===//

#include "MatmulTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace llmir {
namespace {

/// Register tiles of a linear kernel.
class MatmulEmitter : public MatmulTiles {
public:
  MatmulEmitter(KernelBuilder &kb, const PackedMatrixLayout &layout,
                Value weights, Value x, MatmulOutput output)
      : MatmulTiles(kb, layout.numTiles(),
                    kb.level().tile(layout.hasBlocks(), false),
                    kb.level().tile(layout.hasBlocks(), true), output),
        layout(layout), weights(weights), x(x) {}

private:
  SmallVector<Value> emitSums(Value tile, int64_t rowTiles, Value token,
                              int64_t tokens) override;

  /// Adds K positions [k, k + lines * valuesPerLine) to the accumulators.
  /// `offsets` are the byte offsets of the first line, one per row tile.
  SmallVector<Value> addLines(ArrayRef<Value> offsets, Value k, int64_t lines,
                              Value token, int64_t tokens,
                              SmallVector<Value> accumulators);
  /// The same for one line.
  SmallVector<Value> addLine(ArrayRef<Value> offsets, Value k, Value token,
                             int64_t tokens, ValueRange accumulators);
  /// accumulator + scale * block sum, for each row tile and token.
  SmallVector<Value> addScaled(ArrayRef<Value> blocks, ValueRange sums,
                               int64_t tokens, ValueRange accumulators);

  const PackedMatrixLayout &layout;
  Value weights, x;
};

} // namespace

SmallVector<Value> MatmulEmitter::emitSums(Value tile, int64_t rowTiles,
                                           Value token, int64_t tokens) {
  SmallVector<Value> starts;
  for (int64_t r = 0; r < rowTiles; ++r)
    starts.push_back(kb.mul(kb.add(tile, r), layout.tileBytes()));
  Value zero = kb.floatConstant(kb.f32x16(), 0.0);
  SmallVector<Value> zeros(rowTiles * tokens, zero);

  return kb.reduce(
      kb.index(0), kb.index(layout.blocksPerTile()), 1, zeros,
      [&](Value block, ValueRange accumulators) {
        SmallVector<Value> offsets;
        for (Value start : starts)
          offsets.push_back(kb.add(start, kb.mul(block, layout.blockBytes())));
        Value k = kb.mul(block, layout.valuesPerBlock());
        if (!layout.hasBlocks())
          return addLine(offsets, k, token, tokens, accumulators);
        SmallVector<Value> blockSums =
            addLines(offsets, k, layout.linesPerBlock(), token, tokens, zeros);
        return addScaled(offsets, blockSums, tokens, accumulators);
      });
}

SmallVector<Value> MatmulEmitter::addLines(ArrayRef<Value> offsets, Value k,
                                           int64_t lines, Value token,
                                           int64_t tokens,
                                           SmallVector<Value> accumulators) {
  return kb.reduce(
      kb.index(0), kb.index(lines), 1, accumulators,
      [&](Value line, ValueRange sums) {
        SmallVector<Value> lineOffsets;
        for (Value offset : offsets)
          lineOffsets.push_back(kb.add(offset, kb.mul(line, kLineBytes)));
        Value lineK = kb.add(k, kb.mul(line, layout.valuesPerLine()));
        return addLine(lineOffsets, lineK, token, tokens, sums);
      });
}

SmallVector<Value> MatmulEmitter::addLine(ArrayRef<Value> offsets, Value k,
                                          Value token, int64_t tokens,
                                          ValueRange accumulators) {
  SmallVector<SmallVector<Value>> decoded; // [row tile][value of the line]
  for (Value offset : offsets) {
    Value bytes = kb.loadVector(weights, offset, kLineBytes);
    Value words = vector::BitCastOp::create(kb, kb.i32x16(), bytes);
    decoded.push_back(decodeWords(kb, layout.format, words));
  }
  SmallVector<Value> sums(accumulators);
  for (int64_t v = 0; v < layout.valuesPerLine(); ++v)
    for (int64_t t = 0; t < tokens; ++t) {
      Value activation =
          kb.broadcast(kb.load(x, {kb.add(token, t), kb.add(k, v)}));
      for (size_t r = 0; r < offsets.size(); ++r) {
        Value &sum = sums[r * tokens + t];
        sum = kb.fma(decoded[r][v], activation, sum);
      }
    }
  return sums;
}

SmallVector<Value> MatmulEmitter::addScaled(ArrayRef<Value> blocks,
                                            ValueRange sums, int64_t tokens,
                                            ValueRange accumulators) {
  SmallVector<Value> result;
  int64_t lineBytes = layout.linesPerBlock() * kLineBytes;
  for (auto [r, block] : llvm::enumerate(blocks)) {
    Value bytes =
        kb.loadVector(weights, kb.add(block, lineBytes), kTileRows * 2);
    Value halves = vector::BitCastOp::create(
        kb, kb.vec(kTileRows, kb.getF16Type()), bytes);
    Value scales = arith::ExtFOp::create(kb, kb.f32x16(), halves);
    for (int64_t t = 0; t < tokens; ++t) {
      int64_t i = r * tokens + t;
      result.push_back(kb.fma(scales, sums[i], accumulators[i]));
    }
  }
  return result;
}

void emitLinear(KernelBuilder &kb, const LinearSpec &spec,
                const PackedMatrixLayout &weights) {
  MatmulOutput output{kb.buffer(1), spec.bias ? kb.weight(1) : Value(),
                      kb.index(0), kb.rowCount(spec.over)};
  MatmulEmitter(kb, weights, kb.weight(0), kb.buffer(0), output).emit();
}

void emitMoELinear(KernelBuilder &kb, const MoELinearSpec &spec,
                   const PackedMatrixLayout &weights) {
  Value offsets = kb.buffer(0);
  auto offset = [&](Value expert) {
    return kb.toIndex(kb.load(offsets, {kb.index(0), expert}));
  };
  kb.loop(0, spec.experts, 1, [&](Value expert) {
    Value matrix = memref::SubViewOp::create(
        kb, kb.weight(0),
        ArrayRef<OpFoldResult>{kb.mul(expert, weights.bytes())},
        ArrayRef<OpFoldResult>{kb.getIndexAttr(weights.bytes())},
        ArrayRef<OpFoldResult>{kb.getIndexAttr(1)});
    MatmulOutput output{kb.buffer(2), Value(), offset(expert),
                        offset(kb.add(expert, 1))};
    MatmulEmitter(kb, weights, matrix, kb.buffer(1), output).emit();
  });
}

} // namespace llmir
