//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What kernels do with the lines of packed integers (i32 x 16, one word per
// row) and with what stands behind them.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CODEGEN_INTEGERLINES_H
#define LLMIR_LIB_CODEGEN_INTEGERLINES_H

#include "../Common/Emitters.h"

namespace llmir {

/// The lines of one row tile from the start of a bundle on, at a byte offset
/// from a pointer. Each is loaded once, where it is first needed.
class IntegerLines {
public:
  IntegerLines(KernelBuilder &kb, const IntegerFormat &format,
               mlir::Value weights, mlir::Value offset)
      : kb(kb), format(format), weights(weights), offset(offset) {}

  /// Value `i`, in the order of K, as an i32 in each lane: q + stored bias.
  mlir::Value value(int64_t i);
  /// Values 4 * i to 4 * i + 3 as the bytes of 16 words: q + stored bias. Of
  /// formats of 8 bits or fewer.
  mlir::Value bytes(int64_t i);

private:
  mlir::Value line(int64_t number);

  KernelBuilder &kb;
  const IntegerFormat &format;
  mlir::Value weights, offset;
  llvm::DenseMap<int64_t, mlir::Value> lines;
};

/// 16 numbers of that format at a byte offset from a pointer, as f32.
mlir::Value loadScales(KernelBuilder &kb, TensorFormat format,
                       mlir::Value weights, mlir::Value offset);

/// The result of an intrinsic of the level's registers, called once for each
/// register that a vector of 16 words takes. All operands are such vectors, of
/// any lanes, or single registers, which every call gets; the result has lanes
/// of `element`.
mlir::Value callPerRegister(KernelBuilder &kb, llvm::StringRef name,
                            mlir::Type element, mlir::ValueRange operands);

} // namespace llmir

#endif // LLMIR_LIB_CODEGEN_INTEGERLINES_H
