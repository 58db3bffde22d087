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
// A register tile is a function, which all matmuls with the same K and format
// call: it is the larger part of their code. What becomes of the sums follows
// in a loop.
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

  /// Whether sums are stored as they are.
  bool isPlain() const { return !bias && !epilogue; }
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
  /// Whether register tiles prefetch streams (prefetchBehind).
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

  /// All of this worker's output tiles, for every token.
  void emit();

protected:
  MatmulTiles(KernelBuilder &kb, TileShapes shapes, MatmulOperands operands,
              MatmulOutput output)
      : kb(kb), shapes(std::move(shapes)), operands(operands),
        output(std::move(output)) {}

  /// What the code of a register tile depends on, beside the length of rows and
  /// the numbers of row tiles and tokens.
  virtual std::string tileKey() const = 0;
  /// The sums of one register tile before the bias, of row tiles whose bytes
  /// begin at these offsets from `weights`, and of `tokens` rows from `x` on.
  /// Sum r * tokens + t belongs to row tile r and token t. Uses no values but
  /// these.
  virtual llvm::SmallVector<mlir::Value>
  emitSums(llvm::ArrayRef<mlir::Value> starts, int64_t tokens) = 0;
  /// The same in place, for row tile `tile` and the tokens from `token` on.
  llvm::SmallVector<mlir::Value> sumsAt(mlir::Value tile, mlir::Value token,
                                        int64_t tokens);

  /// Asks for the 64 bytes that will be read some time after those at byte
  /// `offset` of the weights, where streams are read: within emitSums.
  void prefetchBehind(mlir::Value offset);
  /// What row `t` of the register tile has from word `column` on.
  mlir::Value loadX(mlir::Type type, int64_t t, mlir::Value column);
  /// Bytes from one row of x to the next.
  int64_t rowStride() const;

  KernelBuilder &kb;
  /// Pointers, within emitSums: to the weights of the register tile and to the
  /// first of its rows.
  mlir::Value weights, x;

private:
  /// `groups` groups of row tiles from `first` on.
  void emitPanels(mlir::Value first, mlir::Value groups);
  /// The register tile of many tokens.
  RegisterTile panelTile() const;
  /// Streams of `stride` row tiles each from `first` on.
  void emitStreams(mlir::Value first, mlir::Value stride);

  /// Tokens in as few register tiles as possible, of sizes that differ by one
  /// at most, so that none is left over alone: the first `longer` of `passes`
  /// tiles have size + 1, the others `size`.
  struct TokenDeal {
    mlir::Value first, size, longer, passes;
  };
  TokenDeal dealOut(mlir::Value first, mlir::Value end, int64_t most);
  /// body(token, tokens) for each of these tiles.
  void overTokens(const TokenDeal &deal,
                  llvm::function_ref<void(mlir::Value, mlir::Value)> body);
  /// One tile of what the streams leave over, for every token.
  void emitRest(mlir::Value tile);

  /// Row tiles whose results are computed for the same tokens: `count` of them,
  /// from number `first` on, each `stride` after the one before.
  struct TileGroup {
    mlir::Value first, stride;
    int64_t count;
  };
  /// How many tokens: known to be from `least` to `most`.
  struct TokenCount {
    mlir::Value count;
    int64_t least, most;
  };
  /// Computes a group for tokens from `token` on, and stores it.
  void emitGroup(const TileGroup &group, mlir::Value token,
                 const TokenCount &tokens);
  /// Where its sums go: sum (r, t) to address + r * tileBytes + t * tokenBytes.
  struct SumPlace {
    mlir::Value address, tileBytes, tokenBytes;
  };
  SumPlace placeOfSums(const TileGroup &group, mlir::Value token);
  /// A call for each register tile of a group.
  void callTiles(const TileGroup &group, mlir::Value token, int64_t tokens,
                 const SumPlace &place);
  /// The function of a register tile. Its arguments: a pointer to the weights
  /// of its first row tile and the bytes to the next one's, a pointer to its
  /// first row of x, its SumPlace and, where streams are read, `ahead`.
  void emitTile(mlir::ValueRange arguments, int64_t rowTiles, int64_t tokens);
  /// What the epilogue will read: rows far apart, which no prefetcher of the
  /// machine foresees.
  void prefetchOperands(const TileGroup &group, mlir::Value token,
                        mlir::Value tokens);
  void storeGroup(const TileGroup &group, mlir::Value token, mlir::Value tokens,
                  const SumPlace &place);
  /// body(r, t) for each row tile and token of a group.
  void overGroup(const TileGroup &group, mlir::Value tokens,
                 llvm::function_ref<void(mlir::Value, mlir::Value)> body);

  TileShapes shapes;
  MatmulOperands operands;
  MatmulOutput output;
  /// Where sums wait for the epilogue, on the stack; null until there are some.
  mlir::Value scratch;
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
