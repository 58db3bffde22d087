//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// -llm-quantize: quantizes the weights of projections.
//
//===----------------------------------------------------------------------===//

#include "PatternCounts.h"

#include "llmir/Dialect/CheckOption.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Dialect/LLM/Transforms/Passes.h"
#include "mlir/Dialect/LLM/Transforms/QuantScheme.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/Regex.h"

namespace mlir::llm {
#define GEN_PASS_DEF_LLMQUANTIZE
#include "mlir/Dialect/LLM/Transforms/Passes.h.inc"
} // namespace mlir::llm

using namespace mlir;
using namespace mlir::llm;

namespace {

//===----------------------------------------------------------------------===//
// Which projections
//===----------------------------------------------------------------------===//

/// The names of a projection for `include` and `exclude`: the symbol of its
/// weight, and the names in the locations of the op and of the weight.
SmallVector<std::string> getNames(LinearOp linear) {
  SmallVector<std::string> names;
  auto addLocation = [&](Location location) {
    location->walk([&](Location inner) {
      if (auto name = dyn_cast<NameLoc>(inner))
        names.push_back(name.getName().str());
      return WalkResult::advance();
    });
  };
  if (auto weight = linear.getWeight().getDefiningOp<WeightOp>())
    names.push_back(weight.getName().str());
  addLocation(linear.getLoc());
  addLocation(linear.getWeight().getLoc());
  return names;
}

/// True if the value is the same in every run: a parameter, a constant, an
/// argument of a function (whose callers are responsible), or a slice of these.
bool isParameter(Value weight) {
  while (auto shard = weight.getDefiningOp<ShardOp>())
    weight = shard.getX();
  if (Operation *op = weight.getDefiningOp())
    return isa<WeightOp>(op) || op->hasTrait<OpTrait::ConstantLike>();
  auto *parent = cast<BlockArgument>(weight).getOwner()->getParentOp();
  return isa<FunctionOpInterface>(parent) &&
         cast<BlockArgument>(weight).getOwner()->isEntryBlock();
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// linear(x, w) => quantized_matmul(x, quantize(w, quant_params(w))) for the
/// selected projections.
struct QuantizeLinear : OpRewritePattern<LinearOp> {
  QuantizeLinear(MLIRContext *context, DenseSet<Operation *> &chosen,
                 const QuantScheme &scheme, int64_t activationBits)
      : OpRewritePattern(context), chosen(chosen), scheme(scheme),
        activationBits(activationBits) {
    setDebugName("quantize-linear");
  }

  LogicalResult matchAndRewrite(LinearOp linear,
                                PatternRewriter &rewriter) const override {
    if (!chosen.erase(linear))
      return failure();
    rewriter.replaceOp(
        linear, createQuantizedProduct(rewriter, linear.getLoc(), linear.getX(),
                                       linear.getWeight(), linear.getBias(),
                                       scheme, activationBits));
    return success();
  }

  DenseSet<Operation *> &chosen;
  QuantScheme scheme;
  int64_t activationBits;
};

/// linear(x, dequantize(q)) => quantized_matmul(x, q), for any element type of
/// the dequantized weight. Its shape must be static, or the result type would
/// change.
struct MergeDequantizeIntoLinear : OpRewritePattern<LinearOp> {
  MergeDequantizeIntoLinear(MLIRContext *context) : OpRewritePattern(context) {
    setDebugName("merge-dequantize-into-linear");
  }

  LogicalResult matchAndRewrite(LinearOp linear,
                                PatternRewriter &rewriter) const override {
    auto weight = linear.getWeight().getDefiningOp<DequantizeOp>();
    if (!weight || !weight.getType().hasStaticShape())
      return failure();
    rewriter.replaceOpWithNewOp<QuantizedMatmulOp>(
        linear, linear.getX(), weight.getX(), weight.getScales(),
        weight.getZeroPoints(), linear.getBias(), /*transposeRhs=*/true);
    return success();
  }
};

/// True for a tensor of zeros.
bool isZeros(Value value) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    return matchPattern(fill.getInputs()[0], m_AnyZeroFloat());
  return matchPattern(value, m_AnyZeroFloat());
}

/// A product [m, k] x [k, n] or [n, k] in linalg, into zeros, with a
/// dequantized right-hand side => quantized_matmul.
struct MergeDequantizeIntoMatmul : OpInterfaceRewritePattern<linalg::LinalgOp> {
  MergeDequantizeIntoMatmul(MLIRContext *context)
      : OpInterfaceRewritePattern(context) {
    setDebugName("merge-dequantize-into-matmul");
  }

