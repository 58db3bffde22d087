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

SmallVector<ByteProducts::Operands, 2>
ByteProducts::weightOperands(Value words) {
  if (bits == 8) {
    if (!hasByteDots)
      return {{signedBytes(kb, words, false), signedBytes(kb, words, true)}};
    Value sign = kb.intConstant(words.getType(), int32_t(0x80808080));
    Value biased = arith::XOrIOp::create(kb, words, sign);
    return {{lanesOf(kb, biased, kb.getI8Type())}};
  }
  SmallVector<Operands, 2> operands;
  for (int64_t half : {0, 4}) {
    if (hasByteDots) {
      Value nibbles = mask(kb, shiftRight(kb, words, half), 0x0f0f0f0f);
      operands.push_back({lanesOf(kb, nibbles, kb.getI8Type())});
      continue;
    }
    Operands pairs;
    for (int64_t odd : {0, 8})
      pairs.push_back(
          lanesOf(kb, mask(kb, shiftRight(kb, words, half + odd), 0x000f000f),
                  kb.getI16Type()));
    operands.push_back(pairs);
  }
  return operands;
}

ByteProducts::Operands ByteProducts::activationOperands(Value word) {
  Value words = kb.broadcast(word);
  if (hasByteDots)
    return {lanesOf(kb, words, kb.getI8Type())};
  return {signedBytes(kb, words, false), signedBytes(kb, words, true)};
}

static Value callIntrinsic(KernelBuilder &kb, StringRef name, Type result,
                           ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(kb, result, kb.getStringAttr(name),
                                       operands)
      .getResult(0);
}

Value ByteProducts::add(Value sums, const Operands &weights,
                        const Operands &activations) {
  if (hasByteDots) // Unsigned bytes stand before signed ones.
    return callIntrinsic(kb, "llvm.x86.avx512.vpdpbusd.512", sums.getType(),
                         {sums, weights.front(), activations.front()});
  for (auto [w, x] : llvm::zip(weights, activations))
    sums = addPairs(sums, w, x);
  return sums;
}

/// Adds a[2i] * b[2i] + a[2i + 1] * b[2i + 1] to lane i.
Value ByteProducts::addPairs(Value sums, Value a, Value b) {
  Value products;
  if (kb.level().vectorBits == 512) {
    products = callIntrinsic(kb, "llvm.x86.avx512.pmaddw.d.512", sums.getType(),
                             {a, b});
  } else {
    products = kb.intConstant(sums.getType(), 0);
    for (int64_t half : {0, 1}) {
      auto part = [&](Value v) {
        return vector::ExtractStridedSliceOp::create(kb, v, {kLanes * half},
                                                     {kLanes}, {1});
      };
      Value sum = callIntrinsic(kb, "llvm.x86.avx2.pmadd.wd",
                                kb.vec(kLanes / 2, kb.getI32Type()),
                                {part(a), part(b)});
      products = vector::InsertStridedSliceOp::create(
          kb, sum, products, ArrayRef<int64_t>{kLanes / 2 * half},
          ArrayRef<int64_t>{1});
    }
  }
  return arith::AddIOp::create(kb, sums, products);
}

} // namespace llmir
