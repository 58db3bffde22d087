//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmir/Dialect/MLLM/MLLMGraphOps.h"

#include "llmir/Dialect/MLLM/MLLMCFOps.h"

#include "mlir/Interfaces/FunctionImplementation.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace llmir::mllm;

#define GET_OP_CLASSES
#include "llmir/Dialect/MLLM/MLLMGraphOps.cpp.inc"

void MLLMDialect::addGraphOps() {
  addOperations<
#define GET_OP_LIST
#include "llmir/Dialect/MLLM/MLLMGraphOps.cpp.inc"
      >();
}

SubGraphOp llmir::mllm::entrySubGraph(ModuleOp module) {
  for (auto subgraph : module.getOps<SubGraphOp>())
    if (subgraph.getEntry())
      return subgraph;
  auto calls = module.getOps<CallGraphOp>();
  if (calls.empty() || std::next(calls.begin()) != calls.end())
    return nullptr;
  return SymbolTable::lookupNearestSymbolFrom<SubGraphOp>(
      *calls.begin(), (*calls.begin()).getCalleeAttr());
}

//===----------------------------------------------------------------------===//
// SubGraphOp
//===----------------------------------------------------------------------===//

void SubGraphOp::build(OpBuilder &builder, OperationState &state,
                       StringRef name, FunctionType type, bool entry) {
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.sym_name = builder.getStringAttr(name);
  properties.function_type = TypeAttr::get(type);
  if (entry)
    properties.entry = builder.getUnitAttr();
  Block &block = state.addRegion()->emplaceBlock();
  for (Type input : type.getInputs())
    block.addArgument(input, state.location);
}

ParseResult SubGraphOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> arguments,
                      ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag, std::string &) {
    return builder.getFunctionType(arguments, results);
  };
  return function_interface_impl::parseFunctionOp(
      parser, result, /*allowVariadic=*/false,
      getFunctionTypeAttrName(result.name), buildType,
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void SubGraphOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(
      printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
      getArgAttrsAttrName(), getResAttrsAttrName());
}

LogicalResult SubGraphOp::verifyType() {
  for (auto [index, type] : llvm::enumerate(getArgumentTypes()))
    if (!isa<RankedTensorType>(type)) // c1
      return emitOpError() << "argument #" << index << " has type " << type
                           << ", expected a ranked tensor";
  for (auto [index, type] : llvm::enumerate(getResultTypes()))
    if (!isa<RankedTensorType>(type)) // c1
      return emitOpError() << "result #" << index << " has type " << type
                           << ", expected a ranked tensor";
  return success();
}

LogicalResult SubGraphOp::verifyRegions() {
  // c7
  if (getBody().empty()) {
    Operation *around = (*this)->getParentOp();
    if (!around || !isa_and_nonnull<ModuleOp>(around->getParentOp()))
      return emitOpError() << "@" << getSymName()
                           << " has no body; only modules to be linked by "
                              "mllm-link may have declarations";
    return success();
  }
  Operation *last = getBody().front().getTerminator();
  // c2
  if (!isa<ReturnOp>(last))
    return (emitOpError() << "ends with '" << last->getName() << "', expected '"
                          << ReturnOp::getOperationName() << "'")
               .attachNote(last->getLoc())
           << "the last op of the body";
  return success();
}

