//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Positions, caches and attention.
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/MLLMAttentionOps.h"

#include <cmath>

using namespace mlir;
using namespace llmir;
using namespace llmir::mllm;

#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/MLLMAttentionOps.cpp.inc"

void MLLMDialect::addAttentionOps() {
  addOperations<
#define GET_OP_LIST
#include "llmir/Dialect/MLLM/MLLMAttentionOps.cpp.inc"
      >();
}

/// A size as IR spells it: a number, or `?`.
static std::string sizeText(int64_t size) {
  return ShapedType::isDynamic(size) ? "?" : std::to_string(size);
}

/// Checks that two values have equal sizes in dimension `dim`; `what` names
/// that dimension's unit in the plural.
static LogicalResult verifySameSize(Operation *op, Value a, StringRef aName,
                                    Value b, StringRef bName, int64_t dim,
                                    StringRef what) {
  int64_t aSize = tensorType(a).getDimSize(dim);
  int64_t bSize = tensorType(b).getDimSize(dim);
  if (aSize == bSize)
    return success();
  return op->emitOpError() << aName << " has " << sizeText(aSize) << " " << what
                           << ", but " << bName << " has " << sizeText(bSize);
}

static LogicalResult verifySameTokens(Operation *op, Value a, StringRef aName,
                                      Value b, StringRef bName) {
  return verifySameSize(op, a, aName, b, bName, 0, "tokens");
}

LogicalResult RoPEOp::verify() {
  int64_t count = getFrequencies().size();
  int64_t headDim = tensorType(getX()).getDimSize(2);
  // c1
  if (count < 1 || 2 * count > headDim)
    return emitOpError() << "has " << count << " frequencies for heads of size "
                         << headDim << ", want 1 to " << headDim / 2;
  // c2
  for (auto [index, frequency] : llvm::enumerate(getFrequencies()))
    if (!std::isfinite(frequency))
      return emitOpError() << "frequency #" << index << " is " << frequency
                           << ", want a finite number";
  // c3
  return verifyPositive(*this, getScaling(), "scaling");
}

LogicalResult KVCacheOp::verify() {
  Operation *op = *this;
  // c1
  if (failed(verifySameTokens(op, getK(), "k", getV(), "v")) ||
      failed(verifySameSize(op, getK(), "k", getV(), "v", 1, "heads")))
    return failure();
  // c2
  for (int64_t dim : {1, 2}) {
    StringRef unit = dim == 1 ? "heads" : "values per head";
    if (failed(verifySameSize(op, getK(), "k", getKeys(), "keys", dim, unit)) ||
        failed(
            verifySameSize(op, getV(), "v", getValues(), "values", dim, unit)))
      return failure();
  }
  // c3
  if (failed(verifySameTokens(op, getKeys(), "keys", getValues(), "values")))
    return failure();
  // c4
  if (static_cast<int64_t>(getLayer()) < 0)
    return emitOpError() << "'layer' is " << static_cast<int64_t>(getLayer())
                         << ", want 0 or more";
  return success();
}

LogicalResult FlashAttention2Op::verify() {
  Operation *op = *this;
  int64_t heads = tensorType(getQ()).getDimSize(1);
  int64_t keyHeads = tensorType(getK()).getDimSize(1);
  // c1
  if (keyHeads < 1 || heads % keyHeads != 0)
    return emitOpError() << "q has " << heads
                         << " heads, want a multiple of k's " << keyHeads;
  // c2
  if (failed(
          verifySameSize(op, getQ(), "q", getK(), "k", 2, "values per head")))
    return failure();
  // c3
  if (failed(verifySameTokens(op, getK(), "k", getV(), "v")) ||
      failed(verifySameSize(op, getK(), "k", getV(), "v", 1, "heads")))
    return failure();
  // c4
  if (failed(verifySameTokens(op, getQ(), "q", getResult(), "the result")) ||
      failed(verifySameSize(op, getQ(), "q", getResult(), "the result", 1,
                            "heads")) ||
      failed(verifySameSize(op, getV(), "v", getResult(), "the result", 2,
                            "values per head")))
    return failure();
  // c5
  return verifyPositive(op, getScale(), "scale");
}
