//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loop nests with static sizes, whose elements are accessed through affine
// maps.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CODEGEN_LOOPNEST_H
#define LLMIR_LIB_CODEGEN_LOOPNEST_H

#include "../Common/Emitters.h"

namespace llmir {

/// The value of the expression; the operands of its divisions and remainders
/// must be non-negative.
mlir::Value expandExpression(KernelBuilder &kb, mlir::AffineExpr expr,
                             mlir::ValueRange dims, mlir::Value symbol);

/// Row and column of the element that the map selects.
llvm::SmallVector<mlir::Value> placeAt(KernelBuilder &kb, mlir::AffineMap map,
                                       mlir::ValueRange dims,
                                       mlir::Value symbol);

/// Calls body(indices) at each point. If the nest `isShared`, the largest loop
/// is divided among the workers; a nest without loops is executed by the first
/// worker.
void emitNest(KernelBuilder &kb, llvm::ArrayRef<int64_t> sizes, bool isShared,
              llvm::function_ref<void(mlir::ValueRange)> body);

/// Zeroes the elements after `columns` in every row of the buffer.
void emitPadding(KernelBuilder &kb, mlir::Value buffer, int64_t columns);

} // namespace llmir

#endif // LLMIR_LIB_CODEGEN_LOOPNEST_H
