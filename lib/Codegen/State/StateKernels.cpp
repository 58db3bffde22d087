//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Kernels that update the states of layers, token by token.
//
//===----------------------------------------------------------------------===//

#include "../Common/Emitters.h"

#include "llmir/ABI/StateRecord.h"

using namespace mlir;

namespace llmir {

namespace {
/// A sequence of the step: its tokens, and its record in the current layer.
struct StepSequence {
  Value firstToken, lastToken, record;
};
} // namespace

/// Calls body(sequence) for each sequence of the step.
static void overSequences(KernelBuilder &kb,
                          llvm::function_ref<void(const StepSequence &)> body) {
  Value layers = kb.advance(
      kb.contextPointer(StepField::state_pool),
      kb.mul(kb.layer(), kb.contextIndex(StepField::state_layer_stride)));
  Value stride = kb.contextIndex(StepField::state_slot_stride);
  kb.rolledLoop(kb.index(0), kb.contextIndex(StepField::num_sequences),
                [&](Value s) {
                  Value slot = kb.contextArray(StepField::state_slots, s);
                  body({kb.contextArray(StepField::query_offsets, s),
                        kb.contextArray(StepField::query_offsets, kb.add(s, 1)),
                        kb.advance(layers, kb.mul(slot, stride))});
                });
}

/// The bytes of a number of floats.
static Value bytesOf(KernelBuilder &kb, Value floats) {
  return kb.mul(floats, int64_t(4));
}

//===----------------------------------------------------------------------===//
// causal_conv
//===----------------------------------------------------------------------===//

/// The rows that a channel tile keeps are in registers during the tokens of a
/// sequence.
static LogicalResult emitCausalConv(KernelBuilder &kb,
                                    kernel::CausalConvOp op) {
  const auto taps = static_cast<int64_t>(op.getTaps());
  const int64_t row = wholeStateLanes(op.getChannels());
  const auto offset = static_cast<int64_t>(op.getStateOffset());
  Value x = kb.argument(op.getXMutable());
  Value weight = kb.argument(op.getWeightMutable());
  Value out = kb.argument(op.getOutMutable());
  auto [first, last] = kb.tileRange();
  kb.loop(first, last, kb.index(1), [&](Value tile) {
    Value column = kb.mul(tile, kLanes);
    SmallVector<Value> factors;
    for (int64_t j = 0; j < taps; ++j)
      factors.push_back(kb.loadVector(weight, {kb.index(j), column}));
    overSequences(kb, [&](const StepSequence &sequence) {
      auto place = [&](int64_t kept) {
        return bytesOf(kb, kb.add(column, offset + kept * row));
      };
      SmallVector<Value> kept;
      for (int64_t j = 0; j + 1 < taps; ++j)
        kept.push_back(kb.loadAt(kb.f32x16(), sequence.record, place(j)));
      auto body = [&](Value token, ValueRange before) -> SmallVector<Value> {
        SmallVector<Value> inputs(before);
        inputs.push_back(kb.loadVector(x, {token, column}));
        Value sum = kb.mulf(factors[0], inputs[0]);
        for (int64_t j = 1; j < taps; ++j)
          sum = kb.fma(factors[j], inputs[j], sum);
        kb.storeVector(sum, out, {token, column});
        inputs.erase(inputs.begin());
        return inputs;
      };
      if (taps == 1) {
        kb.rolledLoop(sequence.firstToken, sequence.lastToken,
                      [&](Value token) { body(token, {}); });
        return;
      }
      SmallVector<Value> after = kb.reduceRolled(
          sequence.firstToken, sequence.lastToken, 1, kept, body);
      for (auto [j, rows] : llvm::enumerate(after))
        kb.storeAt(rows, sequence.record, place(j));
    });
  });
  return success();
}

//===----------------------------------------------------------------------===//
// linear_attention
//===----------------------------------------------------------------------===//

namespace {
/// Emits linear_attention for columns of a value head: these columns of the
/// matrix do not depend on others.
class RecurrenceEmitter {
public:
  RecurrenceEmitter(KernelBuilder &kb, kernel::LinearAttentionOp op)
      : kb(kb), op(op), keyDim(op.getKeyDim()), valueDim(op.getValueDim()),
        q(kb.argument(op.getQMutable())), k(kb.argument(op.getKMutable())),
        v(kb.argument(op.getVMutable())),
        decay(kb.argument(op.getDecayMutable())),
        beta(kb.argument(op.getBetaMutable())),
        out(kb.argument(op.getOutMutable())) {}

