//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels of a mixture of experts. Only routed (token, expert) pairs are
// computed: pairs are sorted by expert, and the place of a pair in this order
// is the row of its activations. A token's results are summed in ascending
// order of places, that is, of experts.
//
//===----------------------------------------------------------------------===//

#include "../Common/Emitters.h"

#include "llmir/Dialect/MLLM/ScalarFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <limits>

using namespace mlir;

namespace llmir {

static Value compare(KernelBuilder &kb, arith::CmpFPredicate predicate, Value a,
                     Value b) {
  return arith::CmpFOp::create(kb, predicate, a, b);
}
static Value compare(KernelBuilder &kb, arith::CmpIPredicate predicate, Value a,
                     Value b) {
  return arith::CmpIOp::create(kb, predicate, a, b);
}
static Value select(KernelBuilder &kb, Value condition, Value a, Value b) {
  return arith::SelectOp::create(kb, condition, a, b);
}

//===----------------------------------------------------------------------===//
// Routing
//===----------------------------------------------------------------------===//

namespace {
/// An expert and its logit.
struct Choice {
  Value logit, expert;
};
} // namespace

/// The expert of the row that follows `last` in the order of descending logits;
/// of equal logits, the lower expert comes first.
static Choice nextChoice(KernelBuilder &kb, Value logits, int64_t experts,
                         Value row, Choice last) {
  Value none = kb.index(-1);
  SmallVector<Value> best = kb.reduce(
      kb.index(0), kb.index(experts), 1, {last.logit, none},
      [&](Value expert, ValueRange carried) -> SmallVector<Value> {
        Value logit = kb.load(logits, {row, expert});
        // Experts are visited in ascending order: one equal to the best so far
        // is not better, and one equal to the last choice but after it is not
        // chosen yet.
        Value less = compare(kb, arith::CmpFPredicate::OLT, logit, last.logit);
        Value equal = compare(kb, arith::CmpFPredicate::OEQ, logit, last.logit);
        Value later =
            compare(kb, arith::CmpIPredicate::sgt, expert, last.expert);
        Value free = arith::OrIOp::create(
            kb, less, arith::AndIOp::create(kb, equal, later));
        Value greater =
            compare(kb, arith::CmpFPredicate::OGT, logit, carried[0]);
        Value better = arith::OrIOp::create(
            kb, greater,
            compare(kb, arith::CmpIPredicate::eq, carried[1], none));
        Value chosen = arith::AndIOp::create(kb, free, better);
        return {select(kb, chosen, logit, carried[0]),
                select(kb, chosen, expert, carried[1])};
      });
  // If only NaN is left, any expert may be chosen: its weight is NaN.
  Value found = compare(kb, arith::CmpIPredicate::ne, best[1], none);
  return {best[0], select(kb, found, best[1], kb.index(0))};
}

/// The maximum logit of a row, and the sum of the exponentials relative to it.
static std::pair<Value, Value> softmaxParts(KernelBuilder &kb, Value logits,
                                            int64_t experts, Value row) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Value most =
      kb.reduce(kb.index(0), kb.index(experts), 1, kb.f32(-infinity),
                [&](Value expert, ValueRange carried) -> SmallVector<Value> {
                  return {kb.maxf(kb.load(logits, {row, expert}), carried[0])};
                })
          .front();
  Value sum =
      kb.reduce(kb.index(0), kb.index(experts), 1, kb.f32(0.0),
                [&](Value expert, ValueRange carried) -> SmallVector<Value> {
                  Value shifted = kb.subf(kb.load(logits, {row, expert}), most);
                  return {
                      kb.addf(carried[0], math::ExpOp::create(kb, shifted))};
                })
          .front();
  return {most, sum};
}

