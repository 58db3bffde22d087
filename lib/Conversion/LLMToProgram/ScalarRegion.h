//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Creates the scalar regions of `loops` kernels from ops of arith and math:
// those in the region of a structured op, and those on tensors. Types become
// those of buffer elements: 16-bit floats are computed in f32 and rounded after
// each op, i1 becomes i32, and index becomes i64.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERSION_LLMTOPROGRAM_SCALARREGION_H
#define LLMIR_LIB_CONVERSION_LLMTOPROGRAM_SCALARREGION_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace llmir {

/// Creates the region of a `loops` kernel.
class RegionWriter {
public:
  /// Loop d of the op is loop `order[d]` of the kernel.
  RegionWriter(mlir::OpBuilder &b, mlir::Block &block, mlir::Location loc,
               llvm::ArrayRef<unsigned> order);

  /// Adds a buffer element as an argument that represents `name`: an argument
  /// of the op's region, a tensor or a scalar. Returns its value.
  mlir::Value addElement(mlir::Value name);
  /// Represents `name` by a constant from outside of the region.
  void addConstant(mlir::Value name, mlir::Value constant) {
    values.map(name, get(constant));
  }
  /// Clones the op for scalars. Operands that are not represented yet must be
  /// constants: scalars or splats.
  void clone(mlir::Operation &op);
  /// Creates the terminator, which yields the value that represents `name`.
  void yield(mlir::Value name);

private:
  mlir::Value get(mlir::Value name);

  mlir::OpBuilder &b;
  mlir::Block &block;
  mlir::Location loc;
  llvm::ArrayRef<unsigned> order;
  mlir::IRMapping values;
};

/// Creates the op of arith or math for scalar operands, where 16-bit floats are
/// f32. The result is defined for any operands, and not rounded to the op's
/// type.
mlir::Value emitComputation(mlir::OpBuilder &b, mlir::Location loc,
                            mlir::Operation &op,
                            llvm::ArrayRef<mlir::Value> operands);

/// Fails if kernels do not support an op of arith or math, with a diagnostic
/// that suggests an alternative.
mlir::LogicalResult checkHasScalarKernel(mlir::Operation &op);
bool hasScalarKernel(mlir::Operation &op);

/// The value of a scalar constant or the element of a splat; null for any other
/// value.
mlir::TypedAttr constantNumber(mlir::Value value);

/// Whether the op is an element-wise op of arith or math, on tensors or
/// scalars.
bool isScalarComputation(mlir::Operation *op);

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_LLMTOPROGRAM_SCALARREGION_H
