//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/LLM/Runtime/BlockTables.h"

#include <algorithm>

using llmir::Expected;
using llmir::Span;
using llmir::Status;
using llmir::StatusCode;

namespace mlir::llm::runtime {

static std::string text(int64_t number) { return std::to_string(number); }

static std::string counted(int64_t count, const char *noun) {
  return text(count) + " " + noun + (count == 1 ? "" : "s");
}

//===----------------------------------------------------------------------===//
// Rows of block indices
//===----------------------------------------------------------------------===//

namespace {
/// Finds the sequence of each row.
class RowReader {
public:
  RowReader(const IndexRows &rows, Span<const int64_t> seqLens,
            Span<const SequenceView> sequences, const CacheBounds &bounds,
            const std::string &where)
      : rows(rows), seqLens(seqLens), sequences(sequences), bounds(bounds),
        where(where) {}

  Expected<std::vector<Span<const int32_t>>> find();

private:
  /// A sequence whose table has a row's last block, at entry `place`.
  struct Owner {
    const SequenceView *sequence;
    size_t place;
  };

  Status checkLength(int64_t row) const;
  Expected<int64_t> lastEntry(int64_t row) const;
  void collectOwners();
  Status checkFollows(int64_t row, int64_t last, const Owner &owner) const;
  Expected<Span<const int32_t>> choose(int64_t row, int64_t last) const;
  Status refuse(int64_t row, const std::string &cause,
                StatusCode code = StatusCode::InvalidArgument) const {
    return Status(code, "KV cache: row " + text(row) + " " + cause);
  }

