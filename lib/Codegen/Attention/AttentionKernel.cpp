//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention over the paged cache: K and V are read from the cache only, at its
// precision. Implements the online softmax of FlashAttention over spans of 64
// keys at fixed positions, for all rows of a group of items (AttentionWork.h).
//
//===----------------------------------------------------------------------===//

#include "AttentionSoftmax.h"
#include "SpanLocator.h"

#include "llmir/ABI/AttentionSplit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace llmir {

//===----------------------------------------------------------------------===//
// Results of chunks
//===----------------------------------------------------------------------===//

namespace {
/// Merges the results of chunks and writes them to the output. A result is a
/// row of sums followed by a SoftmaxState.
class ChunkMerger {
public:
  ChunkMerger(KernelBuilder &kb, AttentionSoftmax &softmax,
              const SoftmaxState &state, int64_t valueDim, int64_t heads,
              Value out)
      : kb(kb), softmax(softmax), state(state), valueDim(valueDim),
        heads(heads), out(out) {}

  /// Initializes the state before the first chunk.
  void begin(Value total, Value head) {
    auto [maximum, sum] = softmax.initialState(head);
    kb.storeAt(maximum, total, kb.index(state.maximumBytes()));
    kb.storeAt(sum, total, kb.index(state.sumBytes()));
    kb.loop(0, state.sumBytes(), kLanes * 4, [&](Value at) {
      kb.storeAt(kb.floatConstant(kb.f32x16(), 0.0), total, at);
    });
  }

  /// Initializes the state before the first key of a chunk.
  void beginChunk(Value chunk) {
    kb.loop(0, state.maximumBytes(), kLanes * 4, [&](Value at) {
      kb.storeAt(kb.floatConstant(kb.f32x16(), 0.0), chunk, at);
    });
    kb.storeAt(kb.f32(AttentionSoftmax::kLowestScore), chunk,
               kb.index(state.maximumBytes()));
  }

  /// Adds `chunk` to `total`, with both scaled to a common maximum.
  void add(Value total, Value chunk) {
    Value maximumAt = kb.index(state.maximumBytes());
    Value sumAt = kb.index(state.sumBytes());
    Value a = kb.loadAt(kb.getF32Type(), total, maximumAt);
    Value b = kb.loadAt(kb.getF32Type(), chunk, maximumAt);
    Value maximum = kb.maxf(a, b);
    Value factorA = softmax.exponential(kb.subf(a, maximum));
    Value factorB = softmax.exponential(kb.subf(b, maximum));
    kb.storeAt(maximum, total, maximumAt);
    Value sum = kb.loadAt(kb.getF32Type(), total, sumAt);
    Value chunkSum =
        kb.foldLanes(kb.loadAt(kb.f32x16(), chunk, sumAt),
                     [&](Value x, Value y) { return kb.addf(x, y); });
    kb.storeAt(kb.fma(chunkSum, factorB, kb.mulf(sum, factorA)), total, sumAt);
    Value wideA = kb.broadcast(factorA), wideB = kb.broadcast(factorB);
    kb.loop(0, state.sumBytes(), kLanes * 4, [&](Value at) {
      Value before = kb.loadAt(kb.f32x16(), total, at);
      Value added = kb.loadAt(kb.f32x16(), chunk, at);
      kb.storeAt(kb.fma(added, wideB, kb.mulf(before, wideA)), total, at);
    });
  }

