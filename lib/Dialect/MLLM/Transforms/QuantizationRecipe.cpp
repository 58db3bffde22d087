//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Parsing of recipes and annotation of models.
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/Transforms/QuantizationRecipe.h"
#include "SubGraphs.h"

#include "llmir/Dialect/MLLM/MLLMExpertOps.h"
#include "llmir/Dialect/MLLM/QuantAttrs.h"
#include "llmir/Dialect/MLLM/Transforms/Passes.h"
#include "llmir/Support/IntegerLayout.h"

#include "mlir/IR/Builders.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallBitVector.h"

#include <array>
#include <utility>

using namespace mlir;

namespace llmir::mllm {

//===----------------------------------------------------------------------===//
// Schemes
//===----------------------------------------------------------------------===//

static StringRef refOf(std::string_view text) {
  return StringRef(text.data(), text.size());
}

/// Parts of a scheme parsed so far.
namespace {
struct SchemeParts {
  bool block = false, zeroPoints = false, inputs = false;
};
} // namespace

/// Parses a part after the first one; false if it is unknown or duplicate.
static bool readPart(StringRef part, WeightScheme &scheme, SchemeParts &seen) {
  if (part == "asym") {
    scheme.zeroPoints = true;
    return !std::exchange(seen.zeroPoints, true);
  }
  if (part == "tensor") {
    scheme.perTensor = true;
    return !std::exchange(seen.block, true);
  }
  if (part == "a8" || part == "a32") {
    scheme.byteInputs = part == "a8";
    return !std::exchange(seen.inputs, true);
  }
  return part.consume_front("g") && !part.getAsInteger(10, scheme.block) &&
         scheme.block >= 1 && !std::exchange(seen.block, true);
}

static WeightScheme schemeOfFormat(TensorFormat format) {
  WeightScheme scheme;
  scheme.bits = IntegerFormat::ofBlocks(format)->bits;
  scheme.block = tensorFormatInfo(format).valuesPerBlock;
  scheme.format = format;
  return scheme;
}

Expected<WeightScheme> WeightScheme::parse(std::string_view text) {
  if (text == "none")
    return WeightScheme();
  if (text == "q8")
    return schemeOfFormat(TensorFormat::Q8_0);
  if (text == "q4")
    return schemeOfFormat(TensorFormat::Q4_0);
  SmallVector<StringRef> parts;
  refOf(text).split(parts, ':');
  WeightScheme scheme;
  scheme.byteInputs = true;
  SchemeParts seen;
  bool isKnown = parts[0].consume_front("int") && parts[0].size() == 1 &&
                 parts[0][0] >= '2' && parts[0][0] <= '8';
  if (isKnown)
    scheme.bits = parts[0][0] - '0';
  for (StringRef part : ArrayRef(parts).drop_front())
    isKnown = isKnown && readPart(part, scheme, seen);
  if (isKnown)
    return scheme;
  return Status(StatusCode::InvalidArgument,
                "invalid scheme '" + std::string(text) + "'",
                "use none, q8, q4, or int2 to int8 with :gNUMBER (elements per "
                "scale) or :tensor, :asym, and :a32 for f32 inputs");
}

QuantAttr WeightScheme::annotation(MLIRContext *context) const {
  if (!isQuantized())
    return QuantAttr::get(context, "raw", 0, -1, 0);
  bool isPerChannel = !format && !perTensor && block == 0;
  std::string name = zeroPoints ? "asym_per_" : "sym_per_";
  name += perTensor ? "tensor" : isPerChannel ? "channel" : "block";
  if (format)
    name = tensorFormatInfo(*format).name;
  return QuantAttr::get(context, name, bits, isPerChannel ? 0 : -1, block);
}

//===----------------------------------------------------------------------===//
// Recipes
//===----------------------------------------------------------------------===//

/// Strips comments and parses one rule after another.
static SmallVector<StringRef> linesOf(StringRef text) {
  SmallVector<StringRef> lines, result;
  text.split(lines, '\n');
  for (StringRef line : lines) {
    SmallVector<StringRef> parts;
    line.split('#').first.split(parts, ',');
    for (StringRef part : parts)
      if (!part.trim().empty())
        result.push_back(part.trim());
  }
  return result;
}

Expected<QuantizationRecipe> QuantizationRecipe::parse(std::string_view text) {
  QuantizationRecipe recipe;
  for (StringRef line : linesOf(refOf(text))) {
    auto [left, right] = line.rsplit('=');
    StringRef pattern = left.trim(), scheme = right.trim();
    if (pattern.empty() || scheme.empty())
      return Status(StatusCode::InvalidArgument,
                    "invalid rule '" + line.str() + "' in the recipe",
                    "use PATTERN=SCHEME, for example *.mlp.*=int4:g128");
    Expected<WeightScheme> parsed =
        WeightScheme::parse(std::string_view(scheme.data(), scheme.size()));
    if (!parsed)
      return parsed.takeStatus();
    recipe.rules.push_back({pattern.str(), std::move(*parsed)});
  }
  if (recipe.empty())
    return Status(StatusCode::InvalidArgument, "the recipe is empty",
                  "use PATTERN=SCHEME, for example *.mlp.*=int4:g128");
  return recipe;
}

Expected<QuantizationRecipe>
QuantizationRecipe::forAllProjections(std::string_view name) {
  QuantizationRecipe recipe;
  if (name == "none")
    return recipe;
  static constexpr std::string_view kPlain = ":plain-head";
  std::string rest(name);
  size_t plain = rest.find(kPlain);
  // Matches a whole component of the name, not a prefix.
  bool isPlain =
      plain != std::string::npos && (plain + kPlain.size() == rest.size() ||
                                     rest[plain + kPlain.size()] == ':');
  if (isPlain)
    rest.erase(plain, kPlain.size());
  Expected<WeightScheme> scheme = WeightScheme::parse(rest);
  if (!scheme || !scheme->isQuantized() || scheme->perTensor ||
      (scheme->bits != 4 && scheme->bits != 8) ||
      !llvm::is_contained({0, 32, 64, 128}, scheme->block))
    return Status(StatusCode::InvalidArgument,
                  "--quantize " + (name.empty() ? "''" : std::string(name)) +
                      " is not known",
                  "choose none, q8, q4, or int8 or int4, followed by :g32, "
                  ":g64 or :g128, by :asym and by :a32 as wanted; "
                  ":plain-head behind any leaves the projection to the "
                  "vocabulary alone; --recipe says more");
  bool isInBytes = scheme->format || scheme->byteInputs;
  recipe.rules.push_back({std::string(kHead),
                          isPlain || !isInBytes
                              ? WeightScheme()
                              : schemeOfFormat(TensorFormat::Q8_0),
                          /*isWritten=*/false});
  recipe.rules.push_back({"*", *scheme, /*isWritten=*/false});
  return recipe;
}

//===----------------------------------------------------------------------===//
// Applying
//===----------------------------------------------------------------------===//

namespace {
/// A matrix, or the matrices of a layer's experts, and the users.
struct Matrix {
  SmallVector<LinearOp> products;
  SmallVector<ExpertsOp> experts;
  bool isHead = false;
  bool isTable = false;  ///< Embedding table.
  bool isRouter = false; ///< Chooses experts.
};
using Matrices = llvm::MapVector<RegisterOp, Matrix>;
} // namespace

/// The names of the matrices of experts, in the order of their annotations.
static std::array<FlatSymbolRefAttr, 3> matricesOf(ExpertsOp op) {
  return {op.getGateAttr(), op.getUpAttr(), op.getDownAttr()};
}

/// Sets one of the annotations of the matrices of experts.
static void annotate(ExpertsOp op, RegisterOp weight, QuantAttr annotation) {
  MLIRContext *context = op.getContext();
  SmallVector<Attribute> all(matricesOf(op).size(),
                             WeightScheme().annotation(context));
  if (auto earlier = op->getAttrOfType<ArrayAttr>(kQuantWeightsAttr))
    all.assign(earlier.begin(), earlier.end());
  for (auto [name, entry] : llvm::zip_equal(matricesOf(op), all))
    if (name.getAttr() == weight.getSymNameAttr())
      entry = annotation;
  op->setAttr(kQuantWeightsAttr, ArrayAttr::get(context, all));
}

/// Annotates all users of a matrix.
static void annotate(const Matrix &matrix, RegisterOp weight,
                     const WeightScheme &scheme) {
  Builder b(weight.getContext());
  const QuantAttr annotation = scheme.annotation(weight.getContext());
  for (LinearOp product : matrix.products) {
    product->setAttr(kQuantWeightsAttr, annotation);
    if (scheme.byteInputs)
      product->setAttr(kQuantInputsAttr, b.getI64IntegerAttr(8));
  }
  for (ExpertsOp op : matrix.experts)
    annotate(op, weight, annotation);
}

/// True for the product that computes the logits.
static bool isVocabularyProjection(LinearOp linear) {
  auto subgraph = linear->getParentOfType<SubGraphOp>();
  return subgraph && subgraph.getEntry() &&
         llvm::any_of(linear->getUsers(), llvm::IsaPred<ReturnOp>);
}

/// The products from which the experts of tokens and their weights are
/// computed: those between the input of the experts and these operands.
static DenseSet<LinearOp> routersOf(ModuleOp module) {
  DenseSet<LinearOp> routers;
  module.walk([&](ExpertsOp experts) {
    SmallVector<Value> open = {experts.getChosen(), experts.getWeights()};
    DenseSet<Value> seen = {experts.getX()};
    while (!open.empty()) {
      Value value = open.pop_back_val();
      Operation *op = value.getDefiningOp();
      if (!seen.insert(value).second || !op)
        continue;
      if (auto linear = dyn_cast<LinearOp>(op))
        routers.insert(linear);
      else
        llvm::append_range(open, op->getOperands());
    }
  });
  return routers;
}

/// The matrices of products and of experts.
static Matrices matricesOf(ModuleOp module) {
  Matrices matrices;
  const DenseSet<LinearOp> routers = routersOf(module);
  auto parameter = [](Operation *op, FlatSymbolRefAttr name) {
    return SymbolTable::lookupNearestSymbolFrom<RegisterOp>(op, name);
  };
  module.walk([&](LinearOp linear) {
    RegisterOp weight = parameter(linear, linear.getWeightAttr());
    if (!weight)
      return;
    Matrix &matrix = matrices[weight];
    matrix.products.push_back(linear);
    matrix.isHead |= isVocabularyProjection(linear);
    matrix.isRouter |= routers.contains(linear);
  });
  module.walk([&](ExpertsOp op) {
    for (FlatSymbolRefAttr name : matricesOf(op))
      if (RegisterOp weight = parameter(op, name))
        matrices[weight].experts.push_back(op);
  });
  module.walk([&](EmbeddingOp embedding) {
    auto found = matrices.find(parameter(embedding, embedding.getWeightAttr()));
    if (found != matrices.end())
      found->second.isTable = true;
  });
  return matrices;
}

/// Routers match only their names: rounding a router changes which experts are
/// chosen, and its matrix is small.
static bool fits(const QuantizationRecipe::Rule &rule, StringRef name,
                 const Matrix &matrix) {
  if (rule.pattern == QuantizationRecipe::kHead)
    return matrix.isHead;
  return matrix.isRouter ? rule.pattern == name
                         : matchesPattern(rule.pattern, name);
}

/// Rejects user-written rules that do not apply to any matrix.
static LogicalResult checkUses(ModuleOp module,
                               ArrayRef<QuantizationRecipe::Rule> rules,
                               const llvm::SmallBitVector &fitting,
                               const llvm::SmallBitVector &used) {
  for (size_t i = 0; i < rules.size(); ++i) {
    if (used[i] || !rules[i].isWritten)
      continue;
    if (fitting[i])
      return module.emitError("the recipe's '")
             << rules[i].pattern
             << "' has no effect: earlier patterns match every matrix that it "
                "matches";
    return module.emitError(
               "no projection of the model has a matrix that matches '")
           << rules[i].pattern << "' of the recipe";
  }
  return success();
}

FailureOr<QuantizationRecipe::Outcome>
QuantizationRecipe::apply(ModuleOp module) const {
  Outcome outcome;
  llvm::SmallBitVector fitting(rules.size()), used(rules.size());
  Matrices matrices = matricesOf(module);
  for (auto &entry : matrices) {
    RegisterOp weight = entry.first;
    const Matrix &matrix = entry.second;
    const Rule *rule = nullptr;
    for (size_t i = 0; i < rules.size(); ++i) {
      if (!fits(rules[i], weight.getSymName(), matrix))
        continue;
      fitting.set(i);
      if (rule)
        continue;
      rule = &rules[i];
      used.set(i);
    }
    auto type = dyn_cast<RankedTensorType>(weight.getType());
    if (!rule || !rule->scheme.isQuantized() || !type)
      continue;
    const WeightScheme &scheme = rule->scheme;
    int64_t row = type.getShape().back();
    if (scheme.block != 0 && row % scheme.block != 0) {
      weight.emitRemark("not quantized: rows of ")
          << row << " elements are not a multiple of the block size "
          << scheme.block;
      ++outcome.left;
      continue;
    }
    if (matrix.isTable && !scheme.format)
      return weight.emitError("@")
             << weight.getSymName()
             << " is also an embedding table, which supports q8, q4 or none, "
                "but not integers; start the recipe with "
                "head=q8, or head=none";
    if (!matrix.experts.empty() && !scheme.format) {
      if (rule->isWritten)
        return weight.emitError("@")
               << weight.getSymName()
               << " has the matrices of experts, which support q8, q4 or none, "
                  "but not integers; start the recipe with "
               << weight.getSymName() << "=q4, or a pattern for all of them";
      ++outcome.experts;
      continue;
    }
    annotate(matrix, weight, scheme);
    ++outcome.matrices;
  }
  if (failed(checkUses(module, rules, fitting, used)))
    return failure();
  if (!empty() && matrices.empty())
    return module.emitError("has no projection to quantize; omit the scheme");
  return outcome;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

#define GEN_PASS_DEF_APPLYQUANTIZATIONRECIPE
#include "llmir/Dialect/MLLM/Transforms/Passes.h.inc"

namespace {
struct ApplyQuantizationRecipePass
    : impl::ApplyQuantizationRecipeBase<ApplyQuantizationRecipePass> {
  using ApplyQuantizationRecipeBase::ApplyQuantizationRecipeBase;

  void runOnOperation() override {
    Expected<QuantizationRecipe> parsed = QuantizationRecipe::parse(recipe);
    if (!parsed) {
      getOperation().emitError(parsed.takeStatus().message());
      return signalPassFailure();
    }
    FailureOr<QuantizationRecipe::Outcome> outcome =
        parsed->apply(getOperation());
    if (failed(outcome))
      return signalPassFailure();
    matricesAnnotated += outcome->matrices;
    matricesLeft += outcome->left;
  }
};
} // namespace

} // namespace llmir::mllm
