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

#include "llmir/Dialect/MLLM/QuantAttrs.h"
#include "llmir/Dialect/MLLM/StoredFormat.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Dialect/LLM/Transforms/QuantScheme.h"

using namespace mlir;
namespace ll = mlir::llm;

namespace llmir {

static mllm::QuantAttr annotationOf(Operation *op) {
  auto quant = op->getAttrOfType<mllm::QuantAttr>(mllm::kQuantWeightsAttr);
  return quant && quant.getScheme() != "raw" ? quant : mllm::QuantAttr();
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
static LogicalResult checkAnnotation(mllm::LinearOp op, mllm::QuantAttr quant,
                                     Type weight) {
  if (!schemeOf(quant) && !formatOf(quant))
    return op.emitOpError("has weights of the format ")
           << quant
           << ", which is not supported; use int8 or int4 with a scale for "
              "each row or for each 32, 64 or 128 elements of a row, or the "
              "formats q8_0 and q4_0";
  auto type = dyn_cast<RankedTensorType>(weight);
  if (!type)
    return op.emitOpError("has weights of the format ")
           << quant << ", but the parameter is already quantized";
  const int64_t row = type.getShape().back();
  if (quant.getBlock() != 0 && row % quant.getBlock() != 0)
    return op.emitOpError("has weights with rows of ")
           << row << " elements, which is not a multiple of the block size "
           << quant.getBlock();
  return success();
}

/// A parameter has one stored form.
static LogicalResult checkAgreement(mllm::LinearOp op, mllm::LinearOp earlier) {
  if (annotationOf(op) == annotationOf(earlier) &&
      op->getAttr(mllm::kQuantInputsAttr) ==
          earlier->getAttr(mllm::kQuantInputsAttr))
    return success();
  InFlightDiagnostic diag = op.emitOpError("has weights of a different "
                                           "format than another op with the "
                                           "same parameter");
  diag.attachNote(earlier.getLoc()) << "the other op is here";
  return diag;
}

LogicalResult storeQuantizedWeights(ModuleOp module) {
  llvm::MapVector<mllm::RegisterOp, mllm::LinearOp> readers;
  WalkResult walk = module.walk([&](Operation *op) {
    auto linear = dyn_cast<mllm::LinearOp>(op);
    if (!linear) {
      if (!annotationOf(op))
        return WalkResult::advance();
      op->emitOpError("has '") << mllm::kQuantWeightsAttr
                               << "', but only weights of mllm.linalg.linear "
                                  "can be quantized";
      return WalkResult::interrupt();
    }
    auto weight = SymbolTable::lookupNearestSymbolFrom<mllm::RegisterOp>(
        op, linear.getWeightAttr());
    auto [reader, isNew] = readers.try_emplace(weight, linear);
    if (!isNew && failed(checkAgreement(linear, reader->second)))
      return WalkResult::interrupt();
    mllm::QuantAttr quant = annotationOf(op);
    return quant && failed(checkAnnotation(linear, quant, weight.getType()))
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  for (auto &entry : readers) {
    mllm::QuantAttr quant = annotationOf(entry.second);
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
