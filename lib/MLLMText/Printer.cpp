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

#include "llvm/ADT/StringExtras.h"

#include <cstdio>
#include <cstdlib>

using namespace mlir;
using namespace llmir::mllm;
namespace shapes = llmir::shapes;

namespace {
/// Prints ops with the numbers of their module.
class Printer {
public:
  Printer(raw_ostream &os, const TextOptions &options, Operation *op)
      : os(os), isFull(options.style == TextStyle::Full),
        hasFiles(options.fileLocations),
        numbering(op, options.firstNumber, /*inheritsGivenNames=*/!isFull) {}

  LogicalResult printOp(Operation *op);
  LogicalResult printRegion(Region &region);
  void printValueName(Value value) { os << '%' << numbering.name(value); }

private:
  LogicalResult printModule(ModuleOp module);
  LogicalResult printDocumentModule(ModuleOp module);
  LogicalResult printFullModule(ModuleOp module);
  LogicalResult printSubGraph(SubGraphOp subgraph);
  LogicalResult printFragment(program::FragmentOp fragment);
  LogicalResult printOps(Block &block);
  LogicalResult printPlain(Operation *op);
  void printEntryCall(SubGraphOp entry);
  void printRegister(RegisterOp op);

  void printHead(Operation *op);
  void printInstruction(program::InstructionOp op);
  void printLocation(Operation *op);
  void printAttributes(ArrayRef<NamedAttribute> attributes);
  void printAttribute(Attribute attribute);
  void printMLIR(llvm::function_ref<void(raw_ostream &)> print);
  void printSymbol(StringRef name);
  void printType(Type type);
  void printValue(Value value, bool isDefinition);
  void printValueAttributes(Value value);
  void printValues(ValueRange values, bool areDefinitions);

  void newLine() { os.indent(4 * indent); }
  const char *device(Operation *op) {
    return ::mllm::deviceName(deviceTypeOf(op), isFull);
  }

  raw_ostream &os;
  bool isFull;
  bool hasFiles;
  int indent = 0;
  Numbering numbering;
};
} // namespace

//===----------------------------------------------------------------------===//
// Names, attributes, types
//===----------------------------------------------------------------------===//

/// A name that needs no quotes, after '@' and as the key of an attribute.
static bool isBareName(StringRef name) {
  return !name.empty() && (llvm::isAlpha(name[0]) || name[0] == '_') &&
         llvm::all_of(name, [](char c) {
           return llvm::isAlnum(c) || c == '_' || c == '.' || c == '$';
         });
}

void Printer::printSymbol(StringRef name) {
  if (isBareName(name)) {
    os << '@' << name;
    return;
  }
  os << "@\"";
  llvm::printEscapedString(name, os);
  os << '"';
}

/// What the notation has no words for stands in MLIR's.
void Printer::printMLIR(llvm::function_ref<void(raw_ostream &)> print) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  print(stream);
  os << "mlir\"";
  llvm::printEscapedString(text, os);
  os << '"';
}

/// The shortest text that reads back as the same number; it has a '.' or 'e'.
static std::string shortest(double value) {
  char text[32];
  for (int digits = 1; digits <= 17; ++digits) {
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    if (std::strtod(text, nullptr) == value)
      break;
  }
  if (!StringRef(text).contains('e') && !StringRef(text).contains('.'))
    return std::string(text) + ".0";
  return text;
}

void Printer::printAttribute(Attribute attribute) {
  if (auto value = dyn_cast<BoolAttr>(attribute)) {
    os << (value.getValue() ? "true" : "false");
    return;
  }
  if (auto value = dyn_cast<IntegerAttr>(attribute);
      value && value.getType().isSignlessInteger(64)) {
    os << value.getInt();
    return;
  }
  if (auto value = dyn_cast<FloatAttr>(attribute);
      value && value.getType().isF64() && value.getValue().isFinite()) {
    os << shortest(value.getValueAsDouble());
    return;
  }
  if (auto value = dyn_cast<StringAttr>(attribute);
      value && isa<NoneType>(value.getType())) {
    os << '"';
    llvm::printEscapedString(value, os);
    os << '"';
    return;
  }
  if (auto value = dyn_cast<FlatSymbolRefAttr>(attribute))
    return printSymbol(value.getValue());
  if (auto value = dyn_cast<DenseI64ArrayAttr>(attribute)) {
    os << "i64[";
    llvm::interleaveComma(value.asArrayRef(), os);
    os << ']';
    return;
  }
  if (auto value = dyn_cast<DenseI32ArrayAttr>(attribute)) {
    os << "i32[";
    llvm::interleaveComma(value.asArrayRef(), os);
    os << ']';
    return;
  }
  if (auto value = dyn_cast<ArrayAttr>(attribute)) {
    os << '[';
    llvm::interleaveComma(value, os,
                          [&](Attribute each) { printAttribute(each); });
    os << ']';
    return;
  }
  if (auto value = dyn_cast<DictionaryAttr>(attribute)) {
    os << '{';
    printAttributes(value.getValue());
    os << '}';
    return;
  }
  printMLIR([&](raw_ostream &stream) { attribute.print(stream); });
}

