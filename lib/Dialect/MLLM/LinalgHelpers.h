//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What several files of linalg ops verify, fold and parse alike.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_DIALECT_MLLM_LINALGHELPERS_H
#define LLMIR_LIB_DIALECT_MLLM_LINALGHELPERS_H

#include "RangeRules.h"

#include "llmir/Dialect/MLLM/TensorTypes.h"

namespace llmir::mllm {

/// Fails unless a number is finite, and one of the type beside integers;
/// `name` is the attribute's.
Status checkNumber(mlir::FloatAttr number, const char *name,
                   mlir::Type element);

/// `value`, where the op's only result has its type; else null.
mlir::OpFoldResult ifSameType(mlir::Operation *op, mlir::Value value);

inline std::vector<int64_t> toVector(llvm::ArrayRef<int64_t> numbers) {
  return {numbers.begin(), numbers.end()};
}

/// An axis that the verifier has checked, counted from 0.
inline int64_t axisFromStart(int64_t axis, int64_t rank) {
  return axis < 0 ? axis + rank : axis;
}

/// The ranges that three attributes of equal length say; an end of kDynamic
/// is none.
Expected<std::vector<shapes::Range>> makeRanges(llvm::ArrayRef<int64_t> starts,
                                                llvm::ArrayRef<int64_t> ends,
                                                llvm::ArrayRef<int64_t> steps);

/// Three such attributes while they are parsed.
class RangeLists {
public:
  /// Reads `start:end:step`, of which only the first colon must be there.
  mlir::ParseResult parseNext(mlir::OpAsmParser &parser);
  /// Adds a range of all indices.
  void addAll();
  size_t size() const { return starts.size(); }
  void get(mlir::MLIRContext *context, mlir::DenseI64ArrayAttr &startsAttr,
           mlir::DenseI64ArrayAttr &endsAttr,
           mlir::DenseI64ArrayAttr &stepsAttr) const;

private:
  llvm::SmallVector<int64_t> starts, ends, steps;
};

/// Writes what parseNext() reads.
void printRange(mlir::OpAsmPrinter &printer, int64_t start, int64_t end,
                int64_t step);

} // namespace llmir::mllm

#endif // LLMIR_LIB_DIALECT_MLLM_LINALGHELPERS_H
