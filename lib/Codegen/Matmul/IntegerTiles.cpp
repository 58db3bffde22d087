//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Integer weights times quantized activations of 16 tokens at once, with tiles
// (AMX).
//
// Lines of 8-bit integers are loaded from memory as rows of a tile; lines of
// narrower integers are first unpacked to the stack. The rows of the other tile
// are a segment of 16 rows of x. The integer sums of a segment are transferred
// to vector registers through the stack, scaled and added to the chains as in
// any other kernel; the integers are equal, so the results are bit-identical.
//
// Fewer than 16 remaining tokens are multiplied by vector instructions.
//
//===----------------------------------------------------------------------===//

#include "ByteActivations.h"
#include "MatrixTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace llmir {
namespace {

/// Tokens of a register tile.
constexpr int64_t kTokens = MatrixTiles::kMaxTokens;
/// Maximum number of values of K per product.
constexpr int64_t kChunkValues = 4 * MatrixTiles::kMaxWords;
/// Longer segments are processed in a loop over chunks.
constexpr int64_t kMaxChunks = 2;

class ByteTiles : public ByteActivations {
public:
  ByteTiles(KernelBuilder &kb, const IntegerWeights &weights, Value x,
            const QuantizedRowLayout &row, const MatmulOutput &output)
      : ByteActivations(kb, weights, x, row, output), output(output), tiles(kb),
        lines(createKernelScratch(kb, MatrixTiles::kMaxWords * kLineBytes)),
        sums(createKernelScratch(kb, 2 * kSumBytes)) {}

  /// Whether all segments are whole, in whole words and lines.
  static bool canEmit(const IntegerMatrixLayout &layout,
                      const QuantizedRowLayout &row) {
    return row.padded == row.segment && layout.columns % row.segment == 0 &&
           layout.block() % row.segment == 0;
  }

  /// All row tiles of this worker, for groups of 16 tokens.
  void emit();

private:
  static constexpr int64_t kSumBytes = kTokens * kTileRows * 4;
  // The segments of a stretch alternate between two tiles of sums, so that one
  // is multiplied while the other is scaled.
  enum Tile { Sums, OtherSums, Chunk, ChunkLines, Rest, RestLines };

  SmallVector<Value> dot(const Segment &segment, int64_t tokens) override;
  /// Adds the products of `words`, at most 16, to the sums.
  void addChunk(Tile sums, const Words &words);
  /// The address of the lines of these words, as signed bytes or as stored.
  Value linesOf(const Words &words);
  bool isWhole() const { return layout.format.bits == 8; }

  MatmulOutput output;
  MatrixTiles tiles;
  Value lines, sums; ///< On the stack.
};

} // namespace

void ByteTiles::emit() {
  using Kind = MatrixTiles::Kind;
  int64_t segment = row.wordsPerSegment();
  int64_t rest = segment % MatrixTiles::kMaxWords;
  SmallVector<MatrixTiles::Shape> shapes{{Kind::Sums}, {Kind::Sums}, {}, {}};
  if (segment >= MatrixTiles::kMaxWords) {
    shapes[Chunk] = {Kind::Activations};
    shapes[ChunkLines] = {Kind::Weights};
  }
  if (rest > 0) {
    shapes.push_back({Kind::Activations, rest});
    shapes.push_back({Kind::Weights, rest});
  }
  tiles.configure(shapes, kb.index(kTokens));
  auto [first, last] = output.tiles ? *output.tiles : kb.tileRange();
  auto multiply = [&](Value tile, Value token) {
    SmallVector<Value> results = sumsAt(tile, token, kTokens);
    for (int64_t t = 0; t < kTokens; ++t) {
      Value row = kb.add(token, t);
      output.store(kb, results[t], row, kb.mul(tile, kTileRows));
    }
  };
  int64_t panel = MatrixTiles::panelTokens(rowStride(), kTokens);
  kb.loop(output.firstToken, output.endToken, kb.index(panel),
          [&, first = first, last = last](Value from) {
            Value end = kb.min(kb.add(from, panel), output.endToken);
            kb.loop(first, last, kb.index(1), [&](Value tile) {
              kb.loop(from, end, kb.index(kTokens),
                      [&](Value token) { multiply(tile, token); });
            });
          });
  tiles.release();
}