  void emitHead(Value head);

private:
  void emitToken(Value token, Value matrix);
  /// Element i of the key head in a row of keys or queries, in all lanes.
  Value keyElement(Value rows, Value token, Value i) {
    return kb.broadcast(kb.load(rows, {token, kb.add(keyColumn, i)}), lanes);
  }

  KernelBuilder &kb;
  kernel::LinearAttentionOp op;
  int64_t keyDim, valueDim;
  Value q, k, v, decay, beta, out;
  // The columns.
  Value head, keyColumn, column;
  int64_t lanes = 0;
};
} // namespace

/// `matrix`: the address of [keyDim][16] floats.
void RecurrenceEmitter::emitToken(Value token, Value matrix) {
  VectorType vector = kb.vec(lanes, kb.getF32Type());
  Value zero = kb.floatConstant(vector, 0.0);
  Value factor = kb.broadcast(kb.load(decay, {token, head}), lanes);
  Value delta = kb.loadVector(v, {token, column}, lanes);
  auto place = [&](Value i) { return bytesOf(kb, kb.mul(i, kStateLanes)); };
  if (beta) {
    Value known =
        kb.reduce(kb.index(0), kb.index(keyDim), 1, zero,
                  [&](Value i, ValueRange sum) -> SmallVector<Value> {
                    Value row = kb.loadAt(vector, matrix, place(i));
                    return {kb.fma(keyElement(k, token, i), row, sum[0])};
                  })[0];
    Value rate = kb.broadcast(kb.load(beta, {token, head}), lanes);
    delta = kb.mulf(rate, kb.subf(delta, kb.mulf(factor, known)));
  }
  Value result = kb.reduce(
      kb.index(0), kb.index(keyDim), 1, zero,
      [&](Value i, ValueRange sum) -> SmallVector<Value> {
        Value row = kb.loadAt(vector, matrix, place(i));
        row = kb.fma(keyElement(k, token, i), delta, kb.mulf(factor, row));
        kb.storeAt(row, matrix, place(i));
        return {kb.fma(keyElement(q, token, i), row, sum[0])};
      })[0];
  kb.storeVector(result, out, {token, column});
}

void RecurrenceEmitter::emitHead(Value ofHead) {
  head = ofHead;
  const auto heads = static_cast<int64_t>(op.getHeads());
  const auto keyHeads = static_cast<int64_t>(op.getKeyHeads());
  Value keyHead = op.getInterleaved() ? kb.rem(head, keyHeads)
                                      : kb.div(head, heads / keyHeads);
  keyColumn = kb.mul(keyHead, keyDim);
  const auto offset = static_cast<int64_t>(op.getStateOffset());
  const int64_t headFloats = matrixFloats(1, keyDim, valueDim);
  kb.vectorLoop(valueDim, [&](Value first, int64_t count) {
    lanes = count;
    column = kb.add(kb.mul(head, valueDim), first);
    // `first` is a multiple of 16: the columns before it fill whole parts.
    Value start =
        kb.add(kb.add(kb.mul(head, headFloats), kb.mul(first, keyDim)), offset);
    overSequences(kb, [&](const StepSequence &sequence) {
      Value matrix = kb.advance(sequence.record, bytesOf(kb, start));
      kb.rolledLoop(sequence.firstToken, sequence.lastToken,
                    [&](Value token) { emitToken(token, matrix); });
    });
  });
  if (cast<MemRefType>(out.getType()).getDimSize(1) != heads * valueDim)
    kb.rolledLoop(kb.index(0), kb.rowCount(), [&](Value token) {
      kb.zeroPaddingAfterHeads(out, token, head, heads, valueDim);
    });
}

static LogicalResult emitLinearAttention(KernelBuilder &kb,
                                         kernel::LinearAttentionOp op) {
  RecurrenceEmitter emitter(kb, op);
  auto [first, last] = kb.headRange(op.getHeads(), op.getValueDim());
  kb.loop(first, last, kb.index(1),
          [&](Value head) { emitter.emitHead(head); });
  return success();
}

void addStateEmitters(KernelEmitters &emitters) {
  emitters.add(emitCausalConv);
  emitters.add(emitLinearAttention);
}

} // namespace llmir
