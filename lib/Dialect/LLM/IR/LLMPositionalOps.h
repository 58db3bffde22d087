//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The text form of ops whose operands stand in a row (LLM_PositionalOp), in the
// spellings of the documents.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DIALECT_LLM_IR_LLMPOSITIONALOPS_H
#define LLMIR_LIB_DIALECT_LLM_IR_LLMPOSITIONALOPS_H

#include "mlir/Dialect/LLM/IR/LLM.h"

namespace mlir::llm {

using OperandList = SmallVectorImpl<OpAsmParser::UnresolvedOperand>;

/// Parses `%a, %b` or `(%a, %b)`.
ParseResult parseOperandRow(OpAsmParser &parser, OperandList &operands);

/// Parses `{name = value, …}` if it is there. Names in camel case become snake
/// case, 32-bit numbers of the op's own attributes 64-bit ones, `reduction`
/// becomes `reduce_op`.
ParseResult parseSpelledAttributes(OpAsmParser &parser, OperationState &result);

/// Parses `: (T, T) -> (T, T)` or `: T, T -> T, T` and resolves `operands`.
ParseResult
parseTypesAndResolve(OpAsmParser &parser,
                     ArrayRef<OpAsmParser::UnresolvedOperand> operands,
                     OperationState &result);

/// The three one after the other: all of an op with operands in a row.
ParseResult parsePositional(OpAsmParser &parser, OperationState &result);
void printPositional(OpAsmPrinter &printer, Operation *op);

} // namespace mlir::llm

#endif // LLMIR_LIB_DIALECT_LLM_IR_LLMPOSITIONALOPS_H
