//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sorts rows: a merge sort of the column indices, with runs of 1, 2, 4, …,
// between two scratch buffers. Of two equal elements a merge takes the left
// one, so the sort is stable.
//
//===----------------------------------------------------------------------===//

#include "LoopNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace llmir {

namespace {
class SortEmitter {
public:
  SortEmitter(KernelBuilder &kb, kernel::SortOp op)
      : kb(kb), op(op), x(kb.argument(op.getXMutable())),
        columns(op.getColumns()), count(op.getCount()) {}

  void emit();

private:
  /// Whether the element in column `a` must be moved before the one in column
  /// `b`, which is currently to its left.
  Value mustPass(Value row, Value b, Value a);
  /// Merges the runs [left, middle) and [middle, end) of `from` into `to`.
  void merge(Value row, Value from, Value to, Value left, Value middle,
             Value end);
  /// Emits all merges of runs of that width.
  void mergeRuns(Value row, Value from, Value to, int64_t width);

  Value compare(arith::CmpIPredicate predicate, Value a, Value b) {
    return arith::CmpIOp::create(kb, predicate, a, b);
  }

  KernelBuilder &kb;
  kernel::SortOp op;
  Value x;
  int64_t columns, count;
};
} // namespace

Value SortEmitter::mustPass(Value row, Value b, Value a) {
  Value left = kb.load(x, {row, b});
  Value right = kb.load(x, {row, a});
  if (op.getDescending())
    std::swap(left, right);
  // right < left.
  if (!isa<FloatType>(left.getType()))
    return compare(arith::CmpIPredicate::slt, right, left);
  auto isNaN = [&](Value x) -> Value {
    return arith::CmpFOp::create(kb, arith::CmpFPredicate::UNO, x, x);
  };
  Value less =
      arith::CmpFOp::create(kb, arith::CmpFPredicate::OLT, right, left);
  Value isNumber =
      arith::CmpFOp::create(kb, arith::CmpFPredicate::ORD, right, right);
  Value onlyLeft = arith::AndIOp::create(kb, isNaN(left), isNumber);
  return arith::OrIOp::create(kb, less, onlyLeft);
}

void SortEmitter::merge(Value row, Value from, Value to, Value left,
                        Value middle, Value end) {
  SmallVector<Value> heads = {left, middle};
  kb.reduce(
      left, end, 1, heads,
      [&](Value place, ValueRange heads) -> SmallVector<Value> {
        Value hasLeft = compare(arith::CmpIPredicate::ult, heads[0], middle);
        Value hasRight = compare(arith::CmpIPredicate::ult, heads[1], end);
        // If the head of a run is past its end, the column of the other head is
        // loaded instead, and the result ignored.
        Value l = arith::SelectOp::create(kb, hasLeft, heads[0], heads[1]);
        Value r = arith::SelectOp::create(kb, hasRight, heads[1], heads[0]);
        Value leftColumn = kb.load(from, {row, l});
        Value rightColumn = kb.load(from, {row, r});
        Value leftNumber = kb.toIndex(leftColumn);
        Value passes = mustPass(row, leftNumber, kb.toIndex(rightColumn));
        Value noLeft = compare(arith::CmpIPredicate::uge, heads[0], middle);
        Value takesRight = arith::OrIOp::create(
            kb, noLeft, arith::AndIOp::create(kb, hasRight, passes));
        kb.store(
            arith::SelectOp::create(kb, takesRight, rightColumn, leftColumn),
            to, {row, place});
        return {arith::SelectOp::create(kb, takesRight, heads[0],
                                        kb.add(heads[0], 1)),
                arith::SelectOp::create(kb, takesRight, kb.add(heads[1], 1),
                                        heads[1])};
      });
}

void SortEmitter::mergeRuns(Value row, Value from, Value to, int64_t width) {
  Value end = kb.index(columns);
  kb.loop(0, columns, 2 * width, [&](Value left) {
    Value middle = kb.min(kb.add(left, width), end);
    merge(row, from, to, left, middle, kb.min(kb.add(left, 2 * width), end));
  });
}

void SortEmitter::emit() {
  Value values = kb.argument(op.getValuesMutable());
  Value indices = kb.argument(op.getIndicesMutable());
  int64_t rows = op.getRows();
  auto [first, last] =
      op.getOver() ? nestRows(kb, rows) : kb.elementRange(kb.index(rows));
  kb.loop(first, last, kb.index(1), [&](Value row) {
    Value from = kb.argument(op.getScratch0Mutable());
    Value to = kb.argument(op.getScratch1Mutable());
    kb.loop(0, columns, 1, [&](Value column) {
      Value number = arith::IndexCastOp::create(kb, kb.getI32Type(), column);
      kb.store(number, from, {row, column});
    });
    for (int64_t width = 1; width < columns; width *= 2) {
      mergeRuns(row, from, to, width);
      std::swap(from, to);
    }
    kb.loop(0, count, 1, [&, from = from](Value place) {
      Value column = kb.load(from, {row, place});
      kb.store(column, indices, {row, place});
      kb.store(kb.load(x, {row, kb.toIndex(column)}), values, {row, place});
    });
    kb.zeroPadding(values, row, count);
    kb.zeroPadding(indices, row, count);
  });
}

static LogicalResult emitSort(KernelBuilder &kb, kernel::SortOp op) {
  SortEmitter(kb, op).emit();
  return success();
}

void addSortEmitters(KernelEmitters &emitters) { emitters.add(emitSort); }

} // namespace llmir