  /// Writes a row of the output: the normalized sums, or 0 if all keys are
  /// masked.
  void finish(Value total, Value token, Value head) {
    Value sum = kb.loadAt(kb.getF32Type(), total, kb.index(state.sumBytes()));
    Value nothing =
        arith::CmpFOp::create(kb, arith::CmpFPredicate::OEQ, sum, kb.f32(0.0));
    Value zero = kb.floatConstant(kb.f32x16(), 0.0);
    kb.vectorLoop(valueDim, [&](Value i, int64_t lanes) {
      Value vector = kb.loadAt(kb.f32x16(), total, kb.mul(i, 4));
      vector = kb.divf(vector, kb.broadcast(sum));
      // Depending on the batch, 0 may have been added to -0: make both 0.
      vector = kb.addf(vector, zero);
      vector = arith::SelectOp::create(kb, nothing, zero, vector);
      if (lanes < kLanes)
        vector = vector::ExtractStridedSliceOp::create(
            kb, vector, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{lanes},
            ArrayRef<int64_t>{1});
      kb.storeVector(vector, out, {token, kb.add(kb.mul(head, valueDim), i)});
    });
    kb.zeroPaddingAfterHeads(out, token, head, heads, valueDim);
  }

private:
  KernelBuilder &kb;
  AttentionSoftmax &softmax;
  const SoftmaxState &state;
  int64_t valueDim, heads;
  Value out;
};

/// The address of a buffer.
Value addressOf(KernelBuilder &kb, Value buffer) {
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(kb, buffer);
  Value number = arith::IndexCastOp::create(kb, kb.getI64Type(), address);
  return LLVM::IntToPtrOp::create(kb, kb.ctx().getType(), number);
}

/// The flattened mask; null if there is none.
Value flatMask(KernelBuilder &kb, kernel::PagedAttentionOp op) {
  Value mask = kb.argument(op.getMaskMutable());
  if (!mask)
    return mask;
  return memref::CollapseShapeOp::create(
      kb, mask, ArrayRef<ReassociationIndices>{{0, 1}});
}

//===----------------------------------------------------------------------===//
// Items
//===----------------------------------------------------------------------===//

class AttentionEmitter {
public:
  AttentionEmitter(KernelBuilder &kb, kernel::PagedAttentionOp op,
                   const KernelCache &cache);

  void emit();

private:
  /// The rows of an item and their data in the buffers of the group.
  struct ItemRows {
    Value count;
    RowArea queries, chunkStates, totals;
  };

  RowArea createArea(int64_t rows, int64_t bytes);
  void emitGroup(const AttentionGroup &group);
  /// Calls body(item, rows, index of the head block) for the items of the
  /// group.
  void overItems(
      const AttentionGroup &group,
      llvm::function_ref<void(const AttentionItem &, const ItemRows &, Value)>
          body);
  void overRows(const ItemRows &rows, llvm::function_ref<void(Value)> body) {
    kb.loop(kb.index(0), rows.count, kb.index(1), body);
  }
  void prepareQueries(const AttentionItem &item, const ItemRows &rows);
  /// Computes the results of a chunk, span by span.
  void emitChunk(const AttentionGroup &group, Value chunk);
  /// Processes one span for one block of rows.
  void attendBlock(const AttentionItem &item, const ItemRows &rows, Value block,
                   Value firstKey, const KeySpan &span, const KeySpan &next);
  void attendRows(const AttentionItem &item, const ItemRows &rows,
                  Value firstRow, Value firstKey, const KeySpan &span,
                  const KeySpan &next, bool whole);
  Value blocksOf(const ItemRows &rows) {
    return work.ceilDiv(rows.count, kRowBlock);
  }
  Value both(Value a, Value b) { return arith::AndIOp::create(kb, a, b); }
  Value compare(arith::CmpIPredicate how, Value a, Value b) {
    return arith::CmpIOp::create(kb, how, a, b);
  }

  KernelBuilder &kb;
  AttentionOptions options;
  Value query, partials; ///< Null if there are no partial results.
  AttentionWork work;
  AttentionSoftmax softmax;
  SpanLocator locator;
  std::unique_ptr<AttentionProducts> products;
  SoftmaxState state;
  ChunkMerger merger;
  Value split; ///< An i1.
  RowArea queries, chunkStates, totals, scores, weights, seen, rescale;
};
} // namespace

/// Whether sequences of the step are split into chunks.
static Value emitSplits(KernelBuilder &kb) {
  return arith::CmpIOp::create(kb, arith::CmpIPredicate::ne,
                               kb.contextIndex(StepField::split_attention),
                               kb.index(0));
}

