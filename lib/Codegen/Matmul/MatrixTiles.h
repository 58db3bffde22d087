//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matrix tile registers (AMX). A tile has up to 16 rows of up to 64 bytes.
// Tiles are addressed by number and allocated by the emitter, so they are never
// spilled; LLVM sees instructions with side effects, in the order in which they
// are built.
//
// A matmul's tiles are
//
//   sums        tokens x 16 outputs, of i32 or f32
//   activations tokens x words of K, a row of x each
//   weights     words of K x 16 outputs: lines of the packed layout
//
// and a word of K is four bytes or two bf16 values.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CODEGEN_MATRIXTILES_H
#define LLMIR_LIB_CODEGEN_MATRIXTILES_H

#include "llmir/Codegen/KernelBuilder.h"

namespace llmir {

class MatrixTiles {
public:
  static constexpr int64_t kNumTiles = 8, kMaxTokens = 16;
  /// Maximum number of words of K per product.
  static constexpr int64_t kMaxWords = 16;

  /// The maximum number of rows of x, a multiple of `step`, that fit into half
  /// of the L2 cache (2 MB on processors with tiles): all weights are streamed
  /// before the next rows are processed.
  static int64_t panelTokens(int64_t rowBytes, int64_t step) {
    return std::max<int64_t>((1 << 20) / (rowBytes * step), 1) * step;
  }

  explicit MatrixTiles(KernelBuilder &kb);

  enum class Kind { None, Sums, Activations, Weights };
  struct Shape {
    Kind kind = Kind::None;
    int64_t words = kMaxWords; ///< Words of K.
  };
  /// Sets the shapes of all tiles, for `tokens` (an index, 1 to 16) tokens, and
  /// zeroes them.
  void configure(llvm::ArrayRef<Shape> shapes, mlir::Value tokens);
  /// Releases the tile registers.
  void release();

  void zero(int64_t tile);
  /// Loads the rows of a tile from `address` (a pointer) on, `stride` bytes
  /// apart.
  void load(int64_t tile, mlir::Value address, int64_t stride);
  void store(int64_t tile, mlir::Value address, int64_t stride);

  /// Signedness of the weight bytes; activation bytes are signed.
  enum class Weights { Signed, Unsigned };
  /// sums += activations . weights, modulo 2^32.
  void dotBytes(int64_t sums, int64_t activations, int64_t weights,
                Weights signs);
  /// The same for bf16: even and odd elements of the words each have a chain of
  /// fused multiply-adds from zero; the sum of both is added. Denormals are
  /// treated as zero.
  void dotBf16(int64_t sums, int64_t activations, int64_t weights);

private:
  void call(llvm::StringRef name, mlir::ValueRange operands);
  mlir::Value number(int64_t tile);

  KernelBuilder &kb;
  mlir::Value configuration; ///< 64 bytes on the stack.
};

/// Allocates bytes on the stack, aligned to a cache line, for the whole kernel.
mlir::Value createKernelScratch(KernelBuilder &kb, int64_t bytes);
/// The address of an element of a buffer or a weight.
mlir::Value addressOf(KernelBuilder &kb, mlir::Value memref,
                      mlir::ValueRange indices);

} // namespace llmir

#endif // LLMIR_LIB_CODEGEN_MATRIXTILES_H
