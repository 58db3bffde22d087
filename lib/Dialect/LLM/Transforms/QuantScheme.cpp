//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parsing of quantization schemes, and creation of quantized products.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLM/Transforms/QuantScheme.h"

using namespace mlir;
using namespace mlir::llm;

std::optional<QuantScheme> QuantScheme::fromName(StringRef name) {
  QuantScheme scheme;
  if (name.consume_front("int4"))
    scheme.bits = 4;
  else if (!name.consume_front("int8"))
    return std::nullopt;
  for (int64_t size : {32, 64, 128})
    if (name.consume_front(":g" + std::to_string(size))) {
      scheme.groupSize = size;
      break;
    }
  if (name.consume_front(":asym"))
    scheme.symmetric = false;
  if (!name.empty())
    return std::nullopt;
  return scheme;
}

std::string QuantScheme::name() const {
  std::string name = "int" + std::to_string(bits);
  if (groupSize != -1)
    name += ":g" + std::to_string(groupSize);
  if (!symmetric)
    name += ":asym";
  return name;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {
/// A quantized weight.
struct QuantizedWeight {
  Value numbers, scales, zeroPoints;
};
} // namespace

/// True if `op` precedes the insertion point, considering a single block only.
static bool runsBefore(Operation *op, OpBuilder::InsertPoint place) {
  Block *block = op->getBlock();
  if (place.getBlock() == block)
    return place.getPoint() == block->end() ||
           op->isBeforeInBlock(&*place.getPoint());
  Operation *inBlock =
      block->findAncestorOpInBlock(*place.getBlock()->getParentOp());
  return inBlock && op->isBeforeInBlock(inBlock);
}

/// Returns the quantized form of `weight` before the insertion point of
/// `builder`: an existing one, or a new one right after the weight.
static QuantizedWeight getQuantized(OpBuilder &builder, Value weight,
                                    const QuantScheme &scheme) {
  for (Operation *reader : weight.getUsers()) {
    auto quantize = dyn_cast<QuantizeOp>(reader);
    if (!quantize || !runsBefore(quantize, builder.saveInsertionPoint()))
      continue;
    auto params = quantize.getScales().getDefiningOp<QuantParamsOp>();
    if (params && params.getX() == weight && params.getBits() == scheme.bits &&
        params.getSymmetric() == scheme.symmetric && params.getAxis() == 0 &&
        params.getGroupSize() == scheme.groupSize &&
        quantize.getZeroPoints() == params.getZeroPoints() &&
        quantize.getType() == params.getQuantizedType())
      return {quantize, params.getScales(), params.getZeroPoints()};
  }
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(weight);
  auto params =
      QuantParamsOp::create(builder, weight.getLoc(), weight, scheme.bits,
                            scheme.symmetric, /*axis=*/0, scheme.groupSize);
  auto quantize = QuantizeOp::create(
      builder, weight.getLoc(), params.getQuantizedType(), weight,
      params.getScales(), params.getZeroPoints(), /*bits=*/IntegerAttr(),
      /*symmetric=*/BoolAttr(), /*axis=*/IntegerAttr(),
      /*group_size=*/IntegerAttr());
  return {quantize, params.getScales(), params.getZeroPoints()};
}

QuantizedMatmulOp mlir::llm::createQuantizedProduct(OpBuilder &builder,
                                                    Location loc, Value x,
                                                    Value weight, Value bias,
                                                    const QuantScheme &scheme,
                                                    int64_t activationBits) {
  QuantizedWeight quantized = getQuantized(builder, weight, scheme);
  auto product = QuantizedMatmulOp::create(
      builder, loc, x, quantized.numbers, quantized.scales,
      quantized.zeroPoints, bias, /*transposeRhs=*/true, activationBits);
  int64_t group = scheme.inputGroup();
  if (activationBits && group != product.getActivationGroupOrDefault())
    product.setActivationGroup(group);
  return product;
}
