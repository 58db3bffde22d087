//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention, which reads K and V from the paged cache only, at the cache's
// precision.
//
//===----------------------------------------------------------------------===//

#include "CacheKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>
#include <numeric>

using namespace mlir;

namespace llmir {

/// The least score: that of a key which must not be seen, and the first
/// maximum. Differences of two scores are then never NaN.
static constexpr double kLowestScore = -std::numeric_limits<float>::max();

/// Most accumulators of 16 values that stay in registers, or on the stack; a
/// longer row of V is accumulated in the output row.
static constexpr int64_t kMostAccumulators = 32;

namespace {
/// One query head of one token, and which keys it sees.
struct QueryRow {
  Value sequence, token, head, kvHead;
  Value position;         ///< In its sequence; negative before the first key.
  Value keyBegin, keyEnd; ///< Positions that it sees, but for the mask.
  Value lastEntry;        ///< Of the sequence's row of the block table.
  Value maskOffset;       ///< Of the row in the mask, in elements.
  Value slope;            ///< Of ALiBi.
};

/// What 16 tokens' K and V of one KV head are made of: parts of neighbouring
/// tokens of one block.
struct KVTile {
  SmallVector<Value> keys, values; ///< Address of each part.
};

/// Scores of a tile's 16 tokens, and which of them count.
struct TileScores {
  Value scores, seen;
};

/// Emits attention of one query head over its sequence's cache, KV tile by KV
/// tile: 16 tokens at a fixed absolute position, in ascending order, with a
/// running maximum and sum (the online softmax of FlashAttention). How many
/// tokens were prefilled together, and how large a block is, never changes what
/// is computed.
class AttentionEmitter {
public:
  AttentionEmitter(KernelBuilder &kb, const PagedAttentionSpec &spec,
                   TensorFormat kvFormat);

  /// Every (token, head) pair of this worker.
  void emit();

private:
  /// Token \p token is number \p query of its sequence's.
  QueryRow queryRow(Value sequence, Value token, Value query, Value position,
                    Value length, Value head);
  void emitHead(const QueryRow &row);
  /// The running maximum and sum before the first tile.
  SmallVector<Value> initialState(const QueryRow &row);
  /// One step of the online softmax: maximum, sum and accumulators.
  SmallVector<Value> attendTile(const QueryRow &row, Value kvTile,
                                ValueRange carried);

  /// Where the sequence's KV tile lies that begins with key \p firstKey.
  KVTile locateTile(const QueryRow &row, Value firstKey);
  Value keyWords(const KVTile &tile, Value cell);
  Value dotProducts(const QueryRow &row, const KVTile &tile);
  TileScores scores(const QueryRow &row, const KVTile &tile, Value firstKey);
  Value softCapped(Value s);
  /// Adds the mask's values; what it sets to -inf is seen no more.
  TileScores masked(const QueryRow &row, Value firstKey, TileScores tile);
  /// \p key - \p firstKey, as i32 in every lane.
  Value relative(Value key, Value firstKey);

  // accumulators + sum over the tile's tokens of p * V.
  SmallVector<Value> addValues(const KVTile &tile, Value p, Value allSeen,
                               ValueRange accumulators);
  SmallVector<Value> addAllValues(const KVTile &tile, Value p,
                                  ValueRange accumulators);
  /// The same without the tokens of weight zero, whose V may be anything.
  SmallVector<Value> addSeenValues(const KVTile &tile, Value p,
                                   ValueRange accumulators);
  /// The same into the output row.
  void addValuesInMemory(const QueryRow &row, const KVTile &tile, Value p,
                         Value rescale);
  /// fma of one group's tokens, those of weight zero left out.
  Value addGroup(Value words, ArrayRef<Value> weights, Value sum);

