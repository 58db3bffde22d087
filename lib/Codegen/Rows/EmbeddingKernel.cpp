//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Decodes rows of a packed table to f32, exactly: plain formats line by line,
// integer formats block by block.
//
//===----------------------------------------------------------------------===//

#include "../Common/Emitters.h"
#include "../Matmul/IntegerLines.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace llmir {
namespace {

/// Reads one row of a packed table.
class RowReader {
public:
  /// Reads row `id` of the table into row `token` of the result.
  RowReader(KernelBuilder &kb, Value table, Value out, int64_t tileBytes,
            Value id, Value token)
      : kb(kb), weights(table), out(out),
        start(kb.mul(kb.div(id, kTileRows), tileBytes)),
        lane(kb.rem(id, kTileRows)), token(token) {}

protected:
  /// Loads a scalar of `bytes` bytes at that offset of the table.
  Value loadScalar(Value offset, int64_t bytes, Type type) {
    Value raw = kb.loadVector(weights, offset, bytes);
    Value cast = vector::BitCastOp::create(kb, kb.vec(1, type), raw);
    return kb.lane(cast, 0);
  }
  /// The row's four bytes of the line at that offset.
  Value loadWord(Value line) {
    return loadScalar(kb.add(line, kb.mul(lane, 4)), 4, kb.getI32Type());
  }

  KernelBuilder &kb;
  Value weights, out, start, lane, token;
};

class PlainRowReader : RowReader {
public:
  PlainRowReader(KernelBuilder &kb, Value packed, Value out,
                 const PackedMatrixLayout &table, Value id, Value token)
      : RowReader(kb, packed, out, table.tileBytes(), id, token), table(table) {
  }

  void read() {
    int64_t perLine = table.valuesPerLine();
    kb.loop(0, table.linesPerTile(), 1, [&](Value line) {
      Value word = loadWord(kb.add(start, kb.mul(line, kLineBytes)));
      for (auto [v, value] :
           llvm::enumerate(decodeWords(kb, table.format, word)))
        kb.store(value, out,
                 {token, kb.add(kb.mul(line, perLine), int64_t(v))});
    });
  }

private:
  const PackedMatrixLayout &table;
};

class IntegerRowReader : RowReader {
public:
  IntegerRowReader(KernelBuilder &kb, Value packed, Value out,
                   const IntegerMatrixLayout &table, Value id, Value token)
      : RowReader(kb, packed, out, table.tileBytes(), id, token), table(table),
        bits(table.format.bits) {}

  void read() {
    int64_t size = table.block();
    kb.loop(0, table.numBlocks(), 1, [&](Value number) {
      block = kb.add(start, kb.mul(number, table.blockBytes(size)));
      d = scaleAt(table.scalesAt(size));
      if (table.format.unit() != 1.0f)
        d = kb.mulf(d, kb.f32(table.format.unit()));
      if (table.format.minima)
        dmin = scaleAt(table.minsAt(size));
      k = kb.mul(number, size);
      kb.loop(0, size / table.group(), 1,
              [&](Value group) { readGroup(group); });
    });
  }

private:
  /// One of 16 values in the format of scales.
  Value scaleAt(int64_t offset) {
    ScaleFormat format = table.format.scales;
    int64_t size = scaleFormatBytes(format);
    Value place = kb.add(block, offset);
    place = kb.add(place, kb.mul(lane, size));
    if (format == ScaleFormat::F32)
      return loadScalar(place, size, kb.getF32Type());
    if (format == ScaleFormat::F16)
      return arith::ExtFOp::create(kb, kb.getF32Type(),
                                   loadScalar(place, size, kb.getF16Type()));
    Value wide = arith::ExtUIOp::create(
        kb, kb.getI32Type(),
        loadScalar(place, size, kb.getIntegerType(8 * size)));
    if (format == ScaleFormat::E8M0)
      return exponentScales(kb, wide);
    Value bits =
        arith::ShLIOp::create(kb, wide, kb.intConstant(kb.getI32Type(), 16));
    return arith::BitcastOp::create(kb, kb.getF32Type(), bits);
  }
  /// The row's sub-scale or sub-minimum of a group of the block.
  Value subScale(int64_t offset, Value group, bool isMin) {
    Value place = kb.add(block, offset);
    place = kb.add(kb.add(place, kb.mul(group, kTileRows)), lane);
    Value byte = loadScalar(place, 1, kb.getI8Type());
    if (!table.format.pairedSubScales)
      return arith::SIToFPOp::create(kb, kb.getF32Type(), byte);
    Value half = isMin ? kb.intConstant(kb.getI8Type(), 4)
                       : kb.intConstant(kb.getI8Type(), 15);
    Value number = isMin ? arith::ShRUIOp::create(kb, byte, half).getResult()
                         : arith::AndIOp::create(kb, byte, half).getResult();
    return arith::UIToFPOp::create(kb, kb.getF32Type(), number);
  }
  void readGroup(Value group);
  /// Four consecutive values from value `four * 4` of the block on, as stored,
  /// in the bytes of an i32.
  Value storedFour(Value four);

