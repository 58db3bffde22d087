//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpanLocator.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;

namespace llmir {

SpanLocator::SpanLocator(KernelBuilder &kb, const KVBlockLayout &layout)
    : kb(kb), layout(layout), tiles(layout), base(layerBase(kb)),
      group(layerGroup(kb)) {
  if (layout.valuesInKeys)
    copiedValues = createScratch(kb, kSpanTiles * valueTileBytes());
  if (inPlace())
    return;
  tiles.blockSize = kLanes;
  copied = createScratch(kb, kSpanTiles * tiles.headBytes());
}

int64_t SpanLocator::valueTileBytes() const {
  return layout.paddedValueDim() * kLanes * layout.elementBytes;
}

int64_t SpanLocator::partTokens() const {
  return std::gcd(layout.blockSize, kLanes);
}

Value SpanLocator::blockOf(Value key, Value kvHead) {
  Value entry = kb.min(kb.div(key, layout.blockSize), lastEntry);
  Value block = kb.contextArray(StepField::block_tables, kb.add(table, entry));
  Value bytes = kb.mul(block, layout.blockBytes());
  return kb.advance(base, kb.add(bytes, kb.mul(kvHead, layout.headBytes())));
}

KeySpan SpanLocator::locate(Value firstKey, Value kvHead) {
  KeySpan span;
  // A single block may hold all of them.
  const bool together = layout.blockSize % kSpanKeys == 0;
  Value block, first;
  for (int64_t t = 0; t < kSpanTiles; ++t) {
    if (t == 0 || !together) {
      Value key = kb.add(firstKey, t * kLanes);
      block = blockOf(key, kvHead);
      first = kb.rem(key, layout.blockSize);
    }
    Value inBlock = together ? kb.add(first, t * kLanes) : first;
    // In K the tokens of a tile are adjacent 4-byte words, in V whole rows.
    int64_t tokenBytes = layout.paddedValueDim() * layout.elementBytes;
    span.keys.push_back(kb.advance(block, kb.mul(inBlock, int64_t(4))));
    if (layout.valuesInKeys)
      continue;
    span.values.push_back(kb.advance(
        block, kb.add(kb.mul(inBlock, tokenBytes), layout.keyTileBytes())));
  }
  return span;
}

/// Copies partTokens() tokens to token `token` of a tile.
void SpanLocator::copyPart(Value block, Value inBlock, Value to,
                           int64_t token) {
  auto move = [&](Type type, Value from, Value target) {
    kb.storeAt(kb.loadAt(type, block, from), to, target);
  };
  Type words = kb.vec(partTokens(), kb.getI32Type());
  Value inWords = kb.mul(inBlock, int64_t(4));
  kb.loop(0, layout.keyDim() / layout.cellElements(), 1, [&](Value cell) {
    Value from = kb.add(kb.mul(cell, layout.blockSize * 4), inWords);
    move(words, from, kb.add(kb.mul(cell, kLanes * 4), token * 4));
  });
  auto moveScales = [&](int64_t from, int64_t to) {
    move(words, kb.add(inWords, from), kb.index(to + token * 4));
  };
  if (layout.hasScales())
    moveScales(layout.keyScaleOffset(0, 0), tiles.keyScaleOffset(0, 0));
  if (layout.valuesInKeys)
    return;
  if (layout.hasScales())
    moveScales(layout.valueScaleOffset(0, 0), tiles.valueScaleOffset(0, 0));
  int64_t tokenBytes = layout.paddedValueDim() * layout.elementBytes;
  Value first = kb.add(kb.mul(inBlock, tokenBytes), layout.keyTileBytes());
  kb.loop(0, partTokens() * tokenBytes, kLineBytes, [&](Value at) {
    Value from = kb.add(first, at);
    move(kb.i32x16(), from,
         kb.add(at, tiles.keyTileBytes() + token * tokenBytes));
  });
}

/// A line of a tile of keys has the elements of a cell for 16 tokens. In a tile
/// of values, a word has the elements of as many tokens for one dimension, and
/// the words of adjacent dimensions are adjacent.
void SpanLocator::copyValues(KeySpan &span) {
  const int64_t cell = layout.cellElements();
  Type element = kb.getIntegerType(8 * layout.elementBytes);
  SmallVector<int64_t> order; // [group of tokens][dimension][token]
  for (int64_t group = 0; group < kLanes / cell; ++group)
    for (int64_t dim = 0; dim < cell; ++dim)
      for (int64_t token = 0; token < cell; ++token)
        order.push_back((group * cell + token) * cell + dim);
  for (int64_t t = 0; t < kSpanTiles; ++t) {
    Value to = kb.advance(copiedValues, kb.index(t * valueTileBytes()));
    span.values.push_back(to);
    kb.loop(0, ceilDiv(layout.valueDim(), cell), 1, [&](Value number) {
      Value words = kb.loadAt(kb.i32x16(), span.keys[t],
                              kb.mul(number, tiles.blockSize * 4));
      Value elements =
          vector::BitCastOp::create(kb, kb.vec(kLanes * cell, element), words);
      if (cell > 1)
        elements = vector::ShuffleOp::create(kb, elements, elements, order);
      words = vector::BitCastOp::create(kb, kb.i32x16(), elements);
      for (int64_t group = 0; group < kLanes / cell; ++group) {
        Value part = vector::ExtractStridedSliceOp::create(
            kb, words, ArrayRef<int64_t>{group * cell}, ArrayRef<int64_t>{cell},
            ArrayRef<int64_t>{1});
        Value at = kb.add(kb.mul(number, cell * 4),
                          group * layout.paddedValueDim() * 4);
        kb.storeAt(part, to, at);
      }
    });
  }
}

KeySpan SpanLocator::copy(Value firstKey, Value kvHead) {
  KeySpan span;
  for (int64_t t = 0; t < kSpanTiles; ++t) {
    Value to = kb.advance(copied, kb.index(t * tiles.headBytes()));
    for (int64_t token = 0; token < kLanes; token += partTokens()) {
      Value key = kb.add(firstKey, t * kLanes + token);
      Value block = blockOf(key, kvHead);
      copyPart(block, kb.rem(key, layout.blockSize), to, token);
    }
    span.keys.push_back(to);
    if (!layout.valuesInKeys)
      span.values.push_back(kb.advance(to, kb.index(tiles.keyTileBytes())));
  }
  return span;
}

void SpanLocator::beginSequence(Value sequence, Value length) {
  table = blockTableOf(kb, group, sequence);
  lastEntry = kb.div(kb.sub(length, kb.index(1)), layout.blockSize);
}

KeySpan SpanLocator::span(Value number, Value kvHead) {
  Value firstKey = kb.mul(number, kSpanKeys);
  KeySpan span = inPlace() ? locate(firstKey, kvHead) : copy(firstKey, kvHead);
  if (layout.valuesInKeys)
    copyValues(span);
  return span;
}

KeySpan SpanLocator::later(Value number, Value kvHead) {
  return inPlace() ? locate(kb.mul(number, kSpanKeys), kvHead) : KeySpan();
}

} // namespace llmir
