//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The scalar regions of `loops` kernels, written from ops of arith and math:
// those in the region of a structured op, and those on whole tensors. Numbers
// become those that buffers hold: floats of 16 bits are f32, rounded where an
// op makes one; i1 is i32, and index i64.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERSION_LLMTOPROGRAM_SCALARREGION_H
#define LLMIR_LIB_CONVERSION_LLMTOPROGRAM_SCALARREGION_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace llmir {

/// Writes the region of a `loops` kernel.
class RegionWriter {
public:
  /// Loop d of the op is loop `order[d]` of the kernel.
  RegionWriter(mlir::OpBuilder &b, mlir::Block &block, mlir::Location loc,
               llvm::ArrayRef<unsigned> order);

  /// An element of a buffer stands for `name`: an argument of the op's region,
  /// a tensor or a scalar. Gives the number.
  mlir::Value addElement(mlir::Value name);
  /// A constant from outside stands for `name`.
  void addConstant(mlir::Value name, mlir::Value constant) {
    values.map(name, get(constant));
  }
  /// The op on numbers; operands that are nothing yet must be constants,
  /// scalar or with one number in all places.
  void clone(mlir::Operation &op);
  /// Ends the region with what stands for `name`.
  void yield(mlir::Value name);

private:
  mlir::Value get(mlir::Value name);

  mlir::OpBuilder &b;
  mlir::Block &block;
  mlir::Location loc;
  llvm::ArrayRef<unsigned> order;
  mlir::IRMapping values;
};

/// What the op of arith or math makes of numbers, floats of 16 bits among them
/// in f32: a number for any operands, not yet rounded to the op's type.
mlir::Value emitComputation(mlir::OpBuilder &b, mlir::Location loc,
                            mlir::Operation &op,
                            llvm::ArrayRef<mlir::Value> operands);

/// Fails, with a diagnostic that names the op and the way out, where a kernel
/// cannot compute an op of arith or math.
mlir::LogicalResult checkHasScalarKernel(mlir::Operation &op);
bool hasScalarKernel(mlir::Operation &op);

/// The one number of a constant, of a scalar or in all places of a tensor; null
/// where the value is none.
mlir::TypedAttr constantNumber(mlir::Value value);

/// Whether the op computes each number of its result from the numbers at the
/// same place of its operands, or from scalars: arith and math, on tensors or
/// scalars.
bool isScalarComputation(mlir::Operation *op);

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_LLMTOPROGRAM_SCALARREGION_H
