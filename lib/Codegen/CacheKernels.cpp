//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernels that touch the paged KV cache: writing a step's K and V, and
// attention, which reads K and V from the cache only, at the cache's precision.
//
//===----------------------------------------------------------------------===//

#include "Emitters.h"

#include "llmir/Runtime/ABI/KVBlockLayout.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace llmir {

static KVBlockLayout blockLayout(int64_t kvHeads, int64_t headDim,
                                 int64_t blockSize, TensorFormat format) {
  return {kvHeads, headDim, blockSize, tensorFormatInfo(format).bytesPerBlock};
}

/// Start of the current layer in the KV pool.
static Value layerBase(KernelBuilder &kb) {
  Value stride = kb.contextIndex(StepField::kv_layer_stride);
  return kb.advance(kb.contextPointer(StepField::kv_pool),
                    kb.mul(kb.layer(), stride));
}

//===----------------------------------------------------------------------===//
// Append
//===----------------------------------------------------------------------===//

void emitAppendKV(KernelBuilder &kb, const AppendKVSpec &spec,
                  TensorFormat kvFormat) {
  KVBlockLayout layout =
      blockLayout(spec.kvHeads, spec.headDim, spec.blockSize, kvFormat);
  int64_t cell = layout.cellElements();
  Value keys = kb.buffer(0), values = kb.buffer(1), base = layerBase(kb);
  Value items = kb.mul(kb.rowCount(RowSpace::Tokens), spec.kvHeads);
  kb.loop(kb.worker(), items, kb.workers(), [&](Value item) {
    Value token = kb.div(item, spec.kvHeads);
    Value head = kb.rem(item, spec.kvHeads);
    Value slot = kb.contextArray(StepField::slot_mapping, token);
    Value offset = kb.rem(slot, spec.blockSize);
    Value block = kb.mul(kb.div(slot, spec.blockSize), layout.blockBytes());
    Value tile =
        kb.advance(base, kb.add(block, kb.mul(head, layout.headBytes())));
    // The constant parts of KVBlockLayout::keyOffset and valueOffset.
    Value valueRow =
        kb.add(kb.mul(kb.div(offset, cell), layout.valueDim() * cell),
               kb.rem(offset, cell));
    kb.loop(0, spec.headDim, 1, [&](Value dim) {
      Value column = kb.add(kb.mul(head, spec.headDim), dim);
      Value keyElement = kb.add(
          kb.mul(kb.add(kb.mul(kb.div(dim, cell), layout.blockSize), offset),
                 cell),
          kb.rem(dim, cell));
      Value valueElement = kb.add(valueRow, kb.mul(dim, cell));
      kb.storeAt(encodeFloat(kb, kvFormat, kb.load(keys, {token, column})),
                 tile, kb.mul(keyElement, layout.elementBytes));
      kb.storeAt(encodeFloat(kb, kvFormat, kb.load(values, {token, column})),
                 tile,
                 kb.add(kb.mul(valueElement, layout.elementBytes),
                        layout.keyTileBytes()));
    });
  });
}

//===----------------------------------------------------------------------===//
// Attention
//===----------------------------------------------------------------------===//

namespace {
/// Addresses of 16 tokens' K and V of one KV head.
struct KVTile {
  Value keys, values;
};

/// Emits attention of one query head over its sequence's cache, KV tile by KV
/// tile: 16 tokens at a fixed absolute position, in ascending order, with a
/// running maximum and sum (the online softmax of FlashAttention). How many
/// tokens were prefilled together never changes what is computed.
class AttentionEmitter {
public:
  AttentionEmitter(KernelBuilder &kb, const PagedAttentionSpec &spec,
                   TensorFormat kvFormat)
      : kb(kb), spec(spec), kvFormat(kvFormat),
        layout(
            blockLayout(spec.kvHeads, spec.headDim, spec.blockSize, kvFormat)),
        query(kb.buffer(0)), out(kb.buffer(1)), base(layerBase(kb)) {}

  /// Every (token, head) pair of this worker.
  void emit();

private:
  /// One pair: `position` is the token's in its sequence.
  void emitHead(Value sequence, Value token, Value head, Value position);
  /// Where the sequence's KV tile number \p kvTile lies.
  KVTile locateTile(Value sequence, Value kvTile, Value kvHead);
  /// Scaled scores of the tile's 16 tokens.
  Value scores(Value keys, Value token, Value column);
  /// accumulators + sum over the tile's tokens of p * V.
  SmallVector<Value> addValues(Value values, Value p, ValueRange accumulators);
  void storeOutput(Value token, Value column, Value sum,
                   ValueRange accumulators);

