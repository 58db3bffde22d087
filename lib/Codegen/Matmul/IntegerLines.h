//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Access to the lines of packed integers (i32 x 16, one word per row) and to
// the scales that follow them.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CODEGEN_INTEGERLINES_H
#define LLMIR_LIB_CODEGEN_INTEGERLINES_H

#include "../Common/Emitters.h"

namespace llmir {

/// The lines of one row tile from the start of a bundle on, at a byte offset
/// from a pointer. Each line is loaded once, on first use.
class IntegerLines {
public:
  /// `tableBias` is added to the entries that indexes are replaced by.
  IntegerLines(KernelBuilder &kb, const IntegerFormat &format,
               mlir::Value weights, mlir::Value offset, int64_t tableBias = 0)
      : kb(kb), format(format), weights(weights), offset(offset),
        tableBias(tableBias) {}

  /// Value `i`, in the order of K, as an i32 in each lane: q + stored bias.
  mlir::Value value(int64_t i);
  /// Values 4 * i to 4 * i + 3 as the bytes of 16 words: q + stored bias, or
  /// q + `tableBias`. Only for formats of at most 8 bits.
  mlir::Value bytes(int64_t i);

private:
  mlir::Value line(int64_t number);
  /// The stored bits of bytes(i).
  mlir::Value storedBytes(int64_t i);

  KernelBuilder &kb;
  const IntegerFormat &format;
  mlir::Value weights, offset;
  int64_t tableBias;
  llvm::DenseMap<int64_t, mlir::Value> lines;
};

/// Replaces the bytes of 16 words, which are indexes of the codebook, by its
/// entries plus `bias`.
mlir::Value lookUpBytes(KernelBuilder &kb, const Codebook &codebook,
                        mlir::Value words, int64_t bias = 0);

/// Loads 16 scales at a byte offset from a pointer as f32.
mlir::Value loadScales(KernelBuilder &kb, ScaleFormat format,
                       mlir::Value weights, mlir::Value offset);

/// The f32 scales of bytes of E8M0, given as i32 lanes or as an i32.
mlir::Value exponentScales(KernelBuilder &kb, mlir::Value exponents);

/// Calls an intrinsic on registers of the level, once for each register of a
/// vector of 16 words. Each operand is such a vector, with lanes of any type,
/// or a single register, which is passed to every call. The result has lanes of
/// type `element`.
mlir::Value callPerRegister(KernelBuilder &kb, llvm::StringRef name,
                            mlir::Type element, mlir::ValueRange operands);

} // namespace llmir

#endif // LLMIR_LIB_CODEGEN_INTEGERLINES_H