/// Traverses the call graph from `entry` depth-first and reports the first
/// cycle. The stack is explicit, since files may nest calls arbitrarily.
static LogicalResult verifyNoCircle(SubGraphOp entry,
                                    SymbolTableCollection &tables) {
  struct Visit {
    SubGraphOp subgraph;
    Block::iterator next; ///< Next op of its body to visit.
  };
  llvm::SmallPtrSet<Operation *, 32> seen, active;
  SmallVector<Visit> stack;
  auto enter = [&](SubGraphOp subgraph) {
    if (subgraph.getBody().empty())
      return; // Declarations have no calls.
    seen.insert(subgraph);
    active.insert(subgraph);
    stack.push_back({subgraph, subgraph.getBody().front().begin()});
  };
  enter(entry);
  while (!stack.empty()) {
    Visit &visit = stack.back();
    if (visit.next == visit.subgraph.getBody().front().end()) {
      active.erase(visit.subgraph);
      stack.pop_back();
      continue;
    }
    auto call = dyn_cast<CallGraphOp>(&*visit.next++);
    if (!call)
      continue;
    auto callee =
        tables.lookupNearestSymbolFrom<SubGraphOp>(call, call.getCalleeAttr());
    if (!callee)
      continue; // call_graph_c1 reports it.
    if (active.contains(callee))
      return (call.emitOpError()
              << "calls subgraph @" << callee.getSymName() << " recursively")
                 .attachNote(callee.getLoc())
             << "subgraph @" << callee.getSymName();
    if (!seen.contains(callee))
      enter(callee);
  }
  return success();
}

LogicalResult SubGraphOp::verifySymbolUses(SymbolTableCollection &tables) {
  // c6
  if (getDevice() && *getDevice() == Device::CPU)
    return emitOpError() << "has the device kCPU; omit it";
  if (!getEntry())
    return success();
  SubGraphOp first = entrySubGraph((*this)->getParentOfType<ModuleOp>());
  if (first != *this) // c3
    return (emitOpError() << "@" << getSymName()
                          << " is marked 'entry', and so is @"
                          << first.getSymName()
                          << "; a module has only one entry")
               .attachNote(first.getLoc())
           << "subgraph @" << first.getSymName();
  // c5
  for (auto call : (*this)->getParentOfType<ModuleOp>().getOps<CallGraphOp>())
    if (call.getCallee() != getSymName())
      return (emitOpError() << "@" << getSymName()
                            << " is marked 'entry', but the module calls @"
                            << call.getCallee())
                 .attachNote(call.getLoc())
             << "called here";
  // c4
  return verifyNoCircle(*this, tables);
}

//===----------------------------------------------------------------------===//
// CallGraphOp
//===----------------------------------------------------------------------===//

void CallGraphOp::build(OpBuilder &builder, OperationState &state,
                        SubGraphOp callee, ValueRange operands) {
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.callee = FlatSymbolRefAttr::get(callee.getSymNameAttr());
  state.addOperands(operands);
  state.addTypes(callee.getResultTypes());
}

/// Compares the types of a call with those of its callee; `what` is "operand"
/// or "result", `of` the callee's name for them.
static LogicalResult verifyCallTypes(CallGraphOp call, SubGraphOp callee,
                                     TypeRange have, ArrayRef<Type> want,
                                     StringRef what, StringRef of) {
  if (have.size() != want.size())
    return (call.emitOpError()
            << "has " << have.size() << " " << what << "s, but @"
            << call.getCallee() << " has " << want.size() << " " << of << "s")
               .attachNote(callee.getLoc())
           << "subgraph @" << callee.getSymName();
  for (auto [index, type] : llvm::enumerate(have))
    if (type != want[index])
      return (call.emitOpError()
              << what << " #" << index << " has type " << type << ", but @"
              << call.getCallee() << " has " << of << " type " << want[index])
                 .attachNote(callee.getLoc())
             << "subgraph @" << callee.getSymName();
  return success();
}

LogicalResult CallGraphOp::verifySymbolUses(SymbolTableCollection &tables) {
  Operation *symbol = tables.lookupNearestSymbolFrom(*this, getCalleeAttr());
  auto callee = dyn_cast_or_null<SubGraphOp>(symbol);
  // c1
  if (!callee) {
    InFlightDiagnostic error = emitOpError()
                               << "@" << getCallee()
                               << " is not a subgraph of the module";
    if (symbol)
      error.attachNote(symbol->getLoc())
          << "the symbol is '" << symbol->getName() << "'";
    return error;
  }
  // c2
  if (failed(verifyCallTypes(*this, callee, getOperandTypes(),
                             callee.getArgumentTypes(), "operand", "argument")))
    return failure();
  // c3
  return verifyCallTypes(*this, callee, getResultTypes(),
                         callee.getResultTypes(), "result", "result");
}
