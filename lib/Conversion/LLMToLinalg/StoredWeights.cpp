//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Weight operands. Stored blocks are bytes, as in a checkpoint;
// lib/Support/StoredBlock.cpp decodes them in the same way.
//
//===----------------------------------------------------------------------===//

#include "Patterns.h"

#include "llmir/Support/IntegerFormat.h"
#include "llmir/Support/StoredBlock.h"

using namespace mlir;
using namespace mlir::llm;

namespace llmir {

RankedTensorType bytesOf(QuantizedTensorType type) {
  TensorFormat format = *tensorFormatFromName(type.getFormat());
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = *tensorRowBytes(format, shape.back());
  return RankedTensorType::get(shape, IntegerType::get(type.getContext(), 8));
}

namespace {

/// Decodes one element of a block.
class BlockReader {
public:
  /// `indices` are those of the element, with any column.
  BlockReader(ScalarBuilder &s, Value bytes, ValueRange indices,
              TensorFormat format)
      : s(s), bytes(bytes), row(indices.drop_back()),
        info(tensorFormatInfo(format)) {
    Value values = s.index(info.valuesPerBlock);
    first = s.muli(s.divi(indices.back(), values), s.index(info.bytesPerBlock));
    place = s.remi(indices.back(), values);
  }

  /// scale · q, or scale · q + minimum.
  Value element() {
    switch (info.format) {
    case TensorFormat::Q8_0:
      return s.mulf(half(0), s.toF32(byte(at(place, 2))));
    case TensorFormat::Q4_0:
      return s.mulf(half(0), s.toF32(s.subi(nibble(2), s.i32(8))));
    case TensorFormat::Q4_1:
      return s.addf(s.mulf(half(0), s.toF32(nibble(4))), half(2));
    case TensorFormat::Q5_0:
      return s.mulf(half(0), s.toF32(s.subi(fiveBits(2), s.i32(16))));
    case TensorFormat::Q5_1:
      return s.addf(s.mulf(half(0), s.toF32(fiveBits(4))), half(2));
    case TensorFormat::Q2_K:
      return elementOfQ2K();
    case TensorFormat::Q3_K:
      return elementOfQ3K();
    case TensorFormat::Q4_K:
      return sixBitElement(pairedNibble(16));
    case TensorFormat::Q5_K:
      return sixBitElement(s.orb(pairedNibble(48), fifthBit()));
    case TensorFormat::Q6_K:
      return elementOfQ6K();
    case TensorFormat::Int4G32:
    case TensorFormat::Int4G128:
      return s.addf(s.mulf(single(0), s.toF32(nibble(8, info.valuesPerBlock))),
                    single(4));
    case TensorFormat::Int8G32:
    case TensorFormat::Int8G128:
      return s.mulf(single(0), s.toF32(byte(at(place, 4))));
    case TensorFormat::IQ4_NL:
      return s.mulf(half(0), entry(nibble(2)));
    case TensorFormat::IQ4_XS:
      return elementOfIQ4XS();
    case TensorFormat::MXFP4:
      return s.mulf(exponentScale(), entry(nibble(1)));
    case TensorFormat::TQ1_0:
      return elementOfTQ1();
    case TensorFormat::TQ2_0:
      return s.mulf(half(64), s.toF32(s.subi(twoBits(0), s.i32(1))));
    case TensorFormat::IQ1_S:
    case TensorFormat::IQ1_M:
      return elementOfShiftedGrid();
    case TensorFormat::IQ2_XXS:
    case TensorFormat::IQ2_XS:
    case TensorFormat::IQ2_S:
    case TensorFormat::IQ3_XXS:
    case TensorFormat::IQ3_S:
      return elementOfSignedGrid();
    default:
      llvm_unreachable("not a block format");
    }
  }

private:
  Value at(Value offset, int64_t from) { return s.addi(offset, s.index(from)); }
  /// A signed or unsigned byte of the block, in i32.
  Value byte(Value offset) {
    SmallVector<Value> indices(row);
    indices.push_back(s.addi(first, offset));
    Value raw = tensor::ExtractOp::create(s, bytes, indices);
    return arith::ExtSIOp::create(s, s.getI32Type(), raw);
  }
  Value bits(Value offset) { return s.andb(byte(offset), s.i32(255)); }
  Value bits(int64_t offset) { return bits(s.index(offset)); }
  Value right(Value x, Value places) {
    return arith::ShRUIOp::create(s, x, places);
  }
  Value left(Value x, int64_t places) {
    return arith::ShLIOp::create(s, x, s.i32(places));
  }
  Value number(Value index) {
    return arith::IndexCastOp::create(s, s.getI32Type(), index);
  }
  /// An f16 value of two bytes, in f32.
  Value half(int64_t offset) {
    Value low = bits(offset), high = left(bits(offset + 1), 8);
    Value both = s.truncI32(s.orb(low, high), s.getI16Type());
    return s.toF32(arith::BitcastOp::create(s, s.getF16Type(), both));
  }
  /// An f32 value of four bytes.
  Value single(int64_t offset) {
    return arith::BitcastOp::create(s, s.getF32Type(),
                                    longAt(offset, s.i32(0)));
  }
  /// The low nibble of a byte, or the high one if `isHigh` is 1.
  Value halfByte(Value byteOffset, Value isHigh) {
    Value shift = s.muli(number(isHigh), s.i32(4));
    return s.andb(right(bits(byteOffset), shift), s.i32(15));
  }
  /// The first half of the elements is in the low nibbles, the second half in
  /// the high ones.
  Value nibble(int64_t from, int64_t elements = 32) {
    Value half = s.index(elements / 2);
    return halfByte(at(s.remi(place, half), from), s.divi(place, half));
  }
  /// 32 bytes for two groups of 32.
  Value pairedNibble(int64_t from) {
    Value group = groupOf(32);
    Value pair = s.divi(group, s.index(2));
    Value offset =
        s.addi(s.muli(pair, s.index(32)), s.remi(place, s.index(32)));
    return halfByte(at(offset, from), s.remi(group, s.index(2)));
  }
  Value groupOf(int64_t size) { return s.divi(place, s.index(size)); }