AttentionEmitter::AttentionEmitter(KernelBuilder &kb,
                                   kernel::PagedAttentionOp op,
                                   const KernelCache &cache)
    : kb(kb), options(op), query(kb.argument(op.getQueryMutable())),
      partials(kb.argument(op.getPartialsMutable())), work(kb, options),
      softmax(kb, options, flatMask(kb, op), kb.argument(op.getSinksMutable())),
      locator(kb, cache.layout), products(AttentionProducts::create(
                                     kb, locator.tileLayout(), cache.format)),
      state{locator.tileLayout().paddedValueDim()},
      merger(kb, softmax, state, options.valueDim, options.heads,
             kb.argument(op.getOutMutable())),
      split(partials ? emitSplits(kb) : kb.intConstant(kb.getI1Type(), 0)) {
  int64_t rows = work.maxRows();
  queries = createArea(rows, products->queryBytes());
  chunkStates = createArea(rows, state.bytes());
  totals = createArea(rows, state.bytes());
  scores = createArea(kRowBlock, kSpanKeys * 4);
  weights = createArea(kRowBlock, products->weightBytes());
  seen = createArea(kRowBlock, products->seenBytes());
  rescale = createArea(kRowBlock, 4);
}

RowArea AttentionEmitter::createArea(int64_t rows, int64_t bytes) {
  return {createScratch(kb, rows * bytes), bytes};
}

void AttentionEmitter::emit() {
  work.overGroups(split,
                  [&](const AttentionGroup &group) { emitGroup(group); });
}

void AttentionEmitter::overItems(
    const AttentionGroup &group,
    llvm::function_ref<void(const AttentionItem &, const ItemRows &, Value)>
        body) {
  kb.loop(group.firstBlock, group.blockEnd, kb.index(1), [&](Value block) {
    AttentionItem item = work.itemOf(group, block);
    Value inGroup = kb.sub(block, group.firstBlock);
    Value first = kb.mul(inGroup, work.itemRows(group.tile));
    auto from = [&](const RowArea &area) {
      return RowArea{area.at(kb, first), area.stride};
    };
    ItemRows rows{kb.mul(group.tile.tokens, work.itemHeads()), from(queries),
                  from(chunkStates), from(totals)};
    if (partials) {
      Value base = addressOf(kb, partials);
      Value results = kb.advance(base, kb.mul(item.partialRow, state.bytes()));
      rows.chunkStates.base =
          arith::SelectOp::create(kb, split, results, rows.chunkStates.base);
    }
    body(item, rows, block);
  });
}

void AttentionEmitter::emitGroup(const AttentionGroup &group) {
  overItems(group, [&](const AttentionItem &item, const ItemRows &rows, Value) {
    prepareQueries(item, rows);
    overRows(rows, [&](Value row) {
      Value total = rows.totals.at(kb, row);
      merger.begin(total, softmax.queryRow(item, work.itemHeads(), row).head);
    });
  });
  Value merges =
      arith::XOrIOp::create(kb, split, kb.intConstant(kb.getI1Type(), 1));
  kb.loop(group.firstChunk, group.chunkEnd, kb.index(1), [&](Value chunk) {
    emitChunk(group, chunk);
    kb.when(merges, [&] {
      overItems(group, [&](const AttentionItem &, const ItemRows &rows, Value) {
        overRows(rows, [&](Value row) {
          Value total = rows.totals.at(kb, row);
          merger.add(total, rows.chunkStates.at(kb, row));
        });
      });
    });
  });
  kb.when(merges, [&] {
    overItems(
        group, [&](const AttentionItem &item, const ItemRows &rows, Value) {
          overRows(rows, [&](Value number) {
            QueryRow row = softmax.queryRow(item, work.itemHeads(), number);
            merger.finish(rows.totals.at(kb, number), row.token, row.head);
          });
        });
  });
}