  void storeOutput(const QueryRow &row, Value sum, ValueRange accumulators);
  void divideOutput(const QueryRow &row, Value sum);
  Value quotient(Value accumulator, Value sum);
  Value firstLanes(Value vector, int64_t lanes);
  Value outColumn(const QueryRow &row) {
    return kb.mul(row.head, layout.valueDim());
  }
  bool inMemory() const {
    return layout.paddedValueDim() / kLanes > kMostAccumulators;
  }

  KernelBuilder &kb;
  const PagedAttentionSpec &spec;
  TensorFormat kvFormat;
  KVBlockLayout layout;
  int64_t cell;       ///< Values in a 4-byte word of the cache.
  int64_t partTokens; ///< Tokens of a tile that are sure to share a block.
  Value query, out, base;
  Value mask;  ///< Flat, or null.
  Value sinks; ///< A row, or a vector, or null.
  Value laneNumbers, zero, lowest;
};
} // namespace

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

AttentionEmitter::AttentionEmitter(KernelBuilder &kb,
                                   const PagedAttentionSpec &spec,
                                   TensorFormat kvFormat)
    : kb(kb), spec(spec), kvFormat(kvFormat),
      layout(blockLayout(spec, kvFormat)), cell(layout.cellElements()),
      partTokens(std::gcd(spec.blockSize, kLanes)), query(kb.buffer(0)),
      base(layerBase(kb)) {
  unsigned buffer = 1;
  if (!spec.maskStrides.empty())
    mask = memref::CollapseShapeOp::create(
        kb, kb.buffer(buffer++), ArrayRef<ReassociationIndices>{{0, 1}});
  if (spec.sinks != OperandPlace::None)
    sinks =
        spec.sinks == OperandPlace::Weight ? kb.weight(0) : kb.buffer(buffer++);
  out = kb.buffer(buffer);
  SmallVector<int32_t> numbers =
      llvm::to_vector_of<int32_t>(llvm::seq<int32_t>(0, kLanes));
  laneNumbers = arith::ConstantOp::create(
      kb, DenseElementsAttr::get(kb.i32x16(), ArrayRef(numbers)));
  zero = kb.floatConstant(kb.f32x16(), 0.0);
  lowest = kb.floatConstant(kb.f32x16(), kLowestScore);
}

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
      Value position = kb.sub(length, kb.sub(last, token));
      emitHead(queryRow(sequence, token, kb.sub(token, first), position, length,
                        kb.rem(item, spec.heads)));
    });
  });
}

QueryRow AttentionEmitter::queryRow(Value sequence, Value token, Value query,
                                    Value position, Value length, Value head) {
  auto notNegative = [&](Value value) -> Value {
    return kb.createOrFold<arith::MaxSIOp>(value, kb.index(0));
  };
  QueryRow row;
  row.sequence = sequence;
  row.token = token;
  row.head = head;
  row.kvHead = kb.div(head, spec.heads / spec.kvHeads);
  row.position = position;
  row.keyEnd = spec.causal ? notNegative(kb.add(position, 1)) : length;
  row.keyBegin = spec.window ? notNegative(kb.add(position, 1 - spec.window))
                             : kb.index(0);
  row.lastEntry = kb.div(kb.sub(length, kb.index(1)), spec.blockSize);
  if (mask) {
    Value indices[] = {sequence, head, query, token};
    row.maskOffset = kb.index(0);
    for (auto [index, stride] : llvm::zip(indices, spec.maskStrides))
      if (stride)
        row.maskOffset = kb.add(row.maskOffset, kb.mul(index, stride));
  }
  if (!spec.alibiSlopes.empty()) {
    SmallVector<float> slopes(spec.alibiSlopes.begin(), spec.alibiSlopes.end());
    Value constant = arith::ConstantOp::create(
        kb, DenseElementsAttr::get(kb.vec(slopes.size(), kb.getF32Type()),
                                   ArrayRef(slopes)));
    row.slope = vector::ExtractOp::create(kb, constant, OpFoldResult(head));
  }
  return row;
}

