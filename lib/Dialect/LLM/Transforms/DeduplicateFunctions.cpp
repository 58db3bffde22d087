//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// -llm-deduplicate-functions: merges identical private functions.
//
//===----------------------------------------------------------------------===//

#include "mlir/Analysis/CallGraph.h"
#include "mlir/Dialect/LLM/Transforms/Passes.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SCCIterator.h"

namespace mlir::llm {
#define GEN_PASS_DEF_DEDUPLICATEFUNCTIONS
#include "mlir/Dialect/LLM/Transforms/Passes.h.inc"
} // namespace mlir::llm

using namespace mlir;
using namespace mlir::llm;

namespace {

/// The attributes of a function except its name.
DictionaryAttr getAttributesButName(func::FuncOp func) {
  NamedAttrList attributes(func->getAttrDictionary());
  attributes.erase(func.getSymNameAttrName());
  return attributes.getDictionary(func.getContext());
}

bool areEqual(func::FuncOp a, func::FuncOp b) {
  return OperationEquivalence::isRegionEquivalentTo(
      &a.getBody(), &b.getBody(), OperationEquivalence::IgnoreLocations);
}

/// Functions with a body, callees before callers, without recursive functions
/// and without those of nested modules, whose symbols are not visible outside
/// them.
SmallVector<func::FuncOp> getFunctionsBottomUp(ModuleOp module) {
  SmallVector<func::FuncOp> functions;
  const CallGraph graph(module);
  for (auto scc = llvm::scc_begin(&graph); !scc.isAtEnd(); ++scc) {
    if (scc.hasCycle() || scc->front()->isExternal())
      continue;
    Operation *callable = scc->front()->getCallableRegion()->getParentOp();
    auto func = dyn_cast<func::FuncOp>(callable);
    if (func && func->getParentOp() == module)
      functions.push_back(func);
  }
  return functions;
}

struct DeduplicateFunctionsPass
    : llm::impl::DeduplicateFunctionsBase<DeduplicateFunctionsPass> {
  void runOnOperation() override {
    SmallVector<func::FuncOp> functions = getFunctionsBottomUp(getOperation());
    SymbolTableCollection symbols;
    SymbolUserMap users(symbols, getOperation());

    // Candidates, bucketed by properties that are cheap to compare. Bodies
    // compare equal only after calls of equal callees have been replaced by
    // calls of the same callee, which the visiting order guarantees.
    DenseMap<DictionaryAttr, SmallVector<func::FuncOp>> kept;
    for (func::FuncOp func : functions) {
      if (!func.isPrivate())
        continue;
      SmallVector<func::FuncOp> &alike = kept[getAttributesButName(func)];
      auto *same = llvm::find_if(
          alike, [&](func::FuncOp other) { return areEqual(func, other); });
      if (same == alike.end()) {
        alike.push_back(func);
        continue;
      }
      users.replaceAllUsesWith(func, same->getSymNameAttr());
      func.erase();
      ++functionsMerged;
    }
  }
};

} // namespace
