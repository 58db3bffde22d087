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

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

static Value shiftLeft(KernelBuilder &kb, Value x, int64_t bits) {
  return bits == 0
             ? x
             : arith::ShLIOp::create(kb, x, kb.intConstant(x.getType(), bits));
}

static Value shiftRight(KernelBuilder &kb, Value x, int64_t bits) {
  return bits == 0
             ? x
             : arith::ShRUIOp::create(kb, x, kb.intConstant(x.getType(), bits));
}

static Value shiftRightSigned(KernelBuilder &kb, Value x, int64_t bits) {
  return arith::ShRSIOp::create(kb, x, kb.intConstant(x.getType(), bits));
}

static Value mask(KernelBuilder &kb, Value x, int64_t bits) {
  return arith::AndIOp::create(kb, x, kb.intConstant(x.getType(), bits));
}

Value valueOfLine(KernelBuilder &kb, int64_t bits, Value words, int64_t i) {
  if (bits == 4) // Low nibbles of four bytes, then their high ones.
    return mask(kb, shiftRight(kb, words, 8 * (i % 4) + 4 * (i / 4)), 15);
  // The sign comes down from the top of the word.
  Value top = shiftLeft(kb, words, 32 - bits * (i + 1));
  return shiftRightSigned(kb, top, 32 - bits);
}

Value loadScales(KernelBuilder &kb, TensorFormat format, Value weights,
                 Value offset) {
  int64_t size = tensorFormatInfo(format).bytesPerBlock;
  Value bytes = kb.loadVector(weights, offset, kTileRows * size);
  if (format == TensorFormat::F32)
    return vector::BitCastOp::create(kb, kb.f32x16(), bytes);
  Type stored = format == TensorFormat::F16 ? Type(kb.getF16Type())
                                            : Type(kb.getI16Type());
  Value halves =
      vector::BitCastOp::create(kb, kb.vec(kTileRows, stored), bytes);
  if (format == TensorFormat::F16)
    return arith::ExtFOp::create(kb, kb.f32x16(), halves);
  Value wide = arith::ExtUIOp::create(kb, kb.i32x16(), halves);
  return arith::BitcastOp::create(kb, kb.f32x16(), shiftLeft(kb, wide, 16));
}

//===----------------------------------------------------------------------===//
// Products of bytes
//===----------------------------------------------------------------------===//

/// The same bits as lanes of another width.
static Value lanesOf(KernelBuilder &kb, Value words, Type element) {
  int64_t lanes = kLanes * 32 / element.getIntOrFloatBitWidth();
  return vector::BitCastOp::create(kb, kb.vec(lanes, element), words);
}

/// Bytes 0 and 2, or 1 and 3, of each word as signed 16-bit lanes.
static Value signedBytes(KernelBuilder &kb, Value words, bool odd) {
  Value halves = lanesOf(kb, words, kb.getI16Type());
  return shiftRightSigned(kb, shiftLeft(kb, halves, odd ? 0 : 8), 8);
}

ByteProducts::Operands ByteProducts::splitBytes(Value words) {
  if (takesBytes())
    return {lanesOf(kb, words, kb.getI8Type())};
  if (level.byteDots == ByteDots::PairsOf16)
    return {signedBytes(kb, words, false), signedBytes(kb, words, true)};
  Operands bytes;
  for (int64_t i = 0; i < 4; ++i)
    bytes.push_back(valueOfLine(kb, 8, words, i));
  return bytes;
}

SmallVector<ByteProducts::Operands, 2>
ByteProducts::weightOperands(Value words) {
  if (bits == 8) {
    if (!level.hasUnsignedByteDots())
      return {splitBytes(words)};
    Value sign = kb.intConstant(words.getType(), int32_t(0x80808080));
    return {splitBytes(arith::XOrIOp::create(kb, words, sign))};
  }
  SmallVector<Operands, 2> operands;
  for (int64_t half : {0, 4}) {
    if (takesBytes()) {
      operands.push_back(
          splitBytes(mask(kb, shiftRight(kb, words, half), 0x0f0f0f0f)));
      continue;
    }
    Operands parts;
    if (level.byteDots == ByteDots::PairsOf16) {
      for (int64_t odd : {0, 8})
        parts.push_back(
            lanesOf(kb, mask(kb, shiftRight(kb, words, half + odd), 0x000f000f),
                    kb.getI16Type()));
    } else {
      for (int64_t i = 0; i < 4; ++i)
        parts.push_back(mask(kb, shiftRight(kb, words, half + 8 * i), 15));
    }
    operands.push_back(parts);
  }
  return operands;
}

ByteProducts::Operands ByteProducts::activationOperands(Value word) {
  return splitBytes(kb.broadcast(word));
}

Value ByteProducts::add(Value sums, const Operands &weights,
                        const Operands &activations) {
  for (auto [w, x] : llvm::zip(weights, activations))
    sums = addOne(sums, w, x);
  return sums;
}

/// Calls an intrinsic of the level's vectors once for each register that a
/// vector of 16 words takes. All operands are such vectors, of any lanes.
static Value callPerRegister(KernelBuilder &kb, StringRef name,
                             ValueRange operands) {
  int64_t parts = kLanes * 32 / kb.level().vectorBits;
  auto part = [&](Value whole, int64_t i) -> Value {
    if (parts == 1)
      return whole;
    int64_t lanes = cast<VectorType>(whole.getType()).getDimSize(0) / parts;
    return vector::ExtractStridedSliceOp::create(kb, whole, {lanes * i},
                                                 {lanes}, {1});
  };
  Type result = kb.vec(kLanes / parts, kb.getI32Type());
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
      joined = kb.intConstant(kb.i32x16(), 0);
    joined = vector::InsertStridedSliceOp::create(
        kb, sum, joined, ArrayRef<int64_t>{kLanes / parts * i},
        ArrayRef<int64_t>{1});
  }
  return joined;
}

Value ByteProducts::addOne(Value sums, Value a, Value b) {
  const bool wide = level.vectorBits == 512;
  switch (level.byteDots) {
  case ByteDots::VPDPBUSD:
  case ByteDots::AMX: // Unsigned bytes stand before signed ones.
    return callPerRegister(kb,
                           wide ? "llvm.x86.avx512.vpdpbusd.512"
                                : "llvm.x86.avx512.vpdpbusd.256",
                           {sums, a, b});
  case ByteDots::SDOT:
  case ByteDots::SMMLA:
    return callPerRegister(kb, "llvm.aarch64.neon.sdot.v4i32.v16i8",
                           {sums, a, b});
  case ByteDots::PairsOf16:
    return arith::AddIOp::create(
        kb, sums,
        callPerRegister(kb,
                        wide ? "llvm.x86.avx512.pmaddw.d.512"
                             : "llvm.x86.avx2.pmadd.wd",
                        {a, b}));
  case ByteDots::Generic:
    return arith::AddIOp::create(kb, sums, arith::MulIOp::create(kb, a, b));
  }
  llvm_unreachable("a kind of products without an emitter");
}

} // namespace llmir
