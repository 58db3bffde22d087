//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels with indices in a buffer. Arbitrary indices do not cause accesses out
// of bounds.
//
//===----------------------------------------------------------------------===//

#include "LoopNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace llmir {

/// Loads an index; a negative one counts from the end. The result may still be
/// out of range.
static Value loadIndex(KernelBuilder &kb, Value buffer, ValueRange place,
                       int64_t bound) {
  Value index = kb.toIndex(kb.load(buffer, place));
  Value isNegative =
      arith::CmpIOp::create(kb, arith::CmpIPredicate::slt, index, kb.index(0));
  return arith::SelectOp::create(kb, isNegative, kb.add(index, bound), index);
}

/// The maps of the index and the two buffers of a gather or scatter.
static SmallVector<AffineMap> mapsOf(ArrayAttr maps) {
  return SmallVector<AffineMap>(maps.getAsValueRange<AffineMapAttr>());
}

static LogicalResult emitGather(KernelBuilder &kb, kernel::GatherOp op) {
  Value indices = kb.argument(op.getIndicesMutable());
  Value x = kb.argument(op.getXMutable());
  Value out = kb.argument(op.getOutMutable());
  SmallVector<AffineMap> maps = mapsOf(op.getMaps());
  int64_t bound = op.getBound();
  emitNest(kb, op.getSizes(), op.getOver(), [&](ValueRange point) {
    Value index =
        loadIndex(kb, indices, placeAt(kb, maps[0], point, Value()), bound);
    index = arith::MaxSIOp::create(kb, index, kb.index(0));
    index = arith::MinSIOp::create(kb, index, kb.index(bound - 1));
    Value element = kb.load(x, placeAt(kb, maps[1], point, index));
    kb.store(element, out, placeAt(kb, maps[2], point, Value()));
  });
  emitPadding(kb, out, op.getColumns(), op.getOver());
  return success();
}

static LogicalResult emitScatter(KernelBuilder &kb, kernel::ScatterOp op) {
  Value indices = kb.argument(op.getIndicesMutable());
  Value x = kb.argument(op.getXMutable());
  Value out = kb.argument(op.getOutMutable());
  SmallVector<AffineMap> maps = mapsOf(op.getMaps());
  int64_t bound = op.getBound(), indexed = op.getIndexed();
  auto write = [&](ValueRange point, Value index) {
    Value element = kb.load(x, placeAt(kb, maps[1], point, Value()));
    kb.store(element, out, placeAt(kb, maps[2], point, index));
  };
  // Workers process separate rows of the step. Without rows, each worker visits
  // all points and writes those whose index is in its range, so that writes to
  // an element are in the order of the points.
  ArrayRef<int64_t> sizes = op.getSizes();
  WorkRange own{kb.index(0), kb.index(bound)};
  if (!op.getOver())
    own = kb.elementRange(own.second);
  auto atIndex = [&](ValueRange outer) {
    SmallVector<Value> origin(outer);
    origin.resize(sizes.size(), kb.index(0));
    Value index =
        loadIndex(kb, indices, placeAt(kb, maps[0], origin, Value()), bound);
    Value isFrom =
        arith::CmpIOp::create(kb, arith::CmpIPredicate::sge, index, own.first);
    Value isBefore =
        arith::CmpIOp::create(kb, arith::CmpIPredicate::slt, index, own.second);
    Value isOwn = arith::AndIOp::create(kb, isFrom, isBefore);
    kb.when(isOwn, [&] {
      emitWholeNest(kb, sizes.drop_front(indexed), [&](ValueRange inner) {
        SmallVector<Value> point(outer);
        llvm::append_range(point, inner);
        write(point, index);
      });
    });
  };
  if (op.getOver())
    emitNest(kb, sizes.take_front(indexed), op.getOver(), atIndex);
  else
    emitWholeNest(kb, sizes.take_front(indexed), atIndex);
  return success();
}

void addGatherEmitters(KernelEmitters &emitters) {
  emitters.add(emitGather);
  emitters.add(emitScatter);
}

} // namespace llmir
