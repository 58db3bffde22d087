//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IntegerLines.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace llmir {

/// Shifts left, or right if `bits` is negative.
static Value shift(KernelBuilder &kb, Value x, int64_t bits) {
  if (bits == 0)
    return x;
  if (bits > 0)
    return arith::ShLIOp::create(kb, x, kb.intConstant(x.getType(), bits));
  return arith::ShRUIOp::create(kb, x, kb.intConstant(x.getType(), -bits));
}

static Value mask(KernelBuilder &kb, Value x, int64_t bits) {
  return arith::AndIOp::create(kb, x, kb.intConstant(x.getType(), bits));
}

Value IntegerLines::line(int64_t number) {
  Value &loaded = lines[number];
  if (!loaded)
    loaded = vector::BitCastOp::create(
        kb, kb.i32x16(),
        kb.loadAt(kb.vec(kLineBytes, kb.getI8Type()), weights,
                  kb.add(offset, number * kLineBytes)));
  return loaded;
}

/// `width` bits of each byte from bit 0 on, moved to bit `at`.
static int64_t maskOfBytes(int64_t width, int64_t at) {
  return (((int64_t(1) << width) - 1) << at) * 0x01010101;
}

Value IntegerLines::storedBytes(int64_t i) {
  if (format.bits == 8)
    return line(i);
  // A part of `width` bits of word `w` of a bundle, whose lines begin at
  // `first`, moved to bit `at` of the bytes.
  auto part = [&](int64_t first, int64_t w, int64_t width, int64_t at) {
    int64_t perLine = 8 / width;
    Value word = line(first + w / perLine);
    return mask(kb, shift(kb, word, at - w % perLine * width),
                maskOfBytes(width, at));
  };
  const int64_t low = format.lowBits(), high = format.highBits();
  const int64_t words = high > 0 ? 8 : 8 / low;
  const int64_t first = i / words * (words * format.bits / 8), w = i % words;
  Value bits = part(first, w, low, 0);
  if (high == 0)
    return bits;
  return arith::OrIOp::create(kb, bits, part(first + low, w, high, low));
}

Value IntegerLines::bytes(int64_t i) {
  Value stored = storedBytes(i);
  return format.usesTable()
             ? lookUpBytes(kb, *format.codebook, stored, tableBias)
             : stored;
}

Value IntegerLines::value(int64_t i) {
  const bool isTable = format.usesTable();
  if (format.bits < 8 && !isTable)
    return mask(kb, shift(kb, bytes(i / 4), -8 * (i % 4)), 0xff);
  int64_t bits = isTable ? 8 : format.bits, perLine = 32 / bits;
  Value word = isTable ? bytes(i / perLine) : line(i / perLine);
  // An arithmetic right shift extends the sign.
  Value top = shift(kb, word, 32 - bits * (i % perLine + 1));
  Value distance = kb.intConstant(top.getType(), 32 - bits);
  if (format.isSigned())
    return arith::ShRSIOp::create(kb, top, distance);
  return arith::ShRUIOp::create(kb, top, distance);
}

Value lookUpBytes(KernelBuilder &kb, const Codebook &codebook, Value words,
                  int64_t bias) {
  // A register of 16 entries, repeated; an index selects one of its 16 bytes.
  const CPULevel &level = kb.level();
  SmallVector<int8_t> entries;
  for (int64_t i = 0; i < level.vectorBits / 8; ++i)
    entries.push_back(
        static_cast<int8_t>(codebook.entries[i % 16 % codebook.size()] + bias));
  auto type = kb.vec(level.vectorBits / 8, kb.getI8Type());
  Value table = arith::ConstantOp::create(
      kb, DenseIntElementsAttr::get(type, ArrayRef<int8_t>(entries)));
  Value indexes =
      vector::BitCastOp::create(kb, kb.vec(kLineBytes, kb.getI8Type()), words);
  StringRef name = level.architecture == "aarch64"
                       ? "llvm.aarch64.neon.tbl1.v16i8"
                   : level.vectorBits == 512 ? "llvm.x86.avx512.pshuf.b.512"
                                             : "llvm.x86.avx2.pshuf.b";
  Value found = callPerRegister(kb, name, kb.getI8Type(), {table, indexes});
  return vector::BitCastOp::create(kb, kb.i32x16(), found);
}

Value exponentScales(KernelBuilder &kb, Value exponents) {
  Type type = exponents.getType();
  auto number = [&](int64_t n) { return kb.intConstant(type, n); };
  // 2^(e - 128); 2^-128 and 2^-127 are denormal.
  Value denormal = arith::ShLIOp::create(kb, number(0x200000), exponents);
  Value normal = arith::ShLIOp::create(
      kb, arith::SubIOp::create(kb, exponents, number(1)), number(23));
  Value isSmall = arith::CmpIOp::create(kb, arith::CmpIPredicate::ult,
                                        exponents, number(2));
  Value bits = arith::SelectOp::create(kb, isSmall, denormal, normal);
  Type f32 = kb.getF32Type();
  if (auto vector = dyn_cast<VectorType>(type))
    f32 = vector.clone(kb.getF32Type());
  return arith::BitcastOp::create(kb, f32, bits);
}

Value loadScales(KernelBuilder &kb, ScaleFormat format, Value weights,
                 Value offset) {
  int64_t size = scaleFormatBytes(format);
  Value bytes =
      kb.loadAt(kb.vec(kTileRows * size, kb.getI8Type()), weights, offset);
  if (format == ScaleFormat::F32)
    return vector::BitCastOp::create(kb, kb.f32x16(), bytes);
  if (format == ScaleFormat::E8M0)
    return exponentScales(kb, arith::ExtUIOp::create(kb, kb.i32x16(), bytes));
  Type stored = format == ScaleFormat::F16 ? Type(kb.getF16Type())
                                           : Type(kb.getI16Type());
  Value halves =
      vector::BitCastOp::create(kb, kb.vec(kTileRows, stored), bytes);
  if (format == ScaleFormat::F16)
    return arith::ExtFOp::create(kb, kb.f32x16(), halves);
  Value wide = arith::ExtUIOp::create(kb, kb.i32x16(), halves);
  return arith::BitcastOp::create(kb, kb.f32x16(), shift(kb, wide, 16));
}

Value callPerRegister(KernelBuilder &kb, StringRef name, Type element,
                      ValueRange operands) {
  int64_t parts = kLanes * 32 / kb.level().vectorBits;
  auto part = [&](Value whole, int64_t i) -> Value {
    auto type = cast<VectorType>(whole.getType());
    if (type.getDimSize(0) * type.getElementTypeBitWidth() ==
        kb.level().vectorBits)
      return whole;
    int64_t lanes = type.getDimSize(0) / parts;
    return vector::ExtractStridedSliceOp::create(kb, whole, {lanes * i},
                                                 {lanes}, {1});
  };
  int64_t lanes = kLanes * 32 / element.getIntOrFloatBitWidth();
  Type result = kb.vec(lanes / parts, element);
  Value joined;
  for (int64_t i = 0; i < parts; ++i) {
    SmallVector<Value> taken;
    for (Value operand : operands)
      taken.push_back(part(operand, i));
    Value sum =
        LLVM::CallIntrinsicOp::create(kb, result, kb.getStringAttr(name), taken)
            .getResult(0);
    if (parts == 1)
      return sum;
    if (!joined)
      joined = kb.intConstant(kb.vec(lanes, element), 0);
    joined = vector::InsertStridedSliceOp::create(
        kb, sum, joined, ArrayRef<int64_t>{lanes / parts * i},
        ArrayRef<int64_t>{1});
  }
  return joined;
}

} // namespace llmir
