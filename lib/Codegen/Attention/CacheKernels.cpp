//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels that copy rows to and from the paged KV cache.
//
//===----------------------------------------------------------------------===//

#include "CacheKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;

namespace llmir {

KernelCache cacheOf(kernel::KernelOpInterface kernel) {
  kernel::CacheGeometry geometry = *kernel.getCacheGeometry();
  KVFormat format = *kvFormatFromName(geometry.format);
  return {format,
          {geometry.kvHeads, geometry.headDim, geometry.blockSize,
           kvStoredBytes(format), geometry.valueDim, geometry.valuesInKeys}};
}

Value keyByte(KernelBuilder &kb, const KVBlockLayout &layout, Value token,
              Value dim) {
  int64_t cell = layout.cellElements();
  Value row = kb.add(kb.mul(kb.div(dim, cell), layout.blockSize), token);
  Value element = kb.mul(row, cell);
  element = kb.add(element, kb.rem(dim, cell));
  return kb.mul(element, layout.elementBytes);
}

Value valueByte(KernelBuilder &kb, const KVBlockLayout &layout, Value token,
                Value dim) {
  if (layout.valuesInKeys)
    return keyByte(kb, layout, token, dim);
  int64_t cell = layout.cellElements();
  Value row = kb.add(kb.mul(kb.div(token, cell), layout.paddedValueDim()), dim);
  Value element = kb.mul(row, cell);
  element = kb.add(element, kb.rem(token, cell));
  return kb.add(kb.mul(element, layout.elementBytes), layout.keyTileBytes());
}

/// The part of a block that belongs to a head.
static Value headOfBlock(KernelBuilder &kb, const KVBlockLayout &layout,
                         Value base, Value block, Value head) {
  Value bytes = kb.mul(block, layout.blockBytes());
  return kb.advance(base, kb.add(bytes, kb.mul(head, layout.headBytes())));
}

//===----------------------------------------------------------------------===//
// Append
//===----------------------------------------------------------------------===//

namespace {
/// Emits append_kv: 16 elements of a token at a time are written to whole words
/// of K, and to the token's part of as many words of V; the other tokens' parts
/// of these words are kept. A head is processed by one worker.
class AppendEmitter {
public:
  AppendEmitter(KernelBuilder &kb, kernel::AppendKVOp op,
                const KernelCache &cache)
      : kb(kb), format(cache.format), layout(cache.layout),
        keys(kb.argument(op.getKeysMutable())),
        values(kb.argument(op.getValuesMutable())), base(layerBase(kb)),
        firstSlot(
            kb.mul(layerGroup(kb), kb.contextIndex(StepField::num_tokens))) {}

  void emit(Value token, Value head);

private:
  /// The divisor of the elements, stored as the row's scale.
  Value writeScale(Value buffer, Value token, Value head, int64_t dims,
                   Value to);
  Value encode(Value numbers, Value scale);
  void writeKey(Value codes, Value dim, int64_t lanes, Value tile,
                Value offset);
  void writeValue(Value codes, Value dim, Value tile, Value offset);

