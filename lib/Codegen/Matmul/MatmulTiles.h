//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tiling that all matmul kernels share: how the output is covered with
// register tiles. Derived emitters compute a register tile.
//
// Few tokens: the row tiles of this worker are divided into several streams of
// consecutive tiles; all tokens are multiplied by one tile of each stream at a
// time. Optimized for memory bandwidth.
//
// Many tokens (above kStreamTokens): tokens are divided into panels; for each
// panel all row tiles are processed in groups of adjacent tiles, and for each
// group all tokens of the panel. A group stays in the L2 cache, and the
// elements of a row that are written for it, or read by the epilogue, are
// contiguous.
//
// A register tile is a function, which is called by all matmuls with the same K
// and format, since it is the larger part of their code. The sums are then
// processed in a loop.
//
// Each output element has one f32 accumulator chain over ascending K. Tiles
// differ only in their numbers of rows and tokens, so the bits of a result
// depend neither on the batch nor on the number of workers.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CODEGEN_MATMULTILES_H
#define LLMIR_LIB_CODEGEN_MATMULTILES_H

#include "../Common/Emitters.h"

#include <functional>

namespace llmir {

/// The output of a matmul, and the rows of its input to compute.
struct MatmulOutput {
  mlir::Value y;
  mlir::Value bias; ///< Added to each row; may be null.
  mlir::Value firstToken, endToken;
  /// Maps a sum (f32 x 16, including the bias) of row `token` and the 16
  /// columns from `column` on to the value to store; if null, the sum is
  /// stored.
  std::function<mlir::Value(mlir::Value sum, mlir::Value token,
                            mlir::Value column)>
      epilogue = {};
  /// Buffers that the epilogue reads at the same rows as y.
  llvm::SmallVector<mlir::Value, 2> read = {};
  /// The row tiles of this worker; absent: its part of them by the division of
  /// the kernel.
  std::optional<WorkRange> tiles = {};

  /// Whether sums are stored as they are.
  bool isPlain() const { return !bias && !epilogue; }
  /// Adds the bias to a sum, applies the epilogue and stores the result.
  void store(KernelBuilder &kb, mlir::Value sum, mlir::Value token,
             mlir::Value column) const;
};

/// The output of a linear kernel with its bias and its scalar region.
MatmulOutput matmulOutput(KernelBuilder &kb, kernel::LinearOp op);

/// The row tiles of a matrix, and how many of them a register tile holds for
/// one token, two tokens, and so on. The number of entries is the maximum
/// number of tokens that share a decoded weight. The first entry, the number of
/// streams, is a multiple of the others.
struct TileShapes {
  int64_t numTiles;
  int64_t tileBytes; ///< Stride of row tiles.
  int64_t rowBytes;  ///< Stride of rows of x.
  llvm::SmallVector<int64_t> rowTiles;
  /// The number of tokens of a register tile in panels, where weights are read
  /// from a cache and the ratio of products to loads matters; 0 for the number
  /// of entries.
  int64_t many = 0;
  /// Whether register tiles prefetch streams (prefetchAfter).
  bool prefetches = true;

  /// `gemv` for one token, `gemm` for more.
  static TileShapes of(int64_t numTiles, int64_t tileBytes, int64_t rowBytes,
                       RegisterTile gemm, RegisterTile gemv) {
    TileShapes shapes{numTiles, tileBytes, rowBytes, {}};
    shapes.rowTiles.assign(gemm.tokens, gemm.rowTiles);
    shapes.rowTiles.front() = std::max(gemv.rowTiles, gemm.rowTiles);
    return shapes;
  }
};

/// The operands of a matmul: packed weights as bytes, and rows.
struct MatmulOperands {
  mlir::Value weights, x;
};

class MatmulTiles {
public:
  virtual ~MatmulTiles() = default;

  /// Emits all output tiles of this worker, for every token.
  void emit();

protected:
  MatmulTiles(KernelBuilder &kb, TileShapes shapes, MatmulOperands operands,
              MatmulOutput output)
      : kb(kb), shapes(std::move(shapes)), operands(operands),
        output(std::move(output)) {}

  /// A key of the code of a register tile, in addition to the length of rows
  /// and the numbers of row tiles and tokens.
  virtual std::string tileKey() const = 0;
  /// Emits the sums of one register tile, without the bias, for row tiles at
  /// these offsets from `weights`, and `tokens` rows from `x` on. Sum r *
  /// tokens + t is that of row tile r and token t. Must use no other values.
  virtual llvm::SmallVector<mlir::Value>
  emitSums(llvm::ArrayRef<mlir::Value> starts, int64_t tokens) = 0;
  /// The same in place, for row tile `tile` and the tokens from `token` on.
  llvm::SmallVector<mlir::Value> sumsAt(mlir::Value tile, mlir::Value token,
                                        int64_t tokens);

