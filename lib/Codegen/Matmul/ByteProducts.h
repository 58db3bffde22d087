//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exact products of bytes, four of which are added to each of 16 i32 lanes, in
// the way of the level (ByteDots). All ways give the same integers.
//
// A new way is a case in each of four functions: whether weights need another
// sign (weightBias, weightOperands), what the operands of its instruction are
// (weightOperands, activationOperands), and how it adds them (add).
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CODEGEN_BYTEPRODUCTS_H
#define LLMIR_LIB_CODEGEN_BYTEPRODUCTS_H

#include "../Common/Emitters.h"

namespace llmir {

class ByteProducts {
public:
  /// No activation is larger than `mostActivation`, or smaller than minus it:
  /// quantize_rows never makes -128.
  ByteProducts(KernelBuilder &kb, const IntegerFormat &format,
               int64_t mostActivation = 127);

  /// What is added to an integer q of the weights before it is multiplied: what
  /// it is stored with, and what the instruction needs.
  int64_t weightBias() const;

  /// 16 words of weights or of activations, as often as the instruction takes
  /// them.
  using Operands = llvm::SmallVector<mlir::Value, 4>;
  /// `words` are stored bytes (IntegerLines::bytes).
  Operands weightOperands(mlir::Value words);
  /// `word` is an i32.
  Operands activationOperands(mlir::Value word);

  /// A sum in progress.
  struct Sum {
    mlir::Value words;      ///< i32 x 16.
    mlir::Value pairs = {}; ///< i16 x 32, yet to be added; null for none.
    int64_t most = 0;       ///< The largest size of a lane of `pairs`.
  };
  /// sum + weights . activations.
  void add(Sum &sum, const Operands &weights, const Operands &activations);
  /// All of the sum, i32 x 16.
  mlir::Value finish(Sum sum);

private:
  /// Instructions of the level.
  enum class Way {
    Unsigned,   ///< vpdpbusd: unsigned weights, signed activations.
    Signed,     ///< sdot.
    BytePairs,  ///< vpmaddubsw, where unsigned weights of fewer than 8 bits
                ///< cannot saturate it; sums stay in 16 bits for a while.
    MovedSigns, ///< vpmaddubsw: the weights' sizes by activations that have
                ///< taken over their signs (vpsignb).
    WordPairs,  ///< vpmaddwd on bytes widened to 16 bits.
    Singles,    ///< Multiplication in 32 bits.
  };
  Way wayOf(const CPULevel &level) const;
  /// Signed bytes as operands of WordPairs and Singles.
  Operands widen(mlir::Value words, bool isSigned);
  mlir::Value bytesOf(mlir::Value words);

  KernelBuilder &kb;
  IntegerFormat format;
  int64_t mostActivation;
  Way way;
};

} // namespace llmir

#endif // LLMIR_LIB_CODEGEN_BYTEPRODUCTS_H
