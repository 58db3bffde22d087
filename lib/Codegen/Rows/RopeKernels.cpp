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

#include "../Common/Emitters.h"

#include "llmir/Dialect/MLLM/ScalarFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace llmir {

static LogicalResult emitRopeAngles(KernelBuilder &kb,
                                    kernel::RopeAnglesOp op) {
  constexpr int64_t chunk = 8; // Number of f64 lanes per iteration.
  Value cosines = kb.argument(op.getCosinesMutable());
  Value sines = kb.argument(op.getSinesMutable());
  auto [first, last] = kb.rowRange();
  kb.loop(first, last, kb.index(1), [&](Value token) {
    Value position = kb.contextArray(StepField::positions, token);
    Value p = arith::SIToFPOp::create(
        kb, kb.getF64Type(),
        arith::IndexCastOp::create(kb, kb.getI64Type(), position));
    ArrayRef<double> rest = op.getFrequencies();
    for (int64_t i = 0; !rest.empty(); i += chunk) {
      ArrayRef<double> part = rest.take_front(chunk);
      rest = rest.drop_front(part.size());
      VectorType f64 = kb.vec(part.size(), kb.getF64Type());
      VectorType f32 = kb.vec(part.size(), kb.getF32Type());
      Value frequencies =
          arith::ConstantOp::create(kb, DenseElementsAttr::get(f64, part));
      auto [c, s] = mllm::program::emitCosSin(
          kb, kb.getLoc(), kb.mulf(kb.broadcast(p, part.size()), frequencies));
      Value scaling = kb.floatConstant(f64, op.getScaling().convertToDouble());
      auto narrow = [&](Value v) -> Value {
        return arith::TruncFOp::create(kb, f32, kb.mulf(v, scaling));
      };
      kb.storeVector(narrow(c), cosines, {token, kb.index(i)});
      kb.storeVector(narrow(s), sines, {token, kb.index(i)});
    }
  });
  return success();
}

namespace {
/// `lanes` elements of both components of the rotation.
struct Sides {
  Value first, second;
};

/// Emits the rotation of one head of one token.
class HeadRotation {
public:
  HeadRotation(KernelBuilder &kb, kernel::RopeOp op)
      : kb(kb), headDim(op.getHeadDim()), rotaryDim(op.getRotaryDim()),
        interleaved(op.getInterleaved()),
        cosines(kb.argument(op.getCosinesMutable())),
        sines(kb.argument(op.getSinesMutable())),
        x(kb.argument(op.getXMutable())), out(kb.argument(op.getOutMutable())) {
  }

  /// Maps (a, b) to (a cos - b sin, b cos + a sin) for every pair; dimensions
  /// after the rotary dimension are copied. The head starts at column `base`.
  void emit(Value token, Value base);

private:
  /// Elements from `i` on in both halves of the rotary dimension.
  Sides loadHalves(Value token, Value base, Value i, int64_t lanes);
  void storeHalves(Value token, Value base, Value i, Sides y);
  /// Pairs from `i` on: the elements in even and in odd columns.
  Sides loadPairs(Value token, Value base, Value i, int64_t lanes);
  void storePairs(Value token, Value base, Value i, int64_t lanes, Sides y);

  KernelBuilder &kb;
  int64_t headDim, rotaryDim;
  bool interleaved;
  Value cosines, sines, x, out;
};
} // namespace

Sides HeadRotation::loadHalves(Value token, Value base, Value i,
                               int64_t lanes) {
  Value low = kb.add(base, i);
  return {kb.loadVector(x, {token, low}, lanes),
          kb.loadVector(x, {token, kb.add(low, rotaryDim / 2)}, lanes)};
}

void HeadRotation::storeHalves(Value token, Value base, Value i, Sides y) {
  Value low = kb.add(base, i);
  kb.storeVector(y.first, out, {token, low});
  kb.storeVector(y.second, out, {token, kb.add(low, rotaryDim / 2)});
}

Sides HeadRotation::loadPairs(Value token, Value base, Value i, int64_t lanes) {
  Value both = kb.loadVector(x, {token, kb.add(base, kb.mul(i, 2))}, 2 * lanes);
  SmallVector<int64_t> even, odd;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    even.push_back(2 * lane);
    odd.push_back(2 * lane + 1);
  }
  return {vector::ShuffleOp::create(kb, both, both, even),
          vector::ShuffleOp::create(kb, both, both, odd)};
}

void HeadRotation::storePairs(Value token, Value base, Value i, int64_t lanes,
                              Sides y) {
  SmallVector<int64_t> alternating;
  for (int64_t lane = 0; lane < lanes; ++lane)
    alternating.append({lane, lane + lanes});
  Value both = vector::ShuffleOp::create(kb, y.first, y.second, alternating);
  kb.storeVector(both, out, {token, kb.add(base, kb.mul(i, 2))});
}

void HeadRotation::emit(Value token, Value base) {
  kb.vectorLoop(rotaryDim / 2, [&](Value i, int64_t lanes) {
    auto [a, b] = interleaved ? loadPairs(token, base, i, lanes)
                              : loadHalves(token, base, i, lanes);
    Value c = kb.loadVector(cosines, {token, i}, lanes);
    Value s = kb.loadVector(sines, {token, i}, lanes);
    Value ac = kb.mulf(a, c), bs = kb.mulf(b, s);
    Sides y{kb.subf(ac, bs), kb.fma(b, c, kb.mulf(a, s))};
    if (interleaved)
      storePairs(token, base, i, lanes, y);
    else
      storeHalves(token, base, i, y);
  });
  kb.vectorLoop(headDim - rotaryDim, [&](Value i, int64_t lanes) {
    Value column = kb.add(base, kb.add(i, rotaryDim));
    kb.storeVector(kb.loadVector(x, {token, column}, lanes), out,
                   {token, column});
  });
}

static LogicalResult emitRope(KernelBuilder &kb, kernel::RopeOp op) {
  HeadRotation rotation(kb, op);
  int64_t heads = op.getHeads(), headDim = op.getHeadDim();
  Value out = kb.argument(op.getOutMutable());
  auto [first, last] = kb.headRange(heads, headDim);
  kb.loop(kb.index(0), kb.rowCount(), kb.index(1),
          [&, first = first, last = last](Value token) {
            kb.loop(first, last, kb.index(1), [&](Value head) {
              rotation.emit(token, kb.mul(head, headDim));
              kb.zeroPaddingAfterHeads(out, token, head, heads, headDim);
            });
          });
  return success();
}

void addRopeEmitters(KernelEmitters &emitters) {
  emitters.add(emitRopeAngles);
  emitters.add(emitRope);
}

} // namespace llmir
