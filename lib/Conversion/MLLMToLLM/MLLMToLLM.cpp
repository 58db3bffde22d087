//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// -convert-mllm-to-llm: converts each subgraph to a function of the llm
// dialect.
//
//===----------------------------------------------------------------------===//

#include "llmir/Conversion/MLLMToLLM.h"

#include "PrepareStep.h"
#include "QuantizedWeights.h"
#include "StepForm.h"
#include "llmir/ABI/KVBlockLayout.h"
#include "llmir/Dialect/MLLM/MLLM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ADT/TypeSwitch.h"

namespace llmir {
#define GEN_PASS_DEF_CONVERTMLLMTOLLM
#include "llmir/Conversion/Passes.h.inc"
} // namespace llmir

using namespace mlir;
using namespace llmir;

namespace {

/// The functions that are an entire layer: those with a layer number whose
/// caller has none.
SetVector<mllm::SubGraphOp> findLayers(const NeedsMap &needs,
                                       SymbolTable &symbols) {
  SetVector<mllm::SubGraphOp> layers;
  for (const auto &entry : needs) {
    mllm::SubGraphOp caller = entry.first;
    if (entry.second.takesLayer() && !caller.getEntry())
      continue;
    for (auto call : caller.getBody().getOps<mllm::CallGraphOp>()) {
      auto callee = symbols.lookup<mllm::SubGraphOp>(call.getCallee());
      if (needs.find(callee)->second.takesLayer())
        layers.insert(callee);
    }
  }
  return layers;
}

LogicalResult checkEntry(mllm::SubGraphOp entry, SymbolTable &symbols) {
  ArrayRef<Type> inputs = entry.getArgumentTypes();
  ArrayRef<Type> results = entry.getResultTypes();
  if (inputs.size() != 1 || !mllm::isTokenIds(inputs[0]) ||
      results.size() != 1 || !mllm::isF32TensorOfRank(results[0], 2))
    return entry.emitOpError()
           << "is the entry, so it must be (token ids [tokens]) -> (logits "
              "[tokens, vocabulary]), not "
           << entry.getFunctionType();
  Operation *other = symbols.lookup(kStepName);
  if (!other || other == entry)
    return success();
  InFlightDiagnostic diag = entry.emitOpError()
                            << "is converted to @" << kStepName
                            << ", but another op has this name; rename it";
  diag.attachNote(other->getLoc()) << "the other op is here";
  return diag;
}

/// The element type of a cache in this format, a name of KVFormat; null if the
/// name is unknown.
Type getKVElementType(MLIRContext *context, StringRef name) {
  std::optional<KVFormat> format =
      kvFormatFromName(std::string_view(name.data(), name.size()));
  if (!format)
    return {};
  switch (*format) {
  case KVFormat::F32:
    return Float32Type::get(context);
  case KVFormat::F16:
    return Float16Type::get(context);
  case KVFormat::BF16:
    return BFloat16Type::get(context);
  case KVFormat::Q8:
    return IntegerType::get(context, 8);
  }
  llvm_unreachable("one of the formats");
}

/// select_rows(loops(x, …), rows) => loops(select_rows(x, rows), …) for loops
/// in which a row of the result depends only on the same row of each operand.
struct SelectRowsBeforeLoops : OpRewritePattern<llm::SelectRowsOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(llm::SelectRowsOp select,
                                PatternRewriter &rewriter) const override {
    auto loops = select.getX().getDefiningOp<linalg::GenericOp>();
    if (!loops || !loops->hasOneUse() || !isRowWise(loops))
      return failure();
    SmallVector<Value> inputs;
    for (OpOperand *input : loops.getDpsInputOperands()) {
      inputs.push_back(input->get());
      if (!hasRows(input->get()))
        continue;
      inputs.back() = llm::SelectRowsOp::create(rewriter, loops.getLoc(),
                                                input->get(), select.getRows());
    }
    auto type = cast<RankedTensorType>(select.getType());
    Value count =
        tensor::DimOp::create(rewriter, loops.getLoc(), select.getRows(), 0);
    Value init = tensor::EmptyOp::create(rewriter, loops.getLoc(), type, count);
    auto selected = linalg::GenericOp::create(
        rewriter, loops.getLoc(), type, inputs, init,
        loops.getIndexingMapsArray(), loops.getIteratorTypesArray());
    rewriter.inlineRegionBefore(loops.getRegion(), selected.getRegion(),
                                selected.getRegion().begin());
    rewriter.replaceOp(select, selected.getResults());
    rewriter.eraseOp(loops);
    return success();
  }

private:
  static bool hasRows(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && !type.hasStaticShape();
  }
  /// Whether the rows of the operand, if any, are those of the first loop.
  static bool isRowWise(linalg::GenericOp loops, OpOperand &operand) {
    AffineMap map = loops.getMatchingIndexingMap(&operand);
    if (!hasRows(operand.get()))
      return !map.isFunctionOfDim(0);
    auto type = cast<RankedTensorType>(operand.get().getType());
    auto row = dyn_cast<AffineDimExpr>(map.getResult(0));
    return type.isDynamicDim(0) && row && row.getPosition() == 0 &&
           llvm::none_of(map.getResults().drop_front(), [](AffineExpr expr) {
             return expr.isFunctionOfDim(0);
           });
  }
  static bool isRowWise(linalg::GenericOp loops) {
    if (loops->getNumResults() != 1 || loops.getNumReductionLoops() != 0 ||
        !loops.getBlock()->getArguments().back().use_empty())
      return false;
    for (auto index : loops.getBlock()->getOps<linalg::IndexOp>())
      if (index.getDim() == 0)
        return false;
    return llvm::all_of(loops->getOpOperands(), [&](OpOperand &operand) {
      // Rows of integers cannot be selected.
      return isRowWise(loops, operand) &&
             (!hasRows(operand.get()) ||
              isa<FloatType>(getElementTypeOrSelf(operand.get().getType())));
    });
  }
};