  KernelBuilder &kb;
  const PagedAttentionSpec &spec;
  TensorFormat kvFormat;
  KVBlockLayout layout;
  Value query, out, base;
};
} // namespace

/// Score of a token that must not be seen: small enough that its weight is
/// zero, large enough that differences of two of them are finite.
static constexpr double kMaskedScore = -1.0e30;

void AttentionEmitter::emit() {
  Value sequences = kb.contextIndex(StepField::num_sequences);
  kb.loop(kb.index(0), sequences, kb.index(1), [&](Value sequence) {
    Value first = kb.contextArray(StepField::query_offsets, sequence);
    Value last = kb.contextArray(StepField::query_offsets, kb.add(sequence, 1));
    Value length = kb.contextArray(StepField::seq_lens, sequence);
    // Pairs are numbered over the whole step and dealt out in turn; this
    // worker's first pair at or after the sequence's first:
    Value begin = kb.mul(first, spec.heads);
    Value ahead =
        kb.rem(kb.sub(kb.add(begin, kb.workers()), kb.worker()), kb.workers());
    Value start =
        kb.add(begin, kb.rem(kb.sub(kb.workers(), ahead), kb.workers()));
    kb.loop(start, kb.mul(last, spec.heads), kb.workers(), [&](Value item) {
      Value token = kb.div(item, spec.heads);
      Value head = kb.rem(item, spec.heads);
      Value position = kb.sub(length, kb.sub(last, token));
      emitHead(sequence, token, head, position);
    });
  });
}

KVTile AttentionEmitter::locateTile(Value sequence, Value kvTile,
                                    Value kvHead) {
  int64_t tilesPerBlock = spec.blockSize / kLanes;
  Value stride = kb.contextIndex(StepField::block_table_stride);
  Value entry = kb.add(kb.mul(sequence, stride), kb.div(kvTile, tilesPerBlock));
  Value block = kb.contextArray(StepField::block_tables, entry);
  Value head = kb.add(kb.mul(block, layout.blockBytes()),
                      kb.mul(kvHead, layout.headBytes()));
  Value inBlock = kb.rem(kvTile, tilesPerBlock);
  // In K the tokens of a tile are neighbouring 4-byte cells, in V whole rows.
  Value keys = kb.add(head, kb.mul(inBlock, kLanes * 4));
  Value values =
      kb.add(kb.add(head, layout.keyTileBytes()),
             kb.mul(inBlock, kLanes * layout.valueDim() * layout.elementBytes));
  return {kb.advance(base, keys), kb.advance(base, values)};
}

Value AttentionEmitter::scores(Value keys, Value token, Value column) {
  int64_t cell = layout.cellElements();
  int64_t cells = layout.keyDim() / cell;
  int64_t chains = cells % 4 == 0 ? 4 : 1;
  Value zero = kb.floatConstant(kb.f32x16(), 0.0);
  SmallVector<Value> sums = kb.reduce(
      kb.index(0), kb.index(cells), chains, SmallVector<Value>(chains, zero),
      [&](Value first, ValueRange partial) {
        SmallVector<Value> next(partial);
        for (int64_t c = 0; c < chains; ++c) {
          Value index = kb.add(first, c);
          Value words =
              kb.loadAt(kb.i32x16(), keys, kb.mul(index, layout.blockSize * 4));
          for (auto [i, key] :
               llvm::enumerate(decodeWords(kb, kvFormat, words))) {
            Value dim = kb.add(kb.mul(index, cell), i);
            Value q = kb.load(query, {token, kb.add(column, dim)});
            next[c] = kb.fma(key, kb.broadcast(q), next[c]);
          }
        }
        return next;
      });
  while (sums.size() > 1) { // The chains' fixed tree.
    SmallVector<Value> halves;
    for (size_t i = 0; i < sums.size() / 2; ++i)
      halves.push_back(kb.addf(sums[i], sums[i + sums.size() / 2]));
    sums = halves;
  }
  return kb.mulf(sums[0], kb.floatConstant(kb.f32x16(), spec.scale));
}

