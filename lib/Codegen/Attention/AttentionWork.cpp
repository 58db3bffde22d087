//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionWork.h"

#include "llmir/ABI/AttentionSplit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace llmir {

/// Maximum number of rows of an item: few enough for keys and values to stay in
/// the L1 cache while they are multiplied by all rows.
static constexpr int64_t kItemRows = 32;

AttentionWork::AttentionWork(KernelBuilder &kb, const AttentionOptions &options)
    : kb(kb), options(options), headsPerItem(options.itemHeads),
      headBlocks(options.heads / headsPerItem),
      tokensPerItem(std::max<int64_t>(kItemRows / headsPerItem, 1)) {}

Value AttentionWork::max(Value a, Value b) {
  return kb.createOrFold<arith::MaxSIOp>(a, b);
}

Value AttentionWork::firstKey(KernelBuilder &kb,
                              const AttentionOptions &options, Value position) {
  Value zero = kb.index(0);
  auto notNegative = [&](Value value) {
    return kb.createOrFold<arith::MaxSIOp>(value, zero);
  };
  if (!options.window)
    return zero;
  if (options.chunked)
    return kb.mul(kb.div(notNegative(position), options.window),
                  options.window);
  return notNegative(kb.add(position, 1 - options.window));
}

Value AttentionWork::keyEnd(KernelBuilder &kb, const AttentionOptions &options,
                            Value position, Value length) {
  if (!options.causal && !options.window)
    return length;
  const bool isNext = options.causal || options.chunked;
  Value end = kb.createOrFold<arith::MaxSIOp>(
      kb.add(position, isNext ? 1 : options.window), kb.index(0));
  if (options.causal)
    return end;
  if (options.chunked)
    end = kb.mul(kb.div(kb.add(end, options.window - 1), options.window),
                 options.window);
  return kb.min(end, length);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

QueryTile AttentionWork::makeTile(Value sequence, Value number,
                                  Value partials) {
  Value first = kb.contextArray(StepField::query_offsets, sequence);
  Value last = kb.contextArray(StepField::query_offsets, kb.add(sequence, 1));
  QueryTile tile;
  tile.sequence = sequence;
  tile.length = kb.contextArray(StepField::seq_lens, sequence);
  tile.firstQuery = kb.mul(number, tokensPerItem);
  tile.firstToken = kb.add(first, tile.firstQuery);
  tile.tokens = kb.min(kb.sub(last, tile.firstToken), kb.index(tokensPerItem));
  tile.position = kb.sub(tile.length, kb.sub(last, tile.firstToken));
  tile.keyBegin = firstKey(kb, options, tile.position);
  Value lastPosition = kb.sub(kb.add(tile.position, tile.tokens), kb.index(1));
  tile.keyEnd = keyEnd(kb, options, lastPosition, tile.length);
  tile.firstChunk = kb.div(tile.keyBegin, kAttentionChunk);
  tile.chunkEnd = max(ceilDiv(tile.keyEnd, kAttentionChunk), tile.firstChunk);
  tile.partials = partials;
  return tile;
}

SmallVector<Value> AttentionWork::overTiles(ArrayRef<Value> initial,
                                            TileBody body) {
  SmallVector<Value> start{kb.index(0)};
  llvm::append_range(start, initial);
  Value sequences = kb.contextIndex(StepField::num_sequences);
  SmallVector<Value> result = kb.reduce(
      kb.index(0), sequences, 1, start, [&](Value sequence, ValueRange before) {
        Value first = kb.contextArray(StepField::query_offsets, sequence);
        Value last =
            kb.contextArray(StepField::query_offsets, kb.add(sequence, 1));
        return kb.reduce(
            kb.index(0), ceilDiv(kb.sub(last, first), tokensPerItem), 1,
            SmallVector<Value>(before), [&](Value number, ValueRange carried) {
              QueryTile tile = makeTile(sequence, number, carried[0]);
              Value chunks = kb.sub(tile.chunkEnd, tile.firstChunk);
              SmallVector<Value> next{
                  kb.add(carried[0], kb.mul(tile.tokens, chunks))};
              llvm::append_range(next, body(tile, carried.drop_front()));
              return next;
            });
      });
  result.erase(result.begin());
  return result;
}

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

/// Cost of one item of the tile, roughly proportional to its time: the keys
/// that it reads, plus their products.
Value AttentionWork::cost(const QueryTile &tile, Value split) {
  Value seen = notNegative(kb.sub(tile.keyEnd, tile.keyBegin));
  Value keys =
      arith::SelectOp::create(kb, split, kb.index(kAttentionChunk), seen);
  Value blocks = ceilDiv(kb.mul(tile.tokens, headsPerItem), kRowBlock);
  keys = kb.add(keys, kSpanKeys);
  return kb.mul(keys, kb.add(blocks, 1));
}

Value AttentionWork::countItems(const QueryTile &tile, Value split) {
  Value chunks = arith::SelectOp::create(
      kb, split, kb.sub(tile.chunkEnd, tile.firstChunk), kb.index(1));
  return kb.mul(chunks, headBlocks);
}

Value AttentionWork::itemPartials(const QueryTile &tile, Value headBlock,
                                  Value chunk) {
  // The rows of each item are padded to whole blocks.
  Value chunks = kb.sub(tile.chunkEnd, tile.firstChunk);
  Value before = kb.mul(tile.partials, headBlocks);
  Value inTile = kb.add(kb.mul(headBlock, chunks), chunk);
  before = kb.add(before, kb.mul(inTile, tile.tokens));
  return kb.mul(before, roundUpTo(headsPerItem, kRowBlock));
}

Value AttentionWork::partialRow(const QueryTile &tile, Value token, Value head,
                                Value chunk) {
  Value row = kb.mul(token, headsPerItem);
  row = kb.add(row, kb.rem(head, headsPerItem));
  return kb.add(itemPartials(tile, kb.div(head, headsPerItem), chunk), row);
}

AttentionItem AttentionWork::itemOf(const AttentionGroup &group,
                                    Value headBlock) {
  AttentionItem item;
  item.tile = group.tile;
  item.firstHead = kb.mul(headBlock, headsPerItem);
  item.firstChunk = group.firstChunk;
  item.chunkEnd = group.chunkEnd;
  item.partialRow = itemPartials(
      group.tile, headBlock, kb.sub(group.firstChunk, group.tile.firstChunk));
  return item;
}

/// Items [first, end) of a tile, ordered by chunk and then by head.
void AttentionWork::overGroupsOf(
    const QueryTile &tile, Value split, Value first, Value end,
    llvm::function_ref<void(const AttentionGroup &)> body) {
  Value one = kb.index(1);
  Value together = kb.div(kb.index(maxRows()), itemRows(tile));
  Value firstChunk = kb.div(first, headBlocks);
  kb.loop(firstChunk, ceilDiv(end, headBlocks), one, [&](Value chunk) {
    AttentionGroup group;
    group.tile = tile;
    group.firstChunk = kb.add(tile.firstChunk, chunk);
    group.chunkEnd = arith::SelectOp::create(
        kb, split, kb.add(group.firstChunk, one), tile.chunkEnd);
    Value before = kb.mul(chunk, headBlocks);
    Value last = kb.min(kb.sub(end, before), kb.index(headBlocks));
    kb.loop(notNegative(kb.sub(first, before)), last, together,
            [&](Value block) {
              group.firstBlock = block;
              group.blockEnd = kb.min(kb.add(block, together), last);
              body(group);
            });
  });
}

void AttentionWork::overGroups(
    Value split, llvm::function_ref<void(const AttentionGroup &)> body) {
  Value total = overTiles(
      {kb.index(0)},
      [&](const QueryTile &tile, ValueRange sum) -> SmallVector<Value> {
        Value each = cost(tile, split);
        return {kb.add(sum[0], kb.mul(each, countItems(tile, split)))};
      })[0];
  auto [begin, end] = kb.itemRange(total);
  overTiles(
      {kb.index(0)},
      [&, begin = begin, end = end](const QueryTile &tile,
                                    ValueRange before) -> SmallVector<Value> {
        Value each = cost(tile, split), count = countItems(tile, split);
        // The first item whose midpoint is not before `border`.
        Value middle = kb.add(before[0], kb.div(each, 2));
        auto firstAt = [&](Value border) {
          Value distance = notNegative(kb.sub(border, middle));
          return kb.min(
              kb.div(kb.add(distance, kb.sub(each, kb.index(1))), each), count);
        };
        Value first = firstAt(begin);
        overGroupsOf(tile, split, first, firstAt(end), body);
        return {kb.add(before[0], kb.mul(each, count))};
      });
}

} // namespace llmir