SmallVector<Value> ByteTiles::dot(const Segment &segment, int64_t tokens) {
  const Stretch &stretch = segment.stretch;
  int64_t number = segment.first / row.segment % 2;
  Tile tile = number == 0 ? Sums : OtherSums;
  tiles.zero(tile);
  Value word = kb.mul(segment.number, row.wordsPerSegment());
  int64_t chunks = segment.values / kChunkValues;
  int64_t rest = segment.values % kChunkValues / 4;
  // A segment that does not share lines.
  bool isAlone = segment.values == stretch.values;
  if (isAlone && chunks > kMaxChunks) {
    int64_t bytes = kChunkValues / layout.bundleValues() *
                    layout.bundleLines() * kLineBytes;
    auto wordsOf = [&](Value chunk, int64_t count) {
      return Words{{kb.add(stretch.lines.front(), kb.mul(chunk, bytes))},
                   0,
                   count,
                   kb.add(word, kb.mul(chunk, MatrixTiles::kMaxWords))};
    };
    kb.loop(0, chunks, 1, [&](Value chunk) {
      addChunk(tile, wordsOf(chunk, MatrixTiles::kMaxWords));
    });
    if (rest > 0)
      addChunk(tile, wordsOf(kb.index(chunks), rest));
  } else {
    for (int64_t w = 0; w < segment.values / 4; w += MatrixTiles::kMaxWords) {
      int64_t count = std::min(MatrixTiles::kMaxWords, segment.values / 4 - w);
      addChunk(tile,
               {stretch.lines, segment.first / 4 + w, count, kb.add(word, w)});
    }
  }
  Value area = kb.advance(sums, kb.index(number * kSumBytes));
  tiles.store(tile, area, kTileRows * 4);
  SmallVector<Value> results = startsOf(segment, tokens, /*bias=*/0);
  for (int64_t t = 0; t < tokens; ++t)
    results[t] = arith::AddIOp::create(
        kb, results[t],
        kb.loadAt(kb.i32x16(), area, kb.index(t * kTileRows * 4)));
  return results;
}

void ByteTiles::addChunk(Tile sums, const Words &words) {
  bool isRest = words.count < MatrixTiles::kMaxWords;
  Tile activations = isRest ? Rest : Chunk,
       lines = isRest ? RestLines : ChunkLines;
  tiles.load(lines, linesOf(words), kLineBytes);
  tiles.load(activations, kb.advance(x, kb.mul(words.column, 4)), rowStride());
  bool isUnsigned = isWhole() && !layout.format.isSigned();
  tiles.dotBytes(sums, activations, lines,
                 isUnsigned ? MatrixTiles::Weights::Unsigned
                            : MatrixTiles::Weights::Signed);
}

Value ByteTiles::linesOf(const Words &words) {
  Value start = words.lines.front();
  if (isWhole())
    return kb.advance(weights, kb.add(start, words.first * kLineBytes));
  IntegerLines stored = linesAt(start);
  Type bytes = kb.vec(kLineBytes, kb.getI8Type());
  for (int64_t w = 0; w < words.count; ++w) {
    Value line =
        vector::BitCastOp::create(kb, bytes, stored.bytes(words.first + w));
    if (int64_t bias = layout.format.storedBias())
      line = kb.sub(line, kb.intConstant(bytes, bias));
    kb.storeAt(line, lines, kb.index(w * kLineBytes));
  }
  return lines;
}

void emitByteTiles(KernelBuilder &kb, const IntegerWeights &weights, Value x,
                   const QuantizedRowLayout &row, const MatmulOutput &output) {
  MatmulOutput rest = output;
  if (ByteTiles::canEmit(weights.layout, row)) {
    Value count = kb.sub(output.endToken, output.firstToken);
    Value whole = kb.sub(count, kb.rem(count, kTokens));
    rest.firstToken = kb.add(output.firstToken, whole);
    MatmulOutput many = output;
    many.endToken = rest.firstToken;
    Value areMany =
        arith::CmpIOp::create(kb, arith::CmpIPredicate::ne, whole, kb.index(0));
    kb.when(areMany, [&] { ByteTiles(kb, weights, x, row, many).emit(); });
  }
  ByteActivations(kb, weights, x, row, rest).emit();
}

} // namespace llmir
