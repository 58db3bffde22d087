//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// bf16 weights with matrix tiles (AMX): y = x W^T for any number of tokens.
//
// The rows of one tile are lines of weights as stored, the rows of the other
// one are 16 words each of up to 16 rows of x. tdpbf16ps sums up 32 values of K
// in two chains and adds this to an output: not the order of vdpbf16ps.
// Therefore a single token is also multiplied with tiles, of one row, so that
// results do not depend on the number of tokens.
//
//===----------------------------------------------------------------------===//

#include "MatmulTiles.h"
#include "MatrixTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace llmir {
namespace {

/// Tokens of a tile.
constexpr int64_t kTokens = MatrixTiles::kMaxTokens;
/// Row tiles that are read concurrently, each as its own stream.
constexpr int64_t kStreams = 4;

/// The shape of a register tile, in tiles.
struct TileBlock {
  int64_t rowTiles, tokenTiles;
  int64_t rest; ///< Words of K in the partial chunk at the end.

  int64_t numSums() const { return rowTiles * tokenTiles; }
  int64_t sums(int64_t r, int64_t t) const { return r * tokenTiles + t; }
  int64_t activations(int64_t t) const { return numSums() + t; }
  /// Independent products are interleaved if there are enough.
  int64_t weights(int64_t r) const {
    return numSums() + tokenTiles + r % numWeights();
  }
  int64_t restActivations(int64_t t) const {
    return MatrixTiles::kNumTiles - 1 - tokenTiles + t;
  }
  int64_t restWeights() const { return MatrixTiles::kNumTiles - 1; }
  int64_t numWeights() const {
    return MatrixTiles::kNumTiles - numSums() - tokenTiles -
           (rest > 0 ? tokenTiles + 1 : 0);
  }
  SmallVector<MatrixTiles::Shape> shapes() const;
};

class PlainTiles {
public:
  PlainTiles(KernelBuilder &kb, const PackedMatrixLayout &layout, Value weights,
             Value x, MatmulOutput output)
      : kb(kb), layout(layout), weights(weights), x(x),
        output(std::move(output)), tiles(kb),
        sums(createKernelScratch(kb, 4 * kSumBytes)) {}

  void emit();

private:
  static constexpr int64_t kSumBytes = kTokens * kTileRows * 4;

  /// Emits these row tiles for tokens [first, end).
  void emitTokens(ArrayRef<Value> rowTiles, Value first, Value end);
  /// Emits a register tile with `tokens` (an index) tokens in each of its
  /// tiles.
  void emitBlock(const TileBlock &block, ArrayRef<Value> rowTiles, Value token,
                 Value tokens);
  /// Adds at most 16 words of K from `word` on.
  void addWords(const TileBlock &block, ArrayRef<Value> starts, Value token,
                Value word, bool isRest);
  void storeSums(const TileBlock &block, ArrayRef<Value> rowTiles, Value token,
                 Value tokens);

  int64_t rowBytes() const { return rowStrideOf(x); }
  int64_t words() const { return layout.tileBytes() / kLineBytes; }
  int64_t rest() const { return words() % MatrixTiles::kMaxWords; }

  KernelBuilder &kb;
  const PackedMatrixLayout &layout;
  Value weights, x;
  MatmulOutput output;
  MatrixTiles tiles;
  Value sums; ///< On the stack.
};

} // namespace

SmallVector<MatrixTiles::Shape> TileBlock::shapes() const {
  using Kind = MatrixTiles::Kind;
  SmallVector<MatrixTiles::Shape> all(MatrixTiles::kNumTiles);
  for (int64_t i = 0; i < numSums(); ++i)
    all[i] = {Kind::Sums};
  for (int64_t i = 0; i < numWeights(); ++i)
    all[numSums() + tokenTiles + i] = {Kind::Weights};
  for (int64_t t = 0; t < tokenTiles; ++t) {
    all[activations(t)] = {Kind::Activations};
    if (rest > 0)
      all[restActivations(t)] = {Kind::Activations, rest};
  }
  if (rest > 0)
    all[restWeights()] = {Kind::Weights, rest};
  return all;
}

void PlainTiles::emit() {
  auto [first, last] = output.tiles ? *output.tiles : kb.tileRange();
  Value stride = kb.div(kb.sub(last, first), kStreams);
  int64_t panel = MatrixTiles::panelTokens(rowBytes(), 2 * kTokens);
  kb.loop(output.firstToken, output.endToken, kb.index(panel),
          [&, first = first, last = last](Value token) {
            Value end = kb.min(kb.add(token, panel), output.endToken);
            kb.loop(first, kb.add(first, stride), kb.index(1), [&](Value tile) {
              SmallVector<Value> group;
              for (int64_t stream = 0; stream < kStreams; ++stream)
                group.push_back(kb.add(tile, kb.mul(stride, stream)));
              emitTokens(group, token, end);
            });
            kb.loop(kb.add(first, kb.mul(stride, kStreams)), last, kb.index(1),
                    [&](Value tile) { emitTokens(tile, token, end); });
          });
  tiles.release();
}

