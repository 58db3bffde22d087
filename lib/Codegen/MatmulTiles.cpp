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

void MatmulTiles::emit() {
  auto [first, last] = kb.share(kb.index(shapes.numTiles), output.unit);
  int64_t streams = shapes.rowTiles.front();
  Value tokens = kb.sub(output.endToken, output.firstToken);
  // Where tokens take several register tiles, all but the first one find the
  // weights in a cache, and memory can bring the next tile's meanwhile.
  Value inOnePass = arith::CmpIOp::create(kb, arith::CmpIPredicate::ule, tokens,
                                          kb.index(shapes.rowTiles.size()));
  ahead = arith::SelectOp::create(kb, inOnePass, kb.index(kNearBytes),
                                  kb.index(shapes.tileBytes));
  Value stride = kb.div(kb.sub(last, first), streams);
  Value endOfFirst = kb.add(first, stride);
  kb.loop(first, endOfFirst, kb.index(1),
          [&](Value tile) { emitTokens(tile, stride); });
  if (streams > 1)
    kb.loop(kb.add(first, kb.mul(stride, streams)), last, kb.index(1),
            [&](Value tile) { emitRest(tile); });
}

void MatmulTiles::emitTokens(Value from, Value stride) {
  // As few register tiles as possible, of sizes that differ by one at most: no
  // token is left over alone. `longer` of them have one token more.
  int64_t largest = shapes.rowTiles.size();
  Value count = kb.sub(output.endToken, output.firstToken);
  Value most = kb.index(largest);
  if (shapes.many) {
    Value areMany = arith::CmpIOp::create(kb, arith::CmpIPredicate::ugt, count,
                                          kb.index(2 * largest));
    most = arith::SelectOp::create(kb, areMany, kb.index(shapes.many), most);
  }
  Value passes = kb.div(kb.sub(kb.add(count, most), kb.index(1)), most);
  Value atLeastOne = arith::MaxUIOp::create(kb, passes, kb.index(1));
  Value size = kb.div(count, atLeastOne);
  Value longer = kb.sub(count, kb.mul(size, passes));
  Value middle = kb.add(output.firstToken, kb.mul(longer, kb.add(size, 1)));
  auto sizeIs = [&](int64_t tokens) {
    return arith::CmpIOp::create(kb, arith::CmpIPredicate::eq, size,
                                 kb.index(tokens));
  };
  for (int64_t tokens = largest; tokens > 0; --tokens) {
    Value begin = arith::SelectOp::create(kb, sizeIs(tokens - 1),
                                          output.firstToken, middle);
    Value end =
        arith::SelectOp::create(kb, sizeIs(tokens), output.endToken, middle);
    kb.loop(begin, end, kb.index(tokens),
            [&](Value token) { emitGroup(from, stride, token, tokens); });
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
  memref::PrefetchOp::create(kb, weights, kb.add(offset, ahead),
                             /*isWrite=*/false, /*localityHint=*/3,
                             /*isDataCache=*/true);
}

void MatmulTiles::storeTile(ArrayRef<Value> tiles, Value token, int64_t tokens,
                            ValueRange sums) {
  for (size_t i = 0; i < sums.size(); ++i) {
    Value column = kb.mul(tiles[static_cast<int64_t>(i) / tokens], kTileRows);
    Value row = kb.add(token, static_cast<int64_t>(i) % tokens);
    Value value = sums[i];
    if (output.bias)
      value = kb.addf(value, kb.loadVector(output.bias, column));
    if (output.epilogue)
      value = output.epilogue(value, row, column);
    kb.storeVector(value, output.y, {row, column});
  }
}

void overExperts(KernelBuilder &kb, const MoELinearSpec &spec,
                 int64_t matrixBytes,
                 llvm::function_ref<void(Value, MatmulOutput)> body) {
  Value offsets = kb.buffer(0);
  auto offset = [&](Value expert) {
    return kb.toIndex(kb.load(offsets, {kb.index(0), expert}));
  };
  kb.loop(0, spec.experts, 1, [&](Value expert) {
    Value matrix = memref::SubViewOp::create(
        kb, kb.weight(0), ArrayRef<OpFoldResult>{kb.mul(expert, matrixBytes)},
        ArrayRef<OpFoldResult>{kb.getIndexAttr(matrixBytes)},
        ArrayRef<OpFoldResult>{kb.getIndexAttr(1)});
    MatmulOutput output{kb.buffer(2), Value(), offset(expert),
                        offset(kb.add(expert, 1))};
    body(matrix, output);
  });
}

} // namespace llmir
