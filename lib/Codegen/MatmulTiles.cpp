//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatmulTiles.h"

using namespace mlir;

namespace llmir {

void MatmulTiles::emit() {
  auto [first, last] = kb.share(kb.index(numTiles));
  int64_t rowTiles = std::max(gemm.rowTiles, gemv.rowTiles);
  Value count = kb.sub(last, first);
  Value whole = kb.add(first, kb.sub(count, kb.rem(count, rowTiles)));
  emitRowGroups(first, whole, rowTiles);
  if (rowTiles > 1)
    emitRowGroups(whole, last, 1);
}

void MatmulTiles::emitRowGroups(Value from, Value to, int64_t rowTiles) {
  kb.loop(from, to, kb.index(rowTiles), [&](Value group) {
    // A group may be wider than one of the tiles: then it takes several.
    auto emitGroup = [&](Value token, RegisterTile shape) {
      for (int64_t r = 0; r < rowTiles; r += shape.rowTiles) {
        Value tile = kb.add(group, r);
        int64_t held = std::min(shape.rowTiles, rowTiles - r);
        storeTile(tile, token, shape.tokens,
                  emitSums(tile, held, token, shape.tokens));
      }
    };
    Value count = kb.sub(output.endToken, output.firstToken);
    Value whole = kb.sub(output.endToken, kb.rem(count, gemm.tokens));
    kb.loop(output.firstToken, whole, kb.index(gemm.tokens),
            [&](Value token) { emitGroup(token, gemm); });
    kb.loop(whole, output.endToken, kb.index(1),
            [&](Value token) { emitGroup(token, gemv); });
  });
}

void MatmulTiles::storeTile(Value tile, Value token, int64_t tokens,
                            ValueRange sums) {
  for (size_t i = 0; i < sums.size(); ++i) {
    Value column =
        kb.mul(kb.add(tile, static_cast<int64_t>(i) / tokens), kTileRows);
    Value value = sums[i];
    if (output.bias)
      value = kb.addf(value, kb.loadVector(output.bias, column));
    kb.storeVector(value, output.y,
                   {kb.add(token, static_cast<int64_t>(i) % tokens), column});
  }
}

} // namespace llmir