/// "key:value, key": dictionaries are sorted by their names.
void Printer::printAttributes(ArrayRef<NamedAttribute> attributes) {
  llvm::interleaveComma(attributes, os, [&](NamedAttribute each) {
    StringRef key = each.getName();
    if (isBareName(key)) {
      os << key;
    } else {
      os << '"';
      llvm::printEscapedString(key, os);
      os << '"';
    }
    if (isa<UnitAttr>(each.getValue()))
      return;
    os << ':';
    printAttribute(each.getValue());
  });
}

void Printer::printType(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type)) {
    std::optional<::mllm::DataTypes> dtype =
        dataTypeOf(tensor.getElementType());
    shapes::Shape shape = shapeOf(tensor);
    if (dtype && makeTensorType(shape, tensor.getElementType(),
                                deviceOf(tensor)) == tensor) {
      os << "tensor<";
      os << shapes::str(shape);
      os << ", " << ::mllm::dataTypeName(*dtype, isFull) << ", "
         << ::mllm::deviceName(deviceTypeOf(type), isFull) << '>';
      return;
    }
  }
  if (auto memref = dyn_cast<MemRefType>(type)) {
    std::optional<::mllm::DataTypes> dtype =
        dataTypeOf(memref.getElementType());
    if (dtype && memref.getLayout().isIdentity() && !memref.getMemorySpace()) {
      shapes::Shape shape;
      for (int64_t size : memref.getShape())
        shape.push_back(ShapedType::isDynamic(size) ? shapes::DimExpr::unknown()
                                                    : shapes::DimExpr(size));
      os << "memref<";
      os << shapes::str(shape);
      os << ", " << ::mllm::dataTypeName(*dtype, isFull) << '>';
      return;
    }
  }
  printMLIR([&](raw_ostream &stream) { type.print(stream); });
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

void Printer::printValueAttributes(Value value) {
  if (!isFull)
    return;
  DictionaryAttr attributes = getValueAttributes(value);
  SmallVector<NamedAttribute> rest;
  for (NamedAttribute each : attributes) {
    if (each.getName() == kValueSymbolKey && isa<StringAttr>(each.getValue())) {
      os << '[';
      printSymbol(cast<StringAttr>(each.getValue()));
      os << ']';
    } else if (each.getName() != kValueNameKey ||
               each.getValue() !=
                   StringAttr::get(value.getContext(), numbering.name(value))) {
      // A name that the text shows is not repeated.
      rest.push_back(each);
    }
  }
  if (rest.empty())
    return;
  os << '[';
  printAttributes(rest);
  os << ']';
}

void Printer::printValue(Value value, bool isDefinition) {
  printValueName(value);
  os << ':';
  printType(value.getType());
  if (isDefinition)
    printValueAttributes(value);
}

