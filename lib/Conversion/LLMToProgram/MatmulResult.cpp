//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MatmulResult.h"

using namespace mlir;

namespace llmir {

FailureOr<MatmulResult> MatmulResult::create(ProgramConversion &c,
                                             Operation *op, const RowsValue &x,
                                             int64_t columns, Value input) {
  MatmulResult result;
  result.touched.push_back({input, false, std::nullopt});
  Operation *root = kernelRoot(op);
  if (root == op) {
    result.out = c.createResult(op->getResult(0), x, columns);
  } else {
    result.chain.emplace(root);
    RowsValue like = x;
    like.columns = columns;
    // Other workers may still read the input when this one stores a result.
    SmallVector<Value> overwritable;
    SmallVector<RowsValue> operands;
    for (Value leaf : result.chain->operands()) {
      FailureOr<RowsValue> rows = c.lookup(root, leaf, columns);
      if (failed(rows))
        return failure();
      if (rows->over != x.over)
        return root->emitOpError("combines rows of every token with rows that "
                                 "were selected");
      operands.push_back(*rows);
      if (rows->buffer != input)
        overwritable.push_back(leaf);
    }
    result.out = c.reuseOrCreate(root, overwritable, root->getResult(0), like);
    for (const RowsValue &rows : operands)
      result.touched.push_back({rows.buffer, false, result.out.columnShare()});
  }
  result.touched.push_back({result.out.buffer, true, result.out.columnShare()});
  return result;
}

std::string MatmulResult::name(std::string base) const {
  return chain ? base + "_" + chain->name() : base;
}

} // namespace llmir
