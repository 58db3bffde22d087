//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The register tiles that all formats share, and the generic implementation,
// which extends elements to f32 and works on every level.
//
//===----------------------------------------------------------------------===//

#include "AttentionProducts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace llmir {

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

int64_t AttentionProducts::linesAtOnce() const {
  // With 32 registers: 4 rows x 4 lines of accumulators, plus the lines. If a
  // vector takes several registers or an accumulator has two chains, fewer fit.
  int64_t registers = kLanes * 32 / kb.level().vectorBits * planes();
  return registers == 1 ? 4 : registers == 2 && planes() == 2 ? 2 : 1;
}

//===----------------------------------------------------------------------===//
// Prefetching
//===----------------------------------------------------------------------===//

// The values of a span are prefetched while its keys are multiplied, and the
// next keys while values are multiplied. Memory throughput is highest if lines
// are prefetched in address order, a few KB ahead and at a steady rate: the
// hardware prefetchers then run ahead of the software prefetches. Therefore
// each iteration prefetches as many lines as it reads, divided evenly among the
// rows of a block.

/// Lines to prefetch in iteration `number` over the cells of tiles [first,
/// first + tiles).
AttentionProducts::Lines AttentionProducts::valueLines(const KeySpan &span,
                                                       int64_t first,
                                                       int64_t tiles,
                                                       Value number) const {
  int64_t ofTile = layout.paddedValueDim() / cell;
  int64_t each =
      llvm::divideCeil(ofTile, std::max<int64_t>(layout.headDim / cell, 1));
  Lines lines;
  auto add = [&](Value tile, int64_t count) {
    Value from = kb.mul(number, count * kLineBytes);
    for (int64_t i = 0; i < count; ++i)
      lines.push_back(kb.advance(tile, kb.add(from, i * kLineBytes)));
  };
  if (layout.blockSize % kSpanKeys == 0) {
    add(span.values[first], tiles * each); // Tiles are contiguous.
    return lines;
  }
  for (int64_t t = 0; t < tiles; ++t)
    add(span.values[first + t], each);
  return lines;
}

/// Lines to prefetch in iteration `group` over the values of a tile, at vector
/// `column`.
AttentionProducts::Lines AttentionProducts::keyLines(const KeySpan &span,
                                                     int64_t tile, Value column,
                                                     Value group) const {
  int64_t groups = kLanes / cell, step = linesAtOnce();
  int64_t cells = layout.keyDim() / cell;
  int64_t passes = llvm::divideCeil(layout.paddedValueDim() / kLanes, step);
  Value pass = kb.div(column, step);
  Lines lines;
  auto add = [&](Value from, Value number, int64_t each, int64_t stride) {
    for (int64_t i = 0; i < each; ++i)
      lines.push_back(
          kb.advance(from, kb.mul(kb.add(kb.mul(number, each), i), stride)));
  };
  if (layout.blockSize == kSpanKeys) { // Lines of all tiles are contiguous.
    Value number =
        kb.add(kb.mul(kb.add(kb.mul(pass, kSpanTiles), tile), groups), group);
    add(span.keys[0], number,
        llvm::divideCeil(cells * kSpanTiles, passes * kSpanTiles * groups),
        kLineBytes);
  } else {
    add(span.keys[tile], kb.add(kb.mul(pass, groups), group),
        llvm::divideCeil(cells, passes * groups), layout.blockSize * 4);
  }
  return lines;
}

