//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpanLocator.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <numeric>

using namespace mlir;

namespace llmir {

SpanLocator::SpanLocator(KernelBuilder &kb, const KVBlockLayout &layout)
    : kb(kb), layout(layout), tiles(layout), base(layerBase(kb)) {
  if (inPlace())
    return;
  tiles.blockSize = kLanes;
  copies = createScratch(kb, kSpanTiles * tiles.headBytes());
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
  int64_t tokenBytes = layout.paddedValueDim() * layout.elementBytes;
  Value first = kb.add(kb.mul(inBlock, tokenBytes), layout.keyTileBytes());
  kb.loop(0, partTokens() * tokenBytes, kLineBytes, [&](Value at) {
    Value from = kb.add(first, at);
    move(kb.i32x16(), from,
         kb.add(at, tiles.keyTileBytes() + token * tokenBytes));
  });
  for (int64_t i = 0; layout.hasScales() && i < 2; ++i)
    move(words,
         kb.add(inWords, layout.keyScaleOffset(0, 0) + i * layout.scaleBytes()),
         kb.index(tiles.keyScaleOffset(token, 0) + i * tiles.scaleBytes()));
}

KeySpan SpanLocator::copy(Value firstKey, Value kvHead) {
  KeySpan span;
  for (int64_t t = 0; t < kSpanTiles; ++t) {
    Value to = kb.advance(copies, kb.index(t * tiles.headBytes()));
    for (int64_t token = 0; token < kLanes; token += partTokens()) {
      Value key = kb.add(firstKey, t * kLanes + token);
      Value block = blockOf(key, kvHead);
      copyPart(block, kb.rem(key, layout.blockSize), to, token);
    }
    span.keys.push_back(to);
    span.values.push_back(kb.advance(to, kb.index(tiles.keyTileBytes())));
  }
  return span;
}

void SpanLocator::beginSequence(Value sequence, Value length) {
  table = kb.mul(sequence, kb.contextIndex(StepField::block_table_stride));
  lastEntry = kb.div(kb.sub(length, kb.index(1)), layout.blockSize);
}

KeySpan SpanLocator::span(Value number, Value kvHead) {
  Value firstKey = kb.mul(number, kSpanKeys);
  return inPlace() ? locate(firstKey, kvHead) : copy(firstKey, kvHead);
}

KeySpan SpanLocator::later(Value number, Value kvHead) {
  return inPlace() ? locate(kb.mul(number, kSpanKeys), kvHead) : KeySpan();
}

} // namespace llmir
