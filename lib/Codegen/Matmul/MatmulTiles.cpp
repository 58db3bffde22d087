//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatmulTiles.h"
#include "MatrixTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace llmir {

/// Prefetch distance of a stream of weights that is multiplied by all tokens of
/// the step at once: covers the memory latency at full bandwidth.
static constexpr int64_t kNearBytes = 4096;

/// Size of the rows of x that stay in a core's share of the L3 cache while all
/// weights are streamed. Smaller panels, sized for the L2 cache, would read the
/// weights from memory more often, with a TLB miss for each page.
static constexpr int64_t kPanelBytes = 4 << 20;

/// A step of more tokens is compute-bound even if the latency of reading
/// weights is not hidden. For fewer tokens, streams hide it.
static constexpr int64_t kStreamTokens = 64;

int64_t rowStrideOf(Value rows) {
  auto [strides, offset] =
      cast<MemRefType>(rows.getType()).getStridesAndOffset();
  return strides.front() * 4;
}

void MatmulTiles::emit() {
  auto [first, last] = output.tiles ? *output.tiles : kb.tileRange();
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
  // The maximum number of register tiles of a panel; the minimum, since tokens
  // are divided evenly among panels; and the minimum number of tokens of a
  // register tile in the latter case.
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
    TokenTiling tiling =
        tileTokens(boundary(panel), boundary(kb.add(panel, 1)), shape.tokens);
    kb.loop(kb.index(0), groups, kb.index(1), [&](Value group) {
      Value tile = kb.add(first, kb.mul(group, shape.rowTiles));
      overTokens(tiling, [&](Value token, Value tokens) {
        emitGroup({tile, kb.index(1), shape.rowTiles}, token,
                  {tokens, least, shape.tokens});
      });
    });
  });
}

void MatmulTiles::emitStreams(Value first, Value stride) {
  auto largest = static_cast<int64_t>(shapes.rowTiles.size());
  Value tokens = kb.sub(output.endToken, output.firstToken);
  // If tokens take several register tiles, all but the first one find the
  // weights in a cache, and the next tile's weights can be prefetched
  // meanwhile.
  Value inOnePass = arith::CmpIOp::create(kb, arith::CmpIPredicate::ule, tokens,
                                          kb.index(largest));
  if (shapes.prefetches)
    ahead = arith::SelectOp::create(kb, inOnePass, kb.index(kNearBytes),
                                    kb.index(shapes.tileBytes));
  TokenTiling tiling = tileTokens(output.firstToken, output.endToken, largest);
  kb.loop(first, kb.add(first, stride), kb.index(1), [&](Value tile) {
    overTokens(tiling, [&](Value token, Value tokens) {
      emitGroup({tile, stride, shapes.rowTiles.front()}, token,
                {tokens, 1, largest});
    });
  });
  ahead = Value();
}

