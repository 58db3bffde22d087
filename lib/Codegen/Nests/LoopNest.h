//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Nests of loops over static sizes, whose elements lie where affine maps say.
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

/// body(indices) at each point. Where the nest `isShared`, the largest loop is
/// shared out among the workers; the point of a nest without loops is the first
/// worker's.
void emitNest(KernelBuilder &kb, llvm::ArrayRef<int64_t> sizes, bool isShared,
              llvm::function_ref<void(mlir::ValueRange)> body);

/// Zeroes what lies behind `columns` in every row of the buffer.
void emitPadding(KernelBuilder &kb, mlir::Value buffer, int64_t columns);

} // namespace llmir

#endif // LLMIR_LIB_CODEGEN_LOOPNEST_H