  const IndexRows &rows;
  Span<const int64_t> seqLens;
  Span<const SequenceView> sequences;
  const CacheBounds &bounds;
  const std::string &where;
  std::vector<int64_t> last; ///< [row] entry of its last block, or -1.
  /// [block] 1 + the index into `owners` if it is a row's last block, else 0.
  std::vector<int32_t> listOf;
  std::vector<std::vector<Owner>> owners;
};
} // namespace

Status RowReader::checkLength(int64_t row) const {
  const int64_t length = seqLens[static_cast<size_t>(row)];
  if (length >= 0 && length <= bounds.maxSeqLen)
    return Status::ok();
  return refuse(row,
                "has length " + text(length) +
                    ", which is not from 0 to the cache's maximum of " +
                    text(bounds.maxSeqLen),
                StatusCode::OutOfRange);
}

/// The entry of the last block of a row. Checks that the blocks exist and that
/// only -1 follows them.
Expected<int64_t> RowReader::lastEntry(int64_t row) const {
  int64_t count = 0;
  while (count < rows.columns && rows.at(row, count) != -1)
    ++count;
  for (int64_t i = 0; i < rows.columns; ++i) {
    const int64_t block = rows.at(row, i);
    if (block == -1)
      continue;
    if (block < 0 || block >= bounds.numBlocks)
      return refuse(row, "has block " + text(block) + " in entry " + text(i) +
                             "; the cache has blocks 0 to " +
                             text(bounds.numBlocks - 1));
    if (i > count)
      return refuse(row, "has block " + text(block) + " in entry " + text(i) +
                             ", after -1 in entry " + text(count) +
                             "; only entries after the last block are -1");
  }
  if (count == 0)
    return refuse(row, "has length " + text(seqLens[static_cast<size_t>(row)]) +
                           ", but none of its entries is a block");
  return count - 1;
}

/// Collects the owners of all rows' last blocks, in order of the sequences.
void RowReader::collectOwners() {
  listOf.assign(static_cast<size_t>(bounds.numBlocks), 0);
  for (size_t row = 0; row < last.size(); ++row) {
    if (last[row] < 0)
      continue;
    int32_t &list = listOf[static_cast<size_t>(
        rows.at(static_cast<int64_t>(row), last[row]))];
    if (list == 0) {
      owners.emplace_back();
      list = static_cast<int32_t>(owners.size());
    }
  }
  for (const SequenceView &sequence : sequences)
    for (size_t i = 0; i < sequence.table.size(); ++i)
      if (int32_t list = listOf[static_cast<size_t>(sequence.table[i])])
        owners[static_cast<size_t>(list - 1)].push_back({&sequence, i});
}

/// Fails unless the row's blocks are those of the owner's table that end with
/// its entry for the row's last block.
Status RowReader::checkFollows(int64_t row, int64_t last,
                               const Owner &owner) const {
  const std::string ending = "block " + text(rows.at(row, last)) +
                             " in entry " + text(last) +
                             " belongs to sequence " + text(owner.sequence->id);
  const auto place = static_cast<int64_t>(owner.place);
  if (last > place)
    return refuse(row, "mixes sequences: " + ending + ", which has " +
                           counted(place, "block") + " before it, not " +
                           text(last));
  for (int64_t i = last - 1; i >= 0; --i) {
    const int32_t block =
        owner.sequence->table[static_cast<size_t>(place - last + i)];
    if (rows.at(row, i) != block)
      return refuse(row, "mixes sequences: " + ending + ", which has block " +
                             text(block) + " where entry " + text(i) +
                             " has block " + text(rows.at(row, i)));
  }
  return Status::ok();
}

/// A table that is long enough, among those of the owners of the row's last
/// block.
Expected<Span<const int32_t>> RowReader::choose(int64_t row,
                                                int64_t last) const {
  const int64_t block = rows.at(row, last);
  const std::vector<Owner> &all =
      owners[static_cast<size_t>(listOf[static_cast<size_t>(block)] - 1)];
  if (all.empty())
    return refuse(row, "has block " + text(block) + " in entry " + text(last) +
                           ", which belongs to no sequence");
  // Their tables are equal up to the block, so checking one is enough.
  LLMIR_RETURN_IF_ERROR(checkFollows(row, last, all.front()));

  const int64_t length = seqLens[static_cast<size_t>(row)];
  const SequenceView *longest = nullptr, *chosen = nullptr;
  const auto needed =
      static_cast<size_t>((length + bounds.blockSize - 1) / bounds.blockSize);
  for (const Owner &owner : all) {
    const SequenceView &sequence = *owner.sequence;
    if (!longest || sequence.length > longest->length)
      longest = &sequence;
    if (sequence.length < length)
      continue;
    if (!chosen) {
      chosen = &sequence;
      continue;
    }
    for (size_t i = owner.place + 1; i < needed; ++i)
      if (sequence.table[i] != chosen->table[i])
        return refuse(row,
                      "has length " + text(length) + ", but its last block " +
                          text(block) + " belongs to sequences " +
                          text(chosen->id) + " and " + text(sequence.id) +
                          ", which differ from token " +
                          text(static_cast<int64_t>(i) * bounds.blockSize) +
                          " on; use a row that ends with a block of only "
                          "one of them");
  }
  if (!chosen)
    return refuse(row,
                  "has length " + text(length) + ", but sequence " +
                      text(longest->id) + " has " +
                      counted(longest->length, "token") + where,
                  StatusCode::OutOfRange);
  return chosen->table;
}

Expected<std::vector<Span<const int32_t>>> RowReader::find() {
  const auto count = static_cast<int64_t>(seqLens.size());
  if (static_cast<int64_t>(rows.entries.size()) != count * rows.columns)
    return Status(StatusCode::InvalidArgument,
                  "KV cache: " + counted(count, "length") + " for " +
                      text(static_cast<int64_t>(rows.entries.size())) +
                      " block indices in rows of " + text(rows.columns));
  last.assign(seqLens.size(), -1);
  for (int64_t row = 0; row < count; ++row) {
    LLMIR_RETURN_IF_ERROR(checkLength(row));
    if (seqLens[static_cast<size_t>(row)] == 0)
      continue;
    Expected<int64_t> entry = lastEntry(row);
    if (!entry)
      return entry.takeStatus();
    last[static_cast<size_t>(row)] = *entry;
  }
  collectOwners();
  std::vector<Span<const int32_t>> tables(seqLens.size());
  for (int64_t row = 0; row < count; ++row) {
    const int64_t entry = last[static_cast<size_t>(row)];
    if (entry < 0)
      continue;
    Expected<Span<const int32_t>> table = choose(row, entry);
    if (!table)
      return table.takeStatus();
    tables[static_cast<size_t>(row)] = *table;
  }
  return tables;
}

Expected<std::vector<Span<const int32_t>>>
findBlockTables(const IndexRows &blockIndices, Span<const int64_t> seqLens,
                Span<const SequenceView> sequences, const CacheBounds &bounds,
                const std::string &where) {
  return RowReader(blockIndices, seqLens, sequences, bounds, where).find();
}

Status checkDistinct(Span<const int64_t> sequences) {
  std::vector<int64_t> sorted(sequences.begin(), sequences.end());
  std::sort(sorted.begin(), sorted.end());
  auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice == sorted.end())
    return Status::ok();
  return Status(StatusCode::InvalidArgument,
                "KV cache: sequence " + text(*twice) + " is listed twice",
                "list each sequence once");
}

