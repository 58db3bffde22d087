//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Modules, and the entry points of printing.
//
//===----------------------------------------------------------------------===//

#include "Printer.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace llmir::mllm;

LogicalResult TextPrinter::printModule(ModuleOp module) {
  std::optional<StringRef> name = module.getSymName();
  // An unnamed module is @main; a module named so has the attribute.
  if (name && *name != "main")
    printSymbol(*name);
  else
    os << "@main";
  os << " () -> ()";
  if (isFull) {
    printLocation(module);
    SmallVector<NamedAttribute> attributes = ownAttributes(module);
    if (name && *name != "main")
      llvm::erase_if(attributes, [](NamedAttribute each) {
        return each.getName() == SymbolTable::getSymbolAttrName();
      });
    os << ' ';
    if (!attributes.empty()) {
      os << '[';
      printAttributes(attributes);
      os << "] ";
    }
  }
  os << "{\n";
  ++indent;
  LogicalResult result =
      isFull ? printFullModule(module) : printDocumentModule(module);
  --indent;
  newLine();
  os << "}\n";
  return result;
}

/// The call that runs a subgraph marked `entry`.
void TextPrinter::printEntryCall(SubGraphOp entry) {
  if (entry.getBody().empty())
    return;
  Block &body = entry.getBody().front();
  newLine();
  os << "graph.CallGraphOp ";
  printSymbol(entry.getSymName());
  os << ' ';
  printValues(body.getArguments(), /*areDefinitions=*/false);
  os << " -> ";
  printValues(body.empty() ? ValueRange()
                           : ValueRange(body.back().getOperands()),
              /*areDefinitions=*/false);
  os << '\n';
}

/// Style Document: calls, then subgraphs in the order of their first calls,
/// without module inputs and parameters.
LogicalResult TextPrinter::printDocumentModule(ModuleOp module) {
  bool hasCall = !module.getOps<CallGraphOp>().empty();
  for (Operation &op : *module.getBody()) {
    if (isa<SubGraphOp>(op)) {
      auto subgraph = cast<SubGraphOp>(op);
      if (!hasCall && subgraph.getEntry())
        printEntryCall(subgraph);
      continue;
    }
    if (findOpTextName(op.getName().getStringRef()) &&
        StringRef(findOpTextName(op.getName().getStringRef())->level) ==
            "tensor")
      continue;
    newLine();
    if (failed(printOp(&op)))
      return failure();
  }
  for (Operation *subgraph : numbering.subgraphs()) {
    newLine();
    if (failed(printOp(subgraph)))
      return failure();
  }
  return success();
}

/// Style Full: all ops, in module order. Leading parameters are printed in a
/// subgraph `init`.
LogicalResult TextPrinter::printFullModule(ModuleOp module) {
  Block &body = *module.getBody();
  auto next = body.begin();
  bool hasInit = SymbolTable::lookupSymbolIn(module, "init") != nullptr;
  if (!hasInit && next != body.end() && isa<RegisterOp>(*next)) {
    newLine();
    os << "graph.SubGraphOp @init <notype> {\n";
    ++indent;
    newLine();
    os << "() -> () {\n";
    ++indent;
    for (; next != body.end() && isa<RegisterOp>(*next); ++next) {
      newLine();
      printRegister(cast<RegisterOp>(*next));
    }
    newLine();
    os << "cf.ReturnOp () -> ()\n";
    --indent;
    newLine();
    os << "}\n";
    --indent;
    newLine();
    os << "}\n";
  }
  for (; next != body.end(); ++next) {
    newLine();
    if (failed(printOp(&*next)))
      return failure();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Entry points
//===----------------------------------------------------------------------===//

LogicalResult llmir::mllm::printText(Operation *op, raw_ostream &output,
                                     const TextOptions &options) {
  return TextPrinter(output, options, op).printOp(op);
}

LogicalResult llmir::mllm::printText(Region &region, raw_ostream &output,
                                     const TextOptions &options) {
  return TextPrinter(output, options, region.getParentOp()).printRegion(region);
}

int64_t llmir::mllm::nextValueNumber(Operation *op) {
  return Numbering(op, /*firstNumber=*/0, /*inheritsGivenNames=*/false)
      .nextFree();
}

std::string llmir::mllm::valueText(Value value, const TextOptions &options) {
  Operation *op = value.getParentRegion()->getParentOp();
  Numbering numbering(op, options.firstNumber,
                      options.style == TextStyle::Document);
  return ("%" + numbering.name(value)).str();
}
