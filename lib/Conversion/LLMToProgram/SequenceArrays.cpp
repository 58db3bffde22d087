//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SequenceArrays.h"
#include "DenseAttention.h"
#include "LayerRuns.h"

#include "llmir/Support/PackedLayout.h"

using namespace mlir;
namespace ll = mlir::llm;

namespace llmir {

/// The arguments of a runtime call.
static SmallVector<Attribute> toAttributes(Location loc,
                                           ArrayRef<int64_t> numbers) {
  Builder b(loc.getContext());
  return llvm::map_to_vector(numbers, [&](int64_t number) -> Attribute {
    return b.getI64IntegerAttr(number);
  });
}

/// Buffers for block tables, lengths and offsets.
static SequenceArrays createArrays(FunctionConversion &c, Location loc,
                                   int64_t count, int64_t columns) {
  SequenceArrays arrays;
  arrays.count = count;
  arrays.columns = columns;
  arrays.stride = roundUpTo(columns, kTileRows);
  arrays.tables = c.createScratch(loc, count, columns, c.i32());
  arrays.lengths = c.createScratch(loc, 1, count, c.i32());
  return arrays;
}

FailureOr<SequenceArrays> lookupSequences(FunctionConversion &c, Operation *op,
                                          TypedValue<RankedTensorType> tables,
                                          TypedValue<RankedTensorType> lengths,
                                          Value offsets) {
  ArrayRef<int64_t> shape = tables.getType().getShape();
  SequenceArrays given;
  given.count = shape[0];
  // A vector contains one block per sequence.
  given.columns = shape.size() == 2 ? shape[1] : 1;
  given.stride = shape.size() == 2 ? roundUpTo(shape[1], kTileRows) : 1;
  FailureOr<RowsValue> foundTables = c.lookup(op, tables, shape.back());
  FailureOr<RowsValue> foundLengths = c.lookup(op, lengths, given.count);
  if (failed(foundTables) || failed(foundLengths))
    return failure();
  given.tables = *foundTables;
  given.lengths = *foundLengths;
  if (!offsets)
    return given;
  FailureOr<RowsValue> foundOffsets = c.lookup(op, offsets, given.count + 1);
  if (failed(foundOffsets))
    return failure();
  given.offsets = *foundOffsets;
  return given;
}

FailureOr<SequenceArrays> findSequences(FunctionConversion &c, Operation *op,
                                        const SequenceOperands &named,
                                        int64_t room) {
  FailureOr<int64_t> layer = constantLayer(op, named.layer);
  FailureOr<SequenceArrays> rows =
      lookupSequences(c, op, named.blocks, named.lengths, /*offsets=*/Value());
  if (failed(layer) || failed(rows))
    return failure();
  Location loc = op->getLoc();
  SequenceArrays found =
      createArrays(c, loc, rows->count, named.cache.getMaxBlocksPerSequence());
  c.program.runtimeCall(loc, RuntimeFunction::find_kv,
                        {rows->tables.buffer, rows->lengths.buffer,
                         found.tables.buffer, found.lengths.buffer},
                        toAttributes(loc, {*layer, rows->count, rows->columns,
                                           rows->stride, room, found.stride}));
  return found;
}

SequenceArrays checkSequences(FunctionConversion &c, Location loc,
                              const SequenceArrays &given, int64_t numQueries,
                              int64_t maskColumns) {
  SequenceArrays checked = createArrays(c, loc, given.count, given.columns);
  checked.offsets = c.createScratch(loc, 1, given.count + 1, c.i32());
  c.program.runtimeCall(
      loc, RuntimeFunction::check_kv,
      {given.tables.buffer, given.lengths.buffer, given.offsets.buffer,
       checked.tables.buffer, checked.lengths.buffer, checked.offsets.buffer},
      toAttributes(loc, {given.count, given.columns, given.stride, numQueries,
                         maskColumns, checked.stride}));
  return checked;
}

void bindSequences(FunctionConversion &c, Location loc,
                   const SequenceArrays &sequences) {
  c.bindArray(loc, StepField::block_tables, sequences.tables);
  c.bindCount(loc, StepField::block_table_stride, sequences.stride);
  c.bindArray(loc, StepField::seq_lens, sequences.lengths);
  c.bindCount(loc, StepField::num_sequences, sequences.count);
  if (sequences.offsets.buffer)
    c.bindArray(loc, StepField::query_offsets, sequences.offsets);
}

LogicalResult
FunctionConversion::bindSequences(Operation *op,
                                  const SequenceOperands &operands) {
  FailureOr<SequenceArrays> sequences = failure();
  if (operands.offsets) {
    sequences = lookupSequences(*this, op, operands.blocks, operands.lengths,
                                operands.offsets);
  } else {
    sequences = findSequences(*this, op, operands, /*room=*/-1);
    if (succeeded(sequences))
      sequences->offsets =
          constantRows(op->getLoc(), makeSteps(sequences->count + 1,
                                               operands.queriesPerSequence));
  }
  if (failed(sequences))
    return failure();
  llmir::bindSequences(*this, op->getLoc(),
                       checkSequences(*this, op->getLoc(), *sequences,
                                      operands.numQueries,
                                      operands.maskColumns));
  return success();
}

LogicalResult FunctionConversion::bindSlots(Operation *op, Value slots) {
  if (slots.getDefiningOp<ll::ReserveKVOp>()) // Checked already.
    return bindField(op, slots, StepField::slot_mapping);
  int64_t count = tensorShape(slots.getType()).front();
  FailureOr<RowsValue> given = lookup(op, slots, count);
  if (failed(given))
    return failure();
  Location loc = op->getLoc();
  RowsValue checked = createScratch(loc, 1, count, i32());
  program.runtimeCall(loc, RuntimeFunction::check_slots,
                      {given->buffer, checked.buffer},
                      toAttributes(loc, {count}));
  bindArray(loc, StepField::slot_mapping, checked);
  return success();
}

} // namespace llmir