Status checkRoom(Span<const int64_t> seqLens, int64_t numTokens) {
  for (size_t row = 0; row < seqLens.size(); ++row)
    if (seqLens[row] > numTokens)
      return Status(StatusCode::OutOfRange,
                    "KV cache: row " + text(static_cast<int64_t>(row)) +
                        " has length " + text(seqLens[row]) +
                        ", but the result has room for " +
                        counted(numTokens, "token"));
  return Status::ok();
}

//===----------------------------------------------------------------------===//
// The ragged form
//===----------------------------------------------------------------------===//

static Status refuseBatch(const std::string &cause,
                          StatusCode code = StatusCode::InvalidArgument) {
  return Status(code, "paged attention: " + cause);
}

static Status checkOffsets(const RaggedBatch &batch) {
  Span<const int64_t> offsets = batch.rowOffsets;
  const auto sequences = static_cast<int64_t>(batch.seqLens.size());
  if (offsets.size() != batch.seqLens.size() + 1 ||
      static_cast<int64_t>(batch.blockTables.entries.size()) !=
          sequences * batch.blockTables.columns)
    return refuseBatch(
        counted(sequences, "length") + ", " +
        text(static_cast<int64_t>(offsets.size())) + " offsets and " +
        text(static_cast<int64_t>(batch.blockTables.entries.size())) +
        " blocks in rows of " + text(batch.blockTables.columns) +
        " do not agree");
  const int64_t first = offsets[0], end = offsets[offsets.size() - 1];
  if (first != 0 || end != batch.numRows)
    return refuseBatch("offsets go from " + text(first) + " to " + text(end) +
                       " for " + counted(batch.numRows, "query row"));
  for (size_t s = 0; s + 1 < offsets.size(); ++s)
    if (offsets[s + 1] < offsets[s])
      return refuseBatch("the offsets of row " + text(static_cast<int64_t>(s)) +
                         " descend from " + text(offsets[s]) + " to " +
                         text(offsets[s + 1]));
  return Status::ok();
}

static Status checkLengthOfBatch(const RaggedBatch &batch, size_t s,
                                 const CacheBounds &bounds) {
  const std::string name = "row " + text(static_cast<int64_t>(s));
  const int64_t length = batch.seqLens[s];
  const int64_t queries = batch.rowOffsets[s + 1] - batch.rowOffsets[s];
  if (length < 0 || length > bounds.maxSeqLen)
    return refuseBatch(name + " has length " + text(length) +
                           ", which is not from 0 to the cache's maximum of " +
                           text(bounds.maxSeqLen),
                       StatusCode::OutOfRange);
  if (length < queries)
    return refuseBatch(name + " has " + text(queries) +
                       (queries == 1 ? " query" : " queries") + ", but only " +
                       counted(length, "token"));
  if (batch.maskColumns > 1 && length > batch.maskColumns)
    return refuseBatch(name + " has length " + text(length) +
                       ", but the mask has " + text(batch.maskColumns) +
                       " columns");
  return Status::ok();
}

Status checkRaggedBatch(const RaggedBatch &batch, const CacheBounds &bounds) {
  LLMIR_RETURN_IF_ERROR(checkOffsets(batch));
  for (size_t s = 0; s < batch.seqLens.size(); ++s) {
    LLMIR_RETURN_IF_ERROR(checkLengthOfBatch(batch, s, bounds));
    const auto row = static_cast<int64_t>(s);
    const int64_t blocks =
        (batch.seqLens[s] + bounds.blockSize - 1) / bounds.blockSize;
    if (blocks > batch.blockTables.columns)
      return refuseBatch("row " + text(row) + " has length " +
                         text(batch.seqLens[s]) + ", but " +
                         counted(batch.blockTables.columns, "block") + " of " +
                         text(bounds.blockSize) + " tokens");
    for (int64_t i = 0; i < blocks; ++i) {
      const int64_t block = batch.blockTables.at(row, i);
      if (block < 0 || block >= bounds.numBlocks)
        return refuseBatch("row " + text(row) + " has block " + text(block) +
                           " in entry " + text(i) +
                           "; the cache has blocks 0 to " +
                           text(bounds.numBlocks - 1));
    }
  }
  return Status::ok();
}

Status checkSlots(Span<const int64_t> slots, const CacheBounds &bounds) {
  const int64_t count = bounds.numBlocks * bounds.blockSize;
  for (size_t t = 0; t < slots.size(); ++t)
    if (slots[t] < 0 || slots[t] >= count)
      return Status(StatusCode::InvalidArgument,
                    "KV cache: token " + text(static_cast<int64_t>(t)) +
                        " goes to slot " + text(slots[t]) + "; there are " +
                        text(count));
  return Status::ok();
}

} // namespace mlir::llm::runtime
