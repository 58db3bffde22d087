//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatmulTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace llmir {

/// How far a stream of weights is prefetched that every token of the step
/// meets at once: enough for the memory's latency at its bandwidth.
static constexpr int64_t kNearBytes = 4096;

/// Rows of x that a core's part of the third-level cache keeps while all
/// weights pass by. Smaller panels, for the second level, would have more
/// weights come from memory, with a miss of the TLB for each of their pages.
static constexpr int64_t kPanelBytes = 4 << 20;

/// A step of more tokens than that is bound by its products even if nothing
/// hides how the weights come from memory. Up to it, streams hide that.
static constexpr int64_t kStreamTokens = 64;

void MatmulTiles::emit() {
  auto [first, last] = kb.tileRange();
  int64_t streams = shapes.rowTiles.front(), wide = panelTile().rowTiles;
  Value tokens = kb.sub(output.endToken, output.firstToken);
  Value areMany = arith::CmpIOp::create(kb, arith::CmpIPredicate::ugt, tokens,
                                        kb.index(kStreamTokens));
  Value areFew =
      arith::XOrIOp::create(kb, areMany, kb.intConstant(kb.getI1Type(), 1));
  Value tiles = kb.sub(last, first);
  Value groups = kb.div(tiles, wide), stride = kb.div(tiles, streams);
  kb.when(areMany, [&, first = first] { emitPanels(first, groups); });
  kb.when(areFew, [&, first = first] { emitStreams(first, stride); });
  if (wide == 1 && streams == 1)
    return;
  Value ofPanels = kb.mul(groups, wide), ofStreams = kb.mul(stride, streams);
  Value used = arith::SelectOp::create(kb, areMany, ofPanels, ofStreams);
  kb.loop(kb.add(first, used), last, kb.index(1),
          [&](Value tile) { emitRest(tile); });
}

RegisterTile MatmulTiles::panelTile() const {
  auto largest = static_cast<int64_t>(shapes.rowTiles.size());
  int64_t tokens = shapes.many ? shapes.many : largest;
  return {shapes.rowTiles[tokens - 1], tokens};
}

void MatmulTiles::emitPanels(Value first, Value groups) {
  RegisterTile shape = panelTile();
  // Register tiles of a panel, at most and, as panels are shared out evenly, at
  // least; and the tokens of one of them where so few share the least tokens
  // that they can have.
  int64_t most =
      std::max<int64_t>(kPanelBytes / (shapes.rowBytes * shape.tokens), 2);
  int64_t fewest = std::min(ceilDiv(kStreamTokens + 1, shape.tokens), most / 2);
  int64_t least = ((fewest - 1) * shape.tokens + 1) / fewest;
  Value count = kb.sub(output.endToken, output.firstToken);
  Value passes = kb.div(kb.add(count, shape.tokens - 1), shape.tokens);
  Value panels = kb.div(kb.add(passes, most - 1), most);
  auto boundary = [&](Value number) {
    Value before = kb.div(kb.mul(passes, number), panels);
    return kb.add(output.firstToken,
                  kb.min(kb.mul(before, shape.tokens), count));
  };
  kb.loop(kb.index(0), panels, kb.index(1), [&](Value panel) {
    TokenDeal deal =
        dealOut(boundary(panel), boundary(kb.add(panel, 1)), shape.tokens);
    kb.loop(kb.index(0), groups, kb.index(1), [&](Value group) {
      Value tile = kb.add(first, kb.mul(group, shape.rowTiles));
      SmallVector<Value> tiles;
      for (int64_t r = 0; r < shape.rowTiles; ++r)
        tiles.push_back(kb.add(tile, r));
      overTokens(deal, least, shape.tokens, [&](Value token, int64_t tokens) {
        emitTile(tiles, token, tokens);
      });
    });
  });
}

void MatmulTiles::emitStreams(Value first, Value stride) {
  auto largest = static_cast<int64_t>(shapes.rowTiles.size());
  Value tokens = kb.sub(output.endToken, output.firstToken);
  // Where tokens take several register tiles, all but the first one find the
  // weights in a cache, and memory can bring the next tile's meanwhile.
  Value inOnePass = arith::CmpIOp::create(kb, arith::CmpIPredicate::ule, tokens,
                                          kb.index(largest));
  ahead = arith::SelectOp::create(kb, inOnePass, kb.index(kNearBytes),
                                  kb.index(shapes.tileBytes));
  TokenDeal deal = dealOut(output.firstToken, output.endToken, largest);
  kb.loop(first, kb.add(first, stride), kb.index(1), [&](Value tile) {
    overTokens(deal, 1, largest, [&](Value token, int64_t tokens) {
      emitGroup(tile, stride, token, tokens);
    });
  });
  ahead = Value();
}