  KernelBuilder &kb;
  KVFormat format;
  KVBlockLayout layout;
  Value keys, values, base, firstSlot;
};
} // namespace

/// The bits of |x| in each lane; those of NaN compare greater than all others.
static Value magnitude(KernelBuilder &kb, Value numbers) {
  Value bits = arith::BitcastOp::create(kb, kb.i32x16(), numbers);
  return arith::AndIOp::create(kb, bits,
                               kb.intConstant(kb.i32x16(), 0x7fffffff));
}

Value AppendEmitter::writeScale(Value buffer, Value token, Value head,
                                int64_t dims, Value to) {
  Value most = kb.intConstant(kb.i32x16(), 0);
  Value column = kb.mul(head, dims);
  auto greatest = [&](Value before, Value dim, int64_t lanes) -> Value {
    Value numbers = kb.loadVector(buffer, {token, kb.add(column, dim)}, lanes);
    return arith::MaxUIOp::create(kb, before,
                                  magnitude(kb, kb.widen(numbers, 0.0)));
  };
  int64_t whole = dims / kLanes * kLanes;
  most = kb.reduce(kb.index(0), kb.index(whole), kLanes, {most},
                   [&](Value dim, ValueRange before) -> SmallVector<Value> {
                     return {greatest(before[0], dim, kLanes)};
                   })[0];
  if (dims > whole)
    most = greatest(most, kb.index(whole), dims - whole);
  Value bits = kb.foldLanes(most, [&](Value a, Value b) -> Value {
    return arith::MaxUIOp::create(kb, a, b);
  });
  Value scale = kb.divf(arith::BitcastOp::create(kb, kb.getF32Type(), bits),
                        kb.f32(127.0));
  kb.storeAt(scale, to, kb.index(0));
  return scale;
}

/// Bytes as encoded by `byteCode` (Support/ByteCode.h).
Value AppendEmitter::encode(Value numbers, Value scale) {
  if (format != KVFormat::Q8)
    return encodeFloat(kb, storedFormat(format), numbers);
  Value quotient = kb.divf(numbers, kb.broadcast(scale));
  Value rounded = clampToBytes(kb, math::RoundEvenOp::create(kb, quotient));
  Value code = arith::FPToSIOp::create(kb, kb.i32x16(), rounded);
  auto compare = [&](arith::CmpFPredicate predicate, double limit) -> Value {
    return arith::CmpFOp::create(kb, predicate, scale, kb.f32(limit));
  };
  Value isPositive = compare(arith::CmpFPredicate::OGT, 0.0);
  Value isUsable =
      arith::AndIOp::create(kb, isPositive,
                            compare(arith::CmpFPredicate::OLT,
                                    std::numeric_limits<double>::infinity()));
  code = arith::SelectOp::create(kb, isUsable, code,
                                 kb.intConstant(kb.i32x16(), 0));
  return arith::TruncIOp::create(kb, kb.vec(kLanes, kb.getI8Type()), code);
}

void AppendEmitter::writeKey(Value codes, Value dim, int64_t lanes, Value tile,
                             Value offset) {
  int64_t cell = layout.cellElements(), count = kLanes / cell;
  Value words =
      vector::BitCastOp::create(kb, kb.vec(count, kb.getI32Type()), codes);
  Value first = kb.add(kb.mul(kb.div(dim, cell), layout.blockSize), offset);
  for (int64_t i = 0; i * cell < lanes; ++i) {
    Value word = kb.lane(words, i);
    kb.storeAt(word, tile,
               kb.mul(kb.add(first, i * layout.blockSize), int64_t(4)));
  }
}

void AppendEmitter::writeValue(Value codes, Value dim, Value tile,
                               Value offset) {
  int64_t cell = layout.cellElements(), bits = 32 / cell;
  Value group = kb.div(offset, cell);
  Value at = kb.add(
      kb.mul(kb.add(kb.mul(group, layout.paddedValueDim()), dim), int64_t(4)),
      layout.keyTileBytes());
  if (cell == 1)
    return kb.storeAt(codes, tile, at);
  auto shifted = [&](Value words, Value by) -> Value {
    return arith::ShLIOp::create(kb, words, by);
  };
  Value shift = kb.broadcast(arith::IndexCastOp::create(
      kb, kb.getI32Type(), kb.mul(kb.rem(offset, cell), bits)));
  Value own =
      shifted(kb.intConstant(kb.i32x16(), (int64_t(1) << bits) - 1), shift);
  Value others =
      arith::XOrIOp::create(kb, own, kb.intConstant(kb.i32x16(), -1));
  Value kept =
      arith::AndIOp::create(kb, kb.loadAt(kb.i32x16(), tile, at), others);
  Value added = shifted(arith::ExtUIOp::create(kb, kb.i32x16(), codes), shift);
  kb.storeAt(arith::OrIOp::create(kb, kept, added), tile, at);
}

void AppendEmitter::emit(Value token, Value head) {
  Value slot =
      kb.contextArray(StepField::slot_mapping, kb.add(firstSlot, token));
  Value offset = kb.rem(slot, layout.blockSize);
  Value tile =
      headOfBlock(kb, layout, base, kb.div(slot, layout.blockSize), head);
  for (bool ofValues : {false, true}) {
    if (ofValues && layout.valuesInKeys)
      break;
    Value buffer = ofValues ? values : keys, scale;
    int64_t dims = ofValues ? layout.valueDim() : layout.headDim;
    if (layout.hasScales()) {
      int64_t behind = ofValues ? layout.valueScaleOffset(0, 0)
                                : layout.keyScaleOffset(0, 0);
      scale = writeScale(
          buffer, token, head, dims,
          kb.advance(tile, kb.add(kb.mul(offset, int64_t(4)), behind)));
    }
    Value column = kb.mul(head, dims);
    kb.vectorLoop(dims, [&](Value dim, int64_t lanes) {
      Value numbers =
          kb.loadVector(buffer, {token, kb.add(column, dim)}, lanes);
      Value codes = encode(kb.widen(numbers, 0.0), scale);
      if (ofValues)
        writeValue(codes, dim, tile, offset);
      else
        writeKey(codes, dim, lanes, tile, offset);
    });
  }
}

static LogicalResult emitAppendKV(KernelBuilder &kb, kernel::AppendKVOp op) {
  AppendEmitter emitter(kb, op, cacheOf(op));
  auto [first, last] = kb.headRange(op.getKvHeads(), op.getHeadDim());
  kb.loop(kb.index(0), kb.rowCount(), kb.index(1),
          [&, first = first, last = last](Value token) {
            kb.loop(first, last, kb.index(1),
                    [&](Value head) { emitter.emit(token, head); });
          });
  return success();
}

//===----------------------------------------------------------------------===//
// Look up
//===----------------------------------------------------------------------===//

/// Loads the element of the cache at pointer + bytes as f32.
static Value loadElement(KernelBuilder &kb, KVFormat format, Value pointer,
                         Value bytes, Value scale) {
  if (format == KVFormat::F32)
    return kb.loadAt(kb.getF32Type(), pointer, bytes);
  if (format == KVFormat::Q8) {
    Value code = kb.loadAt(kb.getI8Type(), pointer, bytes);
    return kb.mulf(scale, arith::SIToFPOp::create(kb, kb.getF32Type(), code));
  }
  Value half = kb.loadAt(kb.getI16Type(), pointer, bytes);
  // A word whose lower half is the element.
  Value word = arith::ExtUIOp::create(kb, kb.getI32Type(), half);
  return decodeWords(kb, storedFormat(format), word).front();
}

namespace {
/// Emits one (row, KV head) pair of lookup_kv.
class LookupEmitter {
public:
  LookupEmitter(KernelBuilder &kb, kernel::LookupKVOp op,
                const KernelCache &cache)
      : kb(kb), rows(op.getRows()), format(cache.format), layout(cache.layout),
        keys(kb.argument(op.getKeysMutable())),
        values(kb.argument(op.getValuesMutable())), base(layerBase(kb)),
        group(layerGroup(kb)) {}

