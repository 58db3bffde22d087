//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels that quantize, dequantize and compute scales. Integers are stored as
// f32, which represents every 16-bit integer, so that all rows have the same
// type.
//
//===----------------------------------------------------------------------===//

#include "../Common/Emitters.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <numeric>

using namespace mlir;

namespace llmir {

using kernel::QuantGrid;

/// The row and the column of an element.
using Place = std::array<Value, 2>;

static Place placeOf(KernelBuilder &kb, Value flat, int64_t columns) {
  return {kb.div(flat, columns), kb.rem(flat, columns)};
}

static int64_t numElements(ArrayRef<int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1),
                         std::multiplies<int64_t>());
}

/// The number of cells of the grid in each dimension.
static SmallVector<int64_t> cellCounts(const QuantGrid &grid) {
  SmallVector<int64_t> counts;
  for (auto [size, cell] : llvm::zip(grid.shape, grid.cell))
    counts.push_back(ceilDiv(size, cell));
  return counts;
}

static Value roundedQuotient(KernelBuilder &kb, Value x, Value scale) {
  Value zero = kb.floatConstant(x.getType(), 0.0);
  Value isZero =
      arith::CmpFOp::create(kb, arith::CmpFPredicate::OEQ, scale, zero);
  Value q = math::RoundEvenOp::create(kb, kb.divf(x, scale));
  return arith::SelectOp::create(kb, isZero, zero, q);
}

static Value minf(KernelBuilder &kb, Value a, Value b) {
  Value less = arith::CmpFOp::create(kb, arith::CmpFPredicate::OLT, a, b);
  return arith::SelectOp::create(kb, less, a, b);
}

/// The range of the stored integers.
static double least(int64_t bits, bool symmetric) {
  return -static_cast<double>(int64_t(1) << (bits - 1)) + (symmetric ? 1 : 0);
}
static double greatest(int64_t bits) {
  return static_cast<double>((int64_t(1) << (bits - 1)) - 1);
}

static Value clamp(KernelBuilder &kb, Value x, double low, double high) {
  x = kb.maxf(x, kb.floatConstant(x.getType(), low));
  return minf(kb, x, kb.floatConstant(x.getType(), high));
}

//===----------------------------------------------------------------------===//
// Element-wise kernels
//===----------------------------------------------------------------------===//

namespace {
/// Iterates over the elements of a tensor in runs within which the scale is
/// constant, or scales are consecutive like the elements.
class Stretches {
public:
  Stretches(KernelBuilder &kb, const QuantGrid &grid)
      : kb(kb), grid(grid), counts(cellCounts(grid)) {
    int64_t size = grid.shape.back(), cell = grid.cell.back();
    shared = cell > 1;
    length = std::gcd(size, grid.columns);
    if (!shared)
      length = std::gcd(length, grid.gridColumns);
    else if (cell < size)
      length = std::gcd(length, cell);
  }

  /// Calls body(element's place, lanes, load) for this worker's elements, where
  /// load returns the elements' values in a buffer of the grid.
  void forEach(
      llvm::function_ref<void(Place, int64_t, llvm::function_ref<Value(Value)>)>
          body) {
    auto [first, last] =
        kb.elementRange(kb.index(numElements(grid.shape) / length));
    kb.loop(first, last, kb.index(1), [&](Value stretch) {
      Value start = kb.mul(stretch, length);
      Place at = placeOf(kb, start, grid.columns);
      Place cell = placeOf(kb, cellOf(start), grid.gridColumns);
      kb.vectorLoop(length, [&](Value i, int64_t lanes) {
        auto load = [&](Value buffer) -> Value {
          Value values =
              shared
                  ? kb.broadcast(kb.load(buffer, cell), lanes)
                  : kb.loadVector(buffer, {cell[0], kb.add(cell[1], i)}, lanes);
          VectorType floats = kb.vec(lanes, kb.getF32Type());
          if (values.getType() == floats)
            return values;
          return arith::SIToFPOp::create(kb, floats, values);
        };
        body({at[0], kb.add(at[1], i)}, lanes, load);
      });
    });
  }

private:
  /// The linear index of the cell of the element with linear index `flat`.
  Value cellOf(Value flat) {
    Value cell = kb.index(0);
    int64_t stride = 1;
    for (size_t d = grid.shape.size(); d-- > 0;) {
      Value place = kb.div(kb.rem(flat, grid.shape[d]), grid.cell[d]);
      cell = kb.add(cell, kb.mul(place, stride));
      flat = kb.div(flat, grid.shape[d]);
      stride *= counts[d];
    }
    return cell;
  }

  KernelBuilder &kb;
  const QuantGrid &grid;
  SmallVector<int64_t> counts;
  int64_t length;
  bool shared; ///< One scale for the whole run.
};
} // namespace

/// Zeroes the padding of every row of this worker.
static void zeroRowEnds(KernelBuilder &kb, Value buffer, int64_t columns,
                        int64_t elements) {
  if (cast<MemRefType>(buffer.getType()).getDimSize(1) == columns)
    return;
  auto [first, last] = kb.elementRange(kb.index(elements / columns));
  kb.loop(first, last, kb.index(1),
          [&](Value row) { kb.zeroPadding(buffer, row, columns); });
}

