//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emitters.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;

namespace llmir {

void emitSelectRows(KernelBuilder &kb, const SelectRowsSpec &spec) {
  Value x = kb.buffer(0), out = kb.buffer(1);
  int64_t padded = cast<MemRefType>(out.getType()).getDimSize(1);
  auto [first, last] = kb.share(kb.rowCount(RowSpace::LogitRows));
  kb.loop(first, last, kb.index(1), [&](Value row) {
    Value token = kb.contextArray(StepField::logit_rows, row);
    kb.vectorLoop(padded, [&](Value k, int64_t lanes) {
      kb.storeVector(kb.loadVector(x, {token, k}, lanes), out, {row, k});
    });
  });
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

/// Numbers of neighbouring elements that can be copied at once: they lie in one
/// row on both sides, wherever a run of the box begins.
static int64_t chunkOf(const CopyBoxSpec &spec) {
  if (spec.fromStrides.back() != 1 || spec.toStrides.back() != 1)
    return 1;
  int64_t chunk = spec.sizes.back();
  for (int64_t number : {spec.fromColumns, spec.toColumns, spec.from, spec.to})
    chunk = std::gcd(chunk, number);
  for (size_t d = 0; d + 1 < spec.sizes.size(); ++d)
    if (spec.sizes[d] > 1)
      chunk = std::gcd(chunk, std::gcd(spec.fromStrides[d], spec.toStrides[d]));
  return chunk;
}

void emitCopyBox(KernelBuilder &kb, const CopyBoxSpec &spec) {
  Value x = kb.buffer(0), out = kb.buffer(1);
  bool hasPadding =
      cast<MemRefType>(out.getType()).getDimSize(1) != spec.toColumns;
  int64_t chunk = chunkOf(spec), count = 1;
  for (int64_t size : spec.sizes)
    count *= size;
  auto [first, last] = kb.share(kb.index(count / chunk));
  kb.loop(first, last, kb.index(1), [&](Value number) {
    Value rest = kb.mul(number, chunk);
    Value from = kb.index(spec.from), to = kb.index(spec.to);
    for (size_t d = spec.sizes.size(); d-- > 0;) {
      Value i = kb.rem(rest, spec.sizes[d]);
      from = kb.add(from, kb.mul(i, spec.fromStrides[d]));
      to = kb.add(to, kb.mul(i, spec.toStrides[d]));
      rest = kb.div(rest, spec.sizes[d]);
    }
    Value fromRow = kb.div(from, spec.fromColumns);
    Value fromColumn = kb.rem(from, spec.fromColumns);
    Value toRow = kb.div(to, spec.toColumns);
    Value toColumn = kb.rem(to, spec.toColumns);
    kb.vectorLoop(chunk, [&](Value i, int64_t lanes) {
      Value values = kb.loadVector(x, {fromRow, kb.add(fromColumn, i)}, lanes);
      kb.storeVector(values, out, {toRow, kb.add(toColumn, i)});
    });
    if (!hasPadding)
      return;
    // Whoever writes the last column writes what is behind it.
    Value isLast = arith::CmpIOp::create(kb, arith::CmpIPredicate::eq, toColumn,
                                         kb.index(spec.toColumns - chunk));
    kb.when(isLast, [&] { kb.zeroPadding(out, toRow, spec.toColumns); });
  });
}

} // namespace llmir
