//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registers of a matrix each, and what emitters do with them: AMX. A tile has
// up to 16 rows of up to 64 bytes. Tiles are named by number and the emitter
// says which is which, so none is ever spilled; LLVM sees instructions with
// side effects, in the order in which they are built.
//
// A matmul's tiles are
//
//   sums        tokens x 16 outputs, of i32 or f32
//   activations tokens x words of K, a row of x each
//   weights     words of K x 16 outputs: lines of the packed layout
//
// and a word of K is four bytes or two bf16 numbers.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CODEGEN_MATRIXTILES_H
#define LLMIR_LIB_CODEGEN_MATRIXTILES_H

#include "llmir/Codegen/KernelBuilder.h"

namespace llmir {

class MatrixTiles {
public:
  static constexpr int64_t kNumTiles = 8, kMostTokens = 16;
  /// Words of K that one product adds up at most.
  static constexpr int64_t kMostWords = 16;

  /// The most rows of x, in whole steps of `step`, that take half of a second-
  /// level cache (processors with tiles have 2 MB): all weights pass by them
  /// before the next ones.
  static int64_t panelTokens(int64_t rowBytes, int64_t step) {
    return std::max<int64_t>((1 << 20) / (rowBytes * step), 1) * step;
  }

  explicit MatrixTiles(KernelBuilder &kb);

  enum class Kind { None, Sums, Activations, Weights };
  struct Shape {
    Kind kind = Kind::None;
    int64_t words = kMostWords; ///< Of K.
  };
  /// Sets the shapes of all tiles, for `tokens` (an index, 1 to 16) tokens, and
  /// makes them zero.
  void configure(llvm::ArrayRef<Shape> shapes, mlir::Value tokens);
  /// Gives the registers back.
  void release();

  void zero(int64_t tile);
  /// Rows of a tile from `address` (a pointer) on, `stride` bytes apart.
  void load(int64_t tile, mlir::Value address, int64_t stride);
  void store(int64_t tile, mlir::Value address, int64_t stride);

  /// How bytes of the weights are meant; those of the activations have signs.
  enum class Weights { Signed, Unsigned };
  /// sums += activations . weights, modulo 2^32.
  void dotBytes(int64_t sums, int64_t activations, int64_t weights,
                Weights signs);
  /// The same of bf16: of the numbers of the words, the even ones have a chain
  /// of fused multiply-adds from zero and the odd ones another; their sum is
  /// added. Denormal numbers are zero.
  void dotBf16(int64_t sums, int64_t activations, int64_t weights);

private:
  void call(llvm::StringRef name, mlir::ValueRange operands);
  mlir::Value number(int64_t tile);

  KernelBuilder &kb;
  mlir::Value configuration; ///< 64 bytes of the stack.
};

/// Bytes on the stack, aligned to a line, for as long as the kernel runs.
mlir::Value createKernelScratch(KernelBuilder &kb, int64_t bytes);
/// Where an element of a buffer or a weight lies: a pointer.
mlir::Value addressOf(KernelBuilder &kb, mlir::Value memref,
                      mlir::ValueRange indices);

} // namespace llmir

#endif // LLMIR_LIB_CODEGEN_MATRIXTILES_H
