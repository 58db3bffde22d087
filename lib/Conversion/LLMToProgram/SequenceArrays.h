//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The index arrays of cache ops in a function. Those of a step are the
// runtime's, which kernels trust; those of a function are anything, so that the
// runtime looks at them first and gives kernels copies that they can trust.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERSION_LLMTOPROGRAM_SEQUENCEARRAYS_H
#define LLMIR_LIB_CONVERSION_LLMTOPROGRAM_SEQUENCEARRAYS_H

#include "ProgramConversion.h"

namespace llmir {

/// Block tables, lengths and offsets as kernels read them.
struct SequenceArrays {
  int64_t count;   ///< Sequences.
  int64_t columns; ///< Of the block tables.
  int64_t stride;  ///< Entries from one block table to the next.
  RowsValue tables, lengths;
  RowsValue offsets; ///< Of attention only.
};

/// Rows of block indices, for readers of that many tokens in that layer.
struct NamedSequences {
  mlir::TypedValue<mlir::RankedTensorType> blockIndices, lengths;
  mlir::Value layer;
  mlir::llm::PagedKVCacheType cache;
};

/// Lets the runtime find the sequences that rows name, whose lengths may not be
/// more than `room` (-1: no limit but the cache's).
mlir::FailureOr<SequenceArrays> findSequences(ProgramConversion &c,
                                              mlir::Operation *op,
                                              const NamedSequences &named,
                                              int64_t room);

/// The arrays of the ragged form as they are given.
mlir::FailureOr<SequenceArrays>
lookupSequences(ProgramConversion &c, mlir::Operation *op,
                mlir::TypedValue<mlir::RankedTensorType> tables,
                mlir::TypedValue<mlir::RankedTensorType> lengths,
                mlir::Value offsets);

/// Lets the runtime check them for so many queries, with a mask of that many
/// columns (0: none); gives the copies.
SequenceArrays checkSequences(ProgramConversion &c, mlir::Location loc,
                              const SequenceArrays &given, int64_t numQueries,
                              int64_t maskColumns);

/// Makes kernels find them.
void bindSequences(ProgramConversion &c, mlir::Location loc,
                   const SequenceArrays &sequences);

/// Makes kernels find the slots of an append, checked where a function has
/// them from elsewhere than reserve_kv.
mlir::LogicalResult bindSlots(ProgramConversion &c, mlir::Operation *op,
                              mlir::Value slots);

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_LLMTOPROGRAM_SEQUENCEARRAYS_H
