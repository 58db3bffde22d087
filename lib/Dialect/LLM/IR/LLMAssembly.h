//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Text of the ops of the documents. Operands are a list and then named ones;
// parentheses around the list of operands and around the lists of types are
// optional when parsed, names of attributes may be in camel case. The printed
// form is `llm.op %a, %b name(%c) {attributes} : (T, T, T) -> R`.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DIALECT_LLM_IR_LLMASSEMBLY_H
#define LLMIR_LIB_DIALECT_LLM_IR_LLMASSEMBLY_H

#include "mlir/Dialect/LLM/IR/LLM.h"

namespace mlir::llm {

/// An operand in the text, and the type that the text gives it.
struct WrittenOperand {
  OpAsmParser::UnresolvedOperand operand;
  Type type;
};

/// An operand of the op's definition that the text may leave out.
using OperandSlot = std::optional<WrittenOperand>;

/// What stands in the text of one op.
struct WrittenOp {
  SMLoc loc;
  bool hasParens = false; ///< Around the list of operands.
  SmallVector<WrittenOperand> listed;
  llvm::StringMap<WrittenOperand> named;
  SMLoc resultsLoc;
  SmallVector<Type> results;

  OperandSlot getNamed(StringRef name) const {
    auto found = named.find(name);
    return found == named.end() ? OperandSlot() : OperandSlot(found->second);
  }
};

/// The name of the operand whose type is `index` and not in the list of types.
inline constexpr llvm::StringLiteral layerOperandName = "layer";

/// Parses `{name = value}` into `state`; a name in camel case stands for the
/// op's attribute in snake case.
ParseResult parseAttributes(OpAsmParser &parser, OperationState &state);

/// Parses all of an op that stands behind its name; `names` are those of its
/// named operands. Attributes go into `state`.
ParseResult parseWrittenOp(OpAsmParser &parser, ArrayRef<StringRef> names,
                           OperationState &state, WrittenOp &written);

/// Where operands are in parentheses the documents put the cache last; this
/// moves it to place `index` of the list, where the other form has it.
void moveCacheTo(WrittenOp &written, unsigned index);

/// Adds the operands that are there, in order, and the types of the results,
/// of which there must be `numResults`.
ParseResult addOperandsAndResults(OpAsmParser &parser, const WrittenOp &written,
                                  ArrayRef<OperandSlot> slots,
                                  unsigned numResults, OperationState &state);

/// The same for an op with segments of operands.
template <typename OpTy>
ParseResult addSegmentsAndResults(OpAsmParser &parser, const WrittenOp &written,
                                  ArrayRef<OperandSlot> slots,
                                  unsigned numResults, OperationState &state) {
  auto &properties =
      state.getOrAddProperties<typename OpTy::Properties>().operandSegmentSizes;
  assert(slots.size() == properties.size() && "one slot for each operand");
  for (auto [size, slot] : llvm::zip_equal(properties, slots))
    size = slot ? 1 : 0;
  return addOperandsAndResults(parser, written, slots, numResults, state);
}

/// Prints an op in the form above, without operands that are null and without
/// attributes that have their default (`causal`, where it is `causalDefault`).
void printWrittenOp(OpAsmPrinter &printer, Operation *op,
                    ArrayRef<Value> listed,
                    ArrayRef<std::pair<StringRef, Value>> named,
                    bool causalDefault = false);

} // namespace mlir::llm

#endif // LLMIR_LIB_DIALECT_LLM_IR_LLMASSEMBLY_H
