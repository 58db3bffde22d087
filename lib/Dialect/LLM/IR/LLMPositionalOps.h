//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Custom assembly of ops with positional operands (LLM_PositionalOp).
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DIALECT_LLM_IR_LLMPOSITIONALOPS_H
#define LLMIR_LIB_DIALECT_LLM_IR_LLMPOSITIONALOPS_H

#include "mlir/Dialect/LLM/IR/LLM.h"

namespace mlir::llm {

using OperandList = SmallVectorImpl<OpAsmParser::UnresolvedOperand>;

/// Parses `%a, %b` or `(%a, %b)`.
ParseResult parseOperandRow(OpAsmParser &parser, OperandList &operands);

/// Parses an optional `{name = value, …}`. Converts names in camel case to
/// snake case, 32-bit values of the op's own attributes to 64 bits, and
/// `reduction` to `reduce_op`.
ParseResult parseSpelledAttributes(OpAsmParser &parser, OperationState &result);

/// Parses `: (T, T) -> (T, T)` or `: T, T -> T, T` and resolves `operands`.
ParseResult
parseTypesAndResolve(OpAsmParser &parser,
                     ArrayRef<OpAsmParser::UnresolvedOperand> operands,
                     OperationState &result);

/// Parses operands, attributes and types: a whole op with positional operands.
ParseResult parsePositional(OpAsmParser &parser, OperationState &result);
void printPositional(OpAsmPrinter &printer, Operation *op);

} // namespace mlir::llm

#endif // LLMIR_LIB_DIALECT_LLM_IR_LLMPOSITIONALOPS_H