  /// Bit g of byte j for element j of group g, as bit 4.
  Value fifthBit() {
    Value fifth = bits(at(s.remi(place, s.index(32)), 16));
    return left(s.andb(right(fifth, number(groupOf(32))), s.i32(1)), 4);
  }

  /// Groups of 32 with a scale and a minimum of 6 bits, in 12 bytes from 4 on.
  Value sixBitElement(Value q) {
    Value group = groupOf(32), four = s.index(4);
    Value column = s.remi(group, four);
    Value a = bits(at(column, 4)), b = bits(at(column, 8));
    Value c = bits(at(column, 12));
    Value isFirst = s.cmp(arith::CmpIPredicate::ult, group, four);
    auto sixBits = [&](Value whole, Value low) {
      Value high = left(right(whole, s.i32(6)), 4);
      return s.toF32(
          s.select(isFirst, s.andb(whole, s.i32(63)), s.orb(low, high)));
    };
    Value scale = sixBits(a, s.andb(c, s.i32(15)));
    Value minimum = sixBits(b, right(c, s.i32(4)));
    Value product = s.mulf(s.mulf(half(0), scale), s.toF32(q));
    return s.subf(product, s.mulf(half(2), minimum));
  }

  /// 128 bytes of low nibbles, 64 bytes of two high bits, 16 scales, d.
  Value elementOfQ6K() {
    Value ofHalf = s.remi(place, s.index(128)), halfIndex = groupOf(128);
    Value lowAt =
        s.addi(s.muli(halfIndex, s.index(64)), s.remi(ofHalf, s.index(64)));
    Value low = halfByte(lowAt, s.divi(ofHalf, s.index(64)));
    Value highAt =
        s.addi(s.muli(halfIndex, s.index(32)), s.remi(ofHalf, s.index(32)));
    Value shift = s.muli(number(s.divi(ofHalf, s.index(32))), s.i32(2));
    Value high = s.andb(right(bits(at(highAt, 128)), shift), s.i32(3));
    Value q = s.subi(s.orb(low, left(high, 4)), s.i32(32));
    Value scale = s.mulf(half(208), s.toF32(byte(at(groupOf(16), 192))));
    return s.mulf(scale, s.toF32(q));
  }

