//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernels whose places are numbers in a buffer. No number makes them touch
// what is not the buffer's.
//
//===----------------------------------------------------------------------===//

#include "LoopNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace llmir {

/// The index at a place, from the end where it is negative; perhaps still
/// beyond either end.
static Value loadIndex(KernelBuilder &kb, Value buffer, ValueRange place,
                       int64_t bound) {
  Value index = kb.toIndex(kb.load(buffer, place));
  Value isNegative =
      arith::CmpIOp::create(kb, arith::CmpIPredicate::slt, index, kb.index(0));
  return arith::SelectOp::create(kb, isNegative, kb.add(index, bound), index);
}

void emitGather(KernelBuilder &kb, const GatherSpec &spec) {
  Value out = kb.buffer(2);
  emitNest(kb, spec.sizes, /*isShared=*/true, [&](ValueRange point) {
    Value index =
        loadIndex(kb, kb.buffer(0), placeAt(kb, spec.maps[0], point, Value()),
                  spec.bound);
    index = arith::MaxSIOp::create(kb, index, kb.index(0));
    index = arith::MinSIOp::create(kb, index, kb.index(spec.bound - 1));
    Value element =
        kb.load(kb.buffer(1), placeAt(kb, spec.maps[1], point, index));
    kb.store(element, out, placeAt(kb, spec.maps[2], point, Value()));
  });
  emitPadding(kb, out, spec.columns);
}

void emitScatter(KernelBuilder &kb, const ScatterSpec &spec) {
  Value out = kb.buffer(2);
  auto write = [&](ValueRange point, Value index) {
    Value element =
        kb.load(kb.buffer(1), placeAt(kb, spec.maps[1], point, Value()));
    kb.store(element, out, placeAt(kb, spec.maps[2], point, index));
  };
  // Each worker has a share of the indices' values: it goes through all points
  // and writes those that are its own, so that the order is the points'.
  auto [first, last] = kb.share(kb.index(spec.bound));
  ArrayRef<int64_t> sizes(spec.sizes);
  auto atIndex = [&, first = first, last = last](ValueRange outer) {
    SmallVector<Value> origin(outer);
    origin.resize(sizes.size(), kb.index(0));
    Value index =
        loadIndex(kb, kb.buffer(0), placeAt(kb, spec.maps[0], origin, Value()),
                  spec.bound);
    Value isOwn = arith::AndIOp::create(
        kb, arith::CmpIOp::create(kb, arith::CmpIPredicate::sge, index, first),
        arith::CmpIOp::create(kb, arith::CmpIPredicate::slt, index, last));
    kb.when(isOwn, [&] {
      emitNest(kb, sizes.drop_front(spec.indexed), /*isShared=*/false,
               [&](ValueRange inner) {
                 SmallVector<Value> point(outer);
                 llvm::append_range(point, inner);
                 write(point, index);
               });
    });
  };
  emitNest(kb, sizes.take_front(spec.indexed), /*isShared=*/false, atIndex);
}

} // namespace llmir
