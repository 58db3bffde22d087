//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emitters.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace llmir {

int64_t packedMatrixBytes(StringRef format, int64_t rows, int64_t columns) {
  if (auto integers = IntegerFormat::fromName(format))
    return IntegerMatrixLayout{*integers, rows, columns}.bytes();
  return PackedMatrixLayout{*tensorFormatFromName(format), rows, columns}
      .bytes();
}

Value createScratch(KernelBuilder &kb, int64_t bytes) {
  return LLVM::AllocaOp::create(
      kb, kb.ctx().getType(), kb.getI8Type(),
      LLVM::ConstantOp::create(kb, kb.getI64Type(),
                               std::max<int64_t>(bytes, 1)),
      kLineBytes);
}

Value clampToBytes(KernelBuilder &kb, Value rounded) {
  Value low = kb.floatConstant(kb.f32x16(), -127.0);
  Value high = kb.floatConstant(kb.f32x16(), 127.0);
  Value isBelow =
      arith::CmpFOp::create(kb, arith::CmpFPredicate::OLT, rounded, high);
  Value below = arith::SelectOp::create(kb, isBelow, rounded, high);
  Value isAbove =
      arith::CmpFOp::create(kb, arith::CmpFPredicate::OGT, below, low);
  return arith::SelectOp::create(kb, isAbove, below, low);
}

Value roundToWords(KernelBuilder &kb, Value elements) {
  Value halves = encodeFloat(kb, TensorFormat::BF16, elements);
  return vector::BitCastOp::create(kb, kb.vec(kLanes / 2, kb.getF32Type()),
                                   halves);
}

} // namespace llmir