void AttentionEmitter::prepareQueries(const AttentionItem &item,
                                      const ItemRows &rows) {
  Value factor =
      kb.floatConstant(kb.f32x16(), static_cast<float>(softmax.queryFactor()));
  // The last block is padded with copies of the last row.
  Value last = kb.sub(rows.count, kb.index(1));
  kb.loop(kb.index(0), work.itemRows(item.tile), kb.index(1),
          [&](Value number) {
            QueryRow row =
                softmax.queryRow(item, work.itemHeads(), kb.min(number, last));
            Value column = kb.mul(row.head, options.headDim);
            int64_t whole = options.headDim / kLanes * kLanes;
            products->prepareQuery(
                rows.queries.at(kb, number), [&](Value dim) -> Value {
                  auto load = [&](int64_t lanes) {
                    Value q = kb.loadVector(
                        query, {row.token, kb.add(column, dim)}, lanes);
                    return kb.mulf(kb.widen(q, 0.0), factor);
                  };
                  if (whole == options.headDim)
                    return load(kLanes);
                  if (whole == 0)
                    return load(options.headDim);
                  Value isWhole =
                      compare(arith::CmpIPredicate::ult, dim, kb.index(whole));
                  auto choice = scf::IfOp::create(
                      kb, isWhole,
                      [&](OpBuilder &, Location) {
                        scf::YieldOp::create(kb, load(kLanes));
                      },
                      [&](OpBuilder &, Location) {
                        scf::YieldOp::create(kb, load(options.headDim - whole));
                      });
                  return choice.getResult(0);
                });
          });
}

//===----------------------------------------------------------------------===//
// Chunks
//===----------------------------------------------------------------------===//

void AttentionEmitter::emitChunk(const AttentionGroup &group, Value chunk) {
  const QueryTile &tile = group.tile;
  overItems(group, [&](const AttentionItem &, const ItemRows &rows, Value) {
    kb.loop(kb.index(0), work.itemRows(tile), kb.index(1), [&](Value row) {
      merger.beginChunk(rows.chunkStates.at(kb, row));
    });
  });
  // Spans before the first visible key, or after the last one, are skipped; the
  // positions of the others do not change.
  Value begin = kb.mul(chunk, kAttentionChunk);
  Value first = kb.div(work.max(begin, tile.keyBegin), kSpanKeys);
  Value end = work.ceilDiv(kb.min(kb.add(begin, kAttentionChunk), tile.keyEnd),
                           kSpanKeys);
  locator.beginSequence(tile.sequence, tile.length);
  int64_t blocksPerHead = options.heads / options.kvHeads / work.itemHeads();
  // Heads that share a KV head share the copy of a span.
  const bool sharesSpan = options.kvHeads == 1 && locator.copies();
  kb.loop(first, end, kb.index(1), [&](Value number) {
    KeySpan shared = sharesSpan ? locator.span(number, kb.index(0)) : KeySpan();
    overItems(group, [&](const AttentionItem &item, const ItemRows &rows,
                         Value headBlock) {
      // The next head of the group, or the first head of the next span.
      Value following = kb.add(headBlock, 1);
      Value wraps =
          compare(arith::CmpIPredicate::eq, following, group.blockEnd);
      Value nextBlock =
          arith::SelectOp::create(kb, wraps, group.firstBlock, following);
      Value nextNumber = kb.add(
          number, arith::SelectOp::create(kb, wraps, kb.index(1), kb.index(0)));
      KeySpan span =
          sharesSpan ? shared
                     : locator.span(number, kb.div(headBlock, blocksPerHead));
      KeySpan next =
          locator.later(nextNumber, kb.div(nextBlock, blocksPerHead));
      kb.loop(kb.index(0), blocksOf(rows), kb.index(1), [&](Value block) {
        attendBlock(item, rows, block, kb.mul(number, kSpanKeys), span, next);
      });
    });
  });
}

void AttentionEmitter::attendBlock(const AttentionItem &item,
                                   const ItemRows &rows, Value block,
                                   Value firstKey, const KeySpan &span,
                                   const KeySpan &next) {
  // Later rows see more keys.
  Value firstRow = kb.mul(block, kRowBlock);
  Value lastOfBlock = kb.add(firstRow, kRowBlock - 1);
  Value lastRow = kb.min(lastOfBlock, kb.sub(rows.count, kb.index(1)));
  QueryRow first = softmax.queryRow(item, work.itemHeads(), firstRow);
  QueryRow last = softmax.queryRow(item, work.itemHeads(), lastRow);
  Value endKey = kb.add(firstKey, kSpanKeys);
  using Predicate = arith::CmpIPredicate;
  Value beginsBefore = compare(Predicate::slt, firstKey, last.keyEnd);
  Value some =
      both(beginsBefore, compare(Predicate::slt, first.keyBegin, endKey));
  kb.when(some, [&] {
    auto attend = [&](bool whole) {
      attendRows(item, rows, firstRow, firstKey, span, next, whole);
    };
    if (softmax.hasMask())
      return attend(false);
    Value endsBefore = compare(Predicate::sle, endKey, first.keyEnd);
    Value all =
        both(endsBefore, compare(Predicate::sle, last.keyBegin, firstKey));
    scf::IfOp::create(
        kb, all,
        [&](OpBuilder &, Location) {
          attend(true);
          scf::YieldOp::create(kb);
        },
        [&](OpBuilder &, Location) {
          attend(false);
          scf::YieldOp::create(kb);
        });
  });
}

