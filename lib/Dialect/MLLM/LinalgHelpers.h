//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared helpers to verify, fold and parse linalg ops.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DIALECT_MLLM_LINALGHELPERS_H
#define LLMIR_LIB_DIALECT_MLLM_LINALGHELPERS_H

#include "RangeRules.h"

#include "llmir/Dialect/MLLM/TensorTypes.h"

namespace llmir::mllm {

/// Fails unless a number is finite and, for integer types, representable;
/// `name` is the name of the attribute.
Status checkNumber(mlir::FloatAttr number, const char *name,
                   mlir::Type element);

/// Returns `value` if the op's only result has its type, otherwise null.
mlir::OpFoldResult ifSameType(mlir::Operation *op, mlir::Value value);

inline std::vector<int64_t> toVector(llvm::ArrayRef<int64_t> numbers) {
  return {numbers.begin(), numbers.end()};
}

/// Normalizes a verified axis.
inline int64_t axisFromStart(int64_t axis, int64_t rank) {
  return axis < 0 ? axis + rank : axis;
}

/// Combines three attributes of equal length into ranges; an end of kDynamic
/// means none.
Expected<std::vector<shapes::Range>> makeRanges(llvm::ArrayRef<int64_t> starts,
                                                llvm::ArrayRef<int64_t> ends,
                                                llvm::ArrayRef<int64_t> steps);

/// Builds three such attributes during parsing.
class RangeLists {
public:
  /// Parses `start:end:step`, of which only the first colon is required.
  mlir::ParseResult parseNext(mlir::OpAsmParser &parser);
  /// Adds a full range.
  void addAll();
  size_t size() const { return starts.size(); }
  void get(mlir::MLIRContext *context, mlir::DenseI64ArrayAttr &startsAttr,
           mlir::DenseI64ArrayAttr &endsAttr,
           mlir::DenseI64ArrayAttr &stepsAttr) const;

private:
  llvm::SmallVector<int64_t> starts, ends, steps;
};

/// Prints a range in the form of parseNext().
void printRange(mlir::OpAsmPrinter &printer, int64_t start, int64_t end,
                int64_t step);

} // namespace llmir::mllm

#endif // LLMIR_LIB_DIALECT_MLLM_LINALGHELPERS_H
