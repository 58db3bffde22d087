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

Value createScratch(KernelBuilder &kb, int64_t bytes) {
  return LLVM::AllocaOp::create(
      kb, kb.ctx().getType(), kb.getI8Type(),
      LLVM::ConstantOp::create(kb, kb.getI64Type(),
                               std::max<int64_t>(bytes, 1)),
      kLineBytes);
}

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

Value SpanLocator::blockOf(Value key) {
  Value entry = kb.min(kb.div(key, layout.blockSize), lastEntry);
  Value block = kb.contextArray(StepField::block_tables, kb.add(table, entry));
  return kb.advance(base, kb.add(kb.mul(block, layout.blockBytes()),
                                 kb.mul(kvHead, layout.headBytes())));
}

KeySpan SpanLocator::locate(Value firstKey) {
  KeySpan span;
  for (int64_t t = 0; t < kSpanTiles; ++t) {
    Value key = kb.add(firstKey, t * kLanes);
    Value block = blockOf(key), inBlock = kb.rem(key, layout.blockSize);
    // In K the tokens of a tile are neighbouring 4-byte words, in V whole rows.
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
    move(words, kb.add(kb.mul(cell, layout.blockSize * 4), inWords),
         kb.add(kb.mul(cell, kLanes * 4), token * 4));
  });
  int64_t tokenBytes = layout.paddedValueDim() * layout.elementBytes;
  Value first = kb.add(kb.mul(inBlock, tokenBytes), layout.keyTileBytes());
  kb.loop(0, partTokens() * tokenBytes, kLineBytes, [&](Value at) {
    move(kb.i32x16(), kb.add(first, at),
         kb.add(at, tiles.keyTileBytes() + token * tokenBytes));
  });
  for (int64_t i = 0; layout.hasScales() && i < 2; ++i)
    move(words,
         kb.add(inWords, layout.keyScaleOffset(0, 0) + i * layout.scaleBytes()),
         kb.index(tiles.keyScaleOffset(token, 0) + i * tiles.scaleBytes()));
}

KeySpan SpanLocator::copy(Value firstKey) {
  KeySpan span;
  for (int64_t t = 0; t < kSpanTiles; ++t) {
    Value to = kb.advance(copies, kb.index(t * tiles.headBytes()));
    for (int64_t token = 0; token < kLanes; token += partTokens()) {
      Value key = kb.add(firstKey, t * kLanes + token);
      copyPart(blockOf(key), kb.rem(key, layout.blockSize), to, token);
    }
    span.keys.push_back(to);
    span.values.push_back(kb.advance(to, kb.index(tiles.keyTileBytes())));
  }
  return span;
}

void SpanLocator::overSpans(
    Value sequence, Value length, Value head, Value first, Value end,
    llvm::function_ref<void(Value, const KeySpan &, const KeySpan &)> body) {
  table = kb.mul(sequence, kb.contextIndex(StepField::block_table_stride));
  lastEntry = kb.div(kb.sub(length, kb.index(1)), layout.blockSize);
  kvHead = head;
  auto firstKey = [&](Value number) { return kb.mul(number, kSpanKeys); };
  if (!inPlace()) {
    kb.loop(first, end, kb.index(1),
            [&](Value number) { body(number, copy(firstKey(number)), {}); });
    return;
  }
  // The next span is found one ahead, to be asked for while this one is used.
  auto flat = [](const KeySpan &span) {
    SmallVector<Value> values(span.keys.begin(), span.keys.end());
    llvm::append_range(values, span.values);
    return values;
  };
  auto fromFlat = [](ValueRange values) {
    KeySpan span;
    span.keys.assign(values.begin(), values.begin() + kSpanTiles);
    span.values.assign(values.begin() + kSpanTiles, values.end());
    return span;
  };
  SmallVector<Value> start = flat(locate(firstKey(first)));
  kb.reduce(first, end, 1, start, [&](Value number, ValueRange carried) {
    KeySpan next = locate(firstKey(kb.add(number, 1)));
    body(number, fromFlat(carried), next);
    return flat(next);
  });
}

} // namespace llmir
