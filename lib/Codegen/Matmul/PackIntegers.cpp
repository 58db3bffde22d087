//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Packs integers that a program holds as f32 elements, in the layout into which
// the compiler packs those of a checkpoint.
//
//===----------------------------------------------------------------------===//

#include "IntegerLines.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace llmir {
namespace {

class IntegerPacker {
public:
  IntegerPacker(KernelBuilder &kb, kernel::PackIntegersOp op)
      : kb(kb), op(op), layout{*IntegerFormat::fromName(op.getFormat()),
                               static_cast<int64_t>(op.getRows()),
                               static_cast<int64_t>(op.getColumns())},
        bits(layout.format.bits), q(kb.argument(op.getQMutable())),
        scales(kb.argument(op.getScalesMutable())),
        zeroPoints(kb.argument(op.getZeroPointsMutable())),
        out(kb.argument(op.getOutMutable())) {}

  void emit();

private:
  /// Emits the group of `values` elements of a tile, its first word at `word`.
  void emitGroup(Value tile, Value group, int64_t values, Value word);
  /// Emits the lines of `values` elements from column k on.
  void emitLines(Value tile, Value k, int64_t values, Value word);
  /// Stores the word that holds these integers at the given shifts.
  void storeWord(ArrayRef<Value> numbers, ArrayRef<int64_t> shifts,
                 int64_t width, Value word);

  /// An element plus `bias` if `exists`, else 0. `flat` is the linear index of
  /// the element.
  Value load(Value buffer, int64_t columns, Value flat, Value exists,
             int64_t bias = 0);
  Value row(Value tile, Value lane) {
    return kb.add(kb.mul(tile, kTileRows), lane);
  }
  Value isBelow(Value a, int64_t limit) {
    return arith::CmpIOp::create(kb, arith::CmpIPredicate::ult, a,
                                 kb.index(limit));
  }
  Value scalePlace(Value n, Value group) {
    Value last = kb.min(n, kb.index(layout.rows - 1));
    Value place =
        kb.mul(kb.div(last, op.getScaleRows()), op.getScaleRowStride());
    return kb.add(place, kb.mul(group, op.getScaleGroupStride()));
  }

  KernelBuilder &kb;
  kernel::PackIntegersOp op;
  IntegerMatrixLayout layout;
  int64_t bits;
  Value q, scales, zeroPoints, out;
};

} // namespace

void IntegerPacker::emit() {
  auto [first, last] = kb.elementRange(kb.index(layout.numTiles()));
  int64_t groupWords = layout.blockBytes(layout.group()) / 4;
  kb.loop(first, last, kb.index(1), [&](Value tile) {
    Value start = kb.mul(tile, layout.tileBytes() / 4);
    int64_t whole = layout.columns / layout.group();
    kb.loop(0, whole, 1, [&](Value group) {
      emitGroup(tile, group, layout.group(),
                kb.add(start, kb.mul(group, groupWords)));
    });
    if (layout.columns % layout.group() != 0)
      emitGroup(tile, kb.index(whole), layout.lastGroup(),
                kb.add(start, whole * groupWords));
  });
}

