//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// -llm-inline-modules: inlines all but the layers of the step.
//
//===----------------------------------------------------------------------===//

#include "mlir/Analysis/CallGraph.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/LLM/IR/LLM.h"
#include "mlir/Dialect/LLM/Transforms/Passes.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Transforms/Inliner.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/SCCIterator.h"

namespace mlir::llm {
#define GEN_PASS_DEF_INLINEMODULES
#include "mlir/Dialect/LLM/Transforms/Passes.h.inc"
} // namespace mlir::llm

using namespace mlir;
using namespace mlir::llm;

namespace {

struct InlineModulesPass : llm::impl::InlineModulesBase<InlineModulesPass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    InlineModulesBase::getDependentDialects(registry);
    func::registerInlinerExtension(registry);
  }

  void runOnOperation() override {
    if (failed(checkNoCircle()))
      return signalPassFailure();

    symbols.emplace(getOperation());
    SetVector<func::FuncOp> layers;
    for (auto func : getOperation().getOps<func::FuncOp>())
      if (func.isPublic() && failed(inlineAboveLayers(func, layers)))
        return signalPassFailure();
    // A layer called by another layer is part of it.
    for (func::FuncOp layer : layers)
      if (failed(inlineAll(layer)))
        return signalPassFailure();
    eraseUnused();
    symbols.reset();
  }

private:
  /// Inlines everything above the layers into the public function `root`, and
  /// adds the layers that it calls to `layers`.
  LogicalResult inlineAboveLayers(func::FuncOp root,
                                  SetVector<func::FuncOp> &layers) {
    // Inlining exposes new calls, so calls are recounted each time.
    llvm::MapVector<func::FuncOp, unsigned> calls;
    auto countCalls = [&] {
      calls.clear();
      root.walk([&](func::CallOp call) {
        if (func::FuncOp callee = getCallee(call))
          ++calls[callee];
      });
    };
    countCalls();
    auto isNoLayer = [&](func::FuncOp callee) {
      return !callee->hasAttr(LLMDialect::getLayerAttrName()) &&
             calls.lookup(callee) == 1;
    };
    while (true) {
      FailureOr<bool> changed = inlineOnce(root, isNoLayer);
      if (failed(changed))
        return failure();
      if (!*changed)
        break;
      countCalls();
    }
    for (const auto &called : calls)
      layers.insert(called.first);
    return success();
  }

  /// Inlines calls of functions with a body in `func` until none is left.
  LogicalResult inlineAll(func::FuncOp func) {
    while (true) {
      FailureOr<bool> changed =
          inlineOnce(func, [](func::FuncOp) { return true; });
      if (failed(changed))
        return failure();
      if (!*changed)
        return success();
    }
  }

  /// Inlines the current calls in `func` whose callee satisfies `wanted`.
  /// Returns whether there was one.
  FailureOr<bool> inlineOnce(func::FuncOp func,
                             function_ref<bool(func::FuncOp)> wanted) {
    SmallVector<std::pair<func::CallOp, func::FuncOp>> found;
    func.walk([&](func::CallOp call) {
      func::FuncOp callee = getCallee(call);
      if (callee && wanted(callee) && fits(call, callee))
        found.push_back({call, callee});
    });
    InlinerInterface interface(&getContext());
    InlinerConfig config;
    for (auto [call, callee] : found) {
      if (failed(inlineCall(interface, config.getCloneCallback(), call, callee,
                            callee.getCallableRegion()))) {
        InFlightDiagnostic diag = call.emitError("cannot inline @")
                                  << callee.getSymName();
        diag.attachNote(callee.getLoc()) << "function defined here";
        return diag;
      }
      call.erase();
      ++callsInlined;
    }
    return !found.empty();
  }

  /// False if several blocks would be inlined into a single-block region.
  static bool fits(func::CallOp call, func::FuncOp callee) {
    return callee.getBody().hasOneBlock() ||
           isa<FunctionOpInterface>(call->getParentOp()) ||
           !call->getParentOp()->mightHaveTrait<OpTrait::SingleBlock>();
  }

  /// The called private function with a body, or null.
  func::FuncOp getCallee(func::CallOp call) {
    auto callee = symbols->lookup<func::FuncOp>(call.getCallee());
    return callee && callee.isPrivate() && !callee.isExternal()
               ? callee
               : func::FuncOp();
  }

  LogicalResult checkNoCircle() {
    const CallGraph graph(getOperation());
    for (auto scc = llvm::scc_begin(&graph); !scc.isAtEnd(); ++scc)
      if (scc.hasCycle())
        for (CallGraphNode *node : *scc)
          if (!node->isExternal())
            return node->getCallableRegion()->getParentOp()->emitError(
                "function is recursive, directly or indirectly: modules must "
                "form a tree");
    return success();
  }

  /// Erases private functions without users, callers before callees.
  void eraseUnused() {
    bool changed = true;
    while (changed) {
      changed = false;
      SymbolTableCollection collection;
      SymbolUserMap users(collection, getOperation());
      for (auto func :
           llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
        if (!func.isPrivate() || func.isExternal() || !users.useEmpty(func))
          continue;
        func.erase();
        ++functionsErased;
        changed = true;
      }
    }
  }

  std::optional<SymbolTable> symbols;
};

} // namespace
