//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The kernels that move rows to and from the paged KV cache.
//
//===----------------------------------------------------------------------===//

#include "CacheKernels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace llmir {

Value keyByte(KernelBuilder &kb, const KVBlockLayout &layout, Value token,
              Value dim) {
  int64_t cell = layout.cellElements();
  Value row = kb.add(kb.mul(kb.div(dim, cell), layout.blockSize), token);
  return kb.mul(kb.add(kb.mul(row, cell), kb.rem(dim, cell)),
                layout.elementBytes);
}

Value valueByte(KernelBuilder &kb, const KVBlockLayout &layout, Value token,
                Value dim) {
  int64_t cell = layout.cellElements();
  Value row = kb.add(kb.mul(kb.div(token, cell), layout.paddedValueDim()), dim);
  Value element = kb.add(kb.mul(row, cell), kb.rem(token, cell));
  return kb.add(kb.mul(element, layout.elementBytes), layout.keyTileBytes());
}

/// A head's part of a block.
static Value headOfBlock(KernelBuilder &kb, const KVBlockLayout &layout,
                         Value base, Value block, Value head) {
  return kb.advance(base, kb.add(kb.mul(block, layout.blockBytes()),
                                 kb.mul(head, layout.headBytes())));
}

//===----------------------------------------------------------------------===//
// Append
//===----------------------------------------------------------------------===//

void emitAppendKV(KernelBuilder &kb, const AppendKVSpec &spec,
                  TensorFormat kvFormat) {
  KVBlockLayout layout = blockLayout(spec, kvFormat);
  Value keys = kb.buffer(0), values = kb.buffer(1), base = layerBase(kb);
  Value items = kb.mul(kb.rowCount(RowSpace::Tokens), spec.kvHeads);
  kb.loop(kb.worker(), items, kb.workers(), [&](Value item) {
    Value token = kb.div(item, spec.kvHeads);
    Value head = kb.rem(item, spec.kvHeads);
    Value slot = kb.contextArray(StepField::slot_mapping, token);
    Value offset = kb.rem(slot, spec.blockSize);
    Value tile =
        headOfBlock(kb, layout, base, kb.div(slot, spec.blockSize), head);
    kb.loop(0, layout.headDim, 1, [&](Value dim) {
      Value column = kb.add(kb.mul(head, layout.headDim), dim);
      kb.storeAt(encodeFloat(kb, kvFormat, kb.load(keys, {token, column})),
                 tile, keyByte(kb, layout, offset, dim));
    });
    kb.loop(0, layout.valueDim(), 1, [&](Value dim) {
      Value column = kb.add(kb.mul(head, layout.valueDim()), dim);
      kb.storeAt(encodeFloat(kb, kvFormat, kb.load(values, {token, column})),
                 tile, valueByte(kb, layout, offset, dim));
    });
  });
}

//===----------------------------------------------------------------------===//
// Look up
//===----------------------------------------------------------------------===//

/// The element of the cache at pointer + bytes, as f32.
static Value loadElement(KernelBuilder &kb, TensorFormat kvFormat,
                         Value pointer, Value bytes) {
  if (kvFormat == TensorFormat::F32)
    return kb.loadAt(kb.getF32Type(), pointer, bytes);
  Value half = kb.loadAt(kb.getI16Type(), pointer, bytes);
  // A word whose lower half is the element.
  Value word = arith::ExtUIOp::create(kb, kb.getI32Type(), half);
  return decodeWords(kb, kvFormat, word).front();
}

namespace {
/// Emits one (row, KV head) pair of lookup_kv.
class LookupEmitter {
public:
  LookupEmitter(KernelBuilder &kb, const LookupKVSpec &spec,
                TensorFormat kvFormat)
      : kb(kb), spec(spec), kvFormat(kvFormat),
        layout(blockLayout(spec, kvFormat)), keys(kb.buffer(0)),
        values(kb.buffer(1)), base(layerBase(kb)) {}

  void emit(Value row, Value head);

private:
  void copy(Value row, Value head, Value sequence, Value token);
  void zero(Value row, Value head);

  KernelBuilder &kb;
  const LookupKVSpec &spec;
  TensorFormat kvFormat;
  KVBlockLayout layout;
  Value keys, values, base;
};
} // namespace

void LookupEmitter::copy(Value row, Value head, Value sequence, Value token) {
  Value stride = kb.contextIndex(StepField::block_table_stride);
  Value entry = spec.perToken ? token : kb.div(token, spec.blockSize);
  Value block = kb.contextArray(StepField::block_tables,
                                kb.add(kb.mul(sequence, stride), entry));
  Value offset = kb.rem(token, spec.blockSize);
  Value tile = headOfBlock(kb, layout, base, block, head);
  kb.loop(0, layout.headDim, 1, [&](Value dim) {
    Value element =
        loadElement(kb, kvFormat, tile, keyByte(kb, layout, offset, dim));
    kb.store(element, keys, {row, kb.add(kb.mul(head, layout.headDim), dim)});
  });
  kb.loop(0, layout.valueDim(), 1, [&](Value dim) {
    Value element =
        loadElement(kb, kvFormat, tile, valueByte(kb, layout, offset, dim));
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
  Value sequence = kb.div(row, spec.rows), token = kb.rem(row, spec.rows);
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
  kb.zeroPaddingBehindHeads(keys, row, head, spec.kvHeads, layout.headDim);
  kb.zeroPaddingBehindHeads(values, row, head, spec.kvHeads, layout.valueDim());
}

void emitLookupKV(KernelBuilder &kb, const LookupKVSpec &spec,
                  TensorFormat kvFormat) {
  LookupEmitter emitter(kb, spec, kvFormat);
  Value rows = kb.mul(kb.contextIndex(StepField::num_sequences), spec.rows);
  kb.loop(
      kb.worker(), kb.mul(rows, spec.kvHeads), kb.workers(), [&](Value item) {
        emitter.emit(kb.div(item, spec.kvHeads), kb.rem(item, spec.kvHeads));
      });
}

} // namespace llmir
