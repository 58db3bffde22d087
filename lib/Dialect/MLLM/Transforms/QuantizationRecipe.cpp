//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SubGraphs.h"

#include "llmir/Dialect/MLLM/MLLMInterfaces.h"
#include "llmir/Dialect/MLLM/Transforms/Passes.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace llmir::mllm {

#define GEN_PASS_DEF_APPLYQUANTIZATIONRECIPE
#include "llmir/Dialect/MLLM/Transforms/Passes.h.inc"

namespace {

/// One line of a recipe.
struct RecipeRule {
  StringRef pattern; ///< Of names of parameters.
  QuantAttr quant;   ///< Null: not quantized.
  int64_t block = 0; ///< Numbers with one scale; 0: a whole row or more.
  bool isUsed = false;
};

struct ApplyQuantizationRecipePass
    : impl::ApplyQuantizationRecipeBase<ApplyQuantizationRecipePass> {
  using ApplyQuantizationRecipeBase::ApplyQuantizationRecipeBase;

  void runOnOperation() override {
    SmallVector<RecipeRule> rules;
    if (failed(parse(rules)))
      return signalPassFailure();
    ModuleOp module = getOperation();
    module.walk([&](LinalgOpInterface op) { apply(op, rules); });
    for (const RecipeRule &rule : rules)
      if (!rule.isUsed)
        module.emitWarning("no matrix of the model is called '")
            << rule.pattern << "'";
  }

private:
  LogicalResult parse(SmallVectorImpl<RecipeRule> &rules);
  /// `int4:g128:asym` as an attribute.
  FailureOr<RecipeRule> parseScheme(StringRef text);
  void apply(LinalgOpInterface op, MutableArrayRef<RecipeRule> rules);
};
} // namespace

FailureOr<RecipeRule> ApplyQuantizationRecipePass::parseScheme(StringRef text) {
  RecipeRule rule;
  auto refuse = [&] {
    return getOperation().emitError("cannot read '")
           << text << "' as a scheme; want none, or int2 to int8 with :gNUMBER "
           << "(numbers with one scale) or :tensor, and :asym";
  };
  if (text == "none")
    return rule;
  SmallVector<StringRef> parts;
  text.split(parts, ':');
  int64_t bits;
  if (!parts[0].consume_front("int") || parts[0].getAsInteger(10, bits) ||
      bits < 2 || bits > 8)
    return refuse();
  StringRef symmetry = "sym", unit = "channel";
  for (StringRef part : ArrayRef(parts).drop_front()) {
    if (part == "asym")
      symmetry = "asym";
    else if (part == "tensor")
      unit = "tensor";
    else if (!part.consume_front("g") || part.getAsInteger(10, rule.block) ||
             rule.block < 1)
      return refuse();
  }
  if (rule.block != 0) {
    if (unit == "tensor")
      return refuse();
    unit = "block";
  }
  rule.quant = QuantAttr::get(&getContext(), (symmetry + "_per_" + unit).str(),
                              bits, unit == "channel" ? 0 : -1, rule.block);
  return rule;
}

LogicalResult
ApplyQuantizationRecipePass::parse(SmallVectorImpl<RecipeRule> &rules) {
  SmallVector<StringRef> lines;
  StringRef(recipe).split(lines, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  if (lines.empty())
    return getOperation().emitError(
        "the recipe is empty; want PATTERN=SCHEME with commas between");
  for (StringRef line : lines) {
    auto [pattern, scheme] = line.trim().rsplit('=');
    if (pattern.empty() || scheme.empty())
      return getOperation().emitError("cannot read '")
             << line << "' in the recipe; want PATTERN=SCHEME";
    FailureOr<RecipeRule> rule = parseScheme(scheme);
    if (failed(rule))
      return failure();
    rule->pattern = pattern;
    rules.push_back(*rule);
  }
  return success();
}

void ApplyQuantizationRecipePass::apply(LinalgOpInterface op,
                                        MutableArrayRef<RecipeRule> rules) {
  for (FlatSymbolRefAttr name : op.getParameters()) {
    auto parameter = SymbolTable::lookupNearestSymbolFrom<RegisterOp>(op, name);
    // Norms and biases stay what they are, and so does what is quantized.
    if (!parameter || parameter.getShape().size() < 2 ||
        !isa<RankedTensorType>(parameter.getType()))
      continue;
    RecipeRule *rule = llvm::find_if(rules, [&](const RecipeRule &each) {
      return matchesPattern(each.pattern, name.getValue());
    });
    if (rule == rules.end())
      continue;
    rule->isUsed = true;
    if (!rule->quant)
      continue;
    int64_t row = parameter.getShape().back();
    if (rule->block != 0 && row % rule->block != 0) {
      op.emitRemark("not quantized: rows of ")
          << row << " numbers of " << name << " are no whole blocks of "
          << rule->block;
      ++opsSkipped;
      continue;
    }
    op->setAttr("mllm.quant.weights", rule->quant);
    ++opsAnnotated;
    return; // One annotation for the op.
  }
}

} // namespace llmir::mllm
