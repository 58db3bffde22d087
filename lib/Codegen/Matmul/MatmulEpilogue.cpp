//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The epilogue of matmul kernels: applies the scalar region of the kernel to
// sums before they are stored, 16 columns at once.
//
//===----------------------------------------------------------------------===//

#include "MatmulTiles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace llmir {

/// The values that the region yields for vector arguments of 16 lanes. Its ops
/// are element-wise, so they apply to vectors as well.
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

MatmulOutput matmulOutput(KernelBuilder &kb, kernel::LinearOp op) {
  MatmulOutput output{kb.argument(op.getOutMutable()),
                      kb.argument(op.getBiasMutable()), kb.index(0),
                      kb.rowCount()};
  if (op.getBody().empty())
    return output;
  output.read = kb.arguments(op.getInputsMutable());
  output.epilogue = [&kb, inputs = output.read, region = &op.getBody().front()](
                        Value sum, Value token, Value column) {
    SmallVector<Value> arguments{sum};
    for (Value input : inputs)
      arguments.push_back(kb.loadVector(input, {token, column}));
    return cloneOnLanes(kb, *region, arguments);
  };
  return output;
}

} // namespace llmir