void PlainTiles::emitTokens(ArrayRef<Value> rowTiles, Value first, Value end) {
  auto held = static_cast<int64_t>(rowTiles.size());
  // Two token tiles share a line, and two row tiles a row of x if there are
  // enough registers.
  TileBlock many{rest() == 0 && held > 1 ? 2 : 1, 2, rest()};
  TileBlock few{held, 1, rest()};
  const int64_t step = many.tokenTiles * kTokens;
  Value count = kb.sub(end, first);
  Value whole = kb.sub(count, kb.rem(count, step));
  Value middle = kb.add(first, whole);
  Value areMany =
      arith::CmpIOp::create(kb, arith::CmpIPredicate::ne, whole, kb.index(0));
  kb.when(areMany, [&] {
    tiles.configure(many.shapes(), kb.index(kTokens));
    kb.loop(first, middle, kb.index(step), [&](Value token) {
      for (int64_t r = 0; r < held; r += many.rowTiles)
        emitBlock(many, rowTiles.slice(r, many.rowTiles), token,
                  kb.index(kTokens));
    });
  });
  kb.loop(middle, end, kb.index(kTokens), [&](Value token) {
    Value tokens = kb.min(kb.sub(end, token), kb.index(kTokens));
    tiles.configure(few.shapes(), tokens);
    emitBlock(few, rowTiles, token, tokens);
  });
}

void PlainTiles::emitBlock(const TileBlock &block, ArrayRef<Value> rowTiles,
                           Value token, Value tokens) {
  for (int64_t i = 0; i < block.numSums(); ++i)
    tiles.zero(i);
  SmallVector<Value> starts;
  for (Value tile : rowTiles)
    starts.push_back(kb.mul(tile, layout.tileBytes()));
  int64_t whole = words() - rest();
  kb.loop(0, whole, MatrixTiles::kMaxWords, [&](Value word) {
    addWords(block, starts, token, word, /*isRest=*/false);
  });
  if (rest() > 0)
    addWords(block, starts, token, kb.index(whole), /*isRest=*/true);
  storeSums(block, rowTiles, token, tokens);
}

void PlainTiles::addWords(const TileBlock &block, ArrayRef<Value> starts,
                          Value token, Value word, bool isRest) {
  auto activations = [&](int64_t t) {
    return isRest ? block.restActivations(t) : block.activations(t);
  };
  for (int64_t t = 0; t < block.tokenTiles; ++t)
    tiles.load(activations(t),
               addressOf(kb, x, {kb.add(token, t * kTokens), word}),
               rowBytes());
  for (auto [r, start] : llvm::enumerate(starts)) {
    auto row = static_cast<int64_t>(r);
    int64_t lines = isRest ? block.restWeights() : block.weights(row);
    Value offset = kb.add(start, kb.mul(word, kLineBytes));
    tiles.load(lines, addressOf(kb, weights, offset), kLineBytes);
    for (int64_t t = 0; t < block.tokenTiles; ++t)
      tiles.dotBf16(block.sums(row, t), activations(t), lines);
  }
}

void PlainTiles::storeSums(const TileBlock &block, ArrayRef<Value> rowTiles,
                           Value token, Value tokens) {
  for (int64_t i = 0; i < block.numSums(); ++i)
    tiles.store(i, kb.advance(sums, kb.index(i * kSumBytes)), kTileRows * 4);
  kb.loop(kb.index(0), tokens, kb.index(1), [&](Value row) {
    Value at = kb.mul(row, kTileRows * 4);
    for (int64_t i = 0; i < block.numSums(); ++i) {
      Value sum = kb.loadAt(kb.f32x16(), sums, kb.add(at, i * kSumBytes));
      Value tile = rowTiles[i / block.tokenTiles];
      Value to = kb.add(token, kb.add(row, i % block.tokenTiles * kTokens));
      output.store(kb, sum, to, kb.mul(tile, kTileRows));
    }
  });
}

void emitPlainTiles(KernelBuilder &kb, const PackedMatrixLayout &layout,
                    Value weights, Value x, const MatmulOutput &output) {
  PlainTiles(kb, layout, weights, x, output).emit();
}

} // namespace llmir