  //===--------------------------------------------------------------------===//
  // Two, three and five bits
  //===--------------------------------------------------------------------===//

  /// `width` bits of a number from bit `from` on.
  Value field(Value word, Value from, int64_t width) {
    return s.andb(right(word, from), s.i32((int64_t(1) << width) - 1));
  }
  /// i32: place / by % modulo.
  Value part(int64_t by, int64_t modulo) {
    return number(s.remi(groupOf(by), s.index(modulo)));
  }
  Value times(Value x, int64_t factor) { return s.muli(x, s.i32(factor)); }
  Value plus(Value x, Value high, int64_t places) {
    return s.orb(x, left(high, places));
  }
  /// Bytes at an offset plus an i32.
  Value bitsAt(int64_t from, Value offset) {
    return bits(at(s.toIndex(offset), from));
  }
  Value wordAt(int64_t from, Value offset) {
    return plus(bitsAt(from, offset), bitsAt(from + 1, offset), 8);
  }
  Value longAt(int64_t from, Value offset) {
    return plus(wordAt(from, offset), wordAt(from + 2, offset), 16);
  }
  /// Nibble `index` of the bytes from `from` on.
  Value nibbleAt(int64_t from, Value index) {
    Value byteOffset = right(index, s.i32(1));
    return field(bitsAt(from, byteOffset), times(s.andb(index, s.i32(1)), 4),
                 4);
  }

  /// 4 bytes of fifth bits, nibbles.
  Value fiveBits(int64_t from) {
    Value fifth = field(bitsAt(from, part(8, 4)), part(1, 8), 1);
    return plus(nibble(from + 4), fifth, 4);
  }
  /// 32 bytes for each half of 128 elements.
  Value twoBits(int64_t from) {
    Value offset = s.addi(times(part(128, 2), 32), part(1, 32));
    return field(bitsAt(from, offset), times(part(32, 4), 2), 2);
  }
  Value elementOfQ2K() {
    Value both = bitsAt(0, part(16, 16));
    Value scale = s.mulf(half(80), s.toF32(s.andb(both, s.i32(15))));
    Value minimum = s.mulf(half(82), s.toF32(right(both, s.i32(4))));
    return s.subf(s.mulf(scale, s.toF32(twoBits(16))), minimum);
  }
  Value elementOfQ3K() {
    Value third = field(bitsAt(0, part(1, 32)), part(32, 8), 1);
    Value q = s.subi(plus(twoBits(32), third, 2), s.i32(4));
    Value low = field(bitsAt(96, part(16, 8)), times(part(128, 2), 4), 4);
    Value high = field(bitsAt(104, part(16, 4)), times(part(64, 4), 2), 2);
    Value scale = s.subi(plus(low, high, 4), s.i32(32));
    return s.mulf(s.mulf(half(108), s.toF32(scale)), s.toF32(q));
  }

  //===--------------------------------------------------------------------===//
  // Indexes of codebooks
  //===--------------------------------------------------------------------===//

