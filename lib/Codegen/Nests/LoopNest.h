//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loop nests over static sizes, or over the rows of a step in the first loop,
// whose elements are where affine maps say.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CODEGEN_LOOPNEST_H
#define LLMIR_LIB_CODEGEN_LOOPNEST_H

#include "../Common/Emitters.h"

namespace llmir {

/// The value of the expression, whose quotients and remainders are of
/// non-negative numbers.
mlir::Value expandExpression(KernelBuilder &kb, mlir::AffineExpr expr,
                             mlir::ValueRange dims, mlir::Value symbol);

/// Row and column of the element that the map names.
llvm::SmallVector<mlir::Value> placeAt(KernelBuilder &kb, mlir::AffineMap map,
                                       mlir::ValueRange dims,
                                       mlir::Value symbol);

/// body(indices) at each point, all of which this worker visits.
void emitWholeNest(KernelBuilder &kb, llvm::ArrayRef<int64_t> sizes,
                   llvm::function_ref<void(mlir::ValueRange)> body);

/// This worker's rows of the step, at most `size`, for a kernel that is divided
/// by rows.
WorkRange nestRows(KernelBuilder &kb, int64_t size);

/// body(indices) at each point that is this worker's. With `over`, the first
/// loop runs over its rows of the step; otherwise the largest loop is divided
/// among the workers, and the point of a nest without loops is the first
/// worker's.
void emitNest(KernelBuilder &kb, llvm::ArrayRef<int64_t> sizes,
              std::optional<kernel::RowSpace> over,
              llvm::function_ref<void(mlir::ValueRange)> body);

/// Zeroes the elements after `columns` in each row of the buffer that is this
/// worker's; with `over`, of the step's rows, at most those of the buffer.
void emitPadding(KernelBuilder &kb, mlir::Value buffer, int64_t columns,
                 std::optional<kernel::RowSpace> over);

} // namespace llmir

#endif // LLMIR_LIB_CODEGEN_LOOPNEST_H
