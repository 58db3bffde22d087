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

/// The loop of a nest that runs over each dimension of a tensor of that shape:
/// the dynamic one, whose indices are rows of the step, is the first.
llvm::SmallVector<unsigned> loopOrder(llvm::ArrayRef<int64_t> shape);

/// Index d is the loop that `order` has for dimension d.
llvm::SmallVector<mlir::AffineExpr> loopDims(llvm::ArrayRef<unsigned> order,
                                             mlir::MLIRContext *context);

/// The sizes of loops in that order over a tensor of that shape. A dynamic size
/// is the most rows that the step may have.
llvm::SmallVector<int64_t> loopSizes(ProgramConversion &c,
                                     llvm::ArrayRef<int64_t> shape,
                                     llvm::ArrayRef<unsigned> order,
                                     RowSpace over);

/// What a nest over a tensor of that shape says of its first loop: the rows
/// that it runs over, or nothing where its size is static.
kernel::RowSpaceAttr nestRows(mlir::MLIRContext *context,
                              llvm::ArrayRef<int64_t> shape, RowSpace over);

/// A loop nest with a scalar region, as `loops` has it, until it is appended.
struct LoopNest {
  llvm::SmallVector<int64_t> sizes;
  int64_t parallel = 0;
  kernel::RowSpaceAttr over; ///< Null where the first loop has a static size.
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

/// One number, a constant or a scalar of the program, in all elements of a
/// tensor of that shape. (ElementOps.cpp)
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

/// Converts rows of f32, which hold integers, to rows of `element`, i32 or i64.
void convertToIntegers(ProgramConversion &c, mlir::Location loc,
                       const RowsValue &from, const RowsValue &to,
                       mlir::Type element);

/// The rows of an i1 tensor as what a mask adds: 0, or minus infinity where it
/// is false.
RowsValue maskRows(ProgramConversion &c, mlir::Location loc,
                   const RowsValue &rows);

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_LLMTOPROGRAM_PLACES_H
