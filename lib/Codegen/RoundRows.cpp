//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Activations to bf16, once per row and for all matmuls of it. Integers round,
// as everywhere: an instruction that flushes denormals would round otherwise at
// one level than at the others.
//
//===----------------------------------------------------------------------===//

#include "Emitters.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace llmir {

Value roundToWords(KernelBuilder &kb, Value numbers) {
  Value halves = encodeFloat(kb, TensorFormat::BF16, numbers);
  return vector::BitCastOp::create(kb, kb.vec(kLanes / 2, kb.getF32Type()),
                                   halves);
}

void emitRoundRows(KernelBuilder &kb, const RoundRowsSpec &spec) {
  Value x = kb.buffer(0), out = kb.buffer(1);
  // Rows of f32 are zero behind their columns, and so are the words of that.
  int64_t columns = roundUpTo(spec.columns, kLanes);
  auto [first, last] = kb.share(kb.rowCount(spec.over));
  kb.loop(first, last, kb.index(1), [&](Value row) {
    kb.loop(0, columns, kLanes, [&](Value k) {
      Value numbers = kb.loadVector(x, {row, k});
      kb.storeVector(roundToWords(kb, numbers), out, {row, kb.div(k, 2)});
    });
    kb.zeroPadding(out, row, columns / 2);
  });
}

} // namespace llmir