void IntegerPacker::emitGroup(Value tile, Value group, int64_t values,
                              Value word) {
  Value k = kb.mul(group, layout.group());
  int64_t segment = layout.segment(), whole = values / segment;
  int64_t segmentWords =
      ceilDiv(segment, layout.valuesPerLine()) * kLineBytes / 4;
  kb.loop(0, whole, 1, [&](Value i) {
    Value first = kb.add(k, kb.mul(i, segment));
    emitLines(tile, first, segment, kb.add(word, kb.mul(i, segmentWords)));
  });
  if (int64_t rest = values % segment) {
    Value first = kb.add(k, whole * segment);
    emitLines(tile, first, rest, kb.add(word, whole * segmentWords));
  }

  Value tail = kb.add(word, layout.numLines(values) * kLineBytes / 4);
  kb.loop(0, kTileRows, 1, [&](Value lane) {
    Value n = row(tile, lane);
    Value from = scalePlace(n, group);
    Value scale =
        load(scales, op.getGridColumns(), from, isBelow(n, layout.rows));
    Value place = kb.add(tail, lane);
    kb.store(scale, out, {kb.div(place, kTileRows), kb.rem(place, kTileRows)});
  });
  if (!zeroPoints)
    return;
  int64_t width = bits > 8 ? 16 : 8, perWord = 32 / width;
  kb.loop(0, kTileRows / perWord, 1, [&](Value i) {
    SmallVector<Value> numbers;
    SmallVector<int64_t> shifts;
    for (int64_t j = 0; j < perWord; ++j) {
      Value n = row(tile, kb.add(kb.mul(i, perWord), j));
      Value from = scalePlace(n, group);
      numbers.push_back(
          load(zeroPoints, op.getGridColumns(), from, isBelow(n, layout.rows)));
      shifts.push_back(width * j);
    }
    storeWord(numbers, shifts, width, kb.add(kb.add(tail, kTileRows), i));
  });
}

void IntegerPacker::emitLines(Value tile, Value k, int64_t values, Value word) {
  int64_t perLine = layout.valuesPerLine();
  SmallVector<int64_t> shifts; // The bit position of each value of a line.
  for (int64_t i = 0; i < perLine; ++i)
    shifts.push_back(bits == 4 ? 8 * (i % 4) + 4 * (i / 4) : bits * i);
  kb.loop(0, ceilDiv(values, perLine), 1, [&](Value line) {
    kb.loop(0, kTileRows, 1, [&](Value lane) {
      Value n = row(tile, lane);
      Value known =
          kb.mul(kb.min(n, kb.index(layout.rows - 1)), op.getRowStride());
      SmallVector<Value> numbers;
      for (int64_t i = 0; i < perLine; ++i) {
        Value inSegment = kb.add(kb.mul(line, perLine), i);
        Value inRows = isBelow(n, layout.rows);
        Value exists =
            arith::AndIOp::create(kb, inRows, isBelow(inSegment, values));
        Value column = kb.add(k, kb.min(inSegment, kb.index(values - 1)));
        numbers.push_back(
            load(q, op.getTensorColumns(),
                 kb.add(known, kb.mul(column, op.getColumnStride())), exists,
                 layout.format.storedBias()));
      }
      storeWord(numbers, shifts, bits,
                kb.add(kb.add(word, kb.mul(line, kTileRows)), lane));
    });
  });
}

Value IntegerPacker::load(Value buffer, int64_t columns, Value flat,
                          Value exists, int64_t bias) {
  Value number =
      kb.load(buffer, {kb.div(flat, columns), kb.rem(flat, columns)});
  if (bias)
    number = kb.addf(number, kb.f32(static_cast<double>(bias)));
  return arith::SelectOp::create(kb, exists, number, kb.f32(0.0));
}

void IntegerPacker::storeWord(ArrayRef<Value> numbers, ArrayRef<int64_t> shifts,
                              int64_t width, Value word) {
  Type i32 = kb.getI32Type();
  Value mask = kb.intConstant(i32, (int64_t(1) << width) - 1);
  Value bytes = kb.intConstant(i32, 0);
  for (auto [number, shift] : llvm::zip(numbers, shifts)) {
    Value integer = arith::FPToSIOp::create(kb, i32, number);
    Value part = arith::AndIOp::create(kb, integer, mask);
    Value shifted = arith::ShLIOp::create(kb, part, kb.intConstant(i32, shift));
    bytes = arith::OrIOp::create(kb, bytes, shifted);
  }
  Value stored = arith::BitcastOp::create(kb, kb.getF32Type(), bytes);
  kb.store(stored, out, {kb.div(word, kTileRows), kb.rem(word, kTileRows)});
}

static LogicalResult emitPackIntegers(KernelBuilder &kb,
                                      kernel::PackIntegersOp op) {
  IntegerPacker(kb, op).emit();
  return success();
}

void addPackEmitters(KernelEmitters &emitters) {
  emitters.add(emitPackIntegers);
}

} // namespace llmir
