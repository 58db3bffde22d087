//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SubGraphs.h"

#include "mlir/Analysis/CallGraph.h"
#include "mlir/IR/SymbolTable.h"

#include "llvm/ADT/SCCIterator.h"

using namespace mlir;

namespace llmir::mllm {

bool matchesPattern(StringRef pattern, StringRef name) {
  // Backtracking position if the text after the last star does not match.
  size_t p = 0, n = 0, star = StringRef::npos, mark = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      mark = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != StringRef::npos) {
      p = star + 1;
      n = ++mark;
    } else {
      return false;
    }
  }
  return pattern.drop_front(p).find_first_not_of('*') == StringRef::npos;
}

SubGraphOp calleeOf(CallGraphOp call) {
  return SymbolTable::lookupNearestSymbolFrom<SubGraphOp>(call,
                                                          call.getCalleeAttr());
}

llvm::DenseMap<StringAttr, SmallVector<CallGraphOp>>
callsByCallee(ModuleOp module) {
  llvm::DenseMap<StringAttr, SmallVector<CallGraphOp>> calls;
  module.walk([&](CallGraphOp call) {
    calls[call.getCalleeAttr().getAttr()].push_back(call);
  });
  return calls;
}

SmallVector<SubGraphOp> subGraphsBottomUp(ModuleOp module) {
  SmallVector<SubGraphOp> order;
  const CallGraph graph(module);
  for (auto scc = llvm::scc_begin(&graph); !scc.isAtEnd(); ++scc) {
    if (scc.hasCycle() || scc->front()->isExternal())
      continue;
    auto subgraph =
        dyn_cast<SubGraphOp>(scc->front()->getCallableRegion()->getParentOp());
    if (subgraph && !subgraph.isExternal() && subgraph->getParentOp() == module)
      order.push_back(subgraph);
  }
  return order;
}

llvm::SetVector<SubGraphOp> reachableSubGraphs(ModuleOp module) {
  llvm::SetVector<SubGraphOp> reached;
  if (SubGraphOp entry = entrySubGraph(module))
    reached.insert(entry);
  for (auto call : module.getOps<CallGraphOp>())
    if (SubGraphOp callee = calleeOf(call))
      reached.insert(callee);
  if (reached.empty())
    for (auto subgraph : module.getOps<SubGraphOp>())
      if (SymbolTable::getSymbolVisibility(subgraph) ==
          SymbolTable::Visibility::Public)
        reached.insert(subgraph);
  // Grows during iteration.
  for (size_t i = 0; i < reached.size(); ++i)
    SubGraphOp(reached[i]).walk([&](CallGraphOp call) {
      if (SubGraphOp callee = calleeOf(call))
        reached.insert(callee);
    });
  return reached;
}

int64_t eraseUnreachable(ModuleOp module) {
  llvm::SetVector<SubGraphOp> reached = reachableSubGraphs(module);
  int64_t count = 0;
  for (auto subgraph : llvm::make_early_inc_range(module.getOps<SubGraphOp>()))
    if (!reached.contains(subgraph)) {
      subgraph.erase();
      ++count;
    }
  return count;
}

llvm::SetVector<StringAttr> symbolsUsedIn(Operation *op) {
  llvm::SetVector<StringAttr> symbols;
  op->walk([&](Operation *each) {
    each->getAttrDictionary().walk([&](SymbolRefAttr symbol) {
      symbols.insert(symbol.getRootReference());
    });
  });
  return symbols;
}

SubGraphOp createSubGraph(SubGraphOp before, StringRef name,
                          TypeRange arguments, TypeRange results) {
  OpBuilder b(before);
  std::string unique = name.str();
  Operation *table = before->getParentOp();
  for (int64_t number = 1; SymbolTable::lookupSymbolIn(table, unique); ++number)
    unique = (name + "." + Twine(number)).str();
  auto subgraph = SubGraphOp::create(b, before.getLoc(), unique,
                                     b.getFunctionType(arguments, results));
  if (subgraph.getBody().empty())
    subgraph.getBody().emplaceBlock();
  Block &block = subgraph.getBody().front();
  if (block.getNumArguments() == 0)
    for (Type type : arguments)
      block.addArgument(type, before.getLoc());
  SymbolTable::setSymbolVisibility(subgraph, SymbolTable::Visibility::Private);
  return subgraph;
}

} // namespace llmir::mllm
