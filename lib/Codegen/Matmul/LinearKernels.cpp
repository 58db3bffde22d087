//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matmuls with packed weights of any format: `linear` and `moe_linear`.
//
//===----------------------------------------------------------------------===//

#include "IntegerMatmul.h"

using namespace mlir;

namespace llmir {

/// The matmul of a kernel whose attributes specify the weight format, with the
/// matrix at `weights` and the rows at `x`.
template <typename OpT>
static void emitMatmul(KernelBuilder &kb, OpT op, Value weights, Value x,
                       const MatmulOutput &output) {
  int64_t rows = op.getRows(), columns = op.getColumns();
  if (auto integers = IntegerFormat::fromName(op.getFormat())) {
    IntegerMatrixLayout layout{*integers, rows, columns};
    return emitIntegerMatmul(kb, {layout, weights}, x,
                             op.getSegment().value_or(0), output);
  }
  PackedMatrixLayout layout{*tensorFormatFromName(op.getFormat()), rows,
                            columns};
  emitPlainMatmul(kb, layout, weights, x, output);
}

static LogicalResult emitLinear(KernelBuilder &kb, kernel::LinearOp op) {
  emitMatmul(kb, op, kb.argument(op.getWeightMutable()),
             kb.argument(op.getXMutable()), matmulOutput(kb, op));
  return success();
}

static LogicalResult emitMoELinear(KernelBuilder &kb, kernel::MoELinearOp op) {
  Value x = kb.argument(op.getXMutable());
  int64_t bytes =
      packedMatrixBytes(op.getFormat(), op.getRows(), op.getColumns());
  overExperts(kb, op, bytes, [&](Value matrix, const MatmulOutput &output) {
    emitMatmul(kb, op, matrix, x, output);
  });
  return success();
}

void addMatmulEmitters(KernelEmitters &emitters) {
  emitters.add(emitLinear);
  emitters.add(emitMoELinear);
}

} // namespace llmir
