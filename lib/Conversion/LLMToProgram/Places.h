//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the elements of tensors lie in buffers of rows, for kernels that go
// through them in nests of loops.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERSION_LLMTOPROGRAM_PLACES_H
#define LLMIR_LIB_CONVERSION_LLMTOPROGRAM_PLACES_H

#include "ProgramConversion.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace llmir {

/// Row and column of the element at `index` of a tensor of that shape, as
/// functions of the loops that `index` names.
mlir::AffineMap placeMap(const RowsValue &rows, llvm::ArrayRef<int64_t> shape,
                         llvm::ArrayRef<mlir::AffineExpr> index,
                         unsigned numDims, unsigned numSymbols,
                         mlir::MLIRContext *context);

/// A nest of loops with a scalar region, as `loops` has it, until it is
/// appended.
struct LoopNest {
  llvm::SmallVector<int64_t> sizes;
  int64_t parallel = 0;
  /// Where the elements of the inputs are.
  llvm::SmallVector<mlir::AffineMap> maps;
  llvm::SmallVector<mlir::Value> inputs;

  void addInput(mlir::Value buffer, mlir::AffineMap map) {
    inputs.push_back(buffer);
    maps.push_back(map);
  }
  /// Appends the kernel, which writes the elements of `out` that `map` gives.
  void append(ProgramConversion &c, mlir::Location loc, llvm::StringRef label,
              const RowsValue &out, mlir::AffineMap map,
              ProgramConversion::BodyBuilder body) const;
};

/// Copies the elements of a tensor in their order.
void copyAll(ProgramConversion &c, mlir::Location loc, const RowsValue &from,
             const RowsValue &to, llvm::ArrayRef<int64_t> shape);

/// One number, a constant or a scalar of the program, in all places of a tensor
/// of that shape. (ElementOps.cpp)
mlir::LogicalResult fillWithScalar(ProgramConversion &c, mlir::Operation *op,
                                   mlir::Value scalar, const RowsValue &out,
                                   llvm::ArrayRef<int64_t> shape);

/// Slices of known sizes and steps that begin where the program says; `x` and
/// `out` are what the op takes and gives. (ElementOps.cpp)
mlir::LogicalResult extractComputedSlice(ProgramConversion &c,
                                         mlir::tensor::ExtractSliceOp op,
                                         const RowsValue &x,
                                         const RowsValue &out);
mlir::LogicalResult insertComputedSlice(ProgramConversion &c,
                                        mlir::tensor::InsertSliceOp op,
                                        const RowsValue &x,
                                        const RowsValue &out);

/// The rows of an i1 tensor as what a mask adds: 0, or minus infinity where it
/// is false.
RowsValue maskRows(ProgramConversion &c, mlir::Location loc,
                   const RowsValue &rows);

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_LLMTOPROGRAM_PLACES_H
