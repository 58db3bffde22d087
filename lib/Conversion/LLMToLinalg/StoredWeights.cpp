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

#include "llmir/Support/TensorFormat.h"

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
    case TensorFormat::Q4_K:
      return sixBitElement(pairedNibble(16));
    case TensorFormat::Q5_K:
      return sixBitElement(s.orb(pairedNibble(48), fifthBit()));
    case TensorFormat::Q6_K:
      return elementOfQ6K();
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
  /// The low nibble of a byte, or the high one if `isHigh` is 1.
  Value halfByte(Value byteOffset, Value isHigh) {
    Value shift = s.muli(number(isHigh), s.i32(4));
    return s.andb(right(bits(byteOffset), shift), s.i32(15));
  }
  /// 16 bytes: elements 0 to 15 in the low nibbles, 16 to 31 in the high ones.
  Value nibble(int64_t from) {
    Value sixteen = s.index(16);
    return halfByte(at(s.remi(place, sixteen), from), s.divi(place, sixteen));
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