void AttentionEmitter::attendRows(const AttentionItem &item,
                                  const ItemRows &rows, Value firstRow,
                                  Value firstKey, const KeySpan &span,
                                  const KeySpan &next, bool whole) {
  auto blockOf = [&](const RowArea &area) {
    return RowArea{area.at(kb, firstRow), area.stride};
  };
  RowArea blockStates = blockOf(rows.chunkStates);
  products->multiplyKeys(span, next, blockOf(rows.queries), scores);
  Value last = kb.sub(rows.count, kb.index(1));
  kb.loop(0, kRowBlock, 1, [&](Value r) {
    QueryRow row = softmax.queryRow(item, work.itemHeads(),
                                    kb.min(kb.add(firstRow, r), last));
    Value rowScores = scores.at(kb, r), rowState = blockStates.at(kb, r);
    Value factor = rescale.at(kb, r), rowWeights = weights.at(kb, r);
    softmax.attendSpan(row, firstKey, span, rowScores, state, rowState, factor,
                       *products, rowWeights, whole ? Value() : seen.at(kb, r));
  });
  bool hides = !whole && products->seenBytes() > 0;
  products->addValues(span, next, weights, hides ? &seen : nullptr, rescale,
                      blockStates);
}

static LogicalResult emitPagedAttention(KernelBuilder &kb,
                                        kernel::PagedAttentionOp op) {
  AttentionEmitter(kb, op, cacheOf(op)).emit();
  return success();
}

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

static LogicalResult emitMergeAttention(KernelBuilder &kb,
                                        kernel::MergeAttentionOp op) {
  AttentionOptions options(op);
  AttentionWork work(kb, options);
  AttentionSoftmax softmax(kb, options, /*mask=*/Value(),
                           kb.argument(op.getSinksMutable()));
  SoftmaxState state{cacheOf(op).layout.paddedValueDim()};
  ChunkMerger merger(kb, softmax, state, options.valueDim, options.heads,
                     kb.argument(op.getOutMutable()));
  Value total = createScratch(kb, state.bytes());
  Value partials = addressOf(kb, kb.argument(op.getPartialsMutable()));
  auto [begin, end] = kb.itemRange(kb.mul(kb.rowCount(), options.heads));
  kb.when(emitSplits(kb), [&, begin = begin, end = end] {
    work.overTiles(
        {}, [&](const QueryTile &tile, ValueRange) -> SmallVector<Value> {
          Value first = kb.mul(tile.firstToken, options.heads);
          Value last = kb.add(first, kb.mul(tile.tokens, options.heads));
          first = work.max(first, begin);
          kb.loop(first, kb.min(last, end), kb.index(1), [&](Value row) {
            Value token = kb.div(row, options.heads);
            Value head = kb.rem(row, options.heads);
            merger.begin(total, head);
            Value chunks = kb.sub(tile.chunkEnd, tile.firstChunk);
            kb.loop(kb.index(0), chunks, kb.index(1), [&](Value chunk) {
              Value from = work.partialRow(tile, kb.sub(token, tile.firstToken),
                                           head, chunk);
              merger.add(total,
                         kb.advance(partials, kb.mul(from, state.bytes())));
            });
            merger.finish(total, token, head);
          });
          return {};
        });
  });
  return success();
}

void addAttentionEmitters(KernelEmitters &emitters) {
  emitters.add(emitPagedAttention);
  emitters.add(emitMergeAttention);
}

} // namespace llmir