  LogicalResult matchAndRewrite(linalg::LinalgOp product,
                                PatternRewriter &rewriter) const override {
    if (!linalg::isaContractionOpInterface(product) ||
        product.getNumLoops() != 3 || !product.hasPureTensorSemantics())
      return failure();
    auto weight = product.getDpsInputs()[1].getDefiningOp<DequantizeOp>();
    Value x = product.getDpsInputs()[0];
    // quantized_matmul does not accumulate and yields x's element type.
    Type element = getElementTypeOrSelf(x);
    if (!weight || !isZeros(product.getDpsInits()[0]) || element.isF64() ||
        element != getElementTypeOrSelf(product->getResult(0)))
      return failure();

    AffineExpr m, n, k;
    bindDims(getContext(), m, n, k);
    SmallVector<AffineMap> maps = product.getIndexingMapsArray();
    auto map = [&](AffineExpr a, AffineExpr b) {
      return AffineMap::get(3, 0, {a, b}, getContext());
    };
    bool isTransposed = maps[1] == map(n, k);
    if (maps[0] != map(m, k) || maps[2] != map(m, n) ||
        (!isTransposed && maps[1] != map(k, n)))
      return failure();

    // The linalg result type may be more static than x's type.
    auto result = cast<RankedTensorType>(product->getResult(0).getType());
    int64_t rows = cast<RankedTensorType>(x.getType()).getDimSize(0);
    int64_t columns = weight.getX().getType().getShape()[isTransposed ? 0 : 1];
    if (result.getShape() != ArrayRef<int64_t>({rows, columns}))
      return rewriter.notifyMatchFailure(
          product, "the result type has other static sizes");
    rewriter.replaceOpWithNewOp<QuantizedMatmulOp>(
        product, x, weight.getX(), weight.getScales(), weight.getZeroPoints(),
        /*bias=*/Value(), isTransposed);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

struct QuantizePass : llm::impl::LLMQuantizeBase<QuantizePass> {
  using LLMQuantizeBase::LLMQuantizeBase;

  LogicalResult initialize(MLIRContext *context) override {
    Location loc = UnknownLoc::get(context);
    std::optional<QuantScheme> parsed = QuantScheme::fromName(scheme);
    if (!parsed)
      return emitError(loc) << "scheme must be " << kSchemeSpelling << ", not '"
                            << scheme << "'";
    parsedScheme = *parsed;
    if (activations != "none" && activations != "int8")
      return emitError(loc)
             << "activations must be none or int8, not '" << activations << "'";
    for (const std::string &pattern :
         {include.getValue(), exclude.getValue()}) {
      std::string error;
      if (!pattern.empty() && !llvm::Regex(pattern).isValid(error))
        return emitError(loc)
               << "'" << pattern << "' is not a regular expression: " << error;
    }
    return llmir::checkOption(loc, minElements, 0);
  }

  void runOnOperation() override {
    DenseSet<Operation *> chosen;
    getOperation()->walk([&](LinearOp linear) {
      if (!isWanted(linear))
        return;
      std::string reason = getObstacle(linear);
      if (!reason.empty()) {
        linear.emitRemark("not quantized: ") << reason;
        ++linearsSkipped;
        return;
      }
      chosen.insert(linear);
      ++linearsQuantized;
    });

    RewritePatternSet patterns(&getContext());
    patterns.add<QuantizeLinear>(&getContext(), chosen, parsedScheme,
                                 activations == "int8" ? 8 : 0);
    patterns.add<MergeDequantizeIntoLinear, MergeDequantizeIntoMatmul>(
        &getContext());
    if (failed(applyCountedPatterns(getOperation(), std::move(patterns))))
      signalPassFailure();
  }

private:
  /// True for a plain weight whose name and size the options select.
  bool isWanted(LinearOp linear) {
    auto weight = dyn_cast<RankedTensorType>(linear.getWeight().getType());
    if (!weight || linear.getWeight().getDefiningOp<DequantizeOp>())
      return false;
    if (weight.hasStaticShape() && weight.getNumElements() < minElements)
      return false;
    SmallVector<std::string> names = getNames(linear);
    auto matches = [&](const std::string &pattern) {
      llvm::Regex regex(pattern);
      return llvm::any_of(names,
                          [&](StringRef name) { return regex.match(name); });
    };
    return (include.empty() || matches(include)) &&
           (exclude.empty() || !matches(exclude));
  }

  /// The reason why a selected weight cannot be quantized, or empty.
  std::string getObstacle(LinearOp linear) {
    Value weight = linear.getWeight();
    auto type = cast<RankedTensorType>(weight.getType());
    if (!type.hasStaticShape())
      return "its weight has dynamic sizes";
    if (type.getNumElements() == 0)
      return "its weight is empty";
    if (!isParameter(weight))
      return "its weight is computed";
    int64_t inputs = type.getDimSize(1);
    if (!parsedScheme.fits(inputs))
      return "its " + std::to_string(inputs) +
             " inputs are not a multiple of the group size " +
             std::to_string(parsedScheme.groupSize);
    for (Operation *user : weight.getUsers())
      if (isa<EmbeddingOp>(user))
        return "its weight is also an embedding table, so both forms would be "
               "in memory";
    return {};
  }

  QuantScheme parsedScheme;
};

} // namespace