SmallVector<Value> AttentionEmitter::initialState(const QueryRow &row) {
  SmallVector<Value> state{kb.f32(kLowestScore), kb.f32(0.0)};
  if (sinks) {
    // The sink is a first key whose V is zero; at -inf it is none.
    SmallVector<Value> at{row.head};
    if (spec.sinks == OperandPlace::Buffer)
      at.insert(at.begin(), kb.index(0));
    Value sink = kb.load(sinks, at);
    Value counts =
        arith::CmpFOp::create(kb, arith::CmpFPredicate::UGT, sink,
                              kb.f32(-std::numeric_limits<double>::infinity()));
    state[0] = arith::SelectOp::create(kb, counts, sink, state[0]);
    state[1] = arith::SelectOp::create(kb, counts, kb.f32(1.0), state[1]);
  }
  if (!inMemory())
    state.append(layout.paddedValueDim() / kLanes, zero);
  return state;
}

void AttentionEmitter::emitHead(const QueryRow &row) {
  if (inMemory())
    kb.vectorLoop(layout.valueDim(), [&](Value i, int64_t lanes) {
      kb.storeVector(firstLanes(zero, lanes), out,
                     {row.token, kb.add(outColumn(row), i)});
    });
  // Tiles before the window hold nothing that is seen.
  Value first = kb.div(row.keyBegin, kLanes);
  Value end = kb.div(kb.add(row.keyEnd, kLanes - 1), kLanes);
  SmallVector<Value> state = kb.reduce(
      first, end, 1, initialState(row), [&](Value kvTile, ValueRange carried) {
        return attendTile(row, kvTile, carried);
      });
  if (inMemory())
    divideOutput(row, state[1]);
  else
    storeOutput(row, state[1], ArrayRef(state).drop_front(2));
  kb.zeroPaddingBehindHeads(out, row.token, row.head, spec.heads,
                            layout.valueDim());
}

