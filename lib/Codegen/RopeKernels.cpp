//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rotary position embedding. The angles of the step's positions are computed
// once, in f64, because f32 loses the fraction of a large angle; the rotation
// of each head then only loads cosines and sines.
//
//===----------------------------------------------------------------------===//

#include "Emitters.h"

#include "llmir/Dialect/MLLM/ScalarFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace llmir {

void emitRopeAngles(KernelBuilder &kb, const RopeAnglesSpec &spec) {
  constexpr int64_t chunk = 8; // f64 lanes at a time.
  Value cosines = kb.buffer(0), sines = kb.buffer(1);
  auto [first, last] = kb.share(kb.rowCount(RowSpace::Tokens));
  kb.loop(first, last, kb.index(1), [&](Value token) {
    Value position = kb.contextArray(StepField::positions, token);
    Value p = arith::SIToFPOp::create(
        kb, kb.getF64Type(),
        arith::IndexCastOp::create(kb, kb.getI64Type(), position));
    ArrayRef<double> rest(spec.frequencies);
    for (int64_t i = 0; !rest.empty(); i += chunk) {
      ArrayRef<double> part = rest.take_front(chunk);
      rest = rest.drop_front(part.size());
      VectorType f64 = kb.vec(part.size(), kb.getF64Type());
      VectorType f32 = kb.vec(part.size(), kb.getF32Type());
      Value frequencies =
          arith::ConstantOp::create(kb, DenseElementsAttr::get(f64, part));
      auto [c, s] = mllm::program::emitCosSin(
          kb, kb.getLoc(), kb.mulf(kb.broadcast(p, part.size()), frequencies));
      Value scaling = kb.floatConstant(f64, spec.scaling);
      auto narrow = [&](Value v) -> Value {
        return arith::TruncFOp::create(kb, f32, kb.mulf(v, scaling));
      };
      kb.storeVector(narrow(c), cosines, {token, kb.index(i)});
      kb.storeVector(narrow(s), sines, {token, kb.index(i)});
    }
  });
}

namespace {
/// `lanes` numbers of each side of the rotation.
struct Sides {
  Value first, second;
};
} // namespace

/// Entries `i` on of both halves of the rotary dimension.
static Sides loadHalves(KernelBuilder &kb, const RopeSpec &spec, Value token,
                        Value base, Value i, int64_t lanes) {
  Value x = kb.buffer(2), low = kb.add(base, i);
  return {kb.loadVector(x, {token, low}, lanes),
          kb.loadVector(x, {token, kb.add(low, spec.rotaryDim / 2)}, lanes)};
}

static void storeHalves(KernelBuilder &kb, const RopeSpec &spec, Value token,
                        Value base, Value i, Sides y) {
  Value out = kb.buffer(3), low = kb.add(base, i);
  kb.storeVector(y.first, out, {token, low});
  kb.storeVector(y.second, out, {token, kb.add(low, spec.rotaryDim / 2)});
}

/// Pairs `i` on: the entries in even and in odd places.
static Sides loadPairs(KernelBuilder &kb, Value token, Value base, Value i,
                       int64_t lanes) {
  Value both = kb.loadVector(kb.buffer(2), {token, kb.add(base, kb.mul(i, 2))},
                             2 * lanes);
  SmallVector<int64_t> even, odd;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    even.push_back(2 * lane);
    odd.push_back(2 * lane + 1);
  }
  return {vector::ShuffleOp::create(kb, both, both, even),
          vector::ShuffleOp::create(kb, both, both, odd)};
}

static void storePairs(KernelBuilder &kb, Value token, Value base, Value i,
                       int64_t lanes, Sides y) {
  SmallVector<int64_t> alternating;
  for (int64_t lane = 0; lane < lanes; ++lane)
    alternating.append({lane, lane + lanes});
  Value both = vector::ShuffleOp::create(kb, y.first, y.second, alternating);
  kb.storeVector(both, kb.buffer(3), {token, kb.add(base, kb.mul(i, 2))});
}

/// (a, b) becomes (a cos - b sin, b cos + a sin) for every a and b that the
/// spec pairs; what lies beyond the rotary dimension is copied.
static void rotateHead(KernelBuilder &kb, const RopeSpec &spec, Value token,
                       Value base) {
  Value cosines = kb.buffer(0), sines = kb.buffer(1);
  Value x = kb.buffer(2), out = kb.buffer(3);
  kb.vectorLoop(spec.rotaryDim / 2, [&](Value i, int64_t lanes) {
    auto [a, b] = spec.halves ? loadHalves(kb, spec, token, base, i, lanes)
                              : loadPairs(kb, token, base, i, lanes);
    Value c = kb.loadVector(cosines, {token, i}, lanes);
    Value s = kb.loadVector(sines, {token, i}, lanes);
    Sides y{kb.subf(kb.mulf(a, c), kb.mulf(b, s)), kb.fma(b, c, kb.mulf(a, s))};
    if (spec.halves)
      storeHalves(kb, spec, token, base, i, y);
    else
      storePairs(kb, token, base, i, lanes, y);
  });
  int64_t rest = spec.headDim - spec.rotaryDim;
  kb.vectorLoop(rest, [&](Value i, int64_t lanes) {
    Value column = kb.add(base, kb.add(i, spec.rotaryDim));
    kb.storeVector(kb.loadVector(x, {token, column}, lanes), out,
                   {token, column});
  });
}

void emitRope(KernelBuilder &kb, const RopeSpec &spec) {
  auto [first, last] = kb.shareHeads(spec.heads, spec.headDim);
  kb.loop(kb.index(0), kb.rowCount(RowSpace::Tokens), kb.index(1),
          [&, first = first, last = last](Value token) {
            kb.loop(first, last, kb.index(1), [&](Value head) {
              rotateHead(kb, spec, token, kb.mul(head, spec.headDim));
              kb.zeroPaddingBehindHeads(kb.buffer(3), token, head, spec.heads,
                                        spec.headDim);
            });
          });
}

} // namespace llmir
