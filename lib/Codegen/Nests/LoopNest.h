//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loop nests of static sizes whose elements are indexed by affine maps. The
// first loop may iterate over the rows of a step.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CODEGEN_LOOPNEST_H
#define LLMIR_LIB_CODEGEN_LOOPNEST_H

#include "../Common/Emitters.h"

namespace llmir {

/// The value of the expression. Operands of quotients and remainders must not
/// be negative.
mlir::Value expandExpression(KernelBuilder &kb, mlir::AffineExpr expr,
                             mlir::ValueRange dims, mlir::Value symbol);

/// The row and column that the map yields.
llvm::SmallVector<mlir::Value> placeAt(KernelBuilder &kb, mlir::AffineMap map,
                                       mlir::ValueRange dims,
                                       mlir::Value symbol);

/// Calls body(indices) for each point; every worker visits all points.
void emitWholeNest(KernelBuilder &kb, llvm::ArrayRef<int64_t> sizes,
                   llvm::function_ref<void(mlir::ValueRange)> body);

/// This worker's rows of the step, limited to `size`, for a kernel that is
/// divided by rows.
WorkRange nestRows(KernelBuilder &kb, int64_t size);

/// Calls body(indices) for each point of this worker. With `over`, the first
/// loop iterates over the worker's rows of the step. Otherwise the largest loop
/// is divided among the workers; a nest without loops is executed by the first
/// one.
void emitNest(KernelBuilder &kb, llvm::ArrayRef<int64_t> sizes,
              std::optional<kernel::RowSpace> over,
              llvm::function_ref<void(mlir::ValueRange)> body);

/// Zeroes the elements after `columns` in each of this worker's rows of the
/// buffer; with `over`, in rows of the step, limited to those of the buffer.
void emitPadding(KernelBuilder &kb, mlir::Value buffer, int64_t columns,
                 std::optional<kernel::RowSpace> over);

} // namespace llmir

#endif // LLMIR_LIB_CODEGEN_LOOPNEST_H
