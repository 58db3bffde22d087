//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a matmul kernel does with its sums before it stores them: the scalar
// region of the kernel, on 16 columns at once.
//
//===----------------------------------------------------------------------===//

#include "MatmulTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace llmir {

/// What the region yields for arguments of 16 lanes. Its ops work on numbers
/// one by one, so each means the same on vectors of them.
static Value cloneOnLanes(KernelBuilder &kb, Block &region,
                          ArrayRef<Value> arguments) {
  IRMapping mapping;
  mapping.map(region.getArguments(), arguments);
  auto onLanes = [&](Type type) { return kb.vec(kLanes, type); };
  for (Operation &op : region.without_terminator()) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      auto splat = SplatElementsAttr::get(onLanes(constant.getType()),
                                          Attribute(constant.getValue()));
      mapping.map(constant.getResult(),
                  arith::ConstantOp::create(kb, splat).getResult());
      continue;
    }
    Operation *clone = kb.clone(op, mapping);
    for (OpResult result : clone->getResults())
      result.setType(onLanes(result.getType()));
  }
  return mapping.lookup(region.getTerminator()->getOperand(0));
}

void MatmulOutput::store(KernelBuilder &kb, Value sum, Value token,
                         Value column) const {
  Value value = sum;
  if (bias)
    value = kb.addf(value, kb.loadVector(bias, column));
  if (epilogue)
    value = epilogue(value, token, column);
  kb.storeVector(value, y, {token, column});
}

MatmulOutput matmulOutput(KernelBuilder &kb, const MatmulTarget &target) {
  int64_t operands =
      target.region ? target.region->getNumArguments() - 1 : int64_t(0);
  MatmulOutput output{
      kb.buffer(1 + operands), target.bias ? kb.weight(1) : Value(),
      kb.index(0), kb.rowCount(target.over), std::max<int64_t>(target.unit, 1)};
  if (!target.region)
    return output;
  for (int64_t i = 0; i < operands; ++i)
    output.read.push_back(kb.buffer(1 + i));
  output.epilogue = [&kb, operands, region = target.region](
                        Value sum, Value token, Value column) {
    SmallVector<Value> arguments{sum};
    for (int64_t i = 0; i < operands; ++i)
      arguments.push_back(kb.loadVector(kb.buffer(1 + i), {token, column}));
    return cloneOnLanes(kb, *region, arguments);
  };
  return output;
}

} // namespace llmir
