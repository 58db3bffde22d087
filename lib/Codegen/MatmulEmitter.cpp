//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The micro-kernel emitter, generic FMA row: y = x W^T from the packed layout.
//
// Each output element has one f32 accumulator chain over ascending K (a block
// format sums a block first and then adds it, scaled). Tiles differ only in how
// many rows and tokens they hold at once, so the bits of a result depend
// neither on the batch nor on the number of workers.
//
//===----------------------------------------------------------------------===//

#include "Emitters.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace llmir {
namespace {

/// Emits one register tile after the other for a linear kernel.
class MatmulEmitter {
public:
  MatmulEmitter(KernelBuilder &kb, const LinearSpec &spec,
                const PackedMatrixLayout &layout)
      : kb(kb), layout(layout), weights(kb.weight(0)),
        bias(spec.bias ? kb.weight(1) : Value()), x(kb.buffer(0)),
        y(kb.buffer(1)), rowCount(kb.rowCount(spec.over)) {}

  /// All of this worker's output tiles, for every token.
  void emit();

private:
  /// Row tiles [from, to) in groups of rowTiles, for every token.
  void emitRowGroups(Value from, Value to, int64_t rowTiles);
  /// One register tile: `rowTiles` tiles from `tile` on, `tokens` rows of x
  /// from `token` on.
  void emitTile(Value tile, int64_t rowTiles, Value token, int64_t tokens);

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
  void storeTile(Value tile, Value token, int64_t tokens, ValueRange values);

  KernelBuilder &kb;
  const PackedMatrixLayout &layout;
  Value weights, bias, x, y, rowCount;
};

} // namespace

void MatmulEmitter::emit() {
  auto [first, last] = kb.share(kb.index(layout.numTiles()));
  int64_t rowTiles =
      std::max(kb.level().tile(layout.hasBlocks(), false).rowTiles,
               kb.level().tile(layout.hasBlocks(), true).rowTiles);
  Value count = kb.sub(last, first);
  Value whole = kb.add(first, kb.sub(count, kb.rem(count, rowTiles)));
  emitRowGroups(first, whole, rowTiles);
  if (rowTiles > 1)
    emitRowGroups(whole, last, 1);
}

void MatmulEmitter::emitRowGroups(Value from, Value to, int64_t rowTiles) {
  RegisterTile gemm = kb.level().tile(layout.hasBlocks(), false);
  RegisterTile gemv = kb.level().tile(layout.hasBlocks(), true);
  kb.loop(from, to, kb.index(rowTiles), [&](Value group) {
    // A group may be wider than one of the tiles: then it takes several.
    auto emitGroup = [&](Value token, RegisterTile tile) {
      for (int64_t r = 0; r < rowTiles; r += tile.rowTiles)
        emitTile(kb.add(group, r), std::min(tile.rowTiles, rowTiles - r), token,
                 tile.tokens);
    };
    Value whole = kb.sub(rowCount, kb.rem(rowCount, gemm.tokens));
    kb.loop(kb.index(0), whole, kb.index(gemm.tokens),
            [&](Value token) { emitGroup(token, gemm); });
    kb.loop(whole, rowCount, kb.index(1),
            [&](Value token) { emitGroup(token, gemv); });
  });
}

void MatmulEmitter::emitTile(Value tile, int64_t rowTiles, Value token,
                             int64_t tokens) {
  SmallVector<Value> starts;
  for (int64_t r = 0; r < rowTiles; ++r)
    starts.push_back(kb.mul(kb.add(tile, r), layout.tileBytes()));
  Value zero = kb.floatConstant(kb.f32x16(), 0.0);
  SmallVector<Value> zeros(rowTiles * tokens, zero);

  SmallVector<Value> sums = kb.reduce(
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
  storeTile(tile, token, tokens, sums);
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

void MatmulEmitter::storeTile(Value tile, Value token, int64_t tokens,
                              ValueRange values) {
  for (size_t i = 0; i < values.size(); ++i) {
    Value column =
        kb.mul(kb.add(tile, static_cast<int64_t>(i) / tokens), kTileRows);
    Value value = values[i];
    if (bias)
      value = kb.addf(value, kb.loadVector(bias, column));
    kb.storeVector(value, y,
                   {kb.add(token, static_cast<int64_t>(i) % tokens), column});
  }
}

void emitLinear(KernelBuilder &kb, const LinearSpec &spec,
                const PackedMatrixLayout &weights) {
  MatmulEmitter(kb, spec, weights).emit();
}

} // namespace llmir
