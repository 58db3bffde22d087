//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ops and regions.
//
//===----------------------------------------------------------------------===//

#include "Printer.h"

#include "mlir/IR/SymbolTable.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace llmir::mllm;

/// `<name="model.norm">`: the location of the op.
void TextPrinter::printLocation(Operation *op) {
  bool isFile = isa<FileLineColLoc>(Location(op->getLoc()));
  if (!isFull || isa<UnknownLoc>(op->getLoc()) || (isFile && !hasFiles))
    return;
  auto name = dyn_cast<NameLoc>(Location(op->getLoc()));
  if (name && isa<UnknownLoc>(name.getChildLoc())) {
    os << " <name=\"";
    llvm::printEscapedString(name.getName(), os);
    os << "\">";
    return;
  }
  os << " <loc=";
  printMLIR(
      [&](raw_ostream &stream) { LocationAttr(op->getLoc()).print(stream); });
  os << '>';
}

SmallVector<StringRef> llmir::mllm::kernelNames(program::InstructionOp op) {
  SmallVector<StringRef> names;
  for (kernel::KernelOpInterface kernel : program::kernelsOf(op))
    names.push_back(kernel->getName().stripDialect().rsplit('.').second);
  return llvm::all_of(names, isBareName) ? names : SmallVector<StringRef>();
}

SmallVector<NamedAttribute> llmir::mllm::ownAttributes(Operation *op) {
  SmallVector<NamedAttribute> found;
  auto isShown = [&](StringRef name) {
    if (name == SymbolTable::getSymbolAttrName())
      return !isa<ModuleOp>(op) && findOpTextName(op->getName().getStringRef());
    if (isa<SubGraphOp>(op)) // The head has the device if it is not the CPU.
      return name == "function_type" || name == "arg_attrs" ||
             (name == "device" && deviceTypeOf(op) != ::mllm::kCPU);
    if (isa<CallGraphOp>(op))
      return name == "callee" || name == "res_attrs";
    if (isa<program::FragmentOp>(op))
      return name == "kind";
    if (isa<RegisterOp>(op))
      return name == "type";
    return name == "mllm.res_attrs";
  };
  for (NamedAttribute each : op->getAttrDictionary())
    if (!isShown(each.getName()))
      found.push_back(each);
  return found;
}

/// "prog.CPU.inst.rms_norm+round_rows": the kernels in execution order.
void TextPrinter::printInstruction(program::InstructionOp op) {
  os << "prog." << device(op) << ".inst";
  SmallVector<StringRef> names = kernelNames(op);
  if (names.empty())
    return;
  os << '.';
  llvm::interleave(names, os, "+");
}

/// Everything before the operands.
void TextPrinter::printHead(Operation *op) {
  const OpTextName *known = findOpTextName(op->getName().getStringRef());
  if (!known) {
    os << "op\"" << op->getName().getStringRef() << '"';
  } else {
    StringRef level = known->level;
    StringRef mnemonic = op->getName().getStringRef().drop_front(
        strlen("mllm.") + level.size() + 1);
    if (auto instruction = dyn_cast<program::InstructionOp>(op))
      printInstruction(instruction);
    else if (level == "program")
      os << "prog." << mnemonic;
    else if (level == "tensor")
      os << "tensor." << device(op) << '.' << mnemonic;
    else if (level == "linalg")
      os << "linalg." << device(op) << '.'
         << (!isFull && isa<EmbeddingOp>(op) ? "LLMEmbeddingTokenOp"
                                             : known->cls);
    else
      os << level << '.' << known->cls;
    auto symbol =
        op->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
    if (auto call = dyn_cast<CallGraphOp>(op)) {
      os << ' ';
      printSymbol(call.getCallee());
    } else if (symbol && !isa<RegisterOp>(op)) {
      os << ' ';
      printSymbol(symbol);
    }
  }
  if (isa<SubGraphOp>(op))
    os << " <" << device(op) << '>';
  if (auto fragment = dyn_cast<program::FragmentOp>(op))
    os << " <" << device(op) << "> <"
       << program::stringifyFragmentKind(fragment.getKind()) << '>';
  printLocation(op);
  if (!isFull)
    return;
  SmallVector<NamedAttribute> attributes = ownAttributes(op);
  if (attributes.empty())
    return;
  os << " [";
  printAttributes(attributes);
  os << ']';
}

