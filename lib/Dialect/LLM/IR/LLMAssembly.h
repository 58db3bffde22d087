//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The lists of types of the cache ops. Parentheses around them are optional
// when parsed; the printed form has them.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DIALECT_LLM_IR_LLMASSEMBLY_H
#define LLMIR_LIB_DIALECT_LLM_IR_LLMASSEMBLY_H

#include "mlir/Dialect/LLM/IR/LLM.h"

namespace mlir::llm {

using OptionalOperand = std::optional<OpAsmParser::UnresolvedOperand>;

ParseResult parseAppendKVTypes(OpAsmParser &parser,
                               const OptionalOperand &seqIds,
                               const OptionalOperand &slotMapping,
                               Type &cacheType, Type &keysType,
                               Type &valuesType, Type &seqIdsType,
                               Type &slotMappingType, Type &updatedCacheType,
                               Type &blockIndicesType);
void printAppendKVTypes(OpAsmPrinter &printer, Operation *op, Value seqIds,
                        Value slotMapping, Type cacheType, Type keysType,
                        Type valuesType, Type seqIdsType, Type slotMappingType,
                        Type updatedCacheType, Type blockIndicesType);

ParseResult parsePagedAttentionTypes(OpAsmParser &parser,
                                     const OptionalOperand &queryOffsets,
                                     Type &queryType, Type &cacheType,
                                     Type &blockIndicesType, Type &seqLensType,
                                     Type &queryOffsetsType, Type &outputType);
void printPagedAttentionTypes(OpAsmPrinter &printer, Operation *op,
                              Value queryOffsets, Type queryType,
                              Type cacheType, Type blockIndicesType,
                              Type seqLensType, Type queryOffsetsType,
                              Type outputType);

} // namespace mlir::llm

#endif // LLMIR_LIB_DIALECT_LLM_IR_LLMASSEMBLY_H