void Printer::printValues(ValueRange values, bool areDefinitions) {
  os << '(';
  llvm::interleaveComma(
      values, os, [&](Value value) { printValue(value, areDefinitions); });
  os << ')';
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// `<name="model.norm">`: the place where the op comes from.
void Printer::printLocation(Operation *op) {
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

/// True where every kernel's name may stand in "prog.CPU.inst.a+b".
static bool hasPlainKernels(program::InstructionOp op) {
  return !op.getKernels().empty() &&
         llvm::all_of(op.getKernels(), [](Attribute each) {
           StringRef name = cast<FlatSymbolRefAttr>(each).getValue();
           return isBareName(name) && !name.contains('.');
         });
}

/// The attributes of an op that stand in the brackets: not those that its head
/// and its values show.
static SmallVector<NamedAttribute> ownAttributes(Operation *op) {
  SmallVector<NamedAttribute> found;
  auto isShown = [&](StringRef name) {
    if (name == SymbolTable::getSymbolAttrName())
      return !isa<ModuleOp>(op) && findOpTextName(op->getName().getStringRef());
    if (isa<SubGraphOp>(op)) // A device other than the CPU stands in the head.
      return name == "function_type" || name == "arg_attrs" ||
             (name == "device" && deviceTypeOf(op) != ::mllm::kCPU);
    if (isa<CallGraphOp>(op))
      return name == "callee" || name == "res_attrs";
    if (isa<program::FragmentOp>(op))
      return name == "kind";
    if (auto instruction = dyn_cast<program::InstructionOp>(op))
      return name == "kernels" && hasPlainKernels(instruction);
    if (isa<RegisterOp>(op))
      return name == "type";
    return name == "mllm.res_attrs";
  };
  for (NamedAttribute each : op->getAttrDictionary())
    if (!isShown(each.getName()))
      found.push_back(each);
  return found;
}

/// "prog.CPU.inst.a+b": the kernels that run one behind the other.
void Printer::printInstruction(program::InstructionOp op) {
  os << "prog." << device(op) << ".inst";
  if (!hasPlainKernels(op))
    return;
  os << '.';
  llvm::interleave(
      op.getKernels(), os,
      [&](Attribute each) { os << cast<FlatSymbolRefAttr>(each).getValue(); },
      "+");
}

/// Everything before the operands.
void Printer::printHead(Operation *op) {
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

void Printer::printRegister(RegisterOp op) {
  printHead(op);
  os << " () -> (%" << numbering.registerName(op) << ':';
  printType(op.getType());
  os << '[';
  printSymbol(op.getSymName());
  os << "])\n";
}

LogicalResult Printer::printPlain(Operation *op) {
  printHead(op);
  // Present text has a space here; the documents' calls have one as well.
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

LogicalResult Printer::printRegion(Region &region) {
  if (region.empty()) {
    os << "() -> ()\n";
    return success();
  }
  if (!region.hasOneBlock())
    return region.getParentOp()->emitError(
        "has a region of several blocks, for which the notation has no words");
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

LogicalResult Printer::printOps(Block &block) {
  for (Operation &op : block) {
    newLine();
    if (failed(printOp(&op)))
      return failure();
  }
  return success();
}

LogicalResult Printer::printSubGraph(SubGraphOp subgraph) {
  printHead(subgraph);
  if (subgraph.getBody().empty()) {
    // A declaration: types alone.
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

LogicalResult Printer::printFragment(program::FragmentOp fragment) {
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

LogicalResult Printer::printOp(Operation *op) {
  if (op->getNumSuccessors() != 0)
    return op->emitError("has successors, for which the notation has no words");
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

//===----------------------------------------------------------------------===//
// Modules
//===----------------------------------------------------------------------===//

LogicalResult Printer::printModule(ModuleOp module) {
  std::optional<StringRef> name = module.getSymName();
  // A module without a name is @main; one that has this name says so.
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
void Printer::printEntryCall(SubGraphOp entry) {
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

/// As the sample: calls, then subgraphs in the order of their first calls. The
/// inputs of the module and its parameters are not shown.
LogicalResult Printer::printDocumentModule(ModuleOp module) {
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

/// Everything, in the module's order. Parameters that stand first are those of
/// a subgraph `init`.
LogicalResult Printer::printFullModule(ModuleOp module) {
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
  return Printer(output, options, op).printOp(op);
}

LogicalResult llmir::mllm::printText(Region &region, raw_ostream &output,
                                     const TextOptions &options) {
  return Printer(output, options, region.getParentOp()).printRegion(region);
}

int64_t llmir::mllm::nextValueNumber(Operation *op) {
  return Numbering(op, /*firstNumber=*/0, /*inheritsGivenNames=*/false)
      .nextFree();
}

std::string llmir::mllm::valueText(Value value, const TextOptions &options) {
  Operation *op = value.getParentRegion()->getParentOp();
  return "%" + Numbering(op, options.firstNumber,
                         options.style == TextStyle::Document)
                   .name(value)
                   .str();
}
