//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matmuls with packed weights of any format: `linear`, `head_linear` and
// `moe_linear`.
//
//===----------------------------------------------------------------------===//

#include "IntegerMatmul.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

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

/// Columns [first, first + count) of all rows.
static Value columnsOf(KernelBuilder &kb, Value rows, Value first,
                       int64_t count) {
  int64_t numRows = cast<MemRefType>(rows.getType()).getDimSize(0);
  OpFoldResult zero = kb.getIndexAttr(0), one = kb.getIndexAttr(1);
  return memref::SubViewOp::create(
      kb, rows, ArrayRef<OpFoldResult>{zero, first},
      ArrayRef<OpFoldResult>{kb.getIndexAttr(numRows), kb.getIndexAttr(count)},
      ArrayRef<OpFoldResult>{one, one});
}

/// The elements of a row of x that is multiplied by a matrix of the kernel.
static int64_t inputColumns(kernel::HeadLinearOp op) {
  int64_t rows = op.getRows(), columns = op.getColumns();
  if (auto integers = IntegerFormat::fromName(op.getFormat())) {
    if (!op.getSegment())
      return columns;
    return QuantizedRowLayout::forWeights({*integers, rows, columns},
                                          *op.getSegment())
        .words();
  }
  return op.getFormat() == "bf16" ? kernel::RoundRowsOp::words(columns)
                                  : columns;
}

/// The matrix of each head, for the heads that the worker's tiles belong to.
static LogicalResult emitHeadLinear(KernelBuilder &kb,
                                    kernel::HeadLinearOp op) {
  Value weight = kb.argument(op.getWeightMutable());
  Value x = kb.argument(op.getXMutable()), y = kb.argument(op.getOutMutable());
  int64_t rows = op.getRows(), tiles = rows / kTileRows;
  int64_t bytes = packedMatrixBytes(op.getFormat(), rows, op.getColumns());
  int64_t columns = inputColumns(op);
  auto [first, last] = kb.tileRange();
  Value endHead = kb.div(kb.add(last, tiles - 1), tiles);
  kb.loop(kb.div(first, tiles), endHead, kb.index(1),
          [&, first = first, last = last](Value head) {
            Value before = kb.mul(head, tiles);
            auto inHead = [&](Value tile) -> Value {
              Value from =
                  arith::MaxSIOp::create(kb, kb.sub(tile, before), kb.index(0));
              return kb.min(from, kb.index(tiles));
            };
            Value matrix = memref::SubViewOp::create(
                kb, weight, ArrayRef<OpFoldResult>{kb.mul(head, bytes)},
                ArrayRef<OpFoldResult>{kb.getIndexAttr(bytes)},
                ArrayRef<OpFoldResult>{kb.getIndexAttr(1)});
            MatmulOutput output{columnsOf(kb, y, kb.mul(head, rows), rows),
                                Value(), kb.index(0), kb.rowCount()};
            output.tiles = WorkRange{inHead(first), inHead(last)};
            emitMatmul(kb, op, matrix,
                       columnsOf(kb, x, kb.mul(head, columns), columns),
                       output);
          });
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
  emitters.add(emitHeadLinear);
  emitters.add(emitMoELinear);
}

} // namespace llmir