MatmulTiles::TokenDeal MatmulTiles::dealOut(Value first, Value end,
                                            int64_t most) {
  Value count = kb.sub(end, first);
  Value passes = kb.div(kb.add(count, most - 1), most);
  Value atLeastOne = arith::MaxUIOp::create(kb, passes, kb.index(1));
  Value size = kb.div(count, atLeastOne);
  Value longer = kb.sub(count, kb.mul(size, passes));
  return {first, kb.add(first, kb.mul(longer, kb.add(size, 1))), end, size};
}

void MatmulTiles::overTokens(const TokenDeal &deal, int64_t least, int64_t most,
                             llvm::function_ref<void(Value, int64_t)> body) {
  auto sizeIs = [&](int64_t tokens) {
    return arith::CmpIOp::create(kb, arith::CmpIPredicate::eq, deal.size,
                                 kb.index(tokens));
  };
  for (int64_t tokens = most; tokens >= least; --tokens) {
    Value begin = arith::SelectOp::create(kb, sizeIs(tokens - 1), deal.first,
                                          deal.middle);
    Value end =
        arith::SelectOp::create(kb, sizeIs(tokens), deal.end, deal.middle);
    kb.loop(begin, end, kb.index(tokens),
            [&](Value token) { body(token, tokens); });
  }
}

void MatmulTiles::emitGroup(Value from, Value stride, Value token,
                            int64_t tokens) {
  int64_t streams = shapes.rowTiles.front();
  int64_t held = shapes.rowTiles[tokens - 1];
  auto emitHeld = [&](Value stream) {
    SmallVector<Value> tiles;
    for (int64_t r = 0; r < held; ++r)
      tiles.push_back(kb.add(from, kb.mul(kb.add(stream, r), stride)));
    emitTile(tiles, token, tokens);
  };
  if (held == streams)
    return emitHeld(kb.index(0));
  kb.loop(0, streams, held, emitHeld);
}

void MatmulTiles::emitRest(Value tile) {
  int64_t most = shapes.rowTiles.size();
  Value count = kb.sub(output.endToken, output.firstToken);
  Value whole = kb.sub(output.endToken, kb.rem(count, most));
  auto overTokens = [&](Value from, Value end, int64_t tokens) {
    kb.loop(from, end, kb.index(tokens),
            [&](Value token) { emitTile(tile, token, tokens); });
  };
  overTokens(output.firstToken, whole, most);
  if (most > 1)
    overTokens(whole, output.endToken, 1);
}

void MatmulTiles::emitTile(ArrayRef<Value> tiles, Value token, int64_t tokens) {
  prefetchOperands(tiles, token, tokens);
  storeTile(tiles, token, tokens, emitSums(tiles, token, tokens));
}

void MatmulTiles::prefetchOperands(ArrayRef<Value> tiles, Value token,
                                   int64_t tokens) {
  for (Value rows : output.read)
    for (Value tile : tiles)
      for (int64_t t = 0; t < tokens; ++t)
        memref::PrefetchOp::create(
            kb, rows, ValueRange{kb.add(token, t), kb.mul(tile, kTileRows)},
            /*isWrite=*/false, /*localityHint=*/3, /*isDataCache=*/true);
}

void MatmulTiles::prefetchBehind(Value weights, Value offset) {
  if (!ahead)
    return;
  memref::PrefetchOp::create(kb, weights, kb.add(offset, ahead),
                             /*isWrite=*/false, /*localityHint=*/3,
                             /*isDataCache=*/true);
}

void MatmulTiles::storeTile(ArrayRef<Value> tiles, Value token, int64_t tokens,
                            ValueRange sums) {
  for (size_t i = 0; i < sums.size(); ++i) {
    Value column = kb.mul(tiles[static_cast<int64_t>(i) / tokens], kTileRows);
    Value row = kb.add(token, static_cast<int64_t>(i) % tokens);
    output.store(kb, sums[i], row, column);
  }
}

void overExperts(KernelBuilder &kb, kernel::MoELinearOp op, int64_t matrixBytes,
                 llvm::function_ref<void(Value, MatmulOutput)> body) {
  Value offsets = kb.argument(op.getOffsetsMutable());
  Value weight = kb.argument(op.getWeightMutable());
  Value out = kb.argument(op.getOutMutable());
  // Whatever the list says, rows are those of the buffers.
  Value rows = kb.index(std::min(op.getX().getType().getDimSize(0),
                                 op.getOut().getType().getDimSize(0)));
  auto offset = [&](Value expert) {
    return kb.min(kb.toIndex(kb.load(offsets, {kb.index(0), expert})), rows);
  };
  kb.loop(0, op.getExperts(), 1, [&](Value expert) {
    Value matrix = memref::SubViewOp::create(
        kb, weight, ArrayRef<OpFoldResult>{kb.mul(expert, matrixBytes)},
        ArrayRef<OpFoldResult>{kb.getIndexAttr(matrixBytes)},
        ArrayRef<OpFoldResult>{kb.getIndexAttr(1)});
    Value end = offset(kb.add(expert, 1));
    MatmulOutput output{out, Value(), kb.min(offset(expert), end), end};
    body(matrix, output);
  });
}

} // namespace llmir
