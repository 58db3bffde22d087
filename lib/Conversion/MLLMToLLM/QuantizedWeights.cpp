//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Converts annotated products to the llm dialect.
//
//===----------------------------------------------------------------------===//

#include "QuantizedWeights.h"

#include "llmir/Dialect/MLLM/MLLMExpertOps.h"
#include "llmir/Dialect/MLLM/QuantAttrs.h"
#include "llmir/Dialect/MLLM/StoredFormat.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Dialect/LLM/Transforms/QuantScheme.h"

using namespace mlir;
namespace ll = mlir::llm;

namespace llmir {

/// Null for values that are not quantized.
static mllm::QuantAttr annotationOf(Attribute value) {
  auto quant = dyn_cast_if_present<mllm::QuantAttr>(value);
  return quant && quant.getScheme() != "raw" ? quant : mllm::QuantAttr();
}

static mllm::QuantAttr annotationOf(Operation *op) {
  return annotationOf(op->getAttr(mllm::kQuantWeightsAttr));
}

namespace {
/// A matrix as an op reads it.
struct AnnotatedWeight {
  FlatSymbolRefAttr name;
  mllm::QuantAttr quant; ///< Null if it is not quantized.
};
} // namespace

/// The matrices of ops whose matrices can be quantized.
static SmallVector<AnnotatedWeight> annotatedWeightsOf(Operation *op) {
  if (auto linear = dyn_cast<mllm::LinearOp>(op))
    return {{linear.getWeightAttr(), annotationOf(op)}};
  SmallVector<AnnotatedWeight> weights;
  if (auto experts = dyn_cast<mllm::ExpertsOp>(op)) {
    weights = {{experts.getGateAttr(), {}},
               {experts.getUpAttr(), {}},
               {experts.getDownAttr(), {}}};
    if (auto all = op->getAttrOfType<ArrayAttr>(mllm::kQuantWeightsAttr))
      for (auto [weight, value] : llvm::zip_equal(weights, all))
        weight.quant = annotationOf(value);
  }
  return weights;
}

/// The annotation as integers with separate scales; nullopt if it is not a
/// supported form of weights.
static std::optional<ll::QuantScheme> schemeOf(mllm::QuantAttr quant) {
  StringRef scheme = quant.getScheme();
  const bool isSymmetric = scheme.consume_front("sym_");
  if (!isSymmetric && !scheme.consume_front("asym_"))
    return std::nullopt;
  if (scheme != "per_block" &&
      (scheme != "per_channel" || quant.getAxis() != 0))
    return std::nullopt;
  std::string name = "int" + std::to_string(quant.getBits());
  if (quant.getBlock() != 0)
    name += ":g" + std::to_string(quant.getBlock());
  return ll::QuantScheme::fromName(name + (isSymmetric ? "" : ":asym"));
}

/// The block format of the annotation, if values can be rounded to it.
static std::optional<TensorFormat> formatOf(mllm::QuantAttr quant) {
  for (TensorFormat format : {TensorFormat::Q8_0, TensorFormat::Q4_0})
    if (quant.getScheme() == StringRef(tensorFormatInfo(format).name))
      return format;
  return std::nullopt;
}

/// Checks that the annotation is supported, for these rows.
static LogicalResult checkAnnotation(Operation *op, mllm::QuantAttr quant,
                                     Type weight) {
  if (isa<mllm::ExpertsOp>(op) && !formatOf(quant))
    return op->emitOpError("has weights of the format ")
           << quant
           << ", which is not supported for experts; use the formats q8_0 and "
              "q4_0";
  if (!schemeOf(quant) && !formatOf(quant))
    return op->emitOpError("has weights of the format ")
           << quant
           << ", which is not supported; use int8 or int4 with a scale for "
              "each row or for each 32, 64 or 128 elements of a row, or the "
              "formats q8_0 and q4_0";
  auto type = dyn_cast<RankedTensorType>(weight);
  if (!type)
    return op->emitOpError("has weights of the format ")
           << quant << ", but the parameter is already quantized";
  const int64_t row = type.getShape().back();
  if (quant.getBlock() != 0 && row % quant.getBlock() != 0)
    return op->emitOpError("has weights with rows of ")
           << row << " elements, which is not a multiple of the block size "
           << quant.getBlock();
  return success();
}

namespace {
/// How the first op that reads a parameter takes it.
struct WeightUse {
  Operation *op;
  mllm::QuantAttr quant; ///< Null if it is not quantized.
};
} // namespace

/// A parameter has one stored form.
static LogicalResult checkAgreement(const WeightUse &use,
                                    const WeightUse &earlier) {
  if (use.quant == earlier.quant &&
      use.op->getAttr(mllm::kQuantInputsAttr) ==
          earlier.op->getAttr(mllm::kQuantInputsAttr))
    return success();
  InFlightDiagnostic diag = use.op->emitOpError(
      "has weights of a different format than another op with the same "
      "parameter");
  diag.attachNote(earlier.op->getLoc()) << "the other op is here";
  return diag;
}

/// Checks the annotations of an op, and collects those of parameters.
static LogicalResult
collectUses(Operation *op, llvm::MapVector<mllm::RegisterOp, WeightUse> &uses) {
  const SmallVector<AnnotatedWeight> weights = annotatedWeightsOf(op);
  if (weights.empty() && annotationOf(op))
    return op->emitOpError("has '")
           << mllm::kQuantWeightsAttr
           << "', but only weights of mllm.linalg.linear and "
              "mllm.linalg.experts can be quantized";
  for (const AnnotatedWeight &entry : weights) {
    auto weight =
        SymbolTable::lookupNearestSymbolFrom<mllm::RegisterOp>(op, entry.name);
    const WeightUse use{op, entry.quant};
    auto [earlier, isNew] = uses.try_emplace(weight, use);
    if (!isNew && failed(checkAgreement(use, earlier->second)))
      return failure();
    if (use.quant && failed(checkAnnotation(op, use.quant, weight.getType())))
      return failure();
  }
  return success();
}

LogicalResult storeQuantizedWeights(ModuleOp module) {
  llvm::MapVector<mllm::RegisterOp, WeightUse> uses;
  WalkResult walk = module.walk(
      [&](Operation *op) { return WalkResult(collectUses(op, uses)); });
  if (walk.wasInterrupted())
    return failure();
  for (auto &entry : uses) {
    mllm::QuantAttr quant = entry.second.quant;
    if (!quant || !formatOf(quant))
      continue;
    mllm::RegisterOp weight = entry.first;
    ArrayRef<int64_t> shape =
        cast<RankedTensorType>(weight.getType()).getShape();
    weight.setTypeAttr(TypeAttr::get(
        mllm::storedType(module.getContext(), shape, *formatOf(quant))));
  }
  return success();
}

FailureOr<Value> createAnnotatedProduct(OpBuilder &builder, mllm::LinearOp op,
                                        Value x, Value weight, Value bias) {
  mllm::QuantAttr quant = annotationOf(op);
  // For blocks, the weight's type has already been changed.
  const bool isInBlocks =
      quant && formatOf(quant) &&
      mllm::storedFormat(weight.getType()) == formatOf(quant);
  if (!quant || isInBlocks)
    return ll::LinearOp::create(builder, op.getLoc(), x, weight, bias)
        .getResult();
  if (failed(checkAnnotation(op, quant, weight.getType())))
    return failure();
  if (formatOf(quant))
    return op.emitOpError("has weights of the block format ")
           << quant << ", which is supported only in the step of a model";
  return ll::createQuantizedProduct(builder, op.getLoc(), x, weight, bias,
                                    *schemeOf(quant),
                                    op->hasAttr(mllm::kQuantInputsAttr) ? 8 : 0)
      .getResult();
}

} // namespace llmir