  const IntegerMatrixLayout &table;
  int64_t bits;
  Value block, d, dmin, k;
};

} // namespace

static Value mask(KernelBuilder &kb, Value x, int64_t bits) {
  return arith::AndIOp::create(kb, x, kb.intConstant(x.getType(), bits));
}

/// x >> shift for a shift of type index.
static Value shiftRight(KernelBuilder &kb, Value x, Value shift) {
  Value count = arith::IndexCastOp::create(kb, x.getType(), shift);
  return arith::ShRUIOp::create(kb, x, count);
}

void IntegerRowReader::readGroup(Value group) {
  int64_t values = table.group();
  Value scale = d, min = dmin;
  if (table.format.superGroup > 0) {
    scale =
        kb.mulf(d, subScale(table.subScalesAt(table.block()), group, false));
    if (min) {
      Value subMin = subScale(table.subMinsAt(table.block()), group, true);
      min = kb.mulf(arith::NegFOp::create(kb, dmin), subMin);
    }
  }
  kb.loop(0, values / 4, 1, [&](Value i) {
    Value four = kb.add(kb.mul(group, values / 4), i);
    Value word = vector::BroadcastOp::create(kb, kb.vec(1, kb.getI32Type()),
                                             storedFour(four));
    Value bytes =
        vector::BitCastOp::create(kb, kb.vec(4, kb.getI8Type()), word);
    Type i32x4 = kb.vec(4, kb.getI32Type());
    const bool isTable = table.format.usesTable();
    Value q = isTable || (bits == 8 && table.format.isSigned())
                  ? Value(arith::ExtSIOp::create(kb, i32x4, bytes))
                  : Value(arith::ExtUIOp::create(kb, i32x4, bytes));
    if (int64_t bias = table.format.storedBias())
      q = arith::SubIOp::create(kb, q, kb.intConstant(i32x4, bias));
    Type f32x4 = kb.vec(4, kb.getF32Type());
    Value numbers = arith::SIToFPOp::create(kb, f32x4, q);
    // The product is exact, so only the addition rounds.
    Value result = arith::MulFOp::create(
        kb, numbers, vector::BroadcastOp::create(kb, f32x4, scale));
    if (min)
      result = arith::AddFOp::create(
          kb, result, vector::BroadcastOp::create(kb, f32x4, min));
    kb.storeVector(result, out, {token, kb.add(k, kb.mul(four, 4))});
  });
}

Value IntegerRowReader::storedFour(Value four) {
  if (bits == 8)
    return loadWord(kb.add(block, kb.mul(four, kLineBytes)));
  const int64_t low = table.format.lowBits(), high = table.format.highBits();
  const int64_t perBundle = table.bundleValues() / 4;
  Value inBundle = kb.rem(four, perBundle);
  Value lines = kb.add(
      block, kb.mul(kb.div(four, perBundle), table.bundleLines() * kLineBytes));
  // A part of `width` bits, in lines of several groups of four from `first` on.
  auto part = [&](int64_t first, int64_t width) {
    int64_t perLine = 8 / width;
    Value line = kb.add(kb.div(inBundle, perLine), first);
    Value word = loadWord(kb.add(lines, kb.mul(line, kLineBytes)));
    Value shift = kb.mul(kb.rem(inBundle, perLine), width);
    return mask(kb, shiftRight(kb, word, shift),
                ((1 << width) - 1) * 0x01010101);
  };
  Value q = part(0, low);
  if (high > 0) {
    Value above = arith::ShLIOp::create(kb, part(low, high),
                                        kb.intConstant(kb.getI32Type(), low));
    q = arith::OrIOp::create(kb, q, above);
  }
  if (!table.format.usesTable())
    return q;
  return kb.lane(lookUpBytes(kb, *table.format.codebook, kb.broadcast(q)), 0);
}

