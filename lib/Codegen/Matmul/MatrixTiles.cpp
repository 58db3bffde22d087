//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Uses LLVM's intrinsics with tile numbers, not those with tile values (MLIR's
// amx dialect): shapes depend on the number of tokens, so tiles are configured
// at run time, and the emitter allocates the registers.
//
//===----------------------------------------------------------------------===//

#include "MatrixTiles.h"
#include "../Common/Emitters.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace llmir {

Value createKernelScratch(KernelBuilder &kb, int64_t bytes) {
  // In a loop, it would allocate stack in every iteration.
  OpBuilder::InsertionGuard guard(kb);
  Operation *kernel = kb.ctx().getParentBlock()->getParentOp();
  kb.setInsertionPointToStart(&kernel->getRegion(0).front());
  return createScratch(kb, bytes);
}

Value addressOf(KernelBuilder &kb, Value memref, ValueRange indices) {
  auto place = memref::ExtractStridedMetadataOp::create(kb, memref);
  Value element = place.getOffset();
  for (auto [index, stride] : llvm::zip(indices, place.getStrides()))
    element = kb.add(element, kb.mul(index, stride));
  int64_t size =
      cast<MemRefType>(memref.getType()).getElementTypeBitWidth() / 8;
  Value base =
      memref::ExtractAlignedPointerAsIndexOp::create(kb, place.getBaseBuffer());
  Value address = arith::IndexCastOp::create(kb, kb.getI64Type(), base);
  return kb.advance(LLVM::IntToPtrOp::create(kb, kb.ctx().getType(), address),
                    kb.mul(element, size));
}

MatrixTiles::MatrixTiles(KernelBuilder &kb)
    : kb(kb), configuration(createKernelScratch(kb, 64)) {}

void MatrixTiles::configure(ArrayRef<Shape> shapes, Value tokens) {
  // Palette 1; from byte 16 on the bytes per row of each tile (16 bits), from
  // byte 48 on the number of its rows.
  constexpr int64_t bytesAt = 16, rowsAt = 48;
  SmallVector<int8_t> bytes(64, 0);
  bytes[0] = 1;
  for (auto [i, shape] : llvm::enumerate(shapes)) {
    if (shape.kind == Kind::None)
      continue;
    int64_t words = shape.kind == Kind::Activations ? shape.words : kTileRows;
    bytes[bytesAt + 2 * i] = static_cast<int8_t>(4 * words);
    bytes[rowsAt + i] = static_cast<int8_t>(shape.words);
  }
  auto constant = DenseIntElementsAttr::get(
      kb.vec(static_cast<int64_t>(bytes.size()), kb.getI8Type()),
      ArrayRef<int8_t>(bytes));
  kb.storeAt(arith::ConstantOp::create(kb, constant), configuration,
             kb.index(0));
  Value rows = arith::IndexCastOp::create(kb, kb.getI8Type(), tokens);
  for (auto [i, shape] : llvm::enumerate(shapes))
    if (shape.kind == Kind::Sums || shape.kind == Kind::Activations)
      kb.storeAt(rows, configuration,
                 kb.index(rowsAt + static_cast<int64_t>(i)));
  call("llvm.x86.ldtilecfg", configuration);
}

void MatrixTiles::release() { call("llvm.x86.tilerelease", {}); }

void MatrixTiles::zero(int64_t tile) {
  call("llvm.x86.tilezero", number(tile));
}

void MatrixTiles::load(int64_t tile, Value address, int64_t stride) {
  call("llvm.x86.tileloadd64",
       {number(tile), address, kb.intConstant(kb.getI64Type(), stride)});
}

void MatrixTiles::store(int64_t tile, Value address, int64_t stride) {
  call("llvm.x86.tilestored64",
       {number(tile), address, kb.intConstant(kb.getI64Type(), stride)});
}

void MatrixTiles::dotBytes(int64_t sums, int64_t activations, int64_t weights,
                           Weights signs) {
  call(signs == Weights::Signed ? "llvm.x86.tdpbssd" : "llvm.x86.tdpbsud",
       {number(sums), number(activations), number(weights)});
}

void MatrixTiles::dotBf16(int64_t sums, int64_t activations, int64_t weights) {
  call("llvm.x86.tdpbf16ps",
       {number(sums), number(activations), number(weights)});
}

void MatrixTiles::call(StringRef name, ValueRange operands) {
  LLVM::CallIntrinsicOp::create(kb, kb.getStringAttr(name), operands);
}

Value MatrixTiles::number(int64_t tile) {
  return kb.intConstant(kb.getI8Type(), tile);
}

} // namespace llmir