static LogicalResult emitQuantize(KernelBuilder &kb, kernel::QuantizeOp op) {
  Value x = kb.argument(op.getXMutable());
  Value scales = kb.argument(op.getScalesMutable());
  Value zeroPoints = kb.argument(op.getZeroPointsMutable());
  Value out = kb.argument(op.getOutMutable());
  const QuantGrid grid = op.getGrid();
  const bool symmetric = !zeroPoints;
  double low = least(op.getBits(), symmetric), high = greatest(op.getBits());
  Stretches(kb, grid).forEach([&](Place at, int64_t lanes,
                                  llvm::function_ref<Value(Value)> ofCell) {
    Value q = roundedQuotient(kb, kb.loadVector(x, at, lanes), ofCell(scales));
    // Integers have no negative zero: adding 0 clears its sign.
    q = kb.addf(q, zeroPoints ? ofCell(zeroPoints)
                              : kb.floatConstant(q.getType(), 0.0));
    kb.storeVector(clamp(kb, q, low, high), out, at);
  });
  zeroRowEnds(kb, out, grid.columns, numElements(grid.shape));
  return success();
}

static LogicalResult emitDequantize(KernelBuilder &kb,
                                    kernel::DequantizeOp op) {
  Value q = kb.argument(op.getQMutable());
  Value scales = kb.argument(op.getScalesMutable());
  Value zeroPoints = kb.argument(op.getZeroPointsMutable());
  Value out = kb.argument(op.getOutMutable());
  const QuantGrid grid = op.getGrid();
  Stretches(kb, grid).forEach(
      [&](Place at, int64_t lanes, llvm::function_ref<Value(Value)> ofCell) {
        Value value = kb.loadVector(q, at, lanes);
        if (zeroPoints)
          value = kb.subf(value, ofCell(zeroPoints));
        kb.storeVector(kb.mulf(ofCell(scales), value), out, at);
      });
  zeroRowEnds(kb, out, grid.columns, numElements(grid.shape));
  return success();
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

namespace {
/// The minimum and the maximum of 0 and the elements of a cell.
struct Range {
  Value low, high;
};
} // namespace

/// Extends the range by the cell's elements in dimension `d` and the following
/// ones; `flat` is the contribution of earlier dimensions to the linear index.
static Range rangeOf(KernelBuilder &kb, const QuantGrid &grid,
                     ArrayRef<Value> cell, size_t d, Value flat, Value x,
                     Range range) {
  if (d == grid.shape.size()) {
    Value value = kb.load(x, placeOf(kb, flat, grid.columns));
    return {minf(kb, value, range.low), kb.maxf(value, range.high)};
  }
  Value begin = kb.mul(cell[d], grid.cell[d]);
  Value end = kb.min(kb.add(begin, grid.cell[d]), kb.index(grid.shape[d]));
  SmallVector<Value> result =
      kb.reduce(begin, end, 1, {range.low, range.high},
                [&](Value i, ValueRange carried) -> SmallVector<Value> {
                  Range inner = rangeOf(kb, grid, cell, d + 1,
                                        kb.add(kb.mul(flat, grid.shape[d]), i),
                                        x, {carried[0], carried[1]});
                  return {inner.low, inner.high};
                });
  return {result[0], result[1]};
}

static LogicalResult emitQuantParams(KernelBuilder &kb,
                                     kernel::QuantParamsOp op) {
  Value x = kb.argument(op.getXMutable());
  Value scales = kb.argument(op.getScalesMutable());
  Value zeroPoints = kb.argument(op.getZeroPointsMutable());
  const QuantGrid grid = op.getGrid();
  const bool symmetric = !zeroPoints;
  SmallVector<int64_t> counts = cellCounts(grid);
  double low = least(op.getBits(), symmetric), high = greatest(op.getBits());
  auto [first, last] = kb.elementRange(kb.index(numElements(counts)));
  kb.loop(first, last, kb.index(1), [&](Value number) {
    SmallVector<Value> cell(counts.size());
    Value rest = number;
    for (size_t d = counts.size(); d-- > 0;) {
      cell[d] = kb.rem(rest, counts[d]);
      rest = kb.div(rest, counts[d]);
    }
    Range range =
        rangeOf(kb, grid, cell, 0, kb.index(0), x, {kb.f32(0.0), kb.f32(0.0)});
    Place at = placeOf(kb, number, grid.gridColumns);
    if (symmetric) {
      Value negated = kb.subf(kb.f32(0.0), range.low);
      kb.store(kb.divf(kb.maxf(negated, range.high), kb.f32(high)), scales, at);
      return;
    }
    Value scale = kb.divf(kb.subf(range.high, range.low), kb.f32(high - low));
    kb.store(scale, scales, at);
    Value zeroPoint =
        kb.subf(kb.f32(low), roundedQuotient(kb, range.low, scale));
    Value isZero = arith::CmpFOp::create(kb, arith::CmpFPredicate::OEQ, scale,
                                         kb.f32(0.0));
    zeroPoint = arith::SelectOp::create(kb, isZero, kb.f32(0.0),
                                        clamp(kb, zeroPoint, low, high));
    kb.store(zeroPoint, zeroPoints, at);
  });
  zeroRowEnds(kb, scales, grid.gridColumns, numElements(counts));
  if (zeroPoints)
    zeroRowEnds(kb, zeroPoints, grid.gridColumns, numElements(counts));
  return success();
}

void addQuantEmitters(KernelEmitters &emitters) {
  emitters.add(emitQuantize);
  emitters.add(emitDequantize);
  emitters.add(emitQuantParams);
}

} // namespace llmir
