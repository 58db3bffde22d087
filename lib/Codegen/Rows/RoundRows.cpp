//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Rounds activations to bf16, once per row for all matmuls that read it. Uses
// integer arithmetic: conversion instructions flush denormals on some levels
// only.
//
//===----------------------------------------------------------------------===//

#include "../Common/Emitters.h"

using namespace mlir;

namespace llmir {

static LogicalResult emitRoundRows(KernelBuilder &kb, kernel::RoundRowsOp op) {
  Value x = kb.argument(op.getXMutable());
  Value out = kb.argument(op.getOutMutable());
  // The padding of f32 rows is zero, and so is that of the words.
  int64_t columns = roundUpTo(op.getColumns(), kLanes);
  auto [first, last] = kb.rowRange();
  kb.loop(first, last, kb.index(1), [&](Value row) {
    kb.loop(0, columns, kLanes, [&](Value k) {
      Value elements = kb.loadVector(x, {row, k});
      Value words = roundToWords(kb, elements);
      kb.storeVector(words, out, {row, kb.div(k, 2)});
    });
    kb.zeroPadding(out, row, columns / 2);
  });
  return success();
}

void addRowRounders(KernelEmitters &emitters) { emitters.add(emitRoundRows); }

} // namespace llmir
