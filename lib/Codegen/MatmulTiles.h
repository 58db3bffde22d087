//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How every matmul kernel covers its output: this worker's row tiles in groups,
// for each group all tokens, in register tiles. What a register tile computes
// is its emitter's.
//
// Each output element has one f32 accumulator chain over ascending K. Tiles
// differ only in how many rows and tokens they hold at once, so the bits of a
// result depend neither on the batch nor on the number of workers.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CODEGEN_MATMULTILES_H
#define LLMIR_LIB_CODEGEN_MATMULTILES_H

#include "Emitters.h"

namespace llmir {

/// Where a matmul's results go, and for which rows of its input.
struct MatmulOutput {
  mlir::Value y;
  mlir::Value bias; ///< Added to each row; null for none.
  mlir::Value firstToken, endToken;
};

class MatmulTiles {
public:
  virtual ~MatmulTiles() = default;

  /// All of this worker's output tiles, for every token.
  void emit();

protected:
  MatmulTiles(KernelBuilder &kb, int64_t numTiles, RegisterTile gemm,
              RegisterTile gemv, MatmulOutput output)
      : kb(kb), numTiles(numTiles), gemm(gemm), gemv(gemv), output(output) {}

  /// The sums of one register tile before the bias: `rowTiles` tiles of rows
  /// from `tile` on, `tokens` rows of x from `token` on. Sum r * tokens + t
  /// belongs to row tile r and token t.
  virtual llvm::SmallVector<mlir::Value> emitSums(mlir::Value tile,
                                                  int64_t rowTiles,
                                                  mlir::Value token,
                                                  int64_t tokens) = 0;

  KernelBuilder &kb;

private:
  /// Row tiles [from, to) in groups of rowTiles, for every token.
  void emitRowGroups(mlir::Value from, mlir::Value to, int64_t rowTiles);
  void storeTile(mlir::Value tile, mlir::Value token, int64_t tokens,
                 mlir::ValueRange sums);

  int64_t numTiles;
  RegisterTile gemm, gemv; ///< For several tokens, and for one.
  MatmulOutput output;
};

} // namespace llmir

#endif // LLMIR_LIB_CODEGEN_MATMULTILES_H