void MatmulTiles::emitRest(Value tile) {
  int64_t most = shapes.rowTiles.size();
  Value count = kb.sub(output.endToken, output.firstToken);
  Value whole = kb.sub(output.endToken, kb.rem(count, most));
  const TileGroup group{tile, kb.index(1), 1};
  auto overTokens = [&](Value from, Value end, int64_t tokens) {
    kb.loop(from, end, kb.index(tokens), [&](Value token) {
      emitGroup(group, token, {kb.index(tokens), tokens, tokens});
    });
  };
  overTokens(output.firstToken, whole, most);
  if (most > 1)
    overTokens(whole, output.endToken, 1);
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

MatmulTiles::TokenTiling MatmulTiles::tileTokens(Value first, Value end,
                                                 int64_t most) {
  Value count = kb.sub(end, first);
  Value passes = kb.div(kb.add(count, most - 1), most);
  Value atLeastOne = arith::MaxUIOp::create(kb, passes, kb.index(1));
  Value size = kb.div(count, atLeastOne);
  return {first, size, kb.sub(count, kb.mul(size, passes)), passes};
}

void MatmulTiles::overTokens(const TokenTiling &tiling,
                             llvm::function_ref<void(Value, Value)> body) {
  kb.loop(kb.index(0), tiling.passes, kb.index(1), [&](Value pass) {
    Value before = kb.mul(pass, tiling.size);
    before = kb.add(before, kb.min(pass, tiling.longer));
    Value isLonger = arith::CmpIOp::create(kb, arith::CmpIPredicate::ult, pass,
                                           tiling.longer);
    Value tokens = arith::SelectOp::create(kb, isLonger, kb.add(tiling.size, 1),
                                           tiling.size);
    body(kb.add(tiling.first, before), tokens);
  });
}

//===----------------------------------------------------------------------===//
// Groups of row tiles
//===----------------------------------------------------------------------===//

void MatmulTiles::emitGroup(const TileGroup &group, Value token,
                            const TokenCount &tokens) {
  prefetchOperands(group, token, tokens.count);
  SumPlace place = placeOfSums(group, token);
  kb.select(tokens.count, tokens.least, tokens.most,
            [&](int64_t count) { callTiles(group, token, count, place); });
  if (!output.isPlain())
    storeGroup(group, token, tokens.count, place);
}

MatmulTiles::SumPlace MatmulTiles::placeOfSums(const TileGroup &group,
                                               Value token) {
  constexpr int64_t sumBytes = kTileRows * 4;
  if (output.isPlain()) {
    int64_t rowBytes = rowStrideOf(output.y);
    return {addressOf(kb, output.y, {token, kb.mul(group.first, kTileRows)}),
            kb.mul(group.stride, sumBytes), kb.index(rowBytes)};
  }
  auto mostTokens = static_cast<int64_t>(shapes.rowTiles.size());
  if (!scratch)
    scratch = createKernelScratch(kb, shapes.rowTiles.front() * mostTokens *
                                          sumBytes);
  return {scratch, kb.index(mostTokens * sumBytes), kb.index(sumBytes)};
}

void MatmulTiles::callTiles(const TileGroup &group, Value token, int64_t tokens,
                            const SumPlace &place) {
  int64_t held = std::min(group.count, shapes.rowTiles[tokens - 1]);
  std::string key = tileKey() + "_" + std::to_string(rowStride()) + "_" +
                    std::to_string(held) + "x" + std::to_string(tokens);
  SmallVector<Value> arguments{Value(),
                               kb.mul(group.stride, shapes.tileBytes),
                               addressOf(kb, operands.x, {token, kb.index(0)}),
                               Value(),
                               place.tileBytes,
                               place.tokenBytes};
  if (ahead) {
    key += "_ahead";
    arguments.push_back(ahead);
  }
  for (int64_t r = 0; r < group.count; r += held) {
    Value tile = kb.add(group.first, kb.mul(group.stride, r));
    arguments[0] =
        addressOf(kb, operands.weights, kb.mul(tile, shapes.tileBytes));
    arguments[3] = kb.advance(place.address, kb.mul(place.tileBytes, r));
    kb.callShared(key, arguments,
                  [&](ValueRange inner) { emitTile(inner, held, tokens); });
  }
}

void MatmulTiles::emitTile(ValueRange arguments, int64_t rowTiles,
                           int64_t tokens) {
  llvm::SaveAndRestore outerAhead(ahead, ahead ? arguments.back() : Value());
  weights = arguments[0];
  x = arguments[2];
  SmallVector<Value> starts;
  for (int64_t r = 0; r < rowTiles; ++r)
    starts.push_back(kb.mul(arguments[1], r));
  for (auto [i, sum] : llvm::enumerate(emitSums(starts, tokens))) {
    auto r = static_cast<int64_t>(i) / tokens,
         t = static_cast<int64_t>(i) % tokens;
    Value place = kb.mul(arguments[4], r);
    kb.storeAt(sum, arguments[3], kb.add(place, kb.mul(arguments[5], t)));
  }
}

SmallVector<Value> MatmulTiles::sumsAt(Value tile, Value token,
                                       int64_t tokens) {
  weights = addressOf(kb, operands.weights, kb.mul(tile, shapes.tileBytes));
  x = addressOf(kb, operands.x, {token, kb.index(0)});
  return emitSums(kb.index(0), tokens);
}

void MatmulTiles::overGroup(const TileGroup &group, Value tokens,
                            llvm::function_ref<void(Value, Value)> body) {
  kb.rolledLoop(kb.index(0), kb.index(group.count), [&](Value r) {
    kb.rolledLoop(kb.index(0), tokens, [&](Value t) { body(r, t); });
  });
}

void MatmulTiles::prefetchOperands(const TileGroup &group, Value token,
                                   Value tokens) {
  if (output.read.empty())
    return;
  overGroup(group, tokens, [&](Value r, Value t) {
    Value tile = kb.add(group.first, kb.mul(r, group.stride));
    for (Value rows : output.read)
      memref::PrefetchOp::create(
          kb, rows, ValueRange{kb.add(token, t), kb.mul(tile, kTileRows)},
          /*isWrite=*/false, /*localityHint=*/3, /*isDataCache=*/true);
  });
}

void MatmulTiles::storeGroup(const TileGroup &group, Value token, Value tokens,
                             const SumPlace &place) {
  overGroup(group, tokens, [&](Value r, Value t) {
    Value bytes = kb.mul(r, place.tileBytes);
    bytes = kb.add(bytes, kb.mul(t, place.tokenBytes));
    Value sum = kb.loadAt(kb.f32x16(), place.address, bytes);
    Value tile = kb.add(group.first, kb.mul(r, group.stride));
    Value row = kb.add(token, t);
    output.store(kb, sum, row, kb.mul(tile, kTileRows));
  });
}

//===----------------------------------------------------------------------===//
// Operands of register tiles
//===----------------------------------------------------------------------===//

void MatmulTiles::prefetchAfter(Value offset) {
  if (ahead)
    LLVM::Prefetch::create(kb, kb.advance(weights, kb.add(offset, ahead)),
                           /*rw=*/0, /*hint=*/3, /*cache=*/1);
}

int64_t MatmulTiles::rowStride() const { return rowStrideOf(operands.x); }

Value MatmulTiles::loadX(Type type, int64_t t, Value column) {
  return kb.loadAt(type, x, kb.add(kb.mul(column, 4), t * rowStride()));
}

/// Adds the bias of an expert, a packed matrix of one column: each line has a
/// word for each of 16 rows.
static std::function<Value(Value, Value, Value)>
addingBias(KernelBuilder &kb, kernel::MoELinearOp op, Value expert) {
  StringRef name = *op.getBiasFormat();
  TensorFormat format =
      *tensorFormatFromName(std::string_view(name.data(), name.size()));
  const PackedMatrixLayout layout{format, static_cast<int64_t>(op.getRows()),
                                  /*columns=*/1};
  Value bias = kb.argument(op.getBiasMutable());
  Value first = kb.mul(expert, layout.bytes());
  return [&kb, bias, first, format](Value sum, Value, Value column) {
    Value bytes = kb.loadAt(
        kb.vec(kLineBytes, kb.getI8Type()), addressOf(kb, bias, kb.index(0)),
        kb.add(first, kb.mul(column, kLineBytes / kTileRows)));
    Value line = vector::BitCastOp::create(kb, kb.i32x16(), bytes);
    return kb.addf(sum, decodeWords(kb, format, line).front());
  };
}

void overExperts(KernelBuilder &kb, kernel::MoELinearOp op, int64_t matrixBytes,
                 llvm::function_ref<void(Value, MatmulOutput)> body) {
  Value offsets = kb.argument(op.getOffsetsMutable());
  Value weight = kb.argument(op.getWeightMutable());
  Value out = kb.argument(op.getOutMutable());
  // Clamp to valid rows, whatever the list contains.
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
    if (op.getBias())
      output.epilogue = addingBias(kb, op, expert);
    body(matrix, output);
  });
}

} // namespace llmir
