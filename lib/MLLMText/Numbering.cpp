//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Numbering.h"

#include "llmir/Dialect/MLLM/MLLM.h"
#include "llmir/MLLMText/Text.h"

#include "mlir/IR/SymbolTable.h"

#include "Lexer.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace llmir::mllm;

Numbering::Numbering(Operation *op, int64_t firstNumber,
                     bool inheritsGivenNames)
    : nextNumber(firstNumber), inheritsGivenNames(inheritsGivenNames) {
  while (Operation *parent = op->getParentOp())
    op = parent;
  if (isa<SubGraphOp>(op)) {
    enterSubGraph(op, nullptr);
    run();
    return;
  }
  for (Value result : op->getResults())
    assign(result, op);
  for (Region &region : llvm::reverse(op->getRegions()))
    pushRegion(region, op, nullptr);
  // Without a module-level call, start with the entry subgraph.
  auto module = dyn_cast<ModuleOp>(op);
  if (module && module.getOps<CallGraphOp>().empty())
    for (auto subgraph : module.getOps<SubGraphOp>())
      if (subgraph.getEntry()) {
        enterSubGraph(subgraph, nullptr);
        run();
      }
  run();
  // Then visit uncalled subgraphs and, last, parameters, which style Document
  // does not print.
  if (!module)
    return;
  for (auto subgraph : module.getOps<SubGraphOp>()) {
    enterSubGraph(subgraph, nullptr);
    run();
  }
  for (auto parameter : module.getOps<RegisterOp>())
    registers[parameter] = std::to_string(nextNumber++);
}

StringRef Numbering::name(Value value) const {
  auto found = names.find(value);
  return found == names.end() ? StringRef("unknown") : StringRef(found->second);
}

StringRef Numbering::registerName(Operation *op) const {
  auto found = registers.find(op);
  return found == registers.end() ? StringRef("unknown")
                                  : StringRef(found->second);
}

void Numbering::assign(Value value, Operation *scope, StringRef inherited) {
  auto given = dyn_cast_or_null<StringAttr>(
      getValueAttributes(value).get(kValueNameKey));
  llvm::StringSet<> &used = taken[scope];
  // Other names are printed as attributes.
  if (given && isValueName(given) && used.insert(given).second) {
    names[value] = given.str();
    return;
  }
  bool inherits = !inherited.empty() &&
                  (inheritsGivenNames || llvm::isDigit(inherited.front()));
  if (inherits && used.insert(inherited).second) {
    names[value] = inherited.str();
    return;
  }
  std::string number;
  do
    number = std::to_string(nextNumber++);
  while (!used.insert(number).second);
  names[value] = std::move(number);
}

void Numbering::pushRegion(Region &region, Operation *scope,
                           Operation *holder) {
  if (region.empty()) {
    if (holder)
      for (Value result : holder->getResults())
        assign(result, scope);
    return;
  }
  // Regions of several blocks are refused by the printer.
  Block &block = region.front();
  stack.push_back({&block, block.begin(), scope, nullptr, holder});
}

void Numbering::enterSubGraph(Operation *subgraph, Operation *call) {
  if (!entered.insert(subgraph))
    return;
  Region &body = cast<SubGraphOp>(subgraph).getBody();
  if (body.empty())
    return;
  for (auto [index, argument] : llvm::enumerate(body.getArguments()))
    // Copied: the map moves its entries when it grows.
    assign(argument, subgraph,
           call && index < call->getNumOperands()
               ? name(call->getOperand(index)).str()
               : std::string());
  stack.push_back(
      {&body.front(), body.front().begin(), subgraph, call, nullptr});
}

void Numbering::run() {
  while (!stack.empty()) {
    Frame &frame = stack.back();
    if (frame.next != frame.block->end()) {
      Operation *op = &*frame.next++;
      visit(op, frame.scope);
      continue;
    }
    Frame ended = frame;
    stack.pop_back();
    Operation *outer = stack.empty() ? nullptr : stack.back().scope;
    if (ended.holder)
      for (Value result : ended.holder->getResults())
        assign(result, ended.scope);
    if (!ended.call)
      continue;
    ValueRange returned;
    if (!ended.block->empty())
      returned = ended.block->back().getOperands();
    for (auto [index, result] : llvm::enumerate(ended.call->getResults()))
      assign(result, outer,
             index < returned.size() ? name(returned[index]).str()
                                     : std::string());
  }
}

void Numbering::visit(Operation *op, Operation *scope) {
  if (isa<SubGraphOp, RegisterOp>(op))
    return; // Numbered by the first call, or at the end.
  if (auto call = dyn_cast<CallGraphOp>(op)) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<SubGraphOp>(
        op, call.getCalleeAttr());
    size_t depth = stack.size();
    if (callee && !entered.contains(callee))
      enterSubGraph(callee, op);
    if (stack.size() > depth)
      return; // Results are named when the callee ends.
  }
  if (op->getNumRegions() == 0) {
    for (Value result : op->getResults())
      assign(result, scope);
    return;
  }
  // What an op holds is computed before its results.
  Operation *inner = op->hasTrait<OpTrait::IsIsolatedFromAbove>() ? op : scope;
  auto regions = op->getRegions();
  for (size_t i = regions.size(); i-- > 0;) {
    Operation *holder = i + 1 == regions.size() ? op : nullptr;
    if (!regions[i].empty())
      for (Value argument : regions[i].getArguments())
        assign(argument, inner);
    pushRegion(regions[i], inner, holder);
  }
}