void TextPrinter::printRegister(RegisterOp op) {
  printHead(op);
  os << " () -> (%" << numbering.registerName(op) << ':';
  printType(op.getType());
  os << '[';
  printSymbol(op.getSymName());
  os << "])\n";
}

LogicalResult TextPrinter::printPlain(Operation *op) {
  printHead(op);
  // The current spelling has a space here; calls have one in both spellings.
  if (isFull || isa<CallGraphOp>(op))
    os << ' ';
  printValues(op->getOperands(), /*areDefinitions=*/false);
  os << " -> ";
  printValues(op->getResults(), /*areDefinitions=*/true);
  if (op->getNumRegions() == 0) {
    os << '\n';
    return success();
  }
  os << (isFull ? " {\n" : "{\n");
  ++indent;
  for (Region &region : op->getRegions()) {
    newLine();
    if (failed(printRegion(region)))
      return failure();
  }
  --indent;
  newLine();
  os << "}\n";
  return success();
}

LogicalResult TextPrinter::printRegion(Region &region) {
  if (region.empty()) {
    os << "() -> ()\n";
    return success();
  }
  if (!region.hasOneBlock())
    return region.getParentOp()->emitError(
        "has a region with several blocks, which the text format does not "
        "support");
  Block &block = region.front();
  printValues(block.getArguments(), /*areDefinitions=*/true);
  os << " -> ";
  bool returns =
      !block.empty() && block.back().hasTrait<OpTrait::IsTerminator>();
  printValues(returns ? ValueRange(block.back().getOperands()) : ValueRange(),
              /*areDefinitions=*/false);
  os << (isFull ? " {\n" : "{\n");
  ++indent;
  if (failed(printOps(block)))
    return failure();
  --indent;
  newLine();
  os << "}\n";
  return success();
}

LogicalResult TextPrinter::printOps(Block &block) {
  for (Operation &op : block) {
    newLine();
    if (failed(printOp(&op)))
      return failure();
  }
  return success();
}

LogicalResult TextPrinter::printSubGraph(SubGraphOp subgraph) {
  printHead(subgraph);
  if (subgraph.getBody().empty()) {
    // A declaration: types only.
    os << " (";
    llvm::interleaveComma(subgraph.getArgumentTypes(), os,
                          [&](Type type) { printType(type); });
    os << ") -> (";
    llvm::interleaveComma(subgraph.getResultTypes(), os,
                          [&](Type type) { printType(type); });
    os << ")\n";
    return success();
  }
  os << (isFull ? " {\n" : "{\n");
  ++indent;
  newLine();
  if (failed(printRegion(subgraph.getBody())))
    return failure();
  --indent;
  newLine();
  os << "}\n";
  return success();
}

LogicalResult TextPrinter::printFragment(program::FragmentOp fragment) {
  printHead(fragment);
  os << " {\n";
  ++indent;
  if (!fragment.getBody().empty() &&
      failed(printOps(fragment.getBody().front())))
    return failure();
  --indent;
  newLine();
  os << "}\n";
  return success();
}

LogicalResult TextPrinter::printOp(Operation *op) {
  if (op->getNumSuccessors() != 0)
    return op->emitError(
        "has successors, which the text format does not support");
  if (auto module = dyn_cast<ModuleOp>(op))
    return printModule(module);
  if (auto subgraph = dyn_cast<SubGraphOp>(op))
    return printSubGraph(subgraph);
  if (auto fragment = dyn_cast<program::FragmentOp>(op))
    return printFragment(fragment);
  if (auto parameter = dyn_cast<RegisterOp>(op)) {
    printRegister(parameter);
    return success();
  }
  return printPlain(op);
}
