//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mllm-link: links nested modules, resolving declarations by definitions.
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/Dialect/MLLM/Transforms/Passes.h"

#include "mlir/IR/SymbolTable.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace llmir::mllm {

#define GEN_PASS_DEF_LINKMODULES
#include "llmir/Dialect/MLLM/Transforms/Passes.h.inc"

namespace {
StringAttr symbolOf(Operation &op) {
  return op.getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
}

bool isPrivate(Operation &op) {
  auto visibility =
      op.getAttrOfType<StringAttr>(SymbolTable::getVisibilityAttrName());
  return visibility && visibility.getValue() == "private";
}

/// True for declarations: a subgraph without a body, a parameter without a
/// source.
bool isDeclaration(Operation &op) {
  if (auto subgraph = dyn_cast<SubGraphOp>(op))
    return subgraph.getBody().empty();
  if (auto parameter = dyn_cast<RegisterOp>(op))
    return !parameter.getSourceAttr();
  return false;
}

/// The type that a declaration and its definition must share.
Type typeOf(Operation &op) {
  if (auto subgraph = dyn_cast<SubGraphOp>(op))
    return subgraph.getFunctionType();
  if (auto parameter = dyn_cast<RegisterOp>(op))
    return parameter.getType();
  return {};
}

struct LinkModulesPass : impl::LinkModulesBase<LinkModulesPass> {
  using LinkModulesBase::LinkModulesBase;

  void runOnOperation() override {
    ModuleOp target = getOperation();
    SmallVector<ModuleOp> modules(target.getOps<ModuleOp>());
    if (modules.empty())
      return markAllAnalysesPreserved();
    linked.clear();
    for (Operation &op : *target.getBody())
      if (StringAttr name = symbolOf(op); name && !isa<ModuleOp>(op))
        linked[name] = &op;
    collectNames(target, modules);
    for (ModuleOp module : modules) {
      renamePrivate(module);
      if (failed(linkFacts(target, module)) ||
          failed(linkSymbols(target, module)))
        return signalPassFailure();
    }
    if (failed(checkDefined(target)))
      return signalPassFailure();
    for (ModuleOp module : modules)
      module.erase();
    modulesLinked += modules.size();
  }

private:
  /// All symbols of all modules, so that new names are unique.
  void collectNames(ModuleOp target, ArrayRef<ModuleOp> modules) {
    names.clear();
    publicNames.clear();
    auto add = [&](ModuleOp module) {
      for (Operation &op : *module.getBody())
        if (StringAttr name = symbolOf(op); name && !isa<ModuleOp>(op)) {
          names.insert(name);
          if (!isPrivate(op))
            publicNames.insert(name);
        }
    };
    add(target);
    for (ModuleOp module : modules)
      add(module);
  }

  /// Renames private symbols whose name is public elsewhere or has been linked
  /// before.
  void renamePrivate(ModuleOp module) {
    for (Operation &op : *module.getBody()) {
      StringAttr name = symbolOf(op);
      if (!name || !isPrivate(op) || isDeclaration(op) ||
          (!linked.count(name) && !publicNames.contains(name)))
        continue;
      std::string renamed;
      for (int64_t i = 1; renamed.empty() || names.contains(renamed); ++i)
        renamed = (name.getValue() + "_" + Twine(i)).str();
      auto now = StringAttr::get(&getContext(), renamed);
      // Cannot fail: uses in ops of unknown dialects are renamed, too.
      (void)SymbolTable::replaceAllSymbolUses(name, now, module);
      SymbolTable::setSymbolName(&op, now);
      names.insert(renamed);
      ++symbolsRenamed;
    }
  }

  /// Model properties, which must be equal in all modules that have them.
  LogicalResult linkFacts(ModuleOp target, ModuleOp module) {
    for (NamedAttribute each : module->getDiscardableAttrs()) {
      Attribute before = target->getDiscardableAttr(each.getName());
      if (before && before != each.getValue())
        return (module.emitOpError()
                << "has a different '" << each.getName().getValue()
                << "' than preceding modules")
                   .attachNote(target.getLoc())
               << "the linked module";
      target->setDiscardableAttr(each.getName(), each.getValue());
    }
    return success();
  }

  LogicalResult conflict(Operation &op, Operation &before, StringRef why) {
    return (op.emitOpError() << "@" << symbolOf(op).getValue() << " " << why)
               .attachNote(before.getLoc())
           << "the first '" << before.getName() << "' of this name";
  }

  /// Moves a module's ops into the target, resolving symbols that exist
  /// already.
  LogicalResult linkSymbols(ModuleOp target, ModuleOp module) {
    for (Operation &op : llvm::make_early_inc_range(*module.getBody())) {
      StringAttr name = symbolOf(op);
      Operation *before = name ? linked.lookup(name.getValue()) : nullptr;
      if (!before) {
        op.moveBefore(target.getBody(), target.getBody()->end());
        if (name)
          linked[name] = &op;
        continue;
      }
      if (op.getName() != before->getName())
        return conflict(op, *before, "is a different kind of op");
      if (typeOf(op) && typeOf(op) != typeOf(*before))
        return conflict(op, *before, "has a different type");
      bool isHere = isDeclaration(op), wasThere = isDeclaration(*before);
      if (!isHere && !wasThere) {
        // Several modules may register the same parameter.
        if (!isa<RegisterOp>(op) ||
            op.getAttrDictionary() != before->getAttrDictionary())
          return conflict(op, *before, "is defined twice");
      } else if (wasThere && !isHere) {
        op.moveBefore(before);
        before->erase();
        linked[name] = &op;
        ++symbolsResolved;
        continue;
      } else if (isHere && !wasThere) {
        ++symbolsResolved;
      }
      op.erase();
    }
    return success();
  }

  /// Reports subgraphs without a definition.
  LogicalResult checkDefined(ModuleOp target) {
    for (auto subgraph : target.getOps<SubGraphOp>())
      if (subgraph.getBody().empty())
        return subgraph.emitOpError()
               << "@" << subgraph.getSymName()
               << " is declared, but not defined by any module";
    return success();
  }

  llvm::StringMap<Operation *> linked; ///< Symbols of the target.
  llvm::StringSet<> names;             ///< Names of all symbols.
  llvm::StringSet<> publicNames;
};
} // namespace

} // namespace llmir::mllm
