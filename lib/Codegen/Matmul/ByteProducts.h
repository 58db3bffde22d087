//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Exact dot products of bytes: four products are added to each of 16 i32 lanes,
// with the instructions of the level (ByteDots). All methods give the same
// integers.
//
// A new method is a case in each of four functions: the signedness of weights
// (weightBias, weightOperands), the operands of its instruction
// (weightOperands, activationOperands), and the instruction itself (add).
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CODEGEN_BYTEPRODUCTS_H
#define LLMIR_LIB_CODEGEN_BYTEPRODUCTS_H

#include "../Common/Emitters.h"

namespace llmir {

class ByteProducts {
public:
  /// The magnitude of activations is at most `maxActivation`: quantize_rows
  /// never produces -128.
  ByteProducts(KernelBuilder &kb, const IntegerFormat &format,
               int64_t maxActivation = 127);

  /// The bias of an integer q of the weights when it is multiplied: the bias
  /// with which it is stored, plus the one that the instruction needs.
  int64_t weightBias() const;
  /// The bias that the entries of a table need.
  int64_t tableBias() const { return format.usesTable() ? weightBias() : 0; }

  /// 16 words of weights or of activations, as operands of the instruction.
  using Operands = llvm::SmallVector<mlir::Value, 4>;
  /// `words` are stored bytes (IntegerLines::bytes).
  Operands weightOperands(mlir::Value words);
  /// `word` is an i32.
  Operands activationOperands(mlir::Value word);

  /// A partial sum.
  struct Sum {
    mlir::Value words;      ///< i32 x 16.
    mlir::Value pairs = {}; ///< i16 x 32, not added yet; may be null.
    int64_t most = 0;       ///< Bound of the magnitude of a lane of `pairs`.
  };
  /// Adds weights . activations to the sum.
  void add(Sum &sum, const Operands &weights, const Operands &activations);
  /// Returns the complete sum, i32 x 16.
  mlir::Value finish(Sum sum);

private:
  /// The instructions that compute the products.
  enum class Method {
    Unsigned, ///< vpdpbusd: unsigned weights, signed activations.
    Signed,   ///< sdot.
    /// vpmaddubsw with unsigned weights of fewer than 8 bits, which cannot
    /// saturate; several sums are added in 16 bits.
    BytePairs,
    /// vpmaddubsw on the magnitudes of the weights and on activations with the
    /// signs of the weights applied (vpsignb).
    MovedSigns,
    WordPairs, ///< vpmaddwd on bytes extended to 16 bits.
    Singles,   ///< Multiplication in 32 bits.
  };
  Method methodOf(const CPULevel &level) const;
  /// Signed bytes as operands of WordPairs and Singles.
  Operands widen(mlir::Value words, bool isSigned);
  mlir::Value bytesOf(mlir::Value words);

  KernelBuilder &kb;
  IntegerFormat format;
  int64_t maxActivation;
  Method method;
};

} // namespace llmir

#endif // LLMIR_LIB_CODEGEN_BYTEPRODUCTS_H
