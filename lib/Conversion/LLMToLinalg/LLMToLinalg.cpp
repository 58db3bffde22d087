//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// -convert-llm-to-linalg: lowers llm ops to loops over tensors. Passes.td
// describes the lowering of each op.
//
//===----------------------------------------------------------------------===//

#include "llmir/Conversion/LLMToLinalg.h"
#include "LLMToLinalg.h"
#include "Patterns.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/LLM/Transforms/Passes.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Pass/PassManager.h"

namespace llmir {
#define GEN_PASS_DEF_CONVERTLLMTOLINALG
#include "llmir/Conversion/Passes.h.inc"
} // namespace llmir

using namespace mlir;
using namespace mlir::llm;

namespace llmir {
namespace {

/// Quantized tensors become their integers, or the bytes of their blocks;
/// sharded tensors become tensors; caches become runtime pointers.
class LinalgTypes : public TypeConverter {
public:
  LinalgTypes() {
    addConversion([](Type type) { return type; });
    addConversion([](QuantizedTensorType type) -> Type {
      if (!type.getFormat().empty())
        return bytesOf(type);
      return RankedTensorType::get(type.getShape(), type.getElementType());
    });
    addConversion(
        [](ShardedTensorType type) -> Type { return type.getShardType(); });
    addConversion([](PagedKVCacheType type) -> Type {
      return LLVM::LLVMPointerType::get(type.getContext());
    });
  }
};

struct ConvertLLMToLinalgPass
    : impl::ConvertLLMToLinalgBase<ConvertLLMToLinalgPass> {
  using ConvertLLMToLinalgBase::ConvertLLMToLinalgBase;

  LogicalResult readOptions() {
    if (weights != "refuse" && weights != "arguments")
      return getOperation()->emitError()
             << "convert-llm-to-linalg: weights is refuse or arguments, not '"
             << weights << "'";
    if (cache != "refuse" && cache != "runtime")
      return getOperation()->emitError()
             << "convert-llm-to-linalg: cache is refuse or runtime, not '"
             << cache << "'";
    given.weightsAreArguments = weights == "arguments";
    given.callsRuntime = cache == "runtime";
    return success();
  }

  LogicalResult refuse() {
    bool refused = false;
    getOperation()->walk([&](Operation *op) {
      std::string cause = whyRefused(op, given);
      if (cause.empty())
        return;
      op->emitOpError() << "cannot be converted to linalg: " << cause;
      refused = true;
    });
    return failure(refused);
  }

  void runOnOperation() override {
    if (failed(readOptions()) || failed(refuse()))
      return signalPassFailure();
    if (given.weightsAreArguments)
      makeWeightsArguments(getOperation());
    if (failed(splitOps()) || failed(convert()))
      return signalPassFailure();
    destroyCaches(getOperation());
    dropAttributes();
  }

  /// Decompose fused ops first. Runtime calls write in place, so no cache may
  /// be used after an append to it.
  LogicalResult splitOps() {
    OpPassManager passes(ModuleOp::getOperationName());
    passes.addPass(createLLMLowering());
    if (given.callsRuntime) {
      passes.addNestedPass<func::FuncOp>(createCheckCacheUse());
      passes.addNestedPass<func::FuncOp>(createLowerKVCacheOps());
    }
    return runPipeline(passes, getOperation());
  }

  LogicalResult convert() {
    LinalgTypes types;
    RewritePatternSet patterns(&getContext());
    LinalgPatterns ofDialect(patterns, types);
    addRowPatterns(ofDialect);
    addProductPatterns(ofDialect);
    addAttentionPatterns(ofDialect);
    addQuantizationPatterns(ofDialect);
    addExpertPatterns(ofDialect);
    addCachePatterns(ofDialect);
    getOperation()->walk([&](Operation *op) {
      numConverted += isa_and_present<LLMDialect>(op->getDialect());
    });

    ConversionTarget target(getContext());
    target.addIllegalDialect<LLMDialect>();
    target.markUnknownOpDynamicallyLegal([&](Operation *op) {
      if (auto function = dyn_cast<func::FuncOp>(op))
        return types.isSignatureLegal(function.getFunctionType()) &&
               types.isLegal(&function.getBody());
      return types.isLegal(op);
    });
    populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns,
                                                                   types);
    populateReturnOpTypeConversionPattern(patterns, types);
    populateCallOpTypeConversionPattern(patterns, types);
    populateBranchOpInterfaceTypeConversionPattern(patterns, types);
    scf::populateSCFStructuralTypeConversionsAndLegality(types, patterns,
                                                         target);
    return applyPartialConversion(getOperation(), target, std::move(patterns));
  }

  /// Drop attributes of the dialect.
  void dropAttributes() {
    auto isOfDialect = [](NamedAttribute attribute) {
      return attribute.getName().strref().starts_with("llm.");
    };
    getOperation()->walk([&](FunctionOpInterface function) {
      SmallVector<NamedAttribute> own(function->getDiscardableAttrs());
      for (NamedAttribute attribute : own)
        if (isOfDialect(attribute))
          function->removeDiscardableAttr(attribute.getName());
      auto kept = [&](DictionaryAttr attributes) {
        SmallVector<NamedAttribute> rest;
        if (attributes)
          llvm::copy_if(attributes, std::back_inserter(rest),
                        [&](NamedAttribute a) { return !isOfDialect(a); });
        return DictionaryAttr::get(&getContext(), rest);
      };
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        function.setArgAttrs(i, kept(function.getArgAttrDict(i)));
      for (unsigned i = 0; i < function.getNumResults(); ++i)
        function.setResultAttrs(i, kept(function.getResultAttrDict(i)));
    });
  }

  LinalgOptions given;
};

} // namespace
} // namespace llmir
