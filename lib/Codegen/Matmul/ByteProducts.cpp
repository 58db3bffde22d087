//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ByteProducts.h"
#include "IntegerLines.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace llmir {

ByteProducts::ByteProducts(KernelBuilder &kb, const IntegerFormat &format,
                           int64_t maxActivation)
    : kb(kb), format(format), maxActivation(maxActivation),
      method(methodOf(kb.level())) {}

ByteProducts::Method ByteProducts::methodOf(const CPULevel &level) const {
  switch (level.byteDots) {
  case ByteDots::VPDPBUSD:
  case ByteDots::AMX:
    return Method::Unsigned;
  case ByteDots::SDOT:
  case ByteDots::SMMLA:
    return Method::Signed;
  case ByteDots::PairsOf16:
    if (format.bits < 8 &&
        2 * maxActivation * (format.highest() - format.lowest()) <= INT16_MAX)
      return Method::BytePairs;
    // There is no 512-bit vpsignb, and -128 cannot be negated.
    return format.isSigned() && level.vectorBits == 256 && maxActivation < 128
               ? Method::MovedSigns
               : Method::WordPairs;
  case ByteDots::Generic:
    return Method::Singles;
  }
  llvm_unreachable("unknown dot product instructions");
}

int64_t ByteProducts::weightBias() const {
  if (format.usesTable())
    return method == Method::Unsigned || method == Method::BytePairs
               ? -format.lowest()
               : 0;
  if (format.bits < 8)
    return format.storedBias(); // Fits a signed and an unsigned byte.
  if (method == Method::Unsigned && format.isSigned())
    return 128;
  if (method == Method::Signed && !format.isSigned())
    return -128;
  return 0;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Bitcasts to lanes of another width.
static Value lanesOf(KernelBuilder &kb, Value words, Type element) {
  int64_t lanes = kLanes * 32 / element.getIntOrFloatBitWidth();
  return vector::BitCastOp::create(kb, kb.vec(lanes, element), words);
}

Value ByteProducts::bytesOf(Value words) {
  return lanesOf(kb, words, kb.getI8Type());
}

/// Extracts a field of `width` bits from each lane, `left` bits below the top.
static Value bitsOf(KernelBuilder &kb, Value lanes, int64_t left, int64_t width,
                    bool isSigned) {
  Type type = lanes.getType();
  int64_t right = getElementTypeOrSelf(type).getIntOrFloatBitWidth() - width;
  if (left > 0)
    lanes = arith::ShLIOp::create(kb, lanes, kb.intConstant(type, left));
  Value distance = kb.intConstant(type, right);
  if (isSigned)
    return arith::ShRSIOp::create(kb, lanes, distance);
  return arith::ShRUIOp::create(kb, lanes, distance);
}

ByteProducts::Operands ByteProducts::widen(Value words, bool isSigned) {
  Operands parts;
  if (method == Method::WordPairs) {
    Value halves = lanesOf(kb, words, kb.getI16Type());
    for (int64_t left : {8, 0}) // Bytes 0 and 2, then 1 and 3.
      parts.push_back(bitsOf(kb, halves, left, 8, isSigned));
    return parts;
  }
  for (int64_t left : {24, 16, 8, 0})
    parts.push_back(bitsOf(kb, words, left, 8, isSigned));
  return parts;
}

ByteProducts::Operands ByteProducts::weightOperands(Value words) {
  switch (method) {
  case Method::Unsigned:
  case Method::Signed:
    if (format.bits == 8 && weightBias() != 0)
      words = arith::XOrIOp::create(
          kb, words, kb.intConstant(words.getType(), int32_t(0x80808080)));
    return {bytesOf(words)};
  case Method::BytePairs:
    return {bytesOf(words)};
  case Method::MovedSigns: {
    Value bytes = bytesOf(words); // |-128| is 128 as an unsigned byte.
    return {math::AbsIOp::create(kb, bytes), bytes};
  }
  case Method::WordPairs:
  case Method::Singles:
    return widen(words,
                 format.usesTable() || (format.bits == 8 && format.isSigned()));
  }
  llvm_unreachable("unknown method");
}

ByteProducts::Operands ByteProducts::activationOperands(Value word) {
  Value words = kb.broadcast(word);
  if (method == Method::WordPairs || method == Method::Singles)
    return widen(words, /*isSigned=*/true);
  return {bytesOf(words)};
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

void ByteProducts::add(Sum &sum, const Operands &weights,
                       const Operands &activations) {
  const bool wide = kb.level().vectorBits == 512;
  auto call = [&](StringRef name, Type element, ValueRange operands) {
    return callPerRegister(kb, name, element, operands);
  };
  auto addWords = [&](Value words) {
    sum.words = arith::AddIOp::create(kb, sum.words, words);
  };
  switch (method) {
  case Method::Unsigned: // The unsigned operand comes first.
    sum.words = call(
        wide ? "llvm.x86.avx512.vpdpbusd.512" : "llvm.x86.avx512.vpdpbusd.256",
        kb.getI32Type(), {sum.words, weights.front(), activations.front()});
    return;
  case Method::Signed:
    sum.words = call("llvm.aarch64.neon.sdot.v4i32.v16i8", kb.getI32Type(),
                     {sum.words, weights.front(), activations.front()});
    return;
  case Method::BytePairs:
  case Method::MovedSigns: {
    Value x = activations.front();
    if (method == Method::MovedSigns)
      x = call("llvm.x86.avx2.psign.b", kb.getI8Type(), {x, weights.back()});
    Value pairs = call(wide ? "llvm.x86.avx512.pmaddubs.w.512"
                            : "llvm.x86.avx2.pmadd.ub.sw",
                       kb.getI16Type(), {weights.front(), x});
    // 16 bits can hold the sums of several lines of small weights.
    int64_t most =
        method == Method::MovedSigns ? 128 : format.highest() - format.lowest();
    most *= 2 * maxActivation;
    if (sum.most + most > INT16_MAX)
      sum = {finish(sum), {}, 0};
    sum.pairs = sum.pairs
                    ? arith::AddIOp::create(kb, sum.pairs, pairs).getResult()
                    : pairs;
    sum.most += most;
    return;
  }
  case Method::WordPairs:
    for (auto [w, x] : llvm::zip(weights, activations))
      addWords(
          call(wide ? "llvm.x86.avx512.pmaddw.d.512" : "llvm.x86.avx2.pmadd.wd",
               kb.getI32Type(), {w, x}));
    return;
  case Method::Singles:
    for (auto [w, x] : llvm::zip(weights, activations))
      addWords(arith::MulIOp::create(kb, w, x));
    return;
  }
}

Value ByteProducts::finish(Sum sum) {
  if (!sum.pairs)
    return sum.words;
  const bool wide = kb.level().vectorBits == 512;
  Value ones = kb.intConstant(sum.pairs.getType(), 1);
  Value words = callPerRegister(
      kb, wide ? "llvm.x86.avx512.pmaddw.d.512" : "llvm.x86.avx2.pmadd.wd",
      kb.getI32Type(), {sum.pairs, ones});
  return arith::AddIOp::create(kb, sum.words, words);
}

} // namespace llmir
