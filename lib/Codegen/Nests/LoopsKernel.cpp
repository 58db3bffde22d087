//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

#include <algorithm>

using namespace mlir;

namespace llmir {

//===----------------------------------------------------------------------===//
// Positions of elements
//===----------------------------------------------------------------------===//

Value expandExpression(KernelBuilder &kb, AffineExpr expr, ValueRange dims,
                       Value symbol) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return kb.index(constant.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (isa<AffineSymbolExpr>(expr))
    return symbol;
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value lhs = expandExpression(kb, binary.getLHS(), dims, symbol);
  Value rhs = expandExpression(kb, binary.getRHS(), dims, symbol);
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return kb.add(lhs, rhs);
  case AffineExprKind::Mul:
    return kb.mul(lhs, rhs);
  case AffineExprKind::Mod:
    return kb.rem(lhs, rhs);
  case AffineExprKind::FloorDiv:
    return kb.div(lhs, rhs);
  default: // CeilDiv, the only other kind that the verifier accepts.
    return kb.div(kb.sub(kb.add(lhs, rhs), kb.index(1)), rhs);
  }
}

SmallVector<Value> placeAt(KernelBuilder &kb, AffineMap map, ValueRange dims,
                           Value symbol) {
  SmallVector<Value> place;
  for (AffineExpr expr : map.getResults())
    place.push_back(expandExpression(kb, expr, dims, symbol));
  return place;
}

//===----------------------------------------------------------------------===//
// Nests
//===----------------------------------------------------------------------===//

/// Emits the loops from number `indices.size()` on. Loop `divided` (-1: none)
/// iterates over `own`.
static void nestFrom(KernelBuilder &kb, ArrayRef<int64_t> sizes,
                     int64_t divided, WorkRange own,
                     SmallVectorImpl<Value> &indices,
                     llvm::function_ref<void(ValueRange)> body) {
  size_t next = indices.size();
  if (next == sizes.size())
    return body(indices);
  WorkRange range{kb.index(0), kb.index(sizes[next])};
  if (static_cast<int64_t>(next) == divided)
    range = own;
  kb.loop(range.first, range.second, kb.index(1), [&](Value i) {
    indices.push_back(i);
    nestFrom(kb, sizes, divided, own, indices, body);
    indices.pop_back();
  });
}

void emitWholeNest(KernelBuilder &kb, ArrayRef<int64_t> sizes,
                   llvm::function_ref<void(ValueRange)> body) {
  SmallVector<Value> indices;
  nestFrom(kb, sizes, /*divided=*/-1, WorkRange(), indices, body);
}

WorkRange nestRows(KernelBuilder &kb, int64_t size) {
  auto [first, last] = kb.rowRange();
  return {first, kb.min(last, kb.index(size))};
}

void emitNest(KernelBuilder &kb, ArrayRef<int64_t> sizes,
              std::optional<kernel::RowSpace> over,
              llvm::function_ref<void(ValueRange)> body) {
  SmallVector<Value> indices;
  if (over)
    return nestFrom(kb, sizes, /*divided=*/0, nestRows(kb, sizes[0]), indices,
                    body);
  if (sizes.empty())
    return kb.onFirstWorker([&] { body({}); });
  // The first of the largest loops.
  int64_t divided =
      std::max_element(sizes.begin(), sizes.end()) - sizes.begin();
  nestFrom(kb, sizes, divided, kb.elementRange(kb.index(sizes[divided])),
           indices, body);
}

void emitPadding(KernelBuilder &kb, Value buffer, int64_t columns,
                 std::optional<kernel::RowSpace> over) {
  ArrayRef<int64_t> shape = cast<MemRefType>(buffer.getType()).getShape();
  if (shape[1] == columns)
    return;
  auto [first, last] =
      over ? nestRows(kb, shape[0]) : kb.elementRange(kb.index(shape[0]));
  kb.loop(first, last, kb.index(1),
          [&](Value row) { kb.zeroPadding(buffer, row, columns); });
}

//===----------------------------------------------------------------------===//
// loops
//===----------------------------------------------------------------------===//

namespace {
/// Emits the region for one point at a time.
class LoopsEmitter {
public:
  LoopsEmitter(KernelBuilder &kb, kernel::LoopsOp op)
      : kb(kb), region(op.getBody().front()), sizes(op.getSizes()),
        parallel(op.getParallel()), columns(op.getColumns()),
        over(op.getOver()), maps(op.getMaps().getAsValueRange<AffineMapAttr>()),
        inputs(kb.arguments(op.getInputsMutable())),
        out(kb.argument(op.getOutMutable())), numLoops(sizes.size()),
        reduces(parallel < sizes.size()) {}

  void emit();

private:
  Value loadElement(unsigned input, ValueRange point) {
    return kb.load(inputs[input], placeAt(kb, maps[input], point, Value()));
  }
  /// Emits the reduction loops that are not in `point` yet; returns the
  /// accumulator.
  Value reduceFrom(SmallVectorImpl<Value> &point, Value reduced);
  /// The result of the region for a point; the accumulator `reduced` is null
  /// without a reduction.
  Value computeAt(ValueRange point, Value reduced);

  KernelBuilder &kb;
  Block &region;
  ArrayRef<int64_t> sizes;
  size_t parallel;
  int64_t columns;
  std::optional<kernel::RowSpace> over;
  SmallVector<AffineMap> maps;
  SmallVector<Value> inputs; ///< Including initial values.
  Value out;
  size_t numLoops;
  bool reduces;
};
} // namespace

Value LoopsEmitter::computeAt(ValueRange point, Value reduced) {
  IRMapping mapping;
  mapping.map(region.getArguments().take_front(numLoops), point);
  for (size_t i = 0; i < inputs.size(); ++i) {
    bool isReduced = reduces && i + 1 == inputs.size();
    Value argument = region.getArgument(numLoops + i);
    if (isReduced || !argument.use_empty())
      mapping.map(argument, isReduced ? reduced : loadElement(i, point));
  }
  for (Operation &op : region.without_terminator())
    kb.clone(op, mapping);
  return mapping.lookup(region.getTerminator()->getOperand(0));
}

Value LoopsEmitter::reduceFrom(SmallVectorImpl<Value> &point, Value reduced) {
  size_t next = point.size();
  if (next == numLoops)
    return computeAt(point, reduced);
  return kb.reduce(kb.index(0), kb.index(sizes[next]), 1, {reduced},
                   [&](Value i, ValueRange carried) -> SmallVector<Value> {
                     point.push_back(i);
                     Value result = reduceFrom(point, carried[0]);
                     point.pop_back();
                     return {result};
                   })[0];
}

void LoopsEmitter::emit() {
  emitNest(kb, sizes.take_front(parallel), over, [&](ValueRange outer) {
    SmallVector<Value> point(outer);
    // Maps of initial values and of the output depend on parallel loops only;
    // use index 0 for the others.
    SmallVector<Value> origin(outer);
    origin.resize(numLoops, kb.index(0));
    Value result =
        reduces ? reduceFrom(point, loadElement(inputs.size() - 1, origin))
                : computeAt(point, Value());
    kb.store(result, out, placeAt(kb, maps[inputs.size()], origin, Value()));
  });
  emitPadding(kb, out, columns, over);
}

static LogicalResult emitLoops(KernelBuilder &kb, kernel::LoopsOp op) {
  LoopsEmitter(kb, op).emit();
  return success();
}

void addLoopEmitters(KernelEmitters &emitters) { emitters.add(emitLoops); }

} // namespace llmir
