//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The index arrays of cache ops in a function. Those of a step are provided by
// the runtime, and kernels trust them. Those of a function have any values, so
// that the runtime checks them first and gives the kernels checked copies.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERSION_LLMTOPROGRAM_SEQUENCEARRAYS_H
#define LLMIR_LIB_CONVERSION_LLMTOPROGRAM_SEQUENCEARRAYS_H

#include "FunctionConversion.h"

namespace llmir {

/// Block tables, lengths and offsets as kernels read them.
struct SequenceArrays {
  int64_t count;   ///< Sequences.
  int64_t columns; ///< Of the block tables.
  int64_t stride;  ///< Entries from one block table to the next.
  RowsValue tables, lengths;
  RowsValue offsets; ///< Of attention only.
};

/// Lets the runtime find the sequences that rows of block indices name, whose
/// lengths may not exceed `room` (-1: no limit but that of the cache).
mlir::FailureOr<SequenceArrays> findSequences(FunctionConversion &c,
                                              mlir::Operation *op,
                                              const SequenceOperands &named,
                                              int64_t room);

/// Binds the arrays for the following kernels.
void bindSequences(FunctionConversion &c, mlir::Location loc,
                   const SequenceArrays &sequences);

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_LLMTOPROGRAM_SEQUENCEARRAYS_H
