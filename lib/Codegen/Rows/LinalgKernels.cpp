//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Norms and element-wise chains: emitted as linalg on row tiles of 16 elements,
// which the upstream vectorizer lowers to vector code.
//
//===----------------------------------------------------------------------===//

#include "../Common/Emitters.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace llmir {

/// A rank-1 view of `lanes` elements of a row of a [rows, columns] buffer.
static Value rowTile(KernelBuilder &kb, Value buffer, Value row, Value column,
                     int64_t lanes) {
  auto type = cast<MemRefType>(buffer.getType());
  Builder &b = kb;
  SmallVector<OpFoldResult> offsets{row, column};
  SmallVector<OpFoldResult> sizes{b.getIndexAttr(1), b.getIndexAttr(lanes)};
  SmallVector<OpFoldResult> strides(2, b.getIndexAttr(1));
  // Stated explicitly: for a single element, either dimension could be kept.
  auto contiguous =
      StridedLayoutAttr::get(kb.getContext(), ShapedType::kDynamic, {1});
  auto view = MemRefType::get({lanes}, type.getElementType(), contiguous);
  return memref::SubViewOp::create(kb, view, buffer, offsets, sizes, strides);
}

/// The same for a rank-1 buffer.
static Value vectorTile(KernelBuilder &kb, Value buffer, Value from,
                        int64_t lanes) {
  Builder &b = kb;
  return memref::SubViewOp::create(
      kb, buffer, ArrayRef<OpFoldResult>{from},
      ArrayRef<OpFoldResult>{b.getIndexAttr(lanes)},
      ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
}

/// A rank-1 element-wise linalg.generic; `body` gets the elements of inputs and
/// output and returns the new element of the output.
static void
generic(KernelBuilder &kb, ValueRange inputs, Value output,
        llvm::function_ref<Value(OpBuilder &, Location, ValueRange)> body) {
  AffineMap identity = kb.getMultiDimIdentityMap(1);
  SmallVector<AffineMap> maps(inputs.size() + 1, identity);
  linalg::GenericOp::create(
      kb, inputs, output, maps,
      ArrayRef<utils::IteratorType>{utils::IteratorType::parallel},
      [&](OpBuilder &b, Location loc, ValueRange elements) {
        linalg::YieldOp::create(b, loc, body(b, loc, elements));
      });
}

//===----------------------------------------------------------------------===//
// RMSNorm
//===----------------------------------------------------------------------===//

/// Sum of squares of `width` elements of the row from `start` on: 16 partial
/// sums over ascending elements, then the fixed tree.
static Value sumOfSquares(KernelBuilder &kb, Value x, Value row, Value start,
                          int64_t width, Value partial) {
  kb.storeVector(kb.floatConstant(kb.f32x16(), 0.0), partial, kb.index(0));
  kb.vectorLoop(width, [&](Value i, int64_t lanes) {
    Value tile = rowTile(kb, x, row, kb.add(start, i), lanes);
    Value sums = vectorTile(kb, partial, kb.index(0), lanes);
    generic(kb, tile, sums,
            [](OpBuilder &b, Location loc, ValueRange e) -> Value {
              return math::FmaOp::create(b, loc, e[0], e[0], e[1]);
            });
  });
  return kb.foldLanes(kb.loadVector(partial, kb.index(0)),
                      [&](Value a, Value b) { return kb.addf(a, b); });
}

static LogicalResult emitRmsNorm(KernelBuilder &kb, kernel::RmsNormOp op) {
  Value weight = kb.argument(op.getWeightMutable());
  Value x = kb.argument(op.getXMutable());
  Value out = kb.argument(op.getOutMutable());
  int64_t groups = op.getGroups(), columns = op.getColumns();
  // A whole row is normalized with its zero padding, so that the padding of
  // the output is zero too; a head within a row has no padding.
  int64_t padded = cast<MemRefType>(x.getType()).getDimSize(1);
  int64_t width = groups == 1 ? padded : columns;
  Value partial = memref::AllocaOp::create(
      kb, MemRefType::get({kLanes}, kb.getF32Type()), kb.getI64IntegerAttr(64));
  auto normalize = [&](Value row, Value group) {
    Value start = kb.mul(group, columns);
    Value squares = sumOfSquares(kb, x, row, start, width, partial);
    Value mean = kb.divf(squares, kb.f32(columns));
    Value root = math::SqrtOp::create(
        kb, kb.addf(mean, kb.f32(op.getEps().convertToDouble())));
    Value scale = kb.divf(kb.f32(1.0), root);
    kb.vectorLoop(width, [&](Value i, int64_t lanes) {
      Value column = kb.add(start, i);
      SmallVector<Value> inputs{rowTile(kb, x, row, column, lanes)};
      if (weight)
        inputs.push_back(vectorTile(kb, weight, i, lanes));
      generic(kb, inputs, rowTile(kb, out, row, column, lanes),
              [&](OpBuilder &b, Location loc, ValueRange e) -> Value {
                Value scaled = arith::MulFOp::create(b, loc, e[0], scale);
                if (!weight)
                  return scaled;
                return arith::MulFOp::create(b, loc, scaled, e[1]);
              });
    });
  };
  if (groups == 1) {
    auto [first, last] = kb.rowRange();
    kb.loop(first, last, kb.index(1),
            [&](Value row) { normalize(row, kb.index(0)); });
    return success();
  }
  Value rows = kb.rowCount();
  auto [first, last] = kb.headRange(groups, columns);
  kb.loop(kb.index(0), rows, kb.index(1),
          [&, first = first, last = last](Value row) {
            kb.loop(first, last, kb.index(1), [&](Value group) {
              normalize(row, group);
              kb.zeroPaddingAfterHeads(out, row, group, groups, columns);
            });
          });
  return success();
}

//===----------------------------------------------------------------------===//
// Element-wise chains
//===----------------------------------------------------------------------===//

static LogicalResult emitElementwise(KernelBuilder &kb,
                                     kernel::ElementwiseOp op) {
  SmallVector<Value> buffers = kb.arguments(op.getInputsMutable());
  Value out = kb.argument(op.getOutMutable());
  Block &scalarBody = op.getBody().front();
  auto [firstTile, lastTile] = kb.tileRange();
  Value rows = kb.rowCount();
  kb.loop(kb.index(0), rows, kb.index(1),
          [&, first = firstTile, last = lastTile](Value row) {
            kb.loop(first, last, kb.index(1), [&](Value tile) {
              Value column = kb.mul(tile, kTileRows);
              SmallVector<Value> inputs;
              for (Value buffer : buffers)
                inputs.push_back(rowTile(kb, buffer, row, column, kTileRows));
              generic(
                  kb, inputs, rowTile(kb, out, row, column, kTileRows),
                  [&](OpBuilder &b, Location, ValueRange elements) -> Value {
                    IRMapping mapping;
                    mapping.map(scalarBody.getArguments(),
                                elements.drop_back());
                    for (Operation &op : scalarBody.without_terminator())
                      b.clone(op, mapping);
                    return mapping.lookup(
                        scalarBody.getTerminator()->getOperand(0));
                  });
            });
          });
  return success();
}

void addLinalgEmitters(KernelEmitters &emitters) {
  emitters.add(emitRmsNorm);
  emitters.add(emitElementwise);
}

} // namespace llmir
