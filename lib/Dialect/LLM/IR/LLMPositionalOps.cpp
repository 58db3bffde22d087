//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Custom assembly of ops with positional operands.
//
//===----------------------------------------------------------------------===//

#include "LLMPositionalOps.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::llm;

ParseResult mlir::llm::parseOperandRow(OpAsmParser &parser,
                                       OperandList &operands) {
  bool hasParens = succeeded(parser.parseOptionalLParen());
  return failure(parser.parseOperandList(operands) ||
                 (hasParens && parser.parseRParen()));
}

/// Converts `groupSize` to the ODS spelling `group_size`. Names with a dialect
/// prefix are discardable attributes and are kept.
static std::string getOwnSpelling(StringRef name) {
  if (name == "reduction")
    return "reduce_op";
  std::string spelling;
  if (name.contains('.'))
    return name.str();
  for (char c : name) {
    if (llvm::isUpper(c))
      spelling += '_';
    spelling += llvm::toLower(c);
  }
  return spelling;
}

/// Widens an integer attribute to 64 bits.
static Attribute getWidened(Attribute value) {
  Builder builder(value.getContext());
  auto integer = dyn_cast<IntegerAttr>(value);
  if (integer && integer.getType().isSignlessInteger(32))
    return builder.getI64IntegerAttr(integer.getInt());
  auto number = dyn_cast<FloatAttr>(value);
  if (number && number.getType().isF32())
    return builder.getF64FloatAttr(number.getValueAsDouble());
  return value;
}

ParseResult mlir::llm::parseSpelledAttributes(OpAsmParser &parser,
                                              OperationState &result) {
  SMLoc loc = parser.getCurrentLocation();
  NamedAttrList parsed;
  if (parser.parseOptionalAttrDict(parsed))
    return failure();
  ArrayRef<StringAttr> known = result.name.getAttributeNames();
  for (NamedAttribute attribute : parsed) {
    StringAttr name =
        parser.getBuilder().getStringAttr(getOwnSpelling(attribute.getName()));
    bool isOwn = llvm::is_contained(known, name);
    if (!isOwn)
      name = attribute.getName();
    if (result.attributes.get(name))
      return parser.emitError(loc)
             << "attribute " << name << " is given twice, once as "
             << attribute.getName();
    result.addAttribute(name, isOwn ? getWidened(attribute.getValue())
                                    : attribute.getValue());
  }
  return result.name.verifyInherentAttrs(result.attributes, [&] {
    return parser.emitError(loc)
           << "'" << result.name.getStringRef() << "' op ";
  });
}

ParseResult mlir::llm::parseTypesAndResolve(
    OpAsmParser &parser, ArrayRef<OpAsmParser::UnresolvedOperand> operands,
    OperationState &result) {
  auto parseTypes = [&](SmallVectorImpl<Type> &types) -> ParseResult {
    bool hasParens = succeeded(parser.parseOptionalLParen());
    return failure(parser.parseTypeList(types) ||
                   (hasParens && parser.parseRParen()));
  };
  SmallVector<Type> types;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseColon() || parseTypes(types) || parser.parseArrow() ||
      parseTypes(result.types))
    return failure();
  if (types.size() != operands.size())
    return parser.emitError(loc)
           << "expected " << operands.size() << " operand types, but there are "
           << types.size();
  return parser.resolveOperands(operands, types, loc, result.operands);
}

ParseResult mlir::llm::parsePositional(OpAsmParser &parser,
                                       OperationState &result) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  return failure(parseOperandRow(parser, operands) ||
                 parseSpelledAttributes(parser, result) ||
                 parseTypesAndResolve(parser, operands, result));
}

void mlir::llm::printPositional(OpAsmPrinter &printer, Operation *op) {
  printer << ' ' << op->getOperands();
  printer.printOptionalAttrDict(op->getAttrs());
  printer << " : ";
  printer.printFunctionalType(op);
}
