//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The meaning of the index arrays of a paged cache, and their validation.
// Shared by the runtime's cache, compiled functions and the interpreter, so
// that they agree, including the text of errors.
//
// Block indices identify sequences. A row contains the last blocks of a
// sequence's block table in order, as many as fit, followed by -1; an append
// produces such rows. A reader looks up the sequence that owns the last block
// of a row and reads through its whole block table, so that a full table, any
// window of it, and a row with only the newest block give the same result.
// Blocks shared by a fork have several owners, whose tables are equal up to
// such a block; a reader uses one that is long enough. The first owner that
// writes to a shared block copies it. Older rows that end with the block then
// identify the other owners, and only rows returned from then on identify the
// writer.
//
// Block tables, of the ragged form of ops, are explicit: entry i of a row is
// the block of tokens i * blockSize to (i + 1) * blockSize - 1. The caller
// reserves blocks and slots and is responsible for their contents.
//
//===----------------------------------------------------------------------===//

#ifndef MLIR_DIALECT_LLM_RUNTIME_BLOCKTABLES_H
#define MLIR_DIALECT_LLM_RUNTIME_BLOCKTABLES_H

#include "llmir/Support/Span.h"
#include "llmir/Support/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace mlir::llm::runtime {

/// The capacity of a cache.
struct CacheBounds {
  int64_t numBlocks;
  int64_t blockSize; ///< Tokens per block.
  int64_t maxSeqLen; ///< Tokens per sequence.
};

/// A row-major matrix of indices.
struct IndexRows {
  std::vector<int64_t> entries; ///< [rows][columns]
  int64_t columns = 0;

  /// Copies rows that start `stride` entries apart.
  template <typename Integer>
  static IndexRows copy(const Integer *from, int64_t rows, int64_t columns,
                        int64_t stride) {
    IndexRows result;
    result.columns = columns;
    result.entries.reserve(static_cast<size_t>(rows * columns));
    for (int64_t row = 0; row < rows; ++row)
      result.entries.insert(result.entries.end(), from + row * stride,
                            from + row * stride + columns);
    return result;
  }
  int64_t at(int64_t row, int64_t column) const {
    return entries[static_cast<size_t>(row * columns + column)];
  }
};

/// A sequence as a reader sees it.
struct SequenceView {
  int64_t id;
  ::llmir::Span<const int32_t> table; ///< Its blocks in order.
  int64_t length;                     ///< Tokens available to the reader.
};

/// Writes one row of block indices: the last `columns` blocks of a table,
/// padded with -1.
template <typename Integer>
void fillRow(::llmir::Span<const int32_t> table, int64_t columns,
             Integer *row) {
  const auto size = static_cast<int64_t>(table.size());
  const int64_t first = size > columns ? size - columns : 0;
  for (int64_t i = 0; i < columns; ++i)
    row[i] = first + i < size ? table[static_cast<size_t>(first + i)] : -1;
}

/// The block table of the sequence that each row of block indices identifies,
/// for its first seqLens[row] tokens; an empty one if that is 0, in which case
/// the row is not read. `where` tells in errors which lengths apply: " in layer
/// 1", or "".
///
/// Fails with OutOfRange if a length is negative, exceeds maxSeqLen, or exceeds
/// that of the sequence; with InvalidArgument if a row has no block, a block
/// that does not exist or has no owner, a block after a -1, or blocks that are
/// not consecutive in one sequence, or if several sequences own its last block
/// and differ in the part to be read after it.
::llmir::Expected<std::vector<::llmir::Span<const int32_t>>>
findBlockTables(const IndexRows &blockIndices,
                ::llmir::Span<const int64_t> seqLens,
                ::llmir::Span<const SequenceView> sequences,
                const CacheBounds &bounds, const std::string &where);

/// Fails if a sequence is listed twice.
::llmir::Status checkDistinct(::llmir::Span<const int64_t> sequences);

/// Fails if a length exceeds the size of the result of a lookup.
::llmir::Status checkRoom(::llmir::Span<const int64_t> seqLens,
                          int64_t numTokens);

/// The arrays of attention in its ragged form, or those made from a batch.
struct RaggedBatch {
  IndexRows blockTables;                   ///< [S][columns]
  ::llmir::Span<const int64_t> seqLens;    ///< [S], including new tokens.
  ::llmir::Span<const int64_t> rowOffsets; ///< [S + 1] first query of each.
  int64_t numRows;                         ///< Queries of all sequences.
  int64_t maskColumns; ///< 0: no mask; 1: one column for all keys.
};

/// Fails if the offsets do not ascend from 0 to the number of queries; if a
/// length is negative, exceeds maxSeqLen or is less than the sequence's number
/// of queries; if a mask has fewer columns than a sequence has tokens; or if a
/// block that is read does not exist.
::llmir::Status checkRaggedBatch(const RaggedBatch &batch,
                                 const CacheBounds &bounds);

/// Fails if a slot, block * blockSize + offset, does not exist.
::llmir::Status checkSlots(::llmir::Span<const int64_t> slots,
                           const CacheBounds &bounds);

} // namespace mlir::llm::runtime

#endif // MLIR_DIALECT_LLM_RUNTIME_BLOCKTABLES_H
