//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels that reduce rows: layer norm and softmax. Sums have 16 partial sums
// over ascending elements, folded by a fixed tree.
//
//===----------------------------------------------------------------------===//

#include "../Common/Emitters.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace llmir {

/// 16 partial results over the first `width` positions; `step` updates them
/// with the `lanes` elements at a position.
static Value reduceLanes(
    KernelBuilder &kb, int64_t width, Value initial,
    llvm::function_ref<Value(Value position, int64_t lanes, Value partial)>
        step) {
  int64_t whole = width / kLanes * kLanes;
  Value partial = initial;
  if (whole > 0)
    partial =
        kb.reduce(kb.index(0), kb.index(whole), kLanes, partial,
                  [&](Value i, ValueRange carried) {
                    return SmallVector<Value>{step(i, kLanes, carried.front())};
                  })
            .front();
  if (width > whole)
    partial = step(kb.index(whole), width - whole, partial);
  return partial;
}

static Value foldSum(KernelBuilder &kb, Value partial) {
  return kb.foldLanes(partial, [&](Value a, Value b) { return kb.addf(a, b); });
}

/// Calls body(row, first column) for each group of each row of this worker;
/// zeroes the padding of `out`.
static void forEachGroup(KernelBuilder &kb, int64_t groups, int64_t columns,
                         Value out,
                         llvm::function_ref<void(Value, Value)> body) {
  auto [first, last] = kb.rowRange();
  kb.loop(first, last, kb.index(1), [&](Value row) {
    kb.loop(0, groups, 1,
            [&](Value group) { body(row, kb.mul(group, columns)); });
    kb.zeroPadding(out, row, groups * columns);
  });
}

//===----------------------------------------------------------------------===//
// LayerNorm
//===----------------------------------------------------------------------===//

static LogicalResult emitLayerNorm(KernelBuilder &kb, kernel::LayerNormOp op) {
  Value x = kb.argument(op.getXMutable());
  Value out = kb.argument(op.getOutMutable());
  Value weight = kb.argument(op.getWeightMutable());
  Value bias = kb.argument(op.getBiasMutable());
  int64_t columns = op.getColumns();
  Type f64 = kb.getF64Type();
  auto load64 = [&](Value row, Value column, int64_t lanes) -> Value {
    return arith::ExtFOp::create(kb, kb.vec(lanes, f64),
                                 kb.loadVector(x, {row, column}, lanes));
  };
  forEachGroup(kb, op.getGroups(), columns, out, [&](Value row, Value start) {
    // Computed in f64, since the mean may be much larger than the deviations.
    Value zero64 = kb.floatConstant(kb.vec(kLanes, f64), 0.0);
    Value sums = reduceLanes(
        kb, columns, zero64, [&](Value i, int64_t lanes, Value partial) {
          Value values = load64(row, kb.add(start, i), lanes);
          return kb.addf(partial, kb.widen(values, 0.0));
        });
    Value mean = kb.divf(foldSum(kb, sums), kb.floatConstant(f64, columns));
    auto difference = [&](Value column, int64_t lanes) -> Value {
      Value wide =
          kb.subf(load64(row, column, lanes), kb.broadcast(mean, lanes));
      return arith::TruncFOp::create(kb, kb.vec(lanes, kb.getF32Type()), wide);
    };
    Value zero = kb.floatConstant(kb.f32x16(), 0.0);
    Value squares = reduceLanes(
        kb, columns, zero, [&](Value i, int64_t lanes, Value partial) {
          Value d = kb.widen(difference(kb.add(start, i), lanes), 0.0);
          return kb.fma(d, d, partial);
        });
    Value variance = kb.divf(foldSum(kb, squares), kb.f32(columns));
    Value root = math::SqrtOp::create(
        kb, kb.addf(variance, kb.f32(op.getEps().convertToDouble())));
    Value scale = kb.divf(kb.f32(1.0), root);
    kb.vectorLoop(columns, [&](Value i, int64_t lanes) {
      Value column = kb.add(start, i);
      Value y = kb.mulf(difference(column, lanes), kb.broadcast(scale, lanes));
      if (weight)
        y = kb.mulf(y, kb.loadVector(weight, i, lanes));
      if (bias)
        y = kb.addf(y, kb.loadVector(bias, i, lanes));
      kb.storeVector(y, out, {row, column});
    });
  });
  return success();
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

static LogicalResult emitSoftmax(KernelBuilder &kb, kernel::SoftmaxOp op) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Value x = kb.argument(op.getXMutable());
  Value out = kb.argument(op.getOutMutable());
  int64_t columns = op.getColumns();
  forEachGroup(kb, op.getGroups(), columns, out, [&](Value row, Value start) {
    Value none = kb.floatConstant(kb.f32x16(), -infinity);
    Value partialMax = reduceLanes(
        kb, columns, none, [&](Value i, int64_t lanes, Value partial) {
          Value values = kb.loadVector(x, {row, kb.add(start, i)}, lanes);
          return kb.maxf(kb.widen(values, -infinity), partial);
        });
    Value most = kb.foldLanes(partialMax,
                              [&](Value a, Value b) { return kb.maxf(a, b); });
    // For a row of all -inf, use differences from 0, which give exponentials of
    // 0.
    Value empty = arith::CmpFOp::create(kb, arith::CmpFPredicate::OEQ, most,
                                        kb.f32(-infinity));
    most = arith::SelectOp::create(kb, empty, kb.f32(0.0), most);
    Value zero = kb.floatConstant(kb.f32x16(), 0.0);
    Value sums = reduceLanes(
        kb, columns, zero, [&](Value i, int64_t lanes, Value partial) {
          Value column = kb.add(start, i);
          Value elements = kb.loadVector(x, {row, column}, lanes);
          Value e = math::ExpOp::create(
              kb, kb.subf(elements, kb.broadcast(most, lanes)));
          kb.storeVector(e, out, {row, column});
          return kb.addf(partial, kb.widen(e, 0.0));
        });
    // Zero in that case; if the row also holds a NaN, the sum and so all
    // results are NaN.
    Value sum = foldSum(kb, sums);
    Value isZero =
        arith::CmpFOp::create(kb, arith::CmpFPredicate::OEQ, sum, kb.f32(0.0));
    sum = arith::SelectOp::create(kb, isZero, kb.f32(1.0), sum);
    kb.vectorLoop(columns, [&](Value i, int64_t lanes) {
      Value column = kb.add(start, i);
      Value e = kb.loadVector(out, {row, column}, lanes);
      kb.storeVector(kb.divf(e, kb.broadcast(sum, lanes)), out, {row, column});
    });
  });
  return success();
}

void addReductionEmitters(KernelEmitters &emitters) {
  emitters.add(emitLayerNorm);
  emitters.add(emitSoftmax);
}

} // namespace llmir
