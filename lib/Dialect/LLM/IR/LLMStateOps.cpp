//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The verifiers of ops on the states of layers. Labels (c1, …) are those of the
// op's description in LLMStateOps.td.
//
//===----------------------------------------------------------------------===//

#include "LLMVerification.h"
#include "mlir/Dialect/LLM/IR/LLM.h"

using namespace mlir;
using namespace mlir::llm;

Value CausalConvOp::getCacheInput() { return getCache(); }
Value CausalConvOp::getCacheOutput() { return getUpdatedCache(); }
Value CausalConvOp::getLayerOperand() { return getLayer(); }
SmallVector<Value> CausalConvOp::getBlockOperands() { return {}; }

Value LinearAttentionOp::getCacheInput() { return getCache(); }
Value LinearAttentionOp::getCacheOutput() { return getUpdatedCache(); }
Value LinearAttentionOp::getLayerOperand() { return getLayer(); }
SmallVector<Value> LinearAttentionOp::getBlockOperands() { return {}; }

/// Parts of a record are whole vectors.
static LogicalResult verifyOffset(Operation *op, int64_t offset) {
  if (offset >= 0 && offset % 16 == 0)
    return success();
  return op->emitOpError() << "has its state at " << offset
                           << ", expected a multiple of 16, 0 or more";
}

LogicalResult CausalConvOp::verify() {
  RankedTensorType x = getX().getType(), weight = getWeight().getType();
  if (!sizesAgree(x.getDimSize(1), weight.getDimSize(1)) ||
      x.getElementType() != weight.getElementType()) // c1
    return emitOpError() << "has inputs of type " << x
                         << ", but factors of type " << weight;
  int64_t taps = weight.getDimSize(0);
  if (!ShapedType::isDynamic(taps) && (taps < 1 || taps > 64)) // c2
    return emitOpError() << "has " << taps
                         << " factors per channel, expected 1 to 64";
  return verifyOffset(*this, getOffset()); // c3
}

LogicalResult LinearAttentionOp::verify() {
  RankedTensorType q = getQ().getType(), k = getK().getType(),
                   v = getV().getType();
  if (q != k) // c1
    return emitOpError() << "has queries of type " << q << ", but keys of type "
                         << k;
  if (!sizesAgree(k.getDimSize(0), v.getDimSize(0)) ||
      k.getElementType() != v.getElementType()) // c2
    return emitOpError() << "has keys of type " << k << ", but values of type "
                         << v;
  int64_t heads = v.getDimSize(1), keyHeads = k.getDimSize(1);
  bool isKnown =
      !ShapedType::isDynamic(heads) && !ShapedType::isDynamic(keyHeads);
  if (isKnown && (keyHeads == 0 || heads % keyHeads != 0)) // c3
    return emitOpError() << "has " << heads
                         << " value heads, which is not a multiple of the "
                            "number of key heads, "
                         << keyHeads;
  for (Value factors : {Value(getDecay()), Value(getBeta())}) {
    if (!factors)
      continue;
    RankedTensorType type = tensorType(factors);
    if (!sizesAgree(type.getDimSize(0), v.getDimSize(0)) ||
        !sizesAgree(type.getDimSize(1), heads) ||
        type.getElementType() != v.getElementType()) // c2, c4
      return emitOpError() << "has values of type " << v
                           << ", but factors of type " << type;
  }
  return verifyOffset(*this, getOffset()); // c5
}
