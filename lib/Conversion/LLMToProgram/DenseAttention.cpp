//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attention of tensors: their keys and values go to a cache in the arena, with
// blocks in order, from which the kernel of paged attention reads them.
//
//===----------------------------------------------------------------------===//

#include "DenseAttention.h"
#include "Places.h"

#include "llmir/ABI/KVBlockLayout.h"
#include "llmir/Support/PackedLayout.h"

using namespace mlir;
namespace ll = mlir::llm;

namespace llmir {

/// Tokens in a block of the scratch cache.
static constexpr int64_t kBlockSize = 16;

namespace {
/// Sizes of one attention, and where its keys are.
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
  int64_t blocksPerSequence() const {
    return std::max<int64_t>(ceilDiv(keys, kBlockSize), 1);
  }
};
} // namespace

/// The place of every key: sequences one after the other, each in whole blocks.
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
static LogicalResult appendAll(ProgramConversion &c, ll::AttentionOp op,
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
  // Whatever no token fills is never used: kernels see nothing behind an end.
  c.bindScratchCache(loc, pool.buffer);
  c.bindArray(loc, StepField::slot_mapping,
              c.constantRows(loc, makeSlots(shape)));
  AppendKVSpec spec{"f32", shape.kvHeads, shape.headDim, kBlockSize,
                    shape.valueDim};
  c.call(loc, kernelName("append_kv_f32", {spec.kvHeads, spec.headDim}), spec,
         {}, appendAccesses(spec, *keys, *values),
         BufferAccess{pool.buffer, true, std::nullopt});
  return success();
}

SmallVector<BufferAccess> appendAccesses(const AppendKVSpec &spec,
                                         const RowsValue &keys,
                                         const RowsValue &values) {
  int64_t heads = appendHeadsPerUnit(spec);
  auto share = [&](const RowsValue &rows, int64_t dim) {
    return rows.columnShareOfHeads(heads * dim / kTileRows);
  };
  return {{keys.buffer, false, share(keys, spec.headDim)},
          {values.buffer, false, share(values, valueDim(spec))}};
}

SmallVector<int64_t> maskStrides(ArrayRef<int64_t> mask, bool perToken) {
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

LogicalResult addMaskAndSinks(ProgramConversion &c, Operation *op, Value mask,
                              Value sinks, bool perToken,
                              PagedAttentionSpec &spec, KernelWeights &weights,
                              SmallVectorImpl<BufferAccess> &accesses) {
  if (mask) {
    ArrayRef<int64_t> shape = tensorShape(mask.getType());
    FailureOr<RowsValue> rows = c.lookup(op, mask, shape.back());
    if (failed(rows))
      return failure();
    spec.maskStrides = maskStrides(shape, perToken);
    if (getElementTypeOrSelf(mask.getType()).isInteger(1))
      rows = maskRows(c, op->getLoc(), *rows);
    accesses.push_back({rows->buffer, false, std::nullopt});
  }
  if (sinks) {
    FailureOr<KernelWeights> given = c.weights(op, {sinks});
    if (failed(given))
      return failure();
    spec.sinks =
        given->symbols.empty() ? OperandPlace::Buffer : OperandPlace::Weight;
    weights.symbols = given->symbols;
    for (Value row : given->buffers)
      accesses.push_back({row, false, std::nullopt});
  }
  return success();
}

static LogicalResult convert(ProgramConversion &c, ll::AttentionOp op) {
  if (!c.hasStaticRows())
    return op.emitOpError("has no place for its keys in a step; a step's keys "
                          "and values are in the cache");
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

  PagedAttentionSpec spec = attentionSpec(op);
  spec.kvFormat = "f32";
  spec.heads = shape.heads;
  spec.kvHeads = shape.kvHeads;
  spec.headDim = shape.headDim;
  spec.valueDim = shape.valueDim;
  spec.blockSize = kBlockSize;
  spec.causal = op.getCausal();
  spec.scale = ll::detail::getScaleOrDefault(op.getScaleAttr(), shape.headDim);
  SmallVector<BufferAccess> accesses{{query->buffer, false, std::nullopt}};
  KernelWeights weights;
  if (failed(addMaskAndSinks(c, op, op.getMask(), op.getSinks(),
                             /*perToken=*/false, spec, weights, accesses)))
    return failure();
  RowsValue out =
      c.createResult(op.getOutput(), *query, shape.heads * shape.valueDim);
  accesses.push_back({out.buffer, true, query->itemShare(spec.heads)});
  c.call(loc,
         kernelName("attention",
                    {spec.heads, spec.kvHeads, spec.headDim, spec.valueDim}),
         spec, weights, accesses,
         BufferAccess{pool.buffer, false, std::nullopt});
  return success();
}

void addDenseAttentionConversion(ConversionTable &table) {
  table.add<ll::AttentionOp>(convert);
}

} // namespace llmir
