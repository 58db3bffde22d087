//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Custom assembly shared by ops with listed and named operands.
//
//===----------------------------------------------------------------------===//

#include "LLMAssembly.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::llm;

ParseResult mlir::llm::parseAttributes(OpAsmParser &parser,
                                       OperationState &state) {
  SMLoc loc = parser.getCurrentLocation();
  NamedAttrList attributes;
  if (parser.parseOptionalAttrDict(attributes))
    return failure();
  for (NamedAttribute attribute : attributes) {
    std::string name = llvm::convertToSnakeFromCamelCase(attribute.getName());
    bool isOwn = llvm::any_of(state.name.getAttributeNames(),
                              [&](StringAttr own) { return own == name; });
    StringRef key = isOwn ? StringRef(name) : attribute.getName().strref();
    if (state.attributes.get(key))
      return parser.emitError(loc)
             << "attribute '" << key << "' is given twice";
    state.attributes.append(key, attribute.getValue());
  }
  // Report inherent attributes of the wrong kind here, at their location.
  std::optional<RegisteredOperationName> registered =
      state.name.getRegisteredInfo();
  return registered->verifyInherentAttrs(state.attributes, [&] {
    return parser.emitError(loc) << "'" << state.name.getStringRef() << "' op ";
  });
}

/// Parses `%a, %b` or `(%a, %b)`.
static ParseResult parseListed(OpAsmParser &parser, WrittenOp &written) {
  written.loc = parser.getCurrentLocation();
  written.hasParens = succeeded(parser.parseOptionalLParen());
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  if (parser.parseOperandList(operands) ||
      (written.hasParens && parser.parseRParen()))
    return failure();
  for (OpAsmParser::UnresolvedOperand operand : operands)
    written.listed.push_back({operand, Type()});
  return success();
}

/// Parses `name(%x)` as long as one of `names` follows; `order` receives the
/// names in source order.
static ParseResult parseNamed(OpAsmParser &parser, ArrayRef<StringRef> names,
                              WrittenOp &written,
                              SmallVectorImpl<StringRef> &order) {
  StringRef name;
  SMLoc loc = parser.getCurrentLocation();
  while (succeeded(parser.parseOptionalKeyword(&name, names))) {
    OpAsmParser::UnresolvedOperand operand;
    if (parser.parseLParen() || parser.parseOperand(operand) ||
        parser.parseRParen())
      return failure();
    if (!written.named.try_emplace(name, WrittenOperand{operand, Type()})
             .second)
      return parser.emitError(loc) << "operand '" << name << "' is given twice";
    order.push_back(name);
    loc = parser.getCurrentLocation();
  }
  return success();
}

/// Parses `T, T` or `(T, T)`.
static ParseResult parseTypes(OpAsmParser &parser, SmallVectorImpl<Type> &types,
                              SMLoc &loc) {
  loc = parser.getCurrentLocation();
  if (failed(parser.parseOptionalLParen()))
    return parser.parseTypeList(types);
  if (succeeded(parser.parseOptionalRParen()))
    return success();
  return failure(parser.parseTypeList(types) || parser.parseRParen());
}

static ParseResult checkCount(OpAsmParser &parser, SMLoc loc, size_t expected,
                              StringRef what, size_t actual) {
  if (expected == actual)
    return success();
  return parser.emitError(loc) << "expected " << expected << ' ' << what
                               << " types, but there are " << actual;
}

ParseResult mlir::llm::parseWrittenOp(OpAsmParser &parser,
                                      ArrayRef<StringRef> names,
                                      OperationState &state,
                                      WrittenOp &written) {
  SmallVector<StringRef> order;
  SmallVector<Type> types;
  SMLoc typesLoc;
  if (parseListed(parser, written) ||
      parseNamed(parser, names, written, order) ||
      parseAttributes(parser, state) || parser.parseColon() ||
      parseTypes(parser, types, typesLoc))
    return failure();

  // The layer is always an index.
  SmallVector<Type *> places;
  for (WrittenOperand &operand : written.listed)
    places.push_back(&operand.type);
  for (StringRef name : order) {
    WrittenOperand &operand = written.named[name];
    if (name == layerOperandName)
      operand.type = parser.getBuilder().getIndexType();
    else
      places.push_back(&operand.type);
  }
  if (checkCount(parser, typesLoc, places.size(), "operand", types.size()))
    return failure();
  for (auto [place, type] : llvm::zip_equal(places, types))
    *place = type;
  return failure(parser.parseArrow() ||
                 parseTypes(parser, written.results, written.resultsLoc));
}

void mlir::llm::moveCacheTo(WrittenOp &written, unsigned index) {
  if (!written.hasParens || written.listed.size() <= index ||
      !isa<PagedKVCacheType>(written.listed.back().type))
    return;
  WrittenOperand cache = written.listed.pop_back_val();
  written.listed.insert(written.listed.begin() + index, cache);
}

ParseResult mlir::llm::addOperandsAndResults(OpAsmParser &parser,
                                             const WrittenOp &written,
                                             ArrayRef<OperandSlot> slots,
                                             unsigned numResults,
                                             OperationState &state) {
  for (const OperandSlot &slot : slots)
    if (slot &&
        parser.resolveOperand(slot->operand, slot->type, state.operands))
      return failure();
  state.addTypes(written.results);
  return checkCount(parser, written.resultsLoc, numResults, "result",
                    written.results.size());
}

void mlir::llm::printWrittenOp(OpAsmPrinter &printer, Operation *op,
                               ArrayRef<Value> listed,
                               ArrayRef<std::pair<StringRef, Value>> named,
                               bool causalDefault) {
  SmallVector<Type> types;
  printer << ' ';
  llvm::interleaveComma(
      llvm::make_filter_range(listed, [](Value value) { return bool(value); }),
      printer, [&](Value value) {
        printer << value;
        types.push_back(value.getType());
      });
  for (auto [name, value] : named) {
    if (!value)
      continue;
    printer << ' ' << name << '(' << value << ')';
    if (name != layerOperandName)
      types.push_back(value.getType());
  }

  SmallVector<StringRef> hidden = {"operandSegmentSizes"};
  if (auto causal = op->getAttrOfType<BoolAttr>("causal"))
    if (causal.getValue() == causalDefault)
      hidden.push_back("causal");
  printer.printOptionalAttrDict(op->getAttrs(), hidden);
  printer << " : ";
  printer.printFunctionalType(types, op->getResultTypes());
}