struct ConvertMLLMToLLMPass
    : llmir::impl::ConvertMLLMToLLMBase<ConvertMLLMToLLMPass> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (module.getOps<mllm::SubGraphOp>().empty())
      return;
    if (failed(form == "function" ? convertToFunctions(module)
                                  : convert(module)))
      signalPassFailure();
  }

private:
  LogicalResult convertToFunctions(ModuleOp module) {
    for (auto subgraph : module.getOps<mllm::SubGraphOp>())
      if (subgraph.isExternal())
        return refuseWithoutBody(subgraph);
    if (failed(storeQuantizedWeights(module)))
      return failure();
    subgraphsConverted += llvm::range_size(module.getOps<mllm::SubGraphOp>());
    makeFunctionsOfSubGraphs(module);
    for (auto function : module.getOps<func::FuncOp>())
      if (failed(lowerMLLMOps(function)))
        return failure();
    return success();
  }

  LogicalResult convert(ModuleOp module) {
    if (form != "step")
      return module.emitError("form must be step or function, not '")
             << form << "'";
    FailureOr<mllm::SubGraphOp> prepared = prepareStep(module);
    if (failed(prepared))
      return failure();
    mllm::SubGraphOp entry = *prepared;
    SymbolTable symbols(module);
    FailureOr<mllm::ModelFacts> facts = mllm::ModelFacts::read(module);
    if (failed(facts) || failed(checkEntry(entry, symbols)) ||
        failed(storeQuantizedWeights(module)))
      return failure();
    FailureOr<NeedsMap> needs = collectNeeds(entry, *facts, symbols);
    FailureOr<llm::PagedKVCacheType> cacheType = getCacheType(*facts);
    FailureOr<mllm::StateLayout> states = mllm::StateLayout::of(module);
    if (failed(needs) || failed(cacheType) || failed(states))
      return failure();
    FailureOr<TokenDimensions> tokens =
        TokenDimensions::compute(entry, symbols);
    if (failed(tokens))
      return failure();

    SetVector<mllm::SubGraphOp> layers = findLayers(*needs, symbols);
    StepModule shared{symbols, *needs, *tokens, *cacheType, *states};
    func::FuncOp step;
    for (const auto &needed : *needs) {
      mllm::SubGraphOp subgraph = needed.first;
      StepFunction function(shared, subgraph);
      if (subgraph == entry)
        function.createEntry();
      else
        function.createPrivate(layers.contains(subgraph));
      if (failed(function.lowerOps()))
        return failure();
      step = function.get(); // The last one is the entry.
      ++subgraphsConverted;
    }
    // Unreachable subgraphs are not part of the step.
    for (auto subgraph :
         llvm::make_early_inc_range(module.getOps<mllm::SubGraphOp>()))
      subgraph.erase();
    return raiseSelectRows(step);
  }

  FailureOr<llm::PagedKVCacheType> getCacheType(const mllm::ModelFacts &facts) {
    Type element = getKVElementType(&getContext(), kvElementType);
    Location loc = getOperation().getLoc();
    if (!element)
      return emitError(loc)
             << "kv-element-type must be f32, f16, bf16 or q8, not '"
             << kvElementType << "'";
    int64_t maxSeqLen = contextLength;
    if (maxSeqLen == 0)
      maxSeqLen = facts.contextLength;
    auto type = llm::PagedKVCacheType::getChecked(
        [&] { return emitError(loc); }, &getContext(), element, facts.numLayers,
        facts.numKVHeads, facts.headDim, int64_t(blockSize), maxSeqLen,
        facts.valuesInKeys ? facts.valuesInKeys : facts.headDim,
        facts.valuesInKeys > 0);
    if (!type)
      return failure();
    return type;
  }

  /// Moves select_rows up from the logits to the last op that combines rows.
  LogicalResult raiseSelectRows(func::FuncOp step) {
    RewritePatternSet patterns(&getContext());
    llm::SelectRowsOp::getCanonicalizationPatterns(patterns, &getContext());
    patterns.add<SelectRowsBeforeLoops>(&getContext());
    return applyPatternsGreedily(step, std::move(patterns));
  }
};

} // namespace