/// The row of a token in a table of `rows` rows. Ids out of range are clamped,
/// since functions may be called with any ids.
static Value rowOf(KernelBuilder &kb, kernel::EmbeddingOp op, int64_t rows,
                   Value token) {
  StepField ids =
      op.getByPosition() ? StepField::positions : StepField::token_ids;
  Value id = kb.contextArray(ids, token);
  id = arith::MaxSIOp::create(kb, id, kb.index(0));
  return arith::MinSIOp::create(kb, id, kb.index(rows - 1));
}

/// A packed table and the rows of f32 that its rows are read into.
struct TableRows {
  Value table, out;
  StringRef format;
  int64_t rows, columns;
};

/// Reads row `id` of the table into row `row` of the result, which is zero
/// after the table's columns.
static void readRow(KernelBuilder &kb, const TableRows &from, Value id,
                    Value row) {
  int64_t stored = from.columns;
  if (auto integers = IntegerFormat::fromName(from.format)) {
    IntegerMatrixLayout table{*integers, from.rows, from.columns};
    IntegerRowReader(kb, from.table, from.out, table, id, row).read();
  } else {
    PackedMatrixLayout table{*tensorFormatFromName(from.format), from.rows,
                             from.columns};
    PlainRowReader(kb, from.table, from.out, table, id, row).read();
    stored = table.linesPerTile() * table.valuesPerLine();
  }
  int64_t padded = cast<MemRefType>(from.out.getType()).getDimSize(1);
  Value zero = kb.f32(0.0);
  kb.loop(stored, padded, 1,
          [&](Value k) { kb.store(zero, from.out, {row, k}); });
}

static LogicalResult emitEmbedding(KernelBuilder &kb, kernel::EmbeddingOp op) {
  const auto rows = static_cast<int64_t>(op.getRows());
  TableRows table{kb.argument(op.getTableMutable()),
                  kb.argument(op.getOutMutable()), op.getFormat(), rows,
                  static_cast<int64_t>(op.getColumns())};
  auto [first, last] = kb.rowRange();
  kb.loop(first, last, kb.index(1), [&](Value token) {
    readRow(kb, table, rowOf(kb, op, rows, token), token);
  });
  return success();
}

static LogicalResult emitTokenIds(KernelBuilder &kb, kernel::TokenIdsOp op) {
  Value out = kb.argument(op.getOutMutable());
  StepField field =
      op.getByPosition() ? StepField::positions : StepField::token_ids;
  auto [first, last] = kb.rowRange();
  kb.loop(first, last, kb.index(1), [&](Value token) {
    Value id = kb.contextArray(field, token);
    kb.store(arith::IndexCastOp::create(kb, kb.getI32Type(), id), out,
             {token, kb.index(0)});
    kb.zeroPadding(out, token, 1);
  });
  return success();
}

static LogicalResult emitUnpackWeight(KernelBuilder &kb,
                                      kernel::UnpackWeightOp op) {
  Value weight = kb.argument(op.getWeightMutable());
  Value out = kb.argument(op.getOutMutable());
  const auto rows = static_cast<int64_t>(op.getRows());
  const auto columns = static_cast<int64_t>(op.getColumns());
  if (op.getFormat()) {
    TableRows table{weight, out, *op.getFormat(), rows, columns};
    auto [first, last] = kb.elementRange(kb.index(rows));
    kb.loop(first, last, kb.index(1),
            [&](Value row) { readRow(kb, table, row, row); });
    return success();
  }
  // A vector is stored as f32 in whole tiles, with zeros as its padding.
  auto [first, last] = kb.elementRange(kb.index(roundUpTo(columns, kTileRows)));
  kb.loop(first, last, kb.index(1), [&](Value k) {
    kb.store(kb.load(weight, k), out, {kb.index(0), k});
  });
  return success();
}

void addEmbeddingEmitters(KernelEmitters &emitters) {
  emitters.add(emitEmbedding);
  emitters.add(emitTokenIds);
  emitters.add(emitUnpackWeight);
}

} // namespace llmir