SmallVector<Value> AttentionEmitter::attendTile(const QueryRow &row,
                                                Value kvTile,
                                                ValueRange carried) {
  Value firstKey = kb.mul(kvTile, kLanes);
  KVTile tile = locateTile(row, firstKey);
  auto [s, seen] = scores(row, tile, firstKey);
  s = arith::SelectOp::create(kb, seen, s, lowest);

  Value tileMax =
      kb.foldLanes(s, [&](Value a, Value b) { return kb.maxf(a, b); });
  Value maximum = kb.maxf(carried[0], tileMax);
  Value p = math::ExpOp::create(kb, kb.subf(s, kb.broadcast(maximum)));
  p = arith::SelectOp::create(kb, seen, p, zero);
  Value tileSum =
      kb.foldLanes(p, [&](Value a, Value b) { return kb.addf(a, b); });
  Value rescale = math::ExpOp::create(kb, kb.subf(carried[0], maximum));

  SmallVector<Value> next{maximum, kb.fma(carried[1], rescale, tileSum)};
  if (inMemory()) {
    addValuesInMemory(row, tile, p, rescale);
    return next;
  }
  SmallVector<Value> accumulators;
  for (Value accumulator : carried.drop_front(2))
    accumulators.push_back(kb.mulf(accumulator, kb.broadcast(rescale)));
  Value allSeen =
      vector::ReductionOp::create(kb, vector::CombiningKind::AND, seen);
  llvm::append_range(next, addValues(tile, p, allSeen, accumulators));
  return next;
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

KVTile AttentionEmitter::locateTile(const QueryRow &row, Value firstKey) {
  Value stride = kb.contextIndex(StepField::block_table_stride);
  Value table = kb.mul(row.sequence, stride);
  KVTile tile;
  for (int64_t part = 0; part < kLanes; part += partTokens) {
    Value key = kb.add(firstKey, part);
    Value entry = kb.div(key, spec.blockSize);
    if (part > 0) // May lie behind the sequence's end; it is not seen then.
      entry = kb.min(entry, row.lastEntry);
    Value block =
        kb.contextArray(StepField::block_tables, kb.add(table, entry));
    Value head = kb.add(kb.mul(block, layout.blockBytes()),
                        kb.mul(row.kvHead, layout.headBytes()));
    // In K the tokens of a part are neighbouring 4-byte words, in V whole rows.
    Value inBlock = kb.rem(key, spec.blockSize);
    int64_t tokenBytes = layout.paddedValueDim() * layout.elementBytes;
    tile.keys.push_back(
        kb.advance(base, kb.add(head, kb.mul(inBlock, int64_t(4)))));
    tile.values.push_back(
        kb.advance(base, kb.add(kb.add(head, layout.keyTileBytes()),
                                kb.mul(inBlock, tokenBytes))));
  }
  return tile;
}

Value AttentionEmitter::keyWords(const KVTile &tile, Value cellIndex) {
  Value offset = kb.mul(cellIndex, layout.blockSize * 4);
  if (tile.keys.size() == 1)
    return kb.loadAt(kb.i32x16(), tile.keys[0], offset);
  Value words = kb.intConstant(kb.i32x16(), 0);
  Type partType = kb.vec(partTokens, kb.getI32Type());
  for (auto [i, keys] : llvm::enumerate(tile.keys))
    words = vector::InsertStridedSliceOp::create(
        kb, kb.loadAt(partType, keys, offset), words,
        ArrayRef<int64_t>{static_cast<int64_t>(i) * partTokens},
        ArrayRef<int64_t>{1});
  return words;
}

Value AttentionEmitter::dotProducts(const QueryRow &row, const KVTile &tile) {
  int64_t cells = layout.headDim / cell, rest = layout.headDim % cell;
  int64_t chains = cells % 4 == 0 ? 4 : 1;
  Value column = kb.mul(row.head, layout.headDim);
  auto addCell = [&](Value index, int64_t values, Value sum) {
    SmallVector<Value> keys = decodeWords(kb, kvFormat, keyWords(tile, index));
    for (int64_t i = 0; i < values; ++i) {
      Value dim = kb.add(kb.mul(index, cell), i);
      Value q = kb.load(query, {row.token, kb.add(column, dim)});
      sum = kb.fma(keys[i], kb.broadcast(q), sum);
    }
    return sum;
  };
  SmallVector<Value> sums = kb.reduce(
      kb.index(0), kb.index(cells), chains, SmallVector<Value>(chains, zero),
      [&](Value first, ValueRange partial) {
        SmallVector<Value> next;
        for (int64_t c = 0; c < chains; ++c)
          next.push_back(addCell(kb.add(first, c), cell, partial[c]));
        return next;
      });
  if (rest) // The last cell is padded: the next head's q must not meet it.
    sums[0] = addCell(kb.index(cells), rest, sums[0]);
  while (sums.size() > 1) { // The chains' fixed tree.
    SmallVector<Value> halves;
    for (size_t i = 0; i < sums.size() / 2; ++i)
      halves.push_back(kb.addf(sums[i], sums[i + sums.size() / 2]));
    sums = halves;
  }
  return sums[0];
}

Value AttentionEmitter::relative(Value key, Value firstKey) {
  return kb.broadcast(
      arith::IndexCastOp::create(kb, kb.getI32Type(), kb.sub(key, firstKey)));
}

Value AttentionEmitter::softCapped(Value s) {
  Value cap = kb.floatConstant(kb.f32x16(), spec.softCap);
  return kb.mulf(cap, math::TanhOp::create(kb, kb.divf(s, cap)));
}

TileScores AttentionEmitter::scores(const QueryRow &row, const KVTile &tile,
                                    Value firstKey) {
  Value s = kb.mulf(dotProducts(row, tile),
                    kb.floatConstant(kb.f32x16(), spec.scale));
  if (spec.softCap != 0)
    s = softCapped(s);
  if (row.slope) {
    Value distance = arith::SubIOp::create(kb, laneNumbers,
                                           relative(row.position, firstKey));
    distance = arith::SIToFPOp::create(kb, kb.f32x16(), distance);
    s = kb.fma(kb.broadcast(row.slope), distance, s);
  }
  Value seen = arith::CmpIOp::create(kb, arith::CmpIPredicate::slt, laneNumbers,
                                     relative(row.keyEnd, firstKey));
  if (spec.window) {
    Value inWindow =
        arith::CmpIOp::create(kb, arith::CmpIPredicate::sge, laneNumbers,
                              relative(row.keyBegin, firstKey));
    seen = arith::AndIOp::create(kb, seen, inWindow);
  }
  return mask ? masked(row, firstKey, {s, seen}) : TileScores{s, seen};
}

TileScores AttentionEmitter::masked(const QueryRow &row, Value firstKey,
                                    TileScores tile) {
  Value values;
  if (spec.maskStrides.back() == 0)
    values = kb.broadcast(kb.load(mask, row.maskOffset));
  else // Only what is seen is sure to be in the mask.
    values = vector::MaskedLoadOp::create(
        kb, kb.f32x16(), mask, ValueRange{kb.add(row.maskOffset, firstKey)},
        tile.seen, zero);
  Value infinity =
      kb.floatConstant(kb.f32x16(), -std::numeric_limits<double>::infinity());
  Value open =
      arith::CmpFOp::create(kb, arith::CmpFPredicate::UNE, values, infinity);
  // A sum below the least score is not -inf: such keys share what there is.
  Value s = kb.maxf(lowest, kb.addf(tile.scores, values));
  return {s, arith::AndIOp::create(kb, tile.seen, open)};
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

SmallVector<Value> AttentionEmitter::addValues(const KVTile &tile, Value p,
                                               Value allSeen,
                                               ValueRange accumulators) {
  auto branch = scf::IfOp::create(
      kb, allSeen,
      [&](OpBuilder &, Location) {
        scf::YieldOp::create(kb, addAllValues(tile, p, accumulators));
      },
      [&](OpBuilder &, Location) {
        scf::YieldOp::create(kb, addSeenValues(tile, p, accumulators));
      });
  return SmallVector<Value>(branch.getResults());
}

SmallVector<Value> AttentionEmitter::addAllValues(const KVTile &tile, Value p,
                                                  ValueRange accumulators) {
  SmallVector<Value> sums(accumulators);
  for (int64_t token = 0; token < kLanes; token += cell) {
    SmallVector<Value> weights;
    for (int64_t i = 0; i < cell; ++i)
      weights.push_back(kb.broadcast(kb.lane(p, token + i)));
    Value values = tile.values[token / partTokens];
    int64_t row = token % partTokens / cell * layout.paddedValueDim();
    for (auto [j, sum] : llvm::enumerate(sums)) {
      int64_t word = row + static_cast<int64_t>(j) * kLanes;
      Value words = kb.loadAt(kb.i32x16(), values, kb.index(word * 4));
      for (auto [i, v] : llvm::enumerate(decodeWords(kb, kvFormat, words)))
        sum = kb.fma(weights[i], v, sum);
    }
  }
  return sums;
}

Value AttentionEmitter::addGroup(Value words, ArrayRef<Value> weights,
                                 Value sum) {
  for (auto [weight, v] :
       llvm::zip(weights, decodeWords(kb, kvFormat, words))) {
    Value counts = arith::CmpFOp::create(kb, arith::CmpFPredicate::UNE, weight,
                                         kb.f32(0.0));
    sum = kb.fma(kb.broadcast(weight),
                 arith::SelectOp::create(kb, counts, v, zero), sum);
  }
  return sum;
}

SmallVector<Value> AttentionEmitter::addSeenValues(const KVTile &tile, Value p,
                                                   ValueRange accumulators) {
  SmallVector<Value> sums(accumulators);
  for (auto [part, values] : llvm::enumerate(tile.values)) {
    int64_t firstToken = static_cast<int64_t>(part) * partTokens;
    Value address = values;
    sums = kb.reduce(
        kb.index(0), kb.index(partTokens / cell), 1, sums,
        [&](Value group, ValueRange partial) {
          SmallVector<Value> weights, next;
          for (int64_t i = 0; i < cell; ++i) {
            Value token = kb.add(kb.mul(group, cell), firstToken + i);
            weights.push_back(
                vector::ExtractOp::create(kb, p, OpFoldResult(token)));
          }
          Value rowBytes = kb.mul(group, layout.paddedValueDim() * 4);
          for (auto [j, sum] : llvm::enumerate(partial)) {
            int64_t column = static_cast<int64_t>(j) * kLanes * 4;
            Value words =
                kb.loadAt(kb.i32x16(), address, kb.add(rowBytes, column));
            next.push_back(addGroup(words, weights, sum));
          }
          return next;
        });
  }
  return sums;
}

void AttentionEmitter::addValuesInMemory(const QueryRow &row,
                                         const KVTile &tile, Value p,
                                         Value rescale) {
  SmallVector<Value> weights;
  for (int64_t token = 0; token < kLanes; ++token)
    weights.push_back(kb.lane(p, token));
  kb.vectorLoop(layout.valueDim(), [&](Value i, int64_t lanes) {
    SmallVector<Value> at{row.token, kb.add(outColumn(row), i)};
    Value sum =
        kb.mulf(kb.loadVector(out, at, lanes), kb.broadcast(rescale, lanes));
    // The cache's rows are whole vectors; lanes that are left over stay zero.
    if (lanes < kLanes)
      sum = vector::InsertStridedSliceOp::create(
          kb, sum, zero, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{1});
    for (int64_t token = 0; token < kLanes; token += cell) {
      int64_t group = token % partTokens / cell * layout.paddedValueDim();
      Value words = kb.loadAt(kb.i32x16(), tile.values[token / partTokens],
                              kb.mul(kb.add(i, group), int64_t(4)));
      sum = addGroup(words, ArrayRef(weights).slice(token, cell), sum);
    }
    kb.storeVector(firstLanes(sum, lanes), out, at);
  });
}

//===----------------------------------------------------------------------===//
// Output
//===----------------------------------------------------------------------===//

Value AttentionEmitter::firstLanes(Value vector, int64_t lanes) {
  if (lanes == kLanes)
    return vector;
  return vector::ExtractStridedSliceOp::create(kb, vector, ArrayRef<int64_t>{0},
                                               ArrayRef<int64_t>{lanes},
                                               ArrayRef<int64_t>{1});
}

Value AttentionEmitter::quotient(Value accumulator, Value sum) {
  auto type = cast<VectorType>(accumulator.getType());
  Value nothing =
      arith::CmpFOp::create(kb, arith::CmpFPredicate::OEQ, sum, kb.f32(0.0));
  Value result = kb.divf(accumulator, kb.broadcast(sum, type.getNumElements()));
  return arith::SelectOp::create(kb, nothing, kb.floatConstant(type, 0.0),
                                 result);
}

void AttentionEmitter::storeOutput(const QueryRow &row, Value sum,
                                   ValueRange accumulators) {
  for (auto [j, accumulator] : llvm::enumerate(accumulators)) {
    int64_t first = static_cast<int64_t>(j) * kLanes;
    int64_t lanes = std::min(kLanes, layout.valueDim() - first);
    kb.storeVector(firstLanes(quotient(accumulator, sum), lanes), out,
                   {row.token, kb.add(outColumn(row), first)});
  }
}

void AttentionEmitter::divideOutput(const QueryRow &row, Value sum) {
  kb.vectorLoop(layout.valueDim(), [&](Value i, int64_t lanes) {
    SmallVector<Value> at{row.token, kb.add(outColumn(row), i)};
    kb.storeVector(quotient(kb.loadVector(out, at, lanes), sum), out, at);
  });
}

void emitPagedAttention(KernelBuilder &kb, const PagedAttentionSpec &spec,
                        TensorFormat kvFormat) {
  AttentionEmitter(kb, spec, kvFormat).emit();
}

} // namespace llmir