  /// Element `index`, an i32, of a table, as an i32.
  template <typename T> Value lookUp(ArrayRef<T> table, Value index) {
    auto type =
        RankedTensorType::get({static_cast<int64_t>(table.size())},
                              IntegerType::get(s.getContext(), 8 * sizeof(T)));
    SmallVector<APInt> numbers;
    for (T number : table)
      numbers.push_back(APInt(8 * sizeof(T), static_cast<uint64_t>(number),
                              /*isSigned=*/false, /*implicitTrunc=*/true));
    Value tensor =
        arith::ConstantOp::create(s, DenseIntElementsAttr::get(type, numbers));
    Value found =
        tensor::ExtractOp::create(s, tensor, ValueRange{s.toIndex(index)});
    if (std::is_signed_v<T>)
      return arith::ExtSIOp::create(s, s.getI32Type(), found);
    return arith::ExtUIOp::create(s, s.getI32Type(), found);
  }
  /// The entry of the format's codebook, times its unit, in f32.
  Value entry(Value index) {
    const Codebook &codebook = *IntegerFormat::ofBlocks(info.format)->codebook;
    Value number = s.toF32(lookUp(
        ArrayRef<int8_t>(codebook.entries).take_front(codebook.size()), index));
    return codebook.unit == 1.0f ? number
                                 : s.mulf(number, s.f32(codebook.unit));
  }
  Value elementOfIQ4XS() {
    Value group = part(32, 8);
    Value low = nibbleAt(4, group);
    Value high = field(wordAt(2, s.i32(0)), times(group, 2), 2);
    Value scale = s.subi(plus(low, high, 4), s.i32(32));
    Value offset = s.addi(times(group, 16), part(1, 16));
    Value q = field(bitsAt(8, offset), times(part(16, 2), 4), 4);
    return s.mulf(s.mulf(half(0), s.toF32(scale)), entry(q));
  }
  /// 2^(e - 128); the least two are denormal.
  Value exponentScale() {
    Value e = bits(0);
    Value denormal =
        arith::ShLIOp::create(s, s.i32(0x200000), s.andb(e, s.i32(1)));
    Value normal = left(s.subi(e, s.i32(1)), 23);
    Value isSmall = s.cmp(arith::CmpIPredicate::ult, e, s.i32(2));
    return arith::BitcastOp::create(s, s.getF32Type(),
                                    s.select(isSmall, denormal, normal));
  }
  /// 32 bytes of five digits, 16 bytes of five, 4 bytes of four, d.
  Value elementOfTQ1() {
    Value all = number(place);
    auto isBelow = [&](int64_t limit) {
      return s.cmp(arith::CmpIPredicate::ult, all, s.i32(limit));
    };
    auto choose = [&](Value first, Value second, Value third) {
      return s.select(isBelow(160), first,
                      s.select(isBelow(240), second, third));
    };
    Value offset = choose(part(1, 32), s.addi(s.i32(32), part(1, 16)),
                          s.addi(s.i32(48), part(1, 4)));
    Value fromSecond = s.subi(all, s.i32(160)),
          fromThird = s.subi(all, s.i32(240));
    Value digit = choose(part(32, 8), right(fromSecond, s.i32(4)),
                         right(fromThird, s.i32(2)));
    static constexpr uint8_t powers[] = {1, 3, 9, 27, 81};
    Value power = lookUp(ArrayRef<uint8_t>(powers), digit);
    Value rest = s.andb(s.muli(bitsAt(0, offset), power), s.i32(255));
    Value q = right(times(rest, 3), s.i32(8));
    return s.mulf(half(52), s.toF32(s.subi(q, s.i32(1))));
  }

