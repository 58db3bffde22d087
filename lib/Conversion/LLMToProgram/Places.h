//===----------------------------------------------------------------------===//
//
// Part of the LLMIR Project, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE.TXT for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The positions of tensor elements in buffers of rows, for kernels with loop
// nests.
//
//===----------------------------------------------------------------------===//

#ifndef LLMIR_LIB_CONVERSION_LLMTOPROGRAM_PLACES_H
#define LLMIR_LIB_CONVERSION_LLMTOPROGRAM_PLACES_H

#include "ProgramConversion.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace llmir {

/// Row and column of the element at `index` of a tensor of this shape, as
/// functions of the loops in `index`.
mlir::AffineMap placeMap(const RowsValue &rows, llvm::ArrayRef<int64_t> shape,
                         llvm::ArrayRef<mlir::AffineExpr> index,
                         unsigned numDims, unsigned numSymbols,
                         mlir::MLIRContext *context);

/// The loop of a nest for each dimension of a tensor of this shape: the dynamic
/// one, whose indices are rows of the step, is first.
llvm::SmallVector<unsigned> loopOrder(llvm::ArrayRef<int64_t> shape);

/// Index d is the loop of dimension d in `order`.
llvm::SmallVector<mlir::AffineExpr> loopDims(llvm::ArrayRef<unsigned> order,
                                             mlir::MLIRContext *context);

/// The sizes of loops in this order over a tensor of this shape. A dynamic size
/// is the maximum number of rows of a step.
llvm::SmallVector<int64_t> loopSizes(ProgramConversion &c,
                                     llvm::ArrayRef<int64_t> shape,
                                     llvm::ArrayRef<unsigned> order,
                                     RowSpace over);

/// The attribute of a nest over a tensor of this shape for its first loop: the
/// rows that it iterates over, or null if its size is static.
kernel::RowSpaceAttr nestRows(mlir::MLIRContext *context,
                              llvm::ArrayRef<int64_t> shape, RowSpace over);

/// A loop nest with a scalar region (`loops`) under construction.
struct LoopNest {
  llvm::SmallVector<int64_t> sizes;
  int64_t parallel = 0;
  kernel::RowSpaceAttr over; ///< Null if the first loop has a static size.
  /// The positions of the elements of inputs.
  llvm::SmallVector<mlir::AffineMap> maps;
  llvm::SmallVector<mlir::Value> inputs;

  void addInput(mlir::Value buffer, mlir::AffineMap map) {
    inputs.push_back(buffer);
    maps.push_back(map);
  }
  /// Appends the kernel, which writes the elements of `out` at `map`.
  void append(ProgramConversion &c, mlir::Location loc, llvm::StringRef label,
              const RowsValue &out, mlir::AffineMap map,
              ProgramConversion::BodyBuilder body) const;
};

/// Copies the elements of a tensor in order.
void copyAll(ProgramConversion &c, mlir::Location loc, const RowsValue &from,
             const RowsValue &to, llvm::ArrayRef<int64_t> shape);

/// Fills a tensor of this shape with a constant or a scalar of the program.
/// (ElementOps.cpp)
mlir::LogicalResult fillWithScalar(ProgramConversion &c, mlir::Operation *op,
                                   mlir::Value scalar, const RowsValue &out,
                                   llvm::ArrayRef<int64_t> shape);

/// Slices of static sizes and strides with computed offsets; `x` and `out` are
/// the operand and the result of the op. (ElementOps.cpp)
mlir::LogicalResult extractComputedSlice(ProgramConversion &c,
                                         mlir::tensor::ExtractSliceOp op,
                                         const RowsValue &x,
                                         const RowsValue &out);
mlir::LogicalResult insertComputedSlice(ProgramConversion &c,
                                        mlir::tensor::InsertSliceOp op,
                                        const RowsValue &x,
                                        const RowsValue &out);

/// Converts rows of f32 with integer values to rows of `element`, i32 or i64.
void convertToIntegers(ProgramConversion &c, mlir::Location loc,
                       const RowsValue &from, const RowsValue &to,
                       mlir::Type element);

/// The rows of an i1 tensor as an additive mask: 0 if true, minus infinity if
/// false.
RowsValue maskRows(ProgramConversion &c, mlir::Location loc,
                   const RowsValue &rows);

} // namespace llmir

#endif // LLMIR_LIB_CONVERSION_LLMTOPROGRAM_PLACES_H
