//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emitters.h"

#include "llmir/Dialect/MLLM/ScalarFunctions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace llmir {

/// A scalar or vector type with the shape of `like` and another element type.
static Type withElement(Type like, Type element) {
  if (auto vector = dyn_cast<VectorType>(like))
    return VectorType::get(vector.getShape(), element);
  return element;
}

static Value shiftLeft(KernelBuilder &kb, Value words, int64_t bits) {
  if (bits == 0)
    return words;
  return arith::ShLIOp::create(kb, words,
                               kb.intConstant(words.getType(), bits));
}

static Value shiftRight(KernelBuilder &kb, Value words, int64_t bits) {
  if (bits == 0)
    return words;
  return arith::ShRUIOp::create(kb, words,
                                kb.intConstant(words.getType(), bits));
}

static Value asF32(KernelBuilder &kb, Value words) {
  return arith::BitcastOp::create(
      kb, withElement(words.getType(), kb.getF32Type()), words);
}

/// One half of each word, interpreted as f16 and extended to f32.
static Value halfToF32(KernelBuilder &kb, Value words, int64_t shift) {
  Type i16 = withElement(words.getType(), kb.getI16Type());
  Type f16 = withElement(words.getType(), kb.getF16Type());
  Type f32 = withElement(words.getType(), kb.getF32Type());
  Value half = arith::TruncIOp::create(kb, i16, shiftRight(kb, words, shift));
  Value bits = arith::BitcastOp::create(kb, f16, half);
  return arith::ExtFOp::create(kb, f32, bits);
}

SmallVector<Value> decodeWords(KernelBuilder &kb, TensorFormat format,
                               Value words) {
  SmallVector<Value> values;
  switch (format) {
  case TensorFormat::F32:
    values.push_back(asF32(kb, words));
    break;
  case TensorFormat::BF16: {
    Value high = kb.intConstant(words.getType(), -65536); // 0xffff0000
    values.push_back(asF32(kb, shiftLeft(kb, words, 16)));
    values.push_back(asF32(kb, arith::AndIOp::create(kb, words, high)));
    break;
  }
  case TensorFormat::F16:
    values.push_back(halfToF32(kb, words, 0));
    values.push_back(halfToF32(kb, words, 16));
    break;
  default:
    llvm_unreachable("of plain formats only");
  }
  return values;
}

static Value encodeBF16(KernelBuilder &kb, Value value) {
  Value rounded =
      mllm::program::emitRound(kb, kb.getLoc(), value, kb.getBF16Type());
  Value bits = arith::BitcastOp::create(
      kb, withElement(value.getType(), kb.getI32Type()), rounded);
  return arith::TruncIOp::create(kb,
                                 withElement(value.getType(), kb.getI16Type()),
                                 shiftRight(kb, bits, 16));
}

Value encodeFloat(KernelBuilder &kb, TensorFormat format, Value value) {
  if (format == TensorFormat::BF16)
    return encodeBF16(kb, value);
  if (format == TensorFormat::F16) {
    Value half = arith::TruncFOp::create(
        kb, withElement(value.getType(), kb.getF16Type()), value);
    return arith::BitcastOp::create(
        kb, withElement(value.getType(), kb.getI16Type()), half);
  }
  return arith::BitcastOp::create(
      kb, withElement(value.getType(), kb.getI32Type()), value);
}

} // namespace llmir
