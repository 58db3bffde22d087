//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LoopNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;

namespace llmir {

/// Number of adjacent elements that can be copied at once: for every start of a
/// run of the box, they are in the same row of the source and of the result.
static int64_t chunkOf(kernel::CopyBoxOp op) {
  ArrayRef<int64_t> sizes = op.getSizes(), fromStrides = op.getFromStrides(),
                    toStrides = op.getToStrides();
  if (fromStrides.back() != 1 || toStrides.back() != 1)
    return 1;
  int64_t chunk = sizes.back();
  for (uint64_t number :
       {op.getFromColumns(), op.getToColumns(), op.getFrom(), op.getTo()})
    chunk = std::gcd(chunk, static_cast<int64_t>(number));
  for (size_t d = 0; d + 1 < sizes.size(); ++d)
    if (sizes[d] > 1)
      chunk = std::gcd(chunk, std::gcd(fromStrides[d], toStrides[d]));
  return chunk;
}

static LogicalResult emitCopyBox(KernelBuilder &kb, kernel::CopyBoxOp op) {
  Value x = kb.argument(op.getXMutable());
  Value out = kb.argument(op.getOutMutable());
  ArrayRef<int64_t> sizes = op.getSizes();
  int64_t fromColumns = op.getFromColumns(), toColumns = op.getToColumns();
  bool hasPadding = cast<MemRefType>(out.getType()).getDimSize(1) != toColumns;
  int64_t chunk = chunkOf(op), count = 1;
  for (int64_t size : sizes)
    count *= size;
  auto copyChunk = [&](Value number) {
    Value rest = kb.mul(number, chunk);
    Value from = kb.index(op.getFrom()), to = kb.index(op.getTo());
    for (size_t d = sizes.size(); d-- > 0;) {
      Value i = kb.rem(rest, sizes[d]);
      from = kb.add(from, kb.mul(i, op.getFromStrides()[d]));
      to = kb.add(to, kb.mul(i, op.getToStrides()[d]));
      rest = kb.div(rest, sizes[d]);
    }
    Value fromRow = kb.div(from, fromColumns);
    Value fromColumn = kb.rem(from, fromColumns);
    Value toRow = kb.div(to, toColumns);
    Value toColumn = kb.rem(to, toColumns);
    kb.vectorLoop(chunk, [&](Value i, int64_t lanes) {
      Value values = kb.loadVector(x, {fromRow, kb.add(fromColumn, i)}, lanes);
      kb.storeVector(values, out, {toRow, kb.add(toColumn, i)});
    });
    if (!hasPadding)
      return;
    // The padding is zeroed by the worker that writes the last column.
    Value isLast = arith::CmpIOp::create(kb, arith::CmpIPredicate::eq, toColumn,
                                         kb.index(toColumns - chunk));
    kb.when(isLast, [&] { kb.zeroPadding(out, toRow, toColumns); });
  };
  // Chunks are in the order of rows.
  int64_t chunks = count / chunk;
  WorkRange own;
  if (op.getOver()) {
    auto [first, last] = nestRows(kb, sizes[0]);
    own = {kb.mul(first, chunks / sizes[0]), kb.mul(last, chunks / sizes[0])};
  } else {
    own = kb.elementRange(kb.index(chunks));
  }
  kb.loop(own.first, own.second, kb.index(1), copyChunk);
  return success();
}

void addCopyEmitters(KernelEmitters &emitters) { emitters.add(emitCopyBox); }

} // namespace llmir
