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
  IntegerLines(KernelBuilder &kb, const IntegerFormat &format,
               mlir::Value weights, mlir::Value offset)
      : kb(kb), format(format), weights(weights), offset(offset) {}

  /// Value `i`, in the order of K, as an i32 in each lane: q + stored bias.
  mlir::Value value(int64_t i);
  /// Values 4 * i to 4 * i + 3 as the bytes of 16 words: q + stored bias. Only
  /// for formats of at most 8 bits.
  mlir::Value bytes(int64_t i);

private:
  mlir::Value line(int64_t number);

  KernelBuilder &kb;
  const IntegerFormat &format;
  mlir::Value weights, offset;
  llvm::DenseMap<int64_t, mlir::Value> lines;
};

/// Loads 16 elements of that format at a byte offset from a pointer as f32.
mlir::Value loadScales(KernelBuilder &kb, TensorFormat format,
                       mlir::Value weights, mlir::Value offset);

/// Calls an intrinsic on registers of the level, once for each register of a
/// vector of 16 words. Each operand is such a vector, with lanes of any type,
/// or a single register, which is passed to every call. The result has lanes of
/// type `element`.
mlir::Value callPerRegister(KernelBuilder &kb, llvm::StringRef name,
                            mlir::Type element, mlir::ValueRange operands);

} // namespace llmir

#endif // LLMIR_LIB_CODEGEN_INTEGERLINES_H