  /// Within emitSums, if streams are read: prefetches the 64 bytes at a fixed
  /// distance after byte `offset` of the weights.
  void prefetchAfter(mlir::Value offset);
  /// Loads from row `t` of the register tile at word `column`.
  mlir::Value loadX(mlir::Type type, int64_t t, mlir::Value column);
  /// The stride of the rows of x in bytes.
  int64_t rowStride() const;

  KernelBuilder &kb;
  /// Pointers, within emitSums: to the weights of the register tile and to the
  /// first of its rows.
  mlir::Value weights, x;

private:
  /// Emits `groups` groups of row tiles from `first` on.
  void emitPanels(mlir::Value first, mlir::Value groups);
  /// The register tile of panels.
  RegisterTile panelTile() const;
  /// Emits streams of `stride` row tiles each from `first` on.
  void emitStreams(mlir::Value first, mlir::Value stride);

  /// Tokens divided into as few register tiles as possible, of sizes that
  /// differ by at most one: the first `longer` of `passes` tiles have size + 1,
  /// the others `size`.
  struct TokenTiling {
    mlir::Value first, size, longer, passes;
  };
  TokenTiling tileTokens(mlir::Value first, mlir::Value end, int64_t most);
  /// Calls body(token, tokens) for each of these tiles.
  void overTokens(const TokenTiling &tiling,
                  llvm::function_ref<void(mlir::Value, mlir::Value)> body);
  /// Emits one tile that remains after the streams, for every token.
  void emitRest(mlir::Value tile);

  /// Row tiles whose results are computed for the same tokens: `count` of them,
  /// from index `first` on, with stride `stride`.
  struct TileGroup {
    mlir::Value first, stride;
    int64_t count;
  };
  /// The number of tokens, which is between `least` and `most`.
  struct TokenCount {
    mlir::Value count;
    int64_t least, most;
  };
  /// Computes and stores a group for tokens from `token` on.
  void emitGroup(const TileGroup &group, mlir::Value token,
                 const TokenCount &tokens);
  /// The location of its sums: sum (r, t) is at address + r * tileBytes + t *
  /// tokenBytes.
  struct SumPlace {
    mlir::Value address, tileBytes, tokenBytes;
  };
  SumPlace placeOfSums(const TileGroup &group, mlir::Value token);
  /// Emits a call for each register tile of a group.
  void callTiles(const TileGroup &group, mlir::Value token, int64_t tokens,
                 const SumPlace &place);
  /// The function of a register tile. Its arguments: a pointer to the weights
  /// of its first row tile and the bytes to the next one's, a pointer to its
  /// first row of x, its SumPlace and, if streams are read, `ahead`.
  void emitTile(mlir::ValueRange arguments, int64_t rowTiles, int64_t tokens);
  /// Prefetches the rows that the epilogue reads: they are far apart, so
  /// hardware prefetchers do not load them.
  void prefetchOperands(const TileGroup &group, mlir::Value token,
                        mlir::Value tokens);
  void storeGroup(const TileGroup &group, mlir::Value token, mlir::Value tokens,
                  const SumPlace &place);
  /// Calls body(r, t) for each row tile and token of a group.
  void overGroup(const TileGroup &group, mlir::Value tokens,
                 llvm::function_ref<void(mlir::Value, mlir::Value)> body);

  TileShapes shapes;
  MatmulOperands operands;
  MatmulOutput output;
  /// The sums of a group before the epilogue, on the stack; null until they are
  /// needed.
  mlir::Value scratch;
  /// The prefetch distance in bytes; null for no prefetching.
  mlir::Value ahead;
};

/// y = x W^T with weights of a plain format (PlainMatmul.cpp).
void emitPlainMatmul(KernelBuilder &kb, const PackedMatrixLayout &layout,
                     mlir::Value weights, mlir::Value x,
                     const MatmulOutput &output);

/// y = x W^T with bf16 weights on levels with matrix tiles (PlainTiles.cpp).
void emitPlainTiles(KernelBuilder &kb, const PackedMatrixLayout &layout,
                    mlir::Value weights, mlir::Value x,
                    const MatmulOutput &output);

/// The stride of rows of 4-byte elements in bytes.
int64_t rowStrideOf(mlir::Value rows);

/// Calls body(matrix, output) for each expert of a `moe_linear`, whose
/// matrices have `matrixBytes` bytes each.
void overExperts(KernelBuilder &kb, kernel::MoELinearOp op, int64_t matrixBytes,
                 llvm::function_ref<void(mlir::Value, MatmulOutput)> body);

} // namespace llmir

#endif // LLMIR_LIB_CODEGEN_MATMULTILES_H