SmallVector<Value> AttentionEmitter::addValues(Value values, Value p,
                                               ValueRange accumulators) {
  int64_t cell = layout.cellElements();
  SmallVector<Value> sums(accumulators);
  for (int64_t group = 0; group < kLanes / cell; ++group) {
    SmallVector<Value> weights;
    for (int64_t i = 0; i < cell; ++i)
      weights.push_back(kb.broadcast(kb.lane(p, group * cell + i)));
    for (auto [j, sum] : llvm::enumerate(sums)) {
      int64_t word = group * layout.valueDim() + j * kLanes;
      Value words = kb.loadAt(kb.i32x16(), values, kb.index(word * 4));
      for (auto [i, v] : llvm::enumerate(decodeWords(kb, kvFormat, words)))
        sum = kb.fma(weights[i], v, sum);
    }
  }
  return sums;
}

void AttentionEmitter::storeOutput(Value token, Value column, Value sum,
                                   ValueRange accumulators) {
  Value divisor = kb.broadcast(sum);
  for (auto [j, accumulator] : llvm::enumerate(accumulators)) {
    int64_t lanes = std::min<int64_t>(kLanes, spec.headDim - j * kLanes);
    Value result = kb.divf(accumulator, divisor);
    if (lanes < kLanes)
      result = vector::ExtractStridedSliceOp::create(
          kb, result, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{lanes},
          ArrayRef<int64_t>{1});
    kb.storeVector(result, out, {token, kb.add(column, j * kLanes)});
  }
}

void AttentionEmitter::emitHead(Value sequence, Value token, Value head,
                                Value position) {
  Value kvHead = kb.div(head, spec.heads / spec.kvHeads);
  Value column = kb.mul(head, spec.headDim);
  SmallVector<int32_t> laneNumbers =
      llvm::to_vector_of<int32_t>(llvm::seq<int32_t>(0, kLanes));
  Value lanes = arith::ConstantOp::create(
      kb, DenseElementsAttr::get(kb.i32x16(), ArrayRef(laneNumbers)));
  Value zero = kb.floatConstant(kb.f32x16(), 0.0);

  // Carried: running maximum, running sum, one accumulator per 16 dimensions.
  SmallVector<Value> initial{kb.f32(kMaskedScore), kb.f32(0.0)};
  initial.append(layout.valueDim() / kLanes, zero);
  Value tiles = kb.add(kb.div(position, kLanes), 1);
  SmallVector<Value> state = kb.reduce(
      kb.index(0), tiles, 1, initial, [&](Value kvTile, ValueRange carried) {
        KVTile tile = locateTile(sequence, kvTile, kvHead);
        Value s = scores(tile.keys, token, column);
        Value distance = arith::IndexCastOp::create(
            kb, kb.getI32Type(), kb.sub(position, kb.mul(kvTile, kLanes)));
        Value seen = arith::CmpIOp::create(kb, arith::CmpIPredicate::sle, lanes,
                                           kb.broadcast(distance));
        s = arith::SelectOp::create(
            kb, seen, s, kb.floatConstant(kb.f32x16(), kMaskedScore));

        Value tileMax =
            kb.foldLanes(s, [&](Value a, Value b) { return kb.maxf(a, b); });
        Value maximum = kb.maxf(carried[0], tileMax);
        Value p = math::ExpOp::create(kb, kb.subf(s, kb.broadcast(maximum)));
        p = arith::SelectOp::create(kb, seen, p, zero);
        Value tileSum =
            kb.foldLanes(p, [&](Value a, Value b) { return kb.addf(a, b); });
        Value rescale = math::ExpOp::create(kb, kb.subf(carried[0], maximum));

        SmallVector<Value> accumulators;
        for (Value accumulator : carried.drop_front(2))
          accumulators.push_back(kb.mulf(accumulator, kb.broadcast(rescale)));
        SmallVector<Value> next{maximum, kb.fma(carried[1], rescale, tileSum)};
        llvm::append_range(next, addValues(tile.values, p, accumulators));
        return next;
      });
  storeOutput(token, column, state[1], ArrayRef(state).drop_front(2));
  kb.zeroPaddingBehindHeads(out, token, head, spec.heads, spec.headDim);
}

void emitPagedAttention(KernelBuilder &kb, const PagedAttentionSpec &spec,
                        TensorFormat kvFormat) {
  AttentionEmitter(kb, spec, kvFormat).emit();
}

} // namespace llmir
