//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Norms and element-wise chains: linalg on row tiles of 16 elements, which
// upstream's vectorizer turns into vector code.
//
//===----------------------------------------------------------------------===//

#include "Emitters.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace llmir {

/// `lanes` elements of a row of a [rows, columns] buffer, as a rank-1 view.
static Value rowTile(KernelBuilder &kb, Value buffer, Value row, Value column,
                     int64_t lanes) {
  auto type = cast<MemRefType>(buffer.getType());
  Builder &b = kb;
  SmallVector<OpFoldResult> offsets{row, column};
  SmallVector<OpFoldResult> sizes{b.getIndexAttr(1), b.getIndexAttr(lanes)};
  SmallVector<OpFoldResult> strides(2, b.getIndexAttr(1));
  // Said outright: of a single element, either dimension could be the one kept.
  auto contiguous =
      StridedLayoutAttr::get(kb.getContext(), ShapedType::kDynamic, {1});
  auto view = MemRefType::get({lanes}, type.getElementType(), contiguous);
  return memref::SubViewOp::create(kb, view, buffer, offsets, sizes, strides);
}

/// The same of a rank-1 buffer.
static Value vectorTile(KernelBuilder &kb, Value buffer, Value from,
                        int64_t lanes) {
  Builder &b = kb;
  return memref::SubViewOp::create(
      kb, buffer, ArrayRef<OpFoldResult>{from},
      ArrayRef<OpFoldResult>{b.getIndexAttr(lanes)},
      ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
}

/// A rank-1 element-wise linalg.generic; `body` gets the elements of inputs
/// and output and gives the output's new element.
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

void emitRmsNorm(KernelBuilder &kb, const RmsNormSpec &spec) {
  Value x = kb.buffer(0), out = kb.buffer(1);
  // A whole row is normalised with its zero padding, so that the padding of
  // the output is zero too; a head within a row has none.
  int64_t padded = cast<MemRefType>(x.getType()).getDimSize(1);
  int64_t width = spec.groups == 1 ? padded : spec.columns;
  Value partial = memref::AllocaOp::create(
      kb, MemRefType::get({kLanes}, kb.getF32Type()), kb.getI64IntegerAttr(64));
  auto normalize = [&](Value row, Value group) {
    Value start = kb.mul(group, spec.columns);
    Value squares = sumOfSquares(kb, x, row, start, width, partial);
    Value mean = kb.divf(squares, kb.f32(spec.columns));
    Value root = math::SqrtOp::create(kb, kb.addf(mean, kb.f32(spec.eps)));
    Value scale = kb.divf(kb.f32(1.0), root);
    kb.vectorLoop(width, [&](Value i, int64_t lanes) {
      Value column = kb.add(start, i);
      SmallVector<Value> inputs{rowTile(kb, x, row, column, lanes)};
      if (spec.weight)
        inputs.push_back(vectorTile(kb, kb.weight(0), i, lanes));
      generic(kb, inputs, rowTile(kb, out, row, column, lanes),
              [&](OpBuilder &b, Location loc, ValueRange e) -> Value {
                Value scaled = arith::MulFOp::create(b, loc, e[0], scale);
                if (!spec.weight)
                  return scaled;
                return arith::MulFOp::create(b, loc, scaled, e[1]);
              });
    });
  };
  Value rows = kb.rowCount(spec.over);
  if (spec.groups == 1) {
    auto [first, last] = kb.share(rows);
    kb.loop(first, last, kb.index(1),
            [&](Value row) { normalize(row, kb.index(0)); });
    return;
  }
  auto [first, last] = kb.shareHeads(spec.groups, spec.columns);
  kb.loop(kb.index(0), rows, kb.index(1),
          [&, first = first, last = last](Value row) {
            kb.loop(first, last, kb.index(1), [&](Value group) {
              normalize(row, group);
              kb.zeroPaddingBehindHeads(out, row, group, spec.groups,
                                        spec.columns);
            });
          });
}

//===----------------------------------------------------------------------===//
// Element-wise chains
//===----------------------------------------------------------------------===//

void emitElementwise(KernelBuilder &kb, const ElementwiseSpec &spec,
                     Block &scalarBody) {
  unsigned numInputs = scalarBody.getNumArguments();
  Value out = kb.buffer(numInputs);
  auto [firstTile, lastTile] =
      kb.share(kb.index(ceilDiv(spec.columns, kTileRows)), spec.unit);
  Value rows = kb.rowCount(spec.over);
  kb.loop(
      kb.index(0), rows, kb.index(1),
      [&, first = firstTile, last = lastTile](Value row) {
        kb.loop(first, last, kb.index(1), [&](Value tile) {
          Value column = kb.mul(tile, kTileRows);
          SmallVector<Value> inputs;
          for (unsigned i = 0; i < numInputs; ++i)
            inputs.push_back(rowTile(kb, kb.buffer(i), row, column, kTileRows));
          generic(kb, inputs, rowTile(kb, out, row, column, kTileRows),
                  [&](OpBuilder &b, Location, ValueRange elements) -> Value {
                    IRMapping mapping;
                    mapping.map(scalarBody.getArguments(),
                                elements.take_front(numInputs));
                    for (Operation &op : scalarBody.without_terminator())
                      b.clone(op, mapping);
                    return mapping.lookup(
                        scalarBody.getTerminator()->getOperand(0));
                  });
        });
      });
}

} // namespace llmir
