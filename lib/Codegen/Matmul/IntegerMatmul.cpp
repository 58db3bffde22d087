//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IntegerMatmul.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace llmir {

//===----------------------------------------------------------------------===//
// Blocks and stretches
//===----------------------------------------------------------------------===//

SmallVector<Value> IntegerMatmul::emitSums(ArrayRef<Value> starts,
                                           int64_t tokens) {
  auto blockAt = [&](Value number, int64_t values) {
    Block block{{}, number, values};
    Value offset = kb.mul(number, layout.blockBytes(layout.block()));
    for (Value start : starts)
      block.offsets.push_back(kb.add(start, offset));
    return block;
  };
  bool lastIsWhole = layout.lastBlock() == layout.block();
  int64_t whole = layout.numBlocks() - (lastIsWhole ? 0 : 1);
  Sums sums;
  sums.total.assign(starts.size() * tokens, kb.floatConstant(kb.f32x16(), 0.0));
  if (whole == 1)
    addBlock(blockAt(kb.index(0), layout.block()), tokens, sums);
  else if (whole > 1)
    sums.total =
        kb.reduce(kb.index(0), kb.index(whole), 1, sums.total,
                  [&](Value number, ValueRange carried) {
                    Sums inner{SmallVector<Value>(carried), {}};
                    addBlock(blockAt(number, layout.block()), tokens, inner);
                    return inner.total;
                  });
  if (!lastIsWhole)
    addBlock(blockAt(kb.index(whole), layout.lastBlock()), tokens, sums);
  toRows(sums.total, tokens);
  return sums.total;
}

void IntegerMatmul::addBlock(const Block &block, int64_t tokens, Sums &sums) {
  int64_t size = stretchValues();
  int64_t bytes = layout.numLines(size) * kLineBytes;
  auto stretchAt = [&](Value number, int64_t values) {
    Stretch stretch{block, {}, number, values};
    for (Value offset : block.offsets)
      stretch.lines.push_back(kb.add(offset, kb.mul(number, bytes)));
    return stretch;
  };
  int64_t whole = block.values / size, rest = block.values % size;
  bool staysOpen = !closesInStretch() && whole + (rest ? 1 : 0) > 1;
  if (staysOpen)
    sums.open.assign(sums.total.size(), kb.floatConstant(kb.f32x16(), 0.0));
  if (whole == 1)
    addStretch(stretchAt(kb.index(0), size), tokens, sums);
  if (whole > 1) {
    size_t chains = sums.total.size();
    SmallVector<Value> initial(sums.total);
    llvm::append_range(initial, sums.open);
    auto split = [&](ValueRange values) {
      return Sums{SmallVector<Value>(values.take_front(chains)),
                  SmallVector<Value>(values.drop_front(chains))};
    };
    SmallVector<Value> carried =
        kb.reduce(kb.index(0), kb.index(whole), 1, initial,
                  [&](Value number, ValueRange values) {
                    Sums inner = split(values);
                    addStretch(stretchAt(number, size), tokens, inner);
                    SmallVector<Value> next(inner.total);
                    llvm::append_range(next, inner.open);
                    return next;
                  });
    sums = split(carried);
  }
  if (rest)
    addStretch(stretchAt(kb.index(whole), rest), tokens, sums);
  if (!sums.open.empty())
    closeBlock(block, tokens, sums);
  // The data after the lines, in whole cache lines.
  int64_t lines = layout.numLines(block.values) * kLineBytes;
  SmallVector<Value> tails;
  for (Value offset : block.offsets)
    tails.push_back(kb.add(offset, lines));
  prefetch(tails, layout.blockBytes(block.values) - lines);
}

void IntegerMatmul::closeBlock(const Block &block, int64_t tokens, Sums &sums) {
  for (size_t r = 0; r < block.offsets.size(); ++r) {
    Value scale = blockScaleAt(block, r, Kind::Scale);
    for (int64_t t = 0; t < tokens; ++t) {
      Value &total = sums.total[r * tokens + t];
      total =
          kb.fma(sums.open[r * tokens + t], inLanes(scale, t, tokens), total);
    }
  }
  sums.open.clear();
}

void IntegerMatmul::prefetch(ArrayRef<Value> offsets, int64_t bytes) {
  for (Value offset : offsets)
    for (int64_t at = 0; at < bytes; at += kLineBytes)
      prefetchAfter(kb.add(offset, at));
}

//===----------------------------------------------------------------------===//
// Scales and zero points
//===----------------------------------------------------------------------===//

Value IntegerMatmul::blockScaleAt(const Block &block, size_t rowTile,
                                  Kind kind) {
  int64_t offset = kind == Kind::Scale ? layout.scalesAt(block.values)
                                       : layout.minsAt(block.values);
  Value scale = loadScales(kb, layout.format.scales, weights,
                           kb.add(block.offsets[rowTile], offset));
  const float unit = layout.format.unit();
  if (unit == 1.0f)
    return scale;
  return kb.mulf(scale, kb.floatConstant(kb.f32x16(), unit));
}

Value IntegerMatmul::subScaleAt(const Stretch &stretch, size_t rowTile,
                                int64_t group, Kind kind) {
  const int64_t values = stretch.block.values;
  int64_t offset = kind == Kind::Scale ? layout.subScalesAt(values)
                                       : layout.subMinsAt(values);
  Value place = kb.mul(stretch.number, groupsPerStretch() * kTileRows);
  Value bytes = kb.loadAt(kb.vec(kTileRows, kb.getI8Type()), weights,
                          kb.add(kb.add(stretch.block.offsets[rowTile], place),
                                 offset + group * kTileRows));
  Value words;
  if (layout.format.pairedSubScales) {
    words = arith::ExtUIOp::create(kb, kb.i32x16(), bytes);
    if (kind == Kind::Scale)
      words = arith::AndIOp::create(kb, words, kb.intConstant(kb.i32x16(), 15));
    else
      words = arith::ShRUIOp::create(kb, words, kb.intConstant(kb.i32x16(), 4));
  } else {
    words = arith::ExtSIOp::create(kb, kb.i32x16(), bytes);
  }
  return arith::SIToFPOp::create(kb, kb.f32x16(), words);
}

Value IntegerMatmul::scaleOf(const Stretch &stretch, size_t rowTile,
                             int64_t group) {
  Value scale = blockScaleAt(stretch.block, rowTile, Kind::Scale);
  if (layout.format.superGroup == 0)
    return scale;
  return kb.mulf(scale, subScaleAt(stretch, rowTile, group, Kind::Scale));
}

Value IntegerMatmul::minOf(const Stretch &stretch, size_t rowTile,
                           int64_t group) {
  Value min = blockScaleAt(stretch.block, rowTile, Kind::Min);
  if (layout.format.superGroup == 0)
    return min;
  return kb.mulf(arith::NegFOp::create(kb, min),
                 subScaleAt(stretch, rowTile, group, Kind::Min));
}

Value IntegerMatmul::zeroPointOf(const Block &block, size_t rowTile) {
  Value bytes = kb.loadAt(
      kb.vec(layout.zeroPointBytes(), kb.getI8Type()), weights,
      kb.add(block.offsets[rowTile], layout.zeroPointsAt(block.values)));
  if (layout.format.bits > 8)
    bytes =
        vector::BitCastOp::create(kb, kb.vec(kLanes, kb.getI16Type()), bytes);
  return arith::ExtSIOp::create(kb, kb.i32x16(), bytes);
}

} // namespace llmir
