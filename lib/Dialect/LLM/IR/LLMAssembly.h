//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Custom assembly of ops with listed and named operands. The printed form is
// `llm.op %a, %b name(%c) {attributes} : (T, T, T) -> R`. The parser also
// accepts parentheses around the listed operands, types without parentheses,
// and attribute names in camel case.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DIALECT_LLM_IR_LLMASSEMBLY_H
#define LLMIR_LIB_DIALECT_LLM_IR_LLMASSEMBLY_H

#include "mlir/Dialect/LLM/IR/LLM.h"

namespace mlir::llm {

/// A parsed operand and its parsed type.
struct WrittenOperand {
  OpAsmParser::UnresolvedOperand operand;
  Type type;
};

/// An operand of the op's definition, or nullopt if the text omits it.
using OperandSlot = std::optional<WrittenOperand>;

/// The parsed text of one op.
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

/// The name of the operand of type `index`, which the list of types omits.
inline constexpr llvm::StringLiteral layerOperandName = "layer";

/// Parses `{name = value}` into `state`, converting names in camel case to the
/// op's attribute names in snake case.
ParseResult parseAttributes(OpAsmParser &parser, OperationState &state);

/// Parses an op after its name; `names` are the names of its named operands.
/// Attributes are added to `state`.
ParseResult parseWrittenOp(OpAsmParser &parser, ArrayRef<StringRef> names,
                           OperationState &state, WrittenOp &written);

/// In the form with parentheses around the operands the cache is last; moves it
/// to position `index`, as in the form without.
void moveCacheTo(WrittenOp &written, unsigned index);

/// Adds the operands that are present, in order, and the types of the results,
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

/// Prints an op in the form above, omitting null operands and `causal` if it is
/// `causalDefault`.
void printWrittenOp(OpAsmPrinter &printer, Operation *op,
                    ArrayRef<Value> listed,
                    ArrayRef<std::pair<StringRef, Value>> named,
                    bool causalDefault = false);

} // namespace mlir::llm

#endif // LLMIR_LIB_DIALECT_LLM_IR_LLMASSEMBLY_H
