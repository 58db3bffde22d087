//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What index arrays of a paged cache mean, and what of them is an error. The
// runtime's cache, compiled functions and the interpreter all ask here, so that
// they agree, in the text of their errors too.
//
// Block indices name sequences. A row is the last blocks of a sequence's block
// table, in order, as many as the row has room for, and -1 in the entries after
// them. An append gives such rows. A reader takes the sequence that owns the
// last block of a row and reads through its whole block table, so that a full
// table, any window of it and the row of the newest block alone give the same
// result. Blocks that a fork shares have several owners, whose tables are equal
// up to such a block: a reader takes one that is as long as it has to read. The
// first of them that writes to it takes a copy. Rows that end with the block
// then name the others, and of the writer only rows that it gives from then on.
//
// Block tables, of the ragged form of ops, are explicit: entry i of a row is
// the block of tokens i * blockSize to (i + 1) * blockSize - 1. The caller
// reserves blocks and slots and answers for what is in them.
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

/// What a cache can hold.
struct CacheBounds {
  int64_t numBlocks;
  int64_t blockSize; ///< Tokens in a block.
  int64_t maxSeqLen; ///< Tokens of a sequence.
};

/// A matrix of indices, row after row.
struct IndexRows {
  std::vector<int64_t> entries; ///< [rows][columns]
  int64_t columns = 0;

  /// Copies rows whose starts are `stride` entries apart.
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
  int64_t length;                     ///< Tokens written where it is read.
};

/// Writes the last `columns` blocks of a table, then -1: one row of block
/// indices.
template <typename Integer>
void fillRow(::llmir::Span<const int32_t> table, int64_t columns,
             Integer *row) {
  const auto size = static_cast<int64_t>(table.size());
  const int64_t first = size > columns ? size - columns : 0;
  for (int64_t i = 0; i < columns; ++i)
    row[i] = first + i < size ? table[static_cast<size_t>(first + i)] : -1;
}

/// The block table of the sequence that each row of block indices names, for
/// its first seqLens[row] tokens; an empty one where these are none, and then
/// the row is not read. `where` says in errors which lengths count: " in layer
/// 1", or nothing.
///
/// Fails with OutOfRange where a length is negative, more than maxSeqLen, or
/// more than the sequence has; with InvalidArgument where a row has no block, a
/// block that does not exist or that nobody owns, a block after a -1, blocks
/// that do not follow each other in one sequence, or where several sequences
/// own its last block and differ in what is to be read after it.
::llmir::Expected<std::vector<::llmir::Span<const int32_t>>>
findBlockTables(const IndexRows &blockIndices,
                ::llmir::Span<const int64_t> seqLens,
                ::llmir::Span<const SequenceView> sequences,
                const CacheBounds &bounds, const std::string &where);

/// Fails where a sequence is listed twice.
::llmir::Status checkDistinct(::llmir::Span<const int64_t> sequences);

/// Fails where a length is more than the result of a lookup has room for.
::llmir::Status checkRoom(::llmir::Span<const int64_t> seqLens,
                          int64_t numTokens);

/// The arrays that attention takes in its ragged form, or makes of a batch.
struct RaggedBatch {
  IndexRows blockTables;                   ///< [S][columns]
  ::llmir::Span<const int64_t> seqLens;    ///< [S], new tokens included.
  ::llmir::Span<const int64_t> rowOffsets; ///< [S + 1] first query of each.
  int64_t numRows;                         ///< Queries of all sequences.
  int64_t maskColumns; ///< 0: no mask; 1: the same for all keys.
};

/// Fails where offsets do not ascend from 0 to the number of queries, a length
/// is negative, more than maxSeqLen or less than the sequence's queries, a mask
/// has fewer columns than a sequence has tokens, or a block that is read does
/// not exist.
::llmir::Status checkRaggedBatch(const RaggedBatch &batch,
                                 const CacheBounds &bounds);

/// Fails where a slot, block * blockSize + offset, does not exist.
::llmir::Status checkSlots(::llmir::Span<const int64_t> slots,
                           const CacheBounds &bounds);

} // namespace mlir::llm::runtime

#endif // MLIR_DIALECT_LLM_RUNTIME_BLOCKTABLES_H