  void emit(Value row, Value head);

private:
  void copy(Value row, Value head, Value sequence, Value token);
  void zero(Value row, Value head);

  KernelBuilder &kb;
  int64_t rows; ///< Number of tokens per sequence.
  KVFormat format;
  KVBlockLayout layout;
  Value keys, values, base, group;
};
} // namespace

void LookupEmitter::copy(Value row, Value head, Value sequence, Value token) {
  Value entry = kb.div(token, layout.blockSize);
  Value block =
      kb.contextArray(StepField::block_tables,
                      kb.add(blockTableOf(kb, group, sequence), entry));
  Value offset = kb.rem(token, layout.blockSize);
  Value tile = headOfBlock(kb, layout, base, block, head);
  auto scaleAt = [&](int64_t behind) {
    return layout.hasScales()
               ? kb.loadAt(kb.getF32Type(), tile,
                           kb.add(kb.mul(offset, int64_t(4)), behind))
               : Value();
  };
  Value keyScale = scaleAt(layout.keyScaleOffset(0, 0));
  Value valueScale = scaleAt(layout.valueScaleOffset(0, 0));
  kb.loop(0, layout.headDim, 1, [&](Value dim) {
    Value element = loadElement(kb, format, tile,
                                keyByte(kb, layout, offset, dim), keyScale);
    kb.store(element, keys, {row, kb.add(kb.mul(head, layout.headDim), dim)});
  });
  kb.loop(0, layout.valueDim(), 1, [&](Value dim) {
    Value element = loadElement(kb, format, tile,
                                valueByte(kb, layout, offset, dim), valueScale);
    kb.store(element, values,
             {row, kb.add(kb.mul(head, layout.valueDim()), dim)});
  });
}

void LookupEmitter::zero(Value row, Value head) {
  auto fill = [&](Value buffer, int64_t dims) {
    Value column = kb.mul(head, dims);
    kb.vectorLoop(dims, [&](Value i, int64_t lanes) {
      kb.storeVector(kb.floatConstant(kb.vec(lanes, kb.getF32Type()), 0.0),
                     buffer, {row, kb.add(column, i)});
    });
  };
  fill(keys, layout.headDim);
  fill(values, layout.valueDim());
}

void LookupEmitter::emit(Value row, Value head) {
  Value sequence = kb.div(row, rows), token = kb.rem(row, rows);
  Value length = kb.contextArray(StepField::seq_lens, sequence);
  Value present =
      arith::CmpIOp::create(kb, arith::CmpIPredicate::slt, token, length);
  scf::IfOp::create(
      kb, present,
      [&](OpBuilder &, Location) {
        copy(row, head, sequence, token);
        scf::YieldOp::create(kb);
      },
      [&](OpBuilder &, Location) {
        zero(row, head);
        scf::YieldOp::create(kb);
      });
  kb.zeroPaddingAfterHeads(keys, row, head, layout.numKVHeads, layout.headDim);
  kb.zeroPaddingAfterHeads(values, row, head, layout.numKVHeads,
                           layout.valueDim());
}

static LogicalResult emitLookupKV(KernelBuilder &kb, kernel::LookupKVOp op) {
  LookupEmitter emitter(kb, op, cacheOf(op));
  Value rows = kb.mul(kb.contextIndex(StepField::num_sequences), op.getRows());
  kb.overHeads(rows, [&](Value row, Value head) { emitter.emit(row, head); });
  return success();
}

void addCacheEmitters(KernelEmitters &emitters) {
  emitters.add(emitAppendKV);
  emitters.add(emitLookupKV);
}

} // namespace llmir
