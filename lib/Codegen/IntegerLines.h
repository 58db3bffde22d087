//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What kernels do with one line of packed integers (i32 x 16, one word per
// row): expand it to f32, or multiply it by words of four int8 activations.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CODEGEN_INTEGERLINES_H
#define LLMIR_LIB_CODEGEN_INTEGERLINES_H

#include "Emitters.h"

namespace llmir {

/// Value `i` of a line, in the order of K, i32 x 16: q + storedBias(bits).
mlir::Value valueOfLine(KernelBuilder &kb, int64_t bits, mlir::Value words,
                        int64_t i);

/// What is added to an integer where it is stored: 8 to a nibble.
inline int64_t storedBias(int64_t bits) { return bits == 4 ? 8 : 0; }

/// 16 numbers of that format at a byte offset of a weight, as f32.
mlir::Value loadScales(KernelBuilder &kb, TensorFormat format,
                       mlir::Value weights, mlir::Value offset);

/// Exact products of bytes, four of which are added to each of 16 i32 lanes, in
/// the way of the level (ByteDots). All ways give the same integers.
class ByteProducts {
public:
  ByteProducts(KernelBuilder &kb, int64_t bits)
      : kb(kb), bits(bits), level(kb.level()) {}

  /// What is added to a weight before it is multiplied.
  int64_t weightBias() const {
    return level.hasUnsignedByteDots() && bits == 8 ? 128 : storedBias(bits);
  }
  /// Words of activations that a line of weights meets.
  int64_t wordsPerLine() const { return 8 / bits; }

  /// A line of weights or a word of activations, as often as the instruction
  /// takes it.
  using Operands = llvm::SmallVector<mlir::Value, 4>;
  /// One for each word of activations.
  llvm::SmallVector<Operands, 2> weightOperands(mlir::Value words);
  /// `word` is an i32.
  Operands activationOperands(mlir::Value word);
  /// sums + weights . activations.
  mlir::Value add(mlir::Value sums, const Operands &weights,
                  const Operands &activations);

private:
  /// The whole line is one operand of an instruction.
  bool takesBytes() const {
    return level.hasUnsignedByteDots() || level.hasSignedByteDots();
  }
  /// A line of signed bytes as operands.
  Operands splitBytes(mlir::Value words);
  /// sums + a . b with the instruction of the level.
  mlir::Value addOne(mlir::Value sums, mlir::Value a, mlir::Value b);

  KernelBuilder &kb;
  int64_t bits;
  const CPULevel &level;
};

} // namespace llmir

#endif // LLMIR_LIB_CODEGEN_INTEGERLINES_H
