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
// Places
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
  default: // CeilDiv: checkRange() has seen that there is no other.
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

/// The loops from number `next` on.
static void nestFrom(KernelBuilder &kb, ArrayRef<int64_t> sizes, int64_t shared,
                     SmallVectorImpl<Value> &indices,
                     llvm::function_ref<void(ValueRange)> body) {
  size_t next = indices.size();
  if (next == sizes.size())
    return body(indices);
  Value first = kb.index(0), last = kb.index(sizes[next]);
  if (static_cast<int64_t>(next) == shared)
    std::tie(first, last) = kb.share(last);
  kb.loop(first, last, kb.index(1), [&](Value i) {
    indices.push_back(i);
    nestFrom(kb, sizes, shared, indices, body);
    indices.pop_back();
  });
}

void emitNest(KernelBuilder &kb, ArrayRef<int64_t> sizes, bool isShared,
              llvm::function_ref<void(ValueRange)> body) {
  SmallVector<Value> indices;
  if (!isShared)
    return nestFrom(kb, sizes, /*shared=*/-1, indices, body);
  if (!sizes.empty()) { // The first one of the largest.
    int64_t shared =
        std::max_element(sizes.begin(), sizes.end()) - sizes.begin();
    return nestFrom(kb, sizes, shared, indices, body);
  }
  Value isFirst = arith::CmpIOp::create(kb, arith::CmpIPredicate::eq,
                                        kb.worker(), kb.index(0));
  kb.when(isFirst, [&] { body({}); });
}

void emitPadding(KernelBuilder &kb, Value buffer, int64_t columns) {
  ArrayRef<int64_t> shape = cast<MemRefType>(buffer.getType()).getShape();
  if (shape[1] == columns)
    return;
  auto [first, last] = kb.share(kb.index(shape[0]));
  kb.loop(first, last, kb.index(1),
          [&](Value row) { kb.zeroPadding(buffer, row, columns); });
}

//===----------------------------------------------------------------------===//
// loops
//===----------------------------------------------------------------------===//

namespace {
/// Emits the region at one point after the other.
class LoopsEmitter {
public:
  LoopsEmitter(KernelBuilder &kb, const LoopsSpec &spec, Block &region)
      : kb(kb), spec(spec), region(region), numLoops(spec.sizes.size()),
        inputs(region.getNumArguments() - spec.sizes.size()),
        reduces(spec.parallel < static_cast<int64_t>(numLoops)) {}

  void emit();

private:
  Value loadElement(unsigned buffer, ValueRange point) {
    return kb.load(kb.buffer(buffer),
                   placeAt(kb, spec.maps[buffer], point, Value()));
  }
  /// What has been reduced once the loops from the point's on have run.
  Value reduceFrom(SmallVectorImpl<Value> &point, Value reduced);
  /// The region's result at a point; `reduced` is null where nothing reduces.
  Value computeAt(ValueRange point, Value reduced);

  KernelBuilder &kb;
  const LoopsSpec &spec;
  Block &region;
  size_t numLoops;
  unsigned inputs; ///< Buffers but the output, initial values included.
  bool reduces;
};
} // namespace

Value LoopsEmitter::computeAt(ValueRange point, Value reduced) {
  IRMapping mapping;
  mapping.map(region.getArguments().take_front(numLoops), point);
  for (unsigned i = 0; i < inputs; ++i) {
    bool isReduced = reduces && i + 1 == inputs;
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
  return kb.reduce(kb.index(0), kb.index(spec.sizes[next]), 1, {reduced},
                   [&](Value i, ValueRange carried) -> SmallVector<Value> {
                     point.push_back(i);
                     Value result = reduceFrom(point, carried[0]);
                     point.pop_back();
                     return {result};
                   })[0];
}

void LoopsEmitter::emit() {
  Value out = kb.buffer(inputs);
  ArrayRef<int64_t> parallel = ArrayRef(spec.sizes).take_front(spec.parallel);
  emitNest(kb, parallel, /*isShared=*/true, [&](ValueRange outer) {
    SmallVector<Value> point(outer);
    // Maps of initial values and of the output name parallel loops only; the
    // others stand at their beginning.
    SmallVector<Value> origin(outer);
    origin.resize(numLoops, kb.index(0));
    Value result = reduces ? reduceFrom(point, loadElement(inputs - 1, origin))
                           : computeAt(point, Value());
    kb.store(result, out, placeAt(kb, spec.maps[inputs], origin, Value()));
  });
  emitPadding(kb, out, spec.columns);
}

void emitLoops(KernelBuilder &kb, const LoopsSpec &spec, Block &scalarBody) {
  LoopsEmitter(kb, spec, scalarBody).emit();
}

} // namespace llmir
