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

Value IntegerLines::bytes(int64_t i) {
  if (format.bits == 8)
    return line(i);
  if (format.bits == 4)
    return mask(kb, shift(kb, line(i / 2), i % 2 ? -4 : 0), 0x0f0f0f0f);
  // Bundles of 32 values: their low bits, then their high bits.
  int64_t first = i / 8 * format.bits, w = i % 8;
  Value low =
      mask(kb, shift(kb, line(first + w / 2), w % 2 ? -4 : 0), 0x0f0f0f0f);
  Value high =
      format.bits == 5
          ? mask(kb, shift(kb, line(first + 4), 4 - w), 0x10101010)
          : mask(kb, shift(kb, line(first + 4 + w / 4), 4 - 2 * (w % 4)),
                 0x30303030);
  return arith::OrIOp::create(kb, low, high);
}

Value IntegerLines::value(int64_t i) {
  if (format.bits < 8)
    return mask(kb, shift(kb, bytes(i / 4), -8 * (i % 4)), 0xff);
  int64_t perLine = 32 / format.bits;
  // An arithmetic right shift extends the sign.
  Value top =
      shift(kb, line(i / perLine), 32 - format.bits * (i % perLine + 1));
  Value distance = kb.intConstant(top.getType(), 32 - format.bits);
  if (format.isSigned())
    return arith::ShRSIOp::create(kb, top, distance);
  return arith::ShRUIOp::create(kb, top, distance);
}

Value loadScales(KernelBuilder &kb, TensorFormat format, Value weights,
                 Value offset) {
  int64_t size = tensorFormatInfo(format).bytesPerBlock;
  Value bytes =
      kb.loadAt(kb.vec(kTileRows * size, kb.getI8Type()), weights, offset);
  if (format == TensorFormat::F32)
    return vector::BitCastOp::create(kb, kb.f32x16(), bytes);
  Type stored = format == TensorFormat::F16 ? Type(kb.getF16Type())
                                            : Type(kb.getI16Type());
  Value halves =
      vector::BitCastOp::create(kb, kb.vec(kTileRows, stored), bytes);
  if (format == TensorFormat::F16)
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