static LogicalResult emitMoERoute(KernelBuilder &kb, kernel::MoERouteOp op) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Value logits = kb.argument(op.getLogitsMutable());
  Value weights = kb.argument(op.getWeightsMutable());
  Value chosen = kb.argument(op.getChosenMutable());
  int64_t experts = op.getExperts(), topK = op.getTopK();
  auto [first, last] = kb.rowRange();
  kb.loop(first, last, kb.index(1), [&](Value row) {
    Value most, sum;
    if (!op.getSigmoid())
      std::tie(most, sum) = softmaxParts(kb, logits, experts, row);
    Choice start{kb.f32(infinity), kb.index(-1)};
    SmallVector<Value> end = kb.reduce(
        kb.index(0), kb.index(topK), 1,
        {start.logit, start.expert, kb.f32(0.0)},
        [&](Value i, ValueRange carried) -> SmallVector<Value> {
          Choice choice =
              nextChoice(kb, logits, experts, row, {carried[0], carried[1]});
          Value logit = kb.load(logits, {row, choice.expert});
          Value score;
          if (op.getSigmoid()) {
            Value e = math::ExpOp::create(kb, kb.subf(kb.f32(0.0), logit));
            score = kb.divf(kb.f32(1.0), kb.addf(kb.f32(1.0), e));
          } else {
            score = kb.divf(math::ExpOp::create(kb, kb.subf(logit, most)), sum);
          }
          kb.store(score, weights, {row, i});
          kb.store(
              arith::IndexCastOp::create(kb, kb.getI32Type(), choice.expert),
              chosen, {row, i});
          return {choice.logit, choice.expert, kb.addf(carried[2], score)};
        });
    if (op.getNormalize())
      kb.loop(0, topK, 1, [&](Value i) {
        Value score = kb.load(weights, {row, i});
        kb.store(kb.divf(score, end[2]), weights, {row, i});
      });
    kb.zeroPadding(weights, row, topK);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// Element `i` of a buffer with one row of i32.
static Value entry(KernelBuilder &kb, Value buffer, Value i) {
  return kb.toIndex(kb.load(buffer, {kb.index(0), i}));
}
static void setEntry(KernelBuilder &kb, Value buffer, Value i, Value value) {
  kb.store(arith::IndexCastOp::create(kb, kb.getI32Type(), value), buffer,
           {kb.index(0), i});
}

static Value pairCount(KernelBuilder &kb, int64_t topK) {
  return kb.mul(kb.rowCount(), topK);
}

static LogicalResult emitMoESort(KernelBuilder &kb, kernel::MoESortOp op) {
  Value chosen = kb.argument(op.getChosenMutable());
  Value offsets = kb.argument(op.getOffsetsMutable());
  Value pairs = kb.argument(op.getPairsMutable());
  Value places = kb.argument(op.getPlacesMutable());
  int64_t experts = op.getExperts(), topK = op.getTopK();
  // One count more than experts: invalid expert ids are counted there, after
  // all others, and their pairs have place -1.
  Value none = kb.index(experts);
  Value next = memref::AllocaOp::create(
      kb, MemRefType::get({1, experts + 1}, kb.getI32Type()));
  kb.onFirstWorker([&] {
    Value count = pairCount(kb, topK);
    auto expertOf = [&](Value pair) {
      Value e =
          kb.toIndex(kb.load(chosen, {kb.div(pair, topK), kb.rem(pair, topK)}));
      return kb.min(e, none); // Negative ids are large as unsigned integers.
    };
    // The number of pairs of each expert, then its first place.
    kb.loop(0, experts + 1, 1,
            [&](Value e) { setEntry(kb, next, e, kb.index(0)); });
    kb.loop(kb.index(0), count, kb.index(1), [&](Value pair) {
      Value e = expertOf(pair);
      setEntry(kb, next, e, kb.add(entry(kb, next, e), 1));
    });
    kb.reduce(kb.index(0), kb.index(experts + 1), 1, kb.index(0),
              [&](Value e, ValueRange carried) -> SmallVector<Value> {
                Value size = entry(kb, next, e);
                setEntry(kb, offsets, e, carried[0]);
                setEntry(kb, next, e, carried[0]);
                return {kb.add(carried[0], size)};
              });
    kb.loop(kb.index(0), count, kb.index(1), [&](Value pair) {
      Value e = expertOf(pair);
      Value place = entry(kb, next, e);
      setEntry(kb, next, e, kb.add(place, 1));
      setEntry(kb, pairs, place, pair);
      Value isNone = compare(kb, arith::CmpIPredicate::eq, e, none);
      setEntry(kb, places, pair, select(kb, isNone, kb.index(-1), place));
    });
  });
  return success();
}

static LogicalResult emitMoEGather(KernelBuilder &kb, kernel::MoEGatherOp op) {
  Value pairs = kb.argument(op.getPairsMutable());
  Value x = kb.argument(op.getXMutable());
  Value out = kb.argument(op.getOutMutable());
  int64_t columns = op.getColumns(), topK = op.getTopK();
  auto [first, last] = kb.rowRange();
  Value lastToken = kb.sub(kb.rowCount(), kb.index(1));
  kb.loop(first, last, kb.index(1), [&](Value place) {
    // Clamp to valid rows, whatever the list contains.
    Value token = kb.min(kb.div(entry(kb, pairs, place), topK), lastToken);
    kb.vectorLoop(columns, [&](Value k, int64_t lanes) {
      kb.storeVector(kb.loadVector(x, {token, k}, lanes), out, {place, k});
    });
    kb.zeroPadding(out, place, columns);
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Operations of experts other than matmuls
//===----------------------------------------------------------------------===//

/// silu(gate) * up, gelu(gate) * up, or the clamped SwiGLU. NaN is not clamped.
static Value gatedValue(KernelBuilder &kb, kernel::MoEGateOp op, Value gate,
                        Value up) {
  std::optional<APFloat> limit = op.getSwigluLimit();
  if (op.getGelu())
    return kb.mulf(mllm::program::emitGeluTanh(kb, kb.getLoc(), gate), up);
  if (!limit)
    return kb.mulf(mllm::program::emitSilu(kb, kb.getLoc(), gate), up);
  Type type = gate.getType();
  Value most = kb.floatConstant(type, limit->convertToDouble()),
        least = kb.floatConstant(type, -limit->convertToDouble());
  auto atMost = [&](Value x) {
    return select(kb, compare(kb, arith::CmpFPredicate::OGT, x, most), most, x);
  };
  up = select(kb, compare(kb, arith::CmpFPredicate::OLT, up, least), least,
              atMost(up));
  Value opened = mllm::program::emitGeluQuick(kb, kb.getLoc(), atMost(gate));
  return kb.mulf(opened, kb.addf(up, kb.floatConstant(type, 1.0)));
}

static LogicalResult emitMoEGate(KernelBuilder &kb, kernel::MoEGateOp op) {
  Value gate = kb.argument(op.getGateMutable());
  Value up = kb.argument(op.getUpMutable());
  Value out = kb.argument(op.getOutMutable());
  const bool rounded = op.getRounded();
  int64_t tiles = ceilDiv(op.getColumns(), kTileRows);
  auto [firstTile, lastTile] = kb.tileRange();
  // Whole tiles: both functions of zeros are 0, which keeps the padding zero.
  kb.loop(kb.index(0), pairCount(kb, op.getTopK()), kb.index(1),
          [&, first = firstTile, last = lastTile](Value place) {
            kb.loop(first, last, kb.index(1), [&](Value tile) {
              Value column = kb.mul(tile, kTileRows);
              Value g = kb.loadVector(gate, {place, column});
              Value u = kb.loadVector(up, {place, column});
              Value gated = gatedValue(kb, op, g, u);
              if (rounded) {
                gated = roundToWords(kb, gated);
                column = kb.div(column, 2);
              }
              kb.storeVector(gated, out, {place, column});
            });
            // The last tile may have half as many words.
            if (rounded)
              kb.when(
                  compare(kb, arith::CmpIPredicate::eq, last, kb.index(tiles)),
                  [&] { kb.zeroPadding(out, place, tiles * kTileRows / 2); });
          });
  return success();
}

/// The least place of the token's pairs greater than `last` (-1 for the first
/// one) and less than `none`, or else `none`; and its choice.
static std::pair<Value, Value> nextPlace(KernelBuilder &kb, Value places,
                                         int64_t topK, Value token, Value last,
                                         Value none) {
  SmallVector<Value> found = kb.reduce(
      kb.index(0), kb.index(topK), 1, {none, kb.index(0)},
      [&](Value i, ValueRange carried) -> SmallVector<Value> {
        Value place = entry(kb, places, kb.add(kb.mul(token, topK), i));
        Value later = compare(kb, arith::CmpIPredicate::sgt, place, last);
        Value better = arith::AndIOp::create(
            kb, later,
            compare(kb, arith::CmpIPredicate::slt, place, carried[0]));
        return {select(kb, better, place, carried[0]),
                select(kb, better, i, carried[1])};
      });
  return {found[0], found[1]};
}

static LogicalResult emitMoECombine(KernelBuilder &kb,
                                    kernel::MoECombineOp op) {
  Value places = kb.argument(op.getPlacesMutable());
  Value weights = kb.argument(op.getWeightsMutable());
  Value x = kb.argument(op.getXMutable());
  Value out = kb.argument(op.getOutMutable());
  int64_t columns = op.getColumns(), topK = op.getTopK();
  auto [first, last] = kb.rowRange();
  // Clamp to valid places, whatever the list contains.
  Value none = pairCount(kb, topK);
  kb.loop(first, last, kb.index(1), [&](Value token) {
    int64_t padded = cast<MemRefType>(out.getType()).getDimSize(1);
    kb.vectorLoop(padded, [&](Value k, int64_t lanes) {
      kb.storeVector(kb.floatConstant(kb.vec(lanes, kb.getF32Type()), 0.0), out,
                     {token, k});
    });
    kb.reduce(kb.index(0), kb.index(topK), 1, kb.index(-1),
              [&](Value, ValueRange carried) -> SmallVector<Value> {
                auto [place, choice] =
                    nextPlace(kb, places, topK, token, carried[0], none);
                Value isPlace =
                    compare(kb, arith::CmpIPredicate::ne, place, none);
                kb.when(isPlace, [&, place = place, choice = choice] {
                  Value weight = kb.load(weights, {token, choice});
                  kb.vectorLoop(columns, [&](Value k, int64_t lanes) {
                    Value sum = kb.loadVector(out, {token, k}, lanes);
                    Value y = kb.loadVector(x, {place, k}, lanes);
                    kb.storeVector(kb.fma(kb.broadcast(weight, lanes), y, sum),
                                   out, {token, k});
                  });
                });
                return {place};
              });
  });
  return success();
}

void addExpertEmitters(KernelEmitters &emitters) {
  emitters.add(emitMoERoute);
  emitters.add(emitMoESort);
  emitters.add(emitMoEGather);
  emitters.add(emitMoEGate);
  emitters.add(emitMoECombine);
}

} // namespace llmir
