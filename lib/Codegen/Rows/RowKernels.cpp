//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../Common/Emitters.h"

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

void addRowEmitters(KernelEmitters &emitters) { emitters.add(emitSelectRows); }

} // namespace llmir