void AttentionProducts::prefetchShare(const Lines &lines, int64_t row) {
  for (size_t i = row; i < lines.size(); i += kRowBlock)
    LLVM::Prefetch::create(kb, lines[i], /*rw=*/0, /*hint=*/3, /*cache=*/1);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void AttentionProducts::prepareSeen(Value to, int64_t tile, Value seen) {
  Type element = kb.getIntegerType(8 * layout.elementBytes);
  Value mask = arith::ExtSIOp::create(kb, kb.vec(kLanes, element), seen);
  kb.storeAt(mask, to, kb.index(tile * kLanes * layout.elementBytes));
}

AttentionProducts::Operands AttentionProducts::startScores(Value query) {
  return Operands(planes(), zeros());
}

void AttentionProducts::multiplyKeys(const KeySpan &span, const KeySpan &next,
                                     RowArea queries, RowArea scores) {
  for (int64_t tile = 0; tile < kSpanTiles; tile += linesAtOnce())
    multiplyTiles(span, !next.keys.empty(), tile, linesAtOnce(), queries,
                  scores);
}

void AttentionProducts::multiplyTiles(const KeySpan &span, bool ahead,
                                      int64_t first, int64_t tiles,
                                      RowArea queries, RowArea scores) {
  SmallVector<Value> rows, sums;
  for (int64_t r = 0; r < kRowBlock; ++r) {
    rows.push_back(queries.at(kb, kb.index(r)));
    Operands start = startScores(rows.back());
    for (int64_t t = 0; t < tiles; ++t)
      llvm::append_range(sums, start);
  }
  auto addCell = [&](Value number, int64_t values, ValueRange before) {
    SmallVector<Value> after(before);
    Value bytes = kb.mul(number, layout.blockSize * 4);
    SmallVector<Operands> lines;
    for (int64_t t = 0; t < tiles; ++t) {
      Value words = loadWords(span.keys[first + t], bytes);
      if (values < cell) { // Elements past the last dimension of the head.
        int64_t mask = (int64_t(1) << (values * 8 * layout.elementBytes)) - 1;
        words =
            arith::AndIOp::create(kb, words, kb.intConstant(kb.i32x16(), mask));
      }
      lines.push_back(keyOperands(words));
    }
    Lines later = ahead ? valueLines(span, first, tiles, number) : Lines();
    for (int64_t r = 0; r < kRowBlock; ++r) {
      prefetchShare(later, r);
      Operands row = queryOperands(rows[r], number);
      for (int64_t t = 0; t < tiles; ++t)
        multiply(
            MutableArrayRef(after).slice((r * tiles + t) * planes(), planes()),
            lines[t], row);
    }
    return after;
  };
  int64_t cells = layout.headDim / cell, rest = layout.headDim % cell;
  sums = kb.reduceRolled(kb.index(0), kb.index(cells), 1, sums,
                         [&](Value number, ValueRange before) {
                           return addCell(number, cell, before);
                         });
  if (rest)
    sums = addCell(kb.index(cells), rest, sums);
  for (int64_t r = 0; r < kRowBlock; ++r)
    for (int64_t t = 0; t < tiles; ++t) {
      ArrayRef<Value> chains =
          ArrayRef(sums).slice((r * tiles + t) * planes(), planes());
      Value tile = finishScores(chains, rows[r], span.keys[first + t]);
      kb.storeAt(tile, scores.at(kb, kb.index(r)),
                 kb.index((first + t) * kLanes * 4));
    }
}

void AttentionProducts::addValues(const KeySpan &span, const KeySpan &next,
                                  RowArea weights, const RowArea *seen,
                                  RowArea rescale, RowArea sums) {
  int64_t vectors = layout.paddedValueDim() / kLanes, step = linesAtOnce();
  auto addAt = [&](Value column, int64_t count) {
    addColumns(span, next, column, count, weights, seen, rescale, sums);
  };
  int64_t whole = vectors / step * step;
  if (whole == step)
    addAt(kb.index(0), step);
  else if (whole)
    kb.loop(0, whole, step, [&](Value vector) { addAt(vector, step); });
  if (vectors > whole)
    addAt(kb.index(whole), vectors - whole);
}

void AttentionProducts::addColumns(const KeySpan &span, const KeySpan &next,
                                   Value column, int64_t vectors,
                                   RowArea weights, const RowArea *seen,
                                   RowArea rescale, RowArea sums) {
  SmallVector<Value> rowWeights, rowSeen, addresses, before, chains;
  Value columnBytes = kb.mul(column, kLanes * 4);
  for (int64_t r = 0; r < kRowBlock; ++r) {
    Value row = kb.index(r);
    rowWeights.push_back(weights.at(kb, row));
    if (seen)
      rowSeen.push_back(seen->at(kb, row));
    addresses.push_back(kb.advance(sums.at(kb, row), columnBytes));
    Value factor =
        broadcastAt(kb.getF32Type(), rescale.at(kb, row), kb.index(0));
    for (int64_t v = 0; v < vectors; ++v) {
      Value sum =
          kb.loadAt(kb.f32x16(), addresses[r], kb.index(v * kLanes * 4));
      before.push_back(kb.mulf(sum, factor));
      llvm::append_range(chains, startValues(rowWeights[r], before.back()));
    }
  }
  int64_t groups = kLanes / cell, rowBytes = layout.paddedValueDim() * 4;
  for (int64_t tile = 0; tile < kSpanTiles; ++tile)
    chains = kb.reduceRolled(
        kb.index(0), kb.index(groups), 1, chains,
        [&](Value group, ValueRange carried) {
          SmallVector<Value> after(carried), lines;
          Value bytes = kb.add(kb.mul(group, rowBytes), columnBytes);
          for (int64_t v = 0; v < vectors; ++v) {
            Value at = kb.add(bytes, v * kLanes * 4);
            lines.push_back(loadWords(span.values[tile], at));
          }
          Lines later =
              next.keys.empty() ? Lines() : keyLines(next, tile, column, group);
          SmallVector<Operands> operands;
          for (Value line : lines)
            operands.push_back(valueOperands(line));
          Value number = kb.add(group, tile * groups);
          for (int64_t r = 0; r < kRowBlock; ++r) {
            prefetchShare(later, r);
            Operands row = weightOperands(rowWeights[r], number);
            Value mask;
            if (seen)
              mask =
                  broadcastAt(kb.getI32Type(), rowSeen[r], kb.mul(number, 4));
            for (int64_t v = 0; v < vectors; ++v)
              multiply(MutableArrayRef(after).slice(
                           (r * vectors + v) * planes(), planes()),
                       mask ? valueOperands(
                                  arith::AndIOp::create(kb, lines[v], mask))
                            : operands[v],
                       row);
          }
          return after;
        });
  for (int64_t r = 0; r < kRowBlock; ++r)
    for (int64_t v = 0; v < vectors; ++v) {
      int64_t i = r * vectors + v;
      Value sum = finishValues(ArrayRef(chains).slice(i * planes(), planes()),
                               rowWeights[r], before[i]);
      kb.storeAt(sum, addresses[r], kb.index(v * kLanes * 4));
    }
}

//===----------------------------------------------------------------------===//
// Expanded to f32
//===----------------------------------------------------------------------===//

namespace {
/// Queries and weights are rows of f32.
class ExpandedProducts : public AttentionProducts {
public:
  ExpandedProducts(KernelBuilder &kb, const KVBlockLayout &layout,
                   KVFormat format)
      : AttentionProducts(kb, layout), format(format) {}

  int64_t queryBytes() const override {
    return roundUpTo(layout.headDim, kLanes) * 4;
  }
  int64_t weightBytes() const override { return kSpanKeys * 4; }
  void prepareQuery(Value to,
                    llvm::function_ref<Value(Value)> numbers) override {
    kb.loop(0, layout.headDim, kLanes, [&](Value dim) {
      Value number = numbers(dim);
      kb.storeAt(number, to, kb.mul(dim, 4));
    });
  }

  SmallVector<Value> prepareWeights(Value to, ArrayRef<Value> weights,
                                    const KeySpan &span) override {
    for (auto [tile, p] : llvm::enumerate(weights))
      kb.storeAt(p, to, kb.index(static_cast<int64_t>(tile) * kLanes * 4));
    return SmallVector<Value>(weights);
  }

private:
  Operands keyOperands(Value words) override { return expand(words); }
  Operands valueOperands(Value words) override { return expand(words); }

  Operands expand(Value words) {
    return Operands(decodeWords(kb, storedFormat(format), words));
  }

  /// The elements of a row from `number * cell` on.
  Operands numbersOf(Value row, Value number) {
    Operands numbers;
    for (int64_t i = 0; i < cell; ++i)
      numbers.push_back(
          broadcastAt(kb.getF32Type(), row,
                      kb.mul(kb.add(kb.mul(number, cell), i), int64_t(4))));
    return numbers;
  }
  Operands queryOperands(Value query, Value number) override {
    return numbersOf(query, number);
  }
  Operands weightOperands(Value weights, Value number) override {
    return numbersOf(weights, number);
  }

  void multiply(MutableArrayRef<Value> sums, ArrayRef<Value> line,
                ArrayRef<Value> row) override {
    for (auto [a, b] : llvm::zip(line, row))
      sums[0] = kb.fma(a, b, sums[0]);
  }

  KVFormat format;
};
} // namespace

std::unique_ptr<AttentionProducts>
AttentionProducts::create(KernelBuilder &kb, const KVBlockLayout &layout,
                          KVFormat format) {
  if (format == KVFormat::BF16 && kb.level().hasBf16Dots())
    return createBf16Products(kb, layout);
  if (format == KVFormat::Q8)
    return createByteProducts(kb, layout);
  return std::make_unique<ExpandedProducts>(kb, layout, format);
}

} // namespace llmir
