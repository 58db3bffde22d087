//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How every matmul kernel covers its output with register tiles. What one
// computes is its emitter's.
//
// Few tokens: this worker's row tiles are several streams, each a stretch of
// tiles that follow each other in memory; for each group of one tile per
// stream, all tokens. What counts is to read weights from memory.
//
// Many tokens (above kStreamTokens): panels of tokens; for each of them
// all row tiles, in groups of neighbours; for each group all tokens of the
// panel. A group stays in the second-level cache, and what is written for it,
// or read by the epilogue, lies side by side in each row.
//
// Each output element has one f32 accumulator chain over ascending K. Tiles
// differ only in how many rows and tokens they hold at once, so the bits of a
// result depend neither on the batch nor on the number of workers.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CODEGEN_MATMULTILES_H
#define LLMIR_LIB_CODEGEN_MATMULTILES_H

#include "../Common/Emitters.h"

#include <functional>

namespace llmir {

/// Where a matmul's results go, and for which rows of its input.
struct MatmulOutput {
  mlir::Value y;
  mlir::Value bias; ///< Added to each row; null for none.
  mlir::Value firstToken, endToken;
  /// What is stored instead of a sum (f32 x 16, its bias added) of row `token`
  /// and the 16 columns from `column` on; null: the sum.
  std::function<mlir::Value(mlir::Value sum, mlir::Value token,
                            mlir::Value column)>
      epilogue = {};
  /// Rows that the epilogue reads where it writes those of y.
  llvm::SmallVector<mlir::Value, 2> read = {};

  /// Stores what becomes of a sum, with its bias yet to be added.
  void store(KernelBuilder &kb, mlir::Value sum, mlir::Value token,
             mlir::Value column) const;
};

/// The output of a linear kernel, with its bias and its scalar region.
MatmulOutput matmulOutput(KernelBuilder &kb, kernel::LinearOp op);

/// The row tiles of a matrix, and how many of them a register tile holds for
/// one token, two, and so on: as many as there are entries are the most tokens
/// that share a decoded weight. The first entry, the number of streams, is a
/// multiple of the others.
struct TileShapes {
  int64_t numTiles;
  int64_t tileBytes; ///< From one row tile to the next.
  int64_t rowBytes;  ///< From one row of x to the next.
  llvm::SmallVector<int64_t> rowTiles;
  /// The tokens of a register tile in panels, where weights come from a cache
  /// and what counts is how many products there are for each load; 0: as many
  /// as there are entries.
  int64_t many = 0;

  /// `gemv` for one token, `gemm` for more.
  static TileShapes of(int64_t numTiles, int64_t tileBytes, int64_t rowBytes,
                       RegisterTile gemm, RegisterTile gemv) {
    TileShapes shapes{numTiles, tileBytes, rowBytes, {}};
    shapes.rowTiles.assign(gemm.tokens, gemm.rowTiles);
    shapes.rowTiles.front() = std::max(gemv.rowTiles, gemm.rowTiles);
    return shapes;
  }
};

class MatmulTiles {
public:
  virtual ~MatmulTiles() = default;

  /// All of this worker's output tiles, for every token.
  void emit();

protected:
  MatmulTiles(KernelBuilder &kb, TileShapes shapes, MatmulOutput output)
      : kb(kb), shapes(std::move(shapes)), output(std::move(output)) {}

  /// The sums of one register tile before the bias: the row tiles numbered
  /// `tiles`, which need not be neighbours, and `tokens` rows of x from `token`
  /// on. Sum r * tokens + t belongs to row tile r and token t.
  virtual llvm::SmallVector<mlir::Value>
  emitSums(llvm::ArrayRef<mlir::Value> tiles, mlir::Value token,
           int64_t tokens) = 0;

  /// Asks for the 64 bytes that will be read some time after those at byte
  /// `offset` of the weights, where streams are read: within emitSums.
  void prefetchBehind(mlir::Value weights, mlir::Value offset);

  KernelBuilder &kb;

private:
  /// `groups` groups of row tiles from `first` on.
  void emitPanels(mlir::Value first, mlir::Value groups);
  /// The register tile of many tokens.
  RegisterTile panelTile() const;
  /// Streams of `stride` row tiles each from `first` on.
  void emitStreams(mlir::Value first, mlir::Value stride);

  /// Tokens in as few register tiles as possible, of sizes that differ by one
  /// at most, so that none is left over alone: size + 1 at once up to `middle`,
  /// then `size`.
  struct TokenDeal {
    mlir::Value first, middle, end, size;
  };
  TokenDeal dealOut(mlir::Value first, mlir::Value end, int64_t most);
  /// body(token, tokens) for each of these tiles, whose sizes are known to be
  /// from `least` to `most`.
  void overTokens(const TokenDeal &deal, int64_t least, int64_t most,
                  llvm::function_ref<void(mlir::Value, int64_t)> body);
  /// One tile of what the streams leave over, for every token.
  void emitRest(mlir::Value tile);
  /// A register tile for `tokens` tokens from each of the streams' tiles.
  void emitGroup(mlir::Value from, mlir::Value stride, mlir::Value token,
                 int64_t tokens);
  /// Computes a register tile and stores it.
  void emitTile(llvm::ArrayRef<mlir::Value> tiles, mlir::Value token,
                int64_t tokens);
  /// What the epilogue will read: rows far apart, which no prefetcher of the
  /// machine foresees.
  void prefetchOperands(llvm::ArrayRef<mlir::Value> tiles, mlir::Value token,
                        int64_t tokens);
  void storeTile(llvm::ArrayRef<mlir::Value> tiles, mlir::Value token,
                 int64_t tokens, mlir::ValueRange sums);

  TileShapes shapes;
  MatmulOutput output;
  /// Bytes from what is read to what is prefetched; null: nothing is.
  mlir::Value ahead;
};

/// y = x W^T with weights of a plain format (PlainMatmul.cpp).
void emitPlainMatmul(KernelBuilder &kb, const PackedMatrixLayout &layout,
                     mlir::Value weights, mlir::Value x,
                     const MatmulOutput &output);

/// y = x W^T with weights of bf16, by tiles of the level (PlainTiles.cpp).
void emitPlainTiles(KernelBuilder &kb, const PackedMatrixLayout &layout,
                    mlir::Value weights, mlir::Value x,
                    const MatmulOutput &output);

/// body(matrix, output) for each expert of a `moe_linear`, whose matrices have
/// `matrixBytes` bytes each.
void overExperts(KernelBuilder &kb, kernel::MoELinearOp op, int64_t matrixBytes,
                 llvm::function_ref<void(mlir::Value, MatmulOutput)> body);

} // namespace llmir

#endif // LLMIR_LIB_CODEGEN_MATMULTILES_H
