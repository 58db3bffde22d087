//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention of tensors: keys and values are written to a cache in the arena,
// with consecutive blocks, which is read by the kernel of paged attention.
//
//===----------------------------------------------------------------------===//

#include "DenseAttention.h"
#include "FunctionConversion.h"
#include "Places.h"

#include "llmir/ABI/KVBlockLayout.h"
#include "llmir/Support/PackedLayout.h"

using namespace mlir;
namespace ll = mlir::llm;

namespace llmir {

/// Tokens in a block of the scratch cache.
static constexpr int64_t kBlockSize = 16;

namespace {
/// Sizes of one attention op, and the slots of its keys.
struct DenseShape {
  int64_t batch, queries, keys, heads, kvHeads, headDim, valueDim;

  explicit DenseShape(ll::AttentionOp op)
      : kvHeads(1), headDim(op.sizeOfHead()) {
    ArrayRef<int64_t> q = tensorShape(op.getQuery().getType());
    ArrayRef<int64_t> k = tensorShape(op.getKey().getType());
    batch = q[0];
    queries = q[1];
    keys = k[1];
    heads = op.countHeads();
    kvHeads = op.countKVHeads();
    valueDim = tensorShape(op.getValue().getType()).back();
  }
  kernel::CacheGeometry geometry() const {
    return {"f32", kvHeads, headDim, valueDim, kBlockSize};
  }
  int64_t blocksPerSequence() const {
    return std::max<int64_t>(ceilDiv(keys, kBlockSize), 1);
  }
};
} // namespace

/// The slot of every key: sequences are consecutive, each in whole blocks.
static SmallVector<int32_t> makeSlots(const DenseShape &shape) {
  SmallVector<int32_t> slots;
  for (int64_t b = 0; b < shape.batch; ++b)
    for (int64_t t = 0; t < shape.keys; ++t)
      slots.push_back(b * shape.blocksPerSequence() * kBlockSize + t);
  return slots;
}

SmallVector<int32_t> makeSteps(int64_t count, int64_t step) {
  SmallVector<int32_t> numbers;
  for (int64_t i = 0; i < count; ++i)
    numbers.push_back(i * step);
  return numbers;
}

/// Writes keys and values to a new cache, and binds it.
static LogicalResult appendAll(FunctionConversion &c, ll::AttentionOp op,
                               const DenseShape &shape, RowsValue &pool) {
  Location loc = op.getLoc();
  FailureOr<RowsValue> keys =
      c.lookup(op, op.getKey(), shape.kvHeads * shape.headDim);
  FailureOr<RowsValue> values =
      c.lookup(op, op.getValue(), shape.kvHeads * shape.valueDim);
  if (failed(keys) || failed(values))
    return failure();
  KVBlockLayout layout{shape.kvHeads, shape.headDim, kBlockSize,
                       /*elementBytes=*/4, shape.valueDim};
  pool = c.createScratch(loc, shape.batch * shape.blocksPerSequence(),
                         layout.blockBytes() / 4);
  // Unused slots are not initialized: kernels do not access them.
  c.bindScratchCache(loc, pool.buffer);
  c.bindArray(loc, StepField::slot_mapping,
              c.constantRows(loc, makeSlots(shape)));
  appendToCache(c, loc, shape.geometry(), *keys, *values);
  return success();
}

void appendToCache(ProgramConversion &c, Location loc,
                   const kernel::CacheGeometry &cache, const RowsValue &keys,
                   const RowsValue &values) {
  c.kernel<kernel::AppendKVOp>(loc,
                               kernelName(Twine("append_kv_") + cache.format,
                                          {cache.kvHeads, cache.headDim}),
                               keys, keys.buffer, values.buffer, cache.format,
                               cache.kvHeads, cache.headDim, cache.valueDim,
                               cache.blockSize, cache.valuesInKeys);
}

/// `mask_strides` of a mask of this shape, whose last dimension is a row of its
/// buffer; a size of 1 is broadcast.
static SmallVector<int64_t> stridesOfMask(ArrayRef<int64_t> mask,
                                          bool perToken) {
  // Rows of the buffer are padded; the last dimension is a row.
  int64_t row = roundUpTo(std::max<int64_t>(mask.back(), 1), kTileRows);
  auto stride = [&](size_t fromEnd, int64_t distance) {
    bool present = fromEnd <= mask.size() && mask[mask.size() - fromEnd] != 1;
    return present ? distance : 0;
  };
  int64_t key = stride(1, 1);
  if (perToken)
    return {0, 0, 0, stride(2, row), key};
  bool hasHeads = mask.size() == 4;
  int64_t queries = mask[mask.size() - 2];
  int64_t heads = hasHeads ? mask[1] : 1;
  return {stride(mask.size(), row * queries * heads),
          hasHeads ? stride(3, row * queries) : 0, stride(2, row), 0, key};
}

LogicalResult CacheAttention::addMaskAndSinks(ProgramConversion &c,
                                              Operation *op, Value givenMask,
                                              Value givenSinks, bool perToken) {
  if (givenMask) {
    ArrayRef<int64_t> shape = tensorShape(givenMask.getType());
    FailureOr<RowsValue> rows = c.lookup(op, givenMask, shape.back());
    if (failed(rows))
      return failure();
    maskStrides = Builder(op->getContext())
                      .getDenseI64ArrayAttr(stridesOfMask(shape, perToken));
    if (getElementTypeOrSelf(givenMask.getType()).isInteger(1))
      rows = maskRows(c, op->getLoc(), *rows);
    mask = rows->buffer;
  }
  if (givenSinks) {
    FailureOr<KernelWeights> weights = c.weights(op, {givenSinks});
    if (failed(weights))
      return failure();
    sinks = (*weights)[0];
  }
  return success();
}

void CacheAttention::attend(ProgramConversion &c, Location loc, StringRef label,
                            const RowsValue &query, Value partials,
                            const RowsValue &out) const {
  c.kernel<kernel::PagedAttentionOp>(
      loc, label, query, sinks, query.buffer, mask, partials, out.buffer,
      cache.format, heads, cache.kvHeads, cache.headDim, cache.valueDim,
      cache.blockSize, cache.valuesInKeys, APFloat(scale), causal, window,
      APFloat(softCap), alibiSlopes, maskStrides, chunked);
}

void CacheAttention::merge(ProgramConversion &c, Location loc, StringRef label,
                           Value partials, const RowsValue &out) const {
  c.kernel<kernel::MergeAttentionOp>(
      loc, label, out, sinks, partials, out.buffer, cache.format, heads,
      cache.kvHeads, cache.headDim, cache.valueDim, cache.blockSize,
      cache.valuesInKeys, APFloat(scale), causal, window, APFloat(softCap),
      alibiSlopes, maskStrides, chunked);
}

static LogicalResult convert(FunctionConversion &c, ll::AttentionOp op) {
  Location loc = op.getLoc();
  DenseShape shape(op);
  FailureOr<RowsValue> query =
      c.lookup(op, op.getQuery(), shape.heads * shape.headDim);
  RowsValue pool;
  if (failed(query) || failed(appendAll(c, op, shape, pool)))
    return failure();
  int64_t blocks = shape.blocksPerSequence();
  c.bindArray(loc, StepField::block_tables,
              c.constantRows(loc, makeSteps(shape.batch * blocks, 1)));
  c.bindCount(loc, StepField::block_table_stride, blocks);
  c.bindArray(loc, StepField::seq_lens,
              c.constantRows(
                  loc, SmallVector<int32_t>(shape.batch, int32_t(shape.keys))));
  c.bindArray(loc, StepField::query_offsets,
              c.constantRows(loc, makeSteps(shape.batch + 1, shape.queries)));
  c.bindCount(loc, StepField::num_sequences, shape.batch);

  CacheAttention attention(op, shape.geometry(), shape.heads);
  if (failed(attention.addMaskAndSinks(c, op, op.getMask(), op.getSinks(),
                                       /*perToken=*/false)))
    return failure();
  RowsValue out =
      c.createResult(op.getOutput(), *query, attention.outputColumns());
  attention.attend(c, loc,
                   kernelName("attention", {shape.heads, shape.kvHeads,
                                            shape.headDim, shape.valueDim}),
                   *query, /*partials=*/Value(), out);
  return success();
}

void addDenseAttentionConversion(ConversionTable &table) {
  table.addForFunctions<ll::AttentionOp>(
      convert, "cannot be part of a step, whose keys and values are in the "
               "cache; use llm.paged_attention");
}

} // namespace llmir
