//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Common/Emitters.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace llmir {

static LogicalResult emitSelectRows(KernelBuilder &kb,
                                    kernel::SelectRowsOp op) {
  Value x = kb.argument(op.getXMutable());
  Value out = kb.argument(op.getOutMutable());
  int64_t padded = cast<MemRefType>(out.getType()).getDimSize(1);
  auto [first, last] = kb.rowRange();
  kb.loop(first, last, kb.index(1), [&](Value row) {
    Value token = kb.contextArray(StepField::logit_rows, row);
    kb.vectorLoop(padded, [&](Value k, int64_t lanes) {
      kb.storeVector(kb.loadVector(x, {token, k}, lanes), out, {row, k});
    });
  });
  return success();
}

/// One sum per element, over ascending tokens.
static LogicalResult emitMeanRows(KernelBuilder &kb, kernel::MeanRowsOp op) {
  Value x = kb.argument(op.getXMutable());
  Value out = kb.argument(op.getOutMutable());
  int64_t padded = cast<MemRefType>(out.getType()).getDimSize(1);
  auto [first, last] = kb.rowRange();
  kb.loop(first, last, kb.index(1), [&](Value row) {
    Value begin = kb.contextArray(StepField::query_offsets, row);
    Value end = kb.contextArray(StepField::query_offsets, kb.add(row, 1));
    Value count = kb.createOrFold<arith::MaxSIOp>(kb.sub(end, begin),
                                                  kb.index(1)); // Of no token.
    Value divisor = arith::SIToFPOp::create(
        kb, kb.getF32Type(),
        arith::IndexCastOp::create(kb, kb.getI64Type(), count));
    kb.vectorLoop(padded, [&](Value k, int64_t lanes) {
      Value zero = kb.floatConstant(kb.vec(lanes, kb.getF32Type()), 0);
      Value sum = kb.reduce(
          begin, end, 1, {zero},
          [&](Value token, ValueRange carried) -> SmallVector<Value> {
            return {kb.addf(carried[0], kb.loadVector(x, {token, k}, lanes))};
          })[0];
      kb.storeVector(kb.divf(sum, kb.broadcast(divisor, lanes)), out, {row, k});
    });
  });
  return success();
}

void addRowEmitters(KernelEmitters &emitters) {
  emitters.add(emitMeanRows);
  emitters.add(emitSelectRows);
}

} // namespace llmir
