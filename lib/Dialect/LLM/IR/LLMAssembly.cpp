//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The lists of types of the cache ops, with and without parentheses.
//
//===----------------------------------------------------------------------===//

#include "LLMAssembly.h"

using namespace mlir;
using namespace mlir::llm;

/// Parses `(T, T) -> (T, T)` or `T, T -> T, T` into as many types as there are
/// places, in order.
static ParseResult parseTypeLists(OpAsmParser &parser,
                                  ArrayRef<Type *> operands,
                                  ArrayRef<Type *> results) {
  auto parseList = [&](ArrayRef<Type *> places, StringRef what) -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    SmallVector<Type> types;
    bool hasParens = succeeded(parser.parseOptionalLParen());
    if (parser.parseTypeList(types) || (hasParens && parser.parseRParen()))
      return failure();
    if (types.size() != places.size())
      return parser.emitError(loc)
             << "expected " << places.size() << ' ' << what
             << " types, but there are " << types.size();
    for (auto [place, type] : llvm::zip_equal(places, types))
      *place = type;
    return success();
  };
  if (parseList(operands, "operand") || parser.parseArrow())
    return failure();
  return parseList(results, "result");
}

ParseResult mlir::llm::parseAppendKVTypes(
    OpAsmParser &parser, const OptionalOperand &seqIds,
    const OptionalOperand &slotMapping, Type &cacheType, Type &keysType,
    Type &valuesType, Type &seqIdsType, Type &slotMappingType,
    Type &updatedCacheType, Type &blockIndicesType) {
  SmallVector<Type *> operands = {&cacheType, &keysType, &valuesType};
  SmallVector<Type *> results = {&updatedCacheType};
  if (seqIds) {
    operands.push_back(&seqIdsType);
    results.push_back(&blockIndicesType);
  }
  if (slotMapping)
    operands.push_back(&slotMappingType);
  return parseTypeLists(parser, operands, results);
}

void mlir::llm::printAppendKVTypes(OpAsmPrinter &printer, Operation *, Value,
                                   Value, Type cacheType, Type keysType,
                                   Type valuesType, Type seqIdsType,
                                   Type slotMappingType, Type updatedCacheType,
                                   Type blockIndicesType) {
  SmallVector<Type> operands = {cacheType, keysType, valuesType};
  SmallVector<Type> results = {updatedCacheType};
  for (Type type : {seqIdsType, slotMappingType})
    if (type)
      operands.push_back(type);
  if (blockIndicesType)
    results.push_back(blockIndicesType);
  printer.printFunctionalType(operands, results);
}

ParseResult mlir::llm::parsePagedAttentionTypes(
    OpAsmParser &parser, const OptionalOperand &queryOffsets, Type &queryType,
    Type &cacheType, Type &blockIndicesType, Type &seqLensType,
    Type &queryOffsetsType, Type &outputType) {
  SmallVector<Type *> operands = {&queryType, &cacheType, &blockIndicesType,
                                  &seqLensType};
  if (queryOffsets)
    operands.push_back(&queryOffsetsType);
  return parseTypeLists(parser, operands, {&outputType});
}

void mlir::llm::printPagedAttentionTypes(OpAsmPrinter &printer, Operation *,
                                         Value, Type queryType, Type cacheType,
                                         Type blockIndicesType,
                                         Type seqLensType,
                                         Type queryOffsetsType,
                                         Type outputType) {
  SmallVector<Type> operands = {queryType, cacheType, blockIndicesType,
                                seqLensType};
  if (queryOffsetsType)
    operands.push_back(queryOffsetsType);
  printer.printFunctionalType(operands, ArrayRef<Type>(outputType));
}