  /// Bit j of eight signs, of which the last makes the number of ones even.
  Value evenSign(Value sevenBits, Value j) {
    Value parity = sevenBits;
    for (int64_t distance : {4, 2, 1})
      parity = arith::XOrIOp::create(s, parity, right(parity, s.i32(distance)));
    return field(plus(sevenBits, s.andb(parity, s.i32(1)), 7), j, 1);
  }
  /// The level of element j of a point.
  Value levelAt(Value point, Value j, int64_t levelBits) {
    Span<const uint16_t> grid = gridOf(info.format);
    Value levels = lookUp(ArrayRef<uint16_t>(grid.data(), grid.size()), point);
    return field(levels, times(j, levelBits), levelBits);
  }
  /// d * (2 * scale + 1) * entry.
  Value gridElement(Value d, Value scale, Value index) {
    Value odd = s.toF32(plus(s.i32(1), scale, 1));
    return s.mulf(s.mulf(d, odd), entry(index));
  }
  Value elementOfSignedGrid() {
    Value eight = part(8, 32), four = part(4, 64), group = part(32, 8);
    Value inEight = part(1, 8);
    Value point, sign, scale;
    switch (info.format) {
    case TensorFormat::IQ2_XXS: {
      Value offset = times(group, 8), more = longAt(6, offset);
      point = bitsAt(2, s.addi(offset, part(8, 4)));
      sign = evenSign(field(more, times(part(8, 4), 7), 7), inEight);
      scale = right(more, s.i32(28));
      break;
    }
    case TensorFormat::IQ2_XS: {
      Value word = wordAt(2, times(eight, 2));
      point = s.andb(word, s.i32(511));
      sign = evenSign(right(word, s.i32(9)), inEight);
      scale = nibbleAt(66, part(16, 16));
      break;
    }
    case TensorFormat::IQ2_S: {
      Value high = field(bitsAt(66, part(32, 8)), times(part(8, 4), 2), 2);
      point = plus(bitsAt(2, eight), high, 8);
      sign = field(bitsAt(34, eight), inEight, 1);
      scale = nibbleAt(74, part(16, 16));
      break;
    }
    case TensorFormat::IQ3_XXS: {
      Value more = longAt(66, times(group, 4));
      point = bitsAt(2, four);
      sign = evenSign(field(more, times(part(8, 4), 7), 7), inEight);
      scale = right(more, s.i32(28));
      break;
    }
    default: { // IQ3_S
      Value high = field(bitsAt(66, group), part(4, 8), 1);
      point = plus(bitsAt(2, four), high, 8);
      sign = field(bitsAt(74, eight), inEight, 1);
      scale = nibbleAt(106, group);
      break;
    }
    }
    const int64_t levelBits = IntegerFormat::ofBlocks(info.format)->bits - 1;
    Value j = levelBits == 2 ? inEight : part(1, 4);
    Value level = levelAt(point, j, levelBits);
    return gridElement(half(0), scale, plus(level, sign, levelBits));
  }
  Value elementOfShiftedGrid() {
    Value eight = part(8, 32), inEight = part(1, 8);
    if (info.format == TensorFormat::IQ1_S) {
      Value word = wordAt(34, times(part(32, 8), 2));
      Value high = field(word, times(part(8, 4), 3), 3);
      Value level = levelAt(plus(bitsAt(2, eight), high, 8), inEight, 2);
      return gridElement(half(0), field(word, s.i32(12), 3),
                         plus(level, right(word, s.i32(15)), 2));
    }
    Value more = nibbleAt(32, eight);
    Value point = plus(bitsAt(0, eight), s.andb(more, s.i32(7)), 8);
    Value index = plus(levelAt(point, inEight, 2), right(more, s.i32(3)), 2);
    Value scale =
        field(wordAt(48, times(part(64, 4), 2)), times(part(16, 4), 3), 3);
    // d is the top bits of four words.
    Value d = s.i32(0);
    for (int64_t w = 0; w < 4; ++w)
      d = plus(d, right(bits(49 + 2 * w), s.i32(4)), 4 * w);
    Value both = s.truncI32(d, s.getI16Type());
    d = s.toF32(arith::BitcastOp::create(s, s.getF16Type(), both));
    return gridElement(d, scale, index);
  }

  ScalarBuilder &s;
  Value bytes;
  ValueRange row;
  const TensorFormatInfo &info;
  Value first; ///< Offset of the block in its row.
  Value place; ///< Index of the element in its block.
};

} // namespace

bool WeightOperand::roundsInputs() const {
  return !blocks() && TensorBuilder::elementType(tensor).isBF16();
}

TensorBuilder::Sizes WeightOperand::sizes(TensorBuilder &t) const {
  if (!blocks())
    return t.sizes(tensor);
  TensorBuilder::Sizes result;
  for (int64_t size : blocks().getShape())
    result.push_back(t.fixed(size));
  return result;
}

Value WeightOperand::at(ScalarBuilder &s, ValueRange indices) const {
  if (!blocks())
    return s.extractF32(tensor, indices);
  TensorFormat format = *tensorFormatFromName(blocks().getFormat());
  return BlockReader(s, tensor, indices, format).element();
}

Value WeightOperand::decoded(TensorBuilder &t) const {
  if (!blocks())
    return tensor;
  TensorBuilder::Sizes all = sizes(t);
  return t.elementwise(all, t.getF32Type(), {},
                       [&](ScalarBuilder &s, ValueRange) {
                         SmallVector<Value> indices;
                         for (size_t d = 0; d < all.size(); ++d)
                           indices.push_back(s.loop(int64_t(d)));
                         return at(s, indices);
                       });
}

} // namespace llmir
